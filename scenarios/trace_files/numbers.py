"""Numbers as logs write them: ASCII digits, and none of what only Python takes for a number."""

from __future__ import annotations


def plain(text: str) -> bool:
    """Whether a text has neither digits of other scripts nor `_` between digits."""
    return text.isascii() and "_" not in text


def number(text: str) -> float:
    """The number that a text is.

    Raises:
        ValueError: it is none.
    """
    return float(_checked(text, "number"))


def whole(text: str) -> int:
    """The whole number that a text is.

    Raises:
        ValueError: it is none.
    """
    return int(_checked(text, "whole number"))


def _checked(text: str, kind: str) -> str:
    if not plain(text):
        raise ValueError(f"{text!r:.60} is no {kind}")
    return text
