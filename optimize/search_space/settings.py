"""The settings of a search: what a study is about, as it is checked, stored and compared."""

from __future__ import annotations

import json
import platform
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from gridtune.model.metrics.registry import ALWAYS, METRICS
from gridtune.model.metrics.summary import measured
from gridtune.optimize.records.evaluations import Constraint, Objective
from gridtune.optimize.search_space.baseline import Baseline
from gridtune.optimize.search_space.cases import MEAN, Case, Stored
from gridtune.optimize.search_space.constraints import constraints_of
from gridtune.optimize.search_space.space import Configuration, Space
from gridtune.scenarios.document.own_definitions import definitions
from gridtune.scenarios.document.paths import changes
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError, not_measured
from gridtune.scenarios.execution.replicate import known_metrics, no_metric
from gridtune.scenarios.simulation.simulate import build

IDLE_KEYS = {"title", "source", "description", "search"}  # of a document: do not change what a run gives
NAMED = 3  # settings that have changed, at most


@dataclass(frozen=True)
class Settings:
    """The settings define a study; all parts of an interrupted search have equal ones."""

    scenario: Stored
    space: Space
    objectives: tuple[Objective, ...]
    sampler: str
    batch: int  # configurations that it proposes at once
    seed: int  # of workloads and sampler
    replications: int  # of each configuration in the search
    cases: tuple[Case, ...] = ()  # empty for the scenario and the seed alone
    robust: str = MEAN  # how an objective sums up the cases
    constraints: tuple[Constraint, ...] = ()
    baseline: Baseline | None = None  # evaluated before all others; None if it is not
    starts: tuple[Configuration, ...] = ()  # evaluated next, before the sampler's own

    def __repr__(self) -> str:
        names = ", ".join(one.name for one in self.objectives)
        return f"Settings({self.scenario.name!r}, {len(self.space)} parameters for {names})"

    @property
    def run_in(self) -> tuple[Case, ...]:
        """The cases, of which there is at least one."""
        return self.cases or (Case(self.scenario.name, self.scenario, self.seed),)

    def watched(self, measured: Collection[str]) -> tuple[str, ...]:
        """Metrics that decide what becomes of a configuration: the objectives, and what is constrained."""
        names = [objective.name for objective in self.objectives]
        for one in self.constraints:
            names += [one.metric, *one.parts(measured)]
        return tuple(dict.fromkeys(names))

    def as_json(self) -> dict[str, Any]:
        """For storing and comparing."""
        made = STORED.dump_python(self) | {"python": platform.python_version(), "definitions": definitions()}
        return dict(json.loads(json.dumps(made, default=str)))

    def differences(self, stored: Mapping[str, Any]) -> list[str]:
        """In what a stored study is about something else."""
        settings = self.as_json()
        mine, theirs = _parts(settings), _parts(stored)
        changed = [name for name in mine if mine[name] != theirs[name]]
        alike = stored.get("python") == settings["python"]  # else it compiles otherwise
        known = stored.get("definitions", {}) if alike else {}
        changed += [
            f"the {name}" for name, code in settings["definitions"].items() if known.get(name, code) != code
        ]
        named = ("the scenario", "the space")
        paths = [path for name in named for path, _ in changes(theirs[name], mine[name])]
        where = f" ({', '.join(paths[:NAMED])}{', …' if paths[NAMED:] else ''})" if paths else ""
        found = [f"{' and '.join(changed)} changed{where}"] if changed else []
        return found + [
            f"{name} was {stored[name]}, not {settings[name]}"
            for name in ("robust", "sampler", "batch", "seed", "replications")
            if settings[name] != stored[name]
        ]


STORED = TypeAdapter(Settings)


def _parts(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What must not change from one part of a search to the next, as stored, by how it is called."""
    cases = settings["cases"]
    scenarios = [settings["scenario"], *(case["scenario"] for case in cases)]
    return {
        "the scenario": _working(settings["scenario"]),
        "the space": {one["path"]: one for one in settings["space"]["parameters"]},
        "the objectives": settings["objectives"],
        "the plug-ins": [one["plugins"] for one in scenarios if one["plugins"]],
        "the logs": {pair for one in scenarios for pair in one["logs"].items()},
        "the cases": [[case["name"], _working(case["scenario"]), case["seed"]] for case in cases],
        "the constraints": sorted(map(str, settings["constraints"])),
        "the configurations to start from": settings["starts"],
    }


def _working(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """What a run depends on."""
    return {name: part for name, part in scenario["document"].items() if name not in IDLE_KEYS}


def objectives_of(names: Sequence[str]) -> tuple[Objective, ...]:
    """Metrics as objectives; a `ScenarioError` of an unknown one, one named twice, or none at all."""
    if not names:
        raise ScenarioError("a search needs at least one --objective")
    known = {name: METRICS[name] for name in known_metrics(names)}
    return tuple(Objective(name, one.direction, one.unit, one.resolution) for name, one in known.items())


def check_measured(names: Sequence[str], space: Space, cases: Sequence[Case]) -> None:
    """Raise a `ScenarioError` unless every case measures some metrics, at some configuration of the space.

    Cases are built for it, not run; that also defines metrics that only some scenarios have.
    """
    if all(name in ALWAYS for name in names):
        return
    for case in cases:
        known: dict[str, None] = {}
        for scenario in space.variants(case.scenario):
            with build(scenario, case.seed) as grid:
                known |= dict.fromkeys(measured(grid))
            missing = [name for name in names if name not in known]
            # Names that only a scenario defines, of its parts, have dots; others are no metrics at all.
            if not missing or any(name not in METRICS and "." not in name for name in missing):
                break
        for name in sorted(missing, key=METRICS.__contains__):
            if name in METRICS:
                raise not_measured(name, case.name, known)
            raise no_metric(name)


def check(scenario: Scenario) -> None:
    """Raise a `ScenarioError` unless what a scenario's `[search]` names is there; nothing is built or run.

    Metrics that only a part of a scenario defines have dots in their names, and are known when it is built.
    """
    if (spec := scenario.spec.search) is not None:
        Space.of(scenario).check(scenario)
        for name in [*spec.objectives, *(one.metric for one in constraints_of(spec.require))]:
            if name not in METRICS and "." not in name:
                raise no_metric(name)
