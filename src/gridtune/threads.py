"""Threads of linear algebra: one for each process."""

from __future__ import annotations

import os

NAMES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def single_threaded() -> None:
    """Do linear algebra in one thread, unless the user says otherwise; has to come before NumPy is imported.

    Processes are the parallelism: threads inside them get in each other's way, and the last digits of a
    result would hang on how many there are.
    """
    for name in NAMES:
        os.environ.setdefault(name, "1")
