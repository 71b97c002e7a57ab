"""A finished run, as everything that reads results sees it."""

from __future__ import annotations

from dataclasses import dataclass

from gridtune.model.metrics.registry import Metric
from gridtune.model.metrics.users import UserOutcome
from gridtune.model.record import Record
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.systems.middleware import tag_notes
from gridtune.scenarios.systems.outages import owner_notes, qos_notes
from gridtune.scenarios.systems.platform import platform_notes
from gridtune.scenarios.systems.replay import refused_jobs, replay_differences, undated
from gridtune.scenarios.systems.vres import vres_notes
from gridtune.scenarios.workloads.trace_file import FromTrace


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes:
        scenario: what was run.
        seed, replication: of its random numbers.
        metrics: by name.
        users: outcomes by user.
        record: jobs, stays, signals, messages, events.
        end: simulated time at which it ended, s.
        slots: places where a job could run.
    """

    scenario: Scenario
    seed: int
    replication: int
    metrics: dict[str, Metric]
    users: dict[str, UserOutcome]
    record: Record
    end: float
    slots: int

    def __repr__(self) -> str:
        which = f"seed={self.seed}, replication={self.replication}"
        return f"Run({self.scenario.name!r}, {which}: {len(self.record.jobs)} jobs, end {self.end:.6g} s)"


def notes(scenario: Scenario) -> list[str]:
    """Where workloads and platform come from, and how they differ from what was logged, a line each."""
    return [*origins(scenario), *replay_differences(scenario.active), *faults(scenario)]


def origins(scenario: Scenario) -> list[str]:
    """Where workloads and platform come from, a line each."""
    made = [
        f"workload {workload.name}: {workload.provenance()}"
        for workload in scenario.active.workload
        if isinstance(workload, FromTrace)
    ]
    return [*made, *platform_notes(scenario.active.platform)]


def faults(scenario: Scenario) -> list[str]:
    """What will hardly be meant: jobs that are refused, and rules that concern no job, a line each."""
    spec = scenario.active
    return [
        *refused_jobs(spec),
        *undated(spec),
        *qos_notes(scenario.spec),
        *vres_notes(spec),
        *tag_notes(spec),
        *owner_notes(spec),
    ]
