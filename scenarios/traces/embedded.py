"""A small generated batch workload, for use where no trace is at hand."""

from __future__ import annotations

from math import log, log2

import numpy as np

from gridtune.scenarios.trace_files.records import TraceJob

_SIZE_MEDIAN, _SIZE_SIGMA, _SIZE_MAX = 8.0, 1.2, 60  # jobs of a burst
_GAP_MEAN = 20.0  # s between the jobs of a burst
_RUNTIME_MEDIAN, _BETWEEN_SIGMA, _WITHIN_SIGMA = 600.0, 1.2, 0.5  # s; of bursts, of jobs within a burst
_SERIAL, _NARROW = 0.25, 0.8  # share of serial bursts, and the least binary logarithm of other widths
_LIMITS = np.array([900.0, 3600.0, 14400.0, 43200.0])  # s; run-time limits of the queues


def embedded_jobs(
    rng: np.random.Generator, *, jobs: int = 600, users: int = 6, length: float = 86400.0, widest: int = 1
) -> list[TraceJob]:
    """Jobs that a few users submit in bursts.

    Laws:

    - Bursts begin uniformly over `length`; the user of each is drawn with weight 1/rank: few submit most.
    - Jobs of a burst: log-normal with median 8 and standard deviation of the logarithm 1.2, cut at 60,
      rounded up; the last burst is cut so that there are `jobs` in all. Gaps: exponential, mean 20 s.
    - Run times: each burst has its own median, log-normal with median 600 s and standard deviation of the
      logarithm 1.2; its jobs scatter about it log-normally with 0.5. Whole seconds, from 1 s to 12 h.
    - Widths, where `widest` is more than 1: a quarter of the bursts are serial, the others
      have a power of 2, its binary logarithm drawn uniformly from 0.8 to that of `widest` and rounded
      (as in the model of Lublin and Feitelson 2003); all jobs of a burst are equally wide.
    - The requested time is the least of the queues' limits (15 min, 1 h, 4 h, 12 h) that the job keeps.

    The numbers are near those of bursts (gaps up to 300 s) on the first day of the log LCG-2005-1 (median
    size 8 with 1.7, gaps of 20 s, median of the medians 1000 s with 2.0, within bursts 0.6), with less spread
    so that no single burst fills the day.

    Args:
        rng: source of all chance.
        jobs: how many.
        users: how many there may be.
        length: s within which bursts begin.
        widest: processors of the widest jobs; 1 for serial jobs only.

    Returns:
        Jobs sorted by submit time, the first at 0, with ids from 1 and users `u1`, `u2`, ….

    Raises:
        ValueError: a count below 1 or a length that is not positive.
    """
    if jobs < 1 or users < 1 or widest < 1 or not length > 0:
        raise ValueError(
            f"jobs ({jobs}), users ({users}), widest ({widest}) and length ({length} s) must be positive"
        )
    rows: list[tuple[float, float, str, int]] = []
    weights = 1.0 / np.arange(1, users + 1)
    while len(rows) < jobs:
        user = f"u{rng.choice(users, p=weights / weights.sum()) + 1}"
        width = _width(rng, widest) if widest > 1 else 1
        rows += [(submit, runtime, user, width) for submit, runtime in _burst(rng, length)]
    rows = sorted(rows[:jobs])
    return [_job(k, row[0] - rows[0][0], *row[1:]) for k, row in enumerate(rows, 1)]


def _width(rng: np.random.Generator, widest: int) -> int:
    """Processors of each job of a burst."""
    serial, height = rng.uniform() < _SERIAL, rng.uniform(_NARROW, log2(widest))
    return 1 if serial else min(widest, 2 ** round(height))


def _burst(rng: np.random.Generator, length: float) -> list[tuple[float, float]]:
    """Submit and run time, s, of the jobs of one burst."""
    size = int(np.ceil(min(rng.lognormal(log(_SIZE_MEDIAN), _SIZE_SIGMA), _SIZE_MAX)))
    gaps = rng.exponential(_GAP_MEAN, size)
    gaps[0] = 0.0
    submits = rng.uniform(0.0, length) + np.cumsum(gaps)
    median = rng.lognormal(log(_RUNTIME_MEDIAN), _BETWEEN_SIGMA)
    runtimes = np.clip(rng.lognormal(log(median), _WITHIN_SIGMA, size).round(), 1.0, _LIMITS[-1])
    return list(zip(submits.round().tolist(), runtimes.tolist(), strict=True))


def _job(number: int, submit: float, runtime: float, user: str, width: int) -> TraceJob:
    limit = int(np.searchsorted(_LIMITS, runtime))
    estimate = float(_LIMITS[limit])
    return TraceJob(
        number, submit, runtime, width, estimate=estimate, status=1, user=user, queue=str(limit + 1)
    )
