"""The settings of a search: what a study is about, as it is stored and compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gridtune.optimize.records.evaluations import Constraint, Objective
from gridtune.optimize.search_space.baseline import Baseline
from gridtune.optimize.search_space.cases import MEAN, Case, Robust
from gridtune.optimize.search_space.space import Configuration, Space
from gridtune.scenarios.document.scenario import Scenario

IDLE_KEYS = {"title", "source", "description", "search"}  # of a document: do not change what a run gives


@dataclass(frozen=True)
class Settings:
    """What a study is about; equal in all parts of a search that was interrupted.

    Attributes:
        scenario: what is searched.
        space: what is varied.
        objectives: what is traded off.
        sampler: name of it.
        batch: configurations that it proposes at once.
        seed: of workloads and sampler.
        replications: of each configuration in the search.
        cases: in which every configuration is evaluated; empty for the scenario and the seed alone.
        robust: how an objective sums up the cases.
        constraints: what a configuration must keep, in every case.
        baseline: the scenario's own configuration, evaluated before all others; None if it is not.
        starts: configurations to evaluate next, before the sampler's own.
    """

    scenario: Scenario
    space: Space
    objectives: tuple[Objective, ...]
    sampler: str
    batch: int
    seed: int
    replications: int
    cases: tuple[Case, ...] = ()
    robust: Robust = Robust(MEAN, None)
    constraints: tuple[Constraint, ...] = ()
    baseline: Baseline | None = None
    starts: tuple[Configuration, ...] = ()

    def __repr__(self) -> str:
        names = ", ".join(one.name for one in self.objectives)
        return f"Settings({self.scenario.name!r}, {len(self.space)} parameters for {names})"

    @property
    def run_in(self) -> tuple[Case, ...]:
        """The cases, of which there is at least one."""
        return self.cases or (Case(self.scenario.name, self.scenario, self.seed),)

    def watched(self, measured: Iterable[str]) -> tuple[str, ...]:
        """Metrics that decide what becomes of a configuration: the objectives, and what is constrained."""
        names = [objective.name for objective in self.objectives]
        for one in self.constraints:
            names += [one.metric, *one.parts(measured)]
        return tuple(dict.fromkeys(names))

    def as_json(self) -> dict[str, Any]:
        """For storing and comparing."""
        settings = {
            "scenario": self.scenario.name,
            "document": self.scenario.document,
            "base": str(self.scenario.base),
            "plugins": self.scenario.plugins,
            "space": self.space.as_json(),
            "objectives": [[o.name, o.direction, o.unit, o.resolution] for o in self.objectives],
            "sampler": self.sampler,
            "batch": self.batch,
            "seed": self.seed,
            "replications": self.replications,
            "cases": [case.as_json() for case in self.cases],
            "robust": self.robust.text,
            "constraints": [[c.metric, c.relation, c.bound, c.unit] for c in self.constraints],
            "baseline": None if self.baseline is None else self.baseline.as_json(),
            "starts": list(self.starts),
        }
        plain: dict[str, Any] = json.loads(json.dumps(settings, default=str))
        return plain

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> Settings:
        """What `as_json` has described; whether its scenarios are still valid shows when they are used."""
        standing = stored["baseline"]
        return cls(
            _scenario(stored["scenario"], stored),
            Space.of_json(stored["space"]),
            tuple(Objective(*objective) for objective in stored["objectives"]),
            stored["sampler"],
            stored["batch"],
            stored["seed"],
            stored["replications"],
            tuple(Case(one["name"], _scenario(one["name"], one), one["seed"]) for one in stored["cases"]),
            Robust.of(stored["robust"]),
            tuple(Constraint(*parts) for parts in stored["constraints"]),
            Baseline.of_json(standing) if standing else None,
            tuple(stored["starts"]),
        )

    def differences(self, stored: Mapping[str, Any]) -> list[str]:
        """In what a stored study is about something else."""
        settings = self.as_json()
        mine, theirs = _parts(settings), _parts(stored)
        changed = [name for name in mine if mine[name] != theirs[name]]
        found = [f"{' and '.join(changed)} changed"] if changed else []
        return found + [
            f"{name} was {stored[name]}, not {settings[name]}"
            for name in ("robust", "sampler", "batch", "seed", "replications")
            if settings[name] != stored[name]
        ]


def _scenario(name: str, stored: Mapping[str, Any]) -> Scenario:
    return Scenario(name, stored["document"], Path(stored["base"]), pinned=stored["plugins"])


def _parts(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What must not change from one part of a search to the next, as stored, by how it is called."""
    cases = settings["cases"]
    return {
        "the scenario": _working(settings["document"]),
        "the space": settings["space"],
        "the objectives": settings["objectives"],
        "the plug-ins": [one["plugins"] for one in (settings, *cases) if one["plugins"]],
        "the cases": [[case["name"], _working(case["document"]), case["seed"]] for case in cases],
        "the constraints": sorted(map(str, settings["constraints"])),
        "the configurations to start from": settings["starts"],
    }


def _working(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in document.items() if name not in IDLE_KEYS}
