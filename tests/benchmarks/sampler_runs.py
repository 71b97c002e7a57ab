"""Runs of a benchmark, each done once and remembered: many searches come by the same points."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import log
from pathlib import Path
from statistics import fmean

from gridtune.model.metrics.registry import Metric
from gridtune.optimize.records.evaluations import Value
from gridtune.optimize.search_space.parameter import Parameter
from gridtune.optimize.search_space.space import Point, key
from gridtune.scenarios.execution.replicate import Metrics, Task, metrics_of
from tests.benchmarks.sampler_cases import Case

STEPS = 8  # in which a range is rounded before it is simulated


class Runs:
    """Simulates points of a case, unless it is known what comes of them.

    Values of ranges are rounded to one of 9 before they are simulated (by logarithm where the range is
    logarithmic), so that close points are one and the same run. The samplers see the exact values.

    Args:
        case: what is simulated.
        memory: file with runs of earlier programs, which gets the new ones.
    """

    def __init__(self, case: Case, memory: Path) -> None:
        self.case = case
        self._memory = memory
        self._known: dict[str, list[float]] = {}
        if memory.exists():
            for line in memory.read_text("utf-8").splitlines():
                name, values = json.loads(line)
                self._known[name] = values
        self._parts = {part: case.part(part) for part in case.parts} or {"": case.scenario}
        self._ranges = {parameter.path: parameter for parameter in case.space if not parameter.choices}

    def __call__(self, task: Task) -> Metrics:
        """Objectives of a run."""
        point = self.rounded(task.values)
        found = [self._run(part, point, task) for part in self._parts]
        means = [fmean(values) for values in zip(*found, strict=True)]
        return {goal.name: Metric(mean, goal.unit) for goal, mean in zip(self.case.goals, means, strict=True)}

    def rounded(self, point: Mapping[str, Value]) -> Point:
        """The point that is simulated in the place of another."""
        ranges = self._ranges
        return {path: _rounded(ranges[path], v) if path in ranges else v for path, v in point.items()}

    def _run(self, part: str, point: Point, task: Task) -> list[float]:
        mine = {path: value for path, value in point.items() if not part or f".{part}." in path}
        name = f"{part} {task.seed} {task.replication} {key(mine)}"
        if name not in self._known:
            metrics = metrics_of(Task(self._parts[part], mine, task.seed, task.replication))
            self._known[name] = [metrics[goal.name].value for goal in self.case.goals]
            with self._memory.open("a", encoding="utf-8") as file:
                file.write(json.dumps([name, self._known[name]]) + "\n")
        return self._known[name]


def _rounded(parameter: Parameter, value: Value) -> Value:
    low, high, here = parameter.low, parameter.high, float(value)
    share = log(here / low) / log(high / low) if parameter.log else (here - low) / (high - low)
    share = round(share * STEPS) / STEPS
    nearest = low * (high / low) ** share if parameter.log else low + share * (high - low)
    return round(nearest) if parameter.whole else min(max(nearest, low), high)
