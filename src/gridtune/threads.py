"""Threads of linear algebra: one for each process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

NAMES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def single_threaded() -> None:
    """Do linear algebra in one thread, unless the user says otherwise; has to come before NumPy is imported.

    Processes are the parallelism: threads inside them get in each other's way, and the last digits of a
    result would hang on how many there are.
    """
    for name in NAMES:
        os.environ.setdefault(name, "1")


@contextmanager
def one_thread() -> Iterator[None]:
    """Do linear algebra in one thread while a block or a decorated function runs, as `single_threaded` does.

    For whoever imported NumPy before. The last digits of an answer are then those that a command prints.
    """
    if any(os.environ.get(name, "") not in ("", "1") for name in NAMES):
        yield
        return
    import scipy.linalg  # noqa: F401  # has threads of its own, which are not there before
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield
