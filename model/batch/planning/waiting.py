"""Waiting jobs in their order, as arrays: what many of them ask for is looked at in one go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridtune.model.job import Job


class Waiting:
    """Jobs in order, kept up to date as they come in at the tail and leave.

    Args:
        order: jobs, the first to be served first.
        pace: speed of the slowest node.

    Attributes:
        jobs: in order.
        planned: whether each has a place in the plan.
    """

    __slots__ = ("_durations", "_pace", "_planned", "_processors", "jobs")

    def __init__(self, order: Iterable[Job], pace: float) -> None:
        self.jobs = list(order)
        self._pace = pace
        count = len(self.jobs)
        self._processors = np.fromiter((job.processors for job in self.jobs), np.int64, count)
        self._durations = np.fromiter((job.expected for job in self.jobs), np.float64, count) / pace
        self._planned = np.zeros(count, bool)

    def __len__(self) -> int:
        return len(self.jobs)

    @property
    def processors(self) -> NDArray[np.int64]:
        """Asked for by each."""
        return self._processors[: len(self.jobs)]

    @property
    def durations(self) -> NDArray[np.float64]:
        """How long each is planned to run, s."""
        return self._durations[: len(self.jobs)]

    @property
    def planned(self) -> NDArray[np.bool_]:
        """Whether each has a place in the plan; may be changed."""
        return self._planned[: len(self.jobs)]

    def plan(self, place: int) -> None:
        """One of them has a place in the plan."""
        self._planned[place] = True

    def asked_for(self, places: NDArray[np.intp]) -> Iterator[tuple[int, int, float]]:
        """Place, processors and duration in s of some of them."""
        return zip(
            places.tolist(),
            self._processors[places].tolist(),
            self._durations[places].tolist(),
            strict=True,
        )

    def extend(self, jobs: Iterable[Job]) -> None:
        """Jobs that came in at the tail."""
        for job in jobs:
            place = len(self.jobs)
            if place == len(self._planned):
                self._processors, self._durations, self._planned = (
                    _longer(array) for array in (self._processors, self._durations, self._planned)
                )
            self._processors[place] = job.processors
            self._durations[place] = job.expected / self._pace
            self._planned[place] = False
            self.jobs.append(job)

    def remove(self, gone: Iterable[Job]) -> None:
        """Jobs that wait no longer."""
        for job in gone:
            place = self.jobs.index(job)
            last = len(self.jobs) - 1
            for array in (self._processors, self._durations, self._planned):
                array[place:last] = array[place + 1 : last + 1]
            del self.jobs[place]


def _longer(array: NDArray[Any]) -> NDArray[Any]:
    """The array with room for twice as much."""
    return np.concatenate((array, np.zeros(max(16, len(array)), array.dtype)))
