"""One dimension of a search space: the values that a path into a scenario may take, and when it exists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from math import exp, isfinite, log
from typing import TYPE_CHECKING

from gridtune.optimize.records.evaluations import Value
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.fields.table import Switchable

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

WIDE = 20.0  # ratio of the largest to the least number of a list above which their logarithms count


@dataclass(frozen=True)
class Parameter:
    """One dimension of a space."""

    path: str  # into the scenario
    choices: tuple[Value, ...] = ()  # empty for a range
    low: float = 0.0  # bounds of a range, both included
    high: float = 0.0
    log: bool = False  # whether equal ratios rather than equal differences count the same
    whole: bool = False  # whether only whole numbers are meant
    when: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)  # for it to exist, others have these

    def values(self) -> Sequence[Value]:
        """All values it can take; a continuous range has none to list."""
        return self.choices or (range(int(self.low), int(self.high) + 1) if self.whole else ())

    @property
    def logarithmic(self) -> bool:
        """Whether equal ratios of its values count the same."""
        finite = [one for one in self.choices if isinstance(one, int | float) and isfinite(one)]
        listed = len(finite) > 1 and min(finite) > 0 and max(finite) > WIDE * min(finite)
        return self.log or listed

    def distribution(self) -> BaseDistribution:
        """Its values in Optuna's terms."""
        from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

        if self.choices:
            return CategoricalDistribution(self.choices)
        if self.whole:
            return IntDistribution(int(self.low), int(self.high), log=self.log)
        return FloatDistribution(self.low, self.high, log=self.log)

    def exists(self, given: Mapping[str, Value]) -> bool:
        """Whether its conditions hold at a configuration that has values for the parameters before it."""
        return all(path in given and among(given[path], values) for path, values in self.when.items())

    def excludes(self, other: Parameter) -> bool:
        """Whether their conditions never hold both."""
        common = self.when.keys() & other.when.keys()
        return any(not any(among(one, other.when[path]) for one in self.when[path]) for path in common)

    def at(self, share: float) -> Value:
        """The value at a share of the way from its first or least to its last or greatest, in [0, 1]."""
        if self.choices:
            return self.choices[min(int(share * len(self.choices)), len(self.choices) - 1)]
        # Whole numbers get slices of equal width, so that both ends are as likely as the rest.
        low, high = (self.low - 0.5, self.high + 0.5) if self.whole else (self.low, self.high)
        value = exp(log(low) + (log(high) - log(low)) * share) if self.log else low + (high - low) * share
        clipped = min(max(round(value) if self.whole else value, self.low), self.high)
        return int(clipped) if self.whole else float(clipped)

    def share(self, value: Value) -> float:
        """Where a value stands, the inverse of `at`; the middle of its slice for a choice."""
        if self.choices:
            return (self.position(value) + 0.5) / len(self.choices)
        low, high = (self.low - 0.5, self.high + 0.5) if self.whole else (self.low, self.high)
        number = float(value)
        return log(number / low) / log(high / low) if self.log else (number - low) / (high - low)

    def position(self, value: Value) -> int:
        """Which of the choices a value is, from 0."""
        return next(at for at, one in enumerate(self.choices) if same(one, value))

    def nearest(self, value: Value | None) -> Value:
        """The value it may take that is nearest to a number, or the same; else its first or least one."""
        number = value if isinstance(value, int | float) else self.low
        if not self.choices:
            clipped = min(max(number, self.low), self.high)
            return round(clipped) if self.whole else float(clipped)
        if value is not None and among(value, self.choices):
            return next(one for one in self.choices if same(one, value))
        numbers = [one for one in self.choices if isinstance(one, int | float)] if number == value else []
        return min(numbers, key=lambda one: (abs(one - number), -one), default=self.choices[0])

    @property
    def allowed(self) -> str:
        """The values it may take, in words."""
        if self.choices:
            return f"one of {', '.join(map(str, self.choices))}"
        kind = "whole numbers " if self.whole else ""
        return f"{kind}{self.low:g} to {self.high:g}{', logarithmic' if self.log else ''}"

    def __str__(self) -> str:
        conditions = [f"{path} is {' or '.join(map(str, values))}" for path, values in self.when.items()]
        return f"{self.path}: {self.allowed}{', when ' if conditions else ''}{' and '.join(conditions)}"


def among(value: Value, values: Sequence[Value]) -> bool:
    """Whether a value is one of some."""
    return any(same(value, other) for other in values)


def same(value: Value, other: Value) -> bool:
    """Whether two values are one; True and 1 are equal in Python, not in a scenario."""
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def within_parts(
    parameters: Mapping[str, Parameter], scenario: Scenario, asked: Set[str]
) -> dict[str, Parameter]:
    """Parameters as they are searched, by path: those of a component that is varied exist while it is on.

    Those of components that are off are left out, and those that only exist beside them; a `ScenarioError`
    if one of them was asked for, or none is left. So no two configurations set the same scenario. A table
    that several varied components keep on counts as one.
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
    key, *rest = path.split(".")  # by the rules of `scenarios.document.paths`
    value = getattr(scenario.spec, key, None)
    some = value if isinstance(value, list) else [value]
    named = [table for table in some if rest and getattr(table, "name", None) == rest[0]]
    tables = [table for table in named or some if isinstance(table, Switchable)]
    return {part for table in tables for part in table.part} if all(table.part for table in tables) else set()


def _states(parameters: Mapping[str, Parameter], scenario: Scenario, part: str) -> set[bool | None]:
    """Whether a component is on, off, or either; None where that hangs on yet another parameter."""
    switch = parameters.get(f"parts.{part}")
    if switch is None:
        return {scenario.spec.parts[part]}
    return {None} if switch.when else {bool(value) for value in switch.values()}
