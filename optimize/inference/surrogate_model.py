"""The surrogate model: a Gaussian process over mixed spaces.

The covariance of two configurations is a sum: of a term for each parameter alone, of a term for all of them
together, and of a nugget of its own for each configuration. So a parameter may matter by itself, in
interaction with others, or not at all; maximum likelihood under weak priors finds how much. A parameter that
does not exist in a configuration stands in the middle of its range: the choice that switches it off already
distinguishes the configurations. Each of several quantities has a surrogate of its own.

The logarithms of the sizes are one array: the term of all together, that of each parameter alone, how fast
the former decays with each parameter, and the nugget.

Sources: C. Rasmussen and C. Williams, Gaussian Processes for Machine Learning, 2006, chapters 2 and 5; D.
Duvenaud, H. Nickisch and C. Rasmussen, Additive Gaussian Processes, NIPS 2011.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag, cho_factor, cho_solve, solve_triangular
from scipy.optimize import minimize

from gridtune.optimize.records.evaluations import Value
from gridtune.optimize.replication.compare import Array

WIDE = 20.0  # ratio of the largest to the least value above which a parameter is taken by its logarithm
REACH = 0.4  # of a parameter's range, over which its own part changes
LEARNED = 200  # configurations from which the sizes are learned, at most
STEPS = 40  # of the optimiser
BACK = (1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.0)  # shares of a step that are tried, one after the other
STIFFNESS = 0.125  # of the priors on logarithms of sizes: 1 over their variance


@dataclass(frozen=True)
class Surrogate:
    """Prior means and covariances of several quantities, learned from observed configurations.

    Attributes:
        means: of each quantity, far from all configurations.
        covariance: of all pairs of configurations and quantities, (quantities x configurations) squared: all
            configurations of the first quantity come first.
    """

    means: Array
    covariance: Array


@dataclass(frozen=True)
class Distances:
    """Distances of configurations in each parameter, parameters x configurations x configurations.

    Attributes:
        squares: of distances.
        shapes: correlations that fall off with them, of a parameter's own part.
    """

    squares: Array
    shapes: Array


def distances(coordinates: Sequence[Array]) -> Distances:
    """How far configurations are from each other, by their `coordinates_of`."""
    squares = np.stack([_squares(column) for column in coordinates])
    return Distances(squares, np.exp(-0.5 / REACH**2 * squares))


def surrogates(apart: Distances, values: Array, noise: Array, count: int, seed: int = 1) -> list[Surrogate]:
    """Surrogates of several quantities, each learned apart: the likeliest, and others drawn beside it.

    Args:
        apart: how far the configurations are from each other.
        values: configurations x quantities.
        noise: covariance of the values around the configurations' own means, (quantities x configurations)
            squared.
        count: how many surrogates; with few configurations the sizes of the terms are uncertain.
        seed: of the choice of configurations to learn from where there are many, and of the other sizes.
    """
    configurations, quantities = values.shape
    blocks = noise.reshape(quantities, configurations, quantities, configurations)
    learned = [_learned(apart, values[:, k], blocks[k, :, k], seed, count) for k in range(quantities)]
    means = np.array([mean for mean, _ in learned])
    return [
        Surrogate(means, block_diag(*(_covariance(apart, sizes[at]) for _, sizes in learned)))
        for at in range(count)
    ]


def _covariance(apart: Distances, logarithms: Array) -> Array:
    """Covariance of the means of a quantity, the nugget included."""
    together, alone, rates, nugget = _sizes(logarithms, len(apart.squares))
    joint = _joint(together, rates, apart.squares) + nugget * np.eye(apart.squares.shape[1])
    return np.asarray(joint + np.tensordot(alone, apart.shapes, 1))


@dataclass(frozen=True)
class Fitted:
    """A surrogate of one quantity under equal and unknown noise.

    Attributes:
        mean: far from all configurations.
        sizes: logarithms of the sizes of the terms. The nugget is the noise.
    """

    mean: float
    sizes: Array

    def draws(
        self, apart: Distances, values: Array, which: Sequence[int], count: int, rng: np.random.Generator
    ) -> Array:
        """Samples of means, draws x configurations.

        Args:
            apart: how far configurations are from each other; those that were seen come first.
            values: that these gave.
            which: positions of the configurations that are asked for.
            count: samples to take.
            rng: draws them.
        """
        together, alone, rates, noise = _sizes(self.sizes, len(apart.squares))
        cover = _joint(together, rates, apart.squares) + np.tensordot(alone, apart.shapes, 1)
        seen = len(values)
        factor = cho_factor(cover[:seen, :seen] + noise * np.eye(seen), lower=True)
        cross = cover[:seen][:, which]
        means = self.mean + cross.T @ cho_solve(factor, values - self.mean)
        left = cover[np.ix_(which, which)] - cross.T @ cho_solve(factor, cross)
        size = float(np.trace(cover)) / len(cover)
        root = np.linalg.cholesky((left + left.T) / 2 + 1e-8 * size * np.eye(len(left)))
        return np.asarray(means + rng.normal(size=(count, len(left))) @ root.T)


def fitted(apart: Distances, values: Array, seed: int) -> Fitted:
    """A surrogate of a quantity and its noise by maximum likelihood."""
    known = 1e-9 * (float(values.var()) or 1.0) * np.eye(len(values))
    mean, sizes = _learned(apart, values, known, seed)
    return Fitted(mean, sizes[0])


def _learned(
    apart: Distances, values: Array, noise: Array, seed: int, number: int = 1
) -> tuple[float, list[Array]]:
    """Mean of a quantity, the likeliest sizes of its terms, and others that are possible."""
    count = len(values)
    chosen = np.arange(count)
    if count > LEARNED:
        chosen = np.sort(np.random.default_rng([seed, count]).choice(count, LEARNED, replace=False))
    own = np.diag(noise)
    mean = float(np.average(values, weights=1 / (own + values.var())))
    spread = max(float(values.var() - own.mean()), 0.05 * float(values.var()), 1e-12)
    start = _start(len(apart.squares), spread)
    near = np.ix_(np.arange(len(apart.squares)), chosen, chosen)
    centred, seen = values[chosen] - mean, noise[np.ix_(chosen, chosen)]
    given = (apart.squares[near], apart.shapes[near], centred, seen, start)
    bounds = [(low - 9, low + 5) for low in start]
    found = minimize(
        _misfit, start, given, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": STEPS}
    )
    rng = np.random.default_rng([seed, count, number])
    others = _possible(found.x, given, number - 1, rng) if number > 1 else []
    return mean, [found.x, *others]


def _possible(
    likeliest: Array, given: tuple[Array, ...], number: int, rng: np.random.Generator
) -> list[Array]:
    """Sizes that are as possible as the data leave them, as logarithms.

    They are drawn from the normal law whose precision is the expected information, and drawn back towards the
    likeliest as far as they are less probable than that law says: a size of no matter may well be less, but
    not much more.

    Source: C. Rasmussen and C. Williams (2006), section 5.4.1, and A. O'Hagan, Bayesian Inference, 1994
        (Laplace's approximation).
    """
    root = np.linalg.cholesky(_information(likeliest, *given))
    best, found = _misfit(likeliest, *given)[0], []
    for _ in range(number):
        drawn = rng.normal(size=len(likeliest))
        step = solve_triangular(root.T, drawn)
        for share in BACK:
            tried = likeliest + share * step
            if _misfit(tried, *given)[0] - best <= drawn @ drawn / 2:
                break
        found.append(tried)
    return found


def _information(
    logarithms: Array, squares: Array, shapes: Array, values: Array, noise: Array, expected: Array
) -> Array:
    """Expected curvature of `_misfit`, by the logarithms of the sizes."""
    together, alone, rates, nugget = _sizes(logarithms, len(squares))
    joint = _joint(together, rates, squares)
    factor = _factor(joint, alone, shapes, nugget, noise)
    by_rates = -0.5 * rates[:, None, None] * squares * joint
    moved = [joint, *(alone[:, None, None] * shapes), *by_rates, nugget * np.eye(len(noise))]
    solved = np.stack([cho_solve(factor, one) for one in moved])
    found = 0.5 * np.tensordot(solved, solved, ([1, 2], [2, 1]))
    return np.asarray(found + STIFFNESS * np.eye(len(found)))


def coordinates_of(configurations: Sequence[Mapping[str, Value]], paths: Collection[str] = ()) -> list[Array]:
    """Settings as places: for each parameter a column in [0, 1], or one per choice.

    Args:
        configurations: values by path.
        paths: of parameters that count even where no configuration has them.
    """
    made = []
    for path in sorted({*paths, *(path for configuration in configurations for path in configuration)}):
        known = [one.get(path) for one in configurations]
        if all(one is None or (isinstance(one, int | float) and not isinstance(one, bool)) for one in known):
            numbers = np.array([np.nan if one is None else float(one) for one in known])
            finite = numbers[np.isfinite(numbers)]
            low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
            numbers = numbers.clip(low, high)  # no limit at all is as the largest one
            if low > 0 and high > WIDE * low:
                numbers, low, high = np.log(numbers), np.log(low), np.log(high)
            places = (numbers - low) / (high - low) if high > low else numbers * 0
            made.append(np.where(np.isnan(places), 0.5, places)[:, None])
        else:
            # Two different choices are as far from each other as the ends of a range.
            choices = sorted({str(one) for one in known})
            made.append(np.array([[(str(one) == choice) / 2**0.5 for choice in choices] for one in known]))
    return made or [np.zeros((len(configurations), 1))]


def _squares(column: Array) -> Array:
    """Squared distances of all pairs."""
    lengths = (column**2).sum(axis=1)
    found = lengths[:, None] + lengths - 2 * column @ column.T
    return found.clip(0.0)  # type: ignore[no-any-return]


def _start(parameters: int, spread: float) -> Array:
    """Logarithms of the sizes from which the optimiser starts, and on which the prior stands."""
    alone = [spread / (2 * parameters)] * parameters
    return np.log([spread / 2, *alone, *[1.0] * parameters, spread / 1000])


def _sizes(logarithms: Array, parameters: int) -> tuple[float, Array, Array, float]:
    """The sizes in their order, from their logarithms."""
    sizes = np.exp(logarithms)
    return float(sizes[0]), sizes[1 : 1 + parameters], sizes[1 + parameters : -1], float(sizes[-1])


def _joint(together: float, rates: Array, squares: Array) -> Array:
    """Covariance of the part of all parameters together."""
    return np.asarray(together * np.exp(-0.5 * np.tensordot(rates, squares, 1)))


def _factor(joint: Array, alone: Array, shapes: Array, nugget: float, noise: Array) -> tuple[Array, bool]:
    """Cholesky factor of the covariance of what is seen of configurations, as `cho_solve` takes it."""
    own = nugget + 1e-9 * float(np.trace(noise)) / len(noise)
    full = joint + np.tensordot(alone, shapes, 1) + noise + own * np.eye(len(noise))
    return cho_factor(full, lower=True)


def _misfit(
    logarithms: Array, squares: Array, shapes: Array, values: Array, noise: Array, expected: Array
) -> tuple[float, Array]:
    """Negative logarithm of likelihood and prior, and its gradient by the logarithms of the sizes."""
    together, alone, rates, nugget = _sizes(logarithms, len(squares))
    joint = _joint(together, rates, squares)
    factor = _factor(joint, alone, shapes, nugget, noise)
    solved = cho_solve(factor, values)
    inverse = cho_solve(factor, np.eye(len(values)))
    away = logarithms - expected
    misfit = 0.5 * values @ solved + np.log(np.diag(factor[0])).sum() + STIFFNESS / 2 * away @ away
    weight = 0.5 * (inverse - np.outer(solved, solved))
    slope = np.r_[
        (weight * joint).sum(),
        alone * np.tensordot(shapes, weight, 2),
        -0.5 * rates * np.tensordot(squares, weight * joint, 2),
        nugget * np.trace(weight),
    ]
    return float(misfit), slope + STIFFNESS * away
