"""What the pages of reference are written with: sentences, rows of tables, limits of numbers."""

from __future__ import annotations

from typing import Any

from gridtune.limits import COUNTS


def sentence(text: str) -> str:
    """A text in one line, with a capital and a full stop."""
    text = " ".join(text.split())
    return text[:1].upper() + text[1:] + ("" if not text or text[-1] in ".?…" else ".")


def row(*cells: str) -> str:
    """A row of a table, each cell in one line."""
    return "| " + " | ".join(" ".join(str(cell).split()).replace("|", "\\|") for cell in cells) + " |"


def limits(value: dict[str, Any], key: str = "") -> str:
    """The bounds of a number, as they follow its type; some keys have a greatest value of their own."""
    if value.get("type") == "integer" and key in COUNTS:
        value = {"maximum": COUNTS[key], **value}
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    said = [f"{sign} {value[name]:.12g}" for name, sign in signs.items() if name in value]
    return f", {', '.join(said)}" if said else ""
