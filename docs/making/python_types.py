"""Types and defaults on the page on Python, from annotations, so that docstrings need not repeat them."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

MISSING = (inspect.Parameter.empty, dataclasses.MISSING)
UNREAD = {  # attributes whose type only a type checker could tell
    "Cluster.queues": "tuple[Queue, ...]",
    "GridModel.running": "bool",
    "GridModel.source": "Scenario",
    "ScenarioError.faults": "list[str]",
}


class Typed(NamedTuple):
    """The type of an argument or attribute, and its default.

    Attributes:
        kind: the annotation; "" if there is none.
        default: the default as Python writes it; "" if there is none.
    """

    kind: str
    default: str = ""

    def __str__(self) -> str:
        return f" (`{self.kind}`{f', default `{self.default}`' if self.default else ''})" if self.kind else ""


def own(cls: type) -> list[type]:
    """A class and those of its bases that are gridtune's own."""
    return [base for base in cls.__mro__ if base.__module__.startswith("gridtune.")]


def function(member: Any) -> Any:
    """What a method or property calls."""
    if isinstance(member, property):
        return member.fget
    if isinstance(member, cached_property):
        return member.func
    return getattr(member, "__func__", member)


def written(annotation: Any, owner: str = "") -> str:
    """An annotation as the page shows it.

    Args:
        annotation: a text, as annotations of gridtune are, or a type.
        owner: the name of the class that `Self` stands for.
    """
    annotation = getattr(annotation, "__forward_arg__", annotation)
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = re.sub(r"ClassVar\[(.*)\]", r"\1", text.replace("documents.", ""))
    return re.sub(r"\bSelf\b", owner, text)


def default(value: Any) -> str:
    """A default as Python writes it; a record of gridtune with all its defaults as its call."""
    if isinstance(value, tuple) and value:
        return f"({', '.join(map(default, value))}{',' if len(value) == 1 else ''})"
    plain = dataclasses.is_dataclass(value) and not inspect.isclass(value) and value == type(value)()
    return f"{type(value).__name__}()" if plain else repr(value)


def returned(called: Callable[..., Any], owner: str = "") -> str:
    """The type of what a function returns; "" for nothing."""
    found = inspect.signature(called).return_annotation
    return "" if found in (inspect.Signature.empty, None, "None") else written(found, owner)


def arguments(called: Callable[..., Any], owner: str = "") -> dict[str, Typed]:
    """The arguments of a function by name."""
    return {
        name: Typed(written(one.annotation, owner), "" if one.default in MISSING else default(one.default))
        for name, one in inspect.signature(called).parameters.items()
        if one.annotation is not inspect.Parameter.empty
    }


def attributes(cls: type) -> dict[str, Typed]:
    """The attributes of a class by name, of the class itself before those of its bases."""
    found: dict[str, Typed] = {}
    for base in own(cls):
        for name, annotation in inspect.get_annotations(base).items():
            found.setdefault(name, Typed(written(annotation, cls.__name__), _default(base, name)))
        for name, kind in _set(base):
            found.setdefault(name, Typed(kind))
    named = {
        key.partition(".")[2]: kind for key, kind in UNREAD.items() if key.startswith(f"{cls.__name__}.")
    }
    return {name: one for name, one in found.items() if one.kind} | {
        name: Typed(kind) for name, kind in named.items()
    }


def _default(cls: type, name: str) -> str:
    """The default of a field of a dataclass or named tuple, or the value that a class gives it."""
    fields = getattr(cls, "__dataclass_fields__", {})
    if name in fields:
        value = fields[name].default
    else:
        value = getattr(cls, "_field_defaults", vars(cls)).get(name, dataclasses.MISSING)
    return "" if value in MISSING or inspect.isdatadescriptor(value) else default(value)


def _set(cls: type) -> Iterator[tuple[str, str]]:
    """The attributes that the class or its `__init__` sets without an annotation, with their types."""
    for name, value in vars(cls).items():
        if isinstance(value, str | float) and not name.startswith("_"):
            yield name, type(value).__name__
    if not inspect.isfunction(vars(cls).get("__init__")) or dataclasses.is_dataclass(cls):
        return
    parameters, names = arguments(cls.__init__), vars(sys.modules[cls.__module__])
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(cls.__init__)))):
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        for target in (one for one in targets if isinstance(one, ast.Attribute)):
            if isinstance(node, ast.AnnAssign):
                yield target.attr, written(ast.unparse(node.annotation))
            elif isinstance(node, ast.Assign):
                yield target.attr, _type_of(node.value, parameters, names)


def _type_of(value: ast.expr, parameters: dict[str, Typed], names: dict[str, Any]) -> str:
    """The type of what an expression gives; "" if that cannot be read from it."""
    if isinstance(value, ast.IfExp):
        return _type_of(value.body, parameters, names)
    if isinstance(value, ast.UnaryOp):
        return _type_of(value.operand, parameters, names)
    if isinstance(value, ast.Constant):
        return type(value.value).__name__
    if isinstance(value, ast.Name):
        if value.id in parameters:
            return parameters[value.id].kind
        return type(names[value.id]).__name__ if value.id in names else ""
    made = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
    return made if made.rpartition(".")[2][:1].isupper() else ""
