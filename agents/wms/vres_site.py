"""A site with virtual reservations: slots of several classes over processors that they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from math import inf
from typing import Protocol

import mesa

from gridtune.agents.wms.advertising import advertise
from gridtune.agents.wms.gangs import Gangs
from gridtune.model.agenda import COMPLETION, DECISION
from gridtune.model.batch.nodes import host_list
from gridtune.model.grid import Grid
from gridtune.model.job import CANCELLED, CREATED, QUEUED, RUNNING, Job
from gridtune.model.metrics.registry import define
from gridtune.model.vres import ClassRules, Execution, Gang, SharedProcessor, SlotClass, deal
from gridtune.model.wms.ranking import Advert

define("vres_rejected", "jobs", "minimize", "jobs that found no slot of their class at a site that rejects")
define("vres_expired", "jobs", "minimize", "jobs killed at the wall-clock limit of their class")

Ended = Callable[[Job], object]
Started = Callable[[Job, "VresSite"], object]


class Outages(Protocol):
    """What a site asks of whoever keeps nodes from its jobs."""

    def catch_up(self) -> None:
        """Have everything happen that was due by now: while a site is empty, nobody looks."""

    def work_came(self) -> None:
        """The site has work: from now on everything happens at its time."""

    def started(self) -> None:
        """A job has got its slots."""

    def released(self, empty: bool) -> None:
        """Slots have come back; whether the site has no work left."""


class VresSite(mesa.Agent):
    """A site: `submit`, `offer`, `cancel` and, for jobs that bring their work along, `compute`, `finish`.

    Jobs start in a slot of their class on the least loaded processor, and share it with whatever else
    is active there (Responsive Grids, section 3.2); of several processors, see `Gangs`. A class with a
    queue serves it in its order: nobody overtakes a job that waits for several slots when it is its turn.

    Args:
        grid: where it lives.
        name: by which jobs refer to it.
        speeds: work per s of the processors, one number for each shared unit.
        capacity: processors in each unit: 1, or those of a node if its kernel moves jobs between them.
        units_per_node: shared units of one node.
        classes: rules of each class, in the order in which jobs look for theirs.
        counts: slots of each class.
    """

    def __init__(
        self,
        grid: Grid,
        name: str,
        speeds: Sequence[float],
        classes: Sequence[ClassRules],
        counts: Sequence[int],
        *,
        capacity: int = 1,
        units_per_node: int = 1,
    ) -> None:
        super().__init__(grid)
        self.grid = grid
        self._agenda = grid.agenda
        self.name = name
        self.units = [SharedProcessor(capacity, speed) for speed in speeds]
        self.classes = [
            SlotClass(rules, dealt, units_per_node, capacity)
            for rules, dealt in zip(classes, deal(counts, len(speeds)), strict=True)
        ]
        self.units_per_node = units_per_node
        self.gangs = Gangs(self)
        self.keeper: Outages | None = None  # of its nodes, where they are lost or drained
        self._executions: dict[int, Execution | Gang] = {}
        self.owners: dict[int, tuple[Ended | None, Started | None]] = {}
        self._classes: dict[tuple[str, str], SlotClass | None] = {}
        # Bit masks of the units with so many active jobs: the least loaded is found without looking at all.
        self._loads: list[int] = [(1 << len(speeds)) - 1]
        self.power = capacity * sum(speeds)
        grid.record.noting.append(self._note_given)
        grid.add_slots(capacity * len(speeds), self.power / (capacity * len(speeds)))
        for counter in ("vres_rejected", "vres_expired"):
            grid.record.counters[counter] += 0

    @property
    def pace(self) -> float:
        """Work per s of the slowest processor while nothing shares it."""
        return min(unit.speed for unit in self.units)

    @property
    def running(self) -> int:
        """Jobs that hold slots."""
        return len(self._executions)

    @property
    def depth(self) -> int:
        """Jobs waiting."""
        return sum(len(known.queue) for known in self.classes)

    @property
    def empty(self) -> bool:
        """Whether no job is here, waiting or running."""
        return not self._executions and not self.depth

    @property
    def stuck(self) -> bool:
        """Whether jobs wait, and none runs."""
        return not self._executions and self.depth > 0

    def executions_on(self, units: Set[int]) -> Sequence[Execution | Gang]:
        """What holds slots on any of some units, in the order of their starts."""
        return [
            one
            for one in self._executions.values()
            if not units.isdisjoint(one.units if isinstance(one, Gang) else (one.unit,))
        ]

    def class_for(self, job: Job) -> SlotClass | None:
        """The first class that admits a job; None if there is none."""
        key = job.kind, job.group
        if key not in self._classes:
            self._classes[key] = next((known for known in self.classes if known.rules.admits(job)), None)
        return self._classes[key]

    def suits(self, job: Job) -> bool:
        """Whether a job could ever start here: its class has slots on as many processors."""
        slot_class = self.class_for(job)
        return slot_class is not None and job.processors <= slot_class.widest

    def queues_for(self, job: Job) -> list[str]:
        """Name of the one class that a job would enter; none if it could never start here."""
        slot_class = self.class_for(job)
        return [slot_class.rules.name] if slot_class is not None and self.suits(job) else []

    def adverts(self) -> Sequence[Advert]:
        """What the site publishes of each class."""
        self.catch_up()
        return [advertise(self.name, self.units[0].speed, known) for known in self.classes]

    def catch_up(self) -> None:
        """Have happen to nodes what was due by now: while a site is empty, nobody looks."""
        if self.keeper is not None:
            self.keeper.catch_up()

    def admit(self, kind: str, slot_class: SlotClass) -> None:
        """Let jobs of a further kind enter a class."""
        self._classes[kind, ""] = slot_class

    def submit(self, job: Job, done: Ended | None = None, started: Started | None = None) -> None:
        """Take a job in, or reject it, now or when its node has failed; see `offer`."""

        def ended(job: Job) -> None:
            if job.state is CREATED or job.state is QUEUED:
                job.reject(self._agenda.now)
            if done is not None:
                done(job)

        if not self.offer(job, ended, started):
            ended(job)

    def offer(
        self,
        job: Job,
        done: Ended | None = None,
        started: Started | None = None,
        queue: str | None = None,
    ) -> bool:
        """Take a job in if its class has a slot, or lets jobs wait; whether it was taken.

        Args:
            job: new, or waiting elsewhere.
            done: called with the job when it has ended here, unless its owner cancels it; still waiting, if
                it has lost its slot with a node and there is no other for it.
            started: if given, the job holds its slot without computing: it is called with the job and
                this site, and says by `compute` and `finish` what goes on.
            queue: name of its class, for those who know sites of several queues.
        """
        slot_class = self.class_for(job)
        now = self._agenda.now
        self.catch_up()
        if slot_class is None or job.processors > slot_class.widest:
            self.grid.record.counters["vres_rejected"] += 1
            return False
        free = slot_class.has_room(job.processors) and slot_class.within_caps(job)
        if free and slot_class.first(now) is None:
            job.queue(now, self.name)
            self.owners[job.id] = done, started
            self._start(job, slot_class)
            if self.keeper is not None:
                self.keeper.work_came()
            return True
        if slot_class.rules.full == "reject":
            slot_class.rejected += 1
            self.grid.record.counters["vres_rejected"] += 1
            return False
        job.queue(now, self.name)
        self.owners[job.id] = done, started
        slot_class.queue.append(job)
        slot_class.waiting_work += slot_class.promised(job)
        if self.keeper is not None:
            self.keeper.work_came()
        return True

    def cancel(self, job: Job) -> None:
        """Take a job out on its owner's demand, whether it waits or runs; too late is no error."""
        execution = self._executions.get(job.id)
        if execution is not None:
            self.owners.pop(job.id)
            job.cancel(self._agenda.now)
            self.vacate(execution)
        elif job.state is QUEUED and job.id in self.owners:
            job.cancel(self._agenda.now)
            self._leave_queue(job)

    def give_back(self, job: Job) -> bool:
        """Let go of a job that waits, for it to wait elsewhere; False if it does not wait here."""
        if job.state is not QUEUED or job.id not in self.owners:
            return False
        self._leave_queue(job)
        return True

    def _leave_queue(self, job: Job) -> None:
        """A job that waits goes away."""
        slot_class = self.class_for(job)
        assert slot_class is not None
        slot_class.queue.remove(job)
        slot_class.waiting_work -= slot_class.promised(job)
        del self.owners[job.id]
        # Behind a job that waited for several slots there may be others for which there is room.
        self.serve(slot_class)
        if self.keeper is not None:
            self.keeper.released(self.empty)

    def withdraw(self, job: Job) -> None:
        """The same: nothing stands between an owner and the slots."""
        self.cancel(job)

    def compute(self, job: Job, task: Job, then: Ended, work: float | None = None) -> None:
        """Have a job that holds a slot compute a task, and call `then` with the task when that is done.

        Args:
            job: that holds a slot here.
            task: as wide as the job, or narrower.
            then: called with the task.
            work: s at speed 1, of each processor; that of the task if left out.
        """
        execution = self._executions[job.id]
        if isinstance(execution, Gang):
            self.gangs.compute(execution, task, then, work)
            return
        execution.task, execution.then = task, then
        self._activate(execution, task.runtime if work is None else work)

    def finish(self, job: Job) -> None:
        """A job that holds a slot has done all its work."""
        execution = self._executions[job.id]
        job.finish(self._agenda.now)
        execution.slot_class.ended += 1
        self._end(execution)

    def _start(self, job: Job, slot_class: SlotClass) -> None:
        now = self._agenda.now
        execution: Execution | Gang
        if job.processors == 1:
            unit = self.least_loaded(slot_class.open)
            slot_class.take(unit)
            job.begin(now, f"{self.name}-{unit // self.units_per_node:03}")
            execution = Execution(job, slot_class, unit)
        else:
            execution = self.gangs.take(job, slot_class)
            nodes = sorted({unit // self.units_per_node for unit in execution.units})
            job.begin(now, host_list(self.name, nodes))
        slot_class.started += 1
        if self.keeper is not None:
            self.keeper.started()
        slot_class.begins(job, now)
        self._executions[job.id] = execution
        if slot_class.rules.wall_limit < inf:
            limit = slot_class.rules.wall_limit
            execution.limit = self._agenda.after(limit, self._expire, execution, DECISION)
        started = self.owners[job.id][1]
        if started is not None:
            started(job, self)
        elif isinstance(execution, Gang):
            self.gangs.compute(execution, job, None)
        else:
            self._activate(execution, job.runtime)

    def least_loaded(self, among: int) -> int:
        """The first of the least loaded units in a bit mask that is not empty."""
        fit = 0
        for mask in self._loads:
            fit = mask & among
            if fit:
                break
        return (fit & -fit).bit_length() - 1

    def _activate(self, execution: Execution, work: float) -> None:
        self.before(execution.unit)
        self.units[execution.unit].begin(self._agenda.now, execution, work)
        self.after(execution.unit, execution.slot_class, 1)

    def _computed(self, unit: int) -> None:
        """The next execution of a unit has done its work."""
        shared = self.units[unit]
        shared.event = 0
        self.before(unit)
        execution = shared.finish(self._agenda.now)
        assert isinstance(execution, Execution)
        self.after(unit, execution.slot_class, -1)
        if execution.then is not None:
            execution.then(execution.task)
        else:
            self.completed(execution)

    def completed(self, execution: Execution | Gang) -> None:
        """A job has done its own work: free its slots."""
        job, slot_class = execution.job, execution.slot_class
        job.finish(self._agenda.now)
        slot_class.ended += 1
        if job.runtime > 0:
            if isinstance(execution, Gang):
                speed = min(self.units[unit].speed for unit in execution.units)
            else:
                speed = self.units[execution.unit].speed
            slot_class.note_stretch((job.end - job.start) * speed / job.runtime)
        self._end(execution)

    def _expire(self, execution: Execution | Gang) -> None:
        execution.limit = 0
        execution.job.expire(self._agenda.now, self._given(execution))
        execution.slot_class.expired += 1
        self.grid.record.counters["vres_expired"] += 1
        self._end(execution)

    def _note_given(self) -> None:
        """Note in running jobs and tasks the work that each processor has done for them, s at speed 1."""
        for execution in self._executions.values():
            if execution.job.state is RUNNING:
                execution.job.given = self._given(execution)
            self._note_tasks(execution)

    def _note_tasks(self, execution: Execution | Gang) -> None:
        """The same of what a job that holds slots computes for others."""
        if isinstance(execution, Gang):
            for work in execution.works:
                if work.then is not None:
                    work.task.given = work.done(self._agenda.now)
        elif execution.turn and execution.then is not None:
            execution.task.given = self._given(execution)

    def _given(self, execution: Execution | Gang) -> float:
        """Work that each processor has done for a job that holds slots, s at speed 1."""
        now = self._agenda.now
        if isinstance(execution, Gang):
            return sum(work.done(now) for work in execution.works)
        return self.units[execution.unit].done(now, execution) if execution.turn else 0.0

    def _end(self, execution: Execution | Gang) -> None:
        """Free the slots of a job that has ended, and tell its owner."""
        done = self.owners.pop(execution.job.id)[0]
        self.vacate(execution)
        if done is not None:
            done(execution.job)

    def vacate(self, execution: Execution | Gang) -> None:
        """Free slots, and give them to the next jobs of their class."""
        job, slot_class = execution.job, execution.slot_class
        del self._executions[job.id]
        if execution.limit:
            self._agenda.cancel(execution.limit)
        self._note_tasks(execution)
        if isinstance(execution, Gang):
            self.gangs.leave(execution)
        else:
            unit = execution.unit
            if execution.turn:
                self.before(unit)
                self.units[unit].stop(self._agenda.now, execution)
                self.after(unit, slot_class, -1)
            slot_class.give_back(unit)
        slot_class.leaves(job, self._agenda.now)
        self.serve(slot_class)
        if self.keeper is not None:
            self.keeper.released(self.empty)

    def serve(self, slot_class: SlotClass) -> None:
        """Start waiting jobs of a class in their order for as long as there is room for the next."""
        now = self._agenda.now
        while (waiting := slot_class.first(now)) is not None and slot_class.has_room(waiting.processors):
            slot_class.queue.remove(waiting)
            slot_class.waiting_work -= slot_class.promised(waiting)
            if waiting.state is not CANCELLED:
                self._start(waiting, slot_class)

    def before(self, unit: int) -> None:
        """Count what the classes on a unit have got, and forget the rate that is about to change."""
        now, shared = self._agenda.now, self.units[unit]
        if shared.active:
            rate = shared.rate
            for slot_class in self.classes:
                active = slot_class.active_at[unit]
                if active:
                    slot_class.accrue(now)
                    slot_class.rate -= active * rate
        self._loads[shared.active] &= ~(1 << unit)

    def after(self, unit: int, changed: SlotClass, by: int) -> None:
        """Note the new rates, and when the next execution will end."""
        agenda, shared = self._agenda, self.units[unit]
        now = agenda.now
        changed.accrue(now)
        changed.active += by
        changed.active_at[unit] += by
        if shared.active:
            rate = shared.rate
            for slot_class in self.classes:
                active = slot_class.active_at[unit]
                if active:
                    slot_class.rate += active * rate
        if changed.active == 0:
            changed.rate = 0.0
        while len(self._loads) <= shared.active:
            self._loads.append(0)
        self._loads[shared.active] |= 1 << unit
        if shared.event:
            agenda.cancel(shared.event)
            shared.event = 0
        end = shared.next_end(now)
        if end < inf:
            shared.event = agenda.at(end, self._computed, unit, COMPLETION)
        if self.gangs.computing:
            self.gangs.rates_changed(unit)
