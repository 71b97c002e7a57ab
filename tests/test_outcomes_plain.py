"""How users fared, counted again in the plainest way over jobs of every fate; and what a run says at all."""

from math import inf, isnan
from random import Random

import numpy as np
import pytest

from gridtune.model.grid import Grid
from gridtune.model.job import DONE, RUNNING, Job
from gridtune.model.metrics.lost import Reckoning, left_over, lost, progress
from gridtune.model.metrics.registry import ALWAYS, METRICS, define_classes, define_sizes
from gridtune.model.metrics.summary import measured, summarise
from gridtune.model.metrics.users import UserOutcome, failed, outcomes
from gridtune.model.record import Missing, Stay
from gridtune.scenarios.results.headline import headline

NOW, SHORTEST = 50.0, 4.0
FATES = ("finish", "finish", "run", "wait", "reject", "expire", "cancel")


def some_jobs(draw, stay):
    """Jobs of three users in two classes, some of a stay, that end in every way."""
    jobs = []
    for number in range(14):
        submit, processors, runtime = draw.randint(0, 20), draw.randint(1, 3), draw.randint(1, 12)
        fate, mandatory = draw.choice(FATES), draw.random() < 0.6
        job = Job(number, draw.choice("abc"), float(submit), float(runtime), processors=processors,
                  kind=draw.choice(("x", "y")), mandatory=mandatory, deadline=draw.choice((inf, 30.0)),
                  estimate=float(draw.choice((runtime, runtime - 0.5))),
                  data=stay if draw.random() < 0.3 else None)  # fmt: skip
        if fate != "reject":
            job.queue(float(submit))
        if fate in ("finish", "run", "expire"):
            job.begin(submit + draw.choice((0.0, 3.0)))
            job.wasted = float(draw.choice((0, 5)))
        if fate in ("finish", "reject", "expire", "cancel"):
            getattr(job, fate)(submit + draw.choice((3.0, 15.0)))
        jobs.append(job)
    return jobs


@pytest.mark.parametrize("allocated", ["completed", "occupied"])
def test_everything_that_is_counted_of_users_and_their_classes(allocated):
    stay = Stay("a", 0.0, 40.0)
    for seed in range(25):
        jobs = some_jobs(Random(seed), stay)
        reckoning = Reckoning.of(jobs, NOW, 2.0, SHORTEST)

        def given(job):
            if allocated == "completed":
                return job.work if job.state is DONE else progress(job, NOW, 2.0)
            if job.state not in (DONE, RUNNING):
                return job.wasted
            return job.wasted + ((job.end if job.state is DONE else NOW) - job.start) * job.processors

        def times(job):
            if job.state is not DONE:
                return tuple(reckoning.times(job))  # noqa: B023
            response = job.end - job.submit
            return job.start - job.submit, response, max(1.0, response / max(job.runtime / 2.0, SHORTEST))

        found = outcomes(jobs, [], 4, 8.0, NOW, allocated=allocated, shortest=SHORTEST)
        assert list(found) == list(dict.fromkeys(job.user for job in jobs))
        for user, outcome in found.items():
            mine = [job for job in jobs if job.user == user]
            owed = [times(job) for job in mine if job.mandatory]
            assert np.array(outcome.times) == pytest.approx(np.array(owed), nan_ok=True)
            means = [sum(column) / len(owed) for column in zip(*owed, strict=True)] or [float("nan")] * 3
            assert [outcome.waiting_mean, outcome.response_mean, outcome.slowdown_mean] == pytest.approx(
                means, nan_ok=True
            )
            parts = {"": (outcome, mine)}
            parts |= {
                kind: (part, [job for job in mine if job.kind == kind])
                for kind, part in outcome.classes.items()
            }
            assert set(outcome.classes) == {job.kind for job in mine}
            for kind, (part, those) in parts.items():
                gone = [job for job in those if lost(job) or (kind and left_over(job))]
                assert (part.user, part.jobs) == (user, len(those))
                assert part.completed == sum(job.state is DONE for job in those)
                assert (part.lost_jobs, part.lost_work) == (len(gone), sum(job.work for job in gone))
                assert part.mandatory_failed == sum(failed(job, NOW) for job in those)
                assert part.allocated == pytest.approx(sum(map(given, those)))
            assert outcome.mandatory == len(owed)
            for kind, part in outcome.classes.items():
                those = parts[kind][1]
                asked = [job for job in those if job.mandatory or job.data is not stay]
                assert (part.kind, part.work) == (kind, sum(job.work for job in asked))
                assert part.owed_lost == sum(job.work for job in those if lost(job))
                known = [times(job) for job in those if job.state is DONE or job in asked]
                columns = (part.waitings, part.responses, part.slowdowns)
                assert pytest.approx(np.array(known).reshape(-1, 3)) == np.array(columns).T


