"""An example of each table of a scenario, from the shipped scenarios and the pages."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from itertools import product
from typing import Any

from pages import blocks, pages
from scenario_schema import holds_array, kind_of, named

from gridtune.scenarios.calibration.written import toml
from gridtune.scenarios.document.scenario import load, shipped_names

# Tables that neither shipped scenarios nor pages show.
RARE = """
title = "Rare tables"
hierarchy = { depth = 1, level = [{ latency = 0.01, keep = 4 }] }
message_cost = { client = 0.001, agent = 0.002 }
sed = { count = 4 }
client = { dispatch = "ethic" }
bags = { sharing = "fifo" }

[[site]]
nodes = 16
policy = "easy"
quota = { user_running = 8, user_slots = 12 }
power = { idle = 95.0, busy = 190.7, idle_time = 600.0, kept_on = 4 }
prime_time = { longest = 14400.0, hours = [[8, 19], [32, 43]] }
queue = [{ name = "short", priority = 1.0, max_runtime = 3600.0 }]

[[workload]]
kind = "session-list"
session = [{ user = "ann", arrival = 0.0, deadline = 60.0, n_min = 2, n_max = 8, runtime = 10.0 }]

[[workload]]
name = "tasks"
kind = "tasks"
count = 100
runtime = 60.0
priority = { by = "runtime", first = "small", low = 1, high = 5 }
"""


def examples(schema: dict[str, Any]) -> dict[str, str]:
    """The shortest example of each table in the shipped scenarios and the pages."""
    shipped = (load(name).document for name in shipped_names())
    shown = (tomllib.loads(one.text) for page in pages() for one in blocks(page) if one.language == "toml")
    found: dict[str, list[str]] = {}
    for document in (*shipped, *shown, tomllib.loads(RARE)):
        for name, text in _tables(document, schema, schema["$defs"]):
            found.setdefault(name, []).append(text)
    return {name: min(texts, key=len) for name, texts in found.items()}


def _tables(
    given: Any, node: dict[str, Any], parts: dict[str, Any], depth: int = 0
) -> Iterator[tuple[str, str]]:
    """Each table in a document: the part of the schema that it is, and its text."""
    for key, value in node.get("properties", {}).items():
        within, several = given.get(key, ()), holds_array(value)
        listed = within if isinstance(within, list) else [within]
        tables = [(one, [one] if several else one) for one in listed]
        if isinstance(value.get("additionalProperties"), dict):
            tables = [(one, {entry: one}) for entry, one in dict(within).items()]
        for (table, alone), name in product(tables, named(value)):
            part = parts[name]
            required, keys = {*part.get("required", ())}, {*part["properties"]}
            if not isinstance(table, dict) or not required <= {*table} <= keys:
                continue
            if kind_of(part) in (None, table.get("kind")):
                head = f"[[{key}]]" if several else f"[{key}]"
                lines = [head, *(f"{one} = {toml(inner)}" for one, inner in table.items())]
                yield name, f"{key} = {toml(alone)}" if depth else "\n".join(lines)
                yield from _tables(table, part, parts, depth + 1)
