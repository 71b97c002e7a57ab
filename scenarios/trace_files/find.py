"""Where a trace that a scenario names is found."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from gridtune.scenarios.trace_files.records import TraceError

VARIABLE = "GRIDTUNE_DATA"


def find_trace(name: str | PathLike[str], *, base: Path | None = None) -> Path:
    """The first file of that name in the places where traces are kept.

    Looked for as given, then below: the folder `base`, the folders in the environment variable
    `GRIDTUNE_DATA` (separated as in PATH), `data`, and `../shared/data`. An absolute name is taken as it is.

    Args:
        name: of the file, or its path.
        base: folder of the scenario that names the trace.

    Raises:
        TraceError: it is in none of them; the message lists them.
    """
    wanted = Path(name).expanduser()
    looked: list[str] = []
    for folder in _folders(wanted, base):
        candidate = folder / wanted
        if _is(candidate, S_ISREG):
            return candidate
        there = "a folder" if _is(candidate, S_ISDIR) else "no regular file"
        looked.append(str(candidate.parent) + f" ({there} there)" * os.path.exists(candidate))
    places = ", ".join(dict.fromkeys(looked))
    raise TraceError(
        f"trace {str(name)!r}: not found, looked in {places}; give its path or name its folder in {VARIABLE}"
    )


def beside(name: str, base: str | Path) -> str:
    """The path of a file that stands in the scenario's own folder; any other name as it is."""
    file = Path(base) / name
    return str(file) if file.is_file() else name


def _is(path: Path, kind: Callable[[int], bool]) -> bool:
    """Whether something of that kind is there; not so if it cannot be looked at."""
    try:
        return kind(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def _folders(wanted: Path, base: Path | None) -> Iterator[Path]:
    yield Path()
    if wanted.is_absolute():
        return
    if base is not None:
        yield base
    yield from (
        Path(folder).expanduser() for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder
    )
    yield Path("data")
    yield Path("..", "shared", "data")