@pytest.mark.parametrize(("deadline", "failed_jobs"), [(inf, 3), (60.0, 0), (50.0, 3), (49.0, 3)])
def test_jobs_that_were_never_submitted_are_lost_and_have_failed_once_it_is_too_late(deadline, failed_jobs):
    found = outcomes([], [Stay("b", 0.0, 9.0)], 0, 0.0, NOW, unsent=[Missing("a", 3, 7.0, deadline)])
    assert list(found) == ["b", "a"]
    outcome = found["a"]
    assert (outcome.lost_jobs, outcome.lost_work, outcome.mandatory) == (3, 7.0, 3)
    assert (outcome.mandatory_failed, outcome.unhappy, outcome.jobs) == (failed_jobs, failed_jobs > 0, 0)
    assert isnan(outcome.satisfaction)
    (part,) = outcome.classes.values()
    assert (part.kind, part.lost_jobs, part.owed_lost, part.work) == ("mandatory", 3, 7.0, 7.0)
    assert part.mandatory_failed == failed_jobs


@pytest.mark.parametrize("sizes", [False, True])
def test_what_a_run_will_say_is_known_as_soon_as_it_is_built(sizes, monkeypatch):
    monkeypatch.setitem(METRICS, "of_my_own", METRICS["makespan"])
    define_classes(["x"])
    define_sizes()
    grid = Grid()
    grid.add_slots(2)
    grid.record.classes, grid.record.sites = ("x",), {"s": 2} if sizes else {}
    grid.record.custom = {"of_my_own": lambda run: run.end}
    promised = measured(grid)
    for user, start in (("a", 1.0), ("b", 2.0)):
        job = grid.record.job(user, 0.0, runtime=4.0, kind="x", processors=1)
        job.queue(0.0)
        job.begin(start)
        job.finish(start + 4.0)
    grid.horizon = 20.0
    grid.run()
    found, users = summarise(grid)
    assert set(found) == set(promised)
    assert promised == [name for name in METRICS if name in promised]
    assert (found["of_my_own"].value, set(ALWAYS) <= set(found), set(users)) == (20.0, True, {"a", "b"})
    assert ("jobs.narrow-short" in found) == sizes
    if sizes:
        assert found["waiting_mean.narrow-short"].value == 1.5
    assert "of_my_own" not in summarise(grid, finished=False)[0]
    # Run times count as 10 s in slow-downs unless one says otherwise.
    assert found["slowdown_mean"].value == 1.0
    assert summarise(grid, shortest=1.0)[0]["slowdown_mean"].value == pytest.approx((5 / 4 + 6 / 4) / 2)


def test_where_nothing_can_run_lost_work_would_be_done_at_speed_one():
    job = Job(1, "a", 10.0, 8.0)
    found = outcomes([job], [], 0, 0.0, NOW, shortest=SHORTEST)["a"]
    assert found.times == [(NOW + 8 - 10, NOW + 8 + 8 - 10, (NOW + 6) / 8)]
    assert found.deserved == 0.0


def test_where_nothing_is_owed_nothing_has_failed():
    grid = Grid()
    grid.add_slots(1)
    job = grid.record.job("a", 0.0, runtime=4.0, mandatory=False)
    job.queue(0.0)
    grid.horizon = 9.0
    grid.run()
    found, users = summarise(grid)
    assert (found["failed_fraction"].value, found["lost_fraction"].value, len(users)) == (0.0, 0.0, 1)
    assert UserOutcome("a").deserved == 0.0
    assert summarise(Grid())[0]["shortfall_worst"].value == 0.0


@pytest.mark.parametrize("count", [0.0, 3.0])
def test_jobs_that_were_killed_at_their_limit_come_first_if_there_are_any(count):
    metrics = {
        name: {"mean": 1.0} for name in ("waiting_mean", "completed", *(f"made_{k}" for k in range(20)))
    }
    shown = headline(metrics | {"killed_by_limit": {"mean": count}, "refused": {"mean": None}})
    assert ("killed_by_limit" in shown) == bool(count)
    assert "refused" not in shown
