"""What is varied, as Python says it, in the words of the command line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from gridtune.scenarios.document.paths import by_path
from gridtune.scenarios.errors import ScenarioError

# Values, (low, high, …) or text by path; or whole texts.
Variations = Mapping[str, "Iterable[Any] | str"] | Sequence[str] | None


def as_texts(vary: Variations) -> list[str]:
    """Variations as `PATH=V1,V2,…` or `PATH=LOW:HIGH…`.

    Args:
        vary: by path a list of values, a tuple `(low, high[, count][, "log"])`, or what stands behind `=` on
            the command line. Or whole texts.

    Raises:
        ScenarioError: something else.
    """
    if vary is None:
        return []
    if isinstance(vary, str):
        return [vary]
    items = getattr(vary, "items", None)  # a Series of pandas has them, too
    return list(vary) if items is None else [f"{path}={_text(path, one)}" for path, one in items()]


def _text(path: str, values: Any) -> str:
    if isinstance(values, str):
        return values
    if isinstance(values, tuple):
        low, high, *rest = map(_plain, values) if len(values) > 1 else (None, None)
        if not all(map(_is_number, (low, high))) or any(
            part != "log" and type(part) is not int for part in rest
        ):
            raise ScenarioError(
                f"{path}: {values!r}: a tuple is a range, (low, high) or (low, high, count), and may end in "
                "'log'; a list has single values"
            )
        return ":".join(map(str, (low, high, *rest)))
    try:
        if isinstance(values, Mapping | Set):  # a set has no order
            raise TypeError
        return ",".join(_toml(_plain(value)) for value in values)
    except TypeError:
        raise ScenarioError(f"{path}: {values!r}: expected a list of values or a tuple (low, high)") from None


def _plain(value: Any) -> Any:
    return by_path({"": value})[""]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _toml(value: Any) -> str:
    """A value as TOML writes it within a line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    raise TypeError(value)
