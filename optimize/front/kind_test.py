"""What a test of kinds of systems says: alternatives in the place of what all of a front has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gridtune.optimize.front.changes import Change
from gridtune.optimize.records.evaluations import Value
from gridtune.optimize.search_space.space import Point
from gridtune.scenarios.results.amounts import counted

ERROR = 0.05  # probability of a wrong statement about a kind
VARIANTS = 3  # of an alternative that must have lost before it is said to
STREAMS = 5  # on which they must have

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
        together: what they change in each objective, all of them together, paired by stream alone: a stream
            may be kinder to a kind wherever it is. None where each transplant was tested so.
    """

    path: str
    kind: Value
    value: Value
    transplants: tuple[Transplant, ...]
    runs: int
    together: tuple[Change, ...] | None = None

    @property
    def count(self) -> Mapping[Verdict, int]:
        """How many transplants had each verdict."""
        verdicts = [one.verdict for one in self.transplants]
        return {verdict: verdicts.count(verdict) for verdict in dict.fromkeys(verdicts)}

    @property
    def enough(self) -> bool:
        """Whether so many transplants could be run that they may all have lost."""
        return len(self.transplants) - self.count.get("failed", 0) >= VARIANTS

    @property
    def verdict(self) -> Verdict:
        """`worse` if every transplant that could be run is, of `VARIANTS` at least; `better` if any is."""
        if self.count.get("better"):
            return "better"
        return "worse" if self.enough and self._all_worse and self._agreed else "undecided"

    @property
    def _all_worse(self) -> bool:
        return set(self.count) <= {"worse", "failed"}

    @property
    def _agreed(self) -> bool:
        """Whether they are worse beyond what streams do to all of them, in `STREAMS` at least."""
        if self.together is None:
            return True
        sure = [one for one in self.together if _sure(one, len(self.together))]
        return self.runs >= STREAMS and bool(sure) and not any(one.better for one in sure)

    @property
    def counts(self) -> str:
        """How many transplants had each verdict, in words; why they settle nothing, where they are few."""
        parts = ", ".join(f"{verdict} in {number}" for verdict, number in self.count.items())
        if not self.enough:
            return f"{parts}, which is less than {VARIANTS} that ran"
        open_ = self._all_worse and not self._agreed
        return f"{parts}, but not beyond what streams do to all of them" if open_ else parts

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
        variants = counted(len(self.transplants), "variant")
        hosts = counted(len({one.host for one in self.transplants}), "point")
        base = (
            f"{self.path} {self.value} in the place of {self.kind}, {variants} in {hosts} of the front, "
            f"{self.runs} paired runs each: {self.counts}."
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
