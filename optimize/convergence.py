"""When a search may end: nothing that matters was found for a while."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gridtune.optimize.front.hypervolume import hypervolume
from gridtune.optimize.inference.gaussian_process import posterior_means
from gridtune.optimize.records.evaluations import Evaluation
from gridtune.optimize.replication.compare import non_dominated, signs
from gridtune.optimize.runs.evaluator import Evaluator
from gridtune.optimize.search_space.constraints import feasible

LEAST = 100  # evaluations before the first look
STEP = 25  # evaluations between two looks
WINDOW = 0.3  # of the evaluations: those that must have found nothing
TOLERANCE = 0.01  # of the hypervolume: growth that is nothing


class Convergence:
    """Whether the last evaluations of a search have added to its front.

    The hypervolume of all configurations so far is compared with that of all but the last `WINDOW` of them,
    both by the posterior means of all runs so far: maxima of observed values grow for ever, by noise.
    The search has converged when that is less than `TOLERANCE` more.

    Source: T. Wagner, H. Trautmann and B. Naujoks, OCD: Online Convergence Detection for Evolutionary
        Multi-Objective Algorithms, EMO 2009 (a window of a quality indicator; there with a test of its
        variance, here with the noise taken out first).
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._next = LEAST

    def __call__(self) -> str:
        """Why the search may end; empty if it may not, or it is not the time to look."""
        known = [one for one in self._evaluator.entries if isinstance(one, Evaluation)]
        if len(known) < self._next:
            return ""
        self._next = len(known) + STEP
        early = round((1 - WINDOW) * len(known))
        before, now = self._volumes(known, early)
        if now - before > TOLERANCE * now:
            return ""
        return (
            f"converged: the last {len(known) - early} of {len(known)} configurations added "
            f"{(now - before) / now if now else 0:.1%} to the hypervolume"
        )

    def _volumes(self, known: Sequence[Evaluation], early: int) -> tuple[float, float]:
        """Hypervolume of the first configurations and of all, by what is expected of them."""
        settings = self._evaluator.settings
        objectives = settings.objectives
        values = posterior_means(known, objectives)
        allowed = np.array([feasible(one, settings.constraints) for one in known])
        if not allowed.any():
            return 0.0, 0.0
        front = values[allowed][non_dominated(values[allowed])]
        corner = signs(objectives) * (front.max(axis=0) + 0.1 * np.ptp(front, axis=0))
        first = values[:early][allowed[:early]]
        return hypervolume(first, objectives, corner), hypervolume(values[allowed], objectives, corner)
