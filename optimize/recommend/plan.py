"""How the runs that are left are divided: how many candidates are confirmed, and how changes are left out."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

ELIMINATION, CONFIRMATION = 6, 12  # replications, at most
LEAST_ELIMINATION, LEAST_CONFIRMATION = 3, 6  # replications without which they are left out
LEAST = 3 * LEAST_CONFIRMATION  # runs without which nothing can be confirmed
TRIES, LEAST_TRIES = 4, 2  # subsets of a configuration that are run, at most; of each of several, at least
LEAST_RUNS = LEAST + (2 + TRIES) * LEAST_ELIMINATION  # to find and confirm one recommendation


@dataclass(frozen=True)
class Plan:
    """What is done with the runs that are left."""

    candidates: int = 0  # that are confirmed
    elimination: int = 0  # replications; 0 if there is none
    confirmation: int = 0
    tries: int = TRIES  # subsets of each candidate that may be run in the elimination

    @property
    def runs(self) -> int:
        """That it takes of each case, replays of logs aside."""
        thinned = self.elimination * (1 + (1 + self.tries) * self.candidates)
        return thinned + self.confirmation * (1 + 2 * self.candidates)  # the baseline, sparse and whole ones


def plan(left: int, candidates: int, each: int, replays: float, *, certain: bool) -> Plan:
    """As many candidates as the runs that are left of each case allow.

    A candidate still needs `each` runs by which its sparse configuration is evaluated as any other is, and
    replays of logs that count as `replays` runs. If it is `certain`, one run of a configuration tells all.
    """
    for count in range(candidates, 0, -1):
        room = left - count * each - ceil(count * replays)
        for tries in range(TRIES, 0 if count == 1 else LEAST_TRIES - 1, -1):
            if certain and Plan(count, 1, 0, tries).runs <= room:
                return Plan(count, 1, 1, tries)  # the confirmation repeats runs of the elimination
            # A single one is rather confirmed by fewer runs than told with changes that do nothing.
            least = LEAST_CONFIRMATION if count == 1 else CONFIRMATION
            if not certain and Plan(count, LEAST_ELIMINATION, least, tries).runs <= room:
                others = Plan(count, LEAST_ELIMINATION, 0, tries).runs
                confirmation = min(CONFIRMATION, (room - others) // (1 + 2 * count))
                spare = room - Plan(count, 0, confirmation, tries).runs
                return Plan(count, min(ELIMINATION, spare // (1 + (1 + tries) * count)), confirmation, tries)
    room = left - each - ceil(replays)
    if candidates and not certain and room >= LEAST:
        return Plan(1, 0, min(CONFIRMATION, room // 3))
    return Plan()
