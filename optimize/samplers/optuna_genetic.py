"""Optuna's genetic samplers: NSGA-II and NSGA-III, generation by generation."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from gridtune.optimize.samplers.base import population, register
from gridtune.optimize.samplers.optuna_base import OptunaSampler

if TYPE_CHECKING:
    from optuna import Study
    from optuna.samplers import BaseSampler
    from optuna.trial import FrozenTrial


class OptunaGenetic(OptunaSampler):
    """Base of Optuna's genetic samplers; a batch is a generation."""

    least_batch: ClassVar[int] = 2

    @classmethod
    def batch_for(cls, budget: int) -> int:
        """The size of a generation."""
        return population(budget)

    def _operators(self) -> dict[str, Any]:
        """Settings that all of them share.

        Simulated binary crossover and polynomial mutation: Optuna's default, uniform crossover, finds much
        worse fronts.
        """
        from optuna.samplers.nsgaii import PolynomialMutation, SBXCrossover

        return {
            "population_size": self.batch,
            "crossover": SBXCrossover(),
            "mutation": PolynomialMutation(),
            "seed": self.seed,
        }


@register("nsga2", "NSGA-II (Optuna): for 500 evaluations and more")
class Nsga2(OptunaGenetic):
    """NSGA-II with simulated binary crossover and polynomial mutation."""

    def _make(self) -> BaseSampler:
        from optuna.samplers import NSGAIISampler

        sampler: BaseSampler = _by_number(NSGAIISampler)(**self._operators())
        return sampler


@register("nsga3", "NSGA-III (Optuna): reference directions, for three objectives and more")
class Nsga3(OptunaGenetic):
    """NSGA-III with simulated binary crossover and polynomial mutation."""

    def _make(self) -> BaseSampler:
        from optuna.samplers import NSGAIIISampler

        sampler: BaseSampler = _by_number(NSGAIIISampler)(**self._operators())
        return sampler


@cache
def _by_number(genetic: Any) -> Any:
    """A genetic sampler of Optuna that knows the generation of a trial by its number.

    Optuna looks through all trials for it at every proposal, since it cannot know that generations are asked
    for as a whole. Proposals are the same as long as no evaluation fails.
    """
    from optuna.trial import TrialState

    class ByNumber(genetic):
        def get_trial_generation(self, study: Study, trial: FrozenTrial) -> int:
            return int(trial.number // self.population_size)

        def get_population(self, study: Study, generation: int) -> list[FrozenTrial]:
            first = generation * self.population_size
            members = study.get_trials(deepcopy=False)[first : first + self.population_size]
            return [trial for trial in members if trial.state == TrialState.COMPLETE]

    return ByNumber
