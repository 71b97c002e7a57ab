"""Predictions of run times from what the jobs of a user took before."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gridtune.model.job import Job
from gridtune.model.policy import Policy, parameter, register

TSAFRIR = "Tsafrir, Etsion and Feitelson, TPDS 2007 (EASY++)"
MINUTE, HOUR = 60.0, 3600.0
# s that are added to a prediction each time that it has been exceeded.
INCREMENTS = (
    *(minutes * MINUTE for minutes in (1, 5, 15, 30)),
    *(hours * HOUR for hours in (1, 2, 5, 10, 20, 50, 100)),
)


class Ended(NamedTuple):
    """A job of a user has ended, from which later ones are predicted.

    Attributes:
        runtime: the run time that it took, s at speed 1.
        promise: the run time that its owner had promised, s at speed 1.

    Example:
        >>> ended = gt.policies.Ended(runtime=60.0, promise=600.0)
        >>> ended.runtime / ended.promise
        0.1
    """

    runtime: float
    promise: float


class Prediction(Policy, family="prediction"):
    """A prediction gives the run times with which a batch site plans.

    The run time of a job is predicted when the job enters its queue. Whatever is predicted, no more is
    expected than was promised, and limits of run time are those of the promise.

    Example:
        >>> @gt.policies.register("prediction", "half-the-promise")
        ... @dataclass(frozen=True)
        ... class HalfThePromise(gt.policies.Prediction):
        ...     "A job takes half of what its owner promises."
        ...     def runtime(self, job, ended):
        ...         return job.estimate / 2
        >>> rule = HalfThePromise()
        >>> rule.runtime(gt.Job(1, "ann", submit=0.0, runtime=60.0, estimate=600.0), [])
        300.0
        >>> rule.corrected(300.0, times=1)
        360.0
    """

    @property
    def memory(self) -> int:
        """Tell at how many ended jobs of each user it looks back.

        Example:
            >>> rule.memory
            0
        """
        return 0

    @abstractmethod
    def runtime(self, job: Job, ended: Sequence[Ended]) -> float:
        """Predict the run time of a job.

        Args:
            job: the job, which enters its queue.
            ended: the last jobs of its user that have ended, `memory` at most, the latest last; none at
                first.

        Returns:
            The run time, s at speed 1.
        """

    def corrected(self, expected: float, times: int) -> float:
        """Correct the prediction of a job that has run for longer.

        Args:
            expected: the run time that was predicted at first, s at speed 1.
            times: how often that, or its corrections, have been exceeded, at least 1.

        Returns:
            The run time that is predicted now, s at speed 1.
        """
        return expected + INCREMENTS[min(times, len(INCREMENTS)) - 1]


@register("prediction", "promise")
@dataclass(frozen=True)
class Promise(Prediction):
    """Nothing is predicted: plans rest on what owners promise."""

    def runtime(self, job: Job, ended: Sequence[Ended]) -> float:
        """The promise."""
        return job.estimate


@register("prediction", "last-runs", source=TSAFRIR)
@dataclass(frozen=True)
class LastRuns(Prediction):
    """A job takes as long as the last jobs of its user did on average; without any, as promised."""

    jobs: int = parameter(
        2, help="jobs of the user that are looked back at", unit="jobs", low=1, high=10, minimum=1
    )

    @property
    def memory(self) -> int:
        """As many jobs as are averaged."""
        return self.jobs

    def runtime(self, job: Job, ended: Sequence[Ended]) -> float:
        """Their mean, or the promise."""
        return sum(one.runtime for one in ended) / len(ended) if ended else job.estimate


@register("prediction", "mean-ratio")
@dataclass(frozen=True)
class MeanRatio(Prediction):
    """A job takes that part of its promise which the last jobs of its user took of theirs on average."""

    jobs: int = parameter(
        10, help="jobs of the user that are looked back at", unit="jobs", low=1, high=100, minimum=1
    )

    @property
    def memory(self) -> int:
        """As many jobs as are averaged."""
        return self.jobs

    def runtime(self, job: Job, ended: Sequence[Ended]) -> float:
        """The promise times the mean of run time over promise, or the promise."""
        ratios = [one.runtime / one.promise for one in ended if one.promise > 0]
        return job.estimate * sum(ratios) / len(ratios) if ratios else job.estimate


@register("prediction", "actual")
@dataclass(frozen=True)
class Actual(Prediction):
    """A job takes what it takes, as if that were known: no prediction can be better."""

    def runtime(self, job: Job, ended: Sequence[Ended]) -> float:
        """The true run time."""
        return job.runtime
