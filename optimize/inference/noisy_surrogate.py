"""Surrogate models of several quantities under equal and unknown noise, for samplers.

They are learned on the quantities' principal axes (`axes`), each apart (`surrogate_model.fitted`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gridtune.optimize.inference.axes import principal_axes
from gridtune.optimize.inference.surrogate_model import Distances, Fitted, fitted

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]


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
        """By maximum likelihood, noise included.

        Args:
            apart: distances of the configurations.
            values: observed, configurations x quantities.
            seed: of the choice of configurations to learn from where there are many.
        """
        axes = principal_axes(values)
        return cls(axes, [fitted(apart, column, seed) for column in (values @ axes.T).T])

    def draws(
        self, apart: Distances, values: Array, which: Sequence[int], count: int, rng: np.random.Generator
    ) -> Array:
        """Samples of means, draws x configurations x quantities; see `Fitted.draws`."""
        import numpy as np

        turned = (values @ self.axes.T).T
        found = [
            one.draws(apart, column, which, count, rng) for one, column in zip(self.each, turned, strict=True)
        ]
        return np.asarray(np.stack(found, axis=2) @ np.linalg.inv(self.axes).T)
