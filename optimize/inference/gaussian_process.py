"""The posterior of a search's configurations: a Gaussian process over all their runs.

Run b of configuration i gives y_ib = theta_i + beta_b + epsilon_ib in each objective, apart (`noise`).
theta_i is the configuration's mean; a priori it is a Gaussian process over the parameters
(`surrogate_model`). beta_b is the effect of the replication, whose random numbers all configurations share.
Validation runs count as those of the search do: what made a configuration be looked at again is in the data.

Sources: B. Ankenman, B. Nelson and J. Staum, Stochastic Kriging for Simulation Metamodeling, Operations
Research 58(2), 2010; X. Chen, B. Ankenman and B. Nelson, The Effects of Common Random Numbers on Stochastic
Kriging Metamodels, ACM TOMACS 22(2), 2012; D. Rubin, Inference and Missing Data, Biometrika 63, 1976.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize_scalar

from gridtune.optimize.inference.noise import least_squares, noise_of
from gridtune.optimize.inference.surrogate_model import Distances, Fitted, conditioned, one_sign, sampled
from gridtune.optimize.records.difference import ROUNDING, Difference
from gridtune.optimize.records.evaluations import Archive, Evaluation, Objective, Value
from gridtune.optimize.replication.compare import (
    Array,
    adjusted_means,
    by_objective,
    explained,
    non_dominated,
    signs,
    stacked,
)
from gridtune.threads import one_thread

FEWEST = 3  # configurations: beside the baseline, one says nothing of how much means vary
FEWEST_EFFECTS = 4  # replications: Student's t of fewer makes intervals of any width
FEWEST_REPEATED = 8  # configurations, as in a round of validation: fewer do not say if noise grows with means
DRAWS = 1000
REPLAYS, REPLAYED = 5, 200  # studies that are simulated, and draws of each
JOINT = 400  # configurations that are modelled, at most: the best ones, layer by layer
ALIKE = 1e-5  # of the range of an objective: draws that differ by less are a tie
VAGUE = 1e4  # prior variance of the baseline, in that of the noise and the squared range
LEAST_VARIANCE = 1e-9  # of that of the means: keeps the matrices regular

Parts = tuple[Array, Array, Array, float, float, float]  # what a `Posterior` has of one objective


@dataclass(frozen=True, repr=False)
class Posterior:
    """Posterior of the configurations of a search, by their `numbers`.

    Attributes:
        means: to be minimised, configurations x objectives, on a level common to all.
        draws: joint samples of the same, draws x configurations x objectives.
        replays: what `draws` would be if `means` were exact and the same runs were repeated, a few times:
            studies x draws x configurations x objectives.
        unit: difference of each objective that is a tie.
        freedom: degrees of freedom by which the size of the noise is known, by objective.
        factor: by how much the logarithm of a factor common to all means is uncertain, by objective: half of
            its 95 % interval.
        rivals: numbers of those that may be on the front.
    """

    means: Array
    draws: Array
    replays: Array
    unit: Array
    freedom: Array
    factor: Array
    numbers: Sequence[int] = ()
    rivals: Collection[int] = ()
    objectives: Sequence[Objective] = ()

    def __contains__(self, number: int) -> bool:
        return number in self.numbers

    @cached_property
    def chances(self) -> dict[int, float]:
        """See `non_dominated`, by number."""
        rivals = np.flatnonzero(np.isin(self.numbers, list(self.rivals)))
        return dict(zip(self.numbers, self.non_dominated(rivals).tolist(), strict=True))

    def non_dominated(self, rivals: Array | None = None) -> Array:
        """Probability in [0, 1] that no other configuration dominates each.

        The share of draws alone is too low: a draw dominates more configurations than the truth does. The
        replays, where the truth is known, show by how much; all odds are raised by the same factor.

        Args:
            rivals: positions of the configurations that are compared, all if left out; others have no chance.

        Source: J. Platt, Probabilistic Outputs for Support Vector Machines, 1999 (calibration by a logistic
            curve; here its intercept alone, learned from a parametric bootstrap).
        """
        which = np.arange(len(self.means)) if rivals is None else rivals
        said = np.concatenate([self.won(draws[:, which]).mean(axis=0) for draws in self.replays])
        true = np.tile(self.won(self.means[None, which])[0], len(self.replays))
        shift = _missing_odds(said, true, len(self.replays[0]))
        found = np.zeros(len(self.means))
        found[which] = _raised(self.won(self.draws[:, which]).mean(axis=0), shift, len(self.draws))
        return found

    def won(self, draws: Array) -> Array:
        """Whether no other configuration dominates each, in each draw."""
        import moocore

        rounded = np.round(draws / self.unit)
        return np.stack([moocore.is_nondominated(values, keep_weakly=True) for values in rounded])

    def difference(
        self, to: int, start: int, objective: Objective, pairs: int = 0, mean: float | None = None
    ) -> Difference:
        """What changes from one configuration to another in an objective, in its unit.

        Args:
            pairs: replications that both have.
            mean: of the change, where means are shown on another level than that of `means`.
        """
        column, a, b = self.objectives.index(objective), *map(self.numbers.index, (to, start))
        if mean is None:
            mean = float(signs([objective])[0] * (self.means[a, column] - self.means[b, column]))
        gaps = self.draws[:, a, column] - self.draws[:, b, column]
        error, freedom = float(np.std(gaps)), float(self.freedom[column])
        if np.ptp(gaps) == 0 or np.isinf(self.unit[column]):  # it is known
            least = max(objective.resolution, ROUNDING * float(np.abs(self.means[:, column]).max()))
            mean, error = 0.0 if abs(mean) < least else mean, 0.0
        return Difference.of(mean, error, freedom, pairs)

    def factor_of(self, objective: Objective) -> float:
        """The `factor` of an objective; the intervals of `difference` leave it out."""
        return float(self.factor[self.objectives.index(objective)])


@one_thread()
def posterior_of(
    archive: Archive, evaluations: Sequence[Evaluation], rivals: Collection[int]
) -> Posterior | None:
    """What all runs of a search say of its configurations; of very many the hopeless are left out.

    None where that cannot be told: it takes `FEWEST` configurations, and one that was run twice.

    Args:
        archive: of the search; the mean of its baseline is inferred from that one's runs alone.
        evaluations: all that there are, each configuration once.
        rivals: numbers of those that may be on the front.
    """
    if len(evaluations) < FEWEST:
        return None
    runs = runs_of(evaluations, archive.objectives)
    chosen = best_layers(runs, [at for at, one in enumerate(evaluations) if one.validated or one.confirmed])
    numbers = [evaluations[at].number for at in chosen]
    apart = numbers.index(archive.baseline) if archive.baseline in numbers else None
    configurations = [evaluations[at].values for at in chosen]
    logarithmic, seed = archive.logarithmic, archive.seed
    found = fit(runs[chosen], configurations, logarithmic=logarithmic, seed=seed, apart=apart)
    return found and replace(found, numbers=numbers, rivals=rivals, objectives=archive.objectives)


def runs_of(evaluations: Sequence[Evaluation], objectives: Sequence[Objective]) -> Array:
    """Values of each run, as `stacked` gives them; those of the search come first."""
    each = ((one.objectives, one.validated or {}, one.confirmed or {}) for one in evaluations)
    return np.concatenate([stacked(part, objectives) for part in zip(*each, strict=True)], axis=2)


def best_layers(runs: Array, always: Sequence[int] = ()) -> list[int]:
    """Positions of the configurations that may be on the front, at most `JOINT`, and some that always are."""
    means = adjusted_means(runs)
    chosen = set(always)
    while len(chosen) < JOINT and (left := [at for at in range(len(means)) if at not in chosen]):
        layer = [left[at] for at in non_dominated(means[left])]
        chosen.update(layer[: JOINT - len(chosen)])
    return sorted(chosen)


def fit(
    values: Array,
    configurations: Sequence[Mapping[str, Value]],
    *,
    logarithmic: Collection[str] = (),
    draws: int = DRAWS,
    seed: int = 1,
    apart: int | None = None,
) -> Posterior | None:
    """The Gaussian processes of all runs of a search; None where no configuration was run twice.

    Args:
        values: of each run, as `runs_of` gives them.
        configurations: their settings, all different.
        logarithmic: paths of parameters whose logarithms count.
        draws, seed: of the samples.
        apart: position of a configuration whose mean is inferred from its own runs alone.
    """
    seen, columns = by_objective(values)
    counts = seen.sum(axis=1)
    if not len(values) or counts.max() < 2 or counts.min() < 1:
        return None
    places = Distances.of(configurations, logarithmic)
    rng = np.random.default_rng([seed, *values.shape[:2]])
    model = partial(_objective, seen=seen, places=places, apart=apart, draws=draws, seed=seed, rng=rng)
    made = [_on_its_scale(column, seen, model) for column in columns]
    means, found, replays, *sizes = (np.stack(parts, axis=-1) for parts in zip(*made, strict=True))
    return Posterior(means, found, replays, unit=sizes[0], freedom=sizes[1], factor=sizes[2])


def _on_its_scale(runs: Array, seen: Array, model: Callable[[Array], Parts]) -> Parts:
    """What a model says of an objective; it takes logarithms where effects and noise are in proportion."""
    sign = _in_proportion(runs, seen)
    if not sign:
        return model(runs)
    logs = sign * np.log(np.where(seen, sign * runs, 1.0))
    means, found, replays, _, freedom, _ = model(logs)
    # E(exp) is more than exp(E): by how much, the runs say, each replication alike.
    over = np.where(seen, np.exp(sign * (logs - means[:, None])), 0.0)
    ran = seen.any(axis=0)
    factor = float((over.sum(axis=0)[ran] / seen.sum(axis=0)[ran]).mean())
    means, found, replays = (sign * factor * np.exp(sign * one) for one in (means, found, replays))
    return means, found, replays, _unit(means), freedom, _uncertain(explained(logs, seen)[0][ran])


def _uncertain(effects: Array) -> float:
    """Half of the 95 % interval of the mean of replication effects on logarithms; 0 of too few to tell.

    It cancels in differences of logarithms. In differences, it is the logarithm of a factor.
    """
    count = len(effects)
    if count < FEWEST_EFFECTS:
        return 0.0
    error = float(effects.std(ddof=1) / count**0.5)
    return Difference.of(0.0, error, count - 1, count).high or 0.0


def _in_proportion(runs: Array, seen: Array) -> int:
    """Whether effects and noise are in proportion to the means: 1, or -1 if all values are negative; else 0.

    Source: Box and Cox, as in `surrogate_model`; N. Duan, Smearing Estimate, JASA 78, 1983 (means).
    """
    sign, repeated = one_sign(runs[seen]), seen.sum(axis=1) > 1
    if not sign or repeated.sum() < FEWEST_REPEATED:
        return 0
    again = seen & repeated[:, None]
    logs = np.log(np.where(seen, sign * runs, 1.0))
    squares = [float((explained(one, seen)[2][again] ** 2).sum()) for one in (runs, logs)]
    if min(squares) <= 0:
        return 0
    gain = 0.5 * again.sum() * np.log(squares[0] / squares[1]) - logs[again].sum()
    return sign if gain > 0 else 0


def _objective(
    runs: Array, seen: Array, places: Distances, apart: int | None, draws: int, seed: int, rng: Generator
) -> Parts:
    """Of an objective whose effects and noise are equally large for all configurations."""
    _, plain, rest = explained(runs, seen)
    alike = [at for at in range(len(plain)) if at != apart]
    similar = Fitted.of(places.among(alike), plain[alike], seed).correlation(places)
    unit, (noise, freedom) = _unit(plain), noise_of(rest, plain, seen, similar)
    size = float(np.sqrt(noise[0, 0]))  # what follows is in sizes of the noise
    observed, around = least_squares(runs / size, seen, noise / size**2)
    prior = Fitted.of(places.among(alike), observed[alike], seed, around[np.ix_(alike, alike)])
    cover, nugget = prior.covariance(places)
    cover += nugget * np.eye(len(cover))
    if apart is not None:
        cover[apart, apart] += VAGUE * (1.0 + float(np.ptp(observed)) ** 2)
    gain, left = conditioned(cover + around, cover, cover)
    means = prior.mean + gain @ (observed - prior.mean)
    if size <= unit:  # noise that is less than a tie is none, as far as repeated configurations reach
        unseen = _beyond(plain, seen) / (2 * size)  # whose 95 % reach so far
        off = rng.normal(size=(draws, len(means))) * unseen
        again = means + rng.normal(size=(REPLAYS, len(means))) * unseen
    else:
        least = LEAST_VARIANCE * float(np.diag(cover)[alike].mean())
        wider = too_sure(cover + around, observed - prior.mean, alike)
        off = wider * sampled(left, least, draws, rng)
        anew = means + sampled(around, least, REPLAYS, rng)
        again = prior.mean + (anew - prior.mean) @ gain.T
    replays = again[:, None] + off[:REPLAYED]
    return means * size, (means + off) * size, replays * size, unit, freedom, 0.0


def too_sure(covariance: Array, values: Array, which: Sequence[int]) -> float:
    """How many times too small the errors are that a Gaussian process expects; 1 if it is not too sure.

    Each of the values at `which` is predicted by all others: how far off that is, in expected errors (root
    of the mean square). It is too sure where means jump, such as beyond a threshold.

    Source: C. Rasmussen and C. Williams, Gaussian Processes for Machine Learning, 2006, equation 5.12.
    """
    precision = np.linalg.inv(covariance)
    apart = (precision @ values / np.sqrt(np.diag(precision)))[list(which)]
    return max(1.0, float(np.sqrt((apart**2).mean())))


def _beyond(means: Array, seen: Array) -> Array:
    """How far means of configurations that were run once are from the range of those that were run again."""
    repeated = seen.sum(axis=1) > 1
    low, high = means[repeated].min(), means[repeated].max()
    return np.where(repeated, 0.0, np.abs(means - means.clip(low, high)))


def _unit(means: Array) -> float:
    """The difference that is a tie; infinite where the means do not vary at all."""
    varies = float(np.ptp(means))
    return ALIKE * varies if varies > 1e-9 * np.abs(means).max() else np.inf


def _missing_odds(said: Array, true: Array, draws: int) -> float:
    """Logarithm of the factor from stated odds to true ones, by maximum likelihood."""
    log_odds = _log_odds(said, draws)

    def misfit(shift: float) -> float:  # a weak prior makes the factor finite where all or none are true
        return float(np.sum(np.logaddexp(0, log_odds + shift) - true * (log_odds + shift)) + shift**2 / 2)

    return float(minimize_scalar(misfit, bounds=(-5, 5), method="bounded").x)


def _raised(shares: Array, shift: float, draws: int) -> Array:
    """Shares of draws with their odds raised; 0 and 1 remain."""
    raised = 1 / (1 + np.exp(-(_log_odds(shares, draws) + shift)))
    return np.where((shares == 0) | (shares == 1), shares, raised)


def _log_odds(shares: Array, draws: int) -> Array:
    inside = shares.clip(0.5 / draws, 1 - 0.5 / draws)
    return np.asarray(np.log(inside / (1 - inside)))
