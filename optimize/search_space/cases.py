"""Cases: the scenarios and seeds in which every configuration is evaluated, and how they are summed up."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import PlainSerializer, PlainValidator

from gridtune import limits
from gridtune.optimize.search_space.space import Space, check_not_set
from gridtune.scenarios.document.addresses import PEOPLE
from gridtune.scenarios.document.paths import changes, parse_assignment
from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.sweep import pieces
from gridtune.scenarios.tables.schema import ARRAYS
from gridtune.scenarios.trace_files.digests import digests

MEAN, WORST, QUANTILE = "mean", "worst", "quantile:"


def _parts(scenario: Scenario) -> dict[str, Any]:
    return {
        "name": scenario.name,
        "document": scenario.document,
        "base": str(scenario.base),
        "plugins": scenario.plugins,
        "logs": digests(scenario.document, scenario.base),
    }


def _scenario(parts: Any) -> Scenario:
    return Scenario(parts["name"], parts["document"], Path(parts["base"]), pinned=parts["plugins"])


# A scenario as it is stored; whether it is still valid shows when it is used.
Stored = Annotated[Scenario, PlainSerializer(_parts), PlainValidator(_scenario)]


@dataclass(frozen=True)
class Case:
    """One of the situations for which a policy is optimised."""

    name: str  # as tables show it
    scenario: Stored
    seed: int  # of its workloads


def share_of(robust: str) -> float | None:
    """Share of cases that do no worse than their summary (1: worst, None: mean), or a `ScenarioError`."""
    if robust in (MEAN, WORST):
        return None if robust == MEAN else 1.0
    with suppress(ValueError):
        if robust.startswith(QUANTILE) and 0 < (share := float(robust.removeprefix(QUANTILE))) <= 1:
            return share
    expected = "mean, worst or quantile:SHARE with a share above 0 and at most 1"
    raise ScenarioError(f"--robust {robust}: expected {expected}")


def summed_up(values: Sequence[float], direction: Literal["minimize", "maximize"], robust: str) -> float:
    """The values of an objective in all cases as one.

    They are compared as they are. Where one case is far smaller than the others, its number of completed
    jobs, say, is the worst whatever the configuration; a metric that does not grow with the case (a mean, a
    share) compares fairly.
    """
    share = share_of(robust)
    if share is None:
        return sum(values) / len(values)
    best_first = sorted(values, reverse=direction == "maximize")
    # Rounding of the product must not make it the next case.
    return best_first[ceil(share * len(values) - 1e-9) - 1]


def other_scenario(text: str, assignments: Mapping[str, Any], space: Space) -> Scenario:
    """A further scenario as on the command line, `SCENARIO` or `SCENARIO:PATH=VALUE,…`.

    A `ScenarioError` if there is no such scenario, or a value does not fit or is searched.
    """
    name, colon, rest = text.partition(":")
    if not colon or Path(text).is_file():
        scenario, own = load(text), {}
    else:
        scenario, own = load(name), dict(parse_assignment(part) for part in pieces(rest))
        check_not_set(space, scenario, own, f"--scenario {name}:")
    return replace(scenario.override({**assignments, **own}), name=text)


def seeds_of(text: str | None) -> list[int]:
    """Seeds as on the command line, `1,2,3`; a `ScenarioError` if they are not whole numbers."""
    if text is None:
        return []
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) <= 20 and int(part) <= limits.SEED for part in parts):
        raise ScenarioError(f"--seeds {text[:60] or repr(text)}: expected whole numbers from 0, e.g. 1,2,3")
    return [int(part) for part in parts]


def cases_of(scenarios: Sequence[Scenario], seeds: Sequence[int], seed: int) -> tuple[Case, ...]:
    """Every scenario under every seed of workloads, or under `seed` without any; each may be there once.

    Where scenarios have one name but other values, these stand behind the name, as on the command line.
    """
    cases = tuple(
        Case(f"{scenario.name}, seed {number}" if seeds else scenario.name, scenario, number)
        for scenario in _named_apart(scenarios)
        for number in seeds or [seed]
    )
    for name, count in Counter(case.name for case in cases).items():
        if count > 1:
            raise ScenarioError(f"{name}: a case counts once; it was named {count} times")
    return cases


def _named_apart(scenarios: Sequence[Scenario]) -> Iterator[Scenario]:
    """Scenarios, each with its values behind its name where they differ from the first one of that name."""
    first: dict[str, Scenario] = {}
    for scenario in scenarios:
        start = first.setdefault(scenario.name, scenario)
        values = ",".join(
            f"{path}={value if isinstance(value, str) else json.dumps(value, default=str)}"
            for path, value in changes(start.document, scenario.document)
            if path.partition(".")[0] not in PEOPLE
        )
        yield replace(scenario, name=f"{scenario.name}:{values}") if values else scenario


def check_paths(space: Space, scenario: Scenario) -> list[str]:
    """Make sure that a further scenario has what a space varies; returns and raises as `Space.check` does."""
    lacking: dict[str, list[str]] = {}
    for path in space.paths:
        name, inner, _ = path.partition(".")
        # The table that a path begins with must be there, rather than be made by setting it.
        if inner and getattr(scenario.spec, name, ()) in (None, []):
            lacking.setdefault(f"[[{name}]]" if name in ARRAYS else f"[{name}]", []).append(path)
    if lacking:
        said = "searched, but this scenario has no"
        faults = [f"{', '.join(paths)}: {said} {table}" for table, paths in lacking.items()]
        raise ScenarioError([f"{scenario.name}: {fault}" for fault in faults])
    return space.check(scenario)
