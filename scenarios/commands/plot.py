"""What `gridtune plot` does: draw runs that were written to folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gridtune import limits
from gridtune.scenarios.errors import ScenarioError


def draw(runs: Sequence[str], kind: str, out: Path, window: str | None) -> None:
    """Draw a picture of one run or several that were written to folders.

    Raises:
        ScenarioError: no such run, kind of picture or window, or the file cannot be written.
    """
    from gridtune.scenarios.plots import draw_run_picture

    draw_run_picture(runs, kind, out, _window(window))


def picture_rows() -> list[dict[str, str]]:
    """The kinds of pictures, what they show, and whether of several runs."""
    from gridtune.scenarios.plots import KINDS, OVERLAYS

    return [
        {
            "kind": name,
            "shows": description,
            "of several runs": OVERLAYS[name][1] if name in OVERLAYS else "",
        }
        for name, (_, description) in KINDS.items()
    ]


def _window(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        start, end = (float(part) for part in text.split(":"))
    except ValueError:
        raise ScenarioError(f"--window {text}: expected FROM:TO in seconds, e.g. 0:3600") from None
    if not start < end:
        raise ScenarioError(f"--window {text}: it must end after it starts")
    if max(abs(start), abs(end)) > limits.NUMBER:
        raise ScenarioError(f"--window {text}: must begin and end within {limits.NUMBER:g} s")
    return start, end
