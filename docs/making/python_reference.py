"""The page on the Python API, written from the docstrings and annotations of the public names."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from python_records import records
from python_types import Typed, arguments, attributes, default, function, own, returned, written
from reference_text import row, sentence

from gridtune.model.policy import Policy

SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Raises", "Example")
KINDS = ((inspect.isclass, "class"), (inspect.ismodule, "module"), (callable, "function"))


def python() -> Iterator[str]:
    """Every public name of `gridtune`, its members and their examples."""
    import gridtune as gt

    yield "# Python\n"
    yield "`import gridtune as gt` offers these names; [From Python](../python-api.md) shows them in"
    yield "use. Arguments and attributes have their types, defaults and units. Examples of members continue"
    yield "that of their class. `pd` is pandas, `np` is NumPy.\n"
    yield from _overview("gt", gt)
    for name in gt.__all__:
        value = getattr(gt, name)
        yield f"\n## gt.{name}\n"
        if inspect.ismodule(value):
            yield _text(value)
            yield "\n### Names for policies\n"
            yield from _overview(name, value)
            for inner in value.__all__:
                yield from _decision(f"{name}.{inner}", getattr(value, inner))
        elif inspect.isclass(value):
            yield from _class(f"gt.{name}", value)
        else:
            yield f"```python\ngt.{name}{_signature(value)}\n```\n"
            yield _text(value)
            if name == "search":
                yield from _fields()
    public = (getattr(module, name) for module in (gt, gt.policies) for name in module.__all__)
    yield "\n## Other types\n\nAnnotations name these types without a public name: you never make them.\n"
    yield "| type | meaning |\n|---|---|"
    yield from records(one for one in public if not inspect.ismodule(one))


def _overview(place: str, module: Any) -> Iterator[str]:
    """A table of the names that a module offers, with what each is."""
    yield "| name | kind | meaning |\n|---|---|---|"
    anchors: list[str] = []
    for name in module.__all__:
        value = getattr(module, name)
        kind = next(kind for fits, kind in KINDS if fits(value))
        if inspect.isclass(value) and Policy in value.__bases__:
            kind = "base class"
        anchor = f"{place}{name}".lower()
        anchors.append(anchor)
        again = f"_{count - 1}" if (count := anchors.count(anchor)) > 1 else ""  # as MkDocs numbers them
        meaning = (inspect.getdoc(value) or "").partition("\n")[0]
        yield row(f"[`{place}.{name}`](#{anchor}{again})", kind, meaning)


def _class(place: str, value: Any) -> Iterator[str]:
    """A class with its members, each under a heading."""
    if (
        "__init__" in vars(value)
        and not issubclass(value, Exception)
        and not hasattr(value, "__dataclass_fields__")
    ):
        yield f"```python\n{place}{_signature(value)}\n```\n"
    yield _text(value)
    name = value.__name__
    for member, shown in _members(value):
        called = function(inspect.getattr_static(value, member))
        yield f"\n### {name}.{member}{'' if shown is None else '()'}\n"
        yield f"```python\n{_head(member, called, shown is None, name)}\n```\n"
        yield _text(called, name, calculated=shown is None)


def _decision(name: str, value: Any) -> Iterator[str]:
    """A name that policies are written with; of a class its questions, not what only agents call."""
    yield f"\n### {name}\n"
    if not inspect.isclass(value):
        yield f"```python\n{name}{_signature(value)}\n```\n"
    yield _text(value)
    for member, shown in _members(value) if inspect.isclass(value) else ():
        if shown is None or returned(shown):
            called = function(inspect.getattr_static(value, member))
            yield f"\n```python\n{_head(member, called, shown is None, value.__name__)}\n```\n"
            yield _text(called, value.__name__, calculated=shown is None)


def _head(name: str, called: Any, calculated: bool, owner: str) -> str:
    """A member as it is used: a property with its type, a method with its arguments."""
    return f"{name}: {returned(called, owner)}" if calculated else f"{name}{_signature(called, owner)}"


def _fields() -> Iterator[str]:
    """The settings of a search that are not among its arguments."""
    from gridtune import search
    from gridtune.optimize.config import SearchConfig

    yield "\nThese are the `fields`. With the default `None`, the meaning says what then holds.\n"
    yield "| field | type | unit and limits | default | meaning |\n|---|---|---|---|---|"
    types, said = inspect.get_annotations(SearchConfig), inspect.signature(search).parameters
    for name, field in SearchConfig.model_fields.items():
        if name in said:
            continue
        kind = re.sub(r"Annotated\[(\w+), [^]]*\]", r"\1", types[name])
        kind = re.sub(r"tuple\[(.*), \.\.\.\]", r"Sequence[\1]", kind).removesuffix(" | None")
        kind = kind.replace(" | ", " or ")
        meaning = " ".join(field.description.split())
        yield f"| `{name}` | `{kind}` | {_limits(field) or '–'} | `{field.default!r}` | {meaning} |"


def _limits(field: Any) -> str:
    """The unit of a field and the values that it may have, as far as they are limited."""
    if said := (field.json_schema_extra or {}).get("limits", ""):
        return said
    least = next((one.ge for one in field.metadata if hasattr(one, "ge")), None)
    most = next((one.le for one in field.metadata if hasattr(one, "le")), None)
    return "" if least is None else f"at least {least}" if most is None else f"{least} to {most}"


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods of a class, with what is called, and its properties, with None; inherited ones last."""
    for name in dict.fromkeys(name for base in own(cls) for name in vars(base) if not name.startswith("_")):
        member = inspect.getattr_static(cls, name)
        if isinstance(member, property | cached_property):
            yield name, None
        elif inspect.isroutine(function(member)):
            yield name, function(member)


