"""A pool gives one outcome per task, whatever happens to tasks and workers."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import groupby
from pathlib import Path

import pytest

import gridtune.scenarios.workers.pool as pool_module
from gridtune.scenarios.workers.local_workers import LocalProcesses, WorkerDiedError, Workers, interruptible
from gridtune.scenarios.workers.pool import Pool, TaskError
from tests.processes import PATIENCE, environment, heed_interrupts, until


def square(number):
    if number < 0:
        raise ValueError(f"{number} has no\n root here")
    return number * number


def touch_or_sleep(marker):
    if marker is None:
        time.sleep(10_000.0)
    marker.touch()


def process_of(_task):
    return os.getpid()


def die_once(task):
    """Kill the worker at the first call for a marked task."""
    number, marker = task
    if marker is not None and not Path(marker).exists():
        Path(marker).write_text("died")
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die_always(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die_while_sending(task):
    """Kill the worker at the first call, after a delay in which it may have begun to send a large result."""
    delay, marker = task
    if delay and not Path(marker).exists():
        Path(marker).touch()
        threading.Timer(delay, os.kill, (os.getpid(), signal.SIGKILL)).start()
    return bytes(20_000_000 if delay else 1)


def leave(number):
    if number == 3:
        sys.exit(7)
    return number


def unpicklable(number):
    return (lambda: number) if number == 2 else number


@pytest.mark.parametrize("jobs", [1, 2])
def test_outcomes_are_in_order_and_complete(jobs):
    with Pool(jobs) as pool:
        outcomes = pool.map(square, list(range(50)))
    assert [outcome.index for outcome in outcomes] == list(range(50))
    assert [outcome.value for outcome in outcomes] == [n * n for n in range(50)]


def test_tasks_without_an_outcome_are_dropped_once_it_is_to_stop(tmp_path):
    def late():
        return bool(list(tmp_path.iterdir()))

    with Pool(2) as pool:
        outcomes = list(pool.run(touch_or_sleep, [tmp_path / "there", None, None], late))
        assert [one.index for one in outcomes] in ([], [0]), "the others would have slept for hours"
        assert [one.value for one in pool.map(square, [3])] == [9], "the pool goes on"
    with Pool(1) as pool:
        assert not list(pool.run(touch_or_sleep, [None], late))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_task_fails_alone(jobs):
    with Pool(jobs) as pool:
        outcomes = pool.map(square, [1, -2, 3])
    assert [outcome.result for outcome in outcomes] == [1, None, 9]
    assert str(outcomes[1].failure) == "ValueError: -2 has no root here"
    assert "def square" not in outcomes[1].failure.message
    assert "square" in outcomes[1].failure.trace
    with pytest.raises(TaskError, match="-2 has no root here"):
        _ = outcomes[1].value


def test_one_job_runs_in_this_process_and_two_do_not():
    with Pool(1) as pool:
        assert {outcome.value for outcome in pool.run(process_of, [1, 2])} == {os.getpid()}
    with Pool(2) as pool:
        first = {outcome.value for outcome in pool.run(process_of, range(40))}
        second = {outcome.value for outcome in pool.run(process_of, range(40))}
    assert os.getpid() not in first | second
    assert len(first | second) <= 2, "workers should live on between batches"


def test_a_killed_worker_loses_no_task(tmp_path):
    tasks = [(n, None) for n in range(30)]
    tasks[7] = (7, str(tmp_path / "marker"))
    with Pool(2) as pool:
        outcomes = pool.map(die_once, tasks)
    assert (tmp_path / "marker").exists()
    assert [outcome.value for outcome in outcomes] == list(range(30))


def test_a_task_that_kills_its_worker_every_time_fails_and_no_other_does():
    made = (LocalProcesses(2) for _ in range(4))  # at first, and after three deaths: not for ever
    with Pool(2, lambda _: next(made), retries=1) as pool:
        outcomes = pool.map(die_always, list(range(12)))
        again = pool.map(square, [5])
    assert [outcome.index for outcome in outcomes if outcome.failure] == [3]
    assert outcomes[3].failure.kind == "WorkerDied"
    assert "2 times" in outcomes[3].failure.message
    assert [outcome.result for outcome in outcomes if not outcome.failure] == [n for n in range(12) if n != 3]
    assert again[0].value == 25


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_task_that_leaves_python_fails_alone(jobs):
    with Pool(jobs) as pool:
        outcomes = pool.map(leave, list(range(8)))
    assert [outcome.index for outcome in outcomes if outcome.failure] == [3]
    assert outcomes[3].failure.kind == "SystemExit"
    assert not outcomes[3].failure.internal


@pytest.mark.long
def test_a_worker_killed_while_it_sends_a_result_leaves_nobody_waiting(tmp_path):
    code = """
