"""Scenarios: documents that were found, read, checked and can be varied."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gridtune.model.policy import PolicyError, load_file
from gridtune.scenarios.document.active_parts import active
from gridtune.scenarios.document.paths import Document, value_at, with_values
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.systems.registry import SYSTEMS
from gridtune.scenarios.tables.schema import ARRAYS, ScenarioSpec

SHIPPED = Path(str(files("gridtune.scenarios"))) / "shipped"


@dataclass(frozen=True)
class Scenario:
    """A valid scenario.

    Attributes:
        name: `diet/day-regular`, or the path of the file.
        document: as in the file, with overrides applied.
        base: folder that files named in the document are relative to.
    """

    name: str
    document: Document
    base: Path

    @property
    def spec(self) -> ScenarioSpec:
        """The document as typed tables that fit together.

        Raises:
            ScenarioError: with every fault of the document, or the first by which its tables do not fit.
        """
        _ = self.active
        return self._tables

    @cached_property
    def active(self) -> ScenarioSpec:
        """What of the tables stands in the grid; see `scenarios.document.active_parts`."""
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
        plugins = self.document.get("plugins", [])
        for plugin in plugins if isinstance(plugins, list) else []:
            try:
                load_file(self.base / str(plugin))
            except PolicyError as error:
                raise ScenarioError(f"{self.name}: plugins: {error}") from error
        try:
            return ScenarioSpec.model_validate(self.document, context={"base": self.base})
        except ValidationError as error:
            raise ScenarioError([self._fault(fault) for fault in error.errors()]) from None

    def override(self, values: Mapping[str, Any]) -> Self:
        """The scenario with a value set at each path, checked.

        Raises:
            ScenarioError: a path or value that does not fit.
        """
        if not values:
            return self
        try:
            changed = replace(self, document=with_values(self.document, values))
        except ScenarioError as error:
            raise ScenarioError([f"{self.name}: {fault}" for fault in error.faults]) from None
        _ = changed.spec
        return changed

    def __repr__(self) -> str:
        return f"Scenario({self.name!r})"

    def value(self, path: str) -> Any:
        """What the document (not the defaults) has at a path; None if nothing."""
        return value_at(self.document, path)

    def _fault(self, fault: ErrorDetails) -> str:
        """One line: file, path, what is wrong, what would be right."""
        path, known = _locate(self.document, fault["loc"])
        message = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            near = get_close_matches(str(fault["loc"][-1]), known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
            message = f"no such key; {hint}"
        elif fault["type"] == "missing":
            message = "required, but left out"
        elif isinstance(fault["input"], str | int | float | bool):
            message = f"{fault['input']!r}: {message}"
        return f"{self.name}: {path}: {message}" if path else f"{self.name}: {message}"


def load(name: str | Path) -> Scenario:
    """The shipped scenario of that name, or that of a TOML file or of the manifest of a run.

    Raises:
        ScenarioError: there is none, or it is not valid.
    """
    path = Path(name)
    shipped = SHIPPED / f"{name}.toml"
    if shipped.is_file() and path.suffix != ".toml":
        scenario = Scenario(str(name), _read(shipped, str(name)), Path.cwd())
    else:
        if not path.is_file():
            near = get_close_matches(str(name), list(shipped_names()), n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else "`gridtune scenarios` lists those shipped"
            raise ScenarioError(f"{name}: no such scenario or file; {hint}")
        scenario = _from_manifest(path) if path.suffix == ".json" else _from_toml(path)
    _ = scenario.spec
    return scenario


def _from_toml(path: Path) -> Scenario:
    return Scenario(str(path), _read(path, str(path)), path.resolve().parent)


def _from_manifest(path: Path) -> Scenario:
    """The scenario of an earlier run, overrides included."""
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        return Scenario(about["scenario"], about["document"], path.resolve().parent / about["base"])
    except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
        raise ScenarioError(f"{path}: not the manifest of a run: {error}") from error


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
    if not path.is_file():
        raise ScenarioError(f"{name}: no such shipped scenario; `gridtune scenarios` lists them")
    return path.read_text(encoding="utf-8")


def _read(path: Path, name: str) -> Document:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ScenarioError(f"{name}: {error}") from error
    for array in ARRAYS:
        if isinstance(document.get(array), dict):
            document[array] = [document[array]]
    for array in ARRAYS:
        for element in document.get(array, []):
            if isinstance(element, dict):
                element.setdefault("name", array)
    return document


def _locate(document: Document, loc: tuple[int | str, ...]) -> tuple[str, list[str]]:
    """The dotted path of a fault, elements by name, and the keys its table may have."""
    parts: list[str] = []
    at: Any = document
    for step in loc:
        if isinstance(step, int) and isinstance(at, list) and step < len(at):
            at = at[step]
            name = at.get("name", str(step)) if isinstance(at, dict) else str(step)
            if not (parts and parts[-1] == name):
                parts.append(name)
        elif isinstance(at, dict) and step in at:
            at = at[step]
            parts.append(str(step))
        elif step == loc[-1]:
            parts.append(str(step))
    return ".".join(parts), _known_keys(loc)


def _known_keys(loc: tuple[int | str, ...]) -> list[str]:
    """Keys of the table in which a fault lies, from the schema."""
    models: list[type[BaseModel]] = [ScenarioSpec]
    for step in loc[:-1]:
        inner: list[type[BaseModel]] = []
        for model in models:
            if isinstance(step, str) and step in model.model_fields:
                inner.extend(_models_in(model.model_fields[step].annotation))
        tagged = [model for model in models if _tag(model) == step]
        models = inner or tagged or models
    return sorted({key for model in models for key in model.model_fields})


def _tag(model: type[BaseModel]) -> str | None:
    for key in ("kind", "law"):
        if key in model.model_fields:
            literal = getattr(model.model_fields[key].annotation, "__args__", ())
            return str(literal[0]) if literal else None
    return None


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in getattr(annotation, "__args__", ()) for model in _models_in(inner)]
