"""What a configuration does to jobs that the baseline does not: no search can win by losing or starving them.

What counts is the mean over the replications: that a class lost jobs in one of ten runs by chance is no
reason to refuse a configuration. In all functions, `configuration` and `baseline` are metrics of two runs
with common random numbers, by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, isfinite, nan

from gridtune.model.metrics.harm import TENTH
from gridtune.model.metrics.registry import LOGGED, SHARE, define
from gridtune.optimize.records.evaluations import EXCESS_LOSS, EXCESS_WAIT, Constraint
from gridtune.scenarios.tables.search import Starvation

TOLERANCE = 0.005  # share of the mandatory work: jobs that the end of a run happens to cut off
OF_CLASS = 0.05  # share of the mandatory work of a class, of which there is less and chance means more
FAILURES = 0.1  # share of the mandatory jobs of a class that may fail beyond those of the baseline
WITHHELD = ("never_submitted", "abandoned", "dropped")
ROUNDING = 1e-9  # differences below are none
LONGEST = "waited_max"
HOPELESS = 10  # times the longest wait that is allowed, after which a run ends
CLASSES = (
    *(f"waited_p95.{kind}" for kind in ("size-", "length-", *LOGGED)),
    "waited_mean.worst-users",
)
OF_USER = "waited_mean.user-"  # before the digest of a name: the mean wait of the user's mandatory jobs

Means = Mapping[str, float]

_LOST = "lost share of mandatory work beyond that of the baseline, in all or of a class"
_WAITED = "wait beyond what a configuration may add to the baseline's, of the worst class of jobs"
define(EXCESS_LOSS, "", "minimize", _LOST)
define(EXCESS_WAIT, "s", "minimize", _WAITED)
DELAYED = "delayed_fraction"
_DELAYED = "users whose mean wait is longer than the baseline's by more than a class may, over all users"
define(DELAYED, "", "minimize", _DELAYED, within=SHARE)
NO_MORE_LOSS = Constraint(EXCESS_LOSS, "<=", 0.0)
NO_STARVATION = Constraint(EXCESS_WAIT, "<=", 0.0, "s")


def excess_losses(configuration: Means, baseline: Means) -> dict[str, float]:
    """What a run loses beyond another one, of all and of each class of jobs; means at most 0 are allowed.

    Which jobs still run when a run ends is partly chance: up to `TOLERANCE` more of them is no loss. What was
    refused, killed for good, left waiting or never submitted is, however little it is, and so are best-effort
    jobs that were killed and not put back, or whose harvesters have stopped. Nor may a class lose more than
    `OF_CLASS` of its own work, unless that is a single job: serving large jobs would make up for short ones.
    `EXCESS_LOSS` is of all, `EXCESS_LOSS.CLASS` of each class that both have.
    """

    def more(name: str) -> float:
        return configuration.get(name, 0.0) - baseline.get(name, 0.0)

    excess = more("lost_fraction") - min(TOLERANCE, max(0.0, more("cut_off_fraction")))
    excess, withheld = 0.0 if abs(excess) < ROUNDING else excess, max(map(more, WITHHELD))
    found = {EXCESS_LOSS: max(excess, TOLERANCE * withheld) if withheld > 0 else excess}
    for name in configuration:
        metric, _, kind = name.partition(".")
        if metric == "owed_lost_fraction" and name in baseline:
            beyond, single = more(name) - OF_CLASS, more(f"lost_jobs.{kind}") <= 1
            found[f"{EXCESS_LOSS}.{kind}"] = min(beyond, 0.0) if single else beyond
    return found


def failing(configuration: Means, baseline: Means) -> tuple[str, ...]:
    """`mandatory_failed.CLASS` of classes of which a further tenth of the jobs are done too late or never.

    A search may lower the unhappy users of a whole grid by giving one class up, and loses no work by that.
    """
    found = []
    for name in configuration:
        kind = name.removeprefix("mandatory_failed.")
        jobs = f"jobs.{kind}"
        if kind != name and name in baseline and configuration.get(jobs) and baseline.get(jobs):
            after, before = (run[name] / run[jobs] for run in (configuration, baseline))
            found += [name] if after - before > FAILURES else []
    return tuple(found)


def excess_waits(configuration: Means, baseline: Means, bounds: Starvation) -> dict[str, float]:
    """By how much a run exceeds the waits that it may have, in seconds; means at most 0 are allowed.

    `EXCESS_WAIT` is of the worst class, `EXCESS_WAIT.CLASS` of each (`CLASSES`) that both runs have. Of users
    it is the least excess of the tenth of them who exceed by most.
    """
    each = waits_beyond(configuration, baseline, bounds)
    if users := sorted(_beyond_by_user(configuration, baseline, bounds)):
        each["waited_mean.users"] = users[-ceil(TENTH * len(users))]
    worst = max(each.values(), default=0.0)
    kinds = {name.partition(".")[2].removeprefix("size-") or "longest": each[name] for name in each}
    return {EXCESS_WAIT: worst} | {f"{EXCESS_WAIT}.{kind}": excess for kind, excess in kinds.items()}


def waits_beyond(configuration: Means, baseline: Means, bounds: Starvation) -> dict[str, float]:
    """By how much each wait is beyond its bound, s, by its metric; of classes with jobs in both."""
    each: dict[str, float] = {}
    for name, value in configuration.items():
        start = baseline.get(name, nan)
        if not (isfinite(start) and isfinite(value)):
            continue
        if name == LONGEST:
            each[name] = value - longest_allowed(start, bounds)
        elif name.startswith(CLASSES):
            each[name] = value - bounds.class_factor * start - bounds.slack
    return each


def delayed(configuration: Means, baseline: Means, bounds: Starvation) -> dict[str, float]:
    """`DELAYED` of a run; nothing where waits of users were not measured."""
    users = _beyond_by_user(configuration, baseline, bounds)
    return {DELAYED: sum(excess > 0 for excess in users) / len(users)} if users else {}


def _beyond_by_user(configuration: Means, baseline: Means, bounds: Starvation) -> list[float]:
    """By how much each user's mean wait is beyond what that of a class may be, s."""
    waits = [
        (configuration[name], baseline[name])
        for name in configuration.keys() & baseline.keys()
        if name.startswith(OF_USER)
    ]
    return [
        wait - bounds.class_factor * start - bounds.slack for wait, start in waits if isfinite(wait - start)
    ]


def longest_allowed(baseline: float, bounds: Starvation) -> float:
    """The longest wait that a configuration may have, s, by that of the baseline."""
    return bounds.longest_factor * max(baseline, bounds.slack)
