"""What a dotted path into a scenario means: its value with defaults filled in, its unit, its purpose."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from gridtune.model.policy import PURE, Policy
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.fields.laws import Constant


@dataclass(frozen=True)
class Meaning:
    """What stands at a path.

    Attributes:
        value: with the defaults of the schema and of policies; a policy by its name. None where nothing is.
        unit: of the value; "" for a pure number, or if the description names it.
        text: what it is for, in one line; "" if nobody has said so.
    """

    value: Any
    unit: str = ""
    text: str = ""


def meaning(scenario: Scenario, path: str) -> Meaning:
    """What a path means in a scenario; where several elements (`*`) differ, there is no one value."""
    *parents, key = path.split(".")
    found = [_meaning(part, key) for part in _at(scenario.spec, parents)]
    if parents and found and not found[0].text:  # a table of names has one description for all of them
        *above, table = parents
        owner = next(_at(scenario.spec, above), None)
        if isinstance(owner, BaseModel) and table in type(owner).model_fields:
            text = type(owner).model_fields[table].description or ""
            found = [Meaning(one.value, one.unit, text) for one in found]
    if not found:
        return Meaning(None)
    alike = all(one.value == found[0].value for one in found)
    return found[0] if alike else Meaning(None, found[0].unit, found[0].text)


def _meaning(found: Any, key: str) -> Meaning:
    if isinstance(found, Policy):
        return _of_policy(found, key)
    if isinstance(found, BaseModel) and key in type(found).model_fields:
        value = getattr(found, key)
        if isinstance(value, Policy):
            return Meaning(value.kind, "", f"{value.kind}: {_first_line(value)}")
        return Meaning(_plain(value), "", type(found).model_fields[key].description or "")
    if isinstance(found, Mapping):
        return Meaning(_plain(found.get(key)))
    return Meaning(None)


def _at(start: Any, parents: list[str]) -> Iterator[Any]:
    """What the parents of a path lead to, by the rules of `scenarios.document.paths`."""
    if isinstance(start, list):
        every = parents[:1] == ["*"]
        named = [part for part in start if every or (parents and getattr(part, "name", None) == parents[0])]
        for part in named or start[:1]:
            yield from _at(part, parents[1:] if named else parents)
    elif not parents:
        yield start
    elif isinstance(start, Mapping):
        if parents[0] in start:
            yield from _at(start[parents[0]], parents[1:])
    else:
        inner = getattr(start, parents[0], None)
        if inner is not None:
            yield from _at(inner, parents[1:])


def _of_policy(policy: Policy, key: str) -> Meaning:
    if key == "kind":
        return Meaning(policy.kind, "", f"{policy.kind}: {_first_line(policy)}")
    for field in dataclasses.fields(policy):  # type: ignore[arg-type]
        if field.name == key:
            facts = field.metadata
            unit = facts.get("unit", "")
            shown = "" if unit in PURE else unit
            return Meaning(_plain(getattr(policy, key)), shown, facts.get("help", ""))
    return Meaning(None)


def _plain(value: Any) -> Any:
    """A value as it may be printed: a constant law is its number, other tables have no short form."""
    if isinstance(value, Constant):
        value = value.value
    return value if isinstance(value, bool | int | float | str) else None


def _first_line(policy: Policy) -> str:
    return (type(policy).__doc__ or "").strip().partition("\n")[0].rstrip(".")
