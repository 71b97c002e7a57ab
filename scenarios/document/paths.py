"""Dotted paths into a scenario document: `client.n_submit`, `site.lal.nodes`, `site.*.nodes`.

A document is what TOML gives: tables as dicts, arrays of tables as lists of dicts. An element of an
array of tables is addressed by its `name`, `*` addresses all, and a lone element needs no name. A policy
written as its bare name becomes a table as soon as a path leads into it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from gridtune import limits
from gridtune.scenarios.errors import ScenarioError

Document = dict[str, Any]


def parse_value(text: str) -> Any:
    """A value as on the command line: TOML where it is TOML, else plain text."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):  # not TOML, or a number of thousands of digits
        return text
    return parsed["value"] if parsed.keys() == {"value"} else text


def parse_assignment(text: str) -> tuple[str, Any]:
    """`PATH=VALUE` as on the command line.

    Raises:
        ScenarioError: there is no `=` or no path.
    """
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise ScenarioError(f"{text!r:.80}: expected PATH=VALUE, e.g. client.n_submit=100")
    return path.strip(), parse_value(value.strip())


def by_path(values: Mapping[str, Any] | None = None, /, **keywords: Any) -> dict[str, Any]:
    """Values by path from Python: of a mapping, and of keywords in which `__` stands for each dot.

    NumPy's scalars become Python's, paths of files texts.

    Raises:
        ScenarioError: a path is given twice.
    """
    try:
        given = {} if values is None else {str(path): value for path, value in dict(values).items()}
    except (TypeError, ValueError):
        example = "{'site.lyon.nodes': 8}"
        raise ScenarioError(f"{values!r:.60}: expected values by path, such as {example}") from None
    made = {path: _plain(value) for path, value in given.items()}
    for keyword, value in keywords.items():
        path = keyword.replace("__", ".")
        if path in made:
            raise ScenarioError(f"{path}: set twice, by its path and by the keyword {keyword}")
        made[path] = _plain(value)
    return made


def parse_assignments(texts: Sequence[str]) -> dict[str, Any]:
    """All of them by path.

    Raises:
        ScenarioError: one is no `PATH=VALUE`, or a path is given twice.
    """
    values: dict[str, Any] = {}
    for path, value in map(parse_assignment, texts):
        if path in values:
            raise ScenarioError(f"--set {path}: given twice, as {values[path]!r:.60} and as {value!r:.60}")
        values[path] = value
    return values


def with_values(document: Document, values: Mapping[str, Any]) -> Document:
    """A copy of the document with a value set at each path, shorter paths first.

    A policy that is set to the kind that stands there keeps its parameters; one of another kind has its own.

    Raises:
        ScenarioError: a path leads nowhere. (Whether a key is known and a value fits is for the schema.)
    """
    changed: Document = _copied(document)
    for path in values:
        if not all(path.split(".")):
            raise ScenarioError(f"{path!r:.80}: a path has names between its dots, as client.n_submit")
        if path.count(".") >= limits.DEPTH:
            raise ScenarioError(f"{path!r:.80}: leads through more than {limits.DEPTH} tables")
    for path in sorted(values, key=lambda path: path.count(".")):
        *parents, key = path.split(".")
        for table in _tables(changed, parents, path):
            if not _of_kind(table.get(key), values[path]):
                table[key] = _copied(values[path])
    return changed


def _of_kind(present: Any, value: Any) -> bool:
    """Whether a table is of the kind that is to be set: then its parameters stay as they are."""
    return isinstance(value, str) and isinstance(present, dict) and present.get("kind") == value


def same_place(document: Document, first: str, second: str) -> bool:
    """Whether two paths lead to one value, as `site.nodes` and `site.*.nodes` do.

    Raises:
        ScenarioError: a path leads nowhere.
    """
    scratch = _copied(document)
    return not _places(scratch, first).isdisjoint(_places(scratch, second))


def doubles(document: Document, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of different paths that lead to one value; what leads nowhere is passed over."""
    scratch = _copied(document)
    known: dict[tuple[int, str], list[str]] = {}
    for path in dict.fromkeys(paths):
        with suppress(ScenarioError):
            for place in _places(scratch, path):
                others = known.setdefault(place, [])
                yield from ((other, path) for other in others)
                others.append(path)


def _places(document: Document, path: str) -> set[tuple[int, str]]:
    """The values that a path leads to, as tables and keys; a policy's bare name becomes a table."""
    *parents, key = path.split(".")
    found = set()
    for table in _tables(document, parents, path):
        if key != "kind" and isinstance(table.get(key), str | dict | None):  # maybe a policy: its kind is set
            if not isinstance(table.get(key), dict):
                table[key] = {"kind": table.get(key)}
            found.add((id(table[key]), "kind"))
        else:
            found.add((id(table), key))
    return found


def changes(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The paths at which one document has other values than another, and its values."""
    if isinstance(before, str) and isinstance(after, dict):
        before = {"kind": before}
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        before, after = _by_name(before), _by_name(after)
    if isinstance(before, dict) and isinstance(after, dict) and before.get("kind") == after.get("kind"):
        for key in {**before, **after}:
            yield from changes(before.get(key), after.get(key), f"{path}.{key}" if path else key)
    elif before != after:
        yield path, after


def _by_name(array: list[Any]) -> Any:
    """An array of tables as a table of them by name, a lone one as itself; anything else as it is."""
    if not all(isinstance(element, dict) for element in array):
        return array
    named = {str(element.get("name")): element for element in array}
    return array[0] if len(array) == 1 else named if len(named) == len(array) else array


def value_at(document: Document, path: str) -> Any:
    """The value at a path; of several elements (`*`) the first; None where nothing is written.

    Raises:
        ScenarioError: the path leads nowhere.
    """
    *parents, key = path.split(".")
    table = next(_tables(_copied(document), parents, path), {})
    value = table.get(key)
    return value.get("kind", value) if isinstance(value, dict) else value


def _copied(value: Any) -> Any:
    """A copy of what TOML gives: of tables and lists, for what is in them does not change."""
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """What TOML could have given."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value.item() if hasattr(value, "item") and not getattr(value, "ndim", 0) else value


def _tables(start: Any, parents: list[str], path: str) -> Iterator[dict[str, Any]]:
    """Every table that the parents lead to; missing inner tables are made."""
    if isinstance(start, list):
        yield from _elements(start, parents, path)
        return
    if not isinstance(start, dict):
        raise ScenarioError(f"{path}: leads through a value that is no table")
    if not parents:
        yield start
        return
    key, *rest = parents
    inner = start.get(key)
    if isinstance(inner, str):
        inner = start[key] = {"kind": inner}
    elif inner is None:
        inner = start[key] = {}
    elif not isinstance(inner, dict | list):
        raise ScenarioError(f"{path}: {key} is a value, nothing lies below it")
    yield from _tables(inner, rest, path)


def _elements(array: list[Any], parents: list[str], path: str) -> Iterator[dict[str, Any]]:
    if not all(isinstance(element, dict) for element in array):
        raise ScenarioError(f"{path}: leads into a list of values, which have no names; set the whole list")
    names = [element.get("name") for element in array]
    if parents and parents[0] == "*":
        for element in array:
            yield from _tables(element, parents[1:], path)
    elif parents and parents[0] in names:
        yield from _tables(array[names.index(parents[0])], parents[1:], path)
    elif len(array) == 1:
        yield from _tables(array[0], parents, path)
    else:
        known = ", ".join(str(name) for name in names)
        raise ScenarioError(f"{path}: name one of {known}, or * for all of them")
