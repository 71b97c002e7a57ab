"""What a test of kinds of systems says: alternatives in the place of what all of a front has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gridtune.optimize.front.changes import Change
from gridtune.optimize.records.evaluations import Value
from gridtune.optimize.search_space.space import Point

ERROR = 0.05  # probability of a wrong statement about a kind

Verdict = Literal["worse", "better", "level", "undecided", "failed"]


@dataclass(frozen=True)
class Transplant:
    """An alternative in the place of the front's kind in one point.

    Attributes:
        host: number of the point of the front.
        values: what was run.
        changes: from the host to it, in each objective; empty if it failed.
        failure: why it could not be run.
        tests: comparisons that the statement about its kind rests on.
    """

    host: int
    values: Point
    changes: tuple[Change, ...]
    failure: str = ""
    tests: int = 1

    @property
    def verdict(self) -> Verdict:
        """Surely `better` somewhere; surely `worse` and ahead nowhere; `level`; `undecided`; `failed`."""
        if self.failure:
            return "failed"
        sure = [one for one in self.changes if _sure(one, self.tests)]
        if any(one.better for one in sure):
            return "better"
        if any(one.better for one in self.changes):
            return "undecided"
        if sure:
            return "worse"
        return "level" if all(one.difference.verdict == "equal" for one in self.changes) else "undecided"


@dataclass(frozen=True)
class Tested:
    """What became of one alternative.

    Attributes:
        path, kind: the parameter, and the value that all of the front has.
        value: the alternative.
        transplants: of it.
        runs: of each point.
    """

    path: str
    kind: Value
    value: Value
    transplants: tuple[Transplant, ...]
    runs: int

    @property
    def count(self) -> Mapping[Verdict, int]:
        """How many transplants had each verdict."""
        verdicts = [one.verdict for one in self.transplants]
        return {verdict: verdicts.count(verdict) for verdict in dict.fromkeys(verdicts)}

    @property
    def verdict(self) -> Verdict:
        """`worse` if every transplant is, `better` if any is, else `undecided`."""
        count = self.count
        if count.get("better"):
            return "better"
        ran = len(self.transplants) - count.get("failed", 0)
        return "worse" if ran and count.get("worse", 0) == ran else "undecided"

    def as_json(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "path": self.path,
            "front": self.kind,
            "value": self.value,
            "verdict": self.verdict,
            "runs": self.runs,
            "transplants": [
                {
                    "host": one.host,
                    "values": one.values,
                    "verdict": one.verdict,
                    "failure": one.failure or None,
                    "changes": [change.as_json() for change in one.changes],
                }
                for one in self.transplants
            ],
        }

    def __str__(self) -> str:
        count = self.count
        parts = ", ".join(f"{verdict} in {number}" for verdict, number in count.items())
        hosts = len({one.host for one in self.transplants})
        base = (
            f"{self.path} {self.value} in the place of {self.kind}, {len(self.transplants)} variants in "
            f"{hosts} point{'s' if hosts > 1 else ''} of the front, {self.runs} paired runs each: {parts}."
        )
        if self.verdict == "worse":
            return f"{base} {self.kind} is better than {self.value} on this front."
        if self.verdict == "better":
            return f"{base} {self.value} beats {self.kind} in some objective there: {self._best()}."
        return f"{base} Undecided."

    def _best(self) -> str:
        first = next(one for one in self.transplants if one.verdict == "better")
        settings = ", ".join(f"{path}={value}" for path, value in first.values.items())
        return f"for one, {settings} (from point {first.host})"


def _sure(one: Change, tests: int) -> bool:
    """Whether an objective differs, at a rate of errors shared by all tests (Bonferroni)."""
    gap = one.difference
    return bool(gap.mean) and gap.confidence is not None and (1 - gap.confidence) * tests <= ERROR
