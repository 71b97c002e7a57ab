"""Which settings of a configuration matter: each is put back alone to the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gridtune.optimize.front.changes import Change
from gridtune.optimize.records.evaluations import Value
from gridtune.optimize.search_space.space import Configuration, Space
from gridtune.scenarios.document.path_meaning import meaning
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError


@dataclass(frozen=True)
class Ablation:
    """A configuration with one of its settings put back, and what that does.

    Attributes:
        path: of the setting.
        before: what the baseline has.
        along: settings that go with it, for they exist only under the value that the configuration sets.
        left: what the configuration still sets.
        failure: why that cannot be run; "" if it can.
        changes: from the configuration to what is left of it, in each objective.
    """

    path: str
    before: Value | None
    along: tuple[str, ...]
    left: Configuration = field(repr=False)
    failure: str = ""
    changes: tuple[Change, ...] = field(default=(), repr=False)

    def effect(self, ranges: Mapping[str, float]) -> float:
        """The largest change that is significant, as a share of an objective's range."""
        sizes = [abs(c.difference.mean) / ranges[c.metric.name] for c in self.changes if c.beyond_noise]
        return max(sizes, default=0.0)

    def as_json(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "path": self.path,
            "before": self.before,
            "along": list(self.along),
            "failure": self.failure or None,
            "changes": [one.as_json() for one in self.changes],
        }


def removals(scenario: Scenario, space: Space, configuration: Configuration) -> list[Ablation]:
    """Every setting of a configuration that is not what the baseline has, put back alone; not yet run."""
    whole = scenario.override(configuration).spec
    found = []
    for path in configuration:
        before = meaning(scenario, path).value
        left = _left(space, configuration, path, before)
        along = tuple(other for other in configuration if other != path and other not in left)
        try:
            same, refused = scenario.override(left).spec == whole, ""
        except ScenarioError as error:
            same, refused = False, error.faults[0]
        if not same:
            found.append(Ablation(path, before, along, left, refused))
    return found


def _left(space: Space, configuration: Configuration, path: str, before: Value | None) -> Configuration:
    """What a configuration still sets without a setting, and without those that exist only because of it."""
    present: Configuration = {}
    for parameter in space:
        if parameter.path == path:
            if before is not None:
                present[path] = before
        elif parameter.path in configuration and parameter.exists(present):
            present[parameter.path] = configuration[parameter.path]
    present.pop(path, None)
    return present
