"""Worker processes: tasks go in, outcomes come out, whatever happens to a worker.

A `Pool` runs one function over many tasks on any `concurrent.futures.Executor`: processes of this machine
by default, the workers of a cluster if a factory of their executor is given
(`scenarios.workers.dask_workers`). Tasks travel in chunks of about a quarter of a second, so that tasks
of milliseconds keep the workers busy. What a task returns may not depend on how tasks were chunked or on
who ran them; then results do not depend on the number of workers.
"""

from __future__ import annotations

import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, TypeVar

from gridtune.model.plugins import place
from gridtune.model.policy import is_own
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.workers.local_workers import LocalProcesses, WorkerDiedError, Workers, stop

T = TypeVar("T")
R = TypeVar("R")

CHUNK_SECONDS = 0.25  # work that travels together, at most
CHUNK_TASKS = 64
CHECK_SECONDS = 1.0  # between two looks at whether there are workers at all, where these come and go


class TaskError(RuntimeError):
    """The value of a task that failed was asked for, or it failed by a fault of gridtune.

    Attributes:
        trace: where it failed.
    """

    trace = ""


@dataclass(frozen=True)
class Failure:
    """Why a task has no result.

    Attributes:
        kind: name of the exception, or `WorkerDied`.
        message: in one line.
        trace: where it was raised; "" if unknown.
        internal: whether it is a fault of gridtune, as neither input nor a policy of others explains it.
    """

    kind: str
    message: str
    trace: str = ""
    internal: bool = False

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


@dataclass(frozen=True)
class Outcome(Generic[R]):
    """What became of a task.

    Attributes:
        index: of the task among those given.
        result: what it returned; None if it failed.
        failure: why it failed; None if it did not.
    """

    index: int
    result: R | None
    failure: Failure | None = None

    @property
    def value(self) -> R:
        """The result.

        Raises:
            TaskError: the task failed.
        """
        if self.failure is not None:
            raise TaskError(str(self.failure))
        return self.result  # type: ignore[return-value]


