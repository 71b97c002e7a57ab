"""Surrogate models of several quantities under equal and unknown noise, for samplers.

Objectives trade off: what is better in one is worse in another. Learned apart, each would be as uncertain
across the trade-off as along it. So surrogates are learned of the quantities' principal axes, each apart.

Sources: D. Higdon, J. Gattiker, B. Williams and M. Rightley, Computer Model Calibration Using
High-Dimensional Output, JASA 103(482), 2008 (a Gaussian process for each principal component); Y. W. Teh, M.
Seeger and M. Jordan, Semiparametric Latent Factor Models, AISTATS 2005.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gridtune.optimize.inference.surrogate_model import Distances, Fitted, fitted
from gridtune.optimize.replication.compare import Array


@dataclass(frozen=True)
class NoisySurrogate:
    """Surrogates of several quantities.

    Attributes:
        axes: along which they were learned, axes x quantities.
        each: the surrogate of each axis.
    """

    axes: Array
    each: Sequence[Fitted]

    @classmethod
    def of(cls, apart: Distances, values: Array, seed: int) -> NoisySurrogate:
        """By maximum likelihood, noise included."""
        axes = principal_axes(values)
        return cls(axes, [fitted(apart, column, seed) for column in (values @ axes.T).T])

    def draws(
        self, apart: Distances, values: Array, which: Sequence[int], count: int, rng: np.random.Generator
    ) -> Array:
        """Samples of means, draws x configurations x quantities; see `Fitted.draws`."""
        turned = zip(self.each, (values @ self.axes.T).T, strict=True)
        found = [one.draws(apart, column, which, count, rng) for one, column in turned]
        return np.asarray(np.stack(found, axis=2) @ np.linalg.inv(self.axes).T)


def principal_axes(values: Array) -> Array:
    """The linear map to the principal axes of quantities that are scaled to a spread of 1.

    Args:
        values: configurations x quantities; what does not vary is an axis of its own.

    Returns:
        Axes x quantities, invertible: `values @ axes.T` is uncorrelated.
    """
    size = values.std(axis=0)
    varies = size > 1e-9 * np.abs(values).max(axis=0)
    size = np.where(varies, size, 1.0)
    scaled = np.where(varies, (values - values.mean(axis=0)) / size, 0.0)
    correlation = scaled.T @ scaled / len(values) + np.diag((~varies).astype(float))
    return np.asarray(np.linalg.eigh(correlation)[1].T / size)
