"""Pages of reference, written from the program whenever the site is built, so that they cannot drift."""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice, product
from math import inf, isfinite
from pathlib import Path
from typing import Any, get_args

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))

from python_reference import python  # noqa: E402 - found beside this file, whoever loads it

Lines = Iterator[str]


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages (a hook of MkDocs)."""
    from mkdocs.structure.files import File

    # The program and the scripts that stand beside these pages, whatever is installed.
    sys.path[:0] = [str(ROOT / "src"), str(Path(__file__).parent)]
    for name, page in PAGES.items():
        files.append(File.generated(config, f"reference/{name}.md", content="\n".join(page()) + "\n"))
    return files


def command_line() -> Lines:
    """Every command with the help that it prints."""
    from typer.main import get_command
    from typer.testing import CliRunner

    from gridtune import cli

    yield "# Command line\n"
    yield "Every command prints JSON with `--format json` where it has that option; nothing else then goes to"
    yield "standard output. SCENARIO is the name of a shipped scenario or the path of a TOML file.\n"
    yield "| exit code | meaning |"
    yield "|---|---|"
    yield "| 0 | done |"
    yield "| 1 | `reproduce` found a claim that is not met |"
    yield "| 2 | bad input, said in one line, before anything was computed or written |"
    yield "| 3 | a fault of gridtune itself; the line on standard error names the path of a report |"
    yield "| 130 | interrupted; what was finished is kept, and `--resume` goes on |"
    runner = CliRunner()
    for words in _commands(get_command(cli.app), ()):
        shown = runner.invoke(cli.app, [*words, "--help"], prog_name="gridtune", terminal_width=100)
        yield f"\n## gridtune {' '.join(words)}\n\n```text\n{shown.output.strip()}\n```"


def _commands(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    inner = getattr(command, "commands", {})
    if not inner or getattr(command, "invoke_without_command", False):
        yield words
    for name, each in inner.items():
        yield from _commands(each, (*words, name))


def policies() -> Lines:
    """Every policy with its parameters."""
    from gridtune.model.policy import FAMILIES
    from gridtune.scenarios.document.catalogue import policy_tree

    yield "# Policies\n"
    yield "`gridtune policies` lists these policies. A scenario chooses one by its name, or by a table with"
    yield "`kind` and parameters; the examples show defaults. Any number is at most 1e18 in size. A search"
    yield "varies a parameter within the *search range* unless you give another one. The units *ratio*,"
    yield "*count* and *none* stand for pure numbers. [Your own](../writing-a-policy.md) join the list."
    tree = policy_tree()
    for family, meaning in FAMILIES.items():
        yield f"\n## {family}\n\n{_sentence(meaning)}"
        for policy in tree:
            if policy["family"] == family:
                yield from _policy(policy)


def _policy(policy: dict[str, Any]) -> Lines:
    source = f" *{policy['source']}*" if policy["source"] else ""
    yield f"\n### {policy['family']}: {policy['name']}\n\n{policy['summary']}{source}"
    if policy["parameters"]:
        yield "\n| parameter | allowed values | default | unit | search range | meaning |"
        yield "|---|---|---|---|---|---|"
    for each in policy["parameters"]:
        default = "required" if each["default"] is None else f"`{_toml(each['default'])}`"
        yield _row(
            f"`{each['name']}`", allowed(each), default, each["unit"], _search_range(each), each["help"]
        )
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
    return f"{header}\n{key} = {_toml({'kind': policy['name'], **shown} if shown else policy['name'])}"


def allowed(parameter: dict[str, Any]) -> str:
    """The values that a parameter takes: its type with hard bounds, or its choices."""
    if parameter["choices"]:
        numbers = "a whole number ≥ 0, or " if "integer" in parameter["type"] else ""
        return numbers + ", ".join(f"`{choice}`" for choice in parameter["choices"])
    words = {"integer": "whole number", "float": "number", "string": "text", "boolean": "true or false"}
    least = "exclusiveMinimum" if parameter["exclusive"] else "minimum"
    bounds = {least: parameter["minimum"], "maximum": parameter["maximum"]}
    kind = words.get(parameter["type"], parameter["type"])
    return kind + _limits({name: value for name, value in bounds.items() if value is not None})


def _toml(value: Any) -> str:
    from gridtune.scenarios.calibration.written import toml

    return toml(value)


def _search_range(parameter: dict[str, Any]) -> str:
    if parameter["low"] is None:
        return "none"
    return f"{parameter['low']:g} to {parameter['high']:g}" + (", logarithmic" if parameter["log"] else "")


SHOWN, SHOWN_CLASS = "federation/small", "sdj"  # a run that shows a value of most metrics


def metrics() -> Lines:
    """Every metric with its unit, the values that it may have, and one of them."""
    import gridtune.scenarios.systems.registry  # noqa: F401 - importing the systems defines their metrics
    from gridtune.model.metrics import registry as known
    from gridtune.scenarios.document.scenario import load
    from gridtune.scenarios.simulation.simulate import simulate

    run = simulate(load(SHOWN)).metrics
    classes = {f"{name}.{SHOWN_CLASS}": one for name, one in known.CLASS_METRICS.items()}
    sizes = {f"{name}.{size}": one for size in known.SIZES for name, one in known.SIZE_METRICS.items()}
    queues = {f"{name}.{known.QUEUE}NAME": one for name, one in known.QUEUE_METRICS.items()}
    listed = {*known.ALWAYS, *known.HARM_METRICS}
    others = {name: one for name, one in known.METRICS.items() if name not in listed and "." not in name}
    yield "# Metrics\n"
    yield "[Users and metrics](../metrics.md) defines the metrics that have no obvious meaning. `gridtune run"
    yield "SCENARIO --all` prints those that a scenario has. All of them can be objectives of a search:\n"
    yield '```toml\n[search]\nobjectives = ["waiting_mean", "slowdown_mean.wide-long"]\n```\n'
    yield f"The column *example* has the value in a run of `{SHOWN}` with seed 1. A dash means that this run"
    yield "has no such value. Every number may also be missing (`null` in JSON) where nothing was measured."
    for title, text, table in (
        ("Every run", "These metrics exist in every scenario.", {n: known.METRICS[n] for n in known.ALWAYS}),
        ("Classes of jobs", CLASS_TEXT, classes),
        ("Sizes of jobs", "Scenarios with batch sites have these metrics of mandatory jobs.", sizes),
        ("Longest waits", HARM_TEXT, {**known.HARM_METRICS, **queues}),
        ("Components", "These metrics exist where a scenario has the component that they are about.", others),
    ):
        yield f"\n## {title}\n\n{text}\n\n| metric | unit | better | range | example | meaning |"
        yield "|---|---|---|---|---|---|"
        for name, one in table.items():
            better = "less" if one.direction == "minimize" else "more"
            shown = _value(run[name].value) if name in run else "–"
            yield _row(f"`{name}`", one.unit or "none", better, value_range(one), shown, one.meaning)


CLASS_TEXT = f"""A scenario with two or more classes of jobs has them all for each. The class is the `role`
of a workload. The table shows the names of the class `{SHOWN_CLASS}`. Another class stands behind the dot."""
HARM_TEXT = """Scenarios with batch sites have these metrics of mandatory jobs. The
[classes](../metrics.md#longest-waits) are those of the processors and of the run time of a job."""


def value_range(definition: Any) -> str:
    """The values that a metric may have."""
    low, high = definition.within
    return f"≥ {low:g}" if high == inf else f"{low:g} to {high:g}"


def _value(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}" if isfinite(value) else "–"


def scenario_tables() -> Lines:
    """Every table of a scenario document with its keys."""
    from gridtune import limits
    from gridtune.scenarios.fields.laws import Law
    from gridtune.scenarios.fields.table import Table
    from gridtune.scenarios.tables.schema import ScenarioSpec

    schema = ScenarioSpec.model_json_schema()
    parts, shown = schema["$defs"], examples(schema)
    yield "# Tables of a scenario\n"
    yield "These are all keys of a scenario document. `gridtune schema` prints the schema that checks them,"
    yield "for editors. [Writing a scenario](../writing-a-scenario.md) says how they fit together. Where a"
    yield "*law* is expected, a number stands for itself; the [laws](#laws) are below. A number without other"
    yield f"bounds lies between -{limits.NUMBER:g} and {limits.NUMBER:g}, a whole number between"
    yield f"-{limits.WHOLE:g} and {limits.WHOLE:g}. The default *none* means that the key has no value until"
    yield "you give one.\n"
    yield "## The document"
    yield from _keys(schema, parts, ScenarioSpec)
    models = {one.__name__: one for one in _subclasses(Table)}
    headings = titles(schema)
    for name, heading in headings.items():
        part, (_, *others) = parts[name], _places(schema, name)
        yield f"\n## {heading} {{ #{_anchor(name)} }}\n\n{_sentence(part.get('description', ''))}"
        if others:
            yield f"It is also written as {', '.join(f'`{place}`' for place in others)}."
        yield f"\n```toml\n{shown[name]}\n```"
        model = models.get(name) or getattr(sys.modules[_module(name)], name.rpartition("__")[2])
        yield from _keys(part, parts, model)
    yield "\n## Laws\n\nA number, or a table with `law`.\n\n| law | parameters | meaning |\n|---|---|---|"
    for law in get_args(get_args(Law)[0]):
        fields = {key: field for key, field in law.model_fields.items() if key != "law"}
        (name,) = get_args(law.model_fields["law"].annotation)
        said = [f"`{key}`: {field.description}." for key, field in fields.items() if field.description]
        yield _row(f"`{name}`", ", ".join(f"`{key}`" for key in fields), " ".join([law.__doc__ or "", *said]))


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
    from pages import blocks, pages

    from gridtune.scenarios.document.scenario import load, shipped_names

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
    from gridtune.scenarios.calibration.written import toml

    for key, value in node.get("properties", {}).items():
        within, several = given.get(key, ()), value.get("type") == "array"
        listed = within if isinstance(within, list) else [within]
        tables = [(one, [one] if several else one) for one in listed]
        if isinstance(value.get("additionalProperties"), dict):
            tables = [(one, {entry: one}) for entry, one in dict(within).items()]
        for (table, alone), name in product(tables, _named(value)):
            part = parts[name]
            keys, kind = part["properties"].keys(), part["properties"].get("kind", {}).get("const")
            if not isinstance(table, dict) or not {*part.get("required", ())} <= {*table} <= {*keys}:
                continue
            if kind in (None, table.get("kind")):
                head = f"[[{key}]]" if several else f"[{key}]"
                lines = [head, *(f"{one} = {toml(inner)}" for one, inner in table.items())]
                yield name, f"{key} = {toml(alone)}" if depth else "\n".join(lines)
                yield from _tables(table, part, parts, depth + 1)


def _places(schema: dict[str, Any], part: str) -> list[str]:
    """Where a part stands in a document, as its headers or keys are written."""
    found: list[str] = []

    def walk(node: dict[str, Any], path: str) -> None:
        for key, value in node.get("properties", {}).items():
            several = value.get("type") == "array"
            place = f"{path}.{key}" if path else key
            for name in _named(value):
                inner = schema["$defs"][name]
                kind = inner.get("properties", {}).get("kind", {}).get("const")
                header = f"[[{place}]]" if several else f"[{place}]"
                if name == part:
                    found.append(f'{header} kind = "{kind}"' if kind and several else header)
                walk(inner, place)

    walk(schema, "")
    return list(dict.fromkeys(found))


def _named(value: dict[str, Any]) -> Iterator[str]:
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
            yield from _named(each)


def titles(schema: dict[str, Any]) -> dict[str, str]:
    """The heading of each part of the schema, in the order of a document: its place, as it is written."""
    parts, keys = schema["$defs"], [*schema["properties"]]
    places = {name: _places(schema, name)[0] for name in parts}
    shared = Counter(places.values())

    def order(name: str) -> tuple[int, int]:
        path = re.sub(r"[^\w.].*", "", places[name].lstrip("[")).split(".")
        return keys.index(path[0]), len(path)

    found = {}
    for name in sorted(parts, key=order):
        key = (parts[name].get("required") or [*parts[name]["properties"]])[0]
        found[name] = f"`{places[name]}`" + (f" with `{key}`" if shared[places[name]] > 1 else "")
    return found


def _subclasses(cls: type) -> Iterator[Any]:
    for one in cls.__subclasses__():
        yield one
        yield from _subclasses(one)


def _module(name: str) -> str:
    """The module of a class that shares its name with another one: the schema puts it before the name."""
    return name.rpartition("__")[0].replace("__", ".")


def _keys(part: dict[str, Any], parts: dict[str, Any], model: Any) -> Lines:
    yield "\n| key | type | unit | default | meaning |\n|---|---|---|---|---|"
    known = {field.alias or name: field for name, field in model.model_fields.items()}
    for key, value in part.get("properties", {}).items():
        default = "required" if key in part.get("required", ()) else default_of(known[key])
        said = _sentence(READ.sub(lambda found: f"{NOUNS[found[1]]} in {found[1]}", meaning(value, parts)))
        yield _row(f"`{key}`", _type(value, parts, key), unit(value, parts), default, said)


# What is measured in a unit with which a meaning begins.
NOUNS = {"s": "time", "W": "power", "J": "energy"}
READ = re.compile(r"^(s|W|J)\b")


def meaning(value: dict[str, Any], parts: dict[str, Any]) -> str:
    """What a key is for: its description, else the first line of the table that it holds."""
    if "const" in value:
        return "chooses this table"
    tables = [parts[name].get("description", "").partition("\n")[0] for name in _named(value)]
    return str(value.get("description") or next(iter(tables), ""))


def holds_numbers(value: dict[str, Any], parts: dict[str, Any]) -> bool:
    """Whether a key holds a number, or several, rather than a value of any type."""
    kind = _type(value, parts)
    return "number" in kind and "text" not in kind


def unit(value: dict[str, Any], parts: dict[str, Any]) -> str:
    """The unit of a number, as its field declares it; "" if a key holds none."""
    return str(value.get("unit", "")) if holds_numbers(value, parts) else ""


def default_of(field: Any) -> str:
    """The default of a key: "none" where there is none, "see there" for a table with its own defaults."""
    from pydantic import BaseModel

    from gridtune.model.policy import Policy
    from gridtune.scenarios.fields.laws import Constant

    default = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(default, Constant):
        default = default.value
    if isinstance(default, Policy):
        default = default.kind
    if isinstance(default[0] if isinstance(default, list) and default else default, BaseModel):
        return "see there"
    return "none" if default in (None, "", [], {}) else f"`{_toml(default)}`"


def _type(value: dict[str, Any], parts: dict[str, Any], key: str = "") -> str:
    """A JSON type in words; whole numbers under some keys have a greatest value of their own."""
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        kind = parts[name].get("properties", {}).get("kind", {}).get("const")
        return f"[table{f' `{kind}`' if kind else ''}](#{_anchor(name)})"
    if "const" in value:
        return f"`{value['const']}`"
    if "enum" in value:
        return ", ".join(f"`{choice}`" for choice in value["enum"])
    several = value.get("anyOf") or value.get("oneOf")
    if several:
        kinds = [_type(each, parts, key) for each in several if each.get("type") != "null"]
        if len(kinds) == 2 and kinds[0].startswith("number") and kinds[1] == "table":
            return f"{kinds[0]}, or [law](#laws)"
        return " or ".join(dict.fromkeys(kinds))
    if value.get("type") == "array":
        return f"array of {_type(value.get('items', {}), parts)}"
    if value.get("type") == "object":
        inner = value.get("additionalProperties")
        return f"table of {_type(inner, parts)}" if isinstance(inner, dict) else "table"
    words = {"string": "text", "boolean": "true or false", "integer": "whole number", "number": "number"}
    return words.get(value.get("type", ""), "any") + _limits(value, key)


def _limits(value: dict[str, Any], key: str = "") -> str:
    from gridtune.limits import COUNTS

    if value.get("type") == "integer" and key in COUNTS:
        value = {"maximum": COUNTS[key], **value}
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    said = [f"{sign} {value[name]:.12g}" for name, sign in signs.items() if name in value]
    return f", {', '.join(said)}" if said else ""


def _anchor(name: str) -> str:
    """Where a part stands on the page: pages link to it by the name of its class."""
    return name.removeprefix("gridtune__scenarios__tables__").replace("__", "-").lower()


def shipped() -> Lines:
    """The shipped scenarios, and the papers with their experiments."""
    from gridtune.scenarios.commands.reproduce import experiment_rows
    from gridtune.scenarios.document.scenario import load, shipped_names

    yield "# Shipped scenarios\n"
    yield "`gridtune scenarios show NAME` prints the document; `gridtune run NAME` simulates it."
    for name in shipped_names():
        spec = load(name).spec
        yield f"\n## {name}\n\n**{_sentence(spec.title)}** {' '.join(spec.description.split())}"
        if spec.source:
            yield f"\n*Source: {spec.source}.*"
    yield "\n## Experiments of the papers\n"
    yield "`gridtune reproduce NAME` runs one experiment, or a whole paper.\n"
    yield "| name | title |\n|---|---|"
    for row in experiment_rows():
        yield _row(f"`{row['experiment']}`", row["title"])


def samplers() -> Lines:
    """The samplers of a search, and the kinds of pictures."""
    from gridtune.optimize.commands.search import sampler_rows
    from gridtune.optimize.report.pictures.draw import PLOTS
    from gridtune.scenarios.commands.plot import picture_rows

    yield "# Samplers and pictures\n\n## Samplers\n\n`gridtune search --sampler NAME`.\n"
    yield "| sampler | meaning |\n|---|---|"
    for row in sampler_rows():
        yield _row(f"`{row['sampler']}`", row["meaning"])
    yield "\n## Pictures of a run\n\n`gridtune plot RUN KIND --out FILE`.\n\n| kind | shows |\n|---|---|"
    for row in picture_rows():
        yield _row(f"`{row['kind']}`", row["shows"])
    yield "\n## Pictures of a search\n"
    yield "`gridtune search --out DIR` writes `pairs.png` and the page `front.html`."
    yield "`gridtune front STUDY --plot KIND.png` draws one of them.\n\n| kind | shows |\n|---|---|"
    for name, (_, meaning) in PLOTS.items():
        yield _row(f"`{name}`", meaning)


def claims() -> Lines:
    """The claims of the papers, with what was expected and measured."""
    from claims import full

    yield from full()


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text[:1].upper() + text[1:] + ("" if not text or text[-1] in ".?…" else ".")


def _row(*cells: str) -> str:
    return "| " + " | ".join(" ".join(str(cell).split()).replace("|", "\\|") for cell in cells) + " |"


PAGES: dict[str, Callable[[], Lines]] = {
    "command-line": command_line,
    "python": python,
    "policies": policies,
    "metrics": metrics,
    "scenario": scenario_tables,
    "shipped": shipped,
    "samplers-and-pictures": samplers,
    "claims": claims,
}
