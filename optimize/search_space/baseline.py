"""The baseline as a configuration of a search: what stands in the scenario for everything that is varied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gridtune.optimize.records.evaluations import Value
from gridtune.optimize.search_space.cases import Case
from gridtune.optimize.search_space.parameter import same
from gridtune.optimize.search_space.space import Configuration, Space
from gridtune.scenarios.document.path_meaning import meaning
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError


@dataclass(frozen=True)
class Baseline:
    """The scenario's own configuration."""

    # What a search sets for it; nothing where it is no configuration of the space.
    configuration: Configuration = field(default_factory=dict)
    values: Configuration = field(default_factory=dict)  # what stands in the scenario, as far as it exists
    notes: tuple[str, ...] = ()  # why it is no configuration of the space, a line each


def baseline_of(scenario: Scenario, space: Space, cases: Sequence[Case] = ()) -> Baseline:
    """The scenario's own configuration, if the space allows its values and setting them changes no case."""
    values: dict[str, Value] = {}
    notes: list[str] = []
    for parameter in space:
        if not parameter.exists(values):
            continue
        value = meaning(scenario, parameter.path).value
        if value is None:
            notes.append(f"{parameter.path} has no one value in the scenario")
            continue
        values[parameter.path] = near = parameter.nearest(value)
        if not same(near, value):
            notes.append(f"{parameter.path} is {value}, outside of what is searched ({parameter.allowed})")
            values[parameter.path] = value
    notes = notes or [
        f"{case.name}: stands elsewhere than the first scenario"
        for case in (cases or [Case(scenario.name, scenario, 1)])
        if not _unchanged(case.scenario, values)
    ]
    return Baseline({} if notes else dict(values), values, tuple(notes))


def starting_configurations(
    given: Sequence[Mapping[str, Value]], space: Space, baseline: Baseline, where: str
) -> Iterator[Configuration | str]:
    """Settings to begin with as configurations of a space; for each that is none, why.

    What a setting leaves out is as in the baseline, or in the middle of its range if that has nothing.
    """
    for number, values in enumerate(given, start=1):
        place = f"{where}: setting {number}"
        for path in values:
            if path not in space.paths:
                raise ScenarioError(f"{place}: {path} is not searched")
        yield _completed(values, space, baseline, place)


def _completed(
    given: Mapping[str, Value], space: Space, baseline: Baseline, where: str
) -> Configuration | str:
    configuration: Configuration = {}
    for parameter in space:
        path = parameter.path
        if not parameter.exists(configuration):
            if path in given:
                needed = " and ".join(f"{one} {values[0]}" for one, values in parameter.when.items())
                return f"{where}: {path} exists only with {needed}; left out"
            continue
        value = given[path] if path in given else baseline.values.get(path)
        near = parameter.nearest(value)
        fits = value is not None and same(near, value)
        if path in given and not fits:
            return f"{where}: {path} is {value}, outside of {parameter.allowed}; left out"
        configuration[path] = near if fits else parameter.at(0.5)
    return configuration


def _unchanged(scenario: Scenario, configuration: Configuration) -> bool:
    """Whether setting a configuration changes nothing in a scenario."""
    try:
        return scenario.override(configuration).active == scenario.active
    except ScenarioError:
        return False
