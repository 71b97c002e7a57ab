"""Replications: runs of one scenario with different random numbers, and their summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import inf, isfinite, nan, sqrt
from typing import Any, TypeVar

from gridtune import limits
from gridtune.model.metrics.registry import LOGGED_METRICS, METRICS, Metric, definition
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.simulation.simulate import simulate
from gridtune.scenarios.workers.pool import Failure, Outcome, Pool, TaskError

R = TypeVar("R")
Metrics = dict[str, Metric]


def known_metrics(names: Sequence[str]) -> Sequence[str]:
    """The names, if all are of metrics and each is there once.

    Raises:
        ScenarioError: an unknown metric, or one named twice.
    """
    for name in names:
        if name not in METRICS:
            raise no_metric(name)
        if names.count(name) > 1:
            raise ScenarioError(f"{name}: an objective counts once; it was named {names.count(name)} times")
    return names


def no_metric(name: str) -> ScenarioError:
    """What to say of a metric that there is not."""
    if definition(name) in LOGGED_METRICS.values():
        return ScenarioError(
            f"{name[:60]}: guards and harms look at it, but it cannot be an objective or limit; "
            "docs/writing-a-metric.md has a metric that can"
        )
    near = get_close_matches(name, METRICS, n=3, cutoff=0.4)
    if get_close_matches(name, near[:1]):
        hint = f"did you mean {near[0]}?"
    else:
        hint = f"the nearest are {', '.join(near)}; " if near else ""
        hint += "`gridtune run SCENARIO --all` lists all"
    return ScenarioError(f"{name[:60]}: no such metric; {hint}")


@dataclass(frozen=True)
class Task:
    """One run to be done.

    Equal (seed, replication) give equal workloads, whatever the values: common random numbers.

    Attributes:
        scenario: what to run.
        values: to set in it, by path.
        seed, replication: of the random numbers.
        patience: the wait of a mandatory job after which the run ends, s.
    """

    scenario: Scenario
    values: Mapping[str, Any]
    seed: int
    replication: int
    patience: float = inf

    def resolved(self) -> Scenario:
        """The scenario with the values set.

        Raises:
            ScenarioError: a path or value that does not fit.
        """
        return self.scenario.override(self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        # Without what is derived: policies from plugin files cannot be pickled, they are read again.
        return _task, (self.scenario.parts, dict(self.values), self.seed, self.replication, self.patience)


def _task(
    parts: tuple[Any, ...], values: dict[str, Any], seed: int, replication: int, patience: float
) -> Task:
    return Task(Scenario(*parts), values, seed, replication, patience)


@dataclass(frozen=True)
class Summary:
    """A summary describes a metric over replications.

    Attributes:
        mean: nan or infinite if any value is: a metric that one replication could not give has no mean.
        standard_error: of the mean; None for a single replication, without a mean or beyond `limits.METRIC`.
        values: one per replication, in their order.
        unit: of all of them.
    """

    mean: float
    standard_error: float | None
    values: tuple[float, ...]
    unit: str = ""

    @classmethod
    def of(cls, values: Sequence[float], unit: str = "") -> Summary:
        """Sum up values.

        Raises:
            ValueError: there are none.
        """
        if not values:
            raise ValueError("no values to sum up")
        mean = sum(values) / len(values)
        if len(values) == 1 or not isfinite(mean) or max(map(abs, values)) > limits.METRIC:
            return cls(mean, None, tuple(values), unit)
        if min(values) == max(values):  # a mean may be rounded
            return cls(mean, 0.0, tuple(values), unit)
        variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
        return cls(mean, sqrt(variance / len(values)), tuple(values), unit)

    def as_json(self) -> dict[str, Any]:
        """As in the output of `run` and `sweep`; what is not finite becomes null."""
        return {
            "mean": _number(self.mean),
            "standard_error": _number(self.standard_error),
            "values": list(map(_number, self.values)),
            "unit": self.unit,
        }


def metrics_of(task: Task) -> Metrics:
    """What a worker does by default: simulate, and keep the metrics."""
    return simulate(task.resolved(), task.seed, task.replication, patience=task.patience).metrics


def replicate(
    scenario: Scenario,
    seed: int,
    replications: int,
    pool: Pool,
    work: Callable[[Task], R] = metrics_of,  # type: ignore[assignment]
) -> list[R]:
    """Run a scenario several times.

    Args:
        scenario: what to run.
        seed: of the experiment.
        replications: how often; they are numbered from 0.
        pool: who runs them.
        work: what to do with each run to be done; it must be importable from its module.

    Raises:
        ScenarioError: the first replication that failed, and why.
        TaskError: the same, where it is a fault of gridtune.
    """
    tasks = [Task(scenario, {}, seed, replication) for replication in range(replications)]
    results = []
    for outcome in pool.map(work, tasks):
        if outcome.failure is not None:
            raise _reason(f"{scenario.name}: replication {outcome.index}", outcome.failure)
        results.append(outcome.value)
    return results


def _reason(where: str, failure: Failure) -> ScenarioError | TaskError:
    error = (TaskError if failure.internal else ScenarioError)(f"{where}: {failure}")
    error.trace = failure.trace
    return error


def summarise(runs: Sequence[Metrics]) -> dict[str, Summary]:
    """Every metric over replications. One that only some replications have counts as nan in the others."""
    units = {name: metric.unit for run in runs for name, metric in run.items()}
    missing = Metric(nan, "")
    return {
        name: Summary.of([run.get(name, missing).value for run in runs], unit) for name, unit in units.items()
    }


def evaluate(
    scenario: Scenario,
    configurations: Sequence[Mapping[str, Any]],
    seed: int,
    replications: Sequence[int],
    pool: Pool,
    work: Callable[[Task], R] = metrics_of,  # type: ignore[assignment]
) -> Iterator[Outcome[list[R]]]:
    """Run a scenario at many configurations, each under the same replications.

    Args:
        scenario: what to run.
        configurations: values to set, by path.
        seed: of the experiment.
        replications: their numbers.
        pool: who runs them.
        work: what to do with each run to be done.

    Yields:
        for each configuration, as soon as it is complete, its results in the order of the replications. A
        configuration fails with its first failing replication.
    """
    groups = [
        [Task(scenario, configuration, seed, replication) for replication in replications]
        for configuration in configurations
    ]
    return run_groups(groups, pool, work)


def run_groups(
    groups: Sequence[Sequence[Task]],
    pool: Pool,
    work: Callable[[Task], R] = metrics_of,  # type: ignore[assignment]
    *,
    known: Sequence[Mapping[int, R]] = (),
    heard: Callable[[int, int, R], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[Outcome[list[R]]]:
    """Run tasks that belong together.

    Args:
        groups: the tasks.
        pool: who runs them.
        work: what to do with each task.
        known: for each group results that are there already, by position; they are not run again.
        heard: told of each result as it comes: its group, its position there, and itself.
        stop: see `Pool.run`; groups that are not complete by then are not given.

    Yields:
        for each group, as soon as it is complete, its results in the order of its tasks. A group fails with
        its first failing task; where its tasks are about several scenarios, the failure names that one.
    """
    results: list[dict[int, R]] = [dict(known[index]) if known else {} for index in range(len(groups))]
    failures: list[dict[int, Failure]] = [{} for _ in groups]
    places = [
        (index, at)
        for index, group in enumerate(groups)
        for at in range(len(group))
        if at not in results[index]
    ]
    left = [len(group) - len(results[index]) for index, group in enumerate(groups)]
    for index, waiting in enumerate(left):
        if not waiting:
            yield _complete(index, groups[index], results[index], failures[index])
    for outcome in pool.run(work, [groups[index][at] for index, at in places], stop):
        index, at = places[outcome.index]
        left[index] -= 1
        if outcome.failure is None:
            results[index][at] = outcome.value
            if heard is not None:
                heard(index, at, outcome.value)
        else:
            failures[index][at] = outcome.failure
        if left[index] == 0:
            yield _complete(index, groups[index], results[index], failures[index])


def _complete(
    index: int, group: Sequence[Task], results: Mapping[int, R], failures: Mapping[int, Failure]
) -> Outcome[list[R]]:
    if failures:
        first = min(failures)
        return Outcome(index, None, _located(failures[first], group, first))
    return Outcome(index, [results[at] for at in sorted(results)])


def _located(failure: Failure, group: Sequence[Task], at: int) -> Failure:
    name = group[at].scenario.name
    if all(task.scenario.name == name for task in group):
        return failure
    return Failure(failure.kind, f"{name}: {failure.message}", failure.trace)


def as_json(metrics: Mapping[str, Summary]) -> dict[str, Any]:
    """Metrics as `run` and `sweep` print them, by name."""
    return {name: summary.as_json() for name, summary in metrics.items()}


def _number(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else value
