"""The metrics of a small run, worked out by hand."""

from math import exp, inf, isnan, log, log10

import pytest

from gridtune.model.grid import Grid
from gridtune.model.job import Job
from gridtune.model.metrics.lost import Times
from gridtune.model.metrics.registry import NARROW, SHORT
from gridtune.model.metrics.summary import by_size, summarise


def ended(grid, now):
    """Metrics by name, once the clock stands at a time."""
    grid.horizon = now
    grid.run()
    metrics, _ = summarise(grid, shortest=1.0)
    return {name: metric.value for name, metric in metrics.items()}


def worked(grid, user, submit, start, end=None, **facts):
    job = grid.record.job(user, submit, **facts)
    job.queue(submit)
    job.begin(start)
    if end is not None:
        job.finish(end)
    return job


@pytest.fixture(scope="module")
def found():
    """Four slots of speed 2 until 20 s: two jobs of ann's are done, bob's runs, and cat's is refused."""
    grid = Grid()
    grid.add_slots(4, speed=2.0)
    grid.record.classes = ("batch", "sdj", "none")
    worked(grid, "ann", 1.0, 3.0, 7.0, runtime=8.0, processors=2, kind="batch")
    again = worked(grid, "ann", 2.0, 4.0, 10.0, runtime=12.0, kind="batch")
    again.kills, again.wasted, again.kept = 1, 3.0, 2.0
    worked(grid, "bob", 5.0, 15.0, runtime=16.0, processors=2, kind="batch")
    grid.record.job("cat", 6.0, 4.0, kind="sdj").reject(6.0)
    return ended(grid, 20.0)


def test_what_was_done_and_what_was_lost(found):
    expected = {
        "completed": 2, "completed_work": 16 + 12, "makespan": inf, "killed": 1, "wasted_work": 3,
        "lost_jobs": 2, "lost_work": 32 + 4, "lost_fraction": 36 / 64, "cut_off_fraction": 32 / 64,
        "never_submitted": 0, "execution_mean": (4 + 2 + 6) / 2,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_slots_are_used_from_the_first_submission_to_the_last_moment_of_work(found):
    held = 4 * 2 + 6 * 1 + 5 * 2
    assert found["utilisation"] == pytest.approx((held + 3 + 2) / (4 * (20 - 1)))
    assert found["goodput"] == pytest.approx((16 + 12 + 5 * 2 * 2) / (4 * (20 - 1) * 2))


def test_times_are_of_all_jobs_and_lost_ones_begin_after_the_end(found):
    begun = 20 + (16 + 4) / 2
    waitings = [2, 2 - 2, begun - 6, begun - 5]
    responses = [6, 8, begun + 2 - 6, begun + 8 - 5]
    slowdowns = [6 / 4, 8 / 6, 26 / 2, 33 / 8]
    expected = {
        "waiting_mean": sum(waitings) / 4, "waiting_p50": 13, "waiting_p95": 24.85, "waiting_p99": 24.97,
        "waiting_max": 25, "response_mean": sum(responses) / 4, "response_max": 33,
        "slowdown_mean": sum(slowdowns) / 4, "slowdown_mean_log": log10(sum(slowdowns) / 4),
        "slowdown_geometric": exp(sum(map(log, slowdowns)) / 4), "slowdown_max": 13,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_users_count_alike_however_many_jobs_they_have(found):
    ann, bob, cat = (6 / 4 + 8 / 6) / 2, 33 / 8, 13.0
    expected = {
        "failed_fraction": 2 / 4, "unhappy_users": 2, "unhappy_fraction": 2 / 3,
        "slowdown_worst": cat, "slowdown_worst_log": log10(cat), "slowdown_unfairness": cat - ann,
        "slowdown_excess": (ann + bob + cat) / 3 - 1,
        "slowdown_jain": 1 - (ann + bob + cat) ** 2 / (3 * (ann**2 + bob**2 + cat**2)),
        "shortfall_worst": 1.0,  # of cat, who waits in vain until the end
    }  # fmt: skip
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_classes_have_their_own_and_one_without_jobs_has_lost_nothing(found):
    expected = {
        "users.batch": 2, "jobs.batch": 3, "completed.batch": 2, "lost_jobs.batch": 1, "lost_work.batch": 32,
        "lost_fraction.batch": 32 / 60, "unhappy_users.batch": 1, "mandatory_failed.batch": 1,
        "waiting_mean.batch": (2 + 0 + 25) / 3, "waiting_p95.batch": 2 + 0.9 * 23, "waiting_max.batch": 25,
        "response_mean.batch": (6 + 8 + 33) / 3, "response_p95.batch": 8 + 0.9 * 25,
        "slowdown_mean.batch": (6 / 4 + 8 / 6 + 33 / 8) / 3,
        "owed_lost_fraction.batch": 32 / 60, "owed_lost_fraction.none": 0.0,
        "lost_fraction.sdj": 1.0, "satisfaction_mean.batch": (1 + 20 / 32) / 2,
        "users.none": 0, "jobs.none": 0, "lost_fraction.none": 0.0,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert isnan(found["satisfaction_mean.none"])
    assert isnan(found["waiting_max.none"])


def test_a_grid_in_which_nothing_happened_has_lost_nothing():
    found = ended(Grid(), 1.0)
    names = ("completed", "lost_fraction", "cut_off_fraction", "utilisation", "goodput", "makespan",
             "failed_fraction", "unhappy_fraction")  # fmt: skip
    assert {name: found[name] for name in names} == dict.fromkeys(names, 0.0)
    assert isnan(found["slowdown_worst"])
    assert isnan(found["waiting_max"])


def test_slots_that_held_what_was_lost_were_in_use_until_then():
    grid = Grid()
    grid.add_slots(2)
    worked(grid, "u", 0.0, 1.0, 5.0, runtime=4.0)
    worked(grid, "u", 0.0, 8.0, runtime=9.0, estimate=9.0).expire(12.0)
    found = ended(grid, 100.0)
    assert found["utilisation"] == pytest.approx((4 + 4) / (2 * 12))
    assert found["goodput"] == pytest.approx(4 / (2 * 12))


def test_jobs_are_narrow_and_short_up_to_and_including_the_limits():
    shapes = [(NARROW, SHORT), (NARROW + 1, SHORT), (NARROW, SHORT + 1), (NARROW + 1, SHORT + 1)]
    jobs = [Job(at, "u", 0.0, 2 * runtime, processors=width) for at, (width, runtime) in enumerate(shapes)]
    found = by_size(jobs, [Times(10.0 * at, 0.0, 1.0 + at) for at in range(4)], pace=2.0)
    sizes = ("narrow-short", "wide-short", "narrow-long", "wide-long")
    assert [found[f"jobs.{size}"].value for size in sizes] == [1, 1, 1, 1]
    assert [found[f"waiting_mean.{size}"].value for size in sizes] == [0, 10, 20, 30]
    assert [found[f"slowdown_mean.{size}"].value for size in sizes] == [1, 2, 3, 4]
