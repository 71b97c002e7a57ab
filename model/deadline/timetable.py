"""What a scheduling agent believes of its servers: who waits where, and when each would be done."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridtune.model.job import Job

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


class Timetable:
    """A timetable is the planned queue of every server; matrices hold the queues of all servers.

    A queue is ordered by precedence (larger first), first come first among equals. A server serves one task
    at a time, without a pause. All times are expected ones. A server that should be free, but has not
    reported so, is taken to become free now, and everything behind moves with it. Other agents' work at a
    server counts as last reported, and as done first.

    Args:
        servers: the number of servers.

    Attributes:
        waiting: the tasks that wait at each server, in the order in which they would run.

    Example:
        >>> table = gt.policies.Timetable(servers=2)
        >>> first = gt.Job(1, "ann", submit=0.0, runtime=30.0, deadline=40.0)
        >>> second = gt.Job(2, "bob", submit=0.0, runtime=30.0, deadline=50.0)
        >>> table.insert(0, first, duration=30.0, precedence=0.0)
        0
        >>> table.insert(0, second, duration=30.0, precedence=0.0)
        1
        >>> [len(tasks) for tasks in table.waiting]
        [2, 0]
    """

    def __init__(self, servers: int) -> None:
        self.waiting: list[list[Job]] = [[] for _ in range(servers)]
        self._rows = np.arange(servers)
        # Row s, column 0 of `ends` is when server s becomes free, column k + 1 when its k-th task ends.
        self._ends: Floats = np.zeros((servers, 9))
        # Columns k belong to the k-th task; empty places sort behind everything and are never late.
        self._durations: Floats = np.zeros((servers, 8))
        self._precedence: Floats = np.full((servers, 8), -np.inf)
        self._deadlines: Floats = np.full((servers, 8), np.inf)
        self._slack: Floats = np.full((servers, 8), np.inf)
        self._lengths: Counts = np.zeros(servers, dtype=np.int64)
        self._longest = 0
        self._reported: Floats | None = None
        self._seen = 0.0

    def report(self, work: Floats, now: float) -> None:
        """Take in how long each server needs for the tasks of other agents, as it says itself.

        Args:
            work: the time that each server needs, s; an array with an entry for each server.
            now: the present time, s.
        """
        self._reported, self._seen = work, now

    def ends_behind(self, durations: Floats, now: float) -> Floats:
        """Compute when a new task would be done at each server, behind everything that waits there.

        Args:
            durations: the time that the task takes at each server, s; infinite where it cannot run.
            now: the present time, s.

        Returns:
            The times, s; an array with an entry for each server.

        Example:
            >>> table.ends_behind(np.array([10.0, 10.0]), now=0.0).tolist()
            [70.0, 10.0]
        """
        free: Floats = self._ends[self._rows, self._lengths]
        return free + self._delay(now) + durations

    def insertions(self, durations: Floats, precedence: float, now: float) -> tuple[Floats, Counts]:
        """Compute when a new task would be done at each server, and its place in each queue.

        Its place is behind all tasks of the same or a larger precedence.

        Args:
            durations: the time that the task takes at each server, s; infinite where it cannot run.
            precedence: the precedence of the task.
            now: the present time, s.

        Returns:
            The times, s, and the places, from 0; two arrays with an entry for each server.

        Example:
            >>> ends, places = table.insertions(np.array([10.0, 10.0]), precedence=1.0, now=0.0)
            >>> ends.tolist(), places.tolist()
            ([10.0, 10.0], [0, 0])
        """
        places: Counts = np.add.reduce(self._precedence[:, : self._longest] >= precedence, axis=1)
        return self._ends[self._rows, places] + self._delay(now) + durations, places

    def displaced(self, durations: Floats, precedence: float, servers: Counts, now: float) -> Counts:
        """Count the waiting tasks that would miss their deadlines after an insertion.

        Args:
            durations: the time that the new task takes at every server, s.
            precedence: the precedence of the new task; only tasks of less can be displaced.
            servers: the indices of the servers in question.
            now: the present time, s.

        Returns:
            The numbers of tasks; an array with an entry for each of `servers`.

        Example:
            >>> table.displaced(np.array([15.0, 15.0]), 1.0, np.array([0, 1]), now=0.0).tolist()
            [2, 0]
        """
        width = self._longest
        shift = (self._delay(now) + durations)[servers, None]
        behind = self._precedence[servers, :width] < precedence
        counts: Counts = np.add.reduce(behind & (self._slack[servers, :width] <= shift), axis=1)
        return counts

    def insert(self, server: int, job: Job, duration: float, precedence: float) -> int:
        """Let a task wait at a server.

        Args:
            server: the index of the server.
            job: the task.
            duration: the time that it takes there, s.
            precedence: the precedence of the task.

        Returns:
            Its place in the queue, from 0.

        Example:
            >>> third = gt.Job(3, "eve", submit=0.0, runtime=30.0)
            >>> table.insert(1, third, duration=30.0, precedence=0.0)
            0
        """
        queue, length = self.waiting[server], len(self.waiting[server])
        if length == self._durations.shape[1]:
            self._grow()
        place = int(np.count_nonzero(self._precedence[server, :length] >= precedence)) if length else 0
        queue.insert(place, job)
        for matrix, value in (
            (self._durations, duration),
            (self._precedence, precedence),
            (self._deadlines, job.deadline),
        ):
            if place < length:
                matrix[server, place + 1 : length + 1] = matrix[server, place:length]
            matrix[server, place] = value
        self._longest = max(self._longest, length + 1)
        self._renew(server)
        return place

    def remove(self, server: int, job: Job) -> float:
        """Take a waiting task out.

        Args:
            server: the index of the server.
            job: the task.

        Returns:
            The time that it was planned to take, s.

        Raises:
            ValueError: the task does not wait there.

        Example:
            >>> table.remove(1, third)
            30.0
        """
        place = self.waiting[server].index(job)
        duration = float(self._durations[server, place])
        self._delete(server, place)
        return duration

    def begin(self, server: int, job: Job, now: float) -> None:
        """Note that a server has started the first task of its queue.

        Args:
            server: the index of the server.
            job: the task.
            now: the present time, s.

        Raises:
            ValueError: the server started another task, which this table cannot explain.
        """
        if not self.waiting[server] or self.waiting[server][0] is not job:
            raise ValueError(f"server {server} started job {job.id}, which was not the first to wait there")
        self._ends[server, 0] = now + self._durations[server, 0]
        self._delete(server, 0)

    def complete(self, server: int, now: float) -> None:
        """Note that a server has become free.

        Args:
            server: the index of the server.
            now: the present time, s.
        """
        self._ends[server, 0] = now
        self._renew(server)

    def end(self, server: int, place: int, now: float) -> float:
        """Compute when the task at a place of a queue would be done.

        Args:
            server: the index of the server.
            place: the place in its queue, from 0.
            now: the present time, s.

        Returns:
            The time, s.

        Example:
            >>> table.end(0, place=1, now=0.0)
            60.0
        """
        return float(self._ends[server, place + 1] + self._delay(now)[server])

    def late_behind(self, server: int, place: int, now: float) -> list[Job]:
        """List the tasks behind a place of a queue that would miss their deadlines by the present plan.

        Args:
            server: the index of the server.
            place: the place in its queue, from 0.
            now: the present time, s.

        Returns:
            The tasks, in the order in which they would run.

        Example:
            >>> [task.id for task in table.late_behind(0, place=0, now=0.0)]
            [2]
        """
        length = len(self.waiting[server])
        late = self._slack[server, place + 1 : length] <= self._delay(now)[server]
        return [self.waiting[server][place + 1 + int(k)] for k in np.flatnonzero(late)]

    def hopeless(self, server: int, now: float) -> list[Job]:
        """List the tasks of a queue that would be late even if the late ones before them were not there.

        Args:
            server: the index of the server.
            now: the present time, s.

        Returns:
            The tasks, in the order in which they would run.

        Example:
            >>> [task.id for task in table.hopeless(0, now=15.0)]
            [1]
        """
        end, late = max(float(self._ends[server, 0]), now), []
        for place, job in enumerate(self.waiting[server]):
            duration = float(self._durations[server, place])
            if end + duration < job.deadline:
                end += duration
            else:
                late.append(job)
        return late

    def _delay(self, now: float) -> Floats:
        """By how much every server is behind its plan."""
        delay: Floats = np.maximum(now - self._ends[:, 0], 0.0)
        return delay if self._reported is None else delay + self._left(now)

    def _left(self, now: float) -> Floats:
        """What must be left of the work that was last reported, s."""
        if self._reported is None:
            return np.zeros(len(self.waiting))
        left: Floats = np.maximum(self._reported - (now - self._seen), 0.0)
        return left

    def _delete(self, server: int, place: int) -> None:
        del self.waiting[server][place]
        length = len(self.waiting[server])
        for matrix, empty in (
            (self._durations, 0.0),
            (self._precedence, -np.inf),
            (self._deadlines, np.inf),
        ):
            if place < length:
                matrix[server, place:length] = matrix[server, place + 1 : length + 1]
            matrix[server, length] = empty
        if length + 1 == self._longest:
            self._longest = max(map(len, self.waiting))
        self._renew(server)

    def _renew(self, server: int) -> None:
        """Ends and slack of one queue, from its durations."""
        length = self._lengths[server] = len(self.waiting[server])
        slack = self._slack[server]
        if length:
            ends = self._ends[server]
            planned = ends[1 : length + 1]
            np.add.accumulate(self._durations[server, :length], out=planned)
            planned += ends[0]
            slack[:length] = self._deadlines[server, :length] - planned
        slack[length:] = np.inf

    def _grow(self) -> None:
        """Twice as many places in every queue."""
        empty: tuple[tuple[str, Any], ...] = (
            ("_ends", 0.0), ("_durations", 0.0), ("_precedence", -np.inf), ("_deadlines", np.inf),
            ("_slack", np.inf),
        )  # fmt: skip
        for name, value in empty:
            matrix: Floats = getattr(self, name)
            wider = np.full((len(matrix), 2 * matrix.shape[1]), value)
            wider[:, : matrix.shape[1]] = matrix
            setattr(self, name, wider)


class ReportedTimetable(Timetable):
    """What a scheduling agent believes that goes by what servers last reported of all their work alone.

    It does not correct their load for what it has placed since then, and knows nothing of their queues.
    """

    def ends_behind(self, durations: Floats, now: float) -> Floats:
        """When a new task would be done at each server, s."""
        return now + self._left(now) + durations

    def insertions(self, durations: Floats, precedence: float, now: float) -> tuple[Floats, Counts]:
        """When a new task would be done at each server, and its place among the agent's own tasks."""
        _, places = super().insertions(durations, precedence, now)
        return self.ends_behind(durations, now), places

    def displaced(self, durations: Floats, precedence: float, servers: Counts, now: float) -> Counts:
        """None, as far as it is known."""
        return np.zeros(len(servers), dtype=np.int64)

    def late_behind(self, server: int, place: int, now: float) -> list[Job]:
        """None, as far as it is known."""
        return []