def _signature(called: Any, owner: str = "") -> str:
    """How it is called, a line for each argument where one line would be long."""
    back = f" -> {kind}" if (kind := returned(called, owner)) else ""
    shown, named = [], False
    for one in inspect.signature(called).parameters.values():
        if one.name in ("self", "cls"):
            continue
        if one.kind is inspect.Parameter.KEYWORD_ONLY and not named:
            shown, named = [*shown, "*"], True
        stars = {inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.VAR_POSITIONAL: "*"}.get(one.kind, "")
        value = "..." if one.default is dataclasses.MISSING else default(one.default)
        given = "" if one.default is inspect.Parameter.empty else f" = {value}"
        shown.append(f"{stars}{one.name}: {written(one.annotation, owner)}{given}")
    line = f"({', '.join(shown)}){back}"
    return line if len(line) < 90 else "(\n    " + ",\n    ".join(shown) + f",\n){back}"


def _text(value: Any, owner: str = "", calculated: bool = False) -> str:
    """A docstring as Markdown, with the types that annotations say.

    Args:
        value: the module, class or function.
        owner: the class of a method.
        calculated: whether it is a property, whose type stands above.
    """
    types, back = {}, ""
    if inspect.isclass(value):
        types = {"Args": arguments(value), "Attributes": attributes(value)}
    elif callable(value):
        types, back = {"Args": arguments(value, owner)}, "" if calculated else returned(value, owner)
    text = inspect.getdoc(value) or ""
    if back and not re.search(r"^(Returns|Yields):$", text, re.M):
        text = f"{text}\n\nReturns:\n    {_answer(text)}"
    parts: dict[str, str] = {}
    section, lines = "", list[str]()
    for line in [*text.splitlines(), "End:"]:
        head = line.rstrip(":") if line.endswith(":") and not line.startswith(" ") else ""
        if head in SECTIONS or head == "End":
            parts[section] = _section(section, lines, types.get(section, {}), back)
            section, lines = head, []
        else:
            lines.append(line)
    return "\n\n".join(parts[one] for one in ("", *SECTIONS) if parts.get(one))


def _answer(text: str) -> str:
    """What a question returns: "Tell whether …" is its own answer."""
    return text.partition("\n")[0].removeprefix("Tell ")


def _section(name: str, lines: list[str], types: dict[str, Typed], back: str) -> str:
    body = inspect.cleandoc("\n".join(["", *lines])).strip()
    if not body or not name:
        return body
    if name == "Example":
        return f"```pycon\n{body}\n```"
    if name in ("Returns", "Yields"):
        return f"**{name}**\n\n- `{back}`: {sentence(body)}"
    entries = [(" ".join(entry.split())).partition(": ") for entry in re.split(r"\n(?=\S)", body)]
    return f"**{name}**\n\n" + "\n".join(
        f"- `{head.replace('**', '')}`{_typed(head, types)}: {sentence(rest)}" for head, _, rest in entries
    )


def _typed(heads: str, types: dict[str, Typed]) -> str:
    """The type and default of what an entry is about; of several names, those that all of them share."""
    known = [types.get(head.strip("* "), Typed("")) for head in heads.split(",")]
    kind = " or ".join(dict.fromkeys(one.kind for one in known if one.kind))
    return str(Typed(kind, known[0].default if len({one.default for one in known}) == 1 else ""))
