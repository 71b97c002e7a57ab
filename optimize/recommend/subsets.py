"""Changes of a configuration to the baseline, and the configurations that have only some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10

from gridtune.optimize.records.values import Value
from gridtune.optimize.search_space.space import Configuration, Space

DIGITS = 2  # of recommended numbers


@dataclass(frozen=True)
class Unit:
    """Parameters that are changed together: one that the baseline has, and those that come with it.

    Attributes:
        path: of the parameter; where only parameters that the baseline lacks differ, of the first of them.
        values: what is set, by path.
    """

    path: str
    values: Configuration


def units_of(space: Space, baseline: Configuration, configuration: Configuration) -> list[Unit]:
    """The changes of a configuration, each with the parameters that exist because of it.

    Args:
        space: what is searched.
        baseline: the baseline's values, by path, as far as the parameters exist there.
        configuration: the configuration.
    """
    found: dict[str, Configuration] = {}
    owner: dict[str, str] = {}
    for parameter in space:
        path = parameter.path
        if path not in configuration:
            continue
        parents = [owner[one] for one in parameter.when if one in owner]
        if path in baseline and not (parents and parameter.when and baseline[path] == configuration[path]):
            if baseline[path] == configuration[path]:
                continue
            owner[path] = path
        else:
            owner[path] = parents[0] if parents else path
        found.setdefault(owner[path], {})[path] = configuration[path]
    return [Unit(path, values) for path, values in found.items()]


def combined(space: Space, baseline: Configuration, units: Sequence[Unit]) -> Configuration | None:
    """The baseline with some changes; None where a parameter would exist that nobody gives a value."""
    flat: Configuration = dict(baseline)
    for unit in units:
        flat |= unit.values
    try:
        return space.active(flat)
    except KeyError:
        return None


def rounded(space: Space, configuration: Configuration, baseline: Configuration) -> Configuration:
    """The configuration with its changed numbers rounded to `DIGITS` digits, within their ranges."""
    found: Configuration = {}
    for parameter in space:
        if parameter.path in configuration:
            value = configuration[parameter.path]
            changed = baseline.get(parameter.path) != value
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if changed and number and not parameter.choices:
                value = _rounded(float(value), parameter.low, parameter.high, parameter.whole)
            found[parameter.path] = value
    return found


def _rounded(value: float, low: float, high: float, whole: bool) -> Value:
    if value == 0:
        return int(value) if whole else value
    digits = DIGITS - 1 - floor(log10(abs(value)))
    near = min(max(round(value, digits), low), high)
    return round(near) if whole else float(near)
