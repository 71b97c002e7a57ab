"""A search ends after so many configurations, runs or seconds, or when nothing changes; the first counts."""

import zlib
from time import sleep

import pytest

from gridtune.optimize.config import SearchConfig, seconds_of
from gridtune.optimize.exploration import LEAST
from gridtune.optimize.runs.table import FIRST_VALIDATION
from gridtune.optimize.search import search
from gridtune.optimize.search_space.space import key
from gridtune.scenarios import load
from gridtune.scenarios.errors import ScenarioError
from search_toys import VARY, noisy, toy_with_baseline

OBJECTIVES = ["unfairness", "completed"]


def done(work=noisy, **options):
    """A search of the toy, and how many runs it took."""
    count = []

    def counted(task):
        count.append(task)
        return work(task)

    options = {"replications": 1, "sampler": "random", "seed": 5} | options
    found = search(load("diet/day-regular"), vary=VARY, objectives=OBJECTIVES, work=counted, **options)
    assert found.simulated == len(count)
    return found, len(count)


def slow_but_few(task):
    """The toy, in which one policy takes hours."""
    if task.values.get("client.dispatch") == "legacy":
        sleep(10_000.0)
    return toy_with_baseline(task)


def known(found):
    """All that a search knows of its objectives."""
    return [(one.number, one.values, one.objectives, one.validated) for one in found.archive.evaluations]


@pytest.mark.long
@pytest.mark.parametrize("runs", [30, 150])
def test_a_budget_of_runs_is_kept_to_and_used(runs):
    found, count = done(runs=runs)
    assert 0.8 * runs <= count <= runs
    assert any(one.validated for one in found.archive.evaluations), "part of it is for validation seeds"
    assert known(done(runs=runs)[0]) == known(found)


@pytest.mark.long
@pytest.mark.parametrize(
    ("more", "unit"),
    [
        ({}, 1),
        ({"baseline": True, "work": toy_with_baseline}, 1),
        ({"baseline": True, "work": toy_with_baseline, "validation_replications": 4}, 1),
        ({"seeds": [1, 2]}, 2),
        ({"seeds": [1, 2], "baseline": True, "work": toy_with_baseline, "validation_replications": 3}, 2),
        ({"replications": 2, "baseline": True, "work": toy_with_baseline, "allow_loss": False}, 2),
    ],
)
def test_few_runs_are_spent_and_something_is_run_again(more, unit):
    again = more.get("validation_replications", 2)
    for runs in range(2 * unit * (1 + again) + 2, 47, 5):
        found, count = done(runs=runs, **more)
        validation = {one.number: one.validation_replications for one in found.archive.evaluations}
        assert runs - 5 * unit <= count <= runs, runs
        assert sorted(validation.values())[-2] >= again, (
            "two configurations can be compared, on two replications"
        )
        if found.archive.baseline is not None:
            assert validation[found.archive.baseline] == max(validation.values()), runs


@pytest.mark.parametrize(("part", "seed", "runs"), [(2, 3, 60), (2, 5, 40), (3, 3, 40)])
def test_runs_that_fail_on_validation_seeds_are_not_repeated(part, seed, runs):
    done = []

    def failing(task):
        done.append((key(task.values), task.replication))
        own = zlib.crc32(key(task.values).encode())
        if task.replication >= FIRST_VALIDATION and task.values and own % part == 0:
            raise RuntimeError("a validation seed")
        return toy_with_baseline(task, 10.0)

    search(
        load("diet/day-regular"), vary=VARY, objectives=["unhappy_users", "unfairness"], work=failing,
        baseline=True, replications=1, sampler="tpe", runs=runs, seed=seed,
    )  # fmt: skip
    assert len({*done}) == len(done) <= runs


def test_where_nothing_is_validated_the_search_takes_all_runs():
    for runs in (2, 30, 150):
        found, count = done(runs=runs, validation_replications=0)
        assert count == len(found.archive.evaluations) == runs


def test_what_many_validation_replications_take_is_left_to_them():
    validation = [
        one.validation_replications
        for one in done(runs=200, validation_replications=25)[0].archive.evaluations
    ]
    assert validation.count(25) >= 2


def test_runs_that_suffice_for_no_search_are_refused(tmp_path):
    def refused(runs, **more):
        with pytest.raises(ScenarioError, match=f"runs {runs}: too few to search"):
            done(runs=runs, out=tmp_path / "none", **more)
        assert not (tmp_path / "none").exists()

    refused(1)
    refused(5)
    refused(11, seeds=[1, 2])
    refused(9, validation_replications=4)
    refused(1, validation_replications=0)
    assert done(runs=6)[1] == 6


@pytest.mark.long
def test_of_two_limits_the_first_ends_the_search():
    assert len(done(budget=12, runs=1000)[0].archive.evaluations) == 12
    assert done(budget=1000, runs=40)[1] <= 40


@pytest.mark.long
def test_a_search_that_ends_by_runs_goes_on_to_the_same_end(tmp_path):
    whole, count = done(runs=120)

    left = iter(range(50))

    def stopped(task):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return noisy(task)

    with pytest.raises(KeyboardInterrupt):
        done(runs=120, work=stopped, out=tmp_path)
    found, rest = done(runs=120, out=tmp_path, resume=True)
    assert known(found) == known(whole)
    assert rest == count - 50


@pytest.mark.long
def test_time_ends_a_search(monkeypatch):
    now = [0.0]

    def slow(task):
        now[0] += 1.0
        return noisy(task)

    monkeypatch.setattr("gridtune.optimize.exploration.time.monotonic", lambda: now[0])
    found, count = done(time=200.0, work=slow)
    assert 120 <= count <= 210  # what has begun is finished
    assert any(one.validated for one in found.archive.evaluations)


@pytest.mark.long
def test_time_ends_a_search_whose_configurations_take_far_longer_than_its_baseline(tmp_path):
    options = {"vary": VARY, "objectives": OBJECTIVES, "replications": 2, "sampler": "random", "seed": 5}
    options |= {"baseline": True, "out": tmp_path}
    found = search(load("diet/day-regular"), work=slow_but_few, jobs=2, time=4.0, **options)
    kept = found.archive.evaluations
    assert [one.number for one in kept] == list(range(len(kept))), "trials are counted without gaps"
    assert 1 <= len(kept) < 10, "runs of hours were under way, and are given up"
    longer = search(load("diet/day-regular"), work=toy_with_baseline, budget=20, resume=True, **options)
    assert [one.values for one in longer.archive.evaluations[: len(kept)]] == [one.values for one in kept]
    assert len(longer.archive.evaluations) >= 20


@pytest.mark.long
def test_a_search_ends_when_nothing_changes():
    found, _ = done(budget=1000, converged=True)
    assert LEAST <= len(found.archive.evaluations) < 1000
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
    ("wrong", "message"),
    [
        ({"budget": 0}, "budget 0: .* 1$"),
        ({"runs": 0}, "runs 0: .* 1$"),
        ({"time": 0.0}, "time 0: .* above 0$"),
        ({"time": float("inf")}, "time inf: .* above 0$"),
        ({"n_trials": 3}, "n_trials: .* budget$"),
        ({"budgets": 3}, r"budgets: .* budget\?$"),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(wrong, message):
    with pytest.raises(ScenarioError, match=message):
        SearchConfig.of(**wrong)


def test_one_run_is_no_runs():
    assert SearchConfig.of(budget=1, runs=1).ends == "1 configuration or 1 run"
