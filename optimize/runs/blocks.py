"""Runs of configurations under one set of replications, beside those of the search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan

from gridtune.optimize.front.changes import Change, change
from gridtune.optimize.records.evaluations import Evaluation, Failed, Objective
from gridtune.optimize.replication.guards import failing
from gridtune.optimize.report.progress import Progress
from gridtune.optimize.runs.evaluator import Evaluator, Work
from gridtune.optimize.runs.table import Measured, evaluated
from gridtune.optimize.search_space.constraints import tightest
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Configuration, key
from gridtune.optimize.studies.study import open_study
from gridtune.scenarios.workers.pool import Pool


@dataclass(frozen=True)
class Sample:
    """What a configuration gave under some replications."""

    evaluation: Evaluation
    # Every metric by name, one value per replication; of several cases the mean over those in which it is
    # finite, not a number where it is in none.
    metrics: Mapping[str, tuple[float, ...]]
    by_case: Mapping[str, Mapping[str, tuple[float, ...]]]  # the same of each of several; empty of one
    settings: Settings  # of the search

    @property
    def means(self) -> dict[str, float]:
        """Of the metrics."""
        return means_of(self.metrics)

    @property
    def values(self) -> dict[str, tuple[float, ...]]:
        """The objectives, and the metrics that are finite in every run, one value per replication."""
        finite = {name: values for name, values in self.metrics.items() if all(map(isfinite, values))}
        return finite | {name: one.values for name, one in self.evaluation.objectives.items()}

    def change(self, objective: Objective, start: Sample) -> Change:
        """What happens to an objective from another sample to this one, paired."""
        before, after = (one.evaluation.objectives[objective.name].values for one in (start, self))
        return change(objective, before, after)

    @property
    def broken(self) -> tuple[str, ...]:
        """Metrics whose constraints it breaks in these runs."""
        constraints, cases = self.settings.constraints, self.evaluation.cases
        return tuple(one.metric for one in constraints if tightest(one, cases).excess > 0)

    def breaks(self, start: Sample) -> tuple[str, ...]:
        """The same, or else metrics of classes of which too many more jobs fail than in another sample."""
        return self.broken or failing(self.means, start.means)


class Block:
    """Runs configurations, each once, under replications that no other part of the search uses."""

    def __init__(self, evaluator: Evaluator, replications: Sequence[int]) -> None:
        self.evaluator, self.replications = evaluator, replications
        self.failures: dict[str, str] = {}  # why configurations fail, in one line, by their keys
        self._known: dict[str, Sample] = {}

    @classmethod
    def apart(
        cls, settings: Settings, replications: range, pool: Pool, progress: Progress | None, work: Work
    ) -> Block:
        """One beside a search, which keeps nothing on disk."""
        study = open_study(None, "apart", settings)
        return cls(Evaluator(settings, study, pool, progress or Progress(), work), replications)

    def run_all(self, configurations: Sequence[Configuration]) -> list[Sample | None]:
        """What configurations give (see `run`); their runs, if any are left, are a phase of progress."""
        progress, done = self.evaluator.progress, len(self.evaluator.table)
        if cost := self.cost(self.new(configurations)):
            progress.start("runs", done + cost, done)
        try:
            return self.run(configurations)
        finally:
            progress.finish()

    def cost(self, configurations: Sequence[Configuration]) -> int:
        """Runs that these configurations would take."""
        return self.evaluator.cost(configurations, [self.replications] * len(configurations))

    def new(self, configurations: Sequence[Configuration]) -> list[Configuration]:
        """Those that were not run yet, each once."""
        known = self._known.keys() | self.failures.keys()
        return list({key(one): one for one in configurations if key(one) not in known}.values())

    def run(self, configurations: Sequence[Configuration]) -> list[Sample | None]:
        """What configurations give; None for one that fails. No values at all stand for the baseline."""
        new = self.new(configurations)
        failures = self.evaluator.run(new, self.replications)
        for at, one in enumerate(new):
            found = failures.get(at) or self._sample(one)
            if isinstance(found, str):
                self.failures[key(one)] = found
            else:
                self._known[key(one)] = found
        return [self._known.get(key(one)) for one in configurations]

    def _sample(self, configuration: Configuration) -> Sample | str:
        settings = self.evaluator.settings
        by_case = self.evaluator.table.runs(configuration, self.replications)
        found = evaluated(0, configuration, by_case, settings)
        if isinstance(found, Failed):
            return found.reason
        each = {case.name: _metrics([runs]) for case, runs in zip(settings.run_in, by_case, strict=True)}
        return Sample(found, _metrics(by_case), each if len(each) > 1 else {}, settings)


def means_of(metrics: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Of metrics by name, one value per replication."""
    return {name: sum(values) / len(values) for name, values in metrics.items()}


def _metrics(by_case: Sequence[Sequence[Measured]]) -> dict[str, tuple[float, ...]]:
    """Each metric by name, one value per replication."""
    names = sorted({name for case in by_case for run in case for name in run})
    return {name: tuple(_mean(name, runs) for runs in zip(*by_case, strict=True)) for name in names}


def _mean(name: str, runs: Sequence[Measured]) -> float:
    """The mean of a metric over the cases in which it is finite; not a number if there is none."""
    values = [run[name] for run in runs if isfinite(run.get(name, nan))]
    return sum(values) / len(values) if values else nan
