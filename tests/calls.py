"""Commands called within the process of a test: much cheaper than a process for each."""

import signal
import sys
from typing import NamedTuple

import pytest

from gridtune import cli
from gridtune.signals import ending_signals


class Called(NamedTuple):
    """What a command gave."""

    code: int
    out: str
    err: str


@pytest.fixture
def call(capfd, monkeypatch):
    """Calls a command with arguments; what numpy or a library writes past Python is captured, too."""

    def called(*arguments):
        monkeypatch.setattr(sys, "argv", ["gridtune", *map(str, arguments)])
        before = {number: signal.getsignal(number) for number in ending_signals()}
        capfd.readouterr()
        try:
            cli.main()
        except SystemExit as end:
            return Called(end.code or 0, *capfd.readouterr())
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        raise AssertionError("a command ends with an exit code")

    return called


def all_commands(command, path=()):
    """Every command with its words."""
    inner = getattr(command, "commands", {})
    if not inner or getattr(command, "invoke_without_command", False):
        yield path, command
    for name, each in inner.items():
        yield from all_commands(each, (*path, name))
