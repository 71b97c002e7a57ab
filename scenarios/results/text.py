"""Text for a terminal: its width, sentences that are broken there, and tables that fit it."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from io import StringIO

from gridtune.plain_text import escaped

WIDTH = 80  # columns where standard output is no terminal
LINES = 24  # that an answer has at most
GAP = 2  # columns between two of a table


class Styled(str):
    """A text that a terminal shows in a style of rich's, such as `green`."""

    style: str

    def __new__(cls, text: str, style: str) -> Styled:
        """The text with its style."""
        made = super().__new__(cls, text)
        made.style = style
        return made


def terminal_width() -> int:
    """Columns of the terminal, or as the environment says; `WIDTH` where there is none."""
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return WIDTH
    return max(shutil.get_terminal_size((WIDTH, 24)).columns, 40)


def wrapped(lines: Iterable[str], width: int) -> list[str]:
    """Sentences broken at the width, what follows a break indented as the line, and two more."""
    made = []
    for line in lines:
        start = line[: len(line) - len(line.lstrip())]
        breaks = textwrap.wrap(
            line.strip(), width - len(start), subsequent_indent="  ", break_on_hyphens=False,
            break_long_words=False,
        )  # fmt: skip
        made += [start + part for part in breaks] or [line]
    return made


def shortened(text: str, *, every: bool) -> str:
    """The first lines of a text, `LINES` at most, and how many more there are; all of it if asked for."""
    lines = text.rstrip("\n").splitlines()
    if every or len(lines) <= LINES:
        return text
    kept = lines[: LINES - 1]
    while not kept[-1]:
        kept.pop()
    return "\n".join([*kept, f"… {len(lines) - len(kept)} more lines: --all"]) + "\n"


def text_table(
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
    *,
    keep: int = 1,
    left: Iterable[int] = (0,),
) -> str:
    """Rows below their titles, as aligned columns.

    Where the columns do not fit, they go into tables one below the other, each with the first ones again.

    Args:
        titles: of the columns; a line break begins a second line.
        rows: texts, one for each column.
        width: columns of the terminal; a single column may be wider.
        keep: how many columns stand at the left of each table.
        left: places of the columns that are aligned at the left, negative ones counted from the end.
    """
    widths = [
        max(len(line) for text in column for line in text.split("\n"))
        for column in zip(titles, *rows, strict=True)
    ]
    at_left = {place % len(titles) for place in left}
    head = sum(widths[:keep]) + GAP * (keep - 1)
    blocks: list[list[int]] = []
    used = width + 1
    for at in range(keep, len(titles)):
        if used + GAP + widths[at] > width:
            blocks.append([*range(keep)])
            used = head
        blocks[-1].append(at)
        used += GAP + widths[at]
    parts = [
        _rendered([titles[at] for at in block], [[row[at] for at in block] for row in rows],
                  [at in at_left for at in block])
        for block in blocks or [[*range(keep)]]
    ]  # fmt: skip
    return "\n".join(parts)


def _rendered(titles: Sequence[str], rows: Sequence[Sequence[str]], at_left: Sequence[bool]) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=None, pad_edge=False, padding=(0, GAP, 0, 0), collapse_padding=True, header_style="bold"
    )
    for title, left in zip(titles, at_left, strict=True):
        table.add_column(Text(escaped(title, "\n")), justify="left" if left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(escaped(text, "\n"), getattr(text, "style", "")) for text in row))
    terminal = sys.stdout.isatty()
    console = Console(  # in a notebook, too, the text is for the caller
        file=StringIO(), width=10_000, force_terminal=terminal, force_jupyter=False, legacy_windows=False
    )
    with console.capture() as made:
        console.print(table)
    return "".join(f"{line.rstrip()}\n" for line in made.get().splitlines())
