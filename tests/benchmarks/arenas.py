"""Arenas of searches: a scenario, how its runs are made, and the true means of its configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from gridtune.optimize.records.evaluations import Objective, Value
from gridtune.optimize.replication.compare import signs
from gridtune.optimize.runs.evaluator import with_users
from gridtune.optimize.search_space.settings import objectives_of
from gridtune.optimize.search_space.space import key
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.execution.replicate import Metrics, Task
from tests.benchmarks import analytic
from tests.benchmarks.sampler_cases import CASES

Array = np.ndarray[Any, np.dtype[Any]]
TRUTH_SEED = 1_000_003  # no search has it


@dataclass(frozen=True)
class Arena:
    """A scenario to search, with truths.

    Attributes:
        name: of it.
        scenario: what is searched.
        objectives: names of what is traded off.
        work: gives the metrics of a run.
        best, worst: corners of the box in which hypervolume is measured, in the units of the objectives.
        exact: gives the truth of a configuration at once; None where it takes runs.
        truth_seed: of the runs that give truths.
        known: validation runs by configuration and number of runs, runs x objectives.
    """

    name: str
    scenario: Scenario
    objectives: tuple[str, ...]
    work: Callable[[Task], Metrics]
    best: Sequence[float]
    worst: Sequence[float]
    exact: Callable[[Mapping[str, Value]], Array] | None = None
    truth_seed: int = TRUTH_SEED
    known: dict[tuple[str, int], Array] = field(default_factory=dict)

    @property
    def goals(self) -> tuple[Objective, ...]:
        """The objectives with their directions."""
        return objectives_of(self.objectives)

    def truth(self, configurations: Sequence[Mapping[str, Value]], runs: int) -> Array:
        """True means of configurations, to be minimised, configurations x objectives.

        Args:
            configurations: no values at all for the baseline.
            runs: of each, under seeds that no search has; not needed where the truth is exact.
        """
        rows = [
            self._exactly(one) if self.exact else self._runs(one, runs).mean(axis=0) for one in configurations
        ]
        return np.array(rows, dtype=float).reshape(len(configurations), len(self.objectives)) * signs(
            self.goals
        )

    def volume(self, configurations: Array) -> float:
        """Hypervolume of configurations, given as `truth` does, as a share of the box."""
        import moocore

        low, high = (np.array(corner) * signs(self.goals) for corner in (self.best, self.worst))
        return float(moocore.hypervolume((configurations - low) / (high - low), ref=np.ones(len(low))))

    def _exactly(self, configuration: Mapping[str, Value]) -> Array:
        assert self.exact is not None
        return self.exact(configuration or analytic.baseline())  # type: ignore[arg-type]

    def error(self, to: Mapping[str, Value], start: Mapping[str, Value], runs: int) -> Array:
        """Standard error of the true difference of two configurations, by objective; 0 where it is exact."""
        if self.exact:
            return np.zeros(len(self.objectives))
        gaps = self._runs(to, runs) - self._runs(start, runs)
        return np.asarray(gaps.std(axis=0, ddof=1) / np.sqrt(runs))

    def _runs(self, configuration: Mapping[str, Value], runs: int) -> Array:
        name = (key(configuration), runs)
        if name not in self.known:
            made = [
                self.work(Task(self.scenario, dict(configuration), self.truth_seed, k)) for k in range(runs)
            ]
            self.known[name] = np.array([[one[goal].value for goal in self.objectives] for one in made])
        return self.known[name]


@cache
def arena(name: str) -> Arena:
    """An analytic stand-in for a federation, or a case of `sampler_cases`; each once, with its truths."""
    if name == "stand-in":
        return Arena(
            name, analytic.scenario(), analytic.OBJECTIVES, analytic.run,
            best=(8.0, 0.7, 1.0e6), worst=(25.0, 1.3, 7.0e5), exact=analytic.truth,
        )  # fmt: skip
    case = CASES[name]
    names = tuple(goal.name for goal in case.goals)
    return Arena(name, case.scenario, names, with_users, case.best, case.worst)
