"""How the runs that are left are divided: how many candidates are confirmed, and how changes are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

ELIMINATION, CONFIRMATION = 6, 12  # replications, at most
LEAST_ELIMINATION, LEAST_CONFIRMATION = 3, 6  # replications without which they are left out
LEAST = 3 * LEAST_CONFIRMATION  # runs without which nothing can be confirmed
TRIES = 4  # subsets of a configuration that are run, at most
LEAST_TRIES = 2  # of several configurations, where each change was left out alone first
SINGLES = 10  # runs without one change each, about
LEAST_RUNS = LEAST + (2 + TRIES) * LEAST_ELIMINATION + SINGLES  # to find and confirm one recommendation


@dataclass(frozen=True)
class Plan:
    """What is done with the runs that are left.

    Attributes:
        changes: of each candidate that is confirmed.
        elimination: replications in which changes are left out; 0 if there is no elimination.
        confirmation: replications of the confirmation.
        tries: subsets of each candidate that may be run in the elimination.
        single: whether each change is left out alone first, in one run.
    """

    changes: tuple[int, ...] = ()
    elimination: int = 0
    confirmation: int = 0
    tries: int = TRIES
    single: bool = False

    @property
    def runs(self) -> int:
        """That it takes of each case, replays of logs aside."""
        count = len(self.changes)
        thinned = self.elimination * (1 + (1 + self.tries) * count) + self.single * sum(self.changes)
        return thinned + self.confirmation * (1 + 2 * count)  # the baseline, sparse and whole configurations


def plan(left: int, changes: Sequence[int], each: int, replays: float, *, certain: bool) -> Plan:
    """As many candidates as runs allow.

    Args:
        left: runs of each case that are left.
        changes: of each candidate, the first that is wanted first.
        each: runs by which a sparse configuration is evaluated as any other is.
        replays: runs that the replays of whole logs count as that a candidate still needs.
        certain: whether one run of a configuration tells all.
    """
    for count in range(len(changes), 0, -1):
        room, some = left - count * each - ceil(count * replays), tuple(changes[:count])
        fewest = LEAST_TRIES if count > 1 else 1
        for tries, single in (*((tries, True) for tries in range(TRIES, fewest - 1, -1)), (TRIES, False)):
            if certain:  # the confirmation repeats runs of the elimination
                if Plan(some, 1, 0, tries, single).runs <= room:
                    return Plan(some, 1, 1, tries, single)
                continue
            # A single one is rather confirmed by fewer runs than told with changes that do nothing.
            least = LEAST_CONFIRMATION if count == 1 else CONFIRMATION
            if Plan(some, LEAST_ELIMINATION, least, tries, single).runs <= room:
                sure = 1 + 2 * count
                others = Plan(some, LEAST_ELIMINATION, 0, tries, single).runs
                confirmation = min(CONFIRMATION, (room - others) // sure)
                spare = room - Plan(some, 0, confirmation, tries, single).runs
                return Plan(
                    some, min(ELIMINATION, spare // (1 + (1 + tries) * count)), confirmation, tries, single
                )
    room = left - each - ceil(replays)
    if changes and not certain and room >= LEAST:
        return Plan((changes[0],), 0, min(CONFIRMATION, room // 3))
    return Plan()
