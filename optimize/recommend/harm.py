"""Who is worse off: metrics that get worse by more than a tenth, be they objectives or not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite, log
from statistics import fmean

from scipy.stats import false_discovery_control

from gridtune.model.metrics.registry import Definition, definition
from gridtune.optimize.front.changes import Runs
from gridtune.optimize.records.difference import Difference, difference
from gridtune.optimize.records.evaluations import EXCESS_WAIT
from gridtune.optimize.records.recommendation import LEAST_HARM, Harm, much
from gridtune.optimize.replication.guards import DELAYED, waits_beyond
from gridtune.optimize.runs.blocks import Sample, means_of

OWED = {"failed", "unhappy", "missed"}
WORK = {"completed", "executed", "goodput", "effort", "lost", "rejected", "refused", "dropped", "unfinished"}
SATISFACTION = {"unfairness", "unfairness_jain", "unfairness_spread"}  # no harm where nobody is unhappy
SILENT = {"excess", "cancelled", "log"}  # what guards measure, users withdraw, or is told without logarithm
MUCH = 1.5  # times another harm
MOST = 10.0  # times: what is worse by more counts no more
RATE = 0.2  # false discovery rate: a warning too many costs less than one too few
SOME, FEWEST = 0.1, 2  # share and number of replications: what is worse in fewer is not reported
UNHAPPY = "unhappy_users"
WATCHED = {  # words of a metric's name: how users and their work fare, not what it costs a middleware
    "wait", "waiting", "waited", "response", "turnaround", "slowdown", "completed", "executed", "goodput",
    "effort", "unhappy", "unfairness", "satisfaction", "shortfall", "lost", "failed", "killed", "missed",
    "late", "rejected", "rejection", "refused", "expired", "dropped", "abandoned", "unfinished",
    "preempted", "delayed",
}  # fmt: skip


def harms(baseline: Runs, changed: Runs, objectives: Collection[str]) -> tuple[Harm, ...]:
    """Metrics that get worse by more than a tenth of the baseline's mean, significantly.

    Failures of what is owed come first, then work that is not done, then times, then unfairness; of each the
    worst first. Paired t-tests of differences and of ratios tell them from noise. Many metrics are compared:
    the tests keep the false discovery rate of `RATE`.

    Both sides are of the same replications; pairs that are not finite do not count. `objectives` are told
    anyway.

    Source: Y. Benjamini and Y. Hochberg, Controlling the False Discovery Rate, JRSS B 57(1), 1995.
    """
    found: list[Harm] = []
    doubts: list[float] = []
    unhappy = [count for side in (baseline, changed) for count in side.get(UNHAPPY, (1.0,))]
    told = {*objectives, *(SATISFACTION if not any(unhappy) else ())}
    values = {name: _digits(*before, *changed.get(name, ())) for name, before in baseline.items()}
    seen = {values[name] for name in objectives if name in values}  # what stands under a second name, too
    told |= {name for name, known in values.items() if known in seen and not _owed(name)}
    for name, before in baseline.items():
        known = None if name in told else _watched(name)
        both = _finite(before, changed.get(name, ()))
        fewest = min(len(before), 2)  # one replication is all that a scenario without noise needs
        if known is None or not both or len(both[0]) < fewest:
            continue
        first, second = both
        start, gap = sum(first) / len(first), difference(second, first)
        doubt = _doubt(gap, known)
        if doubt < 1 and min(*first, *second) > 0:  # as a rule, waits grow by factors
            ratio = difference([log(value) for value in second], [log(value) for value in first])
            doubt = min(2 * doubt, 2 * _doubt(ratio, known), 1.0)
        doubts.append(doubt)
        found.append(Harm(name, known.unit, start, start + gap.mean))
    certain = false_discovery_control(doubts) <= RATE if found else ()
    sure = [one for one, told in zip(found, certain, strict=True) if told]
    return _told([one for one in sure if much(one.baseline, one.mean - one.baseline)])


def _doubt(gap: Difference, known: Definition) -> float:
    """One-sided p-value of a metric that gets worse; 0 of a single pair, 1 of one that gets better."""
    if not _worse(known, gap.mean):
        return 1.0
    return 0.0 if gap.p_value is None else gap.p_value / 2


def harms_of_replay(
    baseline: Mapping[str, float], changed: Mapping[str, float], load: float = 1.0
) -> tuple[Harm, ...]:
    """Of `harms` in one run of each, with `load` times the log's jobs."""
    before, after = ({name: (side[name],) for name in sorted(side)} for side in (baseline, changed))
    return tuple(replace(one, replay=True, load=load) for one in harms(before, after, ()))


def harms_in_some(baseline: Runs, changed: Runs, told: Collection[str]) -> tuple[Harm, ...]:
    """Metrics, but for those `told` anyway, that are worse by more than a tenth in some replications.

    Two, or a tenth if these are more: weeks of a log to come may be like those of few replications.
    """
    worse = dict[str, list[Harm]]()
    count = min(map(len, [*baseline.values(), *changed.values()]), default=0)
    for at in range(count):
        before, after = ({name: side[name][at] for name in side} for side in (baseline, changed))
        for one in harms_of_replay(before, after):
            worse.setdefault(one.metric, []).append(one)
    found = []
    for name, some in worse.items():
        if name not in told and len(some) >= max(FEWEST, SOME * count):
            start, mean = fmean(one.baseline for one in some), fmean(one.mean for one in some)
            found.append(Harm(name, some[0].unit, start, mean, part=len(some) / count))
    return _ordered(found)


