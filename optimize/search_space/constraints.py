"""Constraints: what a configuration must keep to be on the front, in every case.

A constraint is about the mean of a metric over the replications. Of several cases the worst counts, and of
classes of jobs the one that loses most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from gridtune.model.metrics.labels import KINDS
from gridtune.model.metrics.registry import METRICS
from gridtune.optimize.records.evaluations import Constraint, Estimate, Evaluation, of_class
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.fields.requirements import parse_requirement

OTHERS = {"users": "a tenth of the users", "longest": "the longest wait"}  # beside classes of jobs
Cases = Mapping[str, Mapping[str, Estimate]]  # estimates by case, then by metric
Excesses = Mapping[str, float]  # by how much each constraint is broken, by its text; at most 0 if it holds


def constraints_of(texts: Sequence[str]) -> tuple[Constraint, ...]:
    """Constraints as written, each once; a `ScenarioError` if one is malformed, or two leave nothing."""
    found: dict[str, Constraint] = {}
    for text in texts:
        try:
            metric, relation, bound = parse_requirement(text)
        except ValueError as error:
            raise ScenarioError(f"--require {error}") from None
        unit = METRICS[metric].unit if metric in METRICS else ""
        one = Constraint(metric, relation, bound, unit)
        found[str(one)] = one
    for low, high in product(found.values(), repeat=2):
        if low.metric == high.metric and high.upper and not low.upper:
            strict = {low.relation, high.relation} != {">=", "<="}
            if high.bound < low.bound or (strict and high.bound == low.bound):
                raise ScenarioError(f"--require: nothing can keep both {low} and {high}")
    return tuple(found.values())


class Bounded(NamedTuple):
    """A metric that must keep a constraint."""

    constraint: Constraint
    case: str  # its name
    metric: str  # the constraint's own, or that of a class of jobs
    value: Estimate  # of the metric there

    @property
    def whose(self) -> str:
        """` of …` where it is about a class of jobs or users; else nothing."""
        kind = of_class(self.metric)
        named = KINDS.get(kind) or KINDS.get(f"size-{kind}") or OTHERS.get(kind, kind)
        return f" of {named}" if kind else ""

    @property
    def excess(self) -> float:
        """By how much it breaks the constraint; see `Constraint.excess`."""
        return self.constraint.excess(self.value.mean)

    def as_json(self) -> dict[str, Any]:
        """For JSON."""
        return {"metric": self.metric, "mean": self.value.mean, "standard_error": self.value.standard_error}


def tightest(one: Constraint, cases: Cases) -> Bounded:
    """What comes closest to breaking a constraint, or breaks it most."""
    found = [Bounded(one, case, name, row[name]) for case, row in cases.items() for name in one.parts(row)]
    return max(found, key=lambda known: known.excess)


def excesses(constraints: Sequence[Constraint], cases: Cases) -> Excesses:
    """By how much each constraint is broken in its worst case, by its text; see `Constraint.excess`."""
    return {str(one): tightest(one, cases).excess for one in constraints}


def violation(broken: Excesses) -> float:
    """What all constraints together are broken by, as shares of their bounds; 0 if all hold."""
    return sum(max(0.0, excess) for excess in broken.values())


def feasible(evaluation: Evaluation, constraints: Sequence[Constraint]) -> bool:
    """Whether a configuration keeps all constraints, on the seeds of the search."""
    return violation(excesses(constraints, evaluation.cases)) == 0
