"""pymoo's genetic algorithms on mixed variables, generation by generation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.replication.compare import signs
from gridtune.optimize.samplers.base import Result, Sampler, population, register, require
from gridtune.optimize.search_space.constraints import Excesses, violation
from gridtune.optimize.search_space.parameter import Parameter
from gridtune.optimize.search_space.space import Configuration, Space


class PymooSampler(Sampler):
    """Base of pymoo's genetic algorithms on mixed variables.

    pymoo knows no conditions: its individuals hold a gene for every parameter, and those that do not
    count are passed on silently. Numbers on a logarithmic scale are bred as logarithms.
    """

    least_batch: ClassVar[int] = 2

    def __init__(self, space: Space, objectives: Sequence[Objective], seed: int, batch: int) -> None:
        super().__init__(space, objectives, seed, batch)
        self._signs = signs(objectives)
        self._rng = np.random.default_rng(seed)
        self._worst = np.full(len(objectives), np.nan)
        self._most_broken = 0.0
        self._asked: Any = None
        self._start(seed)

    @classmethod
    def batch_for(cls, budget: int) -> int:
        """The size of a generation."""
        return population(budget)

    @abstractmethod
    def _make(self) -> Any:
        """The algorithm of pymoo."""

    def _start(self, seed: int) -> None:
        from pymoo.core.problem import Problem
        from pymoo.core.termination import NoTermination

        self._algorithm = self._make()
        variables = {parameter.path: _variable(parameter) for parameter in self.space}
        # One constraint: the sum of what is broken, 0 in a search without constraints.
        self._problem = Problem(vars=variables, n_obj=len(self.objectives), n_ieq_constr=1)
        self._algorithm.setup(self._problem, termination=NoTermination(), seed=seed, verbose=False)

    def _operators(self, tournament: Any) -> dict[str, Any]:
        """Settings that all of them share: operators for mixed variables, and parents by tournament."""
        from pymoo.core import mixed
        from pymoo.operators.selection.tournament import TournamentSelection

        duplicates = mixed.MixedVariableDuplicateElimination()
        selection = TournamentSelection(func_comp=tournament)
        return {
            "pop_size": self.batch,
            "sampling": mixed.MixedVariableSampling(),
            "selection": selection,
            "mating": mixed.MixedVariableMating(selection=selection, eliminate_duplicates=duplicates),
            "eliminate_duplicates": duplicates,
        }

    def ask(self) -> list[Configuration]:
        """The next batch."""
        self._asked = self._algorithm.ask()
        if self._asked is None:
            return []
        return [
            self.space.active({one.path: _value(one, genes[one.path]) for one in self.space})
            for genes in self._asked.get("X")
        ]

    def tell(self, results: Sequence[Result]) -> None:
        """Learn from the batch."""
        self.learn(results, [{}] * len(results))

    def learn(self, results: Sequence[Result], excesses: Sequence[Excesses]) -> None:
        """Learn from the batch; pymoo prefers feasible configurations, then the least violation."""
        from pymoo.core.evaluator import Evaluator
        from pymoo.problems.static import StaticProblem

        broken = [violation(excess) for excess in excesses]
        self._most_broken = max(self._most_broken, *broken)
        unknown = [np.nan] * len(self._signs)
        costs = np.array([unknown if one is None else one for one in results]) * self._signs
        self._worst = np.fmax.reduce([*costs, self._worst])
        if np.isnan(self._worst).any():  # nothing to breed from yet: start with other configurations
            self._start(int(self._rng.integers(2**31)))
            return
        # An individual must have values: a failed one gets such as are worse than all that were seen.
        failed = np.isnan(costs[:, 0])
        violations = np.where(failed, 1 + 2 * self._most_broken if self._most_broken else 0.0, broken)
        values = np.where(failed[:, None], self._worst + 1 + abs(self._worst), costs)
        told = StaticProblem(self._problem, F=self._told(values), G=violations[:, None])
        Evaluator().eval(told, self._asked)
        self._algorithm.tell(infills=self._asked)

    def _told(self, values: Any) -> Any:
        """What the algorithm is told of objectives to be minimised; an array (configurations, objectives)."""
        return values


@register("pymoo-nsga2", "NSGA-II (pymoo): little overhead, for fast simulations")
class PymooNsga2(PymooSampler):
    """NSGA-II."""

    def _make(self) -> Any:
        from pymoo.algorithms.moo.nsga2 import NSGA2, binary_tournament

        return NSGA2(**self._operators(binary_tournament))


@register("pymoo-unsga3", "U-NSGA-III (pymoo): reference directions and tournaments")
class PymooUnsga3(PymooSampler):
    """U-NSGA-III on Das-Dennis reference directions, as many as fit into a generation."""

    def _make(self) -> Any:
        from pymoo.algorithms.moo.unsga3 import UNSGA3

        directions = _directions(len(self.objectives), self.batch)
        return UNSGA3(directions, **self._operators(_niche_tournament))


@register("pymoo-agemoea2", "AGE-MOEA-II (pymoo, needs numba): adapts to the shape of the front")
class PymooAgemoea2(PymooSampler):
    """AGE-MOEA-II."""

    def _make(self) -> Any:
        require("numba", self.name, "gridtune[numba]")
        from pymoo.algorithms.moo.age2 import AGEMOEA2
        from pymoo.algorithms.moo.nsga2 import binary_tournament

        return AGEMOEA2(**self._operators(binary_tournament))

    def _told(self, values: Any) -> Any:
        # Where configurations tie in all objectives, pymoo 0.6.2 divides by zero (`AGEMOEASurvival`).
        return values + 1e-9 * (1 + abs(values)) * self._rng.random(values.shape)


@register("pymoo-smsemoa", "SMS-EMOA (pymoo): selects by hypervolume")
class PymooSmsemoa(PymooSampler):
    """SMS-EMOA."""

    def _make(self) -> Any:
        from pymoo.algorithms.moo.sms import SMSEMOA, cv_and_dom_tournament

        return SMSEMOA(**self._operators(cv_and_dom_tournament))


def _niche_tournament(pop: Any, P: Any, random_state: Any = None, **others: Any) -> Any:
    """U-NSGA-III's tournament, with the seed also where two configurations break the constraints equally.

    There pymoo 0.6.2 draws without the seed (its issue 794).
    """
    from pymoo.algorithms.moo.unsga3 import comp_by_rank_and_ref_line_dist

    violations = np.array([individual.CV[0] for individual in pop])[P]
    winners = P[np.arange(len(P)), np.argmin(violations, axis=1)]
    tied = violations[:, 0] == violations[:, 1]
    broken = tied & (violations[:, 0] > 0)
    winners[broken] = random_state.permuted(P[broken], axis=1)[:, 0]
    feasible = tied & ~broken
    if feasible.any():
        winners[feasible] = comp_by_rank_and_ref_line_dist(
            pop, P[feasible], random_state=random_state, **others
        )[:, 0]
    return winners.reshape(-1, 1)


def _directions(objectives: int, batch: int) -> Any:
    """Das-Dennis directions with the most partitions that give at most `batch` of them."""
    from pymoo.util.ref_dirs import get_reference_directions

    found = get_reference_directions("das-dennis", objectives, n_partitions=1)
    for partitions in range(2, batch + 1):
        finer = get_reference_directions("das-dennis", objectives, n_partitions=partitions)
        if len(finer) > batch or len(finer) == len(found):
            break
        found = finer
    return found


def _variable(parameter: Parameter) -> Any:
    from pymoo.core.variable import Choice, Integer, Real

    if parameter.choices:
        # By position: True and 1 among the choices would be one and the same gene.
        return Choice(options=list(range(len(parameter.choices))))
    if parameter.log:
        return Real(bounds=(0.0, 1.0))
    bounds = (parameter.low, parameter.high)
    return Integer(bounds=bounds) if parameter.whole else Real(bounds=bounds)


def _value(parameter: Parameter, gene: Any) -> Any:
    if parameter.choices:
        return parameter.choices[int(gene)]
    if parameter.log:
        return parameter.at(float(gene))
    return int(gene) if parameter.whole else float(gene)
