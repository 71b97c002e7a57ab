"""The settings of a search: what a study is about, as it is checked, stored and compared."""

from __future__ import annotations

import json
import platform
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import unwrap
from operator import itemgetter
from types import CodeType, NoneType
from typing import Any

from pydantic import TypeAdapter

from gridtune.model.metrics.custom import in_process
from gridtune.model.metrics.registry import ALWAYS, METRICS
from gridtune.model.metrics.summary import measured
from gridtune.model.plugins import PREFIX, digest
from gridtune.model.policy import is_own, policies
from gridtune.optimize.records.evaluations import Constraint, Objective
from gridtune.optimize.search_space.baseline import Baseline
from gridtune.optimize.search_space.cases import MEAN, Case, Stored
from gridtune.optimize.search_space.constraints import constraints_of
from gridtune.optimize.search_space.space import Configuration, Space
from gridtune.scenarios.document.paths import changes
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.replicate import known_metrics, no_metric
from gridtune.scenarios.simulation.simulate import build

IDLE_KEYS = {"title", "source", "description", "search"}  # of a document: do not change what a run gives
NAMED = 3  # settings that have changed, at most


@dataclass(frozen=True)
class Settings:
    """What a study is about; equal in all parts of a search that was interrupted."""

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


def definitions() -> dict[str, str]:
    """SHA-256 of the compiled code of metrics and policies of the program and of other packages, by name.

    Of a policy that is the code of its own members, and defaults that are plain values. What they call is not
    looked at.
    """
    own: dict[str, Any] = {f"metric {one.name}": one.function for one in in_process()}
    for policy in policies():
        if is_own(policy) and not policy.__module__.startswith(PREFIX):
            members = {name: part for name, part in vars(policy).items() if not name.startswith("__")}
            own[f"{policy.family} policy {policy.kind}"] = tuple(sorted(members.items(), key=itemgetter(0)))
    return {name: digest(repr(_code(parts)).encode()) for name, parts in own.items()}


def _code(part: Any) -> Any:
    """What tells one piece of code, or plain value, from another; None of anything else."""
    if isinstance(part, str | int | float | bytes | NoneType):
        return part
    if isinstance(part, tuple | frozenset):
        found = [_code(one) for one in part]
        return found if isinstance(part, tuple) else sorted(found, key=repr)
    if isinstance(part, partial):
        return _code((part.func, part.args, *sorted(part.keywords.items())))
    if isinstance(part, CodeType):
        return part.co_code, part.co_names, [_code(one) for one in part.co_consts]
    if isinstance(part, property):
        return _code(part.fget)
    if callable(part) and not hasattr(unwrap(part), "__code__"):
        part = vars(type(part)).get("__call__")
    return _code(getattr(unwrap(part), "__code__", None))


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
                raise ScenarioError(f"{name}: not measured in {case.name}, which measures {', '.join(known)}")
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
