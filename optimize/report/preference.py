"""A user's preference over the configurations on a front: weights and limits.

A preference is a list of parts, parted by commas:

- `unfairness<=0.3` (also `>=`, `<`, `>`): a limit, in the unit of the objective; any number of them.
- `unhappy_users=2`: a weight; without a number it is 1. The least weighted sum of losses wins; a loss is the
  distance from the best value of the front, as a share of the front's range in that objective.
"""

from __future__ import annotations

import numpy as np

from gridtune.optimize.front.front import Front
from gridtune.optimize.records.evaluations import Constraint, Evaluation
from gridtune.optimize.replication.compare import shares, signs
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.fields.requirements import parse_requirement


def preferred(text: str, front: Front) -> list[Evaluation]:
    """The configurations on the front that keep the limits of a preference, the preferred first.

    Limits alone weigh all objectives equally.

    Raises:
        ScenarioError: the preference is malformed, or names something that is no objective.
    """
    names = [one.name for one in front.objectives]
    limits, weights = _parsed(text)
    for name in (*weights, *(one.metric for one in limits)):
        if name not in names:
            raise ScenarioError(f"--prefer {name:.60}: not an objective, which are {', '.join(names)}")
    if not front.on_front:
        return []
    costs = front.costs(front.on_front)
    values = [dict(zip(names, row, strict=True)) for row in costs * signs(front.objectives)]
    weight = np.array([weights.get(name, 0.0 if weights else 1.0) for name in names])
    order = np.argsort(shares(costs) @ (weight / weight.max()), kind="stable")
    return [front.on_front[k] for k in order if all(one.excess(values[k][one.metric]) <= 0 for one in limits)]


def _parsed(text: str) -> tuple[list[Constraint], dict[str, float]]:
    """Limits, and weights by objective."""
    limits: list[Constraint] = []
    weights: dict[str, float] = {}
    try:
        for part in filter(None, map(str.strip, text.split(","))):
            if "<" in part or ">" in part:
                limits.append(Constraint(*parse_requirement(part)))
                continue
            name, _, number = map(str.strip, part.partition("="))
            weight = float(number or 1)
            if not 0 <= weight < np.inf:
                raise ValueError("weights are finite and at least 0")
            if weights.setdefault(name, weight) != weight:
                raise ValueError(f"{name} has two weights")
        if not (limits or weights) or (weights and not any(weights.values())):
            raise ValueError("nothing is preferred")
    except ValueError as error:
        wanted = "expected weights (a=2,b=1) and limits (a<=3)"
        raise ScenarioError(f"--prefer {text!r:.60}: {wanted}; {error}") from None
    return limits, weights
