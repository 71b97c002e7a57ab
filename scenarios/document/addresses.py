"""The paths of a scenario that a value can be set at, and values that are likely there."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from gridtune.model.policy import Policy, policies
from gridtune.plain_text import written
from gridtune.scenarios.document.path_meaning import meaning
from gridtune.scenarios.document.scenario import Scenario

Said = tuple[str, str]  # a path or value, and what it means
PEOPLE = ("title", "source", "description", "plugins", "search")  # keys that change no run


def paths_of(scenario: Scenario) -> Iterator[Said]:
    """Every path of a scenario, with what stands there or what it is for, as far as that is said."""
    for path, _, _ in _walk(scenario.spec, ""):
        yield path, meaning(scenario, path).text


def values_at(scenario: Scenario, path: str) -> Iterator[Said]:
    """Values that a path can have: all where they are few, else its own and the bounds of a search."""
    own = meaning(scenario, path).value
    if own is not None:
        yield written(own), "the scenario's own"
    for known, value, kind in _walk(scenario.spec, ""):
        if known != path:
            continue
        if isinstance(value, Policy):
            families = (policy for policy in policies(type(value).family) if policy.kind != own)
            yield from ((policy.kind, _first_line(policy)) for policy in families)
        elif kind is bool:
            yield from ((written(other), "") for other in (True, False) if other is not own)
        elif get_origin(kind) is Literal:
            yield from ((written(other), "") for other in get_args(kind) if other != own)
        elif isinstance(kind, dataclasses.Field):
            bounds = (kind.metadata.get(name) for name in ("low", "high"))
            yield from ((written(bound), "bound of a search") for bound in bounds if bound is not None)
        return


def _walk(table: BaseModel, above: str) -> Iterator[tuple[str, Any, Any]]:
    """Each path below a table, the value there, and its type, or the field of a policy's parameter."""
    for name, field in type(table).model_fields.items():
        if name in PEOPLE or (name == "name" and above):
            continue
        value, path = getattr(table, name), f"{above}{name}"
        if isinstance(value, Policy):
            yield path, value, None
            hints = get_type_hints(type(value))
            for one in dataclasses.fields(value):  # type: ignore[arg-type]
                kind = hints.get(one.name)
                yield f"{path}.{one.name}", getattr(value, one.name), kind if _few(kind) else one
        elif isinstance(value, BaseModel):
            yield from _walk(value, f"{path}.")
        elif isinstance(value, list) and any(isinstance(part, BaseModel) for part in value):
            for part in value:
                own = getattr(part, "name", "")
                yield from _walk(part, f"{path}." if len(value) == 1 or not own else f"{path}.{own}.")
        elif isinstance(value, Mapping):
            yield from ((f"{path}.{key}", inner, type(inner)) for key, inner in value.items())
        else:
            yield path, value, field.annotation


def _few(kind: Any) -> bool:
    return kind is bool or get_origin(kind) is Literal


def _first_line(policy: type[Policy]) -> str:
    return (policy.__doc__ or "").strip().partition("\n")[0]
