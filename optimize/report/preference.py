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
from dataclasses import dataclass
from math import isfinite

import numpy as np

from gridtune.optimize.front.front import Front, Member
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.replication.compare import shares
from gridtune.scenarios.errors import ScenarioError

PART = re.compile(r"^(?P<name>[^\s<>=~]+)\s*(?:(?P<sign><=|>=|=|~)\s*(?P<number>\S+))?$")
SYNTAX = "expected weights (a=2,b=1), limits (a<=3), or an order with tolerances (a~0.05,b)"


@dataclass(frozen=True)
class Preference:
    """What a user prefers.

    Attributes:
        limits: objective, `<=` or `>=`, and the bound in its unit.
        weights: of objectives, by name; empty for an order.
        order: objectives and their tolerances, the most important first; empty for weights.
    """

    limits: tuple[tuple[str, str, float], ...]
    weights: Mapping[str, float]
    order: tuple[tuple[str, float], ...]

    @classmethod
    def of(cls, text: str, objectives: Sequence[Objective]) -> Preference:
        """A preference as written.

        Raises:
            ScenarioError: it is malformed, or names something that is no objective.
        """
        limits: list[tuple[str, str, float]] = []
        weights: dict[str, float] = {}
        order: list[tuple[str, float]] = []
        known = [objective.name for objective in objectives]
        for part in filter(None, (part.strip() for part in text.split(","))):
            found = PART.match(part)
            if found is None:
                raise ScenarioError(f"--prefer {part!r:.60}: {SYNTAX}")
            name, sign = found["name"], found["sign"]
            if name not in known:
                raise ScenarioError(
                    f"--prefer {part!r:.60}: not an objective of this study, which has {', '.join(known)}"
                )
            number = 0.0 if sign is None else _number(part, found["number"])
            if sign in ("<=", ">="):
                limits.append((name, sign, number))
            elif name in weights or name in dict(order):
                raise ScenarioError(f"--prefer {part!r:.60}: {name} is there twice")
            elif number < 0:
                raise ScenarioError(f"--prefer {part!r:.60}: {number:g} is less than 0")
            elif sign == "=":
                weights[name] = number
            else:
                order.append((name, number))
        if weights and order:
            raise ScenarioError("--prefer: weights and an order exclude one another; give one of them")
        if weights and not any(weights.values()):
            raise ScenarioError("--prefer: every weight is 0")
        if not (limits or weights or order):
            raise ScenarioError(f"--prefer {text!r:.60}: {SYNTAX}")
        return cls(tuple(limits), weights, tuple(order))

    def ranked(self, front: Front) -> list[Member]:
        """The configurations on the front that keep the limits, the preferred first."""
        left = [member for member in front.on_front if self._keeps(member, front)]
        if self.order:
            return self._in_order(left, front)
        loss = self._losses(front)
        return sorted(left, key=lambda member: loss[member.evaluation.number])

    def _keeps(self, member: Member, front: Front) -> bool:
        means = {one.name: front.value(member.evaluation.number, one) for one in front.objectives}
        return all(
            means[name] <= bound if sign == "<=" else means[name] >= bound
            for name, sign, bound in self.limits
        )

    def _losses(self, front: Front) -> dict[int, float]:
        """Weighted sums of losses, by number; limits alone weigh all objectives equally."""
        every = front.costs(front.on_front)
        if not len(every):
            return {}
        weights = np.array([self.weights.get(o.name, 0.0 if self.weights else 1.0) for o in front.objectives])
        losses = shares(every) @ (weights / weights.max())
        numbers = [member.evaluation.number for member in front.on_front]
        return dict(zip(numbers, losses.tolist(), strict=True))

    def _in_order(self, left: Sequence[Member], front: Front) -> list[Member]:
        """The choice, then the choice of the rest, and so on; what is not named breaks ties."""
        names = [one.name for one in front.objectives]
        order = {**dict(self.order), **{name: 0.0 for name in names if name not in dict(self.order)}}
        rest, ranked = list(left), []
        while rest:
            race = rest
            for name, tolerance in order.items():
                column = front.costs(race)[:, names.index(name)]
                race = [m for m, cost in zip(race, column, strict=True) if cost - column.min() <= tolerance]
            ranked.append(race[0])
            rest.remove(race[0])
        return ranked


def _number(part: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise ScenarioError(f"--prefer {part!r:.60}: {text:.40} is no number; {SYNTAX}")
    return value
