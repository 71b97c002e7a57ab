"""What a run gives beside what its point is worth: what its stream does to all points, and luck.

Run b of point i gives, in each objective, theta_i + s_i beta_b + epsilon_ib. What a stream does, beta_b,
moves points the more the larger s_i = 1 + g (theta_i - c) is: a workload that lets the jobs of one setting
wait twice as long does so under another setting, where they wait for minutes and not for hours. With g = 0
streams add the same everywhere. Arrays of runs are points x objectives x streams.

Sources: J. Tukey, One Degree of Freedom for Non-Additivity, Biometrics 5(3), 1949 (g, and nothing more, is
learned of the slopes); J. Mandel, Non-Additivity in Two-Way Analysis of Variance, JASA 56, 1961; C. Morris,
Parametric Empirical Bayes Inference, JASA 78, 1983 (spreads of few runs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gridtune.optimize.inference.response_surface import Surface

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

OWN = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7)  # shares of the variance of luck that points have to themselves
LEAST_SLOPE = 0.1  # of what a stream does to the point in the middle
MOST_ALIKE = 100.0  # runs that the pooled spread counts as, at most, against a point's own
ENOUGH = 5  # points, from which is told how much their spreads differ
SURE = 1e3  # how much more surely the level of all points is known than what they differ by
LOUDER = 0.5  # standard error of the prior on slopes of logarithms of variances, by spreads of worth
MOST_LOUDER = 2.5  # logarithms of variances that worth alone may add or take
PENALTY = 4.0  # on twice the logarithm of likelihood, for two more sizes to choose
ROUNDING = 1e-9  # of what is expected: sums of squares of points without luck
ROUNDS = 5  # in which the steepness settles
POWERS = (1, 2, 4, 8, 16, 32)  # of the correlation of worth, one of which is that of luck


def stream_effects(runs: Array, seen: Array, slopes: Array, precision: Array) -> Array:
    """Weighted least squares of what streams do, streams x objectives; 0 in the mean over the streams.

    Args:
        runs: what each run gave; 0 where there is none.
        seen: which point was run in which stream.
        slopes: how much of it moves each point, points x objectives.
        precision: weights of the points, points x objectives.
    """
    import numpy as np

    present = seen.astype(float)
    counts = present.sum(axis=1)
    off = np.where(seen[:, None, :], runs - (runs.sum(axis=2) / counts[:, None])[:, :, None], 0.0)
    made = []
    for slope, weight, gaps in zip(slopes.T, precision.T, np.moveaxis(off, 1, 0), strict=True):
        counted = weight * slope**2
        normal = np.diag(present.T @ counted) - (present * (counted / counts)[:, None]).T @ present
        found = np.linalg.pinv(normal, hermitian=True) @ (gaps.T @ (weight * slope))
        made.append(found - found.mean())  # where streams do nothing, rounding moves them all alike
    return np.array(made).T


def point_means(runs: Array, seen: Array, streams: Array, slopes: Array) -> Array:
    """Means of points, points x objectives, without what streams do to them."""
    import numpy as np

    total = np.where(seen[:, None, :], runs - slopes[:, :, None] * streams.T, 0.0).sum(axis=2)
    return np.asarray(total / seen.sum(axis=1)[:, None])


def unexplained(runs: Array, seen: Array, streams: Array, slopes: Array, means: Array) -> Array:
    """What neither points nor streams explain of runs; 0 where there is none."""
    import numpy as np

    left = runs - slopes[:, :, None] * streams.T - means[:, :, None]
    return np.where(seen[:, None, :], left, 0.0)


def explained(runs: Array, seen: Array, slopes: Array, precision: Array) -> tuple[Array, Array, Array]:
    """What streams do, means of points without that, and what neither explains; see `stream_effects`."""
    streams = stream_effects(runs, seen, slopes, precision)
    means = point_means(runs, seen, streams, slopes)
    return streams, means, unexplained(runs, seen, streams, slopes, means)


def even_means(runs: Array, seen: Array) -> Array:
    """Means of points, points x objectives, if streams do the same to all of them."""
    import numpy as np

    slopes = np.ones(runs.shape[:2])
    return point_means(runs, seen, stream_effects(runs, seen, slopes, slopes), slopes)


def steepness(runs: Array, seen: Array) -> tuple[Array, Array, Array]:
    """How much more streams move points the more these are worth: g and its error, by objective, and c.

    g is found by least squares, and shrunk by how uncertain it is: its standard error is robust against luck
    that points share within a stream, and what is below that is taken for 0.

    Source of the error: K.-Y. Liang and S. Zeger, Longitudinal Data Analysis Using Generalized Linear Models,
        Biometrika 73(1), 1986 (streams are the clusters); of the shrinking: W. James and C. Stein, Estimation
        with Quadratic Loss, 1961 (its positive part).
    """
    import numpy as np

    even = np.ones(runs.shape[:2])
    found, middle = np.zeros(runs.shape[1]), even_means(runs, seen).mean(axis=0)
    slopes, error = even, np.zeros_like(found)
    count = max(_repeated_streams(seen), 2)
    for _ in range(ROUNDS):
        streams, means, left = explained(runs, seen, slopes, even)
        more = np.where(seen[:, None, :], (means - middle)[:, :, None] * streams.T, 0.0)
        # Of that, what no change of the streams or of the points would do as well.
        _, _, more = explained(more, seen, slopes, even)
        size = np.maximum((more**2).sum(axis=(0, 2)), 1e-300)
        low, high = middle - means.min(axis=0), means.max(axis=0) - middle
        most = (1 - LEAST_SLOPE) / np.maximum(np.array([high, low]), 1e-300)  # by which no slope is less
        found = (found + (left * more).sum(axis=(0, 2)) / size).clip(-most[0], most[1])
        pulls = (left * more).sum(axis=0)
        error = ((pulls / size[:, None]) ** 2).sum(axis=1) * count / (count - 1)
        slopes = slopes_at(means, found, middle)
    doubt = np.divide(error, found**2, out=np.ones_like(found), where=found != 0)
    trusted = (1 - doubt).clip(0.0)
    return found * trusted, np.sqrt(error * trusted), middle


def slopes_at(means: Array, steep: Array, middle: Array) -> Array:
    """How much of what a stream does moves points of these means, points x objectives."""
    import numpy as np

    return np.asarray((1 + steep * (means - middle)).clip(LEAST_SLOPE))


def spread(rest: Array, means: Array, seen: Array) -> tuple[Array, Array, Array]:
    """Covariance of points' own luck, and by what factor each has more or less of it in each objective.

    The second factor is the one that is expected where points are worth so much (`louder`); the first is what
    a point's own runs make of it.

    Args:
        rest: what neither points nor streams explain.
        means: of the points, points x objectives.
        seen: which point was run in which stream.
    """
    import numpy as np

    counts = seen.sum(axis=1)
    repeated = counts > 1
    free = max(float((counts[repeated] - 1).sum()) - (seen[repeated].any(axis=0).sum() - 1), 1.0)
    noise = np.einsum("ihb,igb->hg", rest[repeated], rest[repeated]) / free
    # What never varies has no luck; a little keeps the arithmetic going.
    least = np.maximum(1e-10 * means.var(axis=0), np.square(1e-9 * means).max(axis=0))
    noise += np.diag(np.maximum(least, 1e-30))
    own = (rest**2).sum(axis=2) / np.diag(noise)
    expected = louder(own, counts - 1, means)
    return noise, shrunk(own, expected, counts - 1), expected


def louder(own: Array, free: Array, means: Array) -> Array:
    """By what factor luck is expected to be more or less where points are worth so much, by objective.

    The logarithm of the variance is linear in what points are worth in all objectives: jobs that wait longer
    wait more unevenly, also where a point was run once and its own runs say nothing of it.

    Args:
        own: sums of squares of points' residuals, points x objectives, of which each degree is 1 at large.
        free: how many degrees of freedom each has.
        means: of the points, points x objectives.

    Source: M. Davidian and R. Carroll, Variance Function Estimation, JASA 82(400), 1987 (by the likelihood of
        gamma laws, with a normal prior on the slopes).
    """
    import numpy as np
    from scipy.optimize import minimize

    size = means.std(axis=0)
    places = np.divide(means - means.mean(axis=0), size, out=np.zeros_like(means), where=size > 0)
    terms = np.column_stack([np.ones(len(means)), places])

    def misfit(slopes: Array, sums: Array) -> tuple[float, Array]:
        logs = terms @ slopes
        left = sums * np.exp(-logs)
        prior = slopes[1:] / LOUDER**2
        pull = (free - left) / 2 @ terms
        return float((free * logs + left).sum() / 2 + prior @ slopes[1:] / 2), pull + np.r_[0.0, prior]

    found = []
    for sums in own.T:
        start, bounds = np.zeros(terms.shape[1]), [(-MOST_LOUDER, MOST_LOUDER)] * terms.shape[1]
        made = minimize(misfit, start, (sums,), jac=True, method="L-BFGS-B", bounds=bounds).x
        found.append(np.exp((terms @ made).clip(-MOST_LOUDER, MOST_LOUDER)))
    return np.array(found).T


def shrunk(own: Array, expected: Array, free: Array) -> Array:
    """Variances of points' luck by their own sums of squares, drawn towards those that are expected.

    Args:
        own: sums of squares of points' residuals, points x objectives.
        expected: what each degree of these is at large, points x objectives.
        free: how many degrees of freedom each has.
    """
    import numpy as np

    alike = np.array([likeness(*one, free) for one in zip(own.T, expected.T, strict=True)])
    return np.asarray((alike * expected + own) / (alike + free[:, None]))


def likeness(own: Array, expected: Array, free: Array) -> float:
    """As how many runs of a point counts what is expected of its luck, by how alike the points are in that.

    A fixed number trusts points by their own few runs, and those that look best are among those whose luck
    looks least. Args: see `shrunk`, of one objective.

    Source: G. Smyth, Linear Models and Empirical Bayes Methods, Statistical Applications in Genetics and
        Molecular Biology 3(1), 2004 (moments of the logarithms of variances).
    """
    import numpy as np
    from scipy.optimize import brentq
    from scipy.special import digamma, polygamma

    known = (free > 1) & (own > ROUNDING * expected)
    if known.sum() < ENOUGH:
        return MOST_ALIKE
    half = free[known] / 2
    noise = polygamma(1, half)  # what logarithms of variances differ by where the points are alike
    logs = np.log(own[known] / expected[known]) - digamma(half)
    middle = np.average(logs, weights=1 / noise)
    off = (logs - middle) ** 2 * len(half) / (len(half) - 1) - noise
    more = float(np.average(off, weights=1 / noise))
    if more <= polygamma(1, MOST_ALIKE / 2):
        return MOST_ALIKE
    return 2 * float(brentq(lambda half: polygamma(1, half) - more, 1e-3, MOST_ALIKE))


def luck_in_a_stream(rest: Array, seen: Array, alike: Array, surface: Surface, expected: Array) -> Array:
    """Covariance of points' luck in one stream, (objectives x points) squared.

    A stream is kinder to some settings than to others, and alike to similar ones. So part of a point's luck
    in a stream is shared with the points near it, as far as their worth is alike (`shared_luck`). Luck that
    is shared does not average out over points, only over streams. It is of one size for all: where points
    that share nearly all of it were to have more and less of it, what they differ by would tell how large it
    was in a stream, far too surely, as these sizes are known by halves.

    Args:
        rest: what neither points nor streams explain.
        seen: which point was run in which stream.
        alike: correlation of luck in two objectives.
        surface: of what points are worth.
        expected: by what factor points are expected to have more or less of it; see `louder`.

    Source: X. Chen, B. Ankenman and B. Nelson, The Effects of Common Random Numbers on Stochastic Kriging
        Metamodels, ACM TOMACS 22(2), 2012 (there a constant correlation).
    """
    import numpy as np

    points, objectives, _ = rest.shape
    counts = seen.sum(axis=1)
    covariance = surface.covariance.reshape(objectives, points, objectives, points)
    scaled = rest / np.sqrt((1 - 1 / np.maximum(counts, 2))[:, None] * expected)[:, :, None]
    wide = widening(_repeated_streams(seen))
    roots = []
    for k in range(objectives):
        spreads = np.sqrt(np.diag(covariance[k, :, k]))
        near = covariance[k, :, k] / np.outer(spreads, spreads)
        shared, own = shared_luck(scaled[:, k], seen, near)
        size = expected[:, k] * more_or_less(scaled[:, k], seen, shared + own * np.eye(points))
        found = size.mean() * wide**2 * shared + np.diag(own * size)
        roots.append(np.linalg.cholesky(found + 1e-12 * np.trace(found) * np.eye(points)))
    made = np.zeros((objectives, points, objectives, points))
    for k in range(objectives):
        for other in range(objectives):
            made[k, :, other] = alike[k, other] * roots[k] @ roots[other].T
    return made.reshape(objectives * points, objectives * points)


def least_squares(
    runs: Array, seen: Array, slopes: Array, moved: Array, luck: Array, level: Array
) -> tuple[Array, Array]:
    """Means of points, points x objectives, and their covariance, (objectives x points) squared.

    These are generalised least squares, where what a stream does is as random as luck is: what it did to the
    points that were run in it is known the less, the more of their luck they share.

    Args:
        runs: what each run gave.
        seen: which point was run in which stream.
        slopes: how much of what a stream does moves each point, points x objectives.
        moved: variance of what streams do, by objective.
        luck: of points in a stream; see `luck_in_a_stream`.
        level: means of points on the level that they are to have, as only differences are known.

    Source: A. Aitken, On Least Squares and Linear Combination of Observations, 1936; H. Patterson and R.
        Thompson (1971, see `shared_luck`), for streams that are random.
    """
    import numpy as np
    from scipy.linalg import cho_factor, cho_solve

    points, objectives, _ = runs.shape
    lines = np.zeros((objectives, points, objectives))
    for k in range(objectives):
        lines[k, :, k] = slopes[:, k] * np.sqrt(moved[k])
    flat = lines.reshape(-1, objectives)
    precision, pulled = np.zeros_like(luck), np.zeros(len(luck))
    for here, some in patterns(seen):
        at = (np.arange(objectives)[:, None] * points + here).ravel()
        factor = cho_factor(luck[np.ix_(at, at)], lower=True)
        moving = cho_solve(factor, flat[at])
        known = np.eye(objectives) + flat[at].T @ moving
        part = cho_solve(factor, np.eye(len(at))) - moving @ np.linalg.solve(known, moving.T)
        precision[np.ix_(at, at)] += len(some) * (part + part.T) / 2
        pulled[at] += part @ (runs[here][:, :, some] - level[here, :, None]).sum(axis=2).T.ravel()
    for k in range(objectives):
        at = np.arange(k * points, (k + 1) * points)
        unit = slopes[:, k] / np.sqrt(slopes[:, k] @ slopes[:, k])
        sure = SURE * np.trace(precision[np.ix_(at, at)])
        precision[np.ix_(at, at)] += sure * np.outer(unit, unit)
    covariance = cho_solve(cho_factor(precision, lower=True), np.eye(len(precision)))
    return level + (covariance @ pulled).reshape(objectives, points).T, (covariance + covariance.T) / 2


def patterns(seen: Array) -> list[tuple[Array, list[int]]]:
    """Positions of points that were run in the same streams, and of these streams."""
    import numpy as np

    found: dict[bytes, list[int]] = {}
    for at, column in enumerate(seen.T):
        if column.any():
            found.setdefault(column.tobytes(), []).append(at)
    return [(np.flatnonzero(seen[:, some[0]]), some) for some in found.values()]


def more_or_less(scaled: Array, seen: Array, luck: Array) -> Array:
    """By what factor the variance of each point's luck is more or less than a model of it says.

    Args:
        scaled: residuals of points that were run more than once, points x streams.
        seen: which point was run in which stream.
        luck: covariance of luck in a stream.
    """
    import numpy as np

    known = seen.sum(axis=1) > 1
    free, expected = np.zeros(len(luck)), np.zeros(len(luck))
    for column in seen.T:
        here = np.flatnonzero(known & column)
        if len(here) > 1:
            part = luck[np.ix_(here, here)]
            expected[here] += np.diag(part) - 2 * part.mean(axis=0) + part.mean()
            free[here] += 1
    counts = np.maximum(seen.sum(axis=1), 2)
    own = (scaled**2).sum(axis=1) / np.where(expected > 0, expected / np.maximum(free, 1), np.inf)
    own *= 1 - 1 / counts
    return shrunk(own[:, None], np.ones((len(luck), 1)), (counts - 1) * known)[:, 0]


def shared_luck(scaled: Array, seen: Array, near: Array) -> tuple[Array, float]:
    """Covariance of luck that near points share in a stream, and the variance of each one's own.

    Luck may be shared among fewer points than are alike in worth, so a power of the correlation of worth is
    taken. Power, size and what is a point's own are found by restricted maximum likelihood, stream by
    stream: what a stream does to all points is not known. None is shared unless that explains enough.

    Args:
        scaled: residuals of points that were run more than once, points x streams, 1 in size.
        seen: which point was run in which stream.
        near: correlation of what points are worth.

    Source: H. Patterson and R. Thompson, Recovery of Inter-Block Information when Block Sizes are Unequal,
        Biometrika 58(3), 1971; H. Akaike, A New Look at the Statistical Model Identification, IEEE TAC
        19(6), 1974 (what is enough).
    """
    import numpy as np
    from scipy.linalg import cho_factor, cho_solve

    known = seen.sum(axis=1) > 1
    groups = [(here, some) for here, some in patterns(known[:, None] & seen) if len(here) > 2]
    free = sum((len(here) - 1) * len(some) for here, some in groups)
    if not free:
        return np.zeros_like(near), 1.0
    best, found = np.inf, (np.zeros_like(near), 1.0)
    for power, own in ((1, 1.0), *((power, own) for power in POWERS for own in OWN)):
        shape = (1 - own) * near**power + own * np.eye(len(near))
        misfit = total = 0.0
        for here, some in groups:
            factor = cho_factor(shape[np.ix_(here, here)], lower=True)
            ones = cho_solve(factor, np.ones(len(here)))
            drawn = scaled[here][:, some]
            total += float(
                (drawn * cho_solve(factor, drawn)).sum() - ((ones @ drawn) ** 2).sum() / ones.sum()
            )
            logs = 2 * np.log(np.diag(factor[0])).sum() + np.log(ones.sum())
            misfit += len(some) * float(logs)
        size = max(total / free, 1e-12)
        misfit += free * np.log(size) + (PENALTY if own < 1 else 0.0)
        if misfit < best:
            best, found = misfit, (size * (1 - own) * near**power, size * own)
    return found


def widening(streams: int) -> float:
    """By what factor what was learned of so many streams is less sure than if their spread were known.

    That is Student's t beside the normal law, at 95 %.
    """
    from scipy.special import ndtri, stdtrit

    return float(stdtrit(max(streams - 1, 1), 0.975) / ndtri(0.975))


def _repeated_streams(seen: Array) -> int:
    """In how many streams points were run that were run more than once."""
    return int(seen[seen.sum(axis=1) > 1].any(axis=0).sum())
