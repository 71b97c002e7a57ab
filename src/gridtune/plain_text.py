"""Text of strangers: names, values and headers may hold what a terminal, a document or a shell obeys.

A control character cannot be seen and does something: a line break, an escape sequence, a mark that turns the
direction of writing. Names with one are refused when they are made (`hidden`). What other files hold is
escaped where it is written (`escaped`). Names in a suggested command are quoted (`argument`). `counted` says
how many there are of something, `listed` names them, and `written` shows a value as scenarios write it.
"""

from __future__ import annotations

import os
import re
import shlex
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, TextIO

CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")  # Unicode's categories of them
JOINERS = "\u200c\u200d"  # of the same categories: they only change the shape of letters beside them
_STYLE = re.compile(r"(\x1b\[(?:0|1|31|32)m)")  # what tables are styled with
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _controls(letter: str) -> bool:
    return unicodedata.category(letter) in CONTROLS and letter not in JOINERS


def _escape(letter: str) -> str:
    code = ord(letter)
    return _SHORT.get(letter) or (f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def escaped(text: str, keep: str = "", escape: Callable[[str], str] = _escape) -> str:
    r"""A text with control characters as escapes that JSON and TOML know.

    Args:
        text: of anybody.
        keep: control characters that stay, as `"\n\t"` in a text of several lines.
        escape: what stands for a control character.

    Example:
        >>> print(escaped("x\nhorizon = 20.0\x1b[2J"))
        x\nhorizon = 20.0\u001b[2J
    """
    if text.isprintable():
        return text
    if "\n" in keep:  # most lines of a long text need no look at each letter
        return "\n".join(escaped(line, keep.replace("\n", ""), escape) for line in text.split("\n"))
    return "".join(escape(letter) if _controls(letter) and letter not in keep else letter for letter in text)


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number of things, in words; the plural has an s unless it is given."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def listed(names: Sequence[str], most: int) -> str:
    """Names in words: the first ones, at most so many, and how many more there are."""
    return ", ".join(names[:most]) + f" and {len(names) - most} more" * (len(names) > most)


def hidden(name: str) -> str:
    """Why a name is refused: "" if it has no control character, else the name and what is wrong with it."""
    if name.isprintable() or not any(map(_controls, name)):
        return ""
    return f"{escaped(name)[:80]}: has a control character, such as a line break; choose another name"


def argument(name: object) -> str:
    """A name as one word of a command that is ready to paste; no name is taken for an option."""
    text = str(name)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


class PatientStream:
    """A stream of text that may take no more, as a full disk: what is left to write goes nowhere.

    Args:
        stream: to write to.
    """

    endured: type[OSError] = OSError

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text."""
        try:
            return self._stream.write(text)
        except self.endured:
            self._give_up()
            return len(text)

    def flush(self) -> None:
        """Write what is left in the buffer."""
        try:
            self._stream.flush()
        except self.endured:
            self._give_up()

    def _give_up(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class PlainStream(PatientStream):
    """A stream of text on which control characters arrive as escapes; line breaks and tabs stay.

    On a terminal the styles of tables stay, too: bold, green and red. A reader may have had enough, as `head`
    has; other failures are raised.
    """

    endured = BrokenPipeError

    def write(self, text: str) -> int:
        """Write a text."""
        if not self._stream.isatty():
            return super().write(escaped(text, "\n\t"))
        parts = _STYLE.split(text)
        parts[::2] = [escaped(part, "\n\t") for part in parts[::2]]
        return super().write("".join(parts))


def written(value: object) -> str:
    """A value as scenarios write it: `true`, not `True`."""
    return str(value).lower() if isinstance(value, bool) else str(value)
