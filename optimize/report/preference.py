"""A user's preference over the configurations on a front: weights and limits.

A preference is a list of parts, parted by commas:

- `unfairness<=0.3` (also `>=`): a limit, in the unit of the objective; any number of them.
- `unhappy_users=2`: a weight; without a number it is 1. The least weighted sum of losses wins; a loss is the
  distance from the best value of the front, as a share of the front's range in that objective.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite, nan
from operator import ge, le

import numpy as np

from gridtune.optimize.front.front import Front
from gridtune.optimize.records.evaluations import Evaluation
from gridtune.optimize.replication.compare import shares, signs
from gridtune.scenarios.errors import ScenarioError

PART = re.compile(r"^(?P<name>[^\s<>=~]+)\s*(?:(?P<sign><=|>=|=)\s*(?P<number>\S+))?$")
SYNTAX = "expected weights (a=2,b=1) and limits (a<=3)"
KEEPS = {"<=": le, ">=": ge}


def preferred(text: str, front: Front) -> list[Evaluation]:
    """The configurations on the front that keep the limits of a preference, the preferred first.

    Limits alone weigh all objectives equally.

    Raises:
        ScenarioError: the preference is malformed, or names something that is no objective.
    """
    names = [one.name for one in front.objectives]
    limits, weights = _parsed(text, names)
    costs = front.costs(front.on_front)
    values = costs * signs(front.objectives)
    left = [
        k
        for k, row in enumerate(values)
        if all(KEEPS[sign](row[names.index(name)], bound) for name, sign, bound in limits)
    ]
    if left:
        weight = np.array([weights.get(name, 0.0 if weights else 1.0) for name in names])
        losses = shares(costs) @ (weight / weight.max())
        left.sort(key=losses.tolist().__getitem__)
    return [front.on_front[k] for k in left]


def _parsed(text: str, names: Sequence[str]) -> tuple[list[tuple[str, str, float]], dict[str, float]]:
    """Limits, and weights by objective."""
    limits: list[tuple[str, str, float]] = []
    weights: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        where, found = f"--prefer {part!r:.60}", PART.match(part)
        if found is None:
            raise ScenarioError(f"{where}: {SYNTAX}")
        name, sign = found["name"], found["sign"]
        if name not in names:
            raise ScenarioError(f"{where}: not an objective of this study, which has {', '.join(names)}")
        try:
            number = float(found["number"] or 1)
        except ValueError:
            number = nan
        if not isfinite(number):
            raise ScenarioError(f"{where}: {found['number']:.40} is no number; {SYNTAX}")
        if sign in KEEPS:
            limits.append((name, sign, number))
        elif name in weights:
            raise ScenarioError(f"{where}: {name} is there twice")
        elif number < 0:
            raise ScenarioError(f"{where}: {number:g} is less than 0")
        else:
            weights[name] = number
    if weights and not any(weights.values()):
        raise ScenarioError("--prefer: every weight is 0")
    if not (limits or weights):
        raise ScenarioError(f"--prefer {text!r:.60}: {SYNTAX}")
    return limits, weights
