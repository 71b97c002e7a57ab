"""The page on the command line, written from the help of each command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

from gridtune import cli


def command_line() -> Iterator[str]:
    """Every command with the help that it prints."""
    yield "# Command line\n"
    yield "Every command prints JSON with `--format json` where it has that option; nothing else then goes to"
    yield "standard output. SCENARIO is the name of a shipped scenario or the path of a TOML file.\n"
    yield "| exit code | meaning |"
    yield "|---|---|"
    yield "| 0 | done |"
    yield "| 1 | `reproduce` found a claim that is not met |"
    yield "| 2 | bad input, said in one line, before anything was computed or written |"
    yield "| 3 | a fault of gridtune itself; the line on standard error names the path of a report |"
    yield "| 130 | interrupted; what was finished is kept, and `--resume` goes on |"
    runner = CliRunner()
    for words in _commands(get_command(cli.app), ()):
        shown = runner.invoke(cli.app, [*words, "--help"], prog_name="gridtune", terminal_width=100)
        yield f"\n## gridtune {' '.join(words)}\n\n```text\n{shown.output.strip()}\n```"


def _commands(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    inner = getattr(command, "commands", {})
    if not inner or getattr(command, "invoke_without_command", False):
        yield words
    for name, each in inner.items():
        yield from _commands(each, (*words, name))
