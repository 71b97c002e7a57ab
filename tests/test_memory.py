"""Runs leave nothing behind in the process that makes them, and commands need little memory."""

import gc
from pathlib import Path

import pytest

from gridtune.scenarios import load, simulate
from tests.test_cli import gridtune

STATM = Path("/proc/self/statm")


def resident():
    """MiB of this process in memory."""
    gc.collect()
    return int(STATM.read_text().split()[1]) * 4096 / 2**20


@pytest.mark.long
@pytest.mark.skipif(not STATM.exists(), reason="the memory of a process is read from /proc")
def test_five_hundred_runs_do_not_grow_the_process():
    # Cut off in the middle, so that clients and their requests are still there when a grid is closed.
    scenario = load("diet/day-regular").override({"horizon": 8.0})
    for seed in range(100):
        simulate(scenario, seed)
    before = resident()
    for seed in range(400):
        simulate(scenario, seed)
    assert resident() - before < 4


@pytest.mark.long
@pytest.mark.parametrize("name", ["batch/replay", "dirac/search", "diet/day-regular", "deadline/search"])
def test_what_a_run_made_is_freed_without_the_garbage_collector(name):
    scenario = load(name)
    simulate(scenario)

    def left():
        """Objects that only the collector frees, as a share of the jobs."""
        gc.collect()
        gc.disable()
        try:
            run = simulate(scenario)
            jobs = len(run.record.jobs)
            assert jobs > 100
            del run
            return gc.collect() / jobs
        finally:
            gc.enable()

    # Threads of tests that ran before may leave something of their own.
    assert min(left() for _ in range(3)) < 0.1


@pytest.mark.long
def test_commands_work_in_4_gb_of_address_space(tmp_path):
    """Those that no other test starts so: all that tests start as processes have no more."""
    made, trace = tmp_path / "run", tmp_path / "log.swf"
    trace.write_text("1 0 5 10 2 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1\n")
    for words in (
        ("run", "diet/day-regular", "--events", "--out", made),
        ("plot", made, "gantt", "--out", tmp_path / "gantt.png"),
        ("compare", made, made),
        ("trace", "info", trace),
    ):
        done = gridtune(*words)
        assert (done.returncode, done.stderr) == (0, "")
