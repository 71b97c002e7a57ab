"""Who predicts run times for a batch site, from the jobs that have ended there."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.interruptions import leaves_at, planned_end
from gridtune.model.agenda import ARRIVAL
from gridtune.model.grid import Grid
from gridtune.model.job import DONE, EXPIRED, Job
from gridtune.model.metrics.registry import SHARE, define
from gridtune.model.metrics.users import mean
from gridtune.model.policy import misjudged
from gridtune.model.prediction import Ended, Prediction

define(
    "prediction_accuracy",
    "",
    "maximize",
    "mean of the lesser over the greater of run time and prediction",
    within=SHARE,
)
define(
    "exceeded_predictions",
    "",
    "minimize",
    "jobs that ran longer than predicted, over ended jobs",
    within=SHARE,
)


class Exceeded(NamedTuple):
    """A prediction that will be exceeded.

    Attributes:
        job: which runs.
        times: how often it has been predicted in this execution.
        planned: when the job is planned to end, s.
        end: when it will, s.
    """

    job: Job
    times: int
    planned: float
    end: float


class Told(list[tuple[float, float]]):
    """How right each prediction was, from 0 to 1, and 1 if it was exceeded, 0 if not."""

    @classmethod
    def of(cls, grid: Grid) -> Told:
        """Those of all sites of a grid."""
        sites = [agent for agent in grid.agents if isinstance(agent, BatchSite)]
        return cls(
            one for site in sites if isinstance(site.predictor, Predictor) for one in site.predictor.told
        )

    @property
    def accuracy(self) -> float:
        """Mean of how right they were."""
        return mean([right for right, _ in self])

    @property
    def exceeded(self) -> float:
        """How many were exceeded, as a share."""
        return mean([over for _, over in self])


class Predictor:
    """Keeps the last ended jobs of each user, predicts run times, and corrects what has been exceeded.

    Args:
        site: whose jobs.
        prediction: what is made of the past.

    Attributes:
        told: how right its predictions were.
    """

    def __init__(self, site: BatchSite, prediction: Prediction) -> None:
        self.site = site
        self.prediction = prediction
        self._past: dict[str, deque[Ended]] = {}
        self._predicted: dict[int, float] = {}  # by job
        self._events: dict[int, int] = {}  # by job that runs
        self.told = Told()
        site.predictor = self
        measures = site.grid.record.measures
        measures["prediction_accuracy"] = lambda: Told.of(site.grid).accuracy
        measures["exceeded_predictions"] = lambda: Told.of(site.grid).exceeded

    def expect(self, job: Job) -> float:
        """The run time that a job is planned with, s at speed 1."""
        predicted = self.prediction.runtime(job, tuple(self._past.get(job.user, ())))
        if not predicted >= 0:
            raise misjudged(self.prediction, f"predicts a run time of {predicted} s")
        expected = self._predicted[job.id] = max(0.0, min(predicted, job.estimate))
        return expected

    def started(self, job: Job, planned: float, end: float) -> None:
        """A job has started.

        Args:
            job: which.
            planned: when it is planned to end, s.
            end: when it will, s.
        """
        if job.expected < job.estimate and end > planned:
            self._watch(Exceeded(job, 1, planned, end))

    def left(self, job: Job) -> None:
        """A job has left its processors: what it took is known if it has ended."""
        event = self._events.pop(job.id, None)
        if event is not None:
            self.site.grid.agenda.cancel(event)
        predicted = self._predicted.pop(job.id, None)
        # Who goes on from a checkpoint promises the rest, and is predicted anew.
        before, _, promised = self.site.executions.resumed.get(job.id, (0.0, 0.0, job.estimate))
        if job.state is DONE:
            runtime = job.runtime
        elif job.state is EXPIRED:
            runtime = before + job.given
        else:
            return
        past = self._past.get(job.user)
        if past is None:
            past = self._past[job.user] = deque(maxlen=max(1, self.prediction.memory))
        past.append(Ended(runtime, promised))
        if predicted is not None:
            predicted += before
            most = max(runtime, predicted)
            right = min(runtime, predicted) / most if most > 0 else 1.0
            self.told.append((right, float(runtime > predicted)))

    def _watch(self, what: Exceeded) -> None:
        self._events[what.job.id] = self.site.grid.agenda.at(what.planned, self._correct, what, ARRIVAL)

    def _correct(self, what: Exceeded) -> None:
        """A job runs on after the end that was planned: plan with a later one."""
        job, times, planned, end = what
        del self._events[job.id]
        if planned_end(self.site, job.id) != planned:
            return  # it has to leave earlier
        corrected = self.prediction.corrected(job.expected, times)
        if not corrected >= 0:
            raise misjudged(self.prediction, f"corrects a run time to {corrected} s")
        later = min(corrected, job.estimate)
        again = job.start + later / self.site.executions[job.id].placement.speed
        leaves_at(self.site, job, again)
        self.site.processors_returned()
        if later < job.estimate and end > again:
            if again <= planned:
                raise misjudged(self.prediction, "corrects a run time to one that is no longer")
            self._watch(Exceeded(job, times + 1, again, end))
