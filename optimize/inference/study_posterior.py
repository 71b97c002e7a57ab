"""The posterior of a study by the numbers of its configurations: the source of every statement."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from math import isfinite

import numpy as np

from gridtune.optimize.inference.gaussian_process import best_layers, fit, runs_of
from gridtune.optimize.inference.posterior import Posterior
from gridtune.optimize.records.difference import Difference
from gridtune.optimize.records.evaluations import Evaluation, Objective, Value
from gridtune.optimize.replication.compare import Array, signs
from gridtune.threads import one_thread

ENOUGH = 20  # configurations below which nothing can be learned from similar ones


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
        return float(self._won[:, np.isin(self._rivals, some)].any(axis=1).mean())

    @cached_property
    def _won(self) -> Array:
        """Which rivals are non-dominated in each draw."""
        return self._posterior.won(self._rivals)

    def means(self, number: int) -> Array:
        """What is expected of a configuration, to be minimised, on a level that all configurations share."""
        return self._posterior.means[self._at[number]]  # type: ignore[no-any-return]

    def difference(self, to: int, start: int, objective: Objective, pairs: int = 0) -> Difference:
        """What changes from one configuration to another in an objective, in its unit."""
        column = self._objectives.index(objective)
        sign = float(signs([objective])[0])
        posterior, a, b = self._posterior, self._at[to], self._at[start]
        mean = sign * float(posterior.means[a, column] - posterior.means[b, column])
        gaps = posterior.draws[:, a, column] - posterior.draws[:, b, column]
        error = float(np.std(gaps))
        if np.ptp(gaps) == 0 or not isfinite(posterior.unit[column]):
            error = 0.0
        return Difference.of(mean, error, posterior.freedom, pairs)


@one_thread()
def posterior_of(
    evaluations: Sequence[Evaluation],
    objectives: Sequence[Objective],
    seed: int = 1,
    *,
    rivals: Collection[int] | None = None,
    values: Mapping[int, Mapping[str, Value]] | None = None,
) -> StudyPosterior | None:
    """What all runs of a search say of its configurations; None where that cannot be told.

    That takes `ENOUGH` configurations, and one that was run twice. Of very many configurations the hopeless
    are left out.

    Args:
        evaluations: all that there are, each configuration once.
        objectives: what is traded off.
        seed: of the samples drawn.
        rivals: numbers of those that may be on the front; all if left out.
        values: settings by number, of configurations whose evaluation does not hold them.
    """
    if len(evaluations) < ENOUGH:
        return None
    runs = runs_of(evaluations, objectives)
    chosen = best_layers(runs, [at for at, one in enumerate(evaluations) if one.validated])
    configurations = [(values or {}).get(evaluations[at].number, evaluations[at].values) for at in chosen]
    found = fit(runs[chosen], configurations, seed=seed)
    if found is None:
        return None
    numbers = [evaluations[at].number for at in chosen]
    return StudyPosterior(found, numbers, numbers if rivals is None else rivals, objectives)
