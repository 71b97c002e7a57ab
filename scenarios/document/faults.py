"""What is wrong with a document: a line for each place, which is named as its user wrote it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gridtune import limits
from gridtune.scenarios.document.paths import Document
from gridtune.scenarios.errors import brief, meant
from gridtune.scenarios.tables.schema import ScenarioSpec

SHOULD = "Input should be "
QUOTE = "'"


@dataclass(frozen=True)
class Fault:
    """Something that is wrong in a place.

    Attributes:
        path: dotted; elements of arrays by name.
        what: what pydantic says of it.
        forms: that were tried above it, each with the path of what was tried; outermost first.
        unlike: whether what was tried has nothing of the last form.
    """

    path: str
    what: ErrorDetails
    forms: tuple[tuple[str, str], ...] = ()
    unlike: bool = False


def lines_of(error: ValidationError, document: Document) -> list[str]:
    """A line for each place of a document where something is wrong: its path, and what would be right.

    Of very many faults only the first are told.
    """
    found: dict[tuple[str, str], list[str]] = {}
    all_of_them = error.errors(include_url=False)
    for fault in _of_likely_forms([_located(document, what) for what in all_of_them[: limits.FAULTS]]):
        given, message = _said(fault.what)
        found.setdefault((fault.path, given), []).append(message)
    lines = [
        ": ".join(part for part in (*place, message) if part)
        for place, messages in found.items()
        for message in _joined(messages)
    ]
    if len(all_of_them) > limits.FAULTS:
        lines.insert(0, f"{len(all_of_them):,} faults, of which these are the first")
    return lines


def _said(fault: ErrorDetails) -> tuple[str, str]:
    """What stands in a place, if that can be shown and matters, and what is wrong with it."""
    kind, about = fault["type"], fault.get("ctx", {})
    if kind == "extra_forbidden":
        return "", f"no such key; {_hint(str(fault['loc'][-1]), _known_keys(fault['loc']))}"
    if kind in ("missing", "union_tag_not_found"):
        return "", "required, but left out"
    if kind == "union_tag_invalid":
        known = about["expected_tags"].strip(QUOTE).split("', '")
        return "", f"no {about['tag']}; {_hint(about['tag'], known)}"
    given = brief(fault["input"]) if isinstance(fault["input"], str | int | float | bool) else ""
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return given, f"{SHOULD}a table"
    return given, fault["msg"].removeprefix("Value error, ")


def _hint(word: str, known: list[str]) -> str:
    return meant(word, known, f"known: {', '.join(known)}")


def _joined(messages: list[str]) -> list[str]:
    """What a place may be in one message, as each form of it has its own; others stay as they are."""
    forms = dict.fromkeys(text.removeprefix(SHOULD) for text in messages if text.startswith(SHOULD))
    others = dict.fromkeys(text for text in messages if not text.startswith(SHOULD))
    return [*([SHOULD + " or ".join(forms)] if forms else []), *others]


def _of_likely_forms(faults: list[Fault], level: int = 0) -> list[Fault]:
    """The faults without those of forms that a table or value can have, but is likely not meant to have.

    It is tried in each of its forms. Meant is the one in which it has faults in the fewest places, but not
    one that it is none of, if there is another.

    Args:
        faults: of places that have the same forms above them, up to the level.
        level: of the forms to choose among.
    """
    kept = [fault for fault in faults if len(fault.forms) == level]
    tried: dict[str, dict[str, list[Fault]]] = {}
    for fault in faults:
        if len(fault.forms) > level:
            path, form = fault.forms[level]
            tried.setdefault(path, {}).setdefault(form, []).append(fault)
    for forms in tried.values():
        likely = [_of_likely_forms(found, level + 1) for found in forms.values()]
        costs = [
            inf
            if any(fault.unlike and len(fault.forms) == level + 1 for fault in found)
            else len({fault.path for fault in found})
            for found in likely
        ]
        kept += [
            fault for found, cost in zip(likely, costs, strict=True) if cost == min(costs) for fault in found
        ]
    return kept


def _located(document: Document, what: ErrorDetails) -> Fault:
    """Where a fault is: steps that lead to it and that nobody has written name forms."""
    parts: list[str] = []
    forms: list[tuple[str, str]] = []
    at: Any = document
    told = None  # the table whose kind was among the steps, where it is no key
    unlike = False
    for place, step in enumerate(what["loc"]):
        last = place == len(what["loc"]) - 1
        kinds = (at.get("kind"), at.get("law")) if isinstance(at, dict) and at is not told else ()
        if step in kinds and not last:
            told = at
        elif isinstance(at, list) and isinstance(step, int) and step < len(at):
            at = at[step]
            name = str(at.get("name", step)) if isinstance(at, dict) else str(step)
            if not (parts and parts[-1] == name):
                parts.append(name)
        elif isinstance(at, dict) and step in at:
            at = at[step]
            parts.append(str(step))
        elif last and what["type"] == "missing":
            parts.append(str(step))
        else:
            forms.append((".".join(parts), str(step)))
            unlike = last and what["type"].endswith(("_type", "literal_error"))
    if what["type"].startswith("union_tag_"):
        parts.append(what["ctx"]["discriminator"].strip(QUOTE))
    return Fault(".".join(parts), what, tuple(forms), unlike)


def _known_keys(loc: tuple[int | str, ...]) -> list[str]:
    """Keys of the table in which a fault lies, from the schema."""
    models: list[type[BaseModel]] = [ScenarioSpec]
    for step in loc[:-1]:
        inner: list[type[BaseModel]] = []
        for model in models:
            if isinstance(step, str) and step in model.model_fields:
                inner.extend(_models_in(model.model_fields[step].annotation))
        tagged = [model for model in models if _tag(model) == step]
        models = tagged or inner or models  # a kind may be named as a key is, of another kind
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
