"""What of a scenario can be set while it is watched: its search space, its policies and their parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from math import log10
from typing import Any, get_type_hints

from pydantic import BaseModel

from gridtune.model.policy import Policy, policies
from gridtune.optimize.records.evaluations import Value
from gridtune.optimize.search_space.parameter import Parameter
from gridtune.optimize.search_space.space import Space
from gridtune.scenarios.document.path_meaning import meaning
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError

AS_IN_SCENARIO = "as in the scenario"
STOPS = 13  # values offered of a logarithmic range


@dataclasses.dataclass(frozen=True)
class Control:
    """One thing to set.

    Attributes:
        parameter: what may be set, between which bounds and under which conditions.
        baseline: what the scenario says; None where nothing does.
        default_policy: path and kind of the policy whose parameter it is, where the scenario names none.
    """

    parameter: Parameter
    baseline: Value | None
    default_policy: tuple[str, str] | None = None

    @property
    def values(self) -> tuple[Value, ...]:
        """Values to choose from; none where any number of a range may be set."""
        part = self.parameter
        if part.choices:
            found: list[Value] = list(part.choices)
        elif part.log or self.baseline is None:
            found = [_round(part.at(k / (STOPS - 1))) for k in range(STOPS)]
        else:
            return ()
        if self.baseline is not None and self.baseline not in found:
            found.append(self.baseline)
            if not part.choices:
                found.sort(key=float)
        return tuple(dict.fromkeys(found))

    @property
    def widget(self) -> dict[str, Any]:
        """As SolaraViz wants it: a selection, or a slider that takes in what the scenario says."""
        part, label = self.parameter, self.parameter.path
        if values := self.values:
            names = [] if self.baseline is not None else [AS_IN_SCENARIO]
            names += map(_name, values)
            return {
                "type": "Select",
                "label": label,
                "values": names,
                "value": AS_IN_SCENARIO if self.baseline is None else _name(self.baseline),
            }
        assert self.baseline is not None
        value = float(self.baseline)
        low, high = min(part.low, value), max(part.high, value)
        if part.whole:
            facts = {"min": int(low), "max": int(high), "step": 1, "value": int(value)}
            return {"type": "SliderInt", "label": label, **facts}
        step = 10.0 ** round(log10((high - low) / 100)) if high > low else 1.0
        return {"type": "SliderFloat", "label": label, "min": low, "max": high, "step": step, "value": value}

    def value(self, shown: Any) -> Value | None:
        """What the widget means by what it shows; None for what the scenario says."""
        if not self.values:
            given: Value = shown
            return None if given == self.widget["value"] else given
        return next(
            (value for value in self.values if _name(value) == shown and value != self.baseline), None
        )


@dataclasses.dataclass(frozen=True)
class Controls:
    """Everything to set in a scenario, each after what decides whether it counts."""

    parts: tuple[Control, ...]

    def widgets(self) -> dict[str, Any]:
        """As SolaraViz wants them, by path."""
        return {control.parameter.path: control.widget for control in self.parts}

    def changes(self, shown: Mapping[str, Any]) -> dict[str, Value]:
        """What has been set to something else than the scenario says, as far as it counts, by path."""
        whole: dict[str, Value] = {}  # with what stands in the scenario, for the conditions
        changed: dict[str, Value] = {}
        for control in self.parts:
            path = control.parameter.path
            if not control.parameter.exists(whole):
                continue
            value = control.value(shown[path]) if path in shown else None
            if value is not None:
                if control.default_policy is not None:
                    changed.setdefault(*control.default_policy)
                changed[path] = value
            stands = control.baseline if value is None else value
            if stands is not None:
                whole[path] = stands
        return changed


def controls_of(scenario: Scenario) -> Controls:
    """What can be set in a scenario: first what its search varies, then its policies.

    Of a policy the kind can be chosen, and the parameters of its present kind set between the bounds that
    make sense for a search. What the scenario refuses is not offered.
    """
    search = scenario.spec.search
    known = list(Space.of(scenario)) if search is not None and search.space else []
    taken = {parameter.path for parameter in known}
    for path, policy in _distinct(scenario):
        known += [
            part
            for part in _choices(scenario, path, policy)
            if not any(fnmatchcase(other, part.path) for other in taken)
        ]
    return Controls(
        tuple(Control(one, meaning(scenario, one.path).value, _default(scenario, one.path)) for one in known)
    )


def _distinct(scenario: Scenario) -> Iterator[tuple[str, Policy]]:
    """The scenario's policies by path; those of all elements of an array as one where they are equal."""
    found = dict(_policies(scenario.active, ()))
    groups: dict[tuple[str, ...], list[Policy]] = {}
    for path, policy in found.items():
        groups.setdefault(_starred(path), []).append(policy)
    alike = {starred for starred, group in groups.items() if all(other == group[0] for other in group)}
    for starred in alike:
        found = {path: policy for path, policy in found.items() if _starred(path) != starred}
        found[starred] = groups[starred][0]
    for path in sorted(found):
        yield ".".join(path), found[path]


def _starred(path: tuple[str, ...]) -> tuple[str, ...]:
    return (path[0], "*", *path[2:]) if len(path) > 2 else path


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


def _choices(scenario: Scenario, path: str, policy: Policy) -> Iterator[Parameter]:
    """The kind of a policy, and the parameters of its present kind."""
    kinds = [other.kind for other in policies(policy.family) if _fits(scenario, path, other.kind)]
    if policy.kind not in kinds:
        kinds.insert(0, policy.kind)
    if len(kinds) > 1:
        yield Parameter(path, choices=tuple(kinds))
    hints = get_type_hints(type(policy))
    for field in dataclasses.fields(policy):  # type: ignore[arg-type]
        low, high = field.metadata.get("low"), field.metadata.get("high")
        value = getattr(policy, field.name)
        if low is None or high is None or not isinstance(value, int | float):
            continue
        when = {path: (policy.kind,)} if len(kinds) > 1 else {}
        whole = hints[field.name] is int
        logarithmic = bool(field.metadata.get("log")) and low > 0
        yield Parameter(f"{path}.{field.name}", (), low, high, logarithmic, whole, when)


def _fits(scenario: Scenario, path: str, kind: str) -> bool:
    try:
        scenario.override({path: kind})
    except ScenarioError:
        return False
    return True


def _default(scenario: Scenario, path: str) -> tuple[str, str] | None:
    """Path and kind of the policy above a path, if it stands there without being written in the scenario."""
    above = path.rpartition(".")[0]
    kind = meaning(scenario, above).value if above else None
    return (above, kind) if isinstance(kind, str) and scenario.value(above) is None else None


def _name(value: Value) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _round(value: Value) -> Value:
    """Three digits are enough for what is chosen by hand."""
    return float(f"{value:.3g}") if isinstance(value, float) else value
