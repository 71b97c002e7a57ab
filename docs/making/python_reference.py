"""The page on the Python API, written from the docstrings of the public names."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Raises", "Example")


def python() -> Iterator[str]:
    """Every public name of `gridtune`, its members and their examples."""
    import gridtune as gt

    yield "# Python\n"
    yield "The public names of `import gridtune as gt`; [From Python](../python-api.md) shows them in use."
    yield "Examples of members continue that of their class."
    for name in gt.__all__:
        value = getattr(gt, name)
        yield f"\n## gt.{name}\n"
        if inspect.isclass(value):
            if (
                "__init__" in vars(value)
                and not issubclass(value, Exception)
                and not hasattr(value, "__dataclass_fields__")
            ):
                yield f"```python\ngt.{name}{_signature(value)}\n```\n"
            yield _text(value)
            for member, shown in _members(value):
                yield f"\n### {name}.{member}{'' if shown is None else '()'}\n"
                if shown is not None:
                    yield f"```python\n{member}{_signature(shown)}\n```\n"
                yield _text(_function(inspect.getattr_static(value, member)))
        elif inspect.ismodule(value):
            yield _text(value)
            for inner in value.__all__:
                yield from _decision(f"{name}.{inner}", getattr(value, inner))
        else:
            yield f"```python\ngt.{name}{_signature(value)}\n```\n"
            yield _text(value)
            if name == "search":
                yield from _fields()


def _decision(name: str, value: Any) -> Iterator[str]:
    """A name that policies are written with; of a class its questions, not what only agents call."""
    yield f"\n### {name}\n"
    if not inspect.isclass(value):
        yield f"```python\n{name}{_signature(value)}\n```\n"
    yield _text(value)
    for member, shown in _members(value) if inspect.isclass(value) else ():
        if shown is None or inspect.signature(shown).return_annotation not in (None, "None"):
            call = f"`{member}`" if shown is None else f"```python\n{member}{_signature(shown)}\n```"
            yield f"\n{call}\n\n{_text(_function(inspect.getattr_static(value, member)))}"


def _fields() -> Iterator[str]:
    """The settings of a search that are not among its arguments."""
    from gridtune import search
    from gridtune.optimize.config import SearchConfig

    yield "\n| field | type | unit and limits | default | meaning |\n|---|---|---|---|---|"
    types, said = inspect.get_annotations(SearchConfig), inspect.signature(search).parameters
    for name, field in SearchConfig.model_fields.items():
        if name in said:
            continue
        written = re.sub(r"Annotated\[(\w+), [^]]*\]", r"\1", types[name])
        written = re.sub(r"tuple\[(.*), \.\.\.\]", r"Sequence[\1]", written).removesuffix(" | None")
        written = written.replace(" | ", " or ")
        meaning = " ".join(field.description.split())
        yield f"| `{name}` | `{written}` | {_limits(field)} | `{field.default!r}` | {meaning} |"


def _limits(field: Any) -> str:
    """The unit of a field and the values that it may have, as far as they are limited."""
    if said := (field.json_schema_extra or {}).get("limits", ""):
        return said
    least = next((one.ge for one in field.metadata if hasattr(one, "ge")), None)
    most = next((one.le for one in field.metadata if hasattr(one, "le")), None)
    return "" if least is None else f"at least {least}" if most is None else f"{least} to {most}"


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods of a class, with what is called, and its properties, with None; inherited ones last."""
    ours = [base for base in cls.__mro__ if base.__module__.startswith("gridtune.")]
    for name in dict.fromkeys(name for base in ours for name in vars(base) if not name.startswith("_")):
        member = inspect.getattr_static(cls, name)
        if isinstance(member, property | cached_property):
            yield name, None
        elif inspect.isroutine(_function(member)):
            yield name, _function(member)


def _function(member: Any) -> Any:
    if isinstance(member, property):
        return member.fget
    if isinstance(member, cached_property):
        return member.func
    return getattr(member, "__func__", member)


def _signature(function: Any) -> str:
    """How it is called, a line for each argument where one line would be long."""
    signature = inspect.signature(function)
    returned = signature.return_annotation
    back = "" if returned in (inspect.Signature.empty, "None") else f" -> {returned}"
    shown, named = [], False
    for one in signature.parameters.values():
        if one.name in ("self", "cls"):
            continue
        if one.kind is inspect.Parameter.KEYWORD_ONLY and not named:
            shown, named = [*shown, "*"], True
        stars = {inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.VAR_POSITIONAL: "*"}.get(one.kind, "")
        shown_default = "..." if one.default is dataclasses.MISSING else repr(one.default)
        default = "" if one.default is inspect.Parameter.empty else f" = {shown_default}"
        shown.append(f"{stars}{one.name}: {one.annotation}{default}")
    line = f"({', '.join(shown)}){back}"
    return line if len(line) < 90 else "(\n    " + ",\n    ".join(shown) + f",\n){back}"


def _text(value: Any) -> str:
    """A docstring as Markdown."""
    parts: list[str] = []
    section, lines = "", list[str]()
    for line in [*(inspect.getdoc(value) or "").splitlines(), "End:"]:
        head = line.rstrip(":") if line.endswith(":") and not line.startswith(" ") else ""
        if head in SECTIONS or head == "End":
            parts.append(_section(section, lines))
            section, lines = head, []
        else:
            lines.append(line)
    return "\n\n".join(part for part in parts if part)


def _section(name: str, lines: list[str]) -> str:
    body = inspect.cleandoc("\n".join(["", *lines])).strip()
    if not body or not name:
        return body
    if name == "Example":
        return f"```pycon\n{body}\n```"
    entries = re.split(r"\n(?=\S)", body)
    if name in ("Returns", "Yields"):
        return f"**{name}** {' '.join(body.split())}"
    rows = [(" ".join(entry.split())).partition(": ") for entry in entries]
    return f"**{name}**\n\n" + "\n".join(f"- `{head.replace('**', '')}`: {rest}" for head, _, rest in rows)
