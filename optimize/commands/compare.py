"""What `gridtune compare` does: find out what two names stand for, and set both side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate
from math import isfinite
from pathlib import Path
from textwrap import fill
from typing import Any

from gridtune.model.metrics.labels import label
from gridtune.model.metrics.registry import definition
from gridtune.optimize import api
from gridtune.optimize.api.search_result import Study
from gridtune.optimize.commands.sensitivity import is_study
from gridtune.optimize.front.changes import IDLE
from gridtune.optimize.recommend.harm import LEAST
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.report.comparison import Row, compared, compared_fronts
from gridtune.optimize.report.numbers import amount, metric_label
from gridtune.plain_text import counted
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.amounts import human_difference
from gridtune.scenarios.results.text import GAP, LINES, Styled, text_table, wrapped

OTHER_CASES = "The two were searched in other scenarios"
OWN_RUNS = "Hypervolumes are of estimated means; other values, of each configuration's own runs."
SPARE = 3  # lines for the head of the table
MOST = 3  # settings of workloads that are named
JOBS = "jobs.size-"  # metrics: how many jobs of a class there are, whatever becomes of them
NAME = 20  # columns that names have at least
SUBJECTS = "a study, the folder of `gridtune run --out`, or the JSON that `gridtune run --format json` prints"


@dataclass(frozen=True)
class Origin:
    """What decides the random numbers of runs.

    Attributes:
        scenario: name of it.
        seed: of the experiment.
        workloads: settings of what makes jobs, by path; empty where they are not known.
    """

    scenario: str
    seed: int
    workloads: Mapping[str, Any] = field(default_factory=dict)

    def apart(self, other: Origin) -> str:
        """Why replications of the same number share no random numbers; "" if they do.

        Workloads, overlays and a queue draw them by seed, replication and their names, never by policies or
        the scenario's own name.
        """
        if self.seed != other.seed:
            return "The two share no random numbers (another seed)"
        if self.workloads and other.workloads:
            common = {path for path in self.workloads if path in other.workloads and path.endswith(".name")}
            queues = self.workloads["queue"] and other.workloads["queue"]
            return "" if common or queues else "The two share no random numbers (no workload in common)"
        if self.scenario != other.scenario:
            return "Whether the two share random numbers is not known (scenarios of other names)"
        return ""


@dataclass(frozen=True)
class SavedRun:
    """Runs that were saved: where their random numbers are from, and each metric's values and unit."""

    origin: Origin
    values: dict[str, tuple[float, ...]]
    units: dict[str, str]


def run_compare(a: str, b: str) -> dict[str, Any]:
    """Two studies, or two runs, side by side.

    Args:
        a, b: studies (folder, journal file, storage URL) or runs (folder, JSON file).

    Returns:
        For JSON: what was compared, why not pair by pair if so, which settings of workloads differ, and
        `rows` with the attributes of `Row`, differences B minus A.

    Raises:
        ScenarioError: one is neither, or they cannot be compared.
    """
    first, second = _found(a), _found(b)
    jobs: list[str] = []
    if isinstance(first, Study) and isinstance(second, Study):
        apart, rows = _studies(first, second)
    elif isinstance(first, SavedRun) and isinstance(second, SavedRun):
        here, there = first.origin.workloads, second.origin.workloads
        if here and there:
            jobs = [path for path in {**here, **there} if here.get(path) != there.get(path)]
        counts = [name for name in first.values if name.startswith(JOBS) and _differ(name, first, second)]
        jobs = jobs or counts
        apart, rows = _runs(first, second, "The runs have different jobs" if counts else "")
    else:
        raise ScenarioError(f"{a} and {b}: one is a study and the other a run; compare two of a kind")
    return {
        "a": a,
        "b": b,
        "kind": "studies" if isinstance(first, Study) else "runs",
        "paired": not apart,
        "unpaired_because": apart or None,
        "differing_workloads": jobs,
        "rows": [asdict(row) for row in rows],
    }


