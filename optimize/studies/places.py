"""Where studies are: what the STUDY of a command line means, and what a file is that holds none."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

from gridtune.plain_text import argument
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.regular_files import open_regular
from gridtune.scenarios.results.locks import JOURNAL, LOOK

TABLE = "runs.jsonl"  # beside it
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # a single letter is a drive of Windows
SQLITE = b"SQLite format 3\0"
HEADS = (("journal", b'{"op_code":'), ("table", b'{"study":'))
FOLDERS = (  # a file that shows what a folder is, and what to say of it
    ("sweep.json", "a sweep, not a search"),
    ("claims.json", "a reproduction, not a search"),
    (
        "manifest.json",
        "a run, not a search: `gridtune plot {0} KIND` draws it, `gridtune compare {0} OTHER` compares it",
    ),
)
NO_SEARCH = "a folder that holds no search; `gridtune search SCENARIO --out` keeps one in a folder"
NO_STUDY = f"no such study; give the folder of a search, its {JOURNAL}, or the URL of a storage"


def is_url(where: str | Path) -> bool:
    """Whether this is the URL of a database rather than a path."""
    return "://" in str(where)


def named(where: str | Path) -> tuple[str | Path, str | None]:
    """Where a study is, and its name if `#NAME` follows."""
    place, mark, name = str(where).rpartition("#")
    return (place, name) if mark and not os.path.lexists(where) else (where, None)


def located(where: str | Path) -> tuple[Path, str]:
    """The journal of a folder, or the file itself, and what is there; a `ScenarioError` if nobody knows."""
    if SCHEME.match(str(where)):
        raise ScenarioError(f"{where}: neither a URL, which has ://, nor a path, unless ./ precedes it")
    path = Path(where)
    path = path / JOURNAL if path.is_dir() and path.name != JOURNAL else path
    try:
        kind = kind_of(path)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror or error}") from error
    return path, "an SQLite database" if kind == "sqlite" and path.name == JOURNAL else kind


def table_beside(journal: Path) -> Path:
    """The table of runs that belongs to a journal, where the journal really lies."""
    real = Path(os.path.realpath(journal))
    name = TABLE if real.name == JOURNAL else f"{real.name.removesuffix('.journal')}.{TABLE}"
    return real.with_name(name)


def study_place(study: str | Path) -> str | Path:
    """The URL, journal or SQLite file that is meant; a `ScenarioError` names what else there is."""
    if is_url(study):
        return str(study)
    path, kind = located(study)
    if kind in ("journal", "sqlite"):
        return path
    if kind == "nothing":
        known = [said.format(argument(Path(study))) for name, said in FOLDERS if Path(study, name).exists()]
        problem = NO_STUDY if path == Path(study) else [*known, NO_SEARCH][0]
        raise ScenarioError(f"{study}: {problem}")
    named = {"empty": "an empty file", "table": "a table of runs"}.get(kind, kind)
    beside = (path.parent / JOURNAL).exists() and path.name != JOURNAL
    home = f"; the search beside it is {path.parent}" if beside else ""
    raise ScenarioError(f"{study}: {named}, not a study{home}")


def kind_of(path: Path) -> str:
    """What is under a name: `nothing`, `empty`, `journal`, `sqlite`, `table`, or anything else in words."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise ScenarioError(f"{path}: a link to nothing; remove it, or name another file") from None
        return "nothing"
    if stat.S_ISDIR(found.st_mode):
        return "a folder"
    if not stat.S_ISREG(found.st_mode):
        return "no regular file"
    if not found.st_size:
        return "empty"
    with open_regular(path) as file:
        first = file.readline(LOOK)
    if first.startswith(SQLITE):
        return "sqlite"
    for kind, head in HEADS:  # a first line that a kill left unfinished
        if not first.endswith(b"\n") and (first.startswith(head) or head.startswith(first)):
            return kind
    record = json_of(first)
    if isinstance(record, dict):
        if isinstance(record.get("op_code"), int) and isinstance(record.get("worker_id"), str):
            return "journal"
        if "study" in record and not record.keys().isdisjoint(("begun", "configuration")):
            return "table"
    if path.name.lower().removesuffix(".gz").endswith((".swf", ".gwf")):
        return f"a trace (`gridtune trace info {argument(path)}` describes it)"
    if path.suffix == ".toml":
        return f"a scenario (`gridtune search {argument(path)}` searches it)"
    return "a file of something else"


def json_of(line: bytes) -> object:
    """What a line of JSON holds; None if it is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
