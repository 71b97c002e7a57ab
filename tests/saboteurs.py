"""Twins of honest policies that lose work, and whether their originals dominate them."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from math import inf, isfinite
from typing import Any
from unittest.mock import patch

import numpy as np

from gridtune.agents.batch.executions import Executions
from gridtune.agents.batch.submitter import Submitter
from gridtune.agents.deadline.scheduler import SchedulingAgent
from gridtune.agents.gridrpc.client import Client
from gridtune.agents.harvest.bags import Bags
from gridtune.agents.harvest.harvester import Harvester
from gridtune.agents.middleware.gateway import Gateway
from gridtune.model.agenda import ARRIVAL, COMPLETION, Arrival
from gridtune.model.harvest.control import Control, Decision
from gridtune.model.job import DONE, Job
from gridtune.model.metrics.registry import METRICS, Metric
from gridtune.model.owed import Owed
from gridtune.optimize.replication.guards import excess_losses
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.simulation.simulate import simulate
from gridtune.scenarios.tables.schema import ScenarioSpec

SHARE = 0.2  # of the jobs that are refused or held
FEW = 0.01  # of the jobs that are held by who hopes that nobody will notice
LAST = 0.05  # of the jobs, by submission, that count as the last ones
UNMADE = {"never-make-15": 0.15, "never-make-30": 0.30}  # share of the run, its last, in which no job is made
LATE = 1e9  # s for which they are held: until after the end
# Scenarios with a search, and what is overridden for a run to take a fraction of a second.
SIZES: dict[str, dict[str, Any]] = {
    "batch/replay": {"workload.log.last": 150},
    "cigri/file-system": {"workload.bag.count": 300, "workload.premium.count": 6},
    "cigri/search": {
        "horizon": 9000.0, "workload.premium.count": 15, "workload.sweep.count": 300,
        "workload.monte-carlo.count": 200, "workload.docking.count": 50,
    },
    "deadline/forecast-error": {
        "server.server.count": 20, "workload.task.count": 100, "workload.task.window": 7000.0
    },
    "deadline/search": {
        "server.server.count": 20, "workload.task.count": 100, "workload.task.window": 6000.0
    },
    "deadline/trace": {"horizon": 20000.0},
    "diet/day-irregular": {"workload.user.divisor": 40.0},
    "diet/day-irregular-random": {"workload.user.divisor": 40.0},
    "diet/day-regular": {"workload.user.count": 4},
    "diet/egee-week": {"horizon": 20000.0},
    "diet/night-consecutive": {"workload.user.count": 4},
    "diet/night-simultaneous": {"workload.user.count": 4},
    "diet/scalability": {"workload.user.count": 4, "sed.count": 5},
    "diet/threshold-pivoting": {"horizon": 6000.0},
    "dirac/dedicated": {},
    "dirac/deteriorating": {},
    "dirac/search": {},
    "dirac/shared": {},
    "dirac/validation-cluster": {},
    "egee/grid": {
        "horizon": 7200.0, "platform.sites": 40, "workload.sdj.count": 250, "workload.batch.count": 250,
    },
    "egee/search": {},
    "federation/lcg-week": {"horizon": 43200.0},
    "federation/small": {},
    "grid/kth": {"workload.kth.last": 60},
    "grid/lcg": {"workload.lcg.last": 100, "platform.sites": 20},
    "grid/lcg-day": {"workload.lcg.last": 100, "platform.sites": 20},
    "queue/mmc": {"queue.customers": 300},
}  # fmt: skip
Metrics = Mapping[str, Metric]
Wanted = Callable[[Job], bool]


def kinds(spec: ScenarioSpec) -> list[str]:
    """The twins that a scenario can have.

    - `refuse`, `hold`: a random fifth of the mandatory jobs is refused, or held until after the end;
    - `hold-few`: a random hundredth is;
    - `hold-last`: the last twentieth is;
    - `never-make-15`, `never-make-30`: what comes in the last 15 or 30 % of the run is never made into jobs;
    - `drop-widest`, `drop-longest`: the tenth of the largest jobs is refused;
    - `drop-class`: all jobs of the class with the least mandatory work are, where there are several;
    - `one-too-few`: clients submit n_min - 1 mandatory requests;
    - `stop-harvesting`: harvesters submit nothing in the second half of the run;
    - `no-requeue`: killed best-effort jobs are not put back;
    - `run-twice`: sites run a random fifth of the jobs twice, to seem busy, where that is an objective.
    """
    found = ["refuse", "hold", "hold-few", "hold-last", "drop-widest", "drop-longest", "drop-class", *UNMADE]
    if spec.client:
        found.append("one-too-few")
    if spec.harvester:
        found += ["stop-harvesting", "no-requeue"]
    if spec.search and {"utilisation", "goodput"} & set(spec.search.objectives):
        found.append("run-twice")
    return found


@contextmanager
def sabotaged(kind: str, spec: ScenarioSpec, seed: int, last: float = inf, least: str = "") -> Iterator[None]:
    """Let every run within the block be that of a twin.

    Args:
        kind: one of `kinds`.
        spec: of the scenario.
        seed: of the twin's own random choices.
        last: time in s from which jobs count as the last ones, or are not made.
        least: the class with the least work.
    """
    rng = np.random.default_rng(seed)
    with ExitStack() as stack:
        for owner, name, twin in _patches(kind, spec, rng, last, least):
            stack.enter_context(patch.object(owner, name, twin))
        yield


def verdict(twin: Metrics, honest: Metrics, objectives: list[str]) -> str:
    """What a search holds against a twin.

    Args:
        twin, honest: metrics of the two runs.
        objectives: of the scenario.

    Returns:
        `objectives` if the honest run dominates it, or an objective of the twin has no finite value;
        `loss` if it only loses more than the honest run may; `level` if neither holds and it loses no more
        work than the honest run, which chance has cost as much; `harmless` if nothing differs; else `""`.
    """
    if not changed(twin, honest):
        return "harmless"
    mine, theirs = _costs(honest, objectives), _costs(twin, objectives)
    if not all(map(isfinite, theirs)) and all(map(isfinite, mine)):
        return "objectives"
    if all(a <= b for a, b in zip(mine, theirs, strict=True)) and mine != theirs:
        return "objectives"
    if worst_loss(twin, honest) > 0:
        return "loss"
    return "level" if twin["lost_work"].value <= honest["lost_work"].value else ""


def worst_loss(configuration: Metrics, baseline: Metrics) -> float:
    """What a run loses beyond another one, of all its work or of the class that loses most."""
    mine, theirs = ({name: one.value for name, one in run.items()} for run in (configuration, baseline))
    return max(excess_losses(mine, theirs).values())


def changed(twin: Metrics, honest: Metrics) -> bool:
    """Whether the twin could do any harm at all."""
    names = ("lost_work", "best_effort_left_work", "waiting_mean", "completed_work", "completed")
    return any(_differ(twin[name].value, honest[name].value) for name in names if name in honest)


def _differ(one: float, other: float) -> bool:
    return one != other and not (one != one and other != other)


def _costs(metrics: Metrics, objectives: list[str]) -> list[float]:
    found = []
    for name in objectives:
        value, step = metrics[name].value, METRICS[name].resolution
        value = inf if value != value else round(value / step) * step if step and isfinite(value) else value
        found.append(value if METRICS[name].direction == "minimize" else -value)
    return found


def _patches(
    kind: str, spec: ScenarioSpec, rng: np.random.Generator, last: float, least: str
) -> list[tuple[Any, str, Any]]:
    if kind == "one-too-few":
        return [(Client, "_demand", _one_too_few(Client._demand))]
    if kind == "stop-harvesting":
        return [(Harvester, "_act", _stopping(Harvester._act, spec.horizon))]
    if kind == "no-requeue":
        return [(Bags, "ended", _without_requeue(Bags.ended))]
    if kind in UNMADE:
        return [(Owed, "schedule", _never_making(Owed.schedule, last))]
    if kind == "run-twice":
        return [(Executions, "complete", _running_twice(Executions.complete, rng))]
    late = kind.startswith("hold")
    wanted = _choice(kind, rng, last, least)
    return [
        (Submitter, "submit", _submitting(wanted, late)),
        (SchedulingAgent, "submit", _scheduling(SchedulingAgent.submit, wanted, late)),
        (Client, "_arrive", _sending(Client._arrive, wanted, late)),
        (Gateway, "accept", _accept_once(Gateway.accept)),
    ]


def _choice(kind: str, rng: np.random.Generator, last: float, least: str) -> Wanted:
    """Which mandatory jobs a twin refuses or holds."""
    if kind == "drop-widest":
        return _largest(lambda job: (job.processors, job.runtime))
    if kind == "drop-longest":
        return _largest(lambda job: (job.runtime,))
    if kind == "drop-class":
        return lambda job: job.kind == least
    if kind == "hold-last":
        return lambda job: job.submit >= last
    share = FEW if kind == "hold-few" else SHARE
    return lambda _job: rng.random() < share


def _largest(size: Callable[[Job], tuple[float, ...]]) -> Wanted:
    """Whether a job is among the largest tenth so far."""
    sizes: list[tuple[float, ...]] = []

    def wanted(job: Job) -> bool:
        own = size(job)
        insort(sizes, own)
        return len(sizes) > 10 and own > sizes[int(0.9 * len(sizes))]

    return wanted


def _submitting(wanted: Wanted, late: bool) -> Any:
    """What becomes of the jobs of sites, middleware, brokers and portals."""

    def submit(self: Submitter, task: Any) -> None:
        self.submitted += 1
        job = self._make(task)
        grid = self.model
        gateway = getattr(self._receive, "__self__", None)
        if not job.mandatory or not wanted(job):
            self._receive(job)
        elif late:
            if isinstance(gateway, Gateway):
                gateway.accept(job)
            grid.agenda.after(LATE, self._receive, job, ARRIVAL)
        elif isinstance(gateway, Gateway):
            gateway.accept(job)
            gateway.refuse(job)
        else:
            job.reject(grid.now)

    return submit


def _scheduling(submit: Any, wanted: Wanted, late: bool) -> Any:
    """What becomes of tasks with deadlines."""

    def sabotaged_submit(self: SchedulingAgent, job: Job) -> None:
        if not wanted(job):
            submit(self, job)
        elif late:
            self.grid.agenda.after(LATE, lambda held: submit(self, held), job, ARRIVAL)
        else:
            job.reject(self.grid.now)

    return sabotaged_submit


def _sending(arrive: Any, wanted: Wanted, late: bool) -> Any:
    """What becomes of mandatory requests on their way to a server."""

    def sabotaged_arrive(self: Client, what: Any) -> None:
        job = what[1]
        if not job.mandatory or not wanted(job):
            arrive(self, what)
        elif late:
            self.grid.agenda.after(LATE, lambda held: arrive(self, held), what, ARRIVAL)
        else:
            job.reject(self.grid.now)
            self._notify(job)

    return sabotaged_arrive


def _accept_once(accept: Any) -> Any:
    def accept_once(self: Gateway, task: Job) -> None:
        if task not in self.tasks:
            accept(self, task)

    return accept_once


def _one_too_few(demand: Any) -> Any:
    """A client that believes its user to want a mandatory request less, and does not wait for it."""

    def less(self: Client) -> Any:
        wanted = demand(self)
        if not self.submitted:
            self.mandatory_left = self.session.n_min - 1
        return (
            wanted._replace(n_min=wanted.n_min - 1)
            if hasattr(wanted, "_replace")
            else replace(wanted, n_min=wanted.n_min - 1)
        )

    return less


def _stopping(act: Any, horizon: float | None) -> Any:
    """A harvester that submits nothing after half of the run, or after 300 s where that has no end."""
    stop = 300.0 if horizon is None else horizon / 2

    class Nothing(Control):
        def decide(self, _reading: Any, memory: Any) -> Decision:
            return Decision(0.0, memory)

        def settled(self, *_: Any) -> bool:
            return True

    def sabotaged_act(self: Harvester, argument: object) -> None:
        if self.grid.now >= stop:
            self.control = Nothing()
        act(self, argument)

    return sabotaged_act


def _without_requeue(ended: Any) -> Any:
    """A queue whose best-effort jobs are gone once they are killed."""

    def sabotaged_ended(self: Bags, job: Job, held_since: float) -> None:
        ended(self, job, held_since)
        if job.state is not DONE:
            bag = self._of[job.id][0]
            bag.tasks.popleft()
            bag.open -= 1
            self.left -= 1
            job.cancel(self.clock())

    return sabotaged_ended


def _never_making(schedule: Any, last: float) -> Any:
    """What is scheduled from some time on comes to nothing."""

    def sabotaged_schedule(self: Owed, arrivals: Iterable[Arrival]) -> Iterator[Arrival]:
        for time, action, what in schedule(self, arrivals):
            yield time, action if time < last else (lambda _: None), what

    return sabotaged_schedule


def _running_twice(complete: Any, rng: np.random.Generator) -> Any:
    """A site that loses executions when they are done, and begins them again where they were."""
    known: set[int] = set()

    def sabotaged_complete(self: Executions, job: Job) -> None:
        if job.id in known or rng.random() >= SHARE:
            complete(self, job)
            return
        known.add(job.id)
        node, execution = job.node, self[job.id]
        job.kill(self.grid.now)
        job.begin(self.grid.now, node)
        again = execution.timer.after(job.runtime / execution.placement.speed, self.complete, job, COMPLETION)
        self[job.id] = execution._replace(event=again)

    return sabotaged_complete


def honest_and_twins(scenario: Scenario, seed: int) -> dict[str, Metrics]:
    """The metrics of a scenario and of its twins, by kind; `honest` is the original."""
    honest = simulate(scenario, seed)
    found = {"honest": honest.metrics}
    came = sorted(job.submit for job in honest.record.jobs if job.mandatory)
    last = came[int((1 - LAST) * len(came))] if came else inf
    works: dict[str, float] = {}
    for job in honest.record.jobs:
        if job.mandatory:
            works[job.kind] = works.get(job.kind, 0.0) + job.work
    least = min(works, key=works.__getitem__) if len(works) > 1 else ""
    for kind in kinds(scenario.active):
        if kind == "drop-class" and not least:
            continue
        # What is held until after the end must not make the run longer.
        twin = scenario.override({"horizon": honest.end}) if kind.startswith("hold") else scenario
        from_then = (1 - UNMADE[kind]) * honest.end if kind in UNMADE else last
        with sabotaged(kind, scenario.active, seed, from_then, least):
            found[kind] = simulate(twin, seed).metrics
    return found
