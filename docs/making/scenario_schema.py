"""The parts of a scenario's schema: where they stand in a document, and what their keys hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from reference_text import limits


def places(schema: dict[str, Any], part: str) -> list[str]:
    """Where a part stands in a document, as its headers or keys are written."""
    found: list[str] = []

    def walk(node: dict[str, Any], path: str) -> None:
        for key, value in node.get("properties", {}).items():
            several = holds_array(value)
            place = f"{path}.{key}" if path else key
            for name in named(value):
                inner = schema["$defs"][name]
                kind = kind_of(inner)
                header = f"[[{place}]]" if several else f"[{place}]"
                if name == part:
                    found.append(f'{header} kind = "{kind}"' if kind and several else header)
                walk(inner, place)

    walk(schema, "")
    return list(dict.fromkeys(found))


def named(value: dict[str, Any]) -> Iterator[str]:
    """The parts that a key may hold, as itself, as an element or as a value of a table."""
    if "$ref" in value:
        yield value["$ref"].rpartition("/")[2]
    inner = [
        value.get("items"),
        value.get("additionalProperties"),
        *value.get("anyOf", []),
        *value.get("oneOf", []),
    ]
    for each in inner:
        if isinstance(each, dict):
            yield from named(each)


def holds_array(value: dict[str, Any]) -> bool:
    """Whether a key holds an array, or a lone element in its place."""
    return "array" in (one.get("type") for one in (value, *value.get("anyOf", [])))


def kind_of(part: dict[str, Any]) -> str | None:
    """The `kind` by which a document chooses a part; None if it has none."""
    kind: str | None = part.get("properties", {}).get("kind", {}).get("const")
    return kind


def titles(schema: dict[str, Any]) -> dict[str, str]:
    """The heading of each part of the schema, in the order of a document: its place, as it is written."""
    parts, keys = schema["$defs"], [*schema["properties"]]
    first = {name: places(schema, name)[0] for name in parts}
    shared = Counter(first.values())

    def order(name: str) -> tuple[int, int]:
        path = re.sub(r"[^\w.].*", "", first[name].lstrip("[")).split(".")
        return keys.index(path[0]), len(path)

    found = {}
    for name in sorted(parts, key=order):
        key = (parts[name].get("required") or [*parts[name]["properties"]])[0]
        found[name] = f"`{first[name]}`" + (f" with `{key}`" if shared[first[name]] > 1 else "")
    return found


def meaning(value: dict[str, Any], parts: dict[str, Any]) -> str:
    """What a key is for: its description, else the first line of the table that it holds."""
    if "const" in value:
        return "chooses this table"
    tables = [parts[name].get("description", "").partition("\n")[0] for name in named(value)]
    return str(value.get("description") or next(iter(tables), ""))


def holds_numbers(value: dict[str, Any], parts: dict[str, Any]) -> bool:
    """Whether a key holds a number, or several, rather than a value of any type."""
    kind = type_in_words(value, parts)
    return "number" in kind and "text" not in kind


def unit(value: dict[str, Any], parts: dict[str, Any]) -> str:
    """The unit of a number, as its field declares it; "" if a key holds none."""
    return str(value.get("unit", "")) if holds_numbers(value, parts) else ""


def type_in_words(value: dict[str, Any], parts: dict[str, Any], key: str = "") -> str:
    """A JSON type in words; whole numbers under some keys have a greatest value of their own."""
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        kind = kind_of(parts[name])
        return f"[table{f' `{kind}`' if kind else ''}](#{anchor(name)})"
    if "const" in value:
        return f"`{value['const']}`"
    if "enum" in value:
        return ", ".join(f"`{choice}`" for choice in value["enum"])
    several = value.get("anyOf") or value.get("oneOf")
    if several:
        lone = [each["items"] for each in several if "items" in each]  # tables that stand for an array of one
        left_out = [{"type": "null"}, *(each for each in lone if any(named(each)))]
        kinds = [type_in_words(each, parts, key) for each in several if each not in left_out]
        if len(kinds) == 2 and kinds[0].startswith("number") and kinds[1] == "table":
            return f"{kinds[0]}, or [law](#laws)"
        return " or ".join(dict.fromkeys(kinds))
    if value.get("type") == "array":
        return f"array of {type_in_words(value.get('items', {}), parts)}"
    if value.get("type") == "object":
        inner = value.get("additionalProperties")
        return f"table of {type_in_words(inner, parts)}" if isinstance(inner, dict) else "table"
    words = {"string": "text", "boolean": "true or false", "integer": "whole number", "number": "number"}
    return words.get(value.get("type", ""), "any") + limits(value, key)


def anchor(name: str) -> str:
    """Where a part stands on the page: pages link to it by the name of its class."""
    return name.removeprefix("gridtune__scenarios__tables__").replace("__", "-").lower()
