"""What all runs of a search together say of all its points: a hierarchical model, and chances read off it.

Run b of point i gives y_ib = theta_i + beta_b + epsilon_ib, with an entry per objective. beta_b is what
stream b does to every point (the luck of its workload); it is estimated and drops out of every comparison.
theta_i is what the point is worth; a priori it is a Gaussian process over the settings (`response_surface`),
so that points learn from similar ones and err together with them. epsilon_ib ~ N(0, c_i S) is the point's
luck, of which similar points share a part (`_luck`): S is pooled over all points that were run more than
once, and c_i is shrunk towards 1, so that two runs do not claim to know a spread. Runs of the search and
fresh ones count alike: what made a point be looked at again is no bias where the runs that did are part of
the data and a point's worth has a prior.

Sources: B. Ankenman, B. Nelson and J. Staum, Stochastic Kriging for Simulation Metamodeling, Operations
Research 58(2), 2010; X. Chen, B. Ankenman and B. Nelson, The Effects of Common Random Numbers on Stochastic
Kriging Metamodels, ACM TOMACS 22(2), 2012 (hence streams are taken out first); C. Morris, Parametric
Empirical Bayes Inference, JASA 78, 1983; D. Rubin, Inference and Missing Data, Biometrika 63, 1976.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gridtune.optimize.records.evaluations import Evaluation, Objective, Value
from gridtune.optimize.replication.compare import non_dominated, signs
from gridtune.optimize.replication.response_surface import Surface, coordinates_of, learn

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

LEAST_OWN = 0.05  # of the variance of luck that similar points never share
PRIOR = 6.0  # runs that the pooled spread counts as, against a point's own
DRAWS = 1000
LOSS_DRAWS = 400  # of these for expected losses
REPLAYS, REPLAYED = 5, 200  # studies that are simulated, and draws of each
JOINT = 800  # points that are modelled, at most: the best ones, layer by layer
AGAIN = 30  # new runs of each point on which those that are kept are to hold against each other
ALIKE = 1e-5  # of the span of an objective: draws that differ by less are a tie


@dataclass(frozen=True)
class Posterior:
    """What is known of the points of a search.

    Attributes:
        means: expected values to be minimised, points x objectives, on a level that all points share.
        draws: samples of the same, draws x points x objectives; what is uncertain about several points at
            once is uncertain in the same draws.
        streams: what each stream does to all points, streams x objectives.
        unit: difference of each objective that is a tie.
        replays: what `draws` would be had the points been worth `means` exactly and the same runs been done
            anew, for several such studies: studies x draws x points x objectives.
        luck: of a point in one run, as a linear map of as many standard normal numbers, points x objectives
            x objectives.
    """

    means: Array
    draws: Array
    streams: Array
    unit: Array
    replays: Array
    luck: Array
    _shifts: dict[bytes, float] = field(default_factory=dict, init=False, repr=False, compare=False)

    def non_dominated(self, rivals: Array | None = None) -> Array:
        """How probably no other point beats each: a number in [0, 1] per point.

        The share of draws alone says too little: what is uncertain blurs the trade-off that points lie on,
        so that more of them are beaten in a draw than in truth. By how much is seen where the truth is known,
        in the replays; all odds are raised by the same factor.

        Args:
            rivals: positions of the points that are compared; the chance of any other is 0. All if left out.

        Source: J. Platt, Probabilistic Outputs for Support Vector Machines, 1999 (calibration by a logistic
            curve; here its intercept alone, learned from a parametric bootstrap).
        """
        import numpy as np

        which = np.arange(len(self.means)) if rivals is None else rivals
        found = np.zeros(len(self.means))
        found[which] = _raised(self._shares(self.draws[:, which]), self._shift(which), len(self.draws))
        return found

    def _shift(self, which: Array) -> float:
        """By how much odds of points are to be raised, as a logarithm; worked out once for equal points."""
        import numpy as np

        key = which.tobytes()
        if key in self._shifts:
            return self._shifts[key]
        said = np.concatenate([self._shares(draws[:, which]) for draws in self.replays])
        true = np.tile(self._shares(self.means[None, which]), len(self.replays))
        self._shifts[key] = _missing_odds(said, true, len(self.replays[0]))
        return self._shifts[key]

    def holding(self, points: Array, rivals: Array, share: float, margin: float) -> Array:
        """Positions of points of which that share is expected to hold against each other on new runs.

        These are `AGAIN` runs of each on streams that are new. A point holds if it is better than each other
        one by the margin in some objective. As long as too few are likely to, that goes which is least so.

        Args:
            points: positions of those to choose from, among the rivals.
            rivals: positions of all that are compared; from them is learned what chances are worth.
            share: of the chosen, that hold.
            margin: as a share of the span of the front by the expected values.

        Source: M. Laumanns et al., Combining Convergence and Diversity in Evolutionary Multiobjective
            Optimization, Evolutionary Computation 10(3), 2002 (epsilon-dominance).
        """
        import numpy as np

        shift = self._shift(rivals)
        rng = np.random.default_rng([len(points), len(self.draws)])
        fresh = rng.normal(size=(len(self.draws), len(points), len(self.unit))) / np.sqrt(AGAIN)
        anew = self.draws[:, points] + np.einsum("phk,dpk->dph", self.luck[points], fresh)
        near = margin * self._span(rivals)
        covers = np.ones((len(anew), len(points), len(points)), dtype=bool)  # the last one the other
        for column, slack in zip(np.moveaxis(anew, 2, 0), near, strict=True):
            covers &= column[:, None, :] <= column[:, :, None] + slack
        covers[:, range(len(points)), range(len(points))] = False
        covered = covers.sum(axis=2)
        left = np.ones(len(points), dtype=bool)
        while left.sum() > 1:
            chances = _raised((covered[:, left] == 0).mean(axis=0), shift, len(anew))
            if chances.mean() >= share:
                break
            # Of equals the one that most others cover: what stands at an end is covered by fewer.
            worst = np.flatnonzero(left)[np.lexsort((-covered[:, left].mean(axis=0), chances))[0]]
            left[worst] = False
            covered -= covers[:, :, worst]
        return np.asarray(points[left])

    def _span(self, rivals: Array) -> Array:
        """Range of each objective over the front by the expected values."""
        import numpy as np

        expected = self.means[rivals]
        return np.ptp(expected[non_dominated(np.round(expected / self.unit))], axis=0)  # type: ignore[no-any-return]

    def _shares(self, draws: Array) -> Array:
        """Shares of the draws in which no other point beats each."""
        import moocore
        import numpy as np

        levelled = np.round(draws / self.unit)
        won = sum(moocore.is_nondominated(values, keep_weakly=True).astype(float) for values in levelled)
        return np.asarray(won / len(draws))

    def losses(self, points: Array, rivals: Array) -> Array:
        """By how much points are beaten in each draw, draws x points; 0 where they are not.

        That is the most that another point is better by in every objective at once, as shares of the span of
        the front by the expected values (the additive epsilon indicator).

        Args:
            points: their positions.
            rivals: positions of all that are compared.

        Source: E. Zitzler et al., Performance Assessment of Multiobjective Optimizers, 2003.
        """
        import numpy as np

        span = self._span(rivals)
        wide = span > 0
        found = np.zeros((min(LOSS_DRAWS, len(self.draws)), len(points)))
        if wide.any():
            scaled = self.draws[: len(found), :, wide] / span[wide]
            for one, draw in zip(found, scaled, strict=True):
                one[:] = (draw[points, None] - draw[None, rivals]).min(axis=2).max(axis=1).clip(0.0)
        return found

    def difference(self, to: int, start: int, share: float = 0.95) -> tuple[Array, Array, Array]:
        """Mean and interval of what changes from one point to another, an entry per objective.

        Args:
            to, start: positions of the points.
            share: probability that the change lies within the interval.
        """
        import numpy as np

        gaps = self.draws[:, to] - self.draws[:, start]
        low, high = np.quantile(gaps, [(1 - share) / 2, (1 + share) / 2], axis=0)
        return self.means[to] - self.means[start], low, high


def worth_of(evaluations: Sequence[Evaluation], objectives: Sequence[Objective]) -> Array:
    """What the model expects of each point, to be minimised; means where it cannot tell luck from worth."""
    import numpy as np

    values = runs_of(evaluations, objectives)
    means = _levelled(values)
    chosen = best_layers(values)
    found = fit(values[chosen], [evaluations[at].values for at in chosen], draws=1)
    if found is not None:
        # Those that are left out are as far from the front as they look.
        means += found.means[0] - means[chosen[0]]
        means[chosen] = found.means
    return np.asarray(means)


def runs_of(evaluations: Sequence[Evaluation], objectives: Sequence[Objective]) -> Array:
    """What each run gave, to be minimised: points x objectives x streams, those of the search first."""
    import numpy as np

    searched = max(evaluation.replications for evaluation in evaluations)
    fresh = max(evaluation.fresh_replications for evaluation in evaluations)
    values = np.full((len(evaluations), len(objectives), searched + fresh), np.nan)
    for at, evaluation in enumerate(evaluations):
        for column, objective in enumerate(objectives):
            first = evaluation.objectives[objective.name].values
            values[at, column, : len(first)] = first
            if evaluation.validated:
                more = evaluation.validated[objective.name].values
                values[at, column, searched : searched + len(more)] = more
    return np.asarray(values * signs(objectives)[:, None])


def best_layers(runs: Array, always: Sequence[int] = ()) -> list[int]:
    """Positions of the points that may be on the front, at most `JOINT`: layer after layer of the front.

    Args:
        runs: see `runs_of`.
        always: positions of points that are among them anyway.
    """
    means = _levelled(runs)
    chosen = set(always)
    left = [at for at in range(len(means)) if at not in chosen]
    while left and len(chosen) < JOINT:
        layer = [left[at] for at in non_dominated(means[left])]
        chosen.update(layer[: JOINT - len(chosen)])
        left = [at for at in left if at not in chosen]
    return sorted(chosen)


def _levelled(runs: Array) -> Array:
    """Means of points, points x objectives, without what each stream did to all."""
    import numpy as np

    seen = np.asarray(np.isfinite(runs).all(axis=1))
    filled = np.where(seen[:, None, :], runs, 0.0)
    return _point_means(filled, seen, _two_way(filled, seen))


def fit(
    values: Array, points: Sequence[Mapping[str, Value]], *, draws: int = DRAWS, seed: int = 1
) -> Posterior | None:
    """The model of all runs of a search; None where no point has two runs to tell luck from worth by.

    Args:
        values: what each run gave, to be minimised: points x objectives x streams; nan where a point was not
            run.
        points: their settings, all different.
        draws: samples to take.
        seed: of the samples.
    """
    import numpy as np

    seen = np.asarray(np.isfinite(values).all(axis=1))
    counts = seen.sum(axis=1)
    if not len(values) or counts.max(initial=0) < 2 or counts.min() < 1:
        return None
    runs = np.where(seen[:, None, :], values, 0.0)
    first = _two_way(runs, seen)
    plain = _point_means(runs, seen, first)
    noise, factors = _spread(_rest(runs, seen, first, plain), plain, counts, seen)
    root = np.linalg.cholesky(noise)
    turned = np.einsum("hg,igb->ihb", np.linalg.inv(root), runs)  # luck is now 1 in size, and apart
    streams = _two_way(turned, seen)
    variance = factors / counts
    surface = learn(coordinates_of(points), _point_means(turned, seen, streams), variance, seed)
    luck = _luck(_rest(turned, seen, streams, _point_means(turned, seen, streams)), seen, factors, surface)
    for _ in range(2):  # once more when it is known which points were lucky in which streams
        off = _point_means(turned, seen, streams) - surface.means
        mean, covariance = _condition(surface.covariance, off.T.ravel(), luck)
        means = mean.reshape(off.T.shape).T + surface.means
        left = np.where(seen[:, None, :], turned - means[:, :, None], 0.0) / factors[:, None, None]
        streams = left.sum(axis=0).T / (seen / factors[:, None]).sum(axis=0)[:, None]
    least = 1e-9 * float(np.trace(surface.covariance)) / means.size
    rng = np.random.default_rng([seed, *means.shape])
    rest = np.moveaxis(_sample(covariance, least, draws, rng).reshape(draws, *means.T.shape), 1, 2)
    seen_anew = (means - surface.means).T.ravel() + _sample(luck, least, REPLAYS, rng)
    found = surface.covariance @ _solved(surface.covariance, seen_anew.T, luck)
    anew = np.moveaxis(found.T.reshape(REPLAYS, *means.T.shape), 1, 2) + surface.means
    replays = rest[:REPLAYED] + anew[:, None]
    return Posterior(
        means @ root.T,
        (rest + means) @ root.T,
        streams @ root.T,
        _unit(plain),
        replays @ root.T,
        np.sqrt(factors)[:, None, None] * root,
    )


def _luck(rest: Array, seen: Array, factors: Array, surface: Surface) -> Array:
    """Covariance of the luck in points' means, (quantities x points) squared.

    A stream is kinder to some settings than to others, and alike to similar ones. So part of a point's luck
    in a stream is shared with the points near it, as far as their worth is alike; how much is found from how
    alike the residuals of near points are in each stream (method of moments). Luck that is shared does not
    average out over points, only over streams.

    Args:
        rest: what neither points nor streams explain, points x quantities x streams, of variance `factors`.
        seen: which point was run in which stream.
        factors: of the variance of each point's luck.
        surface: of what points are worth.

    Source: X. Chen, B. Ankenman and B. Nelson, The Effects of Common Random Numbers on Stochastic Kriging
        Metamodels, ACM TOMACS 22(2), 2012 (there a constant correlation); J. Haseman and R. Elston, The
        investigation of linkage between a quantitative trait and a marker locus, Behavior Genetics 2, 1972
        (regression of products of residuals on relatedness).
    """
    import numpy as np

    points, quantities, streams = rest.shape
    counts = seen.sum(axis=1)
    overlap = seen.astype(float) @ seen.T.astype(float) / np.outer(counts, counts)
    sizes = np.sqrt(np.outer(factors, factors))
    known = counts > 1
    scaled = rest / np.sqrt(factors * (1 - 1 / np.maximum(counts, 2)))[:, None, None]
    covariance = surface.covariance.reshape(quantities, points, quantities, points)
    found = np.zeros((quantities, points, quantities, points))
    for k in range(quantities):
        spread = np.sqrt(np.diag(covariance[k, :, k]))
        alike = covariance[k, :, k] / np.outer(spread, spread)
        normal, right = np.zeros((2, 2)), np.zeros(2)
        for b in range(streams):
            here = np.flatnonzero(known & seen[:, b])
            if len(here) > 2:
                near = alike[np.ix_(here, here)]
                near = near - near.mean(axis=0) - near.mean(axis=1)[:, None] + near.mean()
                own = scaled[here, k, b] - scaled[here, k, b].mean()
                normal += [[(near**2).sum(), np.trace(near)], [np.trace(near), len(here) - 1]]
                right += [own @ near @ own, own @ own]
        common, own = _parts(normal, right)
        found[k, :, k] = sizes * (common * alike * overlap + own * np.diag(1 / counts))
    return found.reshape(quantities * points, quantities * points)


def _parts(normal: Array, right: Array) -> tuple[float, float]:
    """Variances of luck that near points share and of each point's own, by their normal equations."""
    import numpy as np

    if abs(np.linalg.det(normal)) <= 1e-9 * normal[0, 0] * normal[1, 1]:
        return 0.0, 1.0
    common, own = np.linalg.solve(normal, right).tolist()
    if common <= 0:
        return 0.0, 1.0
    if own < LEAST_OWN:
        own = LEAST_OWN
        common = max((right[1] - own * normal[1, 1]) / normal[0, 1], 0.0)
    return float(common), float(own)