def compare_text(made: Mapping[str, Any], width: int, *, every: bool = False) -> str:
    """What changes from one to the other, as a table, significant changes first.

    Args:
        every: whether to list what is equal, and all of what is not, too.
    """
    names, rows = _names(made["a"], made["b"]), made["rows"]
    changed = sorted((row for row in rows if row["difference"]), key=_rank)
    sentences = []
    if jobs := made.get("differing_workloads"):
        some = ", ".join(jobs[:MOST]) + f" and {len(jobs) - MOST} more" * (len(jobs) > MOST)
        sentences.append(f"The runs have different jobs ({some}): differences may come from the jobs.")
    sure, total = sum(_told(row) is not None for row in changed), counted(len(rows), "quantity", "quantities")
    if changed and all(row["low"] is None for row in changed):
        sentences.append(f"{len(changed)} of {total} differ; one run of each cannot say which by chance.")
    else:
        sentences.append(f"{sure} of {total} differ significantly between {names[0]} and {names[1]}.")
    head = wrapped(sentences, width)
    if not changed and not every:
        return "\n".join([*head, "Nothing changes."]) + "\n"
    titles = ["", *names, "difference", ""]
    cells = [_cells(row) for row in (rows if every else changed)]
    # Names go on in lines of their own, where these would make the table too wide.
    others = [max(map(len, column)) + GAP for column in list(zip(titles, *cells, strict=True))[1:]]
    room = max(width - sum(others), NAME)
    cells = [[fill(name, room, subsequent_indent="  "), *rest] for name, *rest in cells]
    foot, count = [basis(made, names)], len(cells)
    if not every:
        longest = wrapped([*foot, f"Not listed: {'more changes ' * 5} (--all)."], width)
        room = LINES - len(head) - len(longest) - SPARE
        count = sum(lines <= room for lines in accumulate(row[0].count("\n") + 1 for row in cells))
        worse = sum(map(_harms, changed[count:]))
        bad = f" ({worse} for the worse by over a tenth)" if worse else ""
        rest = [f"{len(changed) - count} more changes{bad}"] * (count < len(changed))
        rest += [f"{len(rows) - len(changed)} equal"] * (len(changed) < len(rows))
        foot += [f"Not listed: {' and '.join(rest)} (--all)."] if rest else []
    table = text_table(titles, cells[:count], width)
    return "\n".join([*head, "", table, *wrapped(foot, width)]) + "\n"


def _names(a: str, b: str) -> tuple[str, str]:
    """The ends of two paths, as long as it takes to distinguish them."""
    parts = [one.rstrip("/").split("/") for one in (a, b)]
    for count in range(1, max(map(len, parts)) + 1):
        first, second = ("/".join(one[-count:]) for one in parts)
        if first != second:
            return first, second
    return a, b


def _rank(row: Mapping[str, Any]) -> tuple[bool, bool, float]:
    """Significant differences come first, then what gets worse by over a tenth, then the largest."""
    return _told(row) is None, not _harms(row), -_share(row)


def _share(row: Mapping[str, Any]) -> float:
    """A difference as a share of the larger value."""
    size = max(abs(row["a"]), abs(row["b"]))
    return abs(row["difference"]) / size if size else 0.0


def _harms(row: Mapping[str, Any]) -> bool:
    """Whether the second is worse by over a tenth, significantly or not."""
    return row["better"] is False and _share(row) > LEAST


def basis(made: Mapping[str, Any], names: tuple[str, str]) -> str:
    """What the comparison rests on, in a sentence or two."""
    way = f"{names[1]} minus {names[0]}"
    uncertain = any("±" in _difference(row) for row in made["rows"])
    interval = (
        "; ±: half of the 95 % interval; without a verdict behind ± not significant" if uncertain else ""
    )
    if made["paired"]:
        text = f"Differences are {way} on common random numbers{interval}."
    else:
        text = f"{made['unpaired_because']}: differences are {way} of two samples{interval}."
    return f"{text} {OWN_RUNS}" if made["kind"] == "studies" else text


def _cells(row: Mapping[str, Any]) -> list[str]:
    metric = _metric(row)
    name = f"{row['name'].rpartition(' ')[0]} {metric_label(metric)}".strip()
    told = _told(row)
    verdict = "" if told is None else Styled("better", "green") if told else Styled("worse", "red")
    if row["low"] is None and row["better"] is not None:  # of one run each
        verdict = "better?" if row["better"] else "worse?"
    return [name, amount(row["a"], metric), amount(row["b"], metric), _difference(row), verdict]


def _metric(row: Mapping[str, Any]) -> Objective:
    return Objective(row["name"].rpartition(" ")[2], "minimize", row["unit"])


def _difference(row: Mapping[str, Any]) -> str:
    """The difference, and half its interval where there is one; of shares in percentage points."""
    gap, low, high, name = row["difference"], row["low"], row["high"], _metric(row).name
    size, unit = (100, " points") if label(name).percent else (1, "")
    half = (high - low) / 2 * size if low is not None and high is not None else None
    return human_difference(gap * size, half, row["unit"], name) + (unit if gap else "")


def _told(row: Mapping[str, Any]) -> bool | None:
    """Whether the second is significantly better, or worse; None if it is neither."""
    if row["better"] is None or row["low"] is None or row["low"] <= 0 <= row["high"]:
        return None
    return bool(row["better"])


