"""pymoo's NSGA-II on mixed variables, generation by generation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gridtune.optimize.records.evaluations import Value
from gridtune.optimize.replication.compare import signs
from gridtune.optimize.samplers.base import GeneticSampler, Result, register
from gridtune.optimize.search_space.constraints import Excesses, violation
from gridtune.optimize.search_space.parameter import Parameter
from gridtune.optimize.search_space.space import Configuration


@register("pymoo-nsga2", "NSGA-II (pymoo) has little overhead, for fast simulations")
class PymooNsga2(GeneticSampler):
    """NSGA-II on mixed variables.

    pymoo knows no conditions: its individuals hold a gene for every parameter, and those that do not
    count are passed on silently. Numbers on a logarithmic scale are bred as logarithms.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._signs = signs(self.objectives)
        self._rng = np.random.default_rng(self.seed)
        self._worst = np.full(len(self.objectives), np.nan)
        self._most_broken = 0.0
        self._asked: Any = None
        self._informed: list[tuple[Configuration, Result, Excesses]] = []
        self._start(self.seed)

    def _start(self, seed: int) -> None:
        from pymoo.algorithms.moo.nsga2 import NSGA2, binary_tournament
        from pymoo.core import mixed
        from pymoo.core.problem import Problem
        from pymoo.core.termination import NoTermination
        from pymoo.operators.selection.tournament import TournamentSelection

        duplicates = mixed.MixedVariableDuplicateElimination()
        selection = TournamentSelection(func_comp=binary_tournament)
        self._algorithm = NSGA2(
            pop_size=self.batch,
            sampling=mixed.MixedVariableSampling(),
            selection=selection,
            mating=mixed.MixedVariableMating(selection=selection, eliminate_duplicates=duplicates),
            eliminate_duplicates=duplicates,
        )
        variables = {parameter.path: _variable(parameter) for parameter in self.space}
        # One constraint: the sum of what is broken, 0 in a search without constraints.
        self._problem = Problem(vars=variables, n_obj=len(self.objectives), n_ieq_constr=1)
        self._algorithm.setup(self._problem, termination=NoTermination(), seed=seed, verbose=False)

    def ask(self) -> list[Configuration]:
        """The next batch."""
        self._asked = self._algorithm.ask()
        if self._asked is None:
            return []
        return [
            self.space.active({one.path: _value(one, genes[one.path]) for one in self.space})
            for genes in self._asked.get("X")
        ]

    def inform(
        self, configurations: Sequence[Configuration], results: Sequence[Result], excesses: Sequence[Excesses]
    ) -> None:
        """Have configurations not asked for in the first generation."""
        self._informed += zip(configurations, results, excesses, strict=True)

    def _individual(self, configuration: Configuration) -> dict[str, Any]:
        """Its genes; those that do not count are in the middle."""
        return {one.path: _gene(one, configuration.get(one.path, one.at(0.5))) for one in self.space}

    def learn(self, results: Sequence[Result], excesses: Sequence[Excesses]) -> None:
        """Learn from the batch; pymoo prefers feasible configurations, then the least violation."""
        from pymoo.core.evaluator import Evaluator
        from pymoo.core.population import Population
        from pymoo.problems.static import StaticProblem

        if self._informed:
            some, known, broke = zip(*self._informed, strict=True)
            more = Population.new(X=np.array([self._individual(one) for one in some]))
            self._asked = Population.merge(self._asked, more)
            results, excesses = [*results, *known], [*excesses, *broke]
        broken = list(map(violation, excesses))
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
        told = StaticProblem(self._problem, F=values, G=violations[:, None])
        Evaluator().eval(told, self._asked)
        self._algorithm.tell(infills=self._asked)
        self._informed = []


def _variable(parameter: Parameter) -> Any:
    from pymoo.core.variable import Choice, Integer, Real

    if parameter.choices:
        # By position: True and 1 among the choices would be one and the same gene.
        return Choice(options=list(range(len(parameter.choices))))
    if parameter.log:
        return Real(bounds=(0.0, 1.0))
    bounds = (parameter.low, parameter.high)
    return Integer(bounds=bounds) if parameter.whole else Real(bounds=bounds)


def _gene(parameter: Parameter, value: Value) -> Any:
    """The inverse of `_value`."""
    if parameter.choices:
        return parameter.position(value)
    return parameter.share(value) if parameter.log else value


def _value(parameter: Parameter, gene: Any) -> Any:
    if parameter.choices:
        return parameter.choices[int(gene)]
    if parameter.log:
        return parameter.at(float(gene))
    return int(gene) if parameter.whole else float(gene)