import sys
from tests.test_pool import Pool, die_while_sending
with Pool(2) as pool:
    for k in range(1, 9):
        tasks = [(0.004 * k, f"{sys.argv[1]}/{k}"), *[(0, "")] * 3]
        assert not any(outcome.failure for outcome in pool.map(die_while_sending, tasks))
"""
    run = [sys.executable, "-c", code, str(tmp_path)]
    subprocess.run(run, env=environment(), timeout=PATIENCE, check=True)


class Shared(Workers):
    """Workers that live on when one dies over some tasks, which costs what came after these, too."""

    def __init__(self, deaths, at_once=1):
        self.deaths, self.at_once = dict(deaths), at_once
        self.waiting = []  # calls that nobody has answered
        self.beside = []  # how many others were under way when a worker died
        self.killers = []  # tasks over which workers died

    def submit(self, fn, /, *args):
        answer = Future()
        self.waiting.append((answer, fn, args))
        return answer

    def count(self):
        return 2

    def check(self, finished):
        waiting, self.waiting = self.waiting, []
        for at, (_, _, (_, tasks)) in enumerate(waiting):
            killer = next((task for task in tasks if self.deaths.get(task)), None)
            if killer is not None:
                self.deaths[killer] -= 1
                self.killers.append(killer)
                self.beside.append(len(waiting) - 1)
                self.waiting = waiting[:at]
                for lost, _, _ in waiting[at:]:
                    lost.set_exception(WorkerDiedError(self.at_once))
                return
        for answer, fn, args in waiting:
            answer.set_result(fn(*args))


@pytest.mark.parametrize(
    ("deaths", "at_once", "failed"),
    [
        ({3: 4}, 1, ""),  # once among others, three times alone
        ({3: 5}, 1, "4 times"),
        ({3: 2}, 4, "4 times"),  # the cluster itself had tried it again
        ({3: 3, 5: 3}, 1, ""),
        ({2: 3, 3: 2}, 1, ""),
    ],
)
def test_a_task_runs_again_alone_as_often_as_it_may_where_workers_live_on(
    monkeypatch, deaths, at_once, failed
):
    monkeypatch.setattr(pool_module, "CHECK_SECONDS", 0.001)
    workers = Shared(deaths, at_once)
    with Pool(executor=lambda _: workers, retries=3) as pool:
        outcomes = pool.map(square, list(range(12)))
    assert [outcome.index for outcome in outcomes if outcome.failure] == ([3] if failed else [])
    assert not failed or failed in outcomes[3].failure.message
    alone = sum(deaths.values()) - (1 if len(deaths) == 1 else 2)
    assert workers.beside.count(0) >= alone, "a suspect had company"
    alone_over = [task for task, others in zip(workers.killers, workers.beside, strict=True) if not others]
    tried = [task for task, _ in groupby(alone_over)]
    assert len(tried) == len(set(tried)), "something ran between two tries of a suspect"


def test_a_result_that_cannot_be_sent_fails_alone():
    with Pool(2) as pool:
        pool.map(square, list(range(40)))  # lets chunks grow
        outcomes = pool.map(unpicklable, list(range(40)))
    assert [outcome.index for outcome in outcomes if outcome.failure] == [2]


@pytest.mark.long
def test_aborted_workers_leave_no_thread_behind():
    before = set(threading.enumerate())
    for _ in range(20):
        pool = Pool(2)
        outcomes = pool.run(time.sleep, [0, 60, 60])
        next(outcomes)
        pool.abort()
        left = set(threading.enumerate()) - before
        assert not left, "at the end of the process a thread that is still at work prints a traceback"


@pytest.mark.long
def test_workers_can_be_ended_in_the_middle_of_sending_a_result():
    for number in range(20):
        pool = Pool(2)
        outcomes = pool.run(bytes, [1, *[20_000_000] * 10])
        next(outcomes)
        time.sleep(0.005 * number)
        ending = threading.Thread(target=pool.abort, daemon=True)
        ending.start()
        ending.join(PATIENCE)
        assert not ending.is_alive()


def test_any_executor_will_do():
    with Pool(2, executor=ThreadPoolExecutor) as pool:
        assert [outcome.value for outcome in pool.map(square, [1, 2, 3])] == [1, 4, 9]


def test_no_workers_are_refused():
    with pytest.raises(ValueError, match="at least 1"):
        Pool(0)


SLEEPER = """
import os, sys, time
from pathlib import Path
from gridtune.scenarios.workers.pool import Pool
from gridtune.scenarios.workers.local_workers import interruptible

