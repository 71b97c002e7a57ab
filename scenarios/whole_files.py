"""Files that appear whole or not at all: written beside their place, and then given their name."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Container
from contextlib import suppress
from pathlib import Path
from typing import IO

from gridtune.scenarios.errors import ScenarioError

# As `replace` names them, earlier versions named them, and SQLite what it puts beside its own.
LEFTOVER = re.compile(r"\.(?P<name>.+)\.(?P<process>[1-9]\d{0,9})(?:-[0-9a-f]+)?\.(?:part|new)(?:-journal)?")


def replace(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then give it its name.

    The file is opened once: what somebody puts in its place meanwhile is not written to.

    Raises:
        ScenarioError: the file cannot be written; nothing is left of it.
    """
    remove_leftovers(path.parent, {path.name})
    try:
        part = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(8)}.part")
        # Nobody can guess the name; what has it all the same, such as a link, is neither followed nor used.
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(part, flags, 0o666)
        try:
            with os.fdopen(descriptor, "w+b") as file:
                write(file)
            os.replace(part, path)
        finally:
            remove(part)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be written: {error.strerror or error}") from error


def replace_text(path: Path, text: str) -> None:
    """Let a file hold a text in UTF-8; see `replace`."""
    replace(path, lambda file: file.write(text.encode()))


def check_absent(path: Path) -> None:
    """Let there be nothing under the name of a file that is to be written.

    Raises:
        ScenarioError: there is.
    """
    if path.exists():
        raise ScenarioError(f"{path}: exists already; remove it or give another name")


def with_ending(path: Path, suffix: str) -> str:
    """The name of a file, with another ending."""
    return path.with_suffix(suffix).name if path.name else f"FILE{suffix}"


def remove(part: Path) -> None:
    """Remove a temporary file, if it is there and can be removed; else `remove_leftovers` does so one day."""
    with suppress(OSError):
        part.unlink(missing_ok=True)


def remove_leftovers(folder: Path, names: Container[str]) -> None:
    """Remove temporary files of processes that were killed while they wrote.

    Args:
        folder: in which they lie; it need not exist.
        names: of the files that were being written.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = LEFTOVER.fullmatch(entry.name)
            if (
                found is not None
                and found["name"] in names
                and entry.is_file(follow_symlinks=False)
                and not _runs(int(found["process"]))
            ):
                remove(Path(entry.path))


def _runs(process: int) -> bool:
    """Whether there is a process of that number, as far as can be known."""
    if os.name == "nt":  # where there is no signal that only asks
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True
