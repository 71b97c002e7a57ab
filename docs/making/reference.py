"""Pages of reference, written from the program whenever the site is built, so that they cannot drift."""

# ruff: noqa: E402 - the program and the scripts beside this one are found here, whoever loads it
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

MAKING = Path(__file__).resolve().parent
sys.path[:0] = [str(MAKING.parents[1] / "src"), str(MAKING)]

from claims import full
from command_reference import command_line
from list_reference import samplers, shipped
from metric_reference import metrics
from policy_reference import policies
from python_reference import python
from scenario_reference import scenario_tables

PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "command-line": command_line,
    "python": python,
    "policies": policies,
    "metrics": metrics,
    "scenario": scenario_tables,
    "shipped": shipped,
    "samplers-and-pictures": samplers,
    "claims": full,
}


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages (a hook of MkDocs)."""
    from mkdocs.structure.files import File

    for name, page in PAGES.items():
        files.append(File.generated(config, f"reference/{name}.md", content="\n".join(page()) + "\n"))
    return files
