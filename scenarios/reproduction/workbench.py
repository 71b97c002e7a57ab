"""What an experiment works with: runs with common random numbers, a size, and a place for figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.execution.replicate import Task, evaluate
from gridtune.scenarios.results.run import Run
from gridtune.scenarios.simulation.simulate import simulate
from gridtune.scenarios.workers.pool import Pool

T = TypeVar("T")
Configuration = Mapping[str, object]
Values = dict[str, list[float]]
Read = Callable[[Run], Mapping[str, float]]


@dataclass
class Workbench:
    """What an experiment works with.

    Attributes:
        pool: who runs.
        replications: runs of each configuration, with random numbers that all configurations share.
        seed: of all runs.
        out: folder for figures and tables; exists.
        quick: whether experiments are done at reduced size.
        figures: files drawn so far.
        left_out: experiments that could not be done, each with the reason.
    """

    pool: Pool
    replications: int
    seed: int
    out: Path
    quick: bool = False
    figures: list[Path] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def evaluate(self, scenario: Scenario, configurations: Sequence[Configuration]) -> list[Values]:
        """For each configuration, each metric's value in each replication."""
        return self.measure(scenario, configurations, metrics_of)

    def measure(
        self,
        scenario: Scenario,
        configurations: Sequence[Configuration],
        read: Read,
        *,
        keep_events: bool = False,
    ) -> list[Values]:
        """For each configuration, what is read off each replication, by name.

        Args:
            scenario: what to run.
            configurations: values to set, by path.
            read: takes numbers from a finished run; importable from its module.
            keep_events: whether runs keep every transition of every job.
        """
        made: list[Values] = [{} for _ in configurations]
        work = _Reading(read, keep_events)
        for outcome in evaluate(
            scenario, configurations, self.seed, range(self.replications), self.pool, work
        ):
            runs = outcome.value
            made[outcome.index] = {key: [run[key] for run in runs] for key in runs[0]}
        return made

    def choose(self, full: T, quick: T) -> T:
        """The size of something: in full, or reduced."""
        return quick if self.quick else full

    def figure(self, name: str) -> Path:
        """Path of a figure to draw, remembered as drawn."""
        path = self.out / f"{name}.png"
        self.figures.append(path)
        return path


def metrics_of(run: Run) -> dict[str, float]:
    """Every metric of a run."""
    return {name: metric.value for name, metric in run.metrics.items()}


@dataclass(frozen=True)
class _Reading:
    """Does one run in a worker and reads it there: runs are too large to travel."""

    read: Read
    keep_events: bool

    def __call__(self, task: Task) -> dict[str, float]:
        run = simulate(task.resolved(), task.seed, task.replication, keep_events=self.keep_events)
        return dict(self.read(run))
