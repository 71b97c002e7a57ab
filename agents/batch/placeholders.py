"""Tasks that placeholders (pilots, leases) do at a batch site while they hold its processors."""

from __future__ import annotations

from gridtune.agents.batch.services import Ended
from gridtune.model.agenda import COMPLETION
from gridtune.model.infrastructure.lane import Timer
from gridtune.model.job import Job


class PlaceholderTasks:
    """What is being computed within placeholders, by these and by task."""

    def __init__(self) -> None:
        self._events: dict[int, dict[int, int]] = {}  # ends of tasks, by placeholder and task
        self._tasks: dict[int, tuple[Job, Ended]] = {}  # placeholders, and who is told, by task

    def begin(self, job: Job, task: Job, seconds: float, timer: Timer, then: Ended) -> None:
        """A placeholder begins a task of so many s; `then` is called with the task at its end."""
        event = timer.after(seconds, self._done, task, COMPLETION)
        self._events.setdefault(job.id, {})[task.id] = event
        self._tasks[task.id] = job, then

    def drop(self, job: Job, timer: Timer) -> None:
        """A placeholder has left: what it was doing comes to no end."""
        for task, event in self._events.pop(job.id, {}).items():
            del self._tasks[task]
            timer.cancel(event)

    def _done(self, task: Job) -> None:
        job, then = self._tasks.pop(task.id)
        del self._events[job.id][task.id]
        then(task)
