"""When the tables and pictures of the pages were made, and when results changed.

`docs/data/made.json` has the commit at which a file was made last: what is made again with the same content
leaves no other trace. `docs/data/results.jsonl` has the commits that changed results.
"""

from __future__ import annotations

import json
import subprocess
from typing import Any

from pages import DOCS, ROOT

DATA = DOCS / "data"
MADE = DATA / "made.json"
RESULTS = DATA / "results.jsonl"


def made() -> dict[str, str]:
    """The commit of each file or folder, by its path below docs."""
    found: dict[str, str] = json.loads(MADE.read_text()) if MADE.exists() else {}
    return found


def stamp(path: str) -> None:
    """Note that a file or folder was made by the code as it is checked out."""
    commit = git("rev-parse", "--short", "HEAD").strip()
    MADE.write_text(json.dumps(made() | {path: commit}, indent=1, sort_keys=True) + "\n")


def changes() -> list[dict[str, Any]]:
    """The commits that changed results: `commit`, its `day`, and the digests of `results` that changed."""
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def git(*words: str) -> str:
    """What git prints.

    Raises:
        CalledProcessError: this is no checkout.
    """
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout
