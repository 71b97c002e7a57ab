"""Runs of configurations on the validation seeds of the front, with common random numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gridtune.optimize.records.evaluations import Estimate, Failed
from gridtune.optimize.replication.evaluate import evaluated
from gridtune.optimize.replication.listener import Progress
from gridtune.optimize.runs.table import FIRST_VALIDATION, RunTable
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Configuration, key
from gridtune.scenarios.execution.replicate import Metrics, Task, metrics_of, run_groups, summarise
from gridtune.scenarios.workers.pool import Outcome, Pool


class Validated(NamedTuple):
    """A configuration on validation seeds.

    Attributes:
        values: of every metric that is finite in all runs, one per replication; of several cases the
            objectives are summed up as in the search, the other metrics averaged.
        cases: estimates by case, as `optimize.records.evaluations.Evaluation.cases`.
    """

    values: dict[str, tuple[float, ...]]
    cases: dict[str, dict[str, Estimate]]


class ValidationRuns:
    """Runs configurations of a search, each once.

    Args:
        replications: runs per configuration and case, by the random numbers that validated the front.

    Attributes:
        count: simulations done so far.
        table: the runs.
    """

    def __init__(
        self,
        settings: Settings,
        replications: int,
        pool: Pool,
        progress: Progress | None = None,
        work: Callable[[Task], Metrics] = metrics_of,
    ) -> None:
        self.settings, self.replications = settings, replications
        self.count, self.table = 0, RunTable(settings)
        self._numbers = range(FIRST_VALIDATION, FIRST_VALIDATION + replications)
        self._pool, self._progress, self._work = pool, progress or Progress(), work
        self._known: dict[str, Validated | str] = {}

    def run(self, configurations: Sequence[Configuration]) -> list[Validated | str]:
        """What each configuration gives; why it failed, in one line, if it did.

        Args:
            configurations: values to set, by path; none at all for the baseline.
        """
        new = list({key(one): one for one in configurations if key(one) not in self._known}.values())
        if new:
            each = self.replications * len(self.settings.run_in)
            self._progress.start(f"configurations on validation seeds, {each} runs each", len(new))
            self.count += len(new) * each
        if self.table.guarded and not self.table.had({}, FIRST_VALIDATION):
            list(self._simulate([{}]))  # where the baseline fails, no configuration can lose more
        for done, outcome in enumerate(self._simulate(new), start=1):
            one = new[outcome.index]
            self._known[key(one)] = str(outcome.failure) if outcome.failure else self._validated(one)
            self._progress.update(done)
        return [self._known[key(one)] for one in configurations]

    def _simulate(self, configurations: Sequence[Configuration]) -> Iterator[Outcome[list[Metrics]]]:
        """Run configurations, and put what they give into the table."""
        places = [self.table.places(one, self._numbers) for one in configurations]
        groups = [
            [self.table.task(one, configuration) for one in some]
            for configuration, some in zip(configurations, places, strict=True)
        ]
        for outcome in run_groups(groups, self._pool, self._work):
            if outcome.failure is None:
                for place, metrics in zip(places[outcome.index], outcome.value, strict=True):
                    self.table.add(place, metrics, configurations[outcome.index])
            yield outcome

    def _validated(self, configuration: Configuration) -> Validated | str:
        by_case = self.table.runs(configuration, self._numbers)
        found = evaluated(0, configuration, by_case, self.settings)
        if isinstance(found, Failed):
            return found.reason
        summaries = [summarise(case) for case in by_case]
        values: dict[str, tuple[float, ...]] = {}
        for name in summaries[0]:
            if all(name in summary for summary in summaries):
                means = np.mean([summary[name].values for summary in summaries], axis=0)
                if np.isfinite(means).all():
                    values[name] = tuple(means.tolist())
        return Validated(values | {name: e.values for name, e in found.objectives.items()}, found.cases)
