"""Samples of the posterior of a search's configurations, and the probability of being non-dominated.

`gaussian_process` draws the samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from gridtune.optimize.replication.compare import Array


@dataclass(frozen=True)
class Posterior:
    """Posterior of the configurations of a search.

    Attributes:
        means: posterior means to be minimised, configurations x objectives, on a level common to all.
        draws: joint samples of the same, draws x configurations x objectives.
        unit: difference of each objective that is a tie.
        replays: what `draws` would be if `means` were exact and the same runs were repeated, for several
            such studies: studies x draws x configurations x objectives.
        freedom: degrees of freedom by which the size of the noise is known.
    """

    means: Array
    draws: Array
    unit: Array
    replays: Array
    freedom: float

    def non_dominated(self, rivals: Array | None = None) -> Array:
        """Probability in [0, 1] that no other configuration dominates each.

        The share of draws alone is too low: uncertainty blurs the trade-off, so that a draw dominates more
        configurations than the truth does. The replays, where the truth is known, show by how much; all odds
        are raised by the same factor.

        Args:
            rivals: positions of the configurations that are compared; the chance of any other is 0. All if
                left out.

        Source: J. Platt, Probabilistic Outputs for Support Vector Machines, 1999 (calibration by a logistic
            curve; here its intercept alone, learned from a parametric bootstrap).
        """
        which = np.arange(len(self.means)) if rivals is None else rivals
        said = np.concatenate([self._shares(draws[:, which]) for draws in self.replays])
        true = np.tile(self._shares(self.means[None, which]), len(self.replays))
        shift = _missing_odds(said, true, len(self.replays[0]))
        found = np.zeros(len(self.means))
        found[which] = _raised(self._shares(self.draws[:, which]), shift, len(self.draws))
        return found

    def won(self, rivals: Array) -> Array:
        """Whether no other of some configurations (by position) dominates each: draws x rivals."""
        return self._won(self.draws[:, rivals])

    def _shares(self, draws: Array) -> Array:
        """Shares of the draws in which no other configuration dominates each."""
        return np.asarray(self._won(draws).mean(axis=0))

    def _won(self, draws: Array) -> Array:
        """Whether no other configuration dominates each, in each draw."""
        import moocore

        rounded = np.round(draws / self.unit)
        return np.stack([moocore.is_nondominated(values, keep_weakly=True) for values in rounded])


def _missing_odds(said: Array, true: Array, draws: int) -> float:
    """Logarithm of the factor from stated odds to true ones, by maximum likelihood."""
    log_odds = _log_odds(said, draws)

    def misfit(shift: float) -> float:
        # A weak prior makes the factor finite where all or none are true.
        return float(np.sum(np.logaddexp(0, log_odds + shift) - true * (log_odds + shift)) + shift**2 / 2)

    return float(minimize_scalar(misfit, bounds=(-5, 5), method="bounded").x)


def _raised(shares: Array, shift: float, draws: int) -> Array:
    """Shares of draws with their odds raised; 0 and 1 remain."""
    raised = 1 / (1 + np.exp(-(_log_odds(shares, draws) + shift)))
    return np.where((shares == 0) | (shares == 1), shares, raised)


def _log_odds(shares: Array, draws: int) -> Array:
    """Log-odds of shares of so many draws."""
    inside = shares.clip(0.5 / draws, 1 - 0.5 / draws)
    return np.asarray(np.log(inside / (1 - inside)))
