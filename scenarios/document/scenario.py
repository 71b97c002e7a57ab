"""Scenarios: documents that were found, read, checked and can be varied."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from gridtune import limits
from gridtune.plain_text import argument, hidden
from gridtune.scenarios.document.active_parts import active
from gridtune.scenarios.document.control_characters import control_characters
from gridtune.scenarios.document.faults import lines_of
from gridtune.scenarios.document.paths import Document, value_at, with_values
from gridtune.scenarios.document.trust import Plugin, allowed_here, plugins_of, run_plugins, trusted
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.regular_files import text_of
from gridtune.scenarios.systems.registry import SYSTEMS
from gridtune.scenarios.tables.schema import ARRAYS, ScenarioSpec
from gridtune.scenarios.trace_files import iter_trace

# A key of more parts than tables may lie inside each other; parts are bare or quoted.
PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
DOTTED = re.compile(rf"(?<![\w-])(?:{PART}){{{limits.DEPTH}}}")
SHIPPED = Path(str(files("gridtune.scenarios"))) / "shipped"


@dataclass(frozen=True)
class Scenario:
    """A valid scenario.

    Attributes:
        name: `diet/day-regular`, or the path of the file.
        document: as in the file, with overrides applied.
        base: folder that files named in the document are relative to.
        allow_plugins: whether its user lets the Python files run that it names, beside those that are trusted
            anyway; see `scenarios.document.trust`.
        pinned: SHA-256 of Python files by name, where others would not be what was run.

    Raises:
        ScenarioError: the name has a control character.
    """

    name: str
    document: Document
    base: Path
    allow_plugins: bool = field(default_factory=allowed_here, compare=False)
    pinned: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if fault := hidden(self.name):
            raise ScenarioError(f"scenario {fault}")

    @property
    def spec(self) -> ScenarioSpec:
        """Read the tables of the document with types and defaults, checked to fit together.

        Raises:
            ScenarioError: the document has faults, all of which are named, or its tables do not fit.

        Example:
            >>> scenario.spec.sed[0].count, scenario.spec.horizon is None
            (10, True)
        """
        _ = self.active
        return self._tables

    @cached_property
    def active(self) -> ScenarioSpec:
        """Leave out what is switched off, and nodes that sites have lent to others, from `spec`.

        Raises:
            ScenarioError: the document has faults, all of which are named, or its tables do not fit.

        Example:
            >>> len(scenario.active.sed), len(scenario.spec.sed)
            (1, 1)
        """
        try:
            present = active(self._tables)
            for system in SYSTEMS:
                system.check(present)
        except ScenarioError:
            raise
        except ValueError as error:
            raise ScenarioError(f"{self.name}: {error}") from None
        return present

    @cached_property
    def _tables(self) -> ScenarioSpec:
        faults = list(control_characters(self.document))
        try:
            plugins = self._plugins
            run_plugins([] if faults else plugins, self.allow_plugins, self.pinned)
        except ScenarioError as error:
            raise ScenarioError(f"{self.name}: {error}") from error
        try:
            made = ScenarioSpec.model_validate(self.document, context={"base": self.base})
        except ValidationError as error:
            faults += lines_of(error, self.document)
        if faults:
            raise ScenarioError([f"{self.name}: {line}" for line in dict.fromkeys(faults)])
        return made

    def override(self, values: Mapping[str, Any]) -> Self:
        """Set a value at each path, and check the scenario that results.

        Args:
            values: values by dotted path.

        Returns:
            A scenario with these values; this one does not change.

        Raises:
            ScenarioError: a path or a value does not fit.
        """
        if not values:
            return self
        try:
            changed = replace(self, document=with_values(self.document, values))
        except ScenarioError as error:
            raise ScenarioError([f"{self.name}: {fault}" for fault in error.faults]) from None
        _ = changed.spec
        return changed

    @property
    def plugins(self) -> dict[str, str]:
        """Give the SHA-256 of each Python file that the scenario names, by name; no file is run.

        Example:
            >>> scenario.plugins
            {}
        """
        return {one.name: one.digest for one in self._plugins}

    @property
    def parts(self) -> tuple[str, Document, Path, bool, dict[str, str]]:
        """Give the arguments that make this scenario in another process, with the trust that it has here.

        Example:
            >>> gt.Scenario(*scenario.parts) == scenario
            True
        """
        allowed = self.allow_plugins or (bool(self._plugins) and trusted(self._plugins))
        return self.name, self.document, self.base, allowed, self.plugins

    @cached_property
    def _plugins(self) -> list[Plugin]:
        return plugins_of(self.document, self.base)

    def __repr__(self) -> str:
        return f"Scenario({self.name!r})"

    def value(self, path: str) -> Any:
        """Look up the value at a path in the document, without defaults.

        Args:
            path: a dotted path, such as `client.dispatch`.

        Returns:
            The value, in the unit of the field; None if the document has none there.

        Example:
            >>> scenario.value("sed.count")
            10
        """
        return value_at(self.document, path)


def load(name: str | Path, *, allow_plugins: bool | None = None) -> Scenario:
    """The shipped scenario of that name, or that of a TOML file or of the manifest of a run.

    Args:
        name: of the scenario, or path of the file.
        allow_plugins: whether the Python files that it names may run (see `scenarios.document.trust`); left
            out, as the process allows it.

    Raises:
        ScenarioError: there is none, or it is not valid.
    """
    path = Path(name)
    shipped = SHIPPED / f"{name}.toml"
    if _is_shipped(shipped) and path.suffix != ".toml":
        scenario = Scenario(str(name), _read(shipped, str(name)), Path.cwd())
    else:
        if not _is_file(path):
            if os.path.exists(path) and not path.is_dir():
                raise ScenarioError(f"{name}: no regular file, such as a scenario is")
            near = get_close_matches(str(name), list(shipped_names()), n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else "`gridtune scenarios` lists those shipped"
            raise ScenarioError(f"{name}: no such scenario or file; {hint}")
        scenario = _from_manifest(path) if path.suffix == ".json" else _from_toml(path)
    if allow_plugins is not None:
        scenario = replace(scenario, allow_plugins=allow_plugins)
    _ = scenario.spec
    return scenario


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _is_shipped(path: Path) -> bool:
    """Whether this is one of ours, and not a way out of their folder."""
    return _is_file(path) and path.resolve().is_relative_to(SHIPPED.resolve())


def _from_toml(path: Path) -> Scenario:
    try:
        return Scenario(str(path), _read(path, str(path)), path.resolve().parent)
    except ScenarioError as error:
        if path.suffix != ".toml" and _is_trace(path):
            command = f"gridtune calibrate {argument(path)} --out mine.toml"
            raise ScenarioError(f"{path}: this is a trace: `{command}` makes a scenario of it") from error
        raise


def _is_trace(path: Path) -> bool:
    """Whether a file has a job that can be read."""
    try:
        return next(iter(iter_trace(path)), None) is not None
    except ScenarioError:
        return False


def _from_manifest(path: Path) -> Scenario:
    """The scenario of an earlier run, overrides included."""
    try:
        about = json.loads(_text(path, str(path)))
        name, document, base = about["scenario"], about["document"], path.resolve().parent / about["base"]
        pinned = about.get("plugins", {})
        if not (isinstance(name, str) and isinstance(document, dict) and isinstance(pinned, dict)):
            raise TypeError("scenario, document or plugins are of another kind")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, ScenarioError):
            raise
        what = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise ScenarioError(f"{path}: not the manifest of a run: {what}") from error
    _of_sensible_size(document, name)
    return Scenario(name, document, base, pinned=pinned)


def shipped_names() -> Iterator[str]:
    """Names of the shipped scenarios, sorted."""
    for path in sorted(SHIPPED.rglob("*.toml")):
        yield path.relative_to(SHIPPED).with_suffix("").as_posix()


def shipped_text(name: str) -> str:
    """TOML of a shipped scenario.

    Raises:
        ScenarioError: no such scenario.
    """
    path = SHIPPED / f"{name}.toml"
    if not _is_shipped(path):
        raise ScenarioError(f"{name}: no such shipped scenario; `gridtune scenarios` lists them")
    return path.read_text(encoding="utf-8")


def _read(path: Path, name: str) -> Document:
    text = _text(path, name)
    # Before tomllib takes time by the square of a dotted key, or seconds for a million elements.
    if DOTTED.search(text):
        raise ScenarioError(f"{name}: {_too_deep()}")
    if text.count(",") + text.count("=") > 2 * limits.KEYS:
        raise ScenarioError(f"{name}: {_too_many()}")
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also: numbers of thousands of digits
        deep = isinstance(error, RecursionError)
        raise ScenarioError(f"{name}: {_too_deep() if deep else error}") from error
    for array in ARRAYS:
        if isinstance(document.get(array), dict):
            document[array] = [document[array]]
    for array in ARRAYS:
        elements = document.get(array, [])
        for element in elements if isinstance(elements, list) else []:
            if isinstance(element, dict):
                element.setdefault("name", array)
    _of_sensible_size(document, name)
    return document


def _text(path: Path, name: str) -> str:
    """The text of a document."""
    try:
        most = limits.DOCUMENT_BYTES if path.suffix == ".json" else limits.TOML_BYTES
        return text_of(path, most)
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{name}: is no text in UTF-8: {error.reason} at byte {error.start}") from error
    except OSError as error:
        raise ScenarioError(f"{name}: cannot be read: {error.strerror or error}") from error


def _too_many() -> str:
    return f"more than {limits.KEYS:,} keys and elements; is it a scenario?"


def _too_deep() -> str:
    return f"tables inside tables: more than {limits.DEPTH} levels"


def _of_sensible_size(document: Document, name: str) -> None:
    """Refuse what would take longer to check than anybody waits.

    Raises:
        ScenarioError: too many tables in an array, keys, or tables inside tables.
    """
    for array, elements in document.items():
        if isinstance(elements, list) and len(elements) > limits.ELEMENTS:
            raise ScenarioError(
                f"{name}: {array}: {len(elements):,} tables; the limit is {limits.ELEMENTS:,}"
            )
    level: list[Any] = [document]
    keys = 0
    for _ in range(limits.DEPTH):
        keys += sum(map(len, level))
        if keys > limits.KEYS:
            raise ScenarioError(f"{name}: {_too_many()}")
        level = [
            inner
            for part in level
            for inner in (part.values() if isinstance(part, dict) else part)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise ScenarioError(f"{name}: {_too_deep()}")
