"""Which points deserve more replications: a race for the front on paired differences.

A point is out of the race as soon as another is surely no worse in every objective and surely better in
one. It has won as soon as it is, compared with each point still racing, surely better in some objective. All
others are contested: they, and the rivals that leave them contested, get more replications. "Surely" is a
one-sided paired t-test on the replications that both points have. Since these share their random streams,
what the streams do to both points cancels. Being no worse in every objective is a conjunction, whose tests
need no correction.

Where there are constraints, only points that keep them are rivals. A point that surely breaks one is out, by
a one-sided t-test on what it breaks it by. One that neither surely breaks nor surely keeps them all gets more
replications as long as it is in the race.

The spread of a difference, or of what is broken, is estimated from the pair or point itself and from the
best points all together, the latter counting as much as `PRIOR` further replications. So a race can start
from a single replication. Differences below `INDIFFERENCE` of the front's range in an objective are not raced
for.

Sources: A. Moore and M. Lee, Efficient algorithms for minimizing cross validation error, ICML 1994 (races on
paired differences, "blocking"); T. Zhang, M. Georgiopoulos and G. Anagnostopoulos, S-Race: a multi-objective
racing algorithm, GECCO 2013 (races for a front; there with a sign test); R. Berger, Multiparameter hypothesis
testing and acceptance sampling, Technometrics 24, 1982 (conjunctions); G. Smyth, Linear models and empirical
Bayes methods, Statistical Applications in Genetics and Molecular Biology 3, 2004 (pooled spread).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gridtune.optimize.replication.compare import common_scale, non_dominated

Array = np.ndarray[Any, np.dtype[Any]]

CONFIDENCE = 0.75  # of each test
PRIOR = 3.0  # replications that the spread over the best points is worth
INDIFFERENCE = 0.02  # of the range of the front
PROBES = 5  # points that are run twice at least, so that there is a spread to go by


def contested(
    values: Array,
    counts: Array,
    most: int,
    broken: Array | None = None,
    *,
    confidence: float = CONFIDENCE,
    zone: float = INDIFFERENCE,
) -> list[int]:
    """Positions of the points that should get more replications, in their order.

    Args:
        values: what each point gave, to be minimised: points x objectives x replications.
        counts: replications that each point has; values beyond do not count.
        most: replications that a point may have.
        broken: by how much each replication breaks each constraint, as shares of the bounds: points x
            constraints x replications. A constraint holds where the mean is at most 0.
        confidence: of each test, between 0.5 and 1.
        zone: differences that do not matter, as a share of the front's range in each objective.
    """
    import moocore

    if len(counts) < 2 or counts.min() >= most:
        return []
    limits = _Limits(values[:, :0] if broken is None else broken, counts, confidence)
    means = common_scale(values, counts)
    kept = np.flatnonzero(limits.violation == 0)
    ranks = np.full(len(counts), len(counts))
    if len(kept):
        ranks[kept] = moocore.pareto_rank(means[kept])
    best = np.lexsort((np.arange(len(counts)), ranks, limits.violation))
    enough = min(PROBES, len(counts))
    repeated = best[counts[best] >= 2]
    if len(repeated) < enough:
        single = best[counts[best] < 2]
        return sorted(single[: enough - len(repeated)].tolist())
    front = kept[non_dominated(means[kept])]
    samples = repeated[ranks[repeated] <= ranks[repeated[enough - 1]]]
    limits.pool(samples)
    span = np.ptp(means[front], axis=0) if len(front) else np.zeros(means.shape[1])
    race = _Race(values, counts, zone * span, confidence)
    race.pool(samples)
    racing = np.flatnonzero(~limits.surely_broken())
    for rival in front.tolist():
        racing = racing[~race.surely_dominated(racing, rival)]
    wanted = set(racing[~limits.surely_kept()[racing]].tolist())
    racing = racing[limits.violation[racing] == 0]
    for rival in racing.tolist():
        open_ = racing[race.undecided(racing, rival)]
        wanted.update(open_[counts[open_] <= counts[rival]].tolist())
        if (counts[open_] >= counts[rival]).any():
            wanted.add(rival)
    return sorted(point for point in wanted if counts[point] < most)


class _Race:
    """Paired tests between points; see the module.

    Args:
        values, counts: see `contested`.
        zone: differences that do not matter, per objective.
        confidence: of each test.
    """

    def __init__(self, values: Array, counts: Array, zone: Array, confidence: float) -> None:
        self.values, self.counts, self.zone, self.confidence = values, counts, zone, confidence
        self.pooled: Any = None

    def pool(self, points: Array) -> None:
        """Estimate the spread of differences over all pairs of some points, each with two replications."""
        totals = []
        for at, rival in enumerate(points[:-1].tolist()):
            _, squares, common = self._differences(points[at + 1 :], rival)
            totals.append(squares / (common - 1)[:, None])
        self.pooled = np.vstack(totals).mean(axis=0)

    def surely_dominated(self, points: Array, rival: int) -> Array:
        """Whether the rival is surely no worse in every objective, and surely better in one."""
        mean, margin = self._tested(points, rival)
        no_worse = (margin - mean <= self.zone).all(axis=1)
        return np.asarray(no_worse & (mean > margin).any(axis=1))

    def undecided(self, points: Array, rival: int) -> Array:
        """Whether the rival may dominate a point: that is surely better in none, and differs in some."""
        mean, margin = self._tested(points, rival)
        better = (mean < -margin).any(axis=1)
        alike = (abs(mean) + margin <= self.zone).all(axis=1)
        return np.asarray(~better & ~alike & (points != rival))

    def _tested(self, points: Array, rival: int) -> tuple[Array, Array]:
        """Mean differences to the rival (positive: it is better), and how large luck could make them."""
        mean, squares, common = self._differences(points, rival)
        return mean, _margin(mean, squares, common, self.pooled, self.confidence)

    def _differences(self, points: Array, rival: int) -> tuple[Array, Array, Array]:
        """Mean and sum of squared deviations of paired differences, and the number of pairs."""
        common = np.minimum(self.counts[points], self.counts[rival])
        return *_moments(self.values[points] - self.values[rival], common), common


class _Limits:
    """Tests of points against constraints; see the module.

    Args:
        broken, counts, confidence: see `contested`.

    Attributes:
        violation: of each point, what its means break constraints by, all together; 0 if it keeps them.
    """

    def __init__(self, broken: Array, counts: Array, confidence: float) -> None:
        self.counts, self.confidence = counts, confidence
        self.mean, self.squares = _moments(broken, counts)
        self.violation = np.maximum(self.mean, 0.0).sum(axis=1)
        self.margin: Any = None

    def pool(self, points: Array) -> None:
        """Estimate the spread of what is broken over some points, each with two replications."""
        pooled = (self.squares[points] / (self.counts[points] - 1)[:, None]).mean(axis=0)
        self.margin = _margin(self.mean, self.squares, self.counts, pooled, self.confidence)

    def surely_broken(self) -> Array:
        """Whether a point surely breaks a constraint."""
        return np.asarray((self.mean > self.margin).any(axis=1))

    def surely_kept(self) -> Array:
        """Whether a point surely keeps each constraint."""
        return np.asarray((self.mean <= -self.margin).all(axis=1))


def _moments(values: Array, counts: Array) -> tuple[Array, Array]:
    """Mean and sum of squared deviations over the replications that count, points x columns."""
    mask = (np.arange(values.shape[2]) < counts[:, None])[:, None, :]
    mean = np.where(mask, values, 0.0).sum(axis=2) / counts[:, None]
    return mean, (np.where(mask, values - mean[:, :, None], 0.0) ** 2).sum(axis=2)


def _margin(mean: Array, squares: Array, counts: Array, pooled: Array, confidence: float) -> Array:
    """How large luck could make a mean whose true value is 0."""
    from scipy.special import stdtrit

    freedom = (PRIOR + counts - 1)[:, None]
    spread = (PRIOR * pooled + squares) / freedom
    # What is 0 in every replication is 0: objectives like counts do tie.
    spread = np.where((mean == 0) & (squares == 0), 0.0, spread)
    return np.asarray(stdtrit(freedom, confidence) * np.sqrt(spread / counts[:, None]))
