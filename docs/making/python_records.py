"""The types that the page on Python names beside the public ones: records, and short names of types."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any

from pydantic import BaseModel
from python_types import arguments, attributes, function, own, returned
from reference_text import row


def records(public: Iterable[Any]) -> Iterator[str]:
    """A row for each type of gridtune that annotations of public names mention, and that is none of them."""
    public = list(public)
    known, found = {one.__name__ for one in public}, dict[str, tuple[Any, str]]()
    for value in public:
        for place, text in _annotations(value):
            for name in re.findall(r"(?<![\w.'])[A-Za-z_]\w*", re.sub(r"'[^']*'", "", text)):
                where, kind = resolved(place, name)
                if name not in known and (kind or where is not None):
                    found.setdefault(name, (where, kind))
    for name, (value, kind) in sorted(found.items()):
        yield row(f"`{name}`", f"It stands for `{kind}`." if kind else _about(value))


def resolved(place: str, name: str) -> tuple[Any, str]:
    """What a name in a module is: a class of gridtune, or the text that an alias stands for; else neither."""
    imported, assigned = _names(place)
    if name in imported:
        return resolved(*imported[name])
    if name in assigned:
        return None, assigned[name]
    value = getattr(sys.modules.get(place), name, None)
    return (value if inspect.isclass(value) and value.__module__ == place else None), ""


@cache
def _names(place: str) -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    """What a module imports from gridtune, also for types only; and the types to which it gives names."""
    imported, assigned = dict[str, tuple[str, str]](), dict[str, str]()
    for node in ast.walk(ast.parse(inspect.getsource(import_module(place)))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gridtune."):
            imported |= {one.asname or one.name: (str(node.module), one.name) for one in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            text = ast.unparse(node.value)
            if isinstance(target, ast.Name) and target.id[:1].isupper() and re.match(r"[\w.]+(\[| \|)", text):
                assigned[target.id] = text if text.startswith("Literal") else text.replace("'", "")
    return imported, assigned


def _annotations(value: Any) -> Iterator[tuple[str, str]]:
    """The annotations of a function, or of a class and its public members, each with its module."""
    if not inspect.isclass(value):
        yield from ((value.__module__, one.kind) for one in arguments(value).values())
        yield value.__module__, returned(value)
        return
    for base in own(value):
        yield from ((base.__module__, one.kind) for one in attributes(base).values())
        for name, member in vars(base).items():
            called = function(member)
            if inspect.isfunction(called) and (not name.startswith("_") or name == "__init__"):
                yield from _annotations(called)


def _about(cls: type) -> str:
    """The first line of a class, and its attributes with their types."""
    meaning = (inspect.getdoc(cls) or "").partition("\n")[0]
    if issubclass(cls, BaseModel):
        return f"{meaning} Its attributes are the keys of [the document](scenario.md#the-document)."
    if issubclass(cls, Enum):
        return f"{meaning} Values: {', '.join(f'`{one.value}`' for one in cls)}."
    listed = [f"`{name}` (`{one.kind}`)" for name, one in attributes(cls).items() if name[0] != "_"]
    return f"{meaning} Attributes: {', '.join(listed)}." if listed else meaning
