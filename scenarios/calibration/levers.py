"""What may have made the jobs of a log wait, and the order in which it is tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import Any

import numpy as np

from gridtune.scenarios.calibration.hours import prime_times
from gridtune.scenarios.calibration.logs import Log
from gridtune.scenarios.calibration.replays import NODES, OVERHEAD, SITE, Replays, Tried, Values
from gridtune.scenarios.calibration.waits import Floats

POLICY = f"{SITE}.policy"
ENTRY = f"{SITE}.mu_rec"
QUOTA = f"{SITE}.quota.user_running"
PRIME = f"{SITE}.prime_time"


def _priority(**parameters: Any) -> Values:
    return {"kind": "priority", **parameters}


FAMILIES: tuple[Any, ...] = (
    "easy",
    "fcfs",
    "conservative",
    "fair-share",
    _priority(weight_fairshare=100.0),
    _priority(weight_job_size=100.0),
    _priority(weight_job_size=100.0, favour="small"),
    _priority(weight_shortness=30.0, weight_job_size=10.0),
    _priority(rule="sjf"),
    _priority(rule="lxf"),
    _priority(rule="wfp3"),
)
SMALLER = (0.98, 0.95, 0.92, 0.88, 0.84, 0.8)  # of the nodes: some are down, drained or kept for others
FINE = 0.005  # of the nodes: so exactly their number is looked for
OVERHEADS = (2.0, 10.0, 60.0, 180.0)  # s to start a job
COMMON = 0.02  # of the jobs, that wait equally long where that is what starting takes
KEPT = 3  # policies that are tried with what else may have been
LIMITED = 2  # users that a quota has stopped, at least


def search(replays: Replays, logs: Sequence[Log], least: float, *, known: bool = False) -> list[Tried]:
    """Settings one after the other, the most alike first.

    Args:
        replays: of the part by which settings are chosen.
        logs: that part.
        least: share of the nodes of which more has to be left.
        known: whether the policy is not looked for.
    """
    families: list[Values] = [{}] if known else [{POLICY: policy} for policy in FAMILIES]
    # EASY stays in the race: before all else is right a wrong policy may look better.
    stay = families[:1]
    ranked = replays.best(families)
    ranked = _with(replays, ranked, stay, _delays(replays.waits.wait), most=1)
    if len(logs) == 1:
        found = prime_times(logs[0].submit, logs[0].wait, logs[0].estimate)
        changes = [{PRIME: found[: count + 1]} for count in range(len(found))]
        ranked = _with(replays, ranked, stay, changes)
    ranked = _on_fewer_nodes(replays, ranked, stay, list(_shares(logs, least)))
    ranked = _with(replays, ranked, stay, [{QUOTA: most} for most in _most_running(logs)])
    best = ranked[0].values
    ranked = replays.best([*(one.values for one in ranked), *(best | one for one in families)])
    ranked = _with(replays, ranked, [], _delays(replays.waits.wait), most=1)
    return _counted(replays, ranked, logs[0].size, least)


def _with(
    replays: Replays,
    ranked: Sequence[Tried],
    stay: Sequence[Values],
    changes: Sequence[Values],
    most: int = KEPT,
) -> list[Tried]:
    """The best settings so far, and those that stay in the race, as they are and with a change."""
    bases = [*(one.values for one in ranked[:most]), *stay]
    tried = [base | change for base in bases for change in changes if not base.keys() & change.keys()]
    return replays.best(_apart([*(one.values for one in ranked), *tried]))


def _on_fewer_nodes(
    replays: Replays, ranked: Sequence[Tried], stay: Sequence[Values], shares: Sequence[float]
) -> list[Tried]:
    """The best settings so far on fewer and fewer nodes, until that makes them twice less alike."""
    tried = [one.values for one in ranked]
    for base in _apart([*(one.values for one in ranked[:KEPT]), *stay]):
        least, misses = replays.tried(base).fitted.misfit, 0
        for share in shares:
            one = replays.tried(base | {NODES: share})
            tried.append(one.values)
            misses = 0 if one.fitted.misfit < least else misses + 1
            least = min(least, one.fitted.misfit)
            if misses == 2:
                break
    return replays.best(_apart(tried))


def _shares(logs: Sequence[Log], least: float) -> Iterator[float]:
    """Shares of the nodes that differ from each other and leave more than the least."""
    known = {tuple(log.size for log in logs)}
    for share in SMALLER:
        made = tuple(ceil(log.size * share) for log in logs)
        if made not in known and share > least:
            known.add(made)
            yield share


def _counted(replays: Replays, ranked: Sequence[Tried], size: int, least: float) -> list[Tried]:
    """The number of nodes to half a percent, where there are fewer than the log says."""
    step = ceil(size * (SMALLER[0] - SMALLER[1]) / 2)
    while NODES in (values := ranked[0].values) and step >= max(1.0, FINE * size):
        count = ceil(size * values[NODES] - 1e-9)
        near = [{NODES: one / size} for one in (count - step, count + step) if least < one / size < 1]
        ranked = replays.best(_apart([*(one.values for one in ranked), *(values | one for one in near)]))
        if ranked[0].values == values:
            step //= 2
    return list(ranked)


def _delays(wait: Floats) -> list[Values]:
    """Times to enter the queue, or to start: what the least waits, or many alike, and usual ones."""
    seen = {float(np.quantile(wait, 0.01))}
    waits, counts = np.unique(np.round(wait), return_counts=True)
    if counts.max() >= COMMON * len(wait):
        seen.add(float(waits[counts.argmax()]))
    seen.discard(0.0)
    overheads = sorted({*OVERHEADS, *seen})
    return [*({OVERHEAD: time} for time in overheads), *({ENTRY: time} for time in sorted(seen))]


def _most_running(logs: Sequence[Log]) -> list[float]:
    """The quota to try: what no user ever exceeded and several came to; a log denies smaller ones."""
    peaks = [peak for log in logs for peak in log.most_running()]
    return [max(peaks)] if peaks.count(max(peaks)) >= LIMITED else []


def _apart(settings: Iterable[Values]) -> list[Values]:
    """Each once."""
    return list({repr(sorted(values.items())): values for values in settings}.values())
