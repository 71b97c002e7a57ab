"""Runs leave nothing behind in the process that makes them."""

import gc
from pathlib import Path

import pytest

from gridtune.scenarios import load, simulate

STATM = Path("/proc/self/statm")


def resident():
    """MiB of this process in memory."""
    gc.collect()
    return int(STATM.read_text().split()[1]) * 4096 / 2**20


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
