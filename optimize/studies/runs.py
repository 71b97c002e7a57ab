"""The rows of the table of runs: one run of the simulator each, as a line of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from gridtune.scenarios.errors import ScenarioError

Value = bool | int | float | str
BEGUN, RESUMED = "begun", "resumed"  # lines that say when a search began or was resumed
NOT_FINITE = {"NaN", "Infinity", "-Infinity"}  # strings, as JSON has no such numbers


@dataclass(frozen=True)
class Run:
    """One run: what was set, on what it ran, and what came of it.

    Attributes:
        values: the configuration, by path; empty for the baseline.
        case: name of the scenario it ran in.
        replication: number of the replication, from 0.
        validation: whether it ran on a validation seed.
        metrics: all metrics of the run by name, each in the unit that the study keeps for it.
        failure: why the run failed, in one line; empty if it did not.
    """

    values: Mapping[str, Value]
    case: str
    replication: int
    validation: bool = False
    metrics: Mapping[str, float] = field(default_factory=dict)
    failure: str = ""

    def __repr__(self) -> str:
        seed = "validation" if self.validation else "search"
        return f"Run({len(self.values)} values, {self.case!r}, {seed} replication {self.replication})"


Identity = tuple[str, str, int, bool]


def identity(run: Run) -> Identity:
    """What no two rows of a table have in common: configuration, case, replication, and kind of seed."""
    return json.dumps(sorted(run.values.items())), run.case, run.replication, run.validation


def line_of(study: str, run: Run) -> str:
    """A run as a line of JSON, without its end; numbers come back from it bit by bit."""
    row: dict[str, Any] = {
        "study": study,
        "configuration": dict(run.values),
        "case": run.case,
        "replication": run.replication,
        "validation": run.validation,
    }
    if run.failure:
        row["failure"] = " ".join(run.failure.split())
    else:
        row["metrics"] = {name: _stored(float(value)) for name, value in run.metrics.items()}
    return json.dumps(row, separators=(",", ":"), allow_nan=False)


def parsed(text: str | bytes) -> dict[str, Any] | None:
    """A line as what it says; None if no search wrote it as it stands."""
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict) or not isinstance(row.get("study"), str):
        return None
    if BEGUN in row or RESUMED in row:
        return row
    known = (
        isinstance(row.get("configuration"), dict)
        and all(isinstance(value, Value) for value in row["configuration"].values())
        and isinstance(row.get("case"), str)
        and type(row.get("replication")) is int
        and type(row.get("validation")) is bool
    )
    if "failure" in row:
        return row if known and isinstance(row["failure"], str) else None
    metrics = row.get("metrics")
    return row if known and isinstance(metrics, dict) and all(map(_is_metric, metrics.values())) else None


def runs_of(
    lines: Iterable[tuple[str, str | bytes]], study: str, *, skip_broken: bool = False
) -> tuple[tuple[Run, ...] | None, tuple[str, ...]]:
    """The runs of a study in a table, each once, and a note for each line passed over.

    Args:
        lines: with the place of each.
        study: name of the study; None is returned for its runs if the table does not know it.
        skip_broken: whether to pass over broken lines.

    Raises:
        ScenarioError: a line is broken.
    """
    found: dict[Identity, Run] | None = None
    notes = []
    for place, text in lines:
        row = parsed(text)
        if row is None:
            if not skip_broken:
                raise ScenarioError(broken(place))
            notes.append(f"note: {place} is broken and was passed over")
        elif row["study"] != study:
            continue
        elif BEGUN in row:
            found = {}  # what stands before belonged to a study of that name that was deleted
        elif RESUMED not in row:
            run = _run_of(row)
            found = {} if found is None else found
            found.setdefault(identity(run), run)
    return (None if found is None else tuple(found.values())), tuple(notes)


def broken(place: str) -> str:
    """What to say about a broken line."""
    return f"{place} is broken; delete it, or pass it over with --skip-broken"


def _run_of(row: Mapping[str, Any]) -> Run:
    metrics = {name: float(value) for name, value in row.get("metrics", {}).items()}
    return Run(
        row["configuration"],
        row["case"],
        row["replication"],
        row["validation"],
        metrics,
        row.get("failure", ""),
    )


def _stored(value: float) -> float | str:
    if isfinite(value):
        return value
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def _is_metric(value: object) -> bool:
    return type(value) in (int, float) or (isinstance(value, str) and value in NOT_FINITE)
