"""The numbers of a trace as arrays, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gridtune.scenarios.trace_files.records import TraceJob

Floats = NDArray[np.float64]
FEW, LONG = 0.01, 7 * 86400.0  # share of the jobs; s


@dataclass(frozen=True, slots=True)
class Columns:
    """Numbers of each job, nan where missing: times in s, processors as counts."""

    submit: Floats
    wait: Floats
    runtime: Floats
    processors: Floats
    estimate: Floats

    @classmethod
    def of(cls, jobs: Sequence[TraceJob]) -> Columns:
        """The columns of some jobs."""
        return cls(
            _column(jobs, lambda job: job.submit),
            _column(jobs, lambda job: job.wait),
            _column(jobs, lambda job: job.runtime),
            _column(jobs, lambda job: job.processors),
            _column(jobs, lambda job: job.estimate),
        )

    @property
    def start(self) -> Floats:
        """When jobs start, s; those without a wait when they are submitted."""
        return self.submit + np.nan_to_num(self.wait)

    @property
    def end(self) -> Floats:
        """When jobs end, s."""
        return self.start + self.runtime

    @property
    def work(self) -> Floats:
        """Processor-seconds."""
        return self.processors * self.runtime

    @property
    def above_estimate(self) -> float | None:
        """Share of the jobs with an estimate that run longer; None without estimates."""
        known = ~np.isnan(self.estimate)
        return float((self.runtime[known] > self.estimate[known]).mean()) if known.any() else None

    def peak(self) -> int:
        """The most processors in use at once; at one instant, ends come before starts."""
        times = np.concatenate((self.end, self.start))
        changes = np.concatenate((-self.processors, self.processors))
        in_use = np.cumsum(changes[np.argsort(times, kind="stable")])
        return max(int(in_use.max()), int(self.processors.max()))


def early(submit: Floats) -> int:
    """Jobs that came over a week before all others, if they are at most one in a hundred.

    Accounting that begins on a date lists jobs that still ran then, however early they were submitted.

    Args:
        submit: s, ascending.
    """
    gaps = np.flatnonzero(np.diff(submit[: int(FEW * len(submit)) + 1]) > LONG)
    return int(gaps[-1]) + 1 if len(gaps) else 0


def _column(jobs: Sequence[TraceJob], value: Callable[[TraceJob], float | None]) -> Floats:
    numbers = map(value, jobs)
    return np.fromiter((np.nan if number is None else number for number in numbers), np.float64, len(jobs))
