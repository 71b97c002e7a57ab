"""Where a configuration lies in a front: what dominates it, and what moving to its neighbours changes.

Configurations that the posterior has are compared by it, as on the front, all others on validation seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gridtune.optimize.front.changes import Change, Runs, between, changes, confirmed, modelled
from gridtune.optimize.front.front import Front
from gridtune.optimize.records.evaluations import Estimate, Evaluation, Value
from gridtune.optimize.records.values import key
from gridtune.optimize.replication.compare import Array, costs, ranges
from gridtune.optimize.report.numbers import in_words
from gridtune.optimize.runs.blocks import Block

DOMINATORS = 3  # shown at most, of the configurations that dominate one


def compared(
    front: Front, start: Evaluation, to: Evaluation, runs: tuple[Runs, Runs], about: str
) -> tuple[tuple[Change, ...], list[str]]:
    """What happens to each objective from one configuration to another: as on the front if it says so.

    Returns:
        The changes, and where intervals of validation runs and of the model have nothing in common, a line
        each.
    """
    seen = changes(front.objectives, *runs)
    if not (modelled(front, start, to) or confirmed(front, start, to)):
        return seen, []
    known = tuple(
        replace(one, start=front.value(start.number, one.metric), to=front.value(to.number, one.metric))
        for one in between(front, start, to)
    )
    denied = []
    for model in known:
        for told in seen:
            a, b = model.difference, told.difference
            if model.metric != told.metric or a.half is None or b.half is None:
                continue
            apart = abs(a.mean - b.mean) > a.half + b.half
            # Without noise intervals are single numbers, which differ by rounding.
            if apart and in_words(told) != in_words(model):
                words = f"{in_words(told)}, not {in_words(model)}"
                denied.append(f"{about}, validation runs say otherwise than the posterior: {words}")
    return known, denied


@dataclass(frozen=True)
class Neighbour:
    """A configuration of the front, seen from another configuration.

    Attributes:
        better_in, worse_in: objectives in which it is the nearest that is better, or worse; empty if it
            dominates the other configuration.
        changes: from the other configuration to it, in each objective.
        differs: path, value at the other configuration and value here; None where inactive.
    """

    number: int
    better_in: tuple[str, ...]
    worse_in: tuple[str, ...]
    changes: tuple[Change, ...] = field(repr=False)
    differs: tuple[tuple[str, Value | None, Value | None], ...]

    def as_json(self) -> dict[str, Any]:
        """For JSON."""
        return vars(self) | {
            "changes": [one.as_json() for one in self.changes],
            "differs": [{"path": path, "here": here, "there": there} for path, here, there in self.differs],
        }


@dataclass(frozen=True)
class Neighbourhood:
    """Where a configuration lies.

    Attributes:
        around: configurations on the front that dominate it, the nearest first, at most `DOMINATORS`; if none
            does, in each objective the nearest better and the nearest worse one.
        dominated_by: numbers of all configurations on the front that dominate it, the nearest first.
        dominated_in_search: numbers of those that did in the search.
        notes: configurations that could not be run again, and where validation runs deny the model.
    """

    around: tuple[Neighbour, ...] = field(repr=False)
    dominated_by: tuple[int, ...]
    dominated_in_search: tuple[int, ...]
    notes: tuple[str, ...]


def neighbourhood(found: Front, evaluation: Evaluation, here: Runs, validation: Block) -> Neighbourhood:
    """Where a configuration lies in the front.

    Distances are Euclidean, each objective in shares of its range over the front. Configurations are at their
    posterior means if the Gaussian process has all of them, else at their means on validation seeds.
    Those of the front that the search has not validated are run on validation seeds now.
    """
    others = [one for one in found.on_front if one.number != found.stand(evaluation.number)]
    numbers = [one.number for one in others]
    places = _places(found, others, evaluation, here)
    gaps = (places[:-1] - places[-1]) / ranges(places)
    near = np.argsort(np.sqrt((gaps**2).sum(axis=1)), kind="stable").tolist()
    dominating = [k for k in near if _dominates(gaps[k])]
    names = [objective.name for objective in found.objectives]
    sides = [  # the nearest by objective: of what is better there, and of what is worse
        {name: next((k for k in near if sign * gaps[k, at] > 0), -1) for at, name in enumerate(names)}
        for sign in (-1, 1)
    ]
    shown = dominating[:DOMINATORS] or [k for k in near if any(k in side.values() for side in sides)]
    unknown = [others[k].values for k in shown if not others[k].validated]
    validation.announce(unknown)
    validation.run(unknown)
    made, notes = [], []
    for k in shown:
        other = others[k]
        there = _runs(other, validation)
        if there is None:
            why = validation.failures[key(other.values)]
            notes.append(f"configuration {other.number} fails on validation seeds: {why}")
            continue
        about = f"on the way to configuration {other.number}"
        changed, denied = compared(found, evaluation, other, (here, there), about)
        notes += denied
        better, worse = (
            tuple(name for name, at in side.items() if at == k and not dominating) for side in sides
        )
        made.append(Neighbour(other.number, better, worse, changed, _differs(evaluation, other)))
    before = costs([one.objectives for one in (*others, evaluation)], found.objectives)
    return Neighbourhood(
        tuple(made),
        tuple(numbers[k] for k in dominating),
        tuple(numbers[k] for k in near if _dominates(before[k] - before[-1])),
        tuple(notes),
    )


def _dominates(gaps: Array) -> bool:
    """Whether a configuration is nowhere worse and somewhere better, by its differences to another."""
    return bool((gaps <= 0).all() and (gaps < 0).any())


def _places(found: Front, others: Sequence[Evaluation], evaluation: Evaluation, here: Runs) -> Array:
    """The other configurations and this one, to be minimised: posterior means if all have one.

    Else on validation seeds if the front is validated.
    """
    if modelled(found, evaluation, *others):
        return np.vstack([found.costs(others), found.means[evaluation.number]])
    estimates = [one.objectives for one in (*others, evaluation)]
    if found.validated:
        every: list[Runs] = [{n: e.values for n, e in one.estimates.items()} for one in others] + [here]
        count = min(len(runs[o.name]) for runs in every for o in found.objectives)
        estimates = [{o.name: Estimate.of(runs[o.name][:count]) for o in found.objectives} for runs in every]
    return costs(estimates, found.objectives)


def _runs(evaluation: Evaluation, validation: Block) -> Runs | None:
    """A configuration on validation seeds: as the search has kept it, or run now; None if it fails."""
    if evaluation.validated:
        return {name: one.values for name, one in evaluation.validated.items()}
    sample = validation.run([evaluation.values])[0]
    return None if sample is None else sample.values


def _differs(here: Evaluation, there: Evaluation) -> tuple[tuple[str, Value | None, Value | None], ...]:
    paths = dict.fromkeys([*here.values, *there.values])
    pairs = ((path, here.values.get(path), there.values.get(path)) for path in paths)
    return tuple(pair for pair in pairs if pair[1] != pair[2])
