"""The surrogate model: a Gaussian process over mixed spaces.

The covariance of two configurations is a sum: of a term for each parameter alone, of a term for all of them
together, and of a nugget of its own for each configuration. So a parameter may matter by itself, in
interaction with others, or not at all; maximum likelihood under weak priors finds how much. A parameter that
does not exist in a configuration stands in the middle of its range: the choice that switches it off already
distinguishes them. Each quantity has a surrogate, of its values or, where likelier, of their logarithms.

The logarithms of the sizes are one array: the term of all together, that of each parameter alone, how fast
the former decays with each parameter, and the nugget. They are rounded: the optimiser magnifies the last
digits of arithmetic, in which kinds of processors differ, until proposals differ, too.

Sources: C. Rasmussen and C. Williams, Gaussian Processes for Machine Learning, 2006, chapters 2 and 5; D.
Duvenaud, H. Nickisch and C. Rasmussen, Additive Gaussian Processes, NIPS 2011; G. Box and D. Cox, An
Analysis of Transformations, JRSS B 26(2), 1964 (of their powers 0 and 1).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from gridtune.optimize.records.evaluations import Value
from gridtune.optimize.replication.compare import Array

REACH = 0.4  # of a parameter's range, over which its own part changes
LEARNED = 200  # configurations from which the sizes are learned, at most
STEPS = 40  # of the optimiser
COARSE = 0.125  # to multiples of which from the start logarithms of sizes are rounded
STIFFNESS = 0.125  # of the priors on logarithms of sizes: 1 over their variance


@dataclass(frozen=True)
class Distances:
    """Distances of configurations in each parameter, parameters x configurations x configurations."""

    squares: Array
    shapes: Array  # correlations that fall off with the squares, of a parameter's own part

    @classmethod
    def of(
        cls,
        configurations: Sequence[Mapping[str, Value]],
        logarithmic: Collection[str],
        paths: Collection[str] = (),
    ) -> Distances:
        """In all parameters that configurations have, and in those of `paths`, be there one or not.

        Args:
            logarithmic: paths of parameters whose logarithms count.
        """
        return distances(coordinates_of(configurations, logarithmic, paths))

    def among(self, which: Sequence[int]) -> Distances:
        """Distances of some of the configurations, by their positions."""
        some = np.ix_(range(len(self.squares)), which, which)
        return Distances(self.squares[some], self.shapes[some])


def distances(coordinates: Sequence[Array]) -> Distances:
    """How far configurations are from each other, by their `coordinates_of`."""
    count = len(coordinates[0])
    squares, products = np.empty((len(coordinates), count, count)), np.empty((count, count))
    for column, square in zip(coordinates, squares, strict=True):  # without further copies: there are many
        lengths = (column**2).sum(axis=1)
        np.add(lengths[:, None], lengths, out=square)
        square -= np.matmul(2 * column, column.T, out=products)
        np.maximum(square, 0.0, out=square)
    shapes = -0.5 / REACH**2 * squares
    return Distances(squares, np.exp(shapes, out=shapes))


@dataclass(frozen=True)
class Fitted:
    """A surrogate of one quantity."""

    mean: float  # far from all configurations
    sizes: Array  # logarithms of the sizes of the terms
    misfit: float = np.nan  # negative logarithm of likelihood and prior; nan where not fitted
    sign: int = 0  # of the quantity, if the surrogate is one of its logarithms

    @classmethod
    def of(cls, apart: Distances, values: Array, seed: int, noise: Array | None = None) -> Fitted:
        """By maximum likelihood from a value of each configuration.

        Args:
            seed: of the choice of configurations to learn from where there are many.
            noise: covariance of the values around the configurations' means. Where it is left out, all have
                equal noise, whose size is the nugget's.
        """
        count, variance = len(values), float(values.var())
        if noise is None:
            noise = 1e-9 * (variance or 1.0) * np.eye(count)
        chosen = _learned(count, seed)
        own = np.diag(noise)
        mean = float(np.average(values, weights=1 / (own + variance)))
        least = 1e-12 * (float(np.abs(values).max()) ** 2 or 1.0)
        start = _start(len(apart.squares), max(variance - float(own.mean()), 0.05 * variance, least))
        near = apart.among(chosen.tolist())
        given = (near.squares, near.shapes, values[chosen] - mean, noise[np.ix_(chosen, chosen)], start)
        bounds = [(low - 9, low + 5) for low in start]
        found = minimize(
            _misfit, start, given, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": STEPS}
        )
        sizes = start + COARSE * np.round((found.x - start) / COARSE)
        return cls(mean, sizes, float(found.fun))

    def scaled(self, values: Array) -> Array:
        """Values of the quantity on the scale of the surrogate, of the same order."""
        return self.sign * np.log(self.sign * values) if self.sign else values

    def holds(self, values: Array) -> bool:
        """Whether values of the quantity can stand on the scale of the surrogate."""
        return self.sign in (0, one_sign(values))

    def covariance(self, apart: Distances) -> tuple[Array, float]:
        """Covariance of all pairs of configurations without the nugget, and the nugget."""
        together, alone, rates, nugget = _sizes(self.sizes, len(apart.squares))
        return _joint(together, rates, apart.squares) + np.tensordot(alone, apart.shapes, 1), nugget

    def correlation(self, apart: Distances) -> Array:
        """Correlation of all pairs of configurations, without the nugget."""
        cover, _ = self.covariance(apart)
        sizes = np.sqrt(np.diag(cover))
        return np.asarray(cover / np.outer(sizes, sizes))

    def draws(
        self, apart: Distances, values: Array, which: Sequence[int], count: int, rng: Generator
    ) -> Array:
        """Samples of the means of the configurations at `which`, draws x configurations; the nugget is noise.

        Args:
            apart: of all configurations; those that gave `values` come first.
            values: on the scale of the surrogate, as the samples are.
        """
        cover, noise = self.covariance(apart)
        seen, own = len(values), cover[np.ix_(which, which)]
        gain, left = conditioned(cover[:seen, :seen] + noise * np.eye(seen), cover[:seen][:, which], own)
        means = self.mean + gain @ (values - self.mean)
        return means + sampled(left, 1e-8 * float(np.trace(cover)) / len(cover), count, rng)


def surrogates(apart: Distances, values: Array, seed: int) -> list[Fitted]:
    """A surrogate of each quantity, or its logarithms, from values, configurations x quantities."""
    made = []
    for column in values.T:
        found, sign = Fitted.of(apart, column, seed), one_sign(column)
        if sign:
            sizes = np.log(sign * column)
            logs = replace(Fitted.of(apart, sign * sizes, seed), sign=sign)
            learned = sizes[_learned(len(sizes), seed)]
            found = logs if logs.misfit + learned.sum() < found.misfit else found
        made.append(found)
    return made


def _learned(count: int, seed: int) -> Array:
    """Positions of the configurations, of so many, from which sizes are learned."""
    if count <= LEARNED:
        return np.arange(count)
    return np.sort(np.random.default_rng([seed, count]).choice(count, LEARNED, replace=False))


def one_sign(values: Array) -> int:
    """1 if all values are positive, -1 if all are negative, else 0."""
    return 1 if (values > 0).all() else -1 if (values < 0).all() else 0


def joint_draws(
    each: Sequence[Fitted], apart: Distances, values: Array, which: Sequence[int], count: int, rng: Generator
) -> Array:
    """`Fitted.draws` of several quantities, draws x configurations x quantities, from unscaled values."""
    columns = [one.scaled(column) for one, column in zip(each, values.T, strict=True)]
    made = [one.draws(apart, column, which, count, rng) for one, column in zip(each, columns, strict=True)]
    return np.stack(made, axis=2)


def conditioned(seen: Array, cross: Array, own: Array) -> tuple[Array, Array]:
    """The weights of observations in means that are normal with them, and what covariance they leave.

    Args:
        seen, cross, own: covariance of the observations, noise included; with the means; of the means.
    """
    gain = cho_solve(cho_factor(seen, lower=True), cross).T
    return gain, own - gain @ cross


def sampled(covariance: Array, least: float, count: int, rng: Generator) -> Array:
    """Normal samples with that covariance and, as it may be singular, a least variance; samples first."""
    whole = (covariance + covariance.T) / 2 + least * np.eye(len(covariance))
    try:
        root = np.linalg.cholesky(whole)
    except np.linalg.LinAlgError:  # by rounding
        sizes, axes = np.linalg.eigh(whole)
        root = axes * np.sqrt(sizes.clip(0.0))
    return np.asarray(rng.normal(size=(count, len(root))) @ root.T)


def coordinates_of(
    configurations: Sequence[Mapping[str, Value]],
    logarithmic: Collection[str] = (),
    paths: Collection[str] = (),
) -> list[Array]:
    """Settings as places: for each parameter a column in [0, 1], or one per choice if some are no numbers.

    Parameters of `paths` count even where no configuration has them.
    """
    made = []
    for path in sorted({*paths, *(path for configuration in configurations for path in configuration)}):
        known = [one.get(path) for one in configurations]
        if all(one is None or (isinstance(one, int | float) and not isinstance(one, bool)) for one in known):
            numbers = np.array([np.nan if one is None else float(one) for one in known])
            finite = numbers[np.isfinite(numbers)]
            low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
            numbers = numbers.clip(low, high)  # no limit at all is as the largest one
            if path in logarithmic and high > 0:  # what is 0 stands beside the least that is more
                low = numbers[numbers > 0].min()
                numbers, low, high = np.log(numbers.clip(low)), np.log(low), np.log(high)
            places = (numbers - low) / (high - low) if high > low else numbers * 0
            made.append(np.where(np.isnan(places), 0.5, places)[:, None])
        else:
            # Two different choices are as far from each other as the ends of a range.
            choices = sorted({str(one) for one in known})
            made.append(np.array([[(str(one) == choice) / 2**0.5 for choice in choices] for one in known]))
    return made or [np.zeros((len(configurations), 1))]


def _start(parameters: int, spread: float) -> Array:
    """Logarithms of the sizes from which the optimiser starts, and on which the prior stands."""
    alone = [spread / (2 * parameters)] * parameters
    return np.log([spread / 2, *alone, *[1.0] * parameters, spread / 1000])


def _sizes(logarithms: Array, parameters: int) -> tuple[float, Array, Array, float]:
    sizes = np.exp(logarithms)
    return float(sizes[0]), sizes[1 : 1 + parameters], sizes[1 + parameters : -1], float(sizes[-1])


def _joint(together: float, rates: Array, squares: Array) -> Array:
    """Covariance of the part of all parameters together."""
    return np.asarray(together * np.exp(-0.5 * np.tensordot(rates, squares, 1)))


def _misfit(
    logarithms: Array, squares: Array, shapes: Array, values: Array, noise: Array, expected: Array
) -> tuple[float, Array]:
    """Negative logarithm of likelihood and prior, and its gradient by the logarithms of the sizes."""
    together, alone, rates, nugget = _sizes(logarithms, len(squares))
    joint = _joint(together, rates, squares)
    own = nugget + 1e-9 * float(np.trace(noise)) / len(noise)
    full = joint + np.tensordot(alone, shapes, 1) + noise + own * np.eye(len(noise))
    factor = cho_factor(full, lower=True)
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
