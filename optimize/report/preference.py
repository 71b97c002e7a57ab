"""A user's preference over the configurations on a front: weights, limits, or one objective after the other.

A preference is a list of parts, parted by commas:

- `unfairness<=0.3` (also `>=`): a limit, in the unit of the objective; any number of them, with either of
- `unhappy_users=2,completed=1`: weights. The least weighted sum of losses wins; a loss is the distance from
  the best value of the front, as a share of the front's range in that objective.
- `unhappy_users~0.5,unfairness`: one after the other. Of the configurations within the tolerance (in the
  unit of the objective; none means equal) of the best in the first, the best in the second, and so on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isfinite, nan
from operator import ge, le

import numpy as np

from gridtune.optimize.front.front import Front, Member
from gridtune.optimize.replication.compare import Array, shares, signs
from gridtune.scenarios.errors import ScenarioError

PART = re.compile(r"^(?P<name>[^\s<>=~]+)\s*(?:(?P<sign><=|>=|=|~)\s*(?P<number>\S+))?$")
SYNTAX = "expected weights (a=2,b=1), limits (a<=3), or an order with tolerances (a~0.05,b)"
KEEPS = {"<=": le, ">=": ge}


def preferred(text: str, front: Front) -> list[Member]:
    """The configurations on the front that keep the limits of a preference, the preferred first.

    Limits alone weigh all objectives equally.

    Raises:
        ScenarioError: the preference is malformed, or names something that is no objective.
    """
    names = [one.name for one in front.objectives]
    limits, weights, order = _parsed(text, names)
    costs = front.costs(front.on_front)
    values = costs * signs(front.objectives)
    left = [
        k
        for k, row in enumerate(values)
        if all(KEEPS[sign](row[names.index(name)], bound) for name, sign, bound in limits)
    ]
    if order:
        left = _in_order(left, costs, names, order)
    elif left:
        weight = np.array([weights.get(name, 0.0 if weights else 1.0) for name in names])
        losses = shares(costs) @ (weight / weight.max())
        left.sort(key=losses.tolist().__getitem__)
    return [front.on_front[k] for k in left]


def _parsed(
    text: str, names: Sequence[str]
) -> tuple[list[tuple[str, str, float]], dict[str, float], dict[str, float]]:
    """Limits, weights by objective, and tolerances by objective, the most important first."""
    limits: list[tuple[str, str, float]] = []
    weights: dict[str, float] = {}
    order: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        where, found = f"--prefer {part!r:.60}", PART.match(part)
        if found is None:
            raise ScenarioError(f"{where}: {SYNTAX}")
        name, sign = found["name"], found["sign"]
        if name not in names:
            raise ScenarioError(f"{where}: not an objective of this study, which has {', '.join(names)}")
        try:
            number = float(found["number"] or 0)
        except ValueError:
            number = nan
        if not isfinite(number):
            raise ScenarioError(f"{where}: {found['number']:.40} is no number; {SYNTAX}")
        if sign in KEEPS:
            limits.append((name, sign, number))
        elif name in weights or name in order:
            raise ScenarioError(f"{where}: {name} is there twice")
        elif number < 0:
            raise ScenarioError(f"{where}: {number:g} is less than 0")
        else:
            (weights if sign == "=" else order)[name] = number
    if weights and order:
        raise ScenarioError("--prefer: weights and an order exclude one another; give one of them")
    if weights and not any(weights.values()):
        raise ScenarioError("--prefer: every weight is 0")
    if not (limits or weights or order):
        raise ScenarioError(f"--prefer {text!r:.60}: {SYNTAX}")
    return limits, weights, order


def _in_order(
    left: Sequence[int], costs: Array, names: Sequence[str], order: Mapping[str, float]
) -> list[int]:
    """The choice, then the choice of the rest, and so on; what is not named breaks ties."""
    tolerances = {**order, **{name: 0.0 for name in names if name not in order}}
    rest, ranked = list(left), []
    while rest:
        race = rest
        for name, tolerance in tolerances.items():
            column = costs[race, names.index(name)]
            race = [k for k, cost in zip(race, column, strict=True) if cost - column.min() <= tolerance]
        ranked.append(race[0])
        rest.remove(race[0])
    return ranked
