"""Which settings of a configuration matter: each is put back alone to the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gridtune.optimize.explanation.validation_runs import Validated
from gridtune.optimize.front.changes import Change, Runs, changes
from gridtune.optimize.records.evaluations import Objective, Value
from gridtune.optimize.search_space.space import Configuration, Space
from gridtune.scenarios.document.path_meaning import meaning
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError


@dataclass(frozen=True)
class Removal:
    """A configuration with one of its settings put back.

    Attributes:
        path: of the setting.
        before: what the baseline has.
        along: settings that go with it, for they exist only under the value that the configuration sets.
        left: what the configuration still sets.
        refused: why the scenario does not take that; "" if it does.
    """

    path: str
    before: Value | None
    along: tuple[str, ...]
    left: Configuration
    refused: str = ""


@dataclass(frozen=True)
class Ablation:
    """What putting a setting back does.

    Attributes:
        removal: which.
        changes: from the configuration to what is left of it, in each objective.
        failure: why there are none; "" if there are.
    """

    removal: Removal
    changes: tuple[Change, ...]
    failure: str = ""

    def __repr__(self) -> str:
        return f"Ablation({self.removal.path!r}, {self.failure or f'{len(self.changes)} changes'})"

    def effect(self, ranges: Mapping[str, float]) -> float:
        """The largest change that is significant, as a share of an objective's range."""
        sizes = [abs(c.difference.mean) / ranges[c.metric.name] for c in self.changes if c.beyond_noise]
        return max(sizes, default=0.0)

    def as_json(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "path": self.removal.path,
            "before": self.removal.before,
            "along": list(self.removal.along),
            "failure": self.failure or None,
            "changes": [one.as_json() for one in self.changes],
        }


def removals(scenario: Scenario, space: Space, configuration: Configuration) -> list[Removal]:
    """Every setting of a configuration that is not what the baseline has, put back alone."""
    whole = scenario.override(configuration).spec
    found = []
    for path in configuration:
        before = meaning(scenario, path).value
        left = _left(space, configuration, path, before)
        along = tuple(other for other in configuration if other != path and other not in left)
        try:
            if scenario.override(left).spec != whole:
                found.append(Removal(path, before, along, left))
        except ScenarioError as error:
            found.append(Removal(path, before, along, left, error.faults[0]))
    return found


def ablations(
    objectives: Sequence[Objective],
    here: Runs,
    removed: Sequence[Removal],
    results: Sequence[Validated | str],
    ranges: Mapping[str, float],
) -> tuple[Ablation, ...]:
    """What each removal does, that with the largest effect first.

    Args:
        objectives: what is looked at.
        here: the configuration.
        removed: see `removals`.
        results: of those that the scenario takes, in their order.
        ranges: of the objectives, to compare effects by.
    """
    given = iter(results)
    found = []
    for removal in removed:
        result = removal.refused or next(given)
        if isinstance(result, str):
            found.append(Ablation(removal, (), result))
        else:
            found.append(Ablation(removal, changes(objectives, here, result.values)))
    return tuple(sorted(found, key=lambda one: -one.effect(ranges)))


def _left(space: Space, configuration: Configuration, path: str, before: Value | None) -> Configuration:
    """What a configuration still sets without a setting, and without those that exist only because of it."""
    present: Configuration = {}
    for parameter in space:
        if parameter.path == path:
            if before is not None:
                present[path] = before
        elif parameter.path in configuration and parameter.exists(present):
            present[parameter.path] = configuration[parameter.path]
    return {other: value for other, value in present.items() if other != path}
