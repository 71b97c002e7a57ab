"""A search ends after so many points, runs or seconds, or when nothing changes; whatever comes first."""

import pytest

from gridtune.optimize.budget import Budget, Meter, seconds_of
from gridtune.optimize.convergence import LEAST
from gridtune.optimize.search import search
from gridtune.scenarios import load
from gridtune.scenarios.errors import ScenarioError
from search_toys import VARY, noisy, toy_with_today

OBJECTIVES = ["unfairness", "completed"]


def done(budget, work=noisy, **more):
    """A search of the toy, and how many runs it took."""
    count = []

    def counted(task):
        count.append(task)
        return work(task)

    options = {"replications": 1, "max_replications": 4, "sampler": "random", "seed": 5} | more
    found = search(
        load("diet/day-regular"), budget=budget, vary=VARY, objectives=OBJECTIVES, work=counted,
        **options,
    )  # fmt: skip
    return found, len(count)


def known(found):
    """All that a search knows of its objectives."""
    return [(one.number, one.values, one.objectives, one.validated) for one in found.archive.evaluations]


@pytest.mark.parametrize("runs", [30, 150])
def test_a_budget_of_runs_is_kept_to_and_used(runs):
    found, count = done(Budget.of(None, runs=runs))
    assert 0.8 * runs <= count <= runs
    assert any(one.validated for one in found.archive.evaluations), "part of it is for fresh seeds"
    assert known(done(Budget.of(None, runs=runs))[0]) == known(found)


@pytest.mark.parametrize(
    ("more", "unit"),
    [
        ({"max_replications": 1}, 1),
        ({"max_replications": 1, "today": True, "work": toy_with_today}, 1),
        ({"max_replications": 4, "today": True, "work": toy_with_today}, 1),
        ({"max_replications": 2, "seeds": [1, 2]}, 2),
        ({"replications": 2, "today": True, "work": toy_with_today, "allow_loss": False}, 2),
    ],
)
def test_few_runs_are_spent_and_something_is_run_again(more, unit):
    for runs in range(8 * unit, 47, 5):
        found, count = done(Budget.of(None, runs=runs), **more)
        fresh = {one.number: one.fresh_replications for one in found.archive.evaluations}
        assert runs - 5 * unit <= count <= runs, runs
        assert sorted(fresh.values())[-2:-1] >= [2], "two points can be compared, on two streams"
        if found.archive.today is not None:
            assert fresh[found.archive.today] == max(fresh.values()), runs


def test_runs_that_suffice_for_no_search_are_refused(tmp_path):
    def refused(runs, **more):
        with pytest.raises(ScenarioError, match=f"runs {runs}: too few to search"):
            done(Budget.of(None, runs=runs), out=tmp_path / "none", **more)
        assert not (tmp_path / "none").exists()

    refused(1)
    refused(5)
    refused(11, seeds=[1, 2])
    assert done(Budget.of(None, runs=6))[1] == 6
    assert done(Budget.of(None, runs=2), validation_replications=0)[1] <= 2


def test_of_two_limits_the_first_ends_the_search():
    assert len([e for e in done(Budget.of(12, runs=1000))[0].archive.evaluations if e.host is None]) == 12
    assert done(Budget.of(1000, runs=40))[1] <= 40


def test_a_search_that_ends_by_runs_goes_on_to_the_same_end(tmp_path):
    whole = done(Budget.of(None, runs=120))[0]

    left = iter(range(50))

    def stopped(task):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return noisy(task)

    with pytest.raises(KeyboardInterrupt):
        done(Budget.of(None, runs=120), work=stopped, out=tmp_path)
    found = done(Budget.of(None, runs=120), out=tmp_path, resume=True)[0]
    assert known(found) == known(whole)


def test_time_ends_a_search(monkeypatch):
    now = [0.0]

    def slow(task):
        now[0] += 1.0
        return noisy(task)

    monkeypatch.setattr(Meter.__init__, "__defaults__", (lambda: now[0],))
    found, count = done(Budget.of(None, seconds=200.0), work=slow)
    assert 120 <= count <= 280  # what has begun is finished, and members are run again
    assert any(one.validated for one in found.archive.evaluations)


def test_a_search_ends_when_nothing_changes():
    found, _ = done(Budget.of(1000, converged=True))
    points = sum(one.host is None for one in found.archive.evaluations)
    assert LEAST <= points < 1000
    assert any("converged: the last" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("10m", 600), ("1.5h", 5400), ("1h30m", 5400)]
)
def test_durations_are_read(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "10 parsecs", "-3m", "1h!", "m"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ScenarioError, match="--time"):
        seconds_of(text)


@pytest.mark.parametrize(
    "wrong", [{"points": 0}, {"points": None, "runs": 0}, {"points": None, "seconds": 0.0}]
)
def test_a_budget_of_nothing_is_refused(wrong):
    with pytest.raises(ScenarioError):
        Budget.of(**wrong)
