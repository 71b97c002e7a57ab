"""What there is to choose from: shipped scenarios, and policies with their parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, get_args, get_origin, get_type_hints

import gridtune.scenarios.systems.registry  # noqa: F401 - importing the systems registers every policy of ours
from gridtune.model.policy import FAMILIES, PURE, Policy, PolicyError, policies
from gridtune.scenarios.document.scenario import load, shipped_names
from gridtune.scenarios.errors import ScenarioError

# What a list of policies says of a parameter beside its name, type, default and choices.
FACTS = ("unit", "minimum", "maximum", "exclusive", "low", "high", "log", "help", "source")


def scenario_rows() -> list[dict[str, str]]:
    """The shipped scenarios, for a list: name, title and source."""
    specs = {name: load(name).spec for name in shipped_names()}
    return [{"name": name, "title": spec.title, "source": spec.source} for name, spec in specs.items()]


def scenario_lines(width: float) -> Iterator[str]:
    """The same for reading: a line of so many characters at most for each scenario."""
    rows = scenario_rows()
    longest = max(len(row["name"]) for row in rows)
    for row in rows:
        line = f"{row['name']:{longest}}  {row['title']}"
        yield line if len(line) <= width else f"{line[: int(width) - 1].rstrip()}…"


def policy_tree(family: str | None = None) -> list[dict[str, Any]]:
    """Every policy with its parameters, for JSON.

    Raises:
        ScenarioError: no such family.
    """
    return [
        {
            "family": policy.family,
            "name": policy.kind,
            "summary": _first_line(policy),
            "source": policy.source,
            "parameters": list(_parameters(policy)),
        }
        for policy in _policies(family)
    ]


def policy_lines(family: str | None = None) -> Iterator[str]:
    """The same for reading: a line for each policy, and an indented one for each of its parameters.

    Raises:
        ScenarioError: no such family.
    """
    last = ""
    for policy in policy_tree(family):
        if policy["family"] != last:
            last = policy["family"]
            yield f"{last}: {FAMILIES[last]}"
        source = f"  [{policy['source']}]" if policy["source"] else ""
        yield f"  {policy['name']}: {policy['summary']}{source}"
        for parameter in policy["parameters"]:
            yield f"      {parameter['name']} = {_value(parameter)}: {parameter['help']}"


def _policies(family: str | None) -> list[type[Policy]]:
    try:
        return list(policies(family))
    except PolicyError as error:
        raise ScenarioError(str(error)) from error


def _parameters(policy: type[Policy]) -> Iterator[dict[str, Any]]:
    hints = get_type_hints(policy)
    for field in dataclasses.fields(policy):  # type: ignore[arg-type]
        facts = field.metadata
        default = None if field.default is dataclasses.MISSING else field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        yield {
            "name": field.name,
            "default": default,
            "type": _type(hints[field.name]),
            "choices": list(_choices(hints[field.name])),
            **{key: facts.get(key) for key in FACTS},
        }


def _type(hint: Any) -> str:
    """The type of a parameter, as TOML calls it; of a choice or number the words for both."""
    names = {bool: "boolean", int: "integer", float: "float", str: "string"}
    if hint in names:
        return names[hint]
    if get_origin(hint) is Literal:
        return "string"
    if get_origin(hint) is Mapping:
        return "table"
    if get_origin(hint) is Sequence:
        return "array"
    return " or ".join(dict.fromkeys(filter(None, map(_type, get_args(hint)))))


def _choices(hint: Any) -> Iterator[str]:
    """The words that a parameter may be, beside a number where it may be one, too."""
    for one in get_args(hint):
        if isinstance(one, str):
            yield one
        elif get_origin(one) is Literal:
            yield from _choices(one)


def _value(parameter: dict[str, Any]) -> str:
    """Default, unit and bounds of a parameter."""
    default = "(required)" if parameter["default"] is None else str(parameter["default"])
    if parameter["choices"]:
        number = ["whole number"] if "integer" in parameter["type"] else []
        return f"{default} ({' | '.join([*number, *parameter['choices']])})"
    unit = "" if parameter["unit"] in PURE else f" {parameter['unit']}"
    if parameter["low"] is None:
        return default + unit
    scale = ", log" if parameter["log"] else ""
    return f"{default}{unit} ({parameter['low']} … {parameter['high']}{scale})"


def _first_line(policy: type[Policy]) -> str:
    return (policy.__doc__ or "").strip().splitlines()[0]