def by_case(baseline: Sample, changed: Sample) -> tuple[Harm, ...]:
    """Harm, to objectives, too, in each of several cases; none where there is one."""
    return tuple(
        replace(harm, case=case)
        for case, runs in changed.by_case.items()
        for harm in harms(baseline.by_case[case], runs, ())
    )


def blamed(baseline: Sample, changed: Sample, *, replay: bool = False, load: float = 1.0) -> tuple[Harm, ...]:
    """Whose wait is farthest beyond what the guard against starvation allows, if anybody's; see `Harm`."""
    bounds = changed.settings.scenario.spec.searching.starvation
    waits = waits_beyond(changed.means, baseline.means, bounds)
    waits[DELAYED] = changed.means.get(f"{EXCESS_WAIT}.users", 0.0)
    name = max(waits, key=waits.__getitem__, default="")
    if waits.get(name, 0.0) <= 0:
        return ()
    before, after = baseline.means[name], changed.means[name]
    unit = "" if name == DELAYED else "s"
    return (Harm(name, unit, before, after, replay=replay, load=load),)


def beyond(found: Iterable[Harm], baseline: Mapping[str, float]) -> list[Harm]:
    """Harms against something else in which the baseline, if it has a value, is better by a tenth, too."""
    kept = []
    for one in found:
        known, start = definition(one.metric), baseline.get(one.metric, float("nan"))
        gap = one.mean - start
        if known is None or not isfinite(gap) or (_worse(known, gap) and much(start, gap)):
            kept.append(one)
    return kept


def worse_off(baseline: Runs, whole: Runs, sparse: Runs, objectives: Collection[str]) -> bool:
    """Whether somebody is worse off with fewer changes than with all: in what is owed, or much in all."""
    found = beyond(harms(whole, sparse, objectives), means_of(baseline))
    found = [one for one in found if ratio(one) > 1 + LEAST_HARM]  # few users that are delayed are few
    if not found or any(_owed(one.metric) for one in found):
        return bool(found)
    every = {one.metric for side in (whole, sparse) for one in harms(baseline, side, objectives)}
    sides = baseline, whole, sparse
    finite = {name: _finite(*(side.get(name, ()) for side in sides)) for name in every}
    start, before, after = ({name: fmean(each[k]) for name, each in finite.items() if each} for k in range(3))
    return _all(start, after) > _all(start, before) + log(MUCH)


def _finite(*sides: Sequence[float]) -> list[tuple[float, ...]]:
    """The values of each side in the replications in which all are finite; nothing if there is none."""
    rows = [row for row in zip(*sides, strict=False) if all(map(isfinite, row))]
    return list(zip(*rows, strict=True))


def _all(baseline: Mapping[str, float], changed: Mapping[str, float]) -> float:
    """All harm, significant or not: logarithm of the product of its ratios."""
    return sum(log(min(ratio(one), MOST)) for one in harms_of_replay(baseline, changed))


def worst_of(found: Iterable[Harm]) -> tuple[Harm, ...]:
    """Of each metric the greatest harm; again for one case or a higher load where it is much greater."""
    worst: dict[tuple[str, bool, float], Harm] = {}
    for one in sorted(found, key=lambda one: (one.load, one.case != "", -ratio(one), -abs(one.mean))):
        before = worst.get((one.metric, False, 1.0))
        if before is None or ratio(one) > MUCH * ratio(before):
            worst.setdefault((one.metric, one.case != "", one.load), one)
    return _ordered(worst.values())


def _told(found: Sequence[Harm]) -> tuple[Harm, ...]:
    """Harms in order; but for what is owed, one that equals another is told once."""
    owed = [one.metric if _owed(one.metric) else "" for one in found]
    keys = [(name, _digits(one.baseline, one.mean), one.unit) for name, one in zip(owed, found, strict=True)]
    return _ordered(dict(zip(reversed(keys), reversed(found), strict=True)).values())


def _ordered(found: Iterable[Harm]) -> tuple[Harm, ...]:
    def place(one: Harm) -> tuple[float, bool, bool, bool, float, str]:
        words = _words(one.metric)
        done = words.isdisjoint(OWED | WORK)
        return one.load, not _owed(one.metric), done, "unfairness" in words, -ratio(one), one.metric

    return tuple(sorted(found, key=place))


def _digits(*values: float) -> tuple[str, ...]:
    """Values as far as metrics under two names agree: their sums are rounded differently."""
    return tuple(f"{value:.9g}" for value in values)


def _worse(known: Definition, gap: float) -> bool:
    return gap < 0 if known.direction == "maximize" else gap > 0


def ratio(harm: Harm) -> float:
    """How many times worse a metric is than in the baseline; infinite where one of both is 0."""
    low, high = sorted((abs(harm.baseline), abs(harm.mean)))
    if harm.metric == DELAYED:  # 0 in the baseline: so many times fewer users are not delayed
        low, high = 1 - high, 1 - low
    return high / low if low else float("inf")


def _watched(name: str) -> Definition | None:
    """What a metric means, be it of all jobs or of a class; None if nobody is worse off by it."""
    words = _words(name)
    return None if words.isdisjoint(WATCHED) or words & SILENT else definition(name)


def _owed(name: str) -> bool:
    """Whether a metric counts what mandatory jobs and their users are owed."""
    return not _words(name).isdisjoint(OWED)


def _words(name: str) -> set[str]:
    """The words of a metric's name, without its class."""
    return set(name.partition(".")[0].split("_"))