def _found(subject: str) -> Study | SavedRun:
    path = Path(subject)
    if path.is_dir() and (path / "metrics.json").is_file():
        return _saved(path / "metrics.json", path / "manifest.json")
    if path.is_file() and path.suffix == ".json":
        return _saved(path, path)
    if path.suffix == ".toml" or not (path.exists() or is_study(subject)):
        raise ScenarioError(f"{subject}: expected {SUBJECTS}")
    return api.open_study(subject)


def _saved(metrics: Path, about: Path) -> SavedRun:
    """A run from its metrics, and from what says of which scenario and seed it is."""
    try:
        found, facts = (json.loads(path.read_text(encoding="utf-8")) for path in (metrics, about))
        table = found.get("metrics", found)
        values = {name: tuple(map(_number, entry["values"])) for name, entry in table.items()}
        if len(set(map(len, values.values()))) != 1 or not all(values.values()):
            raise ValueError("not every metric has a value of every replication")
        name, seed, units = facts["scenario"], facts["seed"], [entry["unit"] for entry in table.values()]
        if type(seed) is not int or not all(isinstance(text, str) for text in (name, *units)):
            raise ValueError("scenario, seed or units are of another kind")
        known = _workloads(facts["resolved"]) if "resolved" in facts else {}
        return SavedRun(Origin(name, seed, known), values, dict(zip(values, units, strict=True)))
    except OSError as error:
        raise ScenarioError(f"{error.filename}: {error.strerror}; expected {SUBJECTS}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise ScenarioError(f"{metrics}: not what a run has written ({why}); expected {SUBJECTS}") from error


def _number(value: Any) -> float:
    """A value of a metric, whose missing and infinite ones have no form in JSON."""
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r:.40} is no number")
    return float(value)


def _workloads(resolved: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of workloads, overlays and the queue, and the horizon, by path."""
    parts = [(part, one) for part in ("workload", "overlay") for one in resolved.get(part) or ()]
    named = {f"{part}.{one['name']}.{key}": one[key] for part, one in parts for key in one}
    return {"horizon": resolved.get("horizon"), "queue": resolved.get("queue"), **named}


def _studies(a: Study, b: Study) -> tuple[str, list[Row]]:
    first, second = ([(o.name, o.direction) for o in one.archive.objectives] for one in (a, b))
    if first != second:
        names = [", ".join(name for name, _ in some) for some in (first, second)]
        raise ScenarioError(f"the studies trade off different objectives: {names[0]}; and {names[1]}")
    for one in (a, b):
        if not one.details.on_front:
            raise ScenarioError(f"{one.name}: has no front to compare")
    apart = _studies_apart(a, b)
    rows = compared_fronts(a.details, b.details, common=not apart)
    standing = [one.archive.standing for one in (a, b)]
    known = [one.estimates for one in standing if one]
    for objective in a.archive.objectives if len(known) == 2 else ():
        values = [estimates[objective.name].values for estimates in known]
        rows.append(compared(objective, *values, common=not apart, name=f"baseline {objective.name}"))
    return apart, rows


def _studies_apart(a: Study, b: Study) -> str:
    """Why the runs of two studies share no random numbers, case by case; "" if they do."""
    if a.details.validated != b.details.validated:
        return "The two share no random numbers (only one has validated its front)"
    cases = [
        [
            Origin(one.scenario.name, one.seed, _workloads(one.scenario.spec.model_dump(mode="json")))
            for one in study.settings.run_in
        ]
        for study in (a, b)
    ]
    if len(cases[0]) != len(cases[1]):
        return OTHER_CASES
    reasons = [one.apart(other) for one, other in zip(*cases, strict=True)]
    return reasons[0] if all(reasons) else OTHER_CASES if any(reasons) else ""


def _differ(name: str, a: SavedRun, b: SavedRun) -> bool:
    """Whether a metric differs in a replication that both have."""
    return any(one != other for one, other in zip(a.values[name], b.values.get(name, ()), strict=False))


def _runs(a: SavedRun, b: SavedRun, apart: str = "") -> tuple[str, list[Row]]:
    apart = apart or a.origin.apart(b.origin)
    shared = [name for name in a.values if name in b.values]
    if not shared:
        raise ScenarioError("the runs have no metric in common")
    rows = []
    for name in shared:
        if all(map(isfinite, (*a.values[name], *b.values[name]))):
            known = definition(name)
            direction, step = (known.direction, known.resolution) if known else ("minimize", 0.0)
            metric = Objective(name, direction, a.units[name], step)
            row = compared(metric, a.values[name], b.values[name], common=not apart)
            # Unknown metrics, and those that say nothing of a grid, have no better direction.
            rows.append(row if known and name not in IDLE else replace(row, better=None))
    return apart, rows
