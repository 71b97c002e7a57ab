"""The page on policies, written from the catalogue of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import inf
from typing import Any

from reference_text import limits, row, sentence

from gridtune.model.policy import FAMILIES
from gridtune.scenarios.calibration.written import toml
from gridtune.scenarios.document.catalogue import policy_tree


def policies() -> Iterator[str]:
    """Every policy with its parameters."""
    yield "# Policies\n"
    yield "`gridtune policies` lists these policies. A scenario chooses one by its name, or by a table with"
    yield "`kind` and parameters; the examples show defaults. Any number is at most 1e18 in size. A search"
    yield "varies a parameter within the *search range* unless you give another one. The units *ratio*,"
    yield "*count* and *none* stand for pure numbers, and a dash for what is no number. [Your"
    yield "own](../writing-a-policy.md) join the list."
    tree = policy_tree()
    for family, meaning in FAMILIES.items():
        yield f"\n## {family}\n\n{sentence(meaning)}"
        for policy in tree:
            if policy["family"] == family:
                yield from _policy(policy)


def _policy(policy: dict[str, Any]) -> Iterator[str]:
    source = f" *{policy['source']}*" if policy["source"] else ""
    yield f"\n### {policy['family']}: {policy['name']}\n\n{policy['summary']}{source}"
    if policy["parameters"]:
        yield "\n| parameter | allowed values | default | unit | search range | meaning |"
        yield "|---|---|---|---|---|---|"
    for each in policy["parameters"]:
        default = "required" if each["default"] is None else f"`{toml(each['default'])}`"
        said = sentence(each["help"])
        yield row(f"`{each['name']}`", allowed(each), default, each["unit"] or "–", _search_range(each), said)
    yield f"\n```toml\n{policy_example(policy)}\n```"


# Where a policy of a family stands in a scenario: the header of a table, and the key.
PLACES = {
    "discipline": "[[sed]] discipline",
    "dispatch": "[[client]] dispatch",
    "estimation": "[[sed]] estimation",
    "pool": "[sed.lease] pool",
    "reallocation": "[[client]] reallocation",
    "aggregation": "[hierarchy] rank",
    "choice": "[[client]] choice",
    "batch": "[[site]] policy",
    "prediction": "[[site]] prediction",
    "routing": "[agent] routing",
    "routing depth": "[middleware] routing",
    "routing traversal": "[middleware] routing",
    "migration": "[middleware] migration",
    "ranking": "[wms] ranking",
    "arbitration": "[portal] arbitration",
    "assignment": "[[overlay]] assignment",
    "recovery": "[[overlay]] recovery",
    "matching": "[middleware] matching",
    "retry": "[middleware] retry",
    "blacklist": "[middleware] blacklist",
    "control": "[[harvester]] controller",
    "victims": "[[harvester]] victims",
    "forecast": "[agent] forecast",
}
COMBINED = [{"kind": "p", "sensor": "load", "reference": 8.0}, {"kind": "tap"}]  # controllers of another


def policy_example(policy: dict[str, Any]) -> str:
    """The lines of a scenario that choose a policy, with some of its parameters."""
    header, key = PLACES.get(f"{policy['family']} {policy['name']}", PLACES[policy["family"]]).split()
    given = {one["name"]: one["default"] for one in policy["parameters"] if one["default"] not in ({}, inf)}
    shown = {name: COMBINED if value is None else value for name, value in islice(given.items(), 3)}
    return f"{header}\n{key} = {toml({'kind': policy['name'], **shown} if shown else policy['name'])}"


def allowed(parameter: dict[str, Any]) -> str:
    """The values that a parameter takes: its type with hard bounds, or its choices."""
    if parameter["choices"]:
        numbers = "a whole number ≥ 0, or " if "integer" in parameter["type"] else ""
        return numbers + ", ".join(f"`{choice}`" for choice in parameter["choices"])
    words = {"integer": "whole number", "float": "number", "string": "text", "boolean": "true or false"}
    least = "exclusiveMinimum" if parameter["exclusive"] else "minimum"
    bounds = {least: parameter["minimum"], "maximum": parameter["maximum"]}
    kind = words.get(parameter["type"], parameter["type"])
    return kind + limits({name: value for name, value in bounds.items() if value is not None})


def _search_range(parameter: dict[str, Any]) -> str:
    if parameter["low"] is None:
        return "none"
    return f"{parameter['low']:g} to {parameter['high']:g}" + (", logarithmic" if parameter["log"] else "")
