"""Runs that were saved, as they are read back: their metrics, and where their random numbers are from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import nan
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from gridtune import limits
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.regular_files import text_of

PROMISES = {"response_bound"}  # keys of workloads that make no jobs
SUBJECTS = "a study, the folder of `gridtune run --out`, or the JSON that `gridtune run --format json` prints"

Value = Annotated[float, BeforeValidator(lambda given: nan if given is None else given)]


class Origin(BaseModel, strict=True):
    """What decides the random numbers of runs; `workloads` (see `workloads_of`) is empty if not known."""

    scenario: str
    seed: int
    workloads: dict[str, Any] = {}

    def unlike(self, other: Origin) -> list[str]:
        """Settings of workloads that differ, where both are known."""
        here, there = self.workloads, other.workloads
        return [path for path in here | there if here and there and here.get(path) != there.get(path)]

    def apart(self, other: Origin) -> str:
        """Why replications of the same number share no random numbers; "" if they do.

        Workloads, overlays and a queue draw them by seed, replication and their own names alone.
        """
        if self.seed != other.seed:
            return "The two share no random numbers (another seed)"
        if self.workloads and other.workloads:
            common = any(path.endswith(".name") for path in self.workloads.keys() & other.workloads.keys())
            queues = self.workloads["queue"] and other.workloads["queue"]
            return "" if common or queues else "The two share no random numbers (no workload in common)"
        unknown = "Whether the two share random numbers is not known (scenarios of other names)"
        return unknown if self.scenario != other.scenario else ""


class SavedMetric(BaseModel, strict=True):
    """What runs gave; missing and infinite values, which have no form in JSON, are not a number."""

    values: list[Value] = Field(min_length=1)
    unit: str


class SavedRun(Origin):
    """Runs that were saved: where their random numbers are from, and each metric."""

    metrics: dict[str, SavedMetric]


def saved_run(subject: str) -> SavedRun | None:
    """The runs in the folder of `gridtune run --out`, or in a file of JSON; None if it is neither.

    Raises:
        ScenarioError: it cannot be read, or is not what a run has written.
    """
    path = Path(subject)
    if (path / "metrics.json").is_file():
        return _read(path / "metrics.json", path / "manifest.json")
    return _read(path, path) if path.is_file() and path.suffix == ".json" else None


def _read(metrics: Path, about: Path) -> SavedRun:
    try:
        found, facts = (json.loads(text_of(path, limits.METRICS_BYTES)) for path in (metrics, about))
        known = workloads_of(facts["resolved"]) if "resolved" in facts else {}
        run = SavedRun.model_validate({**facts, "metrics": found.get("metrics", found), "workloads": known})
        if len({len(one.values) for one in run.metrics.values()}) != 1:
            raise ValueError("not every metric has a value of every replication")
        return run
    except OSError as error:
        raise ScenarioError(f"{error.filename}: {error.strerror}; expected {SUBJECTS}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = str(error)
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False)[0]
            why = f"{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}"
        raise ScenarioError(f"{metrics}: not what a run has written ({why}); expected {SUBJECTS}") from error


def workloads_of(resolved: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a scenario that make jobs, and the horizon, by path.

    Of a trace they have the name: the same file may lie in another folder elsewhere.

    Args:
        resolved: the scenario with all defaults, as the manifest of a run has it.
    """
    named = {
        f"{part}.{one['name']}.{key}": Path(value).name if key == "trace" and value else value
        for part in ("workload", "overlay")
        for one in resolved.get(part) or ()
        for key, value in one.items()
        if key not in PROMISES
    }
    return {name: resolved.get(name) for name in ("horizon", "queue")} | named
