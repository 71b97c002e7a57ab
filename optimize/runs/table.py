"""The table of runs, by configuration, case and replication; evaluations are made from it.

Validation replications are those from `FIRST_VALIDATION` on: the search never uses their random numbers.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf, isfinite, nan
from sys import intern
from typing import NamedTuple

from gridtune import limits
from gridtune.model.metrics.registry import ALWAYS
from gridtune.model.streams import HELD_OUT
from gridtune.optimize.records.evaluations import EXCESS_WAIT, Estimate, Evaluation, Failed, Objective, Value
from gridtune.optimize.replication.guards import (
    HOPELESS,
    LONGEST,
    NO_MORE_LOSS,
    NO_STARVATION,
    OF_USER,
    delayed,
    excess_losses,
    excess_waits,
    longest_allowed,
)
from gridtune.optimize.search_space.cases import summed_up
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Configuration, key
from gridtune.optimize.studies.tables import Run
from gridtune.scenarios.execution.replicate import Metrics, Task

FIRST_VALIDATION = HELD_OUT
FIRST_ELIMINATION, FIRST_CONFIRMATION = FIRST_VALIDATION + 1000, FIRST_VALIDATION + 2000
UNSET = key({})  # the baseline's, in places
Entry = Evaluation | Failed
Measured = Mapping[str, float]  # what a run gave, by metric


class Place(NamedTuple):
    """Which run."""

    name: str  # key of the configuration; `UNSET` for the baseline
    case: str  # name of it
    replication: int


class RunTable:
    """What each run gave."""

    def __init__(self, settings: Settings, rows: Iterable[Run] = ()) -> None:
        self.settings = settings
        self._loss, self._waits = (one in settings.constraints for one in (NO_MORE_LOSS, NO_STARVATION))
        self.guarded = self._loss or self._waits  # each run is compared with the baseline's of equal numbers
        self._cases = {case.name: case for case in settings.run_in}
        # Key of the baseline's configuration; empty if it is not evaluated.
        self.baseline = "" if settings.baseline is None else key(settings.baseline.configuration)
        self._known = self.given(rows)

    def given(self, rows: Iterable[Run]) -> dict[Place, Measured]:
        """What those rows say that are of this search."""
        known = [row for row in rows if row.case in self._cases]
        return {Place(self.name(row.values), row.case, row.replication): row.metrics for row in known}

    def name(self, configuration: Mapping[str, Value]) -> str:
        """The key of a configuration; what sets nothing else than the baseline is the baseline."""
        found = key(configuration)
        return UNSET if found == self.baseline else found

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, place: Place) -> bool:
        return place in self._known

    def add(self, place: Place, values: Mapping[str, Value], metrics: Metrics) -> Run:
        """Take in a run in which these values were set, and give it as a row of the table of a study."""
        # Python's own numbers, as a study has them when it is read again: it adds others up differently.
        measured = {intern(name): float(metric.value) for name, metric in metrics.items()}
        self._known[place] = measured
        return Run(values, place.case, place.replication, measured)

    def places(self, configuration: Configuration, replications: Iterable[int]) -> list[Place]:
        """The runs of a configuration under some replications, case by case."""
        name, numbers = self.name(configuration), list(replications)
        return [Place(name, case, k) for case in self._cases for k in numbers]

    def task(self, place: Place, configuration: Configuration) -> Task:
        """The run at a place of a configuration; the baseline's sets nothing."""
        case = self._cases[place.case]
        if place.name == UNSET:
            return Task(case.scenario, {}, case.seed, place.replication)
        return Task(case.scenario, configuration, case.seed, place.replication, self._patience(place))

    def _patience(self, place: Place) -> float:
        """The wait (s) far beyond what the guard against starvation allows; infinite without that guard."""
        longest = self._known.get(place._replace(name=UNSET), {}).get(LONGEST, nan)
        if not self._waits or not isfinite(longest):
            return inf
        return HOPELESS * longest_allowed(longest, self.settings.scenario.spec.searching.starvation)

    def had(self, configuration: Configuration, first: int = 0, among: Container[Place] | None = None) -> int:
        """Replications in a row that a configuration has in every case, of all known runs or some."""
        count = 0
        while all(
            place in self._known and (among is None or place in among)
            for place in self.places(configuration, [first + count])
        ):
            count += 1
        return count

    def runs(self, configuration: Configuration, replications: Sequence[int]) -> list[list[dict[str, float]]]:
        """What a configuration gave, by case, then by replication, with what it loses beyond the baseline.

        A class without jobs in some runs waits no longer there: its mean is above 0 if that of the others is.
        """
        name = self.name(configuration)
        found = [[self._compared(Place(name, case, k)) for k in replications] for case in self._cases]
        for case in found if self._waits else ():
            classes = {name for run in case for name in run if name.startswith(f"{EXCESS_WAIT}.")}
            for run in case:
                run.update(dict.fromkeys(classes - run.keys(), 0.0))
        return found

    def entry(
        self, number: int, configuration: Configuration, among: Container[Place] | None = None
    ) -> Entry | None:
        """The evaluation of a configuration by all known runs or some; None without any in the search."""

        def by(first: int) -> Entry | None:
            count = self.had(configuration, first, among)
            runs = self.runs(configuration, range(first, first + count))
            return evaluated(number, configuration, runs, self.settings, first) if count else None

        found = by(0)
        if not isinstance(found, Evaluation):
            return found
        if isinstance(again := by(FIRST_VALIDATION), Evaluation):
            found = replace(found, validated=again.objectives, validated_cases=again.cases)
        if isinstance(again := by(FIRST_CONFIRMATION), Evaluation):
            found = replace(found, confirmed=again.objectives)
        return found

    def _compared(self, place: Place) -> dict[str, float]:
        run = dict(self._known[place])
        # Where the baseline fails it loses everything that there is, and no configuration can lose more.
        beside = self._known.get(place._replace(name=UNSET))
        baseline = run | {"lost_fraction": 1.0} if beside is None else beside
        # What a run that ended early has left over is no loss; see `Task.patience`.
        ended = run.get(LONGEST, 0.0) > self._patience(place)
        losses = excess_losses(baseline if ended else run, baseline) if self._loss else {}
        told = {name: value for name, value in run.items() if not name.startswith(OF_USER)}
        if not self._waits and len(told) == len(run):
            return told | losses
        bounds = self.settings.scenario.spec.searching.starvation
        waits = excess_waits(run, baseline, bounds) if self._waits else {}
        return told | losses | waits | delayed(run, beside or {}, bounds)


