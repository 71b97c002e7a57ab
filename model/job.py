"""Jobs and their life cycle: the one place where the state of a job changes."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from math import inf, nan
from typing import Any


class State(StrEnum):
    """A job is in one of these states.

    `created -> queued -> running -> done`; `running -> queued` is a kill (progress is lost, the job is
    not) or a suspension (neither is); `queued -> cancelled` and `running -> cancelled` on the owner's demand;
    `running -> expired` at a limit of run time; `running -> failed` where its node fails, or it makes way,
    and is not run again; `created -> rejected` where nothing accepts the job; `queued -> rejected` where a
    queue refuses it later.
    """

    CREATED = "created"
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    REJECTED = "rejected"
    FAILED = "failed"


CREATED, QUEUED, RUNNING, DONE, CANCELLED, EXPIRED, REJECTED, FAILED = State

Journal = list[tuple[float, str, int, str, str]]


class IllegalTransition(RuntimeError):  # noqa: N818 - reads as what happened
    """An actor asked a job for a state that its present state does not allow."""


class Job:
    """A job is a unit of work: the demand of its owner, and the outcome.

    Policies and metrics read its attributes, and change none of them.

    Attributes:
        id: the number of the job, unique in the grid, in the order of creation.
        user: the owner; happiness and fairness are measured per user.
        group: the owner's group or virtual organisation, "" if none.
        kind: the role of the job (`mandatory`, `optional`, `meta`, `local`, `best-effort`, …).
        mandatory: whether it must be done; else it is nice to have (RR-7959, section 3.2).
        qos: the QOS that its owner asked for, by name; "" where none is known, as in most workloads.
        priority: the importance; the larger number wins where priorities count (RR-5335, section 4.3).
        submit: the time at which the owner created it, s.
        runtime: the execution time on a node of speed 1, s.
        processors: the number of slots that it holds while it runs.
        estimate: the run time that its owner promises, s at speed 1; the run time itself by default.
        expected: the run time that a batch scheduler plans with, s at speed 1; the promise unless run times
            are predicted.
        deadline: the absolute deadline, s; infinite if there is none.
        queued: the time at which it entered its present or last queue, s.
        start, end: the start and the end of its last execution, s; nan before.
        site, node: the names of the site and node where it was last queued or run.
        state: `created`, `queued`, `running`, `done`, `cancelled`, `expired`, `rejected` or `failed`.
        kills: the number of times that it was killed and went back to a queue.
        wasted: the slot-seconds of executions that were lost.
        given: the work that each processor had done for it since its last start when it expired, s at speed
            1, or while it runs where a site has noted it (`Record.noting`); nan before.
        kept: the slot-seconds of executions that ended before the last one, but whose progress was kept.
        needs: the units of each resource beside processors that it holds while it runs; None for most jobs.
        data: further facts that its actors need; None for most jobs.
        journal: the list that gets each transition: time (s), event, id, site and node; None for none.

    Example:
        >>> import gridtune as gt
        >>> job = gt.Job(1, "ann", submit=0.0, runtime=60.0)
        >>> job.queue(0.0, site="cluster")
        >>> job.begin(10.0)
        >>> job.finish(70.0)
        >>> job.state, job.waiting_time, job.response_time
        (<State.DONE: 'done'>, 10.0, 70.0)
    """

    __slots__ = (
        "data",
        "deadline",
        "end",
        "estimate",
        "expected",
        "given",
        "group",
        "id",
        "journal",
        "kept",
        "kills",
        "kind",
        "mandatory",
        "needs",
        "node",
        "priority",
        "processors",
        "qos",
        "queued",
        "runtime",
        "site",
        "start",
        "state",
        "submit",
        "user",
        "wasted",
    )

    def __init__(
        self,
        id: int,
        user: str,
        submit: float,
        runtime: float,
        kind: str = "job",
        mandatory: bool = True,
        priority: int = 0,
        processors: int = 1,
        estimate: float | None = None,
        deadline: float = inf,
        group: str = "",
        data: Any = None,
        journal: Journal | None = None,
    ) -> None:
        self.id = id
        self.user = user
        self.group = group
        self.kind = kind
        self.mandatory = mandatory
        self.priority = priority
        self.submit = submit
        self.runtime = runtime
        self.processors = processors
        self.estimate = self.expected = runtime if estimate is None else estimate
        self.deadline = deadline
        self.queued = self.start = self.end = self.given = nan
        self.site = self.node = self.qos = ""
        self.state = CREATED
        self.kills = 0
        self.wasted = self.kept = 0.0
        self.needs: Mapping[str, int] | None = None
        self.data = data
        self.journal = journal

    def level(self, levels: Mapping[str, float]) -> float:
        """Look up the level of the job among others, by QOS or by kind.

        Args:
            levels: numbers, by the names of QOS and of kinds.

        Returns:
            the number of its QOS, or else of its kind; 0 if neither has one.

        Example:
            >>> job.level({"job": 2.0})
            2.0
        """
        return levels.get(self.qos, levels.get(self.kind, 0.0))

    def queue(self, now: float, site: str = "") -> None:
        """Enter the queue of a site or server: for the first time, from another queue, or after a failure.

        Args:
            now: the present time, s.
            site: the name of the site or server.

        Raises:
            IllegalTransition: the job runs, or it has ended otherwise than by a failure.

        Example:
            >>> late = gt.Job(2, "bob", submit=5.0, runtime=30.0, processors=2)
            >>> late.queue(5.0, site="cluster")
            >>> late.state.value, late.queued
            ('queued', 5.0)
        """
        if self.state is FAILED:
            self.start = self.end = nan
        elif self.state is not CREATED and self.state is not QUEUED:
            self._refuse("queued")
        self.state = QUEUED
        self.queued = now
        self.site = site
        if self.journal is not None:
            self._log(now, "queued")

    def begin(self, now: float, node: str = "") -> None:
        """Start to run on a node.

        Args:
            now: the present time, s.
            node: the name of the node.

        Raises:
            IllegalTransition: the job is not queued.

        Example:
            >>> late.begin(8.0, node="node-1")
            >>> late.start, late.node
            (8.0, 'node-1')
        """
        if self.state is not QUEUED:
            self._refuse("running")
        self.state = RUNNING
        self.start = now
        self.node = node
        if self.journal is not None:
            self._log(now, "started")

    def finish(self, now: float) -> None:
        """End as done.

        Args:
            now: the present time, s.

        Raises:
            IllegalTransition: the job does not run.

        Example:
            >>> late.finish(38.0)
            >>> late.end, late.work
            (38.0, 60.0)
        """
        if self.state is not RUNNING:
            self._refuse("done")
        self.state = DONE
        self.end = now
        if self.journal is not None:
            self._log(now, "done")

    def kill(self, now: float, kept: float = 0.0) -> None:
        """Lose the running execution and go back to the queue: progress is lost, the job is not.

        Args:
            now: the present time, s.
            kept: the part of the execution whose progress is not lost, s.

        Raises:
            IllegalTransition: the job does not run.

        Example:
            >>> guest = gt.Job(3, "eve", submit=0.0, runtime=60.0)
            >>> guest.queue(0.0)
            >>> guest.begin(0.0)
            >>> guest.kill(20.0)
            >>> guest.state.value, guest.kills, guest.wasted
            ('queued', 1, 20.0)
        """
        if self.state is not RUNNING:
            self._refuse("killed")
        self.kills += 1
        self.wasted += (now - self.start - kept) * self.processors
        self.kept += kept * self.processors
        self.state = QUEUED
        self.queued = now
        self.start = nan
        if self.journal is not None:
            self._log(now, "killed")

    def suspend(self, now: float) -> None:
        """Give the processors up for another job, to go on later from where it is: nothing is lost.

        Args:
            now: the present time, s.

        Raises:
            IllegalTransition: the job does not run.

        Example:
            >>> guest.begin(30.0)
            >>> guest.suspend(45.0)
            >>> guest.state.value, guest.kept, guest.wasted
            ('queued', 15.0, 20.0)
        """
        if self.state is not RUNNING:
            self._refuse("suspended")
        self.kept += (now - self.start) * self.processors
        self.state = QUEUED
        self.queued = now
        self.start = nan
        if self.journal is not None:
            self._log(now, "suspended")

    def cancel(self, now: float) -> None:
        """End on the owner's demand, whether waiting or running; a running execution is lost.

        Args:
            now: the present time, s.

        Raises:
            IllegalTransition: the job has ended.

        Example:
            >>> guest.cancel(60.0)
            >>> guest.state.value
            'cancelled'
        """
        if self.state is RUNNING:
            self.wasted += (now - self.start) * self.processors
        elif self.state is not QUEUED and self.state is not CREATED:
            self._refuse("cancelled")
        self.state = CANCELLED
        self.end = now
        if self.journal is not None:
            self._log(now, "cancelled")

    def expire(self, now: float, given: float | None = None) -> None:
        """End at a limit of run time: the execution is lost, and the job with it.

        Args:
            now: the present time, s.
            given: the work that each processor has done for it, s at speed 1; all the time if left out.

        Raises:
            IllegalTransition: the job does not run.

        Example:
            >>> long = gt.Job(4, "eve", submit=0.0, runtime=60.0)
            >>> long.queue(0.0)
            >>> long.begin(0.0)
            >>> long.expire(50.0)
            >>> long.state.value, long.given
            ('expired', 50.0)
        """
        if self.state is not RUNNING:
            self._refuse("expired")
        self.wasted += (now - self.start) * self.processors
        self.given = now - self.start if given is None else given
        self.state = EXPIRED
        self.end = now
        if self.journal is not None:
            self._log(now, "expired")

    def fail(self, now: float) -> None:
        """End with its node, or for another job: the execution is lost, and the job with it.

        Args:
            now: the present time, s.

        Raises:
            IllegalTransition: the job does not run.

        Example:
            >>> hit = gt.Job(5, "eve", submit=0.0, runtime=60.0)
            >>> hit.queue(0.0)
            >>> hit.begin(0.0)
            >>> hit.fail(10.0)
            >>> hit.state.value, hit.wasted
            ('failed', 10.0)
        """
        if self.state is not RUNNING:
            self._refuse("failed")
        self.wasted += (now - self.start) * self.processors
        self.state = FAILED
        self.end = now
        if self.journal is not None:
            self._log(now, "failed")

    def reject(self, now: float) -> None:
        """End because nothing accepts the job.

        Args:
            now: the present time, s.

        Raises:
            IllegalTransition: the job runs or has ended.

        Example:
            >>> wide = gt.Job(6, "eve", submit=0.0, runtime=60.0, processors=1000)
            >>> wide.reject(0.0)
            >>> wide.state.value
            'rejected'
        """
        if self.state is not CREATED and self.state is not QUEUED:
            self._refuse("rejected")
        self.state = REJECTED
        self.end = now
        if self.journal is not None:
            self._log(now, "rejected")

    @property
    def waiting_time(self) -> float:
        """Compute the time from submission to the last start when it did not run, s (RR-5576, equation 1).

        An execution that was lost counts as waiting; one whose progress was kept does not.

        Example:
            >>> job.waiting_time
            10.0
        """
        return self.start - self.submit - self.ran_before

    @property
    def execution_time(self) -> float:
        """Compute the time of its executions that were not lost, s (RR-5576, equation 2).

        Example:
            >>> job.execution_time
            60.0
        """
        return self.end - self.start + self.ran_before

    @property
    def ran_before(self) -> float:
        """Compute the time of earlier executions, suspended or checkpointed, whose progress was kept, s.

        Example:
            >>> job.ran_before
            0.0
        """
        return self.kept / self.processors

    @property
    def response_time(self) -> float:
        """Compute the time from submission to the end, s (RR-5576, equation 3).

        Example:
            >>> job.response_time
            70.0
        """
        return self.end - self.submit

    @property
    def work(self) -> float:
        """Compute the work that completing the job stands for, slot-seconds at speed 1.

        Example:
            >>> job.work
            60.0
        """
        return self.runtime * self.processors

    def _log(self, now: float, event: str) -> None:
        assert self.journal is not None
        self.journal.append((now, event, self.id, self.site, self.node))

    def _refuse(self, wanted: str) -> None:
        raise IllegalTransition(f"job {self.id} of {self.user} is {self.state} and cannot become {wanted}")

    def __repr__(self) -> str:
        return f"Job({self.id}, {self.user!r}, {self.kind}, {self.state})"
