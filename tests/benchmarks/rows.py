"""What a benchmark has measured so far, so that it goes on where it was stopped."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any


def known_in(path: Path, nothing: Any) -> Any:
    """What a file of JSON holds so far; `nothing` if there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else nothing


def placeless(text: str) -> str:
    """A text with files named without their folders: these are of one machine."""
    return re.sub(r"(?<![\w.:/])/(?:[\w.-]+/)+", "", text)


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """What a file of single runs, a JSON line each, holds so far; nothing if there is none."""
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def add_missing(
    path: Path,
    cases: Iterable[tuple[Any, ...]],
    known_by: Sequence[str],
    measured: Callable[..., Iterable[dict[str, Any]]],
) -> None:
    """Measure what a file of single runs does not hold yet; the rows of a case are kept at once.

    Args:
        path: of the file.
        cases: arguments of `measured`.
        known_by: keys of a row that hold these.
        measured: gives the rows of a case.
    """
    done = {tuple(row[name] for name in known_by) for row in rows_of(path)}
    for case in cases:
        if case not in done:
            lines = [json.dumps(row) for row in measured(*case)]
            with path.open("a", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")


def file_of(work: Path, scenario: str) -> Path:
    """Where the rows of a scenario are kept."""
    return work / f"{scenario.replace('/', '-')}.jsonl"


def seeds_in(text: str) -> range:
    """The seeds from `first` to `last` of `first-last`, or a single one."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)