def evaluated(
    number: int, values: Configuration, runs: Sequence[Sequence[Measured]], settings: Settings, first: int = 0
) -> Evaluation | Failed:
    """The evaluation of a configuration; failed if an objective or constraint is not finite or too large.

    An objective sums up the cases replication by replication, so that its standard error is that of the sum.
    """
    several = len(settings.run_in) > 1
    summaries: list[dict[str, Estimate]] = []
    estimates: dict[str, dict[str, Estimate]] = {}
    for case, replications in zip(settings.run_in, runs, strict=True):
        every = dict.fromkeys(name for run in replications for name in run)
        summary = {name: Estimate.of([run.get(name, nan) for run in replications]) for name in every}
        # A class of jobs may be compared with the baseline's in some runs only.
        always = [name for name in replications[0] if all(name in run for run in replications)]
        names = settings.watched(always)
        if fault := _fault(summary, names, first):
            return Failed(number, values, f"{case.name}: {fault}" if several else fault)
        summaries.append(summary)
        estimates[case.name] = {name: summary[name] for name in names}
    objectives = {one.name: _over_cases(summaries, one, settings.robust) for one in settings.objectives}
    others = dict.fromkeys(name for summary in summaries for name in summary if name not in objectives)
    means = {name: [summary[name].mean for summary in summaries if name in summary] for name in others}
    metrics = {name: sum(each) / len(each) for name, each in means.items()}
    cases = estimates if several or settings.constraints else {}
    return Evaluation(number, values, objectives, metrics, cases=cases)


def _over_cases(summaries: Sequence[Mapping[str, Estimate]], objective: Objective, robust: str) -> Estimate:
    replications = zip(*(summary[objective.name].values for summary in summaries), strict=True)
    return Estimate.of([summed_up(values, objective.direction, robust) for values in replications])


def _fault(summaries: Mapping[str, Estimate], watched: Sequence[str], first: int) -> str:
    for name in watched:
        if name not in summaries:
            return f"{name} is not measured in this scenario"
        for replication, value in enumerate(summaries[name].values, start=first):
            if not abs(value) <= limits.METRIC:
                why = ": work was lost or left over" if value == inf and name in ALWAYS else ""
                return f"{name} is {'infinite' if value == inf else value} in replication {replication}{why}"
    return ""