class Pool:
    """Workers that live as long as the pool, and are replaced when they die.

    A worker that is killed costs nothing but time: the tasks that were under way are run again one by one,
    so that the one that kills its worker is found; it fails if that happens more than `retries` times while
    nothing else is under way.

    Args:
        jobs: workers; 1 without an executor runs tasks in this process.
        executor: makes an executor with that many workers (of a cluster: with those there are); local
            processes if left out.
        retries: how often a task may lose its worker while it runs alone.

    Raises:
        ValueError: less than one worker.
    """

    def __init__(
        self, jobs: int = 1, executor: Callable[[int], Executor] | None = None, *, retries: int = 3
    ) -> None:
        if jobs < 1:
            raise ValueError(f"{jobs} worker processes: at least 1 is needed")
        self.jobs = jobs
        self.retries = retries
        self._make = executor or (LocalProcesses if jobs > 1 else None)
        self._executor: Executor | None = None
        self._task_seconds: float | None = None
        self._finished = 0

    def map(self, work: Callable[[T], R], tasks: Sequence[T]) -> list[Outcome[R]]:
        """Run all tasks, and wait for them.

        Args:
            work: the function that is called with each task; see `run`.
            tasks: the tasks; see `run`.

        Returns:
            An outcome for each task, in the order of the tasks.
        """
        return sorted(self.run(work, tasks), key=lambda outcome: outcome.index)

    def run(
        self, work: Callable[[T], R], tasks: Sequence[T], stop: Callable[[], bool] = lambda: False
    ) -> Iterator[Outcome[R]]:
        """Run all tasks, and give each outcome as soon as it is there.

        Args:
            work: the function that is called with each task, importable from its module if workers are
                processes. An exception makes that task fail and no other.
            tasks: the tasks, picklable if workers are processes.
            stop: is asked now and then; once it says so, tasks without an outcome are dropped.

        Returns:
            An iterator over the outcomes, in the order in which tasks end.
        """
        if self._make is None:
            return _in_process(work, tasks, stop)
        return _Dispatch(self, work, tasks, stop).outcomes()

    def close(self) -> None:
        """Let the workers go, after what they are doing."""
        if self._executor is not None:
            self._executor.shutdown(wait=True)
            self._executor = None

    def abort(self) -> None:
        """End the workers at once; the next `run` starts new ones."""
        if self._executor is not None:
            stop(self._executor)
            self._executor = None

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self.abort()

    def _start(self) -> Executor:
        """The executor, made if there is none."""
        if self._executor is None:
            assert self._make is not None
            self._executor = self._make(self.jobs)
        if isinstance(self._executor, Workers):
            self.jobs = self._executor.count()
        return self._executor

    def _submit(self, work: Callable[[T], R], tasks: Sequence[T]) -> Future[tuple[list[R | Failure], float]]:
        executor = self._executor or self._start()
        return executor.submit(run_chunk, work, tasks)

    def _learn(self, seconds: float, tasks: int) -> None:
        """Remember how long a task takes, the latest counting most."""
        self._finished += tasks
        mean = seconds / tasks
        self._task_seconds = mean if self._task_seconds is None else 0.7 * self._task_seconds + 0.3 * mean

    def _chunk(self, waiting: int) -> int:
        """How many of the waiting tasks to send together; fewer towards the end, to finish evenly."""
        if self._task_seconds is None:
            return 1
        limit = min(CHUNK_TASKS, CHUNK_SECONDS / max(self._task_seconds, 1e-6))
        return max(1, min(int(limit), waiting // (4 * self.jobs)))


class _Dispatch(Generic[T, R]):
    """One batch of tasks on its way through a pool."""

    def __init__(
        self, pool: Pool, work: Callable[[T], R], tasks: Sequence[T], stop: Callable[[], bool]
    ) -> None:
        self.pool, self.work, self.tasks, self.stop = pool, work, tasks, stop
        self.waiting: deque[int] = deque(range(len(tasks)))
        self.suspects: deque[int] = deque()  # were under way when a worker died: from now on each alone
        self.alone = False  # whether what is under way is such a task
        self.deaths: dict[int, int] = {}  # of workers, while a task ran alone
        pool._start()
        self.under_way: dict[Future[tuple[list[R | Failure], float]], list[int]] = {}

    def outcomes(self) -> Iterator[Outcome[R]]:
        try:
            while (self.waiting or self.suspects or self.under_way) and not self.stop():
                lost = self._send()
                for future in self._answered():
                    indices = self.under_way.pop(future)
                    try:
                        results, seconds = future.result()
                    except BrokenExecutor:
                        lost += indices
                    except WorkerDiedError as error:
                        yield from self._blame(indices, error.deaths)
                    except ScenarioError:  # of the executor: tasks keep their errors to themselves
                        raise
                    except Exception as error:  # could not be pickled, there or back
                        if len(indices) > 1:
                            self.suspects.extend(indices)
                        else:
                            yield Outcome(indices[0], None, _failure(error))
                    else:
                        self.pool._learn(seconds, len(indices))
                        for index, result in zip(indices, results, strict=True):
                            yield _outcome(index, result)
                if lost:
                    yield from self._recover(lost)
        finally:
            if self.under_way:
                self.pool.abort()

    def _answered(self) -> set[Future[tuple[list[R | Failure], float]]]:
        """What is done of what is under way: at least one, if there is any and it is not to stop."""
        executor = self.pool._executor
        done: set[Future[tuple[list[R | Failure], float]]] = set()
        while self.under_way and not done and not self.stop():
            done = wait(self.under_way, CHECK_SECONDS, FIRST_COMPLETED).done
            if isinstance(executor, Workers | LocalProcesses) and not done:
                executor.check(self.pool._finished)
        return done

    def _send(self) -> list[int]:
        """Keep the workers supplied; returns what a broken executor refused."""
        while not (self.under_way and (self.suspects or self.alone)):
            self.alone = bool(self.suspects)
            if self.suspects:
                indices = [self.suspects.popleft()]
            elif self.waiting and len(self.under_way) < 2 * self.pool.jobs:
                size = self.pool._chunk(len(self.waiting))
                indices = [self.waiting.popleft() for _ in range(min(size, len(self.waiting)))]
            else:
                break
            try:
                future = self.pool._submit(self.work, [self.tasks[index] for index in indices])
            except BrokenExecutor:
                return indices
            self.under_way[future] = indices
        return []

    def _recover(self, lost: list[int]) -> Iterator[Outcome[R]]:
        """Start anew after the death of a worker."""
        for indices in self.under_way.values():
            lost += indices
        self.under_way.clear()
        self.pool.abort()
        yield from self._blame(lost, 1)

    def _blame(self, indices: list[int], deaths: int) -> Iterator[Outcome[R]]:
        """Run tasks that lost their worker again, each alone; fail one that lost it too often alone."""
        if not self.alone:
            self.suspects.extend(indices)
            return
        (culprit,) = indices
        self.deaths[culprit] = times = self.deaths.get(culprit, 0) + deaths
        if times <= self.pool.retries:
            self.suspects.appendleft(culprit)  # at once, on workers that nothing else has run on
        else:
            reason = f"its worker process was killed or crashed {times} times; out of memory?"
            yield Outcome(culprit, None, Failure("WorkerDied", reason))


def run_chunk(work: Callable[[T], R], tasks: Sequence[T]) -> tuple[list[R | Failure], float]:
    """What a worker does: results of some tasks, and the seconds they took together."""
    start = time.perf_counter()
    results: list[R | Failure] = []
    for task in tasks:
        try:
            results.append(work(task))
        except (Exception, SystemExit) as error:
            results.append(_failure(error))
    return results, time.perf_counter() - start


def _in_process(work: Callable[[T], R], tasks: Sequence[T], stop: Callable[[], bool]) -> Iterator[Outcome[R]]:
    for index, task in enumerate(tasks):
        if stop():
            return
        results, _ = run_chunk(work, [task])
        yield _outcome(index, results[0])


def _outcome(index: int, result: R | Failure) -> Outcome[R]:
    return Outcome(index, None, result) if isinstance(result, Failure) else Outcome(index, result)


def _failure(error: BaseException) -> Failure:
    message = " ".join(str(error).split()) or "no further details"
    where = place(error)
    if where and is_own(type(error)):  # ours say it themselves
        message = f"{message} ({where})"
    internal = not where and not isinstance(error, ValueError | OSError | MemoryError | SystemExit)
    return Failure(type(error).__name__, message, "".join(traceback.format_exception(error)), internal)
