"""What an installation of gridtune weighs, and which of its dependencies makes it so.

    python -m venv /tmp/fresh && /tmp/fresh/bin/pip install .
    /tmp/fresh/bin/python tests/benchmarks/weight.py > docs/data/weight.json
    python docs/making/tables.py            # shows it in docs/performance.md, with what each is for

Run by the interpreter of that environment; bytecode is part of the weight.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = "gridtune"


def needs(found: Distribution) -> set[str]:
    """Names of what a distribution requires here, extras left out."""
    wanted = [Requirement(text) for text in found.requires or ()]
    return {
        canonicalize_name(one.name)
        for one in wanted
        if one.marker is None or one.marker.evaluate({"extra": ""})
    }


def installed(name: str) -> Distribution | None:
    """A distribution; None if it is not there."""
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def reached(start: set[str], graph: dict[str, set[str]], without: str = "") -> set[str]:
    """All that is required from some on, when one is missing."""
    found: set[str] = set()
    waiting = start - {without}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= graph.get(name, set()) - found - {without}
    return found


def megabytes(name: str) -> float:
    """Size of a distribution's files, bytecode included."""
    found = installed(name)
    assert found is not None
    paths = {Path(str(file.locate())) for file in found.files or ()}
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def main() -> None:
    """Print the weights as JSON."""
    graph: dict[str, set[str]] = {}
    waiting = [ROOT]
    while waiting:
        name = waiting.pop()
        found = installed(name)
        if found is not None and name not in graph:
            graph[name] = needs(found)
            waiting += graph[name]
    graph = {name: after & graph.keys() for name, after in graph.items()}
    weights = {name: megabytes(name) for name in graph}
    whole = reached({ROOT}, graph)
    rows = {}
    for name in sorted(graph[ROOT]):
        alone = whole - reached({ROOT}, graph, without=name)
        rows[name] = {"own": round(weights[name], 1), "alone": round(sum(weights[one] for one in alone), 1)}
    total = round(sum(weights[name] for name in whole), 1)
    json.dump({"total": total, "rows": rows}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
