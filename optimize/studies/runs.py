"""The rows of the table of runs: one run of the simulator each, as a line of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from gridtune.optimize.records.values import Value, key
from gridtune.scenarios.errors import ScenarioError

BEGUN, RESUMED = "begun", "resumed"  # lines that say when a search began or was resumed


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
    return key(run.values), run.case, run.replication, run.validation


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
        numbers = {name: float(value) for name, value in run.metrics.items()}
        # JSON has no numbers that are not finite: they are kept as texts.
        row["metrics"] = {name: one if isfinite(one) else json.dumps(one) for name, one in numbers.items()}
    return json.dumps(row, separators=(",", ":"), allow_nan=False)


def parsed(text: str | bytes) -> tuple[str, Run | str] | None:
    """The study of a line, and its run, `begun` or `resumed`; None if no search wrote it so."""
    try:
        row = json.loads(text)
        if type(row["study"]) is not str:
            return None
        for mark in (BEGUN, RESUMED):
            if mark in row:
                return row["study"], mark
        failure = str(row.get("failure", ""))
        metrics = {} if failure else {name: _number(value) for name, value in row["metrics"].items()}
        run = Run(row["configuration"], row["case"], row["replication"], row["validation"], metrics, failure)
        values = run.values.values()
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None
    types = type(run.case), type(run.replication), type(run.validation)
    good = types == (str, int, bool) and all(isinstance(value, Value) for value in values)
    return (row["study"], run) if good else None


def _number(stored: float | str) -> float:
    """A metric as `line_of` writes it."""
    if type(stored) in (int, float) or stored in ("NaN", "Infinity", "-Infinity"):
        return float(stored)
    raise ValueError("no number")


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
        named, row = parsed(text) or (None, None)
        if row is None:
            if not skip_broken:
                raise ScenarioError(broken(place))
            notes.append(f"note: {place} is broken and was passed over")
        elif named == study and row != RESUMED:
            if row == BEGUN or found is None:
                found = {}  # what stands before belonged to a study of that name that was deleted
            if isinstance(row, Run):
                found.setdefault(identity(row), row)
    return (None if found is None else tuple(found.values())), tuple(notes)


def broken(place: str) -> str:
    """What to say about a broken line."""
    return f"{place} is broken; delete it, or pass it over with --skip-broken"
