"""What is known of the points of a search, as samples; chances, losses and differences are read off them.

The samples are those of `model_of_runs`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Posterior:
    """What is known of the points of a search.

    Attributes:
        means: expected values to be minimised, points x objectives, on a level that all points share.
        draws: samples of the same, draws x points x objectives; what is uncertain about several points at
            once is uncertain in the same draws.
        unit: difference of each objective that is a tie.
        replays: what `draws` would be had the points been worth `means` exactly and the same runs been done
            anew, for several such studies: studies x draws x points x objectives.
        freedom: degrees of freedom by which the size of the noise is known.
    """

    means: Array
    draws: Array
    unit: Array
    replays: Array
    freedom: float
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

    def _shares(self, draws: Array) -> Array:
        """Shares of the draws in which no other point beats each."""
        import moocore
        import numpy as np

        levelled = np.round(draws / self.unit)
        won = sum(moocore.is_nondominated(values, keep_weakly=True).astype(float) for values in levelled)
        return np.asarray(won / len(draws))


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
