"""A statement about kinds of systems, tested: alternatives put in the place of what all of a front has.

Where all points of a front have one kind (a middleware, a controller) although the search tried others, the
others are put into points of the front, each with some settings of its own, and run beside their hosts under
streams that nothing was chosen by. Only that can show that the front's kind is the better one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gridtune.optimize.front.changes import Change, changes
from gridtune.optimize.front.dominant_choice import DominantChoice
from gridtune.optimize.front.front import Front, Member
from gridtune.optimize.records.evaluations import Value
from gridtune.optimize.replication.validation import FRESH, Fresh, FreshRuns
from gridtune.optimize.search_space.space import Point, Space, key

HOSTS = 3  # points of the front that alternatives are put into, at most
DESIGN = (0.5, 0.2, 0.8)  # where in their ranges an alternative's own parameters are tried
APART = 500_000  # replications between those of the validation and those of this test
LEAST = 10  # runs of each point
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
        """Surely `worse` in an objective and better in none, `better`, `level` in all, or `undecided`."""
        if self.failure:
            return "failed"
        sure = [one for one in self.changes if _sure(one, self.tests)]
        if any(one.better for one in sure):
            return "better"
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


def tested(front: Front, space: Space, choices: Sequence[DominantChoice], fresh: FreshRuns) -> list[Tested]:
    """Each alternative of each choice, put into points of the front.

    Args:
        front: of the search.
        space: what was searched.
        choices: that all points of the front share.
        fresh: runs points under streams that nothing was chosen by.
    """
    hosts = _spread(front.kept)
    found = []
    for choice in choices:
        for one in choice.alternatives:
            nearest = dict(one.nearest.values) if one.nearest else {}
            variants = [
                (host, point)
                for host in hosts
                for point in _variants(host, choice.path, one.value, nearest, space)
            ]
            outcomes = fresh.run(
                [*(host.evaluation.values for host in hosts), *(point for _, point in variants)]
            )
            known = dict(zip((id(host) for host in hosts), outcomes, strict=False))
            tests = max(len(variants) * len(front.objectives), 1)
            made = tuple(
                _transplant(front, host, point, known[id(host)], outcome, tests)
                for (host, point), outcome in zip(variants, outcomes[len(hosts) :], strict=True)
            )
            found.append(Tested(choice.path, choice.value, one.value, made, fresh.replications))
    return found


def _transplant(
    front: Front, host: Member, point: Point, base: Fresh | str, outcome: Fresh | str, tests: int
) -> Transplant:
    number = host.evaluation.number
    failure = next((one for one in (base, outcome) if isinstance(one, str)), "")
    if isinstance(base, str) or isinstance(outcome, str):
        return Transplant(number, point, (), failure)
    return Transplant(number, point, changes(front.objectives, base.values, outcome.values), "", tests)


def _sure(one: Change, tests: int) -> bool:
    """Whether an objective differs, at a rate of errors shared by all tests (Bonferroni)."""
    gap = one.difference
    return bool(gap.mean) and gap.confidence is not None and (1 - gap.confidence) * tests <= ERROR


def _spread(kept: Sequence[Member]) -> list[Member]:
    """Members from one end of the front to the other."""
    if len(kept) <= HOSTS:
        return list(kept)
    return [kept[round(at * (len(kept) - 1) / (HOSTS - 1))] for at in range(HOSTS)]


def _variants(
    host: Member, path: str, value: Value, nearest: Mapping[str, Value], space: Space
) -> list[Point]:
    """A host with the alternative; its own parameters are those of its nearest point or of a small design."""
    made: dict[str, Point] = {}
    designs = [nearest] if nearest else []
    designs += [{parameter.path: parameter.at(share) for parameter in space} for share in DESIGN]
    for own in designs:
        middle = {parameter.path: parameter.at(0.5) for parameter in space}
        point = space.active({**middle, **own, **host.evaluation.values, path: value})
        made[key(point)] = point
    return list(made.values())


def streams_of(front: Front) -> tuple[int, int]:
    """Number of the first replication of the test, and how many there are."""
    counts = [member.evaluation.fresh_replications for member in front.members]
    return FRESH + APART, max(LEAST, *counts) if counts else LEAST
