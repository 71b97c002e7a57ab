"""Predicted run times: what plans rest on, how they are corrected, and that limits stay those of promises."""

import random

import pytest

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.predictor import Predictor, Told
from gridtune.model.batch.nodes import Counted
from gridtune.model.grid import Grid
from gridtune.model.job import DONE, EXPIRED
from gridtune.model.policy import PolicyError, make
from gridtune.model.prediction.run_times import Actual, Ended, LastRuns, MeanRatio
from gridtune.scenarios import ScenarioError, load, simulate
from tests.test_batch_priority import CAPACITY, random_works

POLICIES = [
    "easy",
    "conservative",
    {"kind": "priority", "rule": "sjf"},
    {"kind": "priority", "reservations": 3},
]


def play(works, capacity, policy, prediction, **facts):
    """Run works (submit, runtime, processors, estimate, user) through a site that predicts."""
    grid = Grid(keep_events=True)
    site = BatchSite(grid, "site", Counted(capacity), make("batch", policy), **facts)
    if prediction is not None:
        Predictor(site, prediction)

    def arrive(work):
        submit, runtime, processors, estimate, user = work
        site.submit(grid.record.job(user, submit, runtime, processors=processors, estimate=estimate))

    grid.agenda.feed((work[0], arrive, work) for work in works)
    grid.run()
    return grid


def times(grid):
    return [(job.start, job.end) for job in grid.record.jobs]


def test_a_prediction_is_the_mean_of_the_last_runs_or_part_of_the_promise():
    class Promising:
        estimate, runtime = 100.0, 33.0

    past = [Ended(10.0, 100.0), Ended(20.0, 40.0)]
    assert LastRuns().runtime(Promising, past) == 15.0
    assert MeanRatio().runtime(Promising, past) == pytest.approx(30.0)
    assert Actual().runtime(Promising, past) == 33.0
    assert LastRuns().runtime(Promising, []) == MeanRatio().runtime(Promising, []) == 100.0
    assert [LastRuns().corrected(10.0, times) for times in (1, 2, 11, 12)] == [70, 310, 360_010, 360_010]


# Ann's jobs promise 100 s and take 10; the head of the queue is promised to start when hers end.
HISTORY = [(0, 10, 1, 100, "ann"), (20, 10, 1, 100, "ann")]


def test_what_users_did_before_is_planned_for_what_they_do_next():
    # At 40 ann's third job is planned to end at 50, not at 140: bob's wide job would start then, and carl's
    # job of 60 s, which fits beside ann's, would delay it.
    works = [*HISTORY, (40, 10, 1, 100, "ann"), (41, 5, 2, 5, "bob"), (42, 60, 1, 60, "carl")]
    promised = play(works, 2, "easy", None)
    predicted = play(works, 2, "easy", LastRuns())
    assert times(promised)[2:] == [(40, 50), (102, 107), (42, 102)]
    assert times(predicted)[2:] == [(40, 50), (50, 55), (55, 115)]
    # All were right, but for the first: ann promised 100 s.
    assert predicted.record.measures["prediction_accuracy"]() == pytest.approx((0.1 + 4.0) / 5)
    assert predicted.record.measures["exceeded_predictions"]() == 0.0


def test_a_prediction_that_is_exceeded_is_corrected_and_no_job_is_killed_for_it():
    # Ann's third job takes 90 s. Planned to end at 50, it is planned for 40 + 10 + 60 s = 110 then, and for
    # its promise, 140, after that. Carl's 55 s, at 45 too long for the hole, fit into it at 50: until 105.
    works = [*HISTORY, (40, 90, 1, 100, "ann"), (41, 5, 2, 5, "bob"), (45, 55, 1, 55, "carl")]
    for overrun in ("extend", "kill"):
        grid = play(works, 2, "easy", LastRuns(), overrun=overrun)
        assert times(grid)[2:] == [(40, 130), (130, 135), (50, 105)]
        assert all(job.state is DONE for job in grid.record.jobs)
        assert Told.of(grid).exceeded == pytest.approx(0.2)
    late = play([*works[:-1], (45, 30, 1, 70, "carl"), (60, 25, 1, 25, "dora")], 2, "easy", LastRuns())
    assert times(late)[2:] == [(40, 130), (130, 135), (135, 165), (60, 85)]
    # A second correction, at 110, is to 40 + 10 + 300 s: carl's 200 s fit before that.
    works = [*HISTORY, (40, 400, 1, 1000, "ann"), (41, 5, 2, 5, "bob"), (60, 200, 1, 200, "carl")]
    assert times(play(works, 2, "easy", LastRuns()))[2:] == [(40, 440), (440, 445), (110, 310)]
    # Limits are those of promises.
    killed = play([(0, 30, 1, 20, "ann")], 1, "easy", LastRuns(), overrun="kill").record.jobs
    assert (killed[0].state, killed[0].end) == (EXPIRED, 20)