def sleep(folder):
    Path(folder, str(os.getpid())).touch()
    time.sleep(60)

if __name__ == "__main__":
    try:
        with interruptible(), Pool(2) as pool:
            pool.map(sleep, [sys.argv[1]] * 4)
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("sent", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGHUP, 130), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_workers_end_with_their_parent(tmp_path, sent, code):
    script = tmp_path / "sleeper.py"
    script.write_text(SLEEPER)
    pids = tmp_path / "pids"
    pids.mkdir()
    parent = subprocess.Popen(
        [sys.executable, script, pids],
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    )
    until(lambda: len(list(pids.iterdir())) == 2)
    parent.send_signal(sent)
    assert parent.wait(PATIENCE) == code
    assert "Traceback" not in parent.stderr.read()
    until(lambda: not any(_alive(int(path.name)) for path in pids.iterdir()))


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_an_interrupt_even_where_a_library_makes_another_error_of_it(sent):
    def compare():
        try:
            signal.raise_signal(sent)
        except KeyboardInterrupt:
            raise TypeError("cannot compare") from None

    with pytest.raises(KeyboardInterrupt), interruptible():
        compare()


def test_who_outlives_the_terminal_is_not_ended_by_it(monkeypatch):
    """As `nohup` starts a command."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_an_error_without_a_signal_stays_what_it_is():
    with pytest.raises(TypeError, match="cannot compare"), interruptible():
        raise TypeError("cannot compare")


INTERRUPTED_START = """
import os, signal, sys, time
from gridtune.scenarios.workers.pool import Pool

if __name__ == "__main__":
    os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        with Pool(2) as pool:
            pool.map(time.sleep, [60] * 4)
    except KeyboardInterrupt:
        sys.exit(130)
"""


def test_an_interrupt_while_workers_start_is_neither_lost_nor_a_traceback(tmp_path):
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED_START)
    done = subprocess.run(
        [sys.executable, script],
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        preexec_fn=heed_interrupts,
    )
    assert (done.returncode, done.stderr) == (130, "")


def test_a_worker_that_cannot_start_says_why(monkeypatch):
    def fork():
        raise OSError("no process left")

    monkeypatch.setattr(os, "fork", fork)
    with pytest.raises(OSError, match="no process left"), Pool(2) as pool:
        pool.map(square, [1, 2])


def _alive(pid):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
