"""What a point loses beyond what the scenario as it stands loses: no search can win by losing work.

A point is compared with today's setting under the same streams, replication by replication: what a workload
makes every setting lose cancels. What counts is the mean over the replications, of all work and of each
class of jobs: that a class had bad luck in one of ten runs is no reason to refuse a point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gridtune.model.metrics.registry import Metric, define
from gridtune.optimize.records.evaluations import EXCESS_LOSS, Constraint
from gridtune.optimize.search_space.settings import Settings
from gridtune.scenarios.execution.replicate import Metrics, Task, run_groups
from gridtune.scenarios.workers.pool import Failure, Outcome, Pool

TOLERANCE = 0.005  # share of the mandatory work: jobs that the end of a run happens to cut off
OF_CLASS = 0.05  # share of the mandatory work of a class, of which there is less and chance means more
WITHHELD = ("never_submitted", "abandoned", "dropped")
ROUNDING = 1e-9

define(
    EXCESS_LOSS,
    "",
    "minimize",
    "lost share of mandatory work beyond that of the scenario as it stands, in all or of a class",
)
NO_MORE_LOSS = Constraint(EXCESS_LOSS, "<=", 0.0)


def excess_losses(point: Metrics, today: Metrics) -> dict[str, float]:
    """What a run loses beyond another one, of all and of each class of jobs; means at most 0 are allowed.

    Which jobs still run when a run ends is partly chance: up to `TOLERANCE` more of them is no loss. What was
    refused, killed for good, left waiting or never submitted is, however little it is, and so are best-effort
    jobs that were killed and not put back, or whose harvesters have stopped. Nor may a class lose more than
    `OF_CLASS` of its own work, unless that is a single job: little work can be all that a class of short jobs
    has, and serving large ones would make up for losing it.

    Args:
        point, today: metrics of two runs under the same streams.

    Returns:
        `EXCESS_LOSS` and, of each class that both have, `EXCESS_LOSS.CLASS`: beyond what a class may lose.
    """
    cut_off = _of(point, "cut_off_fraction") - _of(today, "cut_off_fraction")
    more = _of(point, "lost_fraction") - _of(today, "lost_fraction")
    excess = more - min(TOLERANCE, max(0.0, cut_off))
    if abs(excess) < ROUNDING:
        excess = 0.0
    withheld = max(_of(point, name) - _of(today, name) for name in WITHHELD)
    if withheld > 0:
        excess = max(excess, TOLERANCE * withheld)
    return {EXCESS_LOSS: excess} | dict(_of_classes(point, today))


def _of_classes(point: Metrics, today: Metrics) -> Iterator[tuple[str, float]]:
    """By how much each class loses more than it may."""
    for name in point:
        metric, _, kind = name.partition(".")
        if metric == "owed_lost_fraction" and name in today:
            jobs = f"lost_jobs.{kind}"
            more = _of(point, name) - _of(today, name) - OF_CLASS
            single = _of(point, jobs) - _of(today, jobs) <= 1
            yield f"{EXCESS_LOSS}.{kind}", min(more, 0.0) if single else more


def _of(metrics: Metrics, name: str) -> float:
    return metrics[name].value if name in metrics else 0.0


class TodaysRuns:
    """The scenario as it stands, run once under each stream that points are run under.

    It is a point of the search itself, and what the others' loss is measured against.

    Args:
        settings: of the search.
        pool: who runs the simulations.
        work: gives the metrics of a run to be done.
    """

    def __init__(self, settings: Settings, pool: Pool, work: Callable[[Task], Metrics]) -> None:
        self.guarded = NO_MORE_LOSS in settings.constraints
        self._cases, self._pool, self._work = settings.run_in, pool, work
        self._known: dict[tuple[int, int], Metrics] = {}
        self._failed: dict[tuple[int, int], Failure] = {}

    def prepare(self, replications: Sequence[int], *, asked: bool = False) -> None:
        """Run it under replications in every case, as far as that has not been done.

        Args:
            replications: their numbers.
            asked: whether its runs are wanted, even if no loss is measured against them.
        """
        if not (self.guarded or asked):
            return
        places = [(case, k) for case in range(len(self._cases)) for k in sorted(set(replications))]
        lacking = [place for place in places if place not in self._known]
        groups = [[Task(self._cases[case].scenario, {}, self._cases[case].seed, k)] for case, k in lacking]
        for outcome in run_groups(groups, self._pool, self._work):
            # Where it fails it loses everything that there is, and no point can lose more.
            place = lacking[outcome.index]
            if outcome.failure is not None:
                self._failed[place] = outcome.failure
            self._known[place] = _FAILED if outcome.failure is not None else outcome.value[0]

    def outcome(self, index: int, replications: Sequence[int]) -> Outcome[list[Metrics]]:
        """Its runs by case, then by replication, as the outcome of a point of a search.

        Args:
            index: of the outcome.
            replications: their numbers; `prepare` was called with them.
        """
        places = [(case, k) for case in range(len(self._cases)) for k in replications]
        failure = next((self._failed[place] for place in places if place in self._failed), None)
        if failure is not None:
            return Outcome(index, None, failure)
        return Outcome(index, [self._known[place] for place in places])

    def compared(self, runs: Sequence[Metrics], replications: Sequence[int]) -> list[Metrics]:
        """The runs of a point, each with what it loses beyond today's.

        Args:
            runs: by case, then by replication.
            replications: their numbers; `prepare` was called with them.
        """
        if not self.guarded:
            return list(runs)
        places = [(case, k) for case in range(len(self._cases)) for k in replications]
        return [
            run | {name: Metric(loss, "") for name, loss in self._losses(run, place).items()}
            for run, place in zip(runs, places, strict=True)
        ]

    def _losses(self, run: Metrics, place: tuple[int, int]) -> dict[str, float]:
        if place in self._failed:
            return excess_losses(run, run | _FAILED)
        return excess_losses(run, self._known[place])


_FAILED: Metrics = {"lost_fraction": Metric(1.0, "")}
