"""The number of runs that was asked for is never exceeded, whatever they are spent on."""

from functools import partial

import pytest

from gridtune.optimize.runs import stored
from gridtune.optimize.search import search
from gridtune.optimize.studies.stored_study import read_study
from gridtune.scenarios import load
from search_toys import VARY, toy_with_baseline

QUIET = partial(toy_with_baseline, scale=0.1)


def done(out, runs, work=QUIET, **more):
    """A search, how many runs it did itself, and how many the table has."""
    count = []

    def counted(task):
        count.append(task)
        return work(task)

    given = {"vary": VARY, "baseline": True, "replications": 2, "sampler": "random", **more}
    found = search(load("diet/day-regular"), runs=runs, out=out, work=counted, **given)
    assert found.simulated == len(count)
    return found, len(count), len(read_study(out).runs)


WAYS = {
    "plain": {},
    "many replications": {"replications": 5},
    "two cases": {"seeds": (5, 6)},
    "guarded": {"allow_loss": False, "allow_starvation": False},
    "guarded cases": {"allow_loss": False, "seeds": (5, 6)},
    "validated": {"validation_replications": 5},
    "hardly validated": {"validation_replications": 1},
    "not validated": {"validation_replications": 0},
}


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
def test_no_search_takes_more_runs_than_it_was_given(tmp_path, way):
    advised, more = 0, WAYS[way]
    each = more.get("replications", 2) * len(more.get("seeds", [1]))
    for runs in (49 * each, 130 * each + 1):
        found, count, rows = done(tmp_path / str(runs), runs, **more)
        assert count == rows == found.archive.simulated <= runs
        advised += len(found.archive.recommendations)
    assert advised or way == "not validated"


@pytest.mark.long
@pytest.mark.parametrize("more", [{}, {"seeds": (5, 6)}, {"validation_replications": 3}])
def test_the_runs_of_a_search_count_when_it_goes_on_with_more(tmp_path, more):
    """All that have been done, also those that the longer search has no use for."""
    known, values = 0, []
    for runs in (60, 61, 91, 150, 100):
        found, count, rows = done(tmp_path, runs, resume=known > 0, **more)
        assert known + count == rows <= max(runs, known)
        again = [one.values for one in found.archive.evaluations]
        assert again[: len(values)] == values or runs == 100, "what was found stays"
        known, values = rows, again
    assert len(stored.load(tmp_path).archive.evaluations) == len(values)


@pytest.mark.long
def test_a_search_that_is_stopped_while_it_goes_on_with_more_ends_as_if_it_was_not(tmp_path):
    def stopped(task, left):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return QUIET(task)

    for calls in (0, 50):
        out, whole = (tmp_path / f"{name}-{calls}" for name in ("out", "whole"))
        for folder in (out, whole):
            done(folder, 90)
        expected = done(whole, 200, resume=True)[0].archive
        with pytest.raises(KeyboardInterrupt):
            done(out, 200, resume=True, work=partial(stopped, left=iter(range(calls))))
        found, _, rows = done(out, 200, resume=True)
        assert repr(found.archive) == repr(expected)
        assert rows <= 200


@pytest.mark.long
def test_runs_of_a_search_that_time_ended_count(tmp_path, monkeypatch):
    """What it was in the middle of may be no part of the one that goes on."""
    now = [0.0]
    monkeypatch.setattr("gridtune.optimize.exploration.time.monotonic", lambda: now[0])

    def timed(task):
        now[0] += 1
        return QUIET(task)

    known = 0
    for seconds in (30, 60, 200):
        _, _, rows = done(tmp_path, 90, time=seconds, work=timed, resume=known > 0)
        assert known <= rows <= 90
        known = rows
