"""Principal axes of quantities: turned to them, what configurations give is uncorrelated.

Objectives trade off: what is better in one is worse in another. Learned apart, each would be as uncertain
across the trade-off as along it; so surrogates are learned of the axes, of which one may vary far less.

Sources: D. Higdon, J. Gattiker, B. Williams and M. Rightley, Computer Model Calibration Using
High-Dimensional Output, JASA 103(482), 2008 (a Gaussian process for each principal component); Y. W. Teh, M.
Seeger and M. Jordan, Semiparametric Latent Factor Models, AISTATS 2005.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]


def principal_axes(values: Array) -> Array:
    """The linear map to the principal axes of quantities that are scaled to a spread of 1.

    Args:
        values: configurations x quantities; what does not vary is an axis of its own.

    Returns:
        Axes x quantities, invertible: `values @ axes.T` is uncorrelated.
    """
    import numpy as np

    size = values.std(axis=0)
    varies = size > 1e-9 * np.abs(values).max(axis=0)
    size = np.where(varies, size, 1.0)
    scaled = np.where(varies, (values - values.mean(axis=0)) / size, 0.0)
    correlation = scaled.T @ scaled / len(values) + np.diag((~varies).astype(float))
    return np.asarray(np.linalg.eigh(correlation)[1].T / size)
