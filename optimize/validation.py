"""Validation: configurations that may be on the front are run again on seeds that the search never used.

Runs go where they change something: first to those configurations that promise most, then to those of which
the posterior does not know whether they are on the front. The baseline is run as often as any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gridtune.optimize.front.front import ON_FRONT, front, keeps, without_equals
from gridtune.optimize.inference.surrogate_model import Distances, joint_draws, surrogates
from gridtune.optimize.records.evaluations import Evaluation
from gridtune.optimize.replication.compare import costs, promising
from gridtune.optimize.runs.evaluator import Evaluator
from gridtune.optimize.search_space.constraints import feasible
from gridtune.optimize.search_space.space import key
from gridtune.threads import one_thread

PAIR = 2  # validation runs that a configuration gets at first, and again in every round
MOST = 6  # validation runs of a configuration
BATCH = 8  # configurations in a round
UNCERTAIN = 0.1, 0.9  # probabilities of being on the front between which a configuration gets more runs
DRAWS = 32  # by which promising configurations are chosen


@dataclass(frozen=True)
class Validation:
    """Spends the validation runs of a search."""

    evaluator: Evaluator
    left: Callable[[], int]  # gives the runs that may still be done
    fixed: int | None  # runs of each configuration on the front; None to let the posterior decide
    spare: Callable[[], int]  # gives the runs left while all that were validated break a constraint

    @one_thread()
    def validate(self) -> None:
        """Run configurations until none is uncertain, or the runs are spent."""
        able = self._able()
        if not able or self.fixed == 0:
            return
        if self.fixed is None:
            wanted = {key(one.values): PAIR for one in self._promising(able)}
            while wanted and self._extend(wanted, self.left()):
                wanted = self._uncertain()
        else:
            while self._extend(self._on_front(self.fixed), self.left()):
                pass  # others may be on the front now
        while not all(kept := self._kept()):  # what is best now may break a constraint, too
            left = self.left() if any(kept) else self.spare()
            if not self._extend(self._best(self.fixed or PAIR), left):
                break

    def _kept(self) -> list[bool]:
        """Of each that was validated whether it keeps the constraints; the baseline does not count."""
        archive = self.evaluator.archive
        tried = [one for one in self._able() if one.validated and one.number != archive.baseline]
        return [keeps(one, archive.constraints) for one in tried]

    def _extend(self, wanted: dict[str, int], left: int) -> bool:
        """Give configurations so many validation runs, as `left` runs allow; whether any were done."""
        evaluator, before = self.evaluator, self.evaluator.spent
        affordable: dict[str, int] = {}
        for name, count in wanted.items():
            more = {**affordable, name: count}
            if (baseline := evaluator.table.baseline) in evaluator.known:
                more[baseline] = max(more.values())
            configurations = [evaluator.known[one].values for one in more]
            numbers = [evaluator.validation(count) for count in more.values()]
            if evaluator.cost(configurations, numbers) > left:
                break
            affordable = more
        evaluator.extend(affordable)
        return evaluator.spent > before

    def _able(self) -> list[Evaluation]:
        """Configurations that keep the constraints in the search, one of each that are equal."""
        archive = self.evaluator.archive
        able = [one for one in archive.evaluations if one.values and feasible(one, archive.constraints)]
        distinct = without_equals(able, archive)
        return [one for one in able if one.number in distinct]

    def _on_front(self, each: int) -> dict[str, int]:
        """So many runs for the configurations on the front, by what is known so far."""
        return {key(one.values): each for one in front(self.evaluator.archive).on_front}

    def _best(self, each: int) -> dict[str, int]:
        """So many runs for those with the best estimated mean of an objective."""
        found = front(self.evaluator.archive)
        best = found.costs(found.on_front).argmin(axis=0).tolist() if found.on_front else []
        return {key(found.on_front[at].values): each for at in best}

    def _promising(self, able: Sequence[Evaluation]) -> list[Evaluation]:
        """Those that add most to the hypervolume, by a surrogate model of the means."""
        settings = self.evaluator.settings
        values = costs([one.objectives for one in able], settings.objectives)
        apart = Distances.of([one.values for one in able], settings.space.logarithmic)
        models = surrogates(apart, values, settings.seed)
        rng = np.random.default_rng([settings.seed, len(able), 7])
        draws = joint_draws(models, apart, values, range(len(able)), DRAWS, rng)
        return [able[at] for at in promising(draws, range(len(able)), BATCH)]

    def _uncertain(self) -> dict[str, int]:
        """Validation runs that uncertain configurations should have, the most uncertain first, by key."""
        posterior = front(self.evaluator.archive).posterior
        if posterior is None:
            return {}
        low, high = UNCERTAIN
        chances = posterior.chances
        some = [one for one in self._able() if low <= chances.get(one.number, 0.0) < high]
        uncertain = [one for one in some if one.validation_replications < MOST]
        uncertain.sort(key=lambda one: (abs(chances[one.number] - ON_FRONT), one.number))
        return {key(one.values): one.validation_replications + PAIR for one in uncertain[:BATCH]}
