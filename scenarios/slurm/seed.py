"""From Slurm's settings to those of a batch site, and what of them has no counterpart there.

Source: slurm.conf(5), SchedulerParameters and the multifactor priority plug-in; sacctmgr(1), QOS.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isinf
from pathlib import Path
from typing import Any

from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.fields.table import addressable
from gridtune.scenarios.slurm.conf import Line, SlurmConf, number, read_conf, read_qos, seconds
from gridtune.scenarios.slurm.known import BACKFILL, NODES, OPTIONS, PARTITIONS, WEIGHTS
from gridtune.scenarios.slurm.qos import YOUNGEST, SiteQos

NO_DECAY = 1e12  # s, a half-life after which nothing has faded
LARGEST = 1000.0  # what the largest weight becomes, where it is larger: only their ratios matter


@dataclass(frozen=True)
class SlurmSeed:
    """What Slurm's files say of a site.

    Attributes:
        policy: of the site, as a table of a scenario.
        site: further settings, by key of the site.
        processors: of all nodes; None if the file does not list them.
        without: what has no counterpart, a line each.
    """

    policy: dict[str, Any]
    site: dict[str, Any]
    processors: int | None
    without: Sequence[str]


def slurm_seed(conf: Path, qos: Path | None = None, used: Collection[str] = ()) -> SlurmSeed:
    """What a slurm.conf, and a list of QOS, say of a site.

    Args:
        conf: slurm.conf.
        qos: what `sacctmgr -P show qos` printed.
        used: names of the QOS that jobs of the log have; see `SiteQos`.

    Raises:
        ScenarioError: a file cannot be read, or a value of it makes no sense.
    """
    said = read_conf(conf)
    levels = [] if qos is None else read_qos(qos)
    try:
        own = SiteQos(said, levels, used)
        policy, site, processors = _policy(said, own.priorities), dict(_site(said, own)), said.processors()
        without = list(_without(said, own, site))
    except ScenarioError as error:
        files = conf if qos is None else f"{conf} or {qos}"
        raise ScenarioError(f"{files}: {error}") from None
    return SlurmSeed(policy, site, processors, without)


def _policy(conf: SlurmConf, qos: Mapping[str, float]) -> dict[str, Any]:
    """The order of jobs, of QOS with these priorities, and how many of them have reservations."""
    made: dict[str, Any] = {"kind": "priority", "weight_age": 0.0}
    option = conf.options.get
    if option("prioritytype", "").lower() != "priority/basic":
        weights = {ours: number(conf.options, theirs, "0") for theirs, ours in WEIGHTS.items()}
        if not qos:
            del weights["weight_qos"]
        if _tiers(conf):  # which decide before all weights
            weights["weight_queue"] = 0.0
        largest = max(weights.values())
        scale = LARGEST / largest if largest > LARGEST else 1.0
        made |= {name: weight * scale for name, weight in weights.items() if weight or name == "weight_age"}
        if "weight_qos" in made:
            made["qos"] = dict(qos)
        made["max_age"] = min(seconds(conf.options, "PriorityMaxAge", "7-0"), NO_DECAY)
        if option("priorityfavorsmall", "no").lower() in ("yes", "true", "1"):
            made["favour"] = "small"
        if "weight_fairshare" in made:
            made |= dict(_fair_share(conf))
    asked = BACKFILL | conf.parameters
    builtin = option("schedulertype", "sched/backfill").lower() == "sched/builtin"
    if builtin or number(asked, "bf_interval", "") < 0:
        return made | {"reservations": 0}
    return made | {
        "reservations": int(number(asked, "bf_job_part_count_reserve", "", whole=True)) or "all",
        "interval": number(asked, "bf_interval", ""),
        "window": number(asked, "bf_window", "") * 60.0,
        "queue_depth": int(number(asked, "bf_max_job_test", "", whole=True)),
    }


def _fair_share(conf: SlurmConf) -> Iterator[tuple[str, Any]]:
    option = conf.options.get
    half_life = seconds(conf.options, "PriorityDecayHalfLife", "7-0")
    yield "half_life", min(half_life or NO_DECAY, NO_DECAY)
    yield "by", "account"
    if "NO_FAIR_TREE" in option("priorityflags", "").upper():
        yield "algorithm", "classic"
        yield "damping", number(conf.options, "FairShareDampeningFactor", "1")
    else:
        yield "algorithm", "fair-tree"


def _site(conf: SlurmConf, qos: SiteQos) -> Iterator[tuple[str, Any]]:
    """Partitions as queues, and what QOS limit and preempt."""
    preempting = qos.preemption()
    planned = _at_once(preempting)
    queues = sorted(_queues(conf, planned=planned), key=lambda queue: queue.get("max_runtime", inf))
    if len(queues) > 1 or any(queue.keys() & {"max_runtime", "slots"} for queue in queues):
        _check_names(queues)
        yield "queue", queues
    yield from qos.limits()
    yield from preempting.items()


def _check_names(queues: Sequence[Mapping[str, Any]]) -> None:
    """Let every partition have a name that paths can address."""
    for name in (queue["name"] for queue in queues):
        try:
            addressable(name)
        except ValueError as error:
            remedy = "rename it in copies of this file and of the log"
            raise ScenarioError(f"PartitionName={name}: {error}; {remedy}") from None


def _tiers(conf: SlurmConf) -> bool:
    """Whether partitions have different tiers."""
    return len({line.get("prioritytier", "1") for line in conf.partitions}) > 1


def _at_once(preempting: Mapping[str, Any]) -> bool:
    """Whether jobs that are preempted leave at once: only then are those of a partition backfilled."""
    return preempting.get("preemption.mode") != "suspend" and "preemption.grace" not in preempting


def _queues(conf: SlurmConf, *, planned: bool) -> Iterator[dict[str, Any]]:
    """Partitions that take jobs.

    Args:
        planned: whether jobs of a partition on nodes of its own are planned there.
    """
    by_factor = number(conf.options, "PriorityWeightPartition", "0") > 0 and not _tiers(conf)
    whole = conf.processors()
    for line in conf.partitions:
        if _closed(conf, line):
            continue
        made: dict[str, Any] = {"name": line["partitionname"]}
        where = f"PartitionName={line['partitionname']}"
        limit, size = seconds(line, "MaxTime", "UNLIMITED", where), conf.processors(line["nodes"])
        made["priority"] = number(line, "PriorityTier", "1", where)
        if by_factor:
            made["factor"] = number(line, "PriorityJobFactor", "1", where)
        if not isinf(limit):
            made["max_runtime"] = limit
        if size is not None and size != whole:
            made["slots"] = made["max_processors"] = size
            made |= {"partition": True} if planned else {}
        yield made


def _closed(conf: SlurmConf, line: Line) -> str:
    """Why nothing starts in a partition; "" if jobs do."""
    state = line.get("state", "UP")
    if state.upper() != "UP":
        return f"State={state}"
    if not line.get("nodes"):
        return "Nodes: none"
    return "" if conf.processors(line["nodes"]) != 0 else "Nodes: all are out"


def _shared_nodes(conf: SlurmConf) -> Iterator[str]:
    """Partitions of which each counts nodes that others have, too."""
    every = conf.processors()
    known: dict[str, set[str]] = {}
    for line in conf.partitions:
        name, nodes = line["partitionname"], line.get("nodes", "ALL")
        if nodes.upper() == "ALL" or conf.processors(nodes) == every or _closed(conf, line):
            continue
        hosts = conf.hosts(nodes)
        for other, theirs in known.items():
            if hosts & theirs:
                yield f"PartitionName={name} shares nodes with {other}: here each has its own"
        known[name] = hosts
        if conf.processors(nodes) is None:
            yield f"PartitionName={name} Nodes={nodes}: no such nodes; here it has all"


def _without(conf: SlurmConf, qos: SiteQos, site: Mapping[str, Any]) -> Iterator[str]:
    """What decides who starts when and has no counterpart."""
    for name, value in sorted(conf.options.items()):
        if OPTIONS.decides(name, value):
            yield f"{conf.names[name]}={value}"
    enforced = conf.options.get("accountingstorageenforce", "")
    if {"limits", "safe", "all", "1"} & set(enforced.lower().split(",")):
        yield f"AccountingStorageEnforce={enforced}: limits of associations are not read"
    for name in sorted(conf.parameters.keys() - BACKFILL.keys() - {f"preempt_{YOUNGEST}"}):
        yield f"SchedulerParameters {name}{'=' if conf.parameters[name] else ''}{conf.parameters[name]}"
    flags = {
        flag.strip().upper() for flag in conf.options.get("priorityflags", "").split(",") if flag.strip()
    }
    for flag in sorted(flags - {"NO_FAIR_TREE", "FAIR_TREE"}):
        yield f"PriorityFlags {flag}"
    if number(conf.options, "PriorityWeightPartition", "0") and _tiers(conf):
        yield "PriorityWeightPartition beside PriorityTier: the tiers decide"
    yield from _of_nodes(conf)
    yield from _shared_nodes(conf)
    preempts, mode = (conf.options.get(name, "") for name in ("preempttype", "preemptmode"))
    if preempts.lower() in ("", "preempt/none"):
        if "GANG" in mode.upper():
            yield f"{conf.names['preemptmode']}={mode}"
    elif preempts.lower() != "preempt/qos":
        yield f"PreemptType={preempts}"
    if any("slots" in queue and "partition" not in queue for queue in site.get("queue", ())):
        yield "backfilling within a partition, beside preemption that suspends or has a GraceTime"
    yield from qos.without()
    for name in conf.included:
        yield f"Include {name}: not read"


def _of_nodes(conf: SlurmConf) -> Iterator[str]:
    """Words of nodes and of partitions, each once with all that have it."""
    yield from (f"NodeName={nodes} State={state}: not counted" for nodes, state in conf.out.items())
    words = {key for line in conf.nodes for key, value in line.items() if NODES.decides(key, value)}
    yield from (f"NodeName {conf.names[key]}" for key in sorted(words))
    named: dict[str, list[str]] = {}
    for line in conf.partitions:
        if why := _closed(conf, line):
            said = [f"{why}: left out"]
        else:
            said = [
                f"{conf.names[key]}={line[key]}" for key in sorted(line) if PARTITIONS.decides(key, line[key])
            ]
        for word in said:
            named.setdefault(word, []).append(line["partitionname"])
    yield from (f"PartitionName={','.join(names)} {word}" for word, names in named.items())
