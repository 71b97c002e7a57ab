"""Runs that are done once: those of a point that an interruption left incomplete are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, MutableMapping, Sequence

from gridtune.optimize.search_space.space import key
from gridtune.scenarios.execution.replicate import Metrics, Task, run_groups
from gridtune.scenarios.workers.pool import Outcome, Pool

Run = tuple[str, int, int]  # key of the point, replication, and which of several such tasks of a group


class Runs:
    """Does runs in groups; a group is complete or not there.

    Args:
        pool: who runs the simulations.
        work: gives the metrics of a run to be done.
        left: runs of groups that are not complete; changes as runs are done.
    """

    def __init__(
        self, pool: Pool, work: Callable[[Task], Metrics], left: MutableMapping[Run, Metrics]
    ) -> None:
        self.pool, self.work, self.left = pool, work, left

    def of(self, groups: Sequence[Sequence[Task]]) -> Iterator[Outcome[list[Metrics]]]:
        """What became of each group, as soon as it is complete; see `run_groups`."""
        names = [_names(group) for group in groups]
        known = [{at: self.left[run] for at, run in enumerate(runs) if run in self.left} for runs in names]

        def heard(group: int, at: int, result: Metrics) -> None:
            self.left[names[group][at]] = result

        for outcome in run_groups(groups, self.pool, self.work, known=known, heard=heard):
            for run in names[outcome.index]:
                self.left.pop(run, None)
            yield outcome


def _names(group: Sequence[Task]) -> list[Run]:
    seen: Counter[tuple[str, int]] = Counter()
    names = []
    for task in group:
        name = key(task.values), task.replication
        names.append((*name, seen[name]))
        seen[name] += 1
    return names
