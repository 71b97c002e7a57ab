"""What of a scenario can be set while it is watched: its search space, its policies and their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import log10
from typing import Any

import numpy as np
from pydantic import BaseModel

from gridtune.model.policy import Policy, declared, policies
from gridtune.scenarios.document.path_meaning import meaning
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.tables.search import Choices, Range, Value

AS_IN_SCENARIO = "as in the scenario"
STOPS = 13  # values offered of a logarithmic range


@dataclass(frozen=True)
class Control:
    """One thing to set.

    Attributes:
        when: values, by path, of which others must have one for it to count.
        baseline: what the scenario says; None where nothing does.
        default_policy: path and kind of the policy whose parameter it is, where the scenario names none.
        widget: as SolaraViz wants it: a selection, or a slider that takes in what the scenario says.
        meant: value of each text of a selection.
    """

    when: Mapping[str, list[Value]]
    baseline: Value | None
    default_policy: tuple[str, str] | None
    widget: Mapping[str, Any]
    meant: Mapping[str, Value] = field(default_factory=dict)


def changes(controls: Mapping[str, Control], shown: Mapping[str, Any]) -> dict[str, Value]:
    """What has been set to something else than the scenario says, as far as it counts, by path.

    Args:
        controls: by path, each after those that it depends on.
        shown: what the widgets show, by path.
    """
    whole: dict[str, Value] = {}  # with what stands in the scenario, for the conditions
    changed: dict[str, Value] = {}
    for path, control in controls.items():
        if any(whole.get(other) not in values for other, values in control.when.items()):
            continue
        if path in shown and shown[path] != control.widget["value"]:
            if control.default_policy is not None:
                changed.setdefault(*control.default_policy)
            whole[path] = changed[path] = control.meant.get(shown[path], shown[path])
        elif control.baseline is not None:
            whole[path] = control.baseline
    return changed


def controls_of(scenario: Scenario) -> dict[str, Control]:
    """What can be set in a scenario by path: first what its search varies, then its policies.

    Of a policy the kind can be chosen, and the parameters of its present kind set between the bounds that
    make sense for a search. What the scenario refuses is not offered.
    """
    known: dict[str, Choices | Range] = {}
    left = dict(scenario.spec.searching.space)
    while ready := [path for path, part in left.items() if part.when.keys() <= known.keys()]:
        known |= {path: left.pop(path) for path in ready}
    searched = list(known)
    for place, policy in _distinct(scenario):
        for path, part in _choices(scenario, place, policy):
            if not any(fnmatchcase(other, path) for other in searched):
                known[path] = part
    return {path: _control(scenario, path, part) for path, part in known.items()}


def _distinct(scenario: Scenario) -> list[tuple[str, Policy]]:
    """The scenario's policies by path; those of all elements of an array as one where they are equal."""
    groups: dict[tuple[str, ...], dict[tuple[str, ...], Policy]] = {}
    for path, policy in _policies(scenario.active, ()):
        starred = (path[0], "*", *path[2:]) if len(path) > 2 else path
        groups.setdefault(starred, {})[path] = policy
    found: dict[tuple[str, ...], Policy] = {}
    for starred, group in groups.items():
        first, *others = group.values()
        found |= {starred: first} if all(other == first for other in others) else group
    return [(".".join(path), found[path]) for path in sorted(found)]


def _policies(at: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Policy]]:
    if isinstance(at, Policy):
        yield path, at
    elif isinstance(at, BaseModel):
        for name in type(at).model_fields:
            yield from _policies(getattr(at, name), (*path, name))
    elif isinstance(at, list):
        for part in at:
            if isinstance(part, BaseModel) and (len(at) == 1 or hasattr(part, "name")):
                yield from _policies(part, path if len(at) == 1 else (*path, part.name))  # type: ignore[attr-defined]


def _choices(scenario: Scenario, path: str, policy: Policy) -> Iterator[tuple[str, Choices | Range]]:
    """The kind of a policy, and the parameters of its present kind."""
    kinds = [other.kind for other in policies(policy.family) if _fits(scenario, path, other.kind)]
    if policy.kind not in kinds:
        kinds.insert(0, policy.kind)
    if len(kinds) > 1:
        yield path, Choices(choices=[*kinds])
    when: dict[str, Value | list[Value]] = {path: policy.kind} if len(kinds) > 1 else {}
    fields, hints = declared(type(policy))
    for name, parameter in fields.items():
        low, high = parameter.metadata.get("low"), parameter.metadata.get("high")
        if low is None or high is None or low >= high or not isinstance(getattr(policy, name), int | float):
            continue
        number = int if hints[name] is int else float
        log = bool(parameter.metadata.get("log")) and low > 0
        yield f"{path}.{name}", Range(low=number(low), high=number(high), log=log, when=when)


def _fits(scenario: Scenario, path: str, kind: str) -> bool:
    try:
        scenario.override({path: kind})
    except ScenarioError:
        return False
    return True


def _control(scenario: Scenario, path: str, part: Choices | Range) -> Control:
    when = {other: values if isinstance(values, list) else [values] for other, values in part.when.items()}
    baseline = meaning(scenario, path).value
    above = path.rpartition(".")[0]
    kind = meaning(scenario, above).value if above else None
    default = (above, kind) if isinstance(kind, str) and scenario.value(above) is None else None
    if isinstance(part, Range) and not part.log and baseline is not None:
        return Control(when, baseline, default, _slider(path, part, float(baseline)))
    meant = {_name(value): value for value in (_stops(part) if isinstance(part, Range) else part.choices)}
    if baseline is not None:
        meant[_name(baseline)] = baseline
    names = sorted(meant, key=lambda name: float(meant[name])) if isinstance(part, Range) else list(meant)
    value = AS_IN_SCENARIO if baseline is None else _name(baseline)
    values = names if baseline is not None else [AS_IN_SCENARIO, *names]
    widget = {"type": "Select", "label": path, "values": values, "value": value}
    return Control(when, baseline, default, widget, meant)


def _slider(path: str, part: Range, value: float) -> dict[str, Any]:
    low, high = min(part.low, value), max(part.high, value)
    numbers = {"min": low, "max": high, "step": 10.0 ** round(log10((high - low) / 100)), "value": value}
    if part.whole:
        numbers = {name: int(number) for name, number in (numbers | {"step": 1}).items()}
    return {"type": "SliderInt" if part.whole else "SliderFloat", "label": path, **numbers}


def _name(value: Value) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _stops(part: Range) -> list[Value]:
    """Numbers across a range; three digits are enough for what is chosen by hand."""
    # Whole numbers get slices of equal width.
    low, high = (part.low - 0.5, part.high + 0.5) if part.whole else (part.low, part.high)
    stops = (np.geomspace if part.log else np.linspace)(low, high, STOPS)
    if part.whole:
        return [*dict.fromkeys(int(stop) for stop in stops.round().clip(part.low, part.high))]
    return [float(f"{stop:.3g}") for stop in stops]
