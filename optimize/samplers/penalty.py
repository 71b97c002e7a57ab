"""Constraints for samplers that know only objectives."""

from __future__ import annotations

from collections.abc import Sequence

from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.search_space.constraints import Excesses, violation

Result = Sequence[float] | None  # means of the objectives in their order; None for a failed evaluation


class Penalty:
    """Makes configurations that break constraints worse, in every objective, than all feasible ones so far.

    The more is broken, the worse: feasible configurations come first, then those that are nearly so, whatever
    their objectives. The least penalty is the range that feasible configurations have in an objective.

    Args:
        objectives: what is traded off.

    Source: K. Deb, An Efficient Constraint Handling Method for Genetic Algorithms, 2000, equation 4.
    """

    def __init__(self, objectives: Sequence[Objective]) -> None:
        self._signs = [1.0 if objective.direction == "minimize" else -1.0 for objective in objectives]
        self._worst: list[float] = []
        self._best: list[float] = []

    def penalised(self, results: Sequence[Result], excesses: Sequence[Excesses]) -> list[Result]:
        """A batch for the sampler: failed and feasible configurations unchanged, the others made worse."""
        broken = [violation(excess) for excess in excesses]
        for result, excess in zip(results, broken, strict=True):
            if result is not None and excess == 0:
                self._widen([value * sign for value, sign in zip(result, self._signs, strict=True)])
        return [
            result if result is None or excess == 0 else self._penalised(excess)
            for result, excess in zip(results, broken, strict=True)
        ]

    def _widen(self, costs: list[float]) -> None:
        self._worst = list(map(max, costs, self._worst or costs))
        self._best = list(map(min, costs, self._best or costs))

    def _penalised(self, excess: float) -> list[float]:
        zeros = [0.0] * len(self._signs)
        bounds = zip(self._signs, self._worst or zeros, self._best or zeros, strict=True)
        return [sign * (worst + ((worst - best) or 1.0) * (1 + excess)) for sign, worst, best in bounds]
