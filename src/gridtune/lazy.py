"""Names of a package that are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package whose public names live in modules of it.

    Args:
        package: its `__name__`.
        homes: the module in which each name is defined, or that it is.

    Returns:
        Functions that a package takes as its own. A name that was found becomes an attribute of the package,
        so that each is looked up once. `dir` of the package gives the public ones of these names alone.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(homes[name])
        value = module if homes[name] == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted(name for name in homes if not name.startswith("_"))

    return find, names