def _missing_odds(said: Array, true: Array, draws: int) -> float:
    """Logarithm of the factor that brings odds as said to those that are true, by maximum likelihood."""
    import numpy as np
    from scipy.optimize import minimize_scalar

    odds = _odds(said, draws)

    def misfit(shift: float) -> float:
        # A weak prior keeps the factor finite where all or none are true.
        return float(np.sum(np.logaddexp(0, odds + shift) - true * (odds + shift)) + shift**2 / 2)

    return float(minimize_scalar(misfit, bounds=(-5, 5), method="bounded").x)


def _raised(shares: Array, shift: float, draws: int) -> Array:
    """Shares of draws with their odds raised; what never or always happens stays so."""
    import numpy as np

    raised = 1 / (1 + np.exp(-(_odds(shares, draws) + shift)))
    return np.where((shares == 0) | (shares == 1), shares, raised)


def _odds(shares: Array, draws: int) -> Array:
    """Logarithms of odds, of shares of so many draws."""
    import numpy as np

    inside = shares.clip(0.5 / draws, 1 - 0.5 / draws)
    return np.asarray(np.log(inside / (1 - inside)))


def _unit(means: Array) -> Array:
    """The difference of each objective that is a tie; infinite where it does not vary at all."""
    import numpy as np

    span, size = np.ptp(means, axis=0), np.abs(means).max(axis=0)
    return np.where(span > 1e-9 * size, ALIKE * span, np.inf)


