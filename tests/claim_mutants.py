"""Changes of the model, and the claims of papers that each of them makes fail: none may be vacuous."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.best_effort import BestEffortQueue
from gridtune.agents.deadline.monitor import Monitor
from gridtune.agents.deadline.scheduler import SchedulingAgents
from gridtune.agents.deadline.task_server import TaskServer
from gridtune.agents.gridrpc.machine import Machine
from gridtune.agents.gridrpc.sed import SeD
from gridtune.agents.harvest.bags import Bags
from gridtune.agents.infrastructure.faults import Fault
from gridtune.agents.middleware.broker import Broker
from gridtune.agents.middleware.pilot import Pilot
from gridtune.agents.middleware.site_agent import SiteAgent
from gridtune.agents.wms.overlay import Master
from gridtune.model.batch.policies import Conservative
from gridtune.model.batch.policies import Fcfs as FirstCome
from gridtune.model.deadline.forecasts import Correction
from gridtune.model.deadline.routing import PriorityRouting
from gridtune.model.gridrpc.disciplines import Ethic, Fcfs, Priority, ServerQueue
from gridtune.model.gridrpc.dispatch import EthicDispatch
from gridtune.model.harvest.control import Decision, Feedback
from gridtune.model.harvest.feedback import PI, P
from gridtune.model.harvest.submission import Tap, WaitBatch
from gridtune.model.job import Job
from gridtune.model.middleware.routing import LeastDepth
from gridtune.model.vres.processor_sharing import SharedProcessor
from gridtune.scenarios.reproduction import Workbench, load_paper
from gridtune.scenarios.reproduction.batcigri import claims as batcigri
from gridtune.scenarios.reproduction.batcigri.log import Log
from gridtune.scenarios.reproduction.egee import reservations, usage
from gridtune.scenarios.trace_files.records import Trace
from gridtune.scenarios.workers.pool import Pool

Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Mutant:
    """A change of the model.

    Attributes:
        change: what is different, in words.
        apply: makes the change, for as long as the patch lives.
        claims: those that are met without it and not with it, as PAPER/EXPERIMENT/ID.
    """

    change: str
    apply: Callable[[Patch], None]
    claims: tuple[str, ...]


def _front(
    choose: Callable[[ServerQueue, Job | None], Job | None], *disciplines: type
) -> Callable[[Patch], None]:
    """Servers that run what `choose` says."""

    def apply(patch: Patch) -> None:
        for discipline in disciplines:
            patch.setattr(discipline, "front", lambda self, queue, running, rng: choose(queue, running))

    return apply


def _by_user(queue: ServerQueue, running: Job | None) -> Job | None:
    """What runs, else mandatory requests first, else those of the first user by name."""
    if running is not None and (running.mandatory or not queue.mandatory):
        return running
    return next(iter(queue.mandatory.values()), None) or min(
        queue.jobs(), key=lambda job: (job.user, job.id), default=None
    )


def _mandatory_last(queue: ServerQueue, running: Job | None) -> Job | None:
    """What runs, else optional requests, else mandatory ones."""
    return running or min(queue.jobs(), key=lambda job: (job.mandatory, job.id), default=None)


def _mandatory_first(queue: ServerQueue, running: Job | None) -> Job | None:
    """What runs, else mandatory requests first."""
    return running or min(queue.jobs(), key=lambda job: (not job.mandatory, job.id), default=None)


def _one_user(queue: ServerQueue, running: Job | None) -> Job | None:
    """What runs, else the requests of the first user by name."""
    return running or min(queue.jobs(), key=lambda job: (job.user, job.id), default=None)


def _fair(queue: ServerQueue, running: Job | None) -> Job | None:
    """What runs, else the requests of the user who had least."""
    return running or min(queue.jobs(), key=lambda job: (queue.allocated[job.user], job.id), default=None)


def _selfish(patch: Patch) -> None:
    """Servers of DIET-ethic prefer the first user by name and need twice as long."""
    duration = SeD.duration
    _front(_by_user, Ethic)(patch)
    patch.setattr(
        SeD,
        "duration",
        lambda self, job: duration(self, job) * (2 if isinstance(self.discipline, Ethic) else 1),
    )


def _slow_servers(patch: Patch) -> None:
    duration = SeD.duration
    patch.setattr(SeD, "duration", lambda self, job: 1.2 * duration(self, job))


def _long_duties(patch: Patch) -> None:
    """Mandatory requests need 200 times as long."""
    duration = SeD.duration
    patch.setattr(SeD, "duration", lambda self, job: (200 if job.mandatory else 1) * duration(self, job))


def _set(owner: Any, name: str, value: Any) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(owner, name, value)


def _current_views(patch: Patch) -> None:
    """The broker looks at every site before every task."""
    submit = Broker.submit

    def looking(self: Broker, task: Job) -> None:
        self.views = [self.measure(k) for k in range(len(self.members))]
        submit(self, task)

    patch.setattr(Broker, "submit", looking)


def _slow_processor(patch: Patch) -> None:
    """Shared processors give each job 0.3 of its part."""
    count = SharedProcessor._count

    def counted(self: SharedProcessor, active: int) -> None:
        count(self, active)
        self.rate = self.rate * 0.3

    patch.setattr(SharedProcessor, "_count", counted)


def _long_jobs(patch: Patch) -> None:
    """Every job holds its processors 47 s longer, best-effort ones, too."""
    made, add = BatchSite.__init__, Bags.add

    def init(self: BatchSite, *given: Any, **named: Any) -> None:
        made(self, *given, **named)
        overhead = self.services.overhead
        self.services = self.services._replace(overhead=lambda: overhead() + 47.0)

    patch.setattr(BatchSite, "__init__", init)
    patch.setattr(Bags, "add", lambda self, bag, job, overhead: add(self, bag, job, overhead + 47.0))


def _no_rounds(patch: Patch) -> None:
    """Schedulers act at once, whenever something has happened."""
    made = BatchSite.__init__

    def init(self: BatchSite, *given: Any, **named: Any) -> None:
        named.pop("rounds", None)
        made(self, *given, **named)

    patch.setattr(BatchSite, "__init__", init)


def _with_memory(self: P, error: float, reading: Any, memory: Any) -> tuple[float, Any]:
    """A tenth of all errors so far on top of kp e."""
    total = (memory or 0.0) + error
    return self.kp * error + 0.1 * total, total


def _filling_rules(patch: Patch) -> None:
    """Both rules of CiGri submit what is missing to 64 jobs."""
    for rule in (Tap, WaitBatch):
        patch.setattr(
            rule, "decide",
            lambda self, reading, memory: Decision(max(0, 64 - reading.waiting - reading.used), memory),
        )  # fmt: skip


def _lazy_workers(seconds: float) -> Callable[[Patch], None]:
    """A worker asks for its next task only after so many seconds."""

    def apply(patch: Patch) -> None:
        asks = Master._asks

        def later(self: Master, worker: Any) -> None:
            self.grid.agenda.after(seconds, lambda one: asks(self, one), worker)

        patch.setattr(Master, "_asks", later)

    return apply


def _order_tasks(key: Callable[[Job], int]) -> Callable[[Patch], None]:
    """Servers of tasks, and their agent, put the largest key first."""

    def front(self: Priority, queue: ServerQueue, running: Job | None, rng: object) -> Job | None:
        return running or max(queue.jobs(), key=lambda job: (key(job), -job.id), default=None)

    def apply(patch: Patch) -> None:
        patch.setattr(PriorityRouting, "precedence", lambda self, job: key(job))
        patch.setattr(Priority, "front", front)

    return apply


def _picky(patch: Patch) -> None:
    """The agent takes only tasks of a priority of 5 or more."""
    choose = PriorityRouting.choose
    patch.setattr(
        PriorityRouting,
        "choose",
        lambda self, job, *given: choose(self, job, *given) if job.priority >= 5 else [],
    )


def _few_workers(patch: Patch) -> None:
    """Masters ask for half of their workers."""
    begin = Master.begin

    def halved(self: Master, _: object) -> None:
        self.habits = self.habits._replace(workers=self.habits.workers // 2)
        begin(self, _)

    patch.setattr(Master, "begin", halved)


def _slow_masters(patch: Patch) -> None:
    """A master needs 3 s to dispatch a task."""
    begin = Master.begin

    def slowed(self: Master, _: object) -> None:
        self.habits = self.habits._replace(dispatch_time=3.0)
        begin(self, _)

    patch.setattr(Master, "begin", slowed)


def _long_logs(patch: Patch) -> None:
    """Run times of logs are a hundred times what they are."""
    read = usage.read_trace

    def longer(path: Path) -> Trace:
        trace = read(path)
        return replace(trace, jobs=[job._replace(runtime=100 * job.runtime) for job in trace.jobs])

    patch.setattr(usage, "read_trace", longer)


def _late_load(patch: Patch) -> None:
    """The log of CiGri has each load three cycles late."""
    read = batcigri.read_log

    def late() -> Log | None:
        log = read()
        return log and log._replace(load=np.roll(log.load, 3))

    patch.setattr(batcigri, "read_log", late)


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "servers put optional requests first",
        _front(_mandatory_last, Ethic),
        tuple(
            f"diet/{name}/D1"
            for name in (
                "night-simultaneous",
                "night-consecutive",
                "day-regular",
                "day-irregular",
                "day-irregular-random",
            )
        ),
    ),
    Mutant(
        "clients never replace a completed optional request",
        _set(EthicDispatch, "completed", lambda self, demand, outstanding: 0),
        (
            "diet/night-simultaneous/D2a",
            "diet/night-consecutive/D3e",
            "diet/day-regular/D4b",
            "diet/scalability/D7a",
            "diet/overhead/D8b",
        ),
    ),
    Mutant(
        "ethic servers serve one user after the other and need twice as long",
        _selfish,
        ("diet/day-irregular/D6c", "diet/day-irregular-random/D6c"),
    ),
    Mutant(
        "servers serve one user after the other",
        _front(_one_user, Fcfs, Ethic),
        (
            "diet/night-simultaneous/D2b",
            "diet/day-regular/D4d",
            "diet/scalability/D7b",
        ),
    ),
    Mutant(
        "mandatory requests need 200 times as long",
        _long_duties,
        ("diet/scalability/D1",),
    ),
    Mutant(
        "messages cost a thousandth of what they should",
        lambda patch: patch.setattr(
            Machine,
            "__init__",
            (lambda made: lambda self, grid, cost: made(self, grid, cost / 1000))(Machine.__init__),
        ),
        ("diet/overhead/D8e",),
    ),
    Mutant(
        "executions take a fifth longer",
        _slow_servers,
        ("diet/night-consecutive/D3a", "diet/day-regular/D4a"),
    ),
    Mutant(
        "legacy servers put mandatory requests first",
        _front(_mandatory_first, Fcfs),
        ("diet/night-consecutive/D3c", "diet/day-irregular/D6b", "diet/day-irregular-random/D6b"),
    ),
    Mutant(
        "legacy servers put optional requests first",
        _front(_mandatory_last, Fcfs),
        ("diet/day-irregular/D6a", "diet/day-irregular-random/D6a"),
    ),
    Mutant(
        "no running request is killed",
        _front(_mandatory_first, Ethic),
        ("diet/day-regular/D4c",),
    ),
    Mutant(
        "legacy servers serve who had least",
        _front(_fair, Fcfs),
        ("diet/day-regular/D5a", "diet/day-regular/D5b"),
    ),
    Mutant(
        "the broker always knows the sites as they are",
        _current_views,
        ("dirac/periods/P2a", "dirac/periods/P2b", "dirac/periods/P3"),
    ),
    Mutant(
        "nothing ever breaks",
        _set(Fault, "_fail", lambda self, _: None),
        (
            "dirac/deterioration/P9b",
            "dirac/deterioration/P9c",
            "dirac/deterioration/P9d",
            "dirac/deterioration/P9e",
        ),
    ),
    Mutant(
        "the broker prefers the longest queue",
        _set(LeastDepth, "choose", lambda self, sites, *_: max(sites, key=lambda site: site.depth)),
        ("dirac/deterioration/P9a",),
    ),
    Mutant(
        "filling pilots run one task",
        _set(Pilot, "_goes_on", property(lambda self: False)),
        ("dirac/strategies/P5a", "dirac/strategies/P7a"),
    ),
    Mutant(
        "site agents ask only where a node is idle and nobody waits",
        _set(
            SiteAgent,
            "available",
            property(lambda self: self.pilots < self.cap and self.site.depth == 0 and self.site.free > 0),
        ),
        ("dirac/strategies/P6a",),
    ),
    Mutant(
        "controllers measure twice the load that there is",
        lambda patch: patch.setattr(
            Feedback,
            "measure",
            (lambda measure: lambda self, reading: 2 * measure(self, reading))(Feedback.measure),
        ),
        ("batcigri/scenario/G1a", "batcigri/scenario/G1b", "batcigri/scenario/G2"),
    ),
    Mutant(
        "jobs of sites hold their processors 47 s longer",
        _long_jobs,
        ("batcigri/scenario/G4", "dirac/queue/P0a"),
    ),
    Mutant(
        "schedulers need no time",
        _no_rounds,
        ("batcigri/scenario/G7a", "batcigri/scenario/G7b"),
    ),
    Mutant(
        "the tap and batches keep the site's queue filled",
        _filling_rules,
        ("batcigri/controllers/G9a", "batcigri/controllers/G9b"),
    ),
    Mutant(
        "a proportional controller adds what it missed before",
        _set(P, "law", _with_memory),
        ("batcigri/controllers/G9c",),
    ),
    Mutant(
        "controllers forget the sum of their errors",
        _set(PI, "law", lambda self, error, reading, memory: (self.kp * error, memory)),
        ("batcigri/log/G10b",),
    ),
    Mutant(
        "shared processors give every job less than its part",
        _slow_processor,
        ("egee/gptm3d/R8a",),
    ),
    Mutant(
        "slots are dealt to the first processors",
        _set(reservations, "deal", lambda counts, processors: [[n] + [0] * (processors - 1) for n in counts]),
        ("egee/slots/R5a",),
    ),
    Mutant(
        "a worker asks for its next task after 20,000 s",
        _lazy_workers(20_000.0),
        ("egee/itu/R7a", "egee/itu/R7b", "egee/geant4/R9a"),
    ),
    Mutant(
        "a worker asks for its next task after 3,000 s",
        _lazy_workers(3_000.0),
        ("egee/avian-flu/R9c",),
    ),
    Mutant(
        "small numbers go first",
        _order_tasks(lambda job: -job.priority),
        tuple(f"deadline/example/P1{letter}" for letter in "abcdef"),
    ),
    Mutant(
        "priorities count for nothing",
        _order_tasks(lambda job: 0),
        (
            "deadline/fig3/P2a",
            "deadline/limits/P5b",
            "deadline/limits/P5c",
            *(f"deadline/fig4{part}/P4{letter}" for part in "bcd" for letter in "abcd"),
        ),
    ),
    Mutant(
        "tasks of low priority are rejected",
        _picky,
        ("deadline/fig3/P2b",),
    ),
    Mutant(
        "masters ask for half of their workers",
        _few_workers,
        ("egee/itu/R7c", "egee/gptm3d/R8b"),
    ),
    Mutant(
        "a master needs 3 s to dispatch a task",
        _slow_masters,
        ("egee/gptm3d/R8c",),
    ),
    Mutant(
        "later tasks go first",
        _order_tasks(lambda job: job.id),
        ("deadline/fig4a/P3",),
    ),
    Mutant(
        "an agent forgets by what it has corrected a forecast",
        _set(Monitor, "factor", lambda self, server: 1.0),
        ("deadline/forecast-error/P6c",),
    ),
    Mutant(
        "executions teach nothing about forecasts",
        _set(Correction, "learn", lambda self, actual, forecast: None),
        ("deadline/forecast-error/P6a", "deadline/forecast-error/P6d"),
    ),
    Mutant(
        "servers never report to agents",
        _set(SchedulingAgents, "_look", lambda self, agent: None),
        ("deadline/agents/P7a",),
    ),
    Mutant(
        "servers find no task late",
        _set(TaskServer, "hopeless", lambda self, counts: []),
        ("deadline/agents/P7b",),
    ),
    Mutant(
        "servers find every waiting task late",
        _set(TaskServer, "hopeless", lambda self, counts: [job for job in self.queue.jobs() if counts(job)]),
        ("deadline/agents/P7c",),
    ),
    Mutant(
        "servers report to agents every second",
        lambda patch: patch.setattr(
            SchedulingAgents,
            "__init__",
            (lambda made: lambda self, agents, period, correcting: made(self, agents, 1.0, correcting))(
                SchedulingAgents.__init__
            ),
        ),
        ("deadline/agents/P7d",),
    ),
    Mutant(
        "first come, first served sites backfill",
        _set(FirstCome, "starts", Conservative.starts),
        ("oar/schedules/O5",),
    ),
    Mutant(
        "sites plan first come, first served",
        _set(Conservative, "starts", FirstCome.starts),
        ("oar/schedules/O1", "oar/schedules/O2"),
    ),
    Mutant(
        "the processor needs a thousand times as long",
        lambda patch: patch.setattr(batcigri, "process_time", lambda: 1000 * process_time()),
        ("batcigri/scenario/G6",),
    ),
    Mutant(
        "run times of logs are a hundred times what they are",
        _long_logs,
        ("egee/usage/R6a",),
    ),
    Mutant(
        "the log of CiGri has each load three cycles late",
        _late_load,
        ("batcigri/log/G10a",),
    ),
    Mutant(
        "a kill takes two victims too many",
        lambda patch: patch.setattr(
            BestEffortQueue,
            "make_room",
            (lambda make: lambda self, processors: make(self, processors + 2))(BestEffortQueue.make_room),
        ),
        ("batcigri/scenario/G3",),
    ),
)


@contextmanager
def mutated(mutant: Mutant | None) -> Iterator[None]:
    """The model with a change, or as it is."""
    with Patch.context() as patch:
        if mutant is not None:
            mutant.apply(patch)
        yield


def verdicts(
    experiment: str, mutant: Mutant | None = None, replications: int = 10, seed: int = 1, quick: bool = True
) -> dict[str, str]:
    """What becomes of the claims of PAPER/EXPERIMENT, by PAPER/EXPERIMENT/ID; at reduced size or in full."""
    paper, _, name = experiment.partition("/")
    (chosen,) = (known for known in load_paper(paper).experiments if known.name == name)
    with tempfile.TemporaryDirectory() as folder, mutated(mutant):
        claims = chosen.run(Workbench(Pool(), replications, seed, Path(folder), quick=quick))
    return {f"{experiment}/{claim.id}": claim.verdict for claim in claims}
