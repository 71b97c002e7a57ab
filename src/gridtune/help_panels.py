"""Help in panels: options by what they are for, commands by when one needs them."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

# Options: what to search or simulate, how long, how, where results are kept, and what is printed.
WHAT, LONG, HOW, KEEP, OUTPUT = "What to search", "How long", "How to run", "Where to keep", "Output"
OTHER = "Options"
PANELS = ("Arguments", WHAT, LONG, HOW, KEEP, OUTPUT, OTHER)

RUN, SEARCH, LOOK, EVIDENCE = "Run", "Search", "Look at results", "Evidence"
GROUPS = (RUN, SEARCH, LOOK, EVIDENCE)

# A default in words, which is put into brackets once more.
_WORDS = re.compile(r"\[default: \((.*)\)\]")
# Bounds of a number beside its default: they stand in the option's metavar.
_BOUNDS = re.compile(r"\s*\[?(; )?[\d.e+-]+<=x<=[\d.e+-]+(\])?")


class Command(TyperCommand):
    """A command whose help has its options in panels (`rich_help_panel`)."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the panels that have options."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is not None:
                argument = one.param_type_name == "argument"
                panel = "Arguments" if argument else getattr(one, "rich_help_panel", None) or OTHER
                panels.setdefault(panel, []).append((record[0], _plain(record[1])))
        for panel in sorted(panels, key=PANELS.index):
            with formatter.section(panel):
                formatter.write_dl(panels[panel])


class Group(TyperGroup):
    """A group whose help has its commands in panels."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the panels that have commands."""
        panels: dict[str, list[tuple[str, str]]] = {}
        width = formatter.width - 6 - max(map(len, self.list_commands(ctx)))
        for name in self.list_commands(ctx):
            found = self.get_command(ctx, name)
            if found is not None and not found.hidden:
                panel = getattr(found, "rich_help_panel", None) or "Commands"
                panels.setdefault(panel, []).append((name, found.get_short_help_str(width)))
        for panel in sorted(panels, key=lambda one: GROUPS.index(one) if one in GROUPS else len(GROUPS)):
            with formatter.section(panel):
                formatter.write_dl(panels[panel])


def _plain(text: str) -> str:
    """A help text without the bounds of its number, and with one pair of brackets around its default."""
    text = _BOUNDS.sub(lambda found: "]" if found[1] and found[2] else "", text)
    return _WORDS.sub(r"[default: \1]", text)
