"""What a configuration loses beyond what the baseline loses: no search can win by losing work.

A configuration is compared with the baseline under common random numbers, replication by replication: what a
workload makes every setting lose cancels. What counts is the mean over the replications, of all work and of
each class of jobs: that a class lost jobs in one of ten runs by chance is no reason to refuse a
configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gridtune.model.metrics.registry import define
from gridtune.optimize.records.evaluations import EXCESS_LOSS, Constraint
from gridtune.scenarios.execution.replicate import Metrics

TOLERANCE = 0.005  # share of the mandatory work: jobs that the end of a run happens to cut off
OF_CLASS = 0.05  # share of the mandatory work of a class, of which there is less and chance means more
FAILURES = 0.1  # share of the mandatory jobs of a class that may fail beyond those of the baseline
WITHHELD = ("never_submitted", "abandoned", "dropped")
ROUNDING = 1e-9

define(
    EXCESS_LOSS,
    "",
    "minimize",
    "lost share of mandatory work beyond that of the baseline, in all or of a class",
)
NO_MORE_LOSS = Constraint(EXCESS_LOSS, "<=", 0.0)


def excess_losses(configuration: Metrics, baseline: Metrics) -> dict[str, float]:
    """What a run loses beyond another one, of all and of each class of jobs; means at most 0 are allowed.

    Which jobs still run when a run ends is partly chance: up to `TOLERANCE` more of them is no loss. What was
    refused, killed for good, left waiting or never submitted is, however little it is, and so are best-effort
    jobs that were killed and not put back, or whose harvesters have stopped. Nor may a class lose more than
    `OF_CLASS` of its own work, unless that is a single job: little work can be all that a class of short jobs
    has, and serving large ones would make up for losing it.

    Args:
        configuration, baseline: metrics of two runs with common random numbers.

    Returns:
        `EXCESS_LOSS` and, of each class that both have, `EXCESS_LOSS.CLASS`: beyond what a class may lose.
    """
    cut_off = _of(configuration, "cut_off_fraction") - _of(baseline, "cut_off_fraction")
    more = _of(configuration, "lost_fraction") - _of(baseline, "lost_fraction")
    excess = more - min(TOLERANCE, max(0.0, cut_off))
    if abs(excess) < ROUNDING:
        excess = 0.0
    withheld = max(_of(configuration, name) - _of(baseline, name) for name in WITHHELD)
    if withheld > 0:
        excess = max(excess, TOLERANCE * withheld)
    return {EXCESS_LOSS: excess} | dict(_of_classes(configuration, baseline))


def failing(configuration: Mapping[str, float], baseline: Mapping[str, float]) -> tuple[str, ...]:
    """Classes of which a further tenth of the mandatory jobs fail, done too late or not at all.

    A search may lower the unhappy users of a whole grid by giving one class up, and loses no work by that.

    Returns:
        their metrics, `mandatory_failed.CLASS`.
    """
    found = []
    for name, failed in configuration.items():
        stem, _, kind = name.partition(".")
        jobs = configuration.get(f"jobs.{kind}"), baseline.get(f"jobs.{kind}")
        if stem == "mandatory_failed" and name in baseline and all(jobs):
            more = failed / (jobs[0] or 1) - baseline[name] / (jobs[1] or 1)
            found += [name] if more > FAILURES else []
    return tuple(found)


def _of_classes(configuration: Metrics, baseline: Metrics) -> Iterator[tuple[str, float]]:
    """By how much each class loses more than it may."""
    for name in configuration:
        metric, _, kind = name.partition(".")
        if metric == "owed_lost_fraction" and name in baseline:
            jobs = f"lost_jobs.{kind}"
            more = _of(configuration, name) - _of(baseline, name) - OF_CLASS
            single = _of(configuration, jobs) - _of(baseline, jobs) <= 1
            yield f"{EXCESS_LOSS}.{kind}", min(more, 0.0) if single else more


def _of(metrics: Metrics, name: str) -> float:
    return metrics[name].value if name in metrics else 0.0