def _solved(covariance: Array, off: Array, noise: Array) -> Array:
    """What was seen under noise, times the inverse of its covariance."""
    import numpy as np
    from scipy.linalg import cho_factor, cho_solve

    return np.asarray(cho_solve(cho_factor(covariance + noise, lower=True), off))


def _condition(covariance: Array, off: Array, noise: Array) -> tuple[Array, Array]:
    """Mean and covariance of a Gaussian process at its points, once they were seen under noise."""
    import numpy as np
    from scipy.linalg import cho_factor, cho_solve

    factor = cho_factor(covariance + noise, lower=True)
    solved = cho_solve(factor, np.column_stack([off, covariance]))
    return covariance @ solved[:, 0], covariance - covariance @ solved[:, 1:]


def _sample(covariance: Array, least: float, count: int, rng: np.random.Generator) -> Array:
    """Draws x points with that covariance and, as it may be singular, a least variance of each."""
    import numpy as np

    root = np.linalg.cholesky((covariance + covariance.T) / 2 + least * np.eye(len(covariance)))
    return np.asarray(rng.normal(size=(count, len(root))) @ root.T)


def _spread(rest: Array, means: Array, counts: Array, seen: Array) -> tuple[Array, Array]:
    """Covariance of points' own luck, and by what factor each point has more or less of it."""
    import numpy as np

    columns = rest.shape[1]
    repeated = counts > 1
    free = max(float((counts[repeated] - 1).sum()) - (seen[repeated].any(axis=0).sum() - 1), 1.0)
    part = rest[repeated]
    noise = np.einsum("ihb,igb->hg", part, part) / free
    # What never varies has no luck; a little keeps the arithmetic going.
    least = np.maximum(1e-10 * means.var(axis=0), np.square(1e-9 * means).max(axis=0))
    noise += np.diag(np.maximum(least, 1e-30))
    own = np.einsum("ihb,hg,igb->i", rest, np.linalg.inv(noise), rest) / columns
    factors = (PRIOR + own) / (PRIOR + counts - 1)
    return noise, factors


def _two_way(runs: Array, seen: Array) -> Array:
    """Least squares of what each stream adds, streams x objectives, where points and streams add up."""
    import numpy as np

    present = seen.astype(float)
    counts = present.sum(axis=1)
    normal = np.diag(present.sum(axis=0)) - (present / counts[:, None]).T @ present
    means = runs.sum(axis=2) / counts[:, None]
    right = np.where(seen[:, None, :], runs - means[:, :, None], 0.0).sum(axis=0).T
    return np.asarray(np.linalg.pinv(normal) @ right)


def _point_means(runs: Array, seen: Array, streams: Array) -> Array:
    import numpy as np

    total = np.where(seen[:, None, :], runs - streams.T, 0.0).sum(axis=2)
    return np.asarray(total / seen.sum(axis=1)[:, None])


def _rest(runs: Array, seen: Array, streams: Array, means: Array) -> Array:
    import numpy as np

    return np.where(seen[:, None, :], runs - streams.T - means[:, :, None], 0.0)
