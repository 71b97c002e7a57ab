"""Parameters of components that can be switched off: values of what is off make no difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from gridtune.optimize.search_space.parameter import Parameter
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.fields.table import Switchable


def within_parts(
    parameters: Mapping[str, Parameter], scenario: Scenario, asked: Set[str]
) -> dict[str, Parameter]:
    """Parameters as they are searched: those of a component that is varied exist while it is on.

    Those of components that are off are left out, and those that only exist beside them. So no two
    configurations set the same scenario. A table that several varied components keep on counts as one.

    Args:
        parameters: by path.
        scenario: whose [parts] and tables count.
        asked: paths that a user has asked for.

    Raises:
        ScenarioError: a parameter that was asked for, or every parameter, belongs to components that are off.
    """
    found: dict[str, Parameter] = {}
    for path, parameter in parameters.items():
        states = {part: _states(parameters, scenario, part) for part in _parts(scenario, path)}
        if states and all(state == {False} for state in states.values()):
            if path in asked:
                off = " and ".join(f"parts.{part}" for part in states)
                raise ScenarioError(f"{path}: {off} is off, so no value of it would change anything")
            continue
        switches = [part for part, state in states.items() if state == {True, False}]
        if len(switches) == 1 and not any(state == {True} for state in states.values()):
            parameter = replace(parameter, when={**parameter.when, f"parts.{switches[0]}": (True,)})
        found[path] = parameter
    while orphans := [path for path, parameter in found.items() if not found.keys() >= parameter.when.keys()]:
        for path in orphans:
            del found[path]
    if not found:
        off = "every varied parameter belongs to components that are off"
        raise ScenarioError(f"{scenario.name}: nothing to search: {off}")
    return found


def _parts(scenario: Scenario, path: str) -> set[str]:
    """Parts that keep what a path leads to in the grid; none where it always stands."""
    tables = list(_tables(scenario, path))
    return {part for table in tables for part in table.part} if all(table.part for table in tables) else set()


def _tables(scenario: Scenario, path: str) -> Iterator[Switchable]:
    """Tables that a path leads through, by the rules of `scenarios.document.paths`."""
    key, *rest = path.split(".")
    value = getattr(scenario.spec, key, None)
    tables = value if isinstance(value, list) else [value]
    named = [table for table in tables if rest and getattr(table, "name", None) == rest[0]]
    return (table for table in named or tables if isinstance(table, Switchable))


def _states(parameters: Mapping[str, Parameter], scenario: Scenario, part: str) -> set[bool | None]:
    """Whether a component is on, off, or either; None where that hangs on yet another parameter."""
    switch = parameters.get(f"parts.{part}")
    if switch is None:
        return {scenario.spec.parts[part]}
    return {None} if switch.when else {bool(value) for value in switch.values()}
