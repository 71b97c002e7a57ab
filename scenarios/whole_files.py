"""Files that appear whole or not at all: written beside their place, and then given their name."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Container
from contextlib import suppress
from pathlib import Path

from gridtune.scenarios.errors import ScenarioError

# As `beside` names them, earlier versions named them, and SQLite what it puts beside its own.
LEFTOVER = re.compile(r"\.(?P<name>.+)\.(?P<process>[1-9]\d{0,9})(?:-\d+)?\.(?:part|new)(?:-journal)?")


def replace(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then give it its name.

    Raises:
        ScenarioError: the file cannot be written; nothing is left of it.
    """
    remove_leftovers(path.parent, {path.name})
    part = beside(path, "part")
    try:
        write(part)
        os.replace(part, path)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        remove(part)


def beside(path: Path, ending: str) -> Path:
    """Where this thread writes a file before it gets its name, e.g. `.front.json.4711-1.part`."""
    return path.with_name(f".{path.name}.{os.getpid()}-{threading.get_native_id()}.{ending}")


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
