"""What `gridtune compare` does: find out what two names stand for, and set both side by side."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

from gridtune.model.metrics.registry import CLASS_METRICS, METRICS, SIZE_METRICS
from gridtune.optimize import api
from gridtune.optimize.api.search_result import Study
from gridtune.optimize.commands.sensitivity import is_study
from gridtune.optimize.front.against_today import todays
from gridtune.optimize.front.changes import IDLE
from gridtune.optimize.front.comparison import Row, compared, compared_fronts
from gridtune.optimize.front.terminal import GAP, laid_out, titled, wrapped
from gridtune.optimize.records.evaluations import Objective
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.amounts import human, human_difference

OTHER_CASES = "A and B were searched in other cases"
OWN_RUNS = "Values are means of each point's own runs, not what `front` expects by all runs of a search."
NAME = 16  # columns that names need at least, above which a table is turned on its side
KINDS = "a study, the folder of `gridtune run --out`, or the JSON that `gridtune run --format json` prints"


@dataclass(frozen=True)
class Origin:
    """What decides the random streams of runs.

    Attributes:
        scenario: name of it.
        seed: of the experiment.
        drawing: see `_drawing`; None where it is not known.
    """

    scenario: str
    seed: int
    drawing: frozenset[str] | None = None


@dataclass(frozen=True)
class KeptRun:
    """Runs that were kept.

    Attributes:
        origin: of their random streams.
        values: of each metric, one per replication.
        units: of the metrics.
    """

    origin: Origin
    values: dict[str, tuple[float, ...]]
    units: dict[str, str]


def run_compare(a: str, b: str) -> dict[str, Any]:
    """Two studies, or two runs, side by side.

    Args:
        a, b: studies (folder, journal file, storage URL) or runs (folder, JSON file).

    Returns:
        For JSON: what was compared, why not pair by pair if so, and `rows` as `Row.as_json` gives them,
        differences B minus A.

    Raises:
        ScenarioError: one is neither, or they cannot be compared.
    """
    first, second = _found(a), _found(b)
    if isinstance(first, Study) and isinstance(second, Study):
        apart, rows = _studies(first, second)
    elif isinstance(first, KeptRun) and isinstance(second, KeptRun):
        apart, rows = _runs(first, second)
    else:
        raise ScenarioError(f"{a} and {b}: one is a study and the other a run; compare two of a kind")
    kind = "studies" if isinstance(first, Study) else "runs"
    return {
        "a": a,
        "b": b,
        "kind": kind,
        "paired": not apart,
        "unpaired_because": apart or None,
        "rows": [row.as_json() for row in rows],
    }


def compare_text(made: Mapping[str, Any], width: int) -> str:
    """The comparison as a table and what it rests on, in lines of at most `width` columns."""
    table = laid_out(_folded(compare_rows(made), width), width)
    return f"{table}\n" + "".join(f"{line}\n" for line in wrapped([basis(made)], width))


def basis(made: Mapping[str, Any]) -> str:
    """What the comparison rests on, in words."""
    uncertain = any("±" in _difference(row) for row in made["rows"])
    if made["paired"]:
        text = "Differences are B minus A over common streams"
        interval = "; behind ± stands half the 95 % interval"
    else:
        text = f"{made['unpaired_because']}: differences are B minus A of two samples"
        interval = "; behind ± stands half of Welch's 95 % interval"
    text += f"{interval}." if uncertain else "."
    return f"{text} {OWN_RUNS}" if made["kind"] == "studies" else text


def compare_rows(made: Mapping[str, Any]) -> list[list[str]]:
    """Rows of the table below their titles."""
    verdicts = {None: "", True: "better", False: "worse"}
    rows = [
        [
            titled(row["name"].replace("_", " "), row["unit"]),
            *("-" if row[side] is None else human(row[side], row["unit"]) for side in ("a", "b")),
            _difference(row),
            verdicts[_told(row)],
        ]
        for row in made["rows"]
    ]
    return [["", "A", "B", "B - A", "B is"], *rows]


def _difference(row: Mapping[str, Any]) -> str:
    """B minus A, and half its interval where there is one."""
    gap, low, high = row["difference"], row["low"], row["high"]
    if gap is None:
        return "-"
    if low is not None and high is not None:
        return human_difference(gap, (high - low) / 2, row["unit"])
    return f"{'+' if gap > 0 else ''}{human(gap, row['unit'])}" if gap else "="


def _folded(rows: Sequence[Sequence[str]], width: int) -> list[Sequence[str]]:
    """Rows whose names go on in lines of their own, where these would make the table too wide."""
    others = [max(map(len, column)) for column in list(zip(*rows, strict=True))[1:]]
    room = width - sum(others) - len(GAP) * len(others)
    if room < NAME:
        return list(rows)
    made: list[Sequence[str]] = []
    for name, *cells in rows:
        first, *more = textwrap.wrap(name, room, subsequent_indent="  ") or [""]
        made += [[first, *cells], *([line, *("" for _ in cells)] for line in more)]
    return made


def _told(row: Mapping[str, Any]) -> bool | None:
    """Whether B is better beyond noise, or worse; None if that is not told."""
    if row["better"] is None or row["low"] is None or row["low"] <= 0 <= row["high"]:
        return None
    return bool(row["better"])


def _found(subject: str) -> Study | KeptRun:
    path = Path(subject)
    if path.is_dir() and (path / "metrics.json").is_file():
        return _kept(path / "metrics.json", path / "manifest.json")
    if path.is_file() and path.suffix == ".json":
        return _kept(path, path)
    if path.suffix == ".toml" or not (path.exists() or is_study(subject)):
        raise ScenarioError(f"{subject}: expected {KINDS}")
    return api.open_study(subject)


def _kept(metrics: Path, about: Path) -> KeptRun:
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
        drawing = _drawing(facts["resolved"]) if "resolved" in facts else None
        return KeptRun(Origin(name, seed, drawing), values, dict(zip(values, units, strict=True)))
    except OSError as error:
        raise ScenarioError(f"{error.filename}: {error.strerror}; expected {KINDS}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise ScenarioError(f"{metrics}: not what a run has written ({why}); expected {KINDS}") from error


def _number(value: Any) -> float:
    """A value of a metric, whose missing and infinite ones have no form in JSON."""
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r:.40} is no number")
    return float(value)


def _drawing(resolved: Mapping[str, Any]) -> frozenset[str]:
    """What draws random numbers in a scenario, by name: workloads, overlays or a queue; each has one.

    Streams depend on the seed, the replication and such names, never on policies or the scenario's own name.
    """
    named = (f"{part} {one['name']}" for part in ("workload", "overlay") for one in resolved.get(part) or ())
    return frozenset([*named, *(["queue"] if resolved.get("queue") else [])])


def _apart(a: Origin, b: Origin) -> str:
    """Why replications of the same number have no streams in common; "" if they have."""
    if a.seed != b.seed:
        return "A and B share no streams (another seed)"
    if a.drawing is not None and b.drawing is not None:
        return "" if a.drawing & b.drawing else "A and B share no streams (no workload in common)"
    if a.scenario != b.scenario:
        return "Whether A and B share streams is not known (scenarios of other names)"
    return ""


def _studies(a: Study, b: Study) -> tuple[str, list[Row]]:
    first, second = ([(o.name, o.direction) for o in one.archive.objectives] for one in (a, b))
    if first != second:
        names = [", ".join(name for name, _ in some) for some in (first, second)]
        raise ScenarioError(f"the studies trade off different objectives: {names[0]}; and {names[1]}")
    for one in (a, b):
        if not one.details.kept:
            raise ScenarioError(f"{one.name}: has no front to compare")
    apart = _studies_apart(a, b)
    common = not apart
    rows = compared_fronts(a.details, b.details, common=common)
    today = [todays(one.details) for one in (a, b)]
    for objective in a.archive.objectives:
        known = [((one.validated or one.objectives)[objective.name].values if one else None) for one in today]
        if known[0] is not None and known[1] is not None:
            name = f"today's {objective.name}"
            rows.append(compared(objective, known[0], known[1], common=common, name=name))
    return apart, rows


def _studies_apart(a: Study, b: Study) -> str:
    """Why the runs of two studies have no streams in common, case by case; "" if they have."""
    if a.details.validated != b.details.validated:
        return "A and B share no streams (only one has run its front on fresh seeds)"
    cases = [_origins(one) for one in (a, b)]
    if len(cases[0]) != len(cases[1]):
        return OTHER_CASES
    reasons = [_apart(one, other) for one, other in zip(*cases, strict=True)]
    return reasons[0] if all(reasons) else OTHER_CASES if any(reasons) else ""


def _origins(study: Study) -> list[Origin]:
    """Of the runs in each case."""
    return [
        Origin(case.scenario.name, case.seed, _drawing(case.scenario.spec.model_dump(mode="json")))
        for case in study.settings.run_in
    ]


def _runs(a: KeptRun, b: KeptRun) -> tuple[str, list[Row]]:
    apart = _apart(a.origin, b.origin)
    shared = [name for name in a.values if name in b.values]
    if not shared:
        raise ScenarioError("the runs have no metric in common")
    rows = []
    for name in shared:
        if not all(map(isfinite, (*a.values[name], *b.values[name]))):
            continue
        stem = name.partition(".")[0]
        known = METRICS.get(name) or CLASS_METRICS.get(stem) or SIZE_METRICS.get(stem)
        direction = known.direction if known else "minimize"
        metric = Objective(name, direction, a.units[name], known.resolution if known else 0.0)
        row = compared(metric, a.values[name], b.values[name], common=not apart)
        # Of what nobody knows, or what says nothing of a grid, no way is better.
        rows.append(row if known and name not in IDLE else replace(row, better=None))
    return apart, rows
