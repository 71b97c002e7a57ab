"""What tests that start, watch and end other processes share."""

import os
import signal
import time
from pathlib import Path

TESTS = Path(__file__).parent
PLACES = (TESTS.parent / "src", TESTS.parent, TESTS)
PATIENCE = 60  # s; far more than needed, so that only what never happens runs into it


def until(condition, process=None, period=0.02):
    """Wait for a condition, looked at every `period` s. Fail if it never comes about or its process ends."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if process is not None:
            assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < end, "waited too long"
        time.sleep(period)


def environment(**more):
    """Of a child that can import the project and the modules of its tests."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PLACES)), **more}


def heed_interrupts():
    """In a child: Ctrl-C works even where it is ignored, as in a shell's background jobs."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
