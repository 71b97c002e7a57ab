"""Samples of the posterior of a search's configurations, and the probability of being non-dominated.

`gaussian_process` draws the samples.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from gridtune.optimize.records.difference import Difference
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.replication.compare import Array, signs


@dataclass(frozen=True)
class Posterior:
    """Posterior of the configurations of a search.

    Attributes:
        means: posterior means to be minimised, configurations x objectives, on a level common to all.
        draws: joint samples of the same, draws x configurations x objectives.
        unit: difference of each objective that is a tie.
        replays: what `draws` would be if `means` were exact and the same runs were repeated, for several
            such studies: studies x draws x configurations x objectives.
        freedom: degrees of freedom by which the size of the noise is known, by objective.
    """

    means: Array
    draws: Array
    unit: Array
    replays: Array
    freedom: Array

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


class StudyPosterior:
    """What is known of configurations, with what is not.

    Args:
        posterior: of all configurations.
        numbers: of the evaluations that it is about, in its order.
        rivals: numbers of those that may be on the front.
        objectives: what is traded off.
    """

    def __init__(
        self,
        posterior: Posterior,
        numbers: Sequence[int],
        rivals: Collection[int],
        objectives: Sequence[Objective],
    ) -> None:
        self._posterior, self._objectives = posterior, tuple(objectives)
        self._at = {number: at for at, number in enumerate(numbers)}
        self._rivals = np.array([at for number, at in self._at.items() if number in rivals], dtype=int)
        chances = posterior.non_dominated(self._rivals)
        self.chances = {number: float(chances[at]) for number, at in self._at.items()}

    def __contains__(self, number: int) -> bool:
        return number in self._at

    def chance_of_any(self, numbers: Collection[int]) -> float:
        """Probability that at least one of these configurations is non-dominated: the share of draws."""
        some = [self._at[number] for number in numbers if number in self._at]
        won = self._posterior.won(self._posterior.draws[:, self._rivals])
        return float(won[:, np.isin(self._rivals, some)].any(axis=1).mean())

    def means(self, number: int) -> Array:
        """What is expected of a configuration, to be minimised, on a level that all configurations share."""
        return self._posterior.means[self._at[number]]  # type: ignore[no-any-return]

    def difference(self, to: int, start: int, objective: Objective, pairs: int = 0) -> Difference:
        """What changes from one configuration to another in an objective, in its unit."""
        posterior, column = self._posterior, self._objectives.index(objective)
        a, b = self._at[to], self._at[start]
        mean = float(signs([objective])[0] * (posterior.means[a, column] - posterior.means[b, column]))
        gaps = posterior.draws[:, a, column] - posterior.draws[:, b, column]
        known = np.ptp(gaps) == 0 or np.isinf(posterior.unit[column])
        return Difference.of(
            mean, 0.0 if known else float(np.std(gaps)), float(posterior.freedom[column]), pairs
        )


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
