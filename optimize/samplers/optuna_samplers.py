"""Optuna's samplers behind our contract: an Optuna study in memory, asked and told batch by batch."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from math import inf
from typing import ClassVar

import numpy as np
import optuna
from optuna.samplers import BaseSampler, NSGAIIISampler, NSGAIISampler, TPESampler
from optuna.samplers.nsgaii import PolynomialMutation, SBXCrossover
from optuna.trial import Trial, TrialState

from gridtune.optimize.replication.compare import signs
from gridtune.optimize.samplers.base import GeneticSampler, Result, Sampler, register
from gridtune.optimize.search_space.constraints import Excesses
from gridtune.optimize.search_space.space import Configuration


class OptunaSampler(Sampler):
    """Base of samplers that Optuna provides."""

    # Whether trials hold a value for every parameter, also for those that do not count. Samplers that combine
    # configurations need that; those that model each parameter by itself do better without.
    flat: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            algorithm = self._make()
        directions = [objective.direction for objective in self.objectives]
        self._study = optuna.create_study(directions=directions, sampler=algorithm)
        self._distributions = {parameter.path: parameter.distribution() for parameter in self.space}
        self._asked: list[Trial] = []

    @abstractmethod
    def _make(self) -> BaseSampler:
        """The sampler of Optuna."""

    def ask(self) -> list[Configuration]:
        """The next batch."""
        self._asked, configurations = self._next(self.batch)
        return configurations

    def _next(self, count: int) -> tuple[list[Trial], list[Configuration]]:
        """So many trials and their configurations; first those that wait in the study."""
        trials, configurations = [], []
        for _ in range(count):
            trial = self._study.ask(self._distributions if self.flat else None)
            _ = trial.relative_params  # asked for, they make a trial that has waited one of the generation
            trials.append(trial)
            configurations.append(self._suggested(trial))
        return trials, configurations

    def _suggested(self, trial: Trial) -> Configuration:
        """A configuration parameter by parameter, as far as conditions ask for them."""
        found: Configuration = {}
        for one in self.space:
            if not one.exists(found):
                continue
            if one.choices:
                found[one.path] = trial.suggest_categorical(one.path, one.choices)  # type: ignore[assignment]
            elif one.whole:
                found[one.path] = trial.suggest_int(one.path, int(one.low), int(one.high), log=one.log)
            else:
                found[one.path] = trial.suggest_float(one.path, one.low, one.high, log=one.log)
        return found

    def learn(self, results: Sequence[Result], excesses: Sequence[Excesses]) -> None:
        """Learn from the batch; Optuna compares by what constraints are broken by."""
        self._tell(self._asked, results, excesses)

    def _tell(self, trials: list[Trial], results: Sequence[Result], excesses: Sequence[Excesses]) -> None:
        for trial, result, excess in zip(trials, results, excesses, strict=True):
            for name, value in excess.items():
                trial.set_constraint(name, value)
            self._study.tell(trial, result, state=TrialState.FAIL if result is None else None)

    def inform(
        self, configurations: Sequence[Configuration], results: Sequence[Result], excesses: Sequence[Excesses]
    ) -> None:
        """Learn from configurations not asked for, as if they were in the batch; failed ones are left out."""
        known = [at for at, result in enumerate(results) if result is not None]
        # Where trials have all parameters, those that do not count are in the middle.
        middle = {one.path: one.at(0.5) for one in self.space} if self.flat else {}
        for at in known:
            self._study.enqueue_trial(middle | configurations[at])
        trials, _ = self._next(len(known))
        self._tell(trials, [results[at] for at in known], [excesses[at] for at in known])


@register("tpe", "a tree-structured Parzen estimator (Optuna) takes 10 to 60 ms for a proposal")
class Tpe(OptunaSampler):
    """Multi-objective TPE, one model per parameter, so that conditions cost it nothing.

    A batch of 8 with constant liar found fronts as good as single proposals did on three test problems at 200
    evaluations, where the multivariate form was worse on two and equal on the third.
    """

    flat: ClassVar[bool] = False
    most_batch: ClassVar[int] = 8

    def _make(self) -> BaseSampler:
        return TPESampler(seed=self.seed, multivariate=False, constant_liar=True)


class OptunaGenetic(GeneticSampler, OptunaSampler):
    """Base of Optuna's genetic samplers.

    They have simulated binary crossover and polynomial mutation: Optuna's default, uniform crossover, finds
    much worse fronts.
    """

    algorithm: ClassVar[type[NSGAIISampler | NSGAIIISampler]]

    def _make(self) -> BaseSampler:
        return self.algorithm(
            population_size=self.batch,
            crossover=SBXCrossover(),
            mutation=PolynomialMutation(),
            seed=self.seed,
        )

    def learn(self, results: Sequence[Result], excesses: Sequence[Excesses]) -> None:
        """Learn from the batch; what failed counts as breaking a constraint: the batch is a generation."""
        turned = signs(self.objectives)
        known = [one for one in results if one is not None] or [[0.0] * len(turned)]
        worst = (turned * (turned * np.array(known)).max(axis=0)).tolist()
        broken: list[Excesses] = [
            {"failure": inf} if one is None else excess for one, excess in zip(results, excesses, strict=True)
        ]
        super().learn([worst if one is None else one for one in results], broken)


@register("nsga2", "NSGA-II (Optuna) suits searches of 1,000 configurations and more")
class Nsga2(OptunaGenetic):
    """NSGA-II."""

    algorithm = NSGAIISampler


@register("nsga3", "NSGA-III (Optuna) has reference directions for more than three objectives")
class Nsga3(OptunaGenetic):
    """NSGA-III."""

    algorithm = NSGAIIISampler
