"""Local worker processes: how they start, what they ignore, and how they end."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any, ParamSpec, TypeVar

from gridtune.signals import ending_signals
from gridtune.threads import single_threaded

P = ParamSpec("P")
R = TypeVar("R")

ORPHAN_CHECK = 1.0  # s between two looks of a worker at whether its parent lives


class WorkerDiedError(RuntimeError):
    """Workers died over a task, and the executor lives on; raised by the task's future.

    Args:
        deaths: how many workers.
    """

    def __init__(self, deaths: int) -> None:
        super().__init__(f"{deaths} workers died over a task")
        self.deaths = deaths


class Workers(Executor):
    """An executor whose workers come and go."""

    @abstractmethod
    def count(self) -> int:
        """Workers there are now, at least 1."""

    @abstractmethod
    def check(self, finished: int) -> None:
        """Say so if there are no workers to wait for; called now and then while none answers.

        Args:
            finished: tasks that are done so far.

        Raises:
            ScenarioError: there have been none for too long.
        """


class LocalProcesses(ProcessPoolExecutor):
    """Processes of this machine, which can be ended at once.

    Args:
        jobs: processes.
    """

    def __init__(self, jobs: int) -> None:
        single_threaded()
        self.started: list[BaseProcess] = []
        super().__init__(
            jobs, mp_context=_context(self.started), initializer=_start_worker, initargs=(os.getpid(),)
        )

    def submit(self, work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Run a call on one of the processes; the first call starts them."""
        with _interrupts_held():
            return super().submit(work, *args, **kwargs)

    def kill(self) -> None:
        """End all processes, whatever they are doing.

        Waits for the executor's own thread, too: one that is still clearing up when the interpreter ends may
        print a traceback.
        """
        self._end()
        self.shutdown(wait=True, cancel_futures=True)

    def check(self, finished: int) -> None:
        """End all if one has died: the executor may be waiting for the rest of its result."""
        if not all(process.is_alive() for process in self.started):
            self._end()

    def _end(self) -> None:
        started = [process for process in self.started if process.pid]  # the system may have refused the last
        for process in started:
            process.kill()
        for process in started:
            process.join()
        # A process killed while it sent a result leaves half of it; its reader must see that no more comes.
        results: Any = self._result_queue
        results._writer.close()


def stop(executor: Executor) -> None:
    """End an executor without waiting for its tasks, as far as it can be done."""
    if isinstance(executor, LocalProcesses):
        executor.kill()
    else:
        executor.shutdown(wait=False, cancel_futures=True)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C and other `ending_signals` end the block by a `KeyboardInterrupt`, whatever else they cause.

    A library's C code may replace the exception of a signal's handler by one of its own: NumPy does so while
    it compares structured arrays. Does nothing outside the main thread, where handlers cannot be set.
    """
    came = False

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        nonlocal came
        came = True
        raise KeyboardInterrupt

    with _handled(interrupt, *ending_signals()):
        try:
            yield
        except Exception as error:
            if came:
                raise KeyboardInterrupt from error
            raise


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let Ctrl-C and other `ending_signals` wait for the end of the block.

    An interrupt in the middle of a fork leaves a process half made, or is swallowed by the hooks that Python
    runs around a fork. Does nothing outside the main thread.
    """
    held: list[int] = []

    def hold(number: int, _frame: FrameType | None) -> None:
        held.append(number)

    try:
        with _handled(hold, *ending_signals()):
            yield
    finally:
        if held:
            signal.raise_signal(held[0])


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None], *numbers: signal.Signals) -> Iterator[None]:
    """Have signals handled in this way within the block, if it is in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _context(started: list[BaseProcess]) -> BaseContext:
    """A context that notes every process it makes.

    Fork where there is one: a worker then has everything imported. The context is explicit because
    `import mesa` sets the default to spawn.
    """
    methods = multiprocessing.get_all_start_methods()
    base: Any = type(multiprocessing.get_context("fork" if "fork" in methods else "spawn"))

    class Noting(base):
        def Process(self, *args: Any, **kwargs: Any) -> BaseProcess:  # noqa: N802
            process: BaseProcess = base.Process(*args, **kwargs)
            started.append(process)
            return process

    context: BaseContext = Noting()
    return context


def _start_worker(parent: int) -> None:
    """Make a new process a worker: the parent answers to signals, and its end is the worker's."""
    for number in ending_signals():
        signal.signal(number, signal.SIG_DFL if number == signal.SIGTERM else signal.SIG_IGN)
    gc.freeze()  # what the parent had is never garbage here
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process when its parent is gone: a killed parent cannot say goodbye."""
    while os.getppid() == parent:
        time.sleep(ORPHAN_CHECK)
    with suppress(ProcessLookupError):
        os.kill(os.getpid(), signal.SIGKILL)
