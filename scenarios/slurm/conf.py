"""Reading slurm.conf, and what `sacctmgr -P show qos` prints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, product
from math import inf, isfinite, prod
from pathlib import Path

from gridtune import limits
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.regular_files import text_of
from gridtune.scenarios.slurm.known import EMPTY

FOREVER = 2**31  # s: longer times do not fit into Slurm's numbers
# The first columns of `sacctmgr -nP show qos` of present releases, which names none.
QOS_COLUMNS = (
    *("name", "priority", "gracetime", "preempt", "preemptexempttime", "preemptmode", "flags", "usagethres"),
    *("usagefactor", "grptres", "grptresmins", "grptresrunmins", "grpjobs", "grpsubmit", "grpwall"),
    *("maxtres", "maxtrespernode", "maxtresmins", "maxwall", "maxtrespu", "maxjobspu", "maxsubmitpu"),
    "maxtrespa",
)
# Options of which every such file has one.
KNOWN = re.compile(r"(clustername|preempt(type|mode)|priority\w{3,}|scheduler\w+|select\w+|slurmctld\w+)")
_WORD = re.compile(r"([A-Za-z0-9_]+)\s*=\s*(\"[^\"]*\"|\S+)")
PARTITION, NODE = "partitionname", "nodename"  # what begins a line of these kinds
_SPACED = re.compile(r"\s*=\s*")
_TIME = re.compile(r"(?:(\d{1,9})-)?(\d{1,12})(?::(\d{1,9}))?(?::(\d{1,9}))?$")
_PAIRED = re.compile(r"(?:[^\[\]]|\[[^\[\]]++\])*+")
_RANGE = re.compile(r"(\d+)-(\d+)")
_HOSTS = re.compile(r"(?:[^,\[]|\[[^\]]*\])+")
Line = dict[str, str]


@dataclass(frozen=True)
class SlurmConf:
    """A slurm.conf; keys are in lower case.

    Attributes:
        options: of the whole cluster.
        parameters: those of `SchedulerParameters`; "" for one without a value.
        partitions, nodes: of each line `PartitionName=…`, `NodeName=…`, with the words of those of DEFAULT
            above it.
        down: nodes of each line `DownNodes=…`, and their state.
        sets: hosts of each `NodeSet=…`, by its name.
        included: files that it includes, which are not read.
        names: of keys, as they are written.
    """

    options: Line = field(default_factory=dict)
    parameters: Line = field(default_factory=dict)
    partitions: list[Line] = field(default_factory=list)
    nodes: list[Line] = field(default_factory=list)
    down: Line = field(default_factory=dict)
    sets: Line = field(default_factory=dict)
    included: list[str] = field(default_factory=list)
    names: Line = field(default_factory=dict)

    @property
    def out(self) -> Line:
        """Nodes on which nothing starts, as they are written, and their state."""
        states = {line["nodename"]: line.get("state", "") for line in self.nodes} | self.down
        return {nodes: state for nodes, state in states.items() if state.upper().startswith(EMPTY)}

    def processors(self, hosts: str = "ALL") -> int | None:
        """Processors of some hosts that are not out; None if the file does not say."""
        size: dict[str, int] = {}
        for line in self.nodes:
            if not line.get("state", "").upper().startswith("FUTURE"):
                size |= dict.fromkeys(host_names(line["nodename"]), _cpus(line))
        size |= {host: 0 for nodes in self.out for host in self.hosts(nodes) if host in size}
        if not size:
            return None
        if hosts.upper() == "ALL":
            return sum(size.values())
        known = [size[name] for name in self.hosts(hosts) if name in size]
        return sum(known) if known else None

    def hosts(self, text: str) -> set[str]:
        """Hosts of an expression, those of its sets included."""
        named = set(host_names(text))
        return named.union(*(host_names(self.sets[one.lower()]) for one in named if one.lower() in self.sets))


def _cpus(line: Line) -> int:
    def whole(key: str, default: str = "1") -> int:
        where = f"NodeName={line['nodename']:.60}"
        value = int(number(line, key, default, where, whole=True))
        if value < 0:
            raise _unlike(where, key, str(value), "a number of 0 or more")
        return value

    if "cpus" in line or "procs" in line:
        return whole("CPUs", line.get("procs", "1"))
    sockets = whole("Sockets", line.get("socketsperboard", "1")) * whole("Boards")
    return sockets * whole("CoresPerSocket") * whole("ThreadsPerCore")


def read_conf(path: Path) -> SlurmConf:
    """A slurm.conf.

    Raises:
        ScenarioError: it cannot be read, or has nothing that Slurm would know.
    """
    made, defaults = SlurmConf(), {PARTITION: Line(), NODE: Line()}
    for line in _lines(path):
        text = _SPACED.sub("=", line)
        found = _WORD.findall(text)
        words = {key.lower(): value.strip('"') for key, value in found}
        made.names.update((key.lower(), key) for key, _ in found)
        first = text.split(None, 1)[0].lower()
        if first == "include":
            made.included.append(text.split(None, 1)[-1])
        elif kind := next((kind for kind in defaults if first.startswith(f"{kind}=")), None):
            words = defaults[kind] | words
            if words[kind].upper() == "DEFAULT":
                defaults[kind] = words
            else:
                (made.partitions if kind == PARTITION else made.nodes).append(words)
        elif first.startswith("downnodes="):
            made.down[words["downnodes"]] = words.get("state", "DOWN")
        elif first.startswith("frontendname="):
            continue
        elif first.startswith("nodeset="):
            made.sets[words["nodeset"].lower()] = words.get("nodes", "")
        else:
            made.options.update(words)
    for part in made.options.get("schedulerparameters", "").split(","):
        key, _, value = part.strip().partition("=")
        if key:
            made.parameters[key.lower()] = value
    if not made.partitions and not any(map(KNOWN.fullmatch, made.options)):
        raise ScenarioError(
            f"{path}: none of the lines PartitionName=…, SchedulerType=…, PriorityType=…; is it a slurm.conf?"
        )
    return made


def read_qos(path: Path) -> list[Line]:
    """Every QOS in what `sacctmgr -P show qos` printed, or `-nP` in present releases, without column names.

    Raises:
        ScenarioError: it cannot be read, or its rows are others.
    """
    rows = [line.split("|") for line in _lines(path)]
    columns: tuple[str, ...] = QOS_COLUMNS
    if rows and rows[0][0].lower() == "name":
        columns = tuple(name.strip().lower() for name in rows.pop(0))
        if other := next((row for row in rows if len(row) != len(columns)), None):
            raise ScenarioError(f"{path}: QOS {other[0]:.40}: {len(other)} fields below {len(columns)} names")
    levels = [dict(zip(columns, map(str.strip, row), strict=False)) for row in rows]
    if not levels or not all((one.get("priority", "?") or "0").isdigit() for one in levels):
        raise ScenarioError(f"{path}: no rows NAME|PRIORITY|…, as `sacctmgr -P show qos` prints")
    return levels


def _lines(path: Path) -> Iterator[str]:
    """Lines without comments, those that go on put together."""
    try:
        text = text_of(path, limits.DOCUMENT_BYTES, "replace")
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror or error}") from error
    for line in text.replace("\\\n", "").splitlines():
        if kept := line.partition("#")[0].strip():
            yield kept


def number(line: Line, key: str, default: str, of: str = "", *, whole: bool = False) -> float:
    """A number of a line; of a key in its usual case.

    Args:
        of: whose line it is, if that has to be said.
        whole: whether it has to be a whole one.

    Raises:
        ScenarioError: it is none.
    """
    text = line.get(key.lower()) or default
    try:
        value = int(text) if whole else float(text)
        if not isfinite(value):
            raise ValueError
        return value
    except ValueError:
        raise _unlike(of, key, text, "a number") from None


def _unlike(of: str, key: str, text: str, wanted: str) -> ScenarioError:
    where = f"{of}: " if of else ""
    return ScenarioError(f"{where}{key}={text:.40}: {wanted} was expected")


def seconds(line: Line, key: str, default: str, of: str = "", unit: float = 60.0) -> float:
    """A time of a line, of a key in its usual case, s; such as `7-0`, `1-12:30`, `30` or `UNLIMITED`.

    Slurm writes [days-]hours:minutes:seconds, minutes:seconds, a number of units, or that there is no end.

    Args:
        of: whose line it is, if that has to be said.
        unit: of a bare number, s.

    Raises:
        ScenarioError: it is no time.
    """
    text = line.get(key.lower()) or default
    if text.upper() in ("UNLIMITED", "INFINITE", "NONE", "-1"):
        return inf
    found = _TIME.match(text.strip())
    if not found:
        raise _unlike(of, key, text, "a time such as 7-00:00:00")
    days, first, second, third = (None if part is None else int(part) for part in found.groups())
    if days is not None:
        return days * 86400.0 + (first or 0) * 3600.0 + (second or 0) * 60.0 + (third or 0)
    if third is not None:
        return (first or 0) * 3600.0 + (second or 0) * 60.0 + third
    return (first or 0) * 60.0 + second if second is not None else (first or 0) * unit


def host_names(text: str) -> Iterator[str]:
    """The hosts of an expression such as `login,n[01-03,7]`.

    Raises:
        ScenarioError: a bracket lacks its other one, a range ends before it begins, or no site has so many.
    """
    if not _PAIRED.fullmatch(text):
        raise ScenarioError(f"{text:.40}: hosts with a bracket that opens or closes nothing")
    for part in _HOSTS.findall(text):
        pieces = [
            list(islice(_numbers(piece[1:-1]), limits.SITE_SLOTS + 1)) if piece.startswith("[") else [piece]
            for piece in re.findall(r"\[[^\]]*\]|[^\[]+", part)
        ]
        if prod(map(len, pieces)) > limits.SITE_SLOTS:
            raise ScenarioError(f"{part:.40}: more than {limits.SITE_SLOTS:,} hosts")
        yield from map("".join, product(*pieces))


def _numbers(text: str) -> Iterator[str]:
    """The numbers in brackets, as they are written."""
    for span in text.split(","):
        if found := _RANGE.fullmatch(span):
            low, high = (int(bound) if len(bound) <= limits.DIGITS else -1 for bound in found.groups())
            if not 0 <= low <= high:
                raise ScenarioError(f"[{span:.40}]: no range of hosts")
            yield from (f"{number:0{len(found[1])}d}" for number in range(low, high + 1))
        else:
            yield span


def duration(time: float) -> str:
    """A time as Slurm writes it: days-hours:minutes:seconds; 0 for a half-life without end."""
    if FOREVER <= time < inf:
        return "0"
    if time == inf:
        return "UNLIMITED"
    minutes, rest = divmod(round(time), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{days}-{hours:02d}:{minutes:02d}:{rest:02d}"
