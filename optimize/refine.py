"""Further replications: how many runs of each point count, and who gets more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from optimize.allocate import contested
from optimize.archive import Estimate, Objective
from optimize.compare import costs, first_of, observed, replications, signs

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
        kept: whether a point keeps the constraints, by so many of its replications; who does not is no rival.
    """

    def __init__(
        self,
        objectives: Sequence[Objective],
        most: int,
        known: Callable[[str], Estimates],
        kept: Callable[[str, int], bool] | None = None,
    ) -> None:
        self.objectives, self.most, self._known, self._kept = tuple(objectives), most, known, kept
        self.counts: dict[str, int] = {}

    def wanted(self) -> dict[str, int]:
        """Contested points, and what replications they should have: twice as many, so that rounds are few."""
        import numpy as np

        usable = {name: estimates for name, estimates in self._usable().items() if self.keeps(name)}
        values = observed(list(usable.values()), self.objectives)
        counts = np.array([self.counts[name] for name in usable])
        chosen = contested(values, counts, self.most)
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

    def keeps(self, name: str) -> bool:
        """Whether a point keeps the constraints, by the replications that count."""
        return self._kept is None or self._kept(name, self.counts[name])

    def _usable(self) -> dict[str, Estimates]:
        return {
            name: first_of(self._known(name), count)
            for name, count in self.counts.items()
            if self.usable(name)
        }
