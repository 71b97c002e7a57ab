"""Which settings of a configuration matter: each is put back alone to the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gridtune.optimize.front.changes import Change, changes
from gridtune.optimize.front.front import Front
from gridtune.optimize.front.hypervolume import comparable
from gridtune.optimize.records.evaluations import Value
from gridtune.optimize.records.values import key
from gridtune.optimize.replication.compare import costs, ranges
from gridtune.optimize.runs.blocks import Sample
from gridtune.optimize.search_space.space import Configuration, Space
from gridtune.optimize.separate_runs import SeparateRuns
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
            "along": self.along,
            "failure": self.failure or None,
            "changes": [one.as_json() for one in self.changes],
        }


def removals(scenario: Scenario, space: Space, configuration: Configuration) -> list[Ablation]:
    """Every setting of a configuration that is not what the baseline has, put back alone; not yet run."""
    whole = scenario.override(configuration).spec
    found = []
    for path in configuration:
        before = meaning(scenario, path).value
        left: Configuration = {}
        for parameter in space:
            value = before if parameter.path == path else configuration.get(parameter.path)
            if value is not None and parameter.exists(left):
                left[parameter.path] = value
        left.pop(path, None)  # it was there for the parameters that exist under it
        refused = ""
        try:
            if scenario.override(left).spec == whole:
                continue
        except ScenarioError as error:
            refused = error.faults[0]
        along = tuple(other for other in configuration if other != path and other not in left)
        found.append(Ablation(path, before, along, left, refused))
    return found


def ablated(
    found: Front, here: Sample, removed: Sequence[Ablation], validation: SeparateRuns
) -> tuple[Ablation, ...]:
    """What each removal does, that with the largest effect first, in shares of the range over the search."""
    made = []
    for one in removed:
        result = None if one.failure else validation.run([one.left])[0]
        if result is None:
            made.append(replace(one, failure=one.failure or validation.failures[key(one.left)]))
        else:
            made.append(replace(one, changes=changes(found.objectives, here.values, result.values)))
    rows = costs([evaluation.objectives for evaluation in comparable(found.archive)], found.objectives)
    widths = dict(zip((o.name for o in found.objectives), ranges(rows).tolist(), strict=True))
    return tuple(sorted(made, key=lambda one: -one.effect(widths)))
