"""Where a configuration lies in a front: what dominates it, and what moving to its neighbours changes.

All are compared as on the front: by the posterior where it has them, else by the runs that they have.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gridtune.optimize.front.changes import Change, between, modelled
from gridtune.optimize.front.front import Front
from gridtune.optimize.records.evaluations import Evaluation, Value, side_by_side
from gridtune.optimize.replication.compare import Array, costs, ranges

DOMINATORS = 3  # shown at most, of the configurations that dominate one


def compared(front: Front, start: Evaluation, to: Evaluation) -> tuple[Change, ...]:
    """What happens to each objective from one configuration to another, between the means of the front."""
    found = between(front, start, to)
    if not {start.number, to.number} <= front.means.keys():
        return found
    return tuple(
        replace(one, start=front.value(start.number, one.metric), to=front.value(to.number, one.metric))
        for one in found
    )


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
        around: at most `DOMINATORS` of those that dominate it, the nearest first; if none does, in each
            objective the nearest better and the nearest worse one.
        dominated_by: numbers of the configurations on the front that dominate it, the nearest first.
        dominated_in_search: numbers of those that did in the search.
    """

    around: tuple[Neighbour, ...] = field(repr=False)
    dominated_by: tuple[int, ...]
    dominated_in_search: tuple[int, ...]


def neighbourhood(found: Front, evaluation: Evaluation) -> Neighbourhood:
    """Where a configuration lies in the front.

    Distances are Euclidean, each objective in shares of its range over the front.
    """
    others = [one for one in found.on_front if one.number != found.stand(evaluation.number)]
    if modelled(found, evaluation, *others):
        places = np.vstack([found.costs(others), found.means[evaluation.number]])
    else:
        places = costs(side_by_side([*others, evaluation]), found.objectives)
    gaps = (places[:-1] - places[-1]) / ranges(places)
    near = np.argsort(np.sqrt((gaps**2).sum(axis=1)), kind="stable").tolist()
    dominating = [k for k in near if _dominates(gaps[k])]
    names = [objective.name for objective in found.objectives]
    sides = [  # the nearest by objective: of what is better there, and of what is worse
        {name: next((k for k in near if sign * gaps[k, at] > 0), -1) for at, name in enumerate(names)}
        for sign in (-1, 1)
    ]
    made = []
    for k in dominating[:DOMINATORS] or [k for k in near if any(k in side.values() for side in sides)]:
        nearest = [tuple(name for name in names if side[name] == k and not dominating) for side in sides]
        changes, differs = compared(found, evaluation, others[k]), _differs(evaluation, others[k])
        made.append(Neighbour(others[k].number, *nearest, changes, differs))
    before = costs([one.objectives for one in (*others, evaluation)], found.objectives)
    return Neighbourhood(
        tuple(made),
        tuple(others[k].number for k in dominating),
        tuple(others[k].number for k in near if _dominates(before[k] - before[-1])),
    )


def _dominates(gaps: Array) -> bool:
    """Whether a configuration is nowhere worse and somewhere better, by its differences to another."""
    return bool((gaps <= 0).all() and (gaps < 0).any())


def _differs(here: Evaluation, there: Evaluation) -> tuple[tuple[str, Value | None, Value | None], ...]:
    paths = dict.fromkeys([*here.values, *there.values])
    pairs = ((path, here.values.get(path), there.values.get(path)) for path in paths)
    return tuple(pair for pair in pairs if pair[1] != pair[2])
