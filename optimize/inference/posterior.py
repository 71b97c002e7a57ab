"""What is known of the points of a search, as samples; chances, losses and differences are read off them.

The samples are those of `model_of_runs`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gridtune.optimize.replication.compare import non_dominated

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

LOSS_DRAWS = 400  # of these for expected losses
AGAIN = 30  # new runs of each point on which those that are kept are to hold against each other


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
        one by the margin in some objective. As long as too few are likely to, that goes which is least so;
        then those come back that hold beside what is left.

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
        gone = []
        while left.sum() > 1:
            chances = _raised((covered[:, left] == 0).mean(axis=0), shift, len(anew))
            if chances.mean() >= share:
                break
            # Of equals the one that most others cover: what stands at an end is covered by fewer.
            worst = np.flatnonzero(left)[np.lexsort((-covered[:, left].mean(axis=0), chances))[0]]
            left[worst] = False
            gone.append(worst)
            covered -= covers[:, :, worst]
        # What went early may be covered by none of those that are left.
        for one in sorted(gone, key=lambda one: covered[:, one].astype(bool).mean()):
            more = left.copy()
            more[one] = True
            alone = (covers[:, more][:, :, more].sum(axis=2) == 0).mean(axis=0)
            if _raised(alone, shift, len(anew)).mean() >= share:
                left = more
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
