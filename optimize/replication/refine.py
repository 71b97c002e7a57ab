"""Further replications: how many runs of each point count, and who gets more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gridtune.optimize.records.evaluations import Constraint, Estimate, Objective
from gridtune.optimize.replication.allocate import contested
from gridtune.optimize.replication.compare import costs, first_of, observed, padded, replications, signs
from gridtune.optimize.search_space.constraints import Cases, Excesses, excesses, limits

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

Estimates = dict[str, Estimate]


class Refinement:
    """The replications that count at this point of a search.

    Of a search that is resumed more may be known already; it is looked up when its turn comes. So whoever is
    given more replications is who was given them before.

    Args:
        objectives: what is traded off.
        most: replications that a point may have.
        known: estimates of a point by its key, over all replications there are; of a point that failed over
            those before it did.
        constraints: what a point must keep, in every case.
        cases: of a point by its key, the same as `known` of what is constrained; see `Evaluation.cases`.

    Attributes:
        counts: replications that count, by key.
    """

    def __init__(
        self,
        objectives: Sequence[Objective],
        most: int,
        known: Callable[[str], Estimates],
        constraints: Sequence[Constraint],
        cases: Callable[[str], Cases],
    ) -> None:
        self.objectives, self.most, self.constraints = tuple(objectives), most, tuple(constraints)
        self._known, self._cases = known, cases
        self.counts: dict[str, int] = {}

    def wanted(self) -> dict[str, int]:
        """Contested points, and what replications they should have: twice as many, so that rounds are few."""
        import numpy as np

        usable = self._usable()
        values = observed(list(usable.values()), self.objectives)
        counts = np.array([self.counts[name] for name in usable])
        chosen = contested(values, counts, self.most, self._broken(list(usable)))
        names = list(usable)
        return {names[at]: min(2 * self.counts[names[at]], self.most) for at in chosen}

    def means(self) -> dict[str, list[float]]:
        """Means of the objectives on one scale; a point that failed later counts as the worst of all."""
        usable = self._usable()
        if not usable:
            return {}
        values = costs(list(usable.values()), self.objectives)
        turned = values * signs(self.objectives)
        worst = values.max(axis=0) * signs(self.objectives)
        found = dict(zip(usable, turned.tolist(), strict=True))
        failed = {name: worst.tolist() for name in self.counts if name not in usable and self._known(name)}
        return found | failed

    def had(self, name: str) -> int:
        """Replications that are known of a point."""
        return replications(self._known(name))

    def usable(self, name: str) -> bool:
        """Whether a point has all the replications that count."""
        return self.had(name) >= self.counts[name]

    def excesses(self, name: str) -> Excesses:
        """By how much a point breaks each constraint, by the replications that count."""
        count = self.counts[name]
        cases = {
            case: first_of({part: row[part] for one in self.constraints for part in one.parts(row)}, count)
            for case, row in self._cases(name).items()
        }
        return excesses(self.constraints, cases)

    def _broken(self, names: Sequence[str]) -> Array:
        """By how much single replications break what is constrained, each constraint in each case.

        Returns:
            Points x limits x replications; 0 where a point has no more.
        """
        every = limits(self.constraints, map(self._cases, names))
        each = [
            [
                [limit.constraint.excess(value) for value in limit.of(cases).values[: self.counts[name]]]
                for limit in every
            ]
            for name, cases in zip(names, map(self._cases, names), strict=True)
        ]
        return padded(each, len(every))

    def _usable(self) -> dict[str, Estimates]:
        return {
            name: first_of(self._known(name), count)
            for name, count in self.counts.items()
            if self.usable(name)
        }
