"""The page on the tables of a scenario, written from its schema."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel
from reference_text import row, sentence
from scenario_examples import examples
from scenario_schema import anchor, meaning, places, titles, type_in_words, unit

from gridtune.limits import NUMBER, WHOLE
from gridtune.model.policy import Policy
from gridtune.scenarios.calibration.written import toml
from gridtune.scenarios.fields.laws import Constant, Law
from gridtune.scenarios.fields.table import Table
from gridtune.scenarios.tables.schema import ScenarioSpec

# What is measured in a unit with which a meaning begins.
NOUNS = {"s": "time", "W": "power", "J": "energy"}
READ = re.compile(r"^(s|W|J)\b")


def scenario_tables() -> Iterator[str]:
    """Every table of a scenario document with its keys."""
    schema = ScenarioSpec.model_json_schema()
    parts, shown = schema["$defs"], examples(schema)
    yield "# Tables of a scenario\n"
    yield "These are all keys of a scenario document. `gridtune schema` prints the schema that checks them,"
    yield "for editors. [Writing a scenario](../writing-a-scenario.md) says how they fit together. Where a"
    yield "*law* is expected, a number stands for itself; the [laws](#laws) are below. A number without other"
    yield f"bounds lies between -{NUMBER:g} and {NUMBER:g}, a whole number between"
    yield f"-{WHOLE:g} and {WHOLE:g}. The default *none* means that the key has no value until"
    yield "you give one.\n"
    yield "## The document"
    yield from _keys(schema, parts, ScenarioSpec)
    models = {one.__name__: one for one in _subclasses(Table)}
    headings = titles(schema)
    for name, heading in headings.items():
        part, (_, *others) = parts[name], places(schema, name)
        yield f"\n## {heading} {{ #{anchor(name)} }}\n\n{sentence(part.get('description', ''))}"
        if others:
            yield f"It is also written as {', '.join(f'`{place}`' for place in others)}."
        yield f"\n```toml\n{shown[name]}\n```"
        # The schema puts the module of a class that shares its name with another one before the name.
        module, _, own = name.rpartition("__")
        model = models.get(name) or getattr(sys.modules[module.replace("__", ".")], own)
        yield from _keys(part, parts, model)
    yield from _laws()


def _laws() -> Iterator[str]:
    """The laws, and their parameters."""
    laws = {get_args(law.model_fields["law"].annotation)[0]: law for law in get_args(get_args(Law)[0])}
    yield "\n## Laws\n\nA law is a number, or a table with `law`."
    yield '\n```toml\nruntime = { law = "uniform", low = 60.0, high = 600.0 }\n```\n'
    yield "| law | meaning |\n|---|---|"
    for name, law in laws.items():
        yield row(f"`{name}`", law.__doc__ or "")
    yield "\nThese are the parameters of laws. Most are in the unit of the key that holds the law.\n"
    yield "| law | parameter | type | unit | default | meaning |\n|---|---|---|---|---|---|"
    for name, law in laws.items():
        for key, value in law.model_json_schema()["properties"].items():
            if key != "law":
                field = law.model_fields[key]
                default = "required" if field.is_required() else default_of(field)
                said = sentence(value.get("description", ""))
                kind = type_in_words(value, {}, key)
                yield row(f"`{name}`", f"`{key}`", kind, value.get("unit", ""), default, said)


def _subclasses(cls: type) -> Iterator[Any]:
    for one in cls.__subclasses__():
        yield one
        yield from _subclasses(one)


def _keys(part: dict[str, Any], parts: dict[str, Any], model: Any) -> Iterator[str]:
    yield "\n| key | type | unit | default | meaning |\n|---|---|---|---|---|"
    known = {field.alias or name: field for name, field in model.model_fields.items()}
    for key, value in part.get("properties", {}).items():
        default = "required" if key in part.get("required", ()) else default_of(known[key])
        said = sentence(READ.sub(lambda found: f"{NOUNS[found[1]]} in {found[1]}", meaning(value, parts)))
        yield row(f"`{key}`", type_in_words(value, parts, key), unit(value, parts), default, said)


def default_of(field: Any) -> str:
    """The default of a key: "none" where there is none, "see there" for a table with its own defaults."""
    default = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(default, Constant):
        default = default.value
    if isinstance(default, Policy):
        default = default.kind
    if isinstance(default[0] if isinstance(default, list) and default else default, BaseModel):
        return "see there"
    return "none" if default in (None, "", [], {}) else f"`{toml(default)}`"
