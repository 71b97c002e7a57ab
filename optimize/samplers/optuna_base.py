"""Optuna's samplers behind our contract: an Optuna study in memory, asked and told batch by batch."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.samplers.base import Result, Sampler
from gridtune.optimize.search_space.constraints import Excesses
from gridtune.optimize.search_space.distributions import distribution
from gridtune.optimize.search_space.space import Configuration, Space

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler
    from optuna.trial import Trial


class OptunaSampler(Sampler):
    """Base of samplers that Optuna provides.

    Attributes:
        flat: whether trials hold a value for every parameter, also for those that do not count. Samplers that
            combine configurations need that; those that model each parameter by itself do better without.
    """

    flat: ClassVar[bool] = True

    def __init__(self, space: Space, objectives: Sequence[Objective], seed: int, batch: int) -> None:
        import optuna

        super().__init__(space, objectives, seed, batch)
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            algorithm = self._make()
        directions = [objective.direction for objective in objectives]
        self._study = optuna.create_study(directions=directions, sampler=algorithm)
        self._distributions = {parameter.path: distribution(parameter) for parameter in space}
        self._asked: list[Trial] = []

    @abstractmethod
    def _make(self) -> BaseSampler:
        """The sampler of Optuna."""

    def ask(self) -> list[Configuration]:
        """The next batch."""
        self._asked = []
        configurations = []
        for _ in range(self.batch):
            trial = self._study.ask(self._distributions if self.flat else None)
            self._asked.append(trial)
            configurations.append(self.space.active(trial.params) if self.flat else self._suggest(trial))
        return configurations

    def tell(self, results: Sequence[Result]) -> None:
        """Learn from the batch."""
        from optuna.trial import TrialState

        for trial, result in zip(self._asked, results, strict=True):
            if result is None:
                self._study.tell(trial, state=TrialState.FAIL)
            else:
                self._study.tell(trial, [float(value) for value in result])

    def inform(
        self, configurations: Sequence[Configuration], results: Sequence[Result], excesses: Sequence[Excesses]
    ) -> None:
        """Learn from configurations not asked for, as from finished trials; failed ones are left out."""
        from optuna.trial import create_trial

        for configuration, result, excess in zip(configurations, results, excesses, strict=True):
            if result is None:
                continue
            middle = {parameter.path: parameter.at(0.5) for parameter in self.space} if self.flat else {}
            params = middle | configuration
            trial = create_trial(
                values=[float(value) for value in result],
                params=params,
                distributions={path: self._distributions[path] for path in params},
                constraints=dict(excess),
            )
            self._study.add_trial(trial)

    def learn(self, results: Sequence[Result], excesses: Sequence[Excesses]) -> None:
        """Learn from the batch; Optuna compares by what constraints are broken by."""
        for trial, excess in zip(self._asked, excesses, strict=True):
            for name, value in excess.items():
                trial.set_constraint(name, value)
        self.tell(results)

    def _suggest(self, trial: Trial) -> Configuration:
        """A configuration parameter by parameter, as far as conditions ask for them."""
        configuration: Configuration = {}
        for parameter in self.space:
            if not parameter.exists(configuration):
                continue
            path = parameter.path
            if parameter.choices:
                configuration[path] = trial.suggest_categorical(path, parameter.choices)  # type: ignore[assignment]
            elif parameter.whole:
                low, high = int(parameter.low), int(parameter.high)
                configuration[path] = trial.suggest_int(path, low, high, log=parameter.log)
            else:
                configuration[path] = trial.suggest_float(
                    path, parameter.low, parameter.high, log=parameter.log
                )
        return configuration