def test_no_more_is_expected_than_promised_and_who_leaves_early_is_forgotten():
    works = [(0, 30, 1, 30, "ann"), (40, 30, 1, 30, "ann"), (80, 10, 1, 20, "ann"), (100, 200, 1, 300, "ann")]
    grid = Grid()
    site = BatchSite(grid, "site", Counted(1), make("batch", "easy"))
    Predictor(site, LastRuns())
    jobs = [grid.record.job("ann", row[0], row[1], processors=1, estimate=row[3]) for row in works]
    for job in jobs:
        grid.agenda.at(job.submit, site.submit, job)
    grid.agenda.at(110, site.cancel, jobs[3])
    grid.run()
    assert [job.expected for job in jobs] == [30, 30, 20, 20]
    assert (jobs[3].end, grid.now) == (110, 110)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_to_know_run_times_is_to_be_promised_them(policy):
    works = random_works(random.Random(f"prediction {policy}"), 150)
    rows = [(work.submit, float(work.runtime), work.processors, float(work.estimate), "u") for work in works]
    known = [(submit, run, n, max(run, estimate), user) for submit, run, n, estimate, user in rows]
    honest = [(submit, run, n, run, user) for submit, run, n, _, user in rows]
    assert times(play(known, CAPACITY, policy, Actual())) == times(play(honest, CAPACITY, policy, None))


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("prediction", [LastRuns(), MeanRatio()], ids=str)
def test_no_work_is_lost_and_the_clock_stops_with_the_last_job(policy, prediction):
    works = random_works(random.Random(f"{policy}"), 150)
    rows = [
        (work.submit, float(work.runtime), work.processors, float(work.estimate), f"u{work.id % 5}")
        for work in works
    ]
    grid = play(rows, CAPACITY, policy, prediction)
    jobs = grid.record.jobs
    assert all(job.state is DONE for job in jobs)
    assert grid.now == max(job.end for job in jobs)
    held = 0
    for _, _, change in sorted(
        change for job in jobs for change in ((job.start, 1, job.processors), (job.end, 0, -job.processors))
        if job.end > job.start
    ):  # fmt: skip
        held += change
        assert 0 <= held <= CAPACITY


def test_a_scenario_says_how_run_times_are_predicted():
    replay = load("batch/replay")
    plain = simulate(replay).metrics
    for prediction in ("promise", "last-runs", {"kind": "mean-ratio", "jobs": 20}, "actual"):
        run = simulate(replay.override({"site.cluster.prediction": prediction}))
        assert ("prediction_accuracy" in run.metrics) == (prediction != "promise")
        assert (run.metrics["waiting_mean"] == plain["waiting_mean"]) == (prediction == "promise")
    assert run.metrics["prediction_accuracy"].value == 1.0
    with pytest.raises(ScenarioError, match="prediction"):
        simulate(load("egee/vres-site").override({"site.0.prediction": "actual"}))


def test_a_correction_that_is_no_longer_is_refused_and_the_clock_does_not_stand_still():
    class Stubborn(LastRuns):
        def corrected(self, expected, times):
            return expected

    with pytest.raises(PolicyError, match="corrects a run time to one that is no longer"):
        play([*HISTORY, (40, 50, 1, 100, "ann")], 1, "easy", Stubborn())
