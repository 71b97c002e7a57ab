"""Linear algebra takes one thread: processes are the parallelism."""

import pytest
import scipy.linalg  # noqa: F401  # has threads of its own
from threadpoolctl import threadpool_info, threadpool_limits

from gridtune.optimize.search import search
from gridtune.scenarios import load
from gridtune.threads import NAMES
from search_toys import VARY, toy


def threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.mark.parametrize(("said", "expected"), [((), {1}), (NAMES[:1], {2})])
def test_a_search_from_python_takes_one_thread_unless_told_otherwise(monkeypatch, said, expected):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    for name in said:
        monkeypatch.setenv(name, "2")
    seen = []

    def work(task):
        seen.append(threads())
        return toy(task)

    with threadpool_limits(2, user_api="blas"):
        search(load("diet/day-regular"), budget=2, vary=VARY, work=work, sampler="random")
        after = threads()
    assert seen
    assert all(one == expected for one in seen)
    assert after == {2}
