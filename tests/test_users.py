"""Whose mandatory work failed, who was given what, and the breakdown by class of jobs."""

from math import inf, nan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridtune.model.batch.policies import BatchPolicy
from gridtune.model.job import Job
from gridtune.model.metrics.lost import Reckoning, missing, progress
from gridtune.model.metrics.users import failed, outcomes
from gridtune.model.record import Record, Stay
from gridtune.scenarios import simulate
from gridtune.scenarios.document.scenario import Scenario


def done(number, user, start, end, deadline=inf, mandatory=True, **facts):
    job = Job(number, user, 0.0, end - start, deadline=deadline, mandatory=mandatory, **facts)
    job.queue(0.0)
    job.begin(start)
    job.finish(end)
    return job


def lost(how, deadline=inf, mandatory=True, estimate=None):
    """A job of 10 s that was lost at 1 s: killed at a limit, withdrawn or refused."""
    job = Job(1, "u", 0.0, 10.0, deadline=deadline, mandatory=mandatory, estimate=estimate)
    if how == "expire":
        job.queue(0.0)
        job.begin(-8.0)  # s; it has run for 9
    getattr(job, how)(1.0)
    return job


def fared(jobs, stays=(), slots=1, now=20.0, capacity=None, **choice):
    unsent = missing(Record(jobs=list(jobs), stays=list(stays)), now)
    return outcomes(jobs, stays, slots, slots if capacity is None else capacity, now, unsent=unsent, **choice)


def test_late_mandatory_work_has_failed_and_the_deadline_itself_is_in_time():
    jobs = [
        done(1, "punctual", 0, 10, deadline=10),
        done(2, "late", 0, 11, deadline=10),
        done(3, "relaxed", 0, 11, deadline=10, mandatory=False),
        Job(4, "forgotten", 0.0, 1.0, deadline=10),
        Job(5, "patient", 0.0, 1.0, deadline=100),
        Job(6, "timeless", 0.0, 1.0),
    ]
    users = fared(jobs)
    assert {name for name, user in users.items() if user.unhappy} == {"late", "forgotten", "timeless"}


@pytest.mark.parametrize(
    ("how", "deadline", "estimate", "expected"),
    [
        ("reject", inf, None, True),
        ("reject", 5.0, None, True),
        ("expire", inf, None, True),
        ("expire", inf, 10.0, True),
        ("expire", inf, 9.0, False),  # its owner promised too little
        ("expire", inf, 9.5, True),  # but had not used that up
        ("expire", 5.0, 9.0, True),
        ("cancel", inf, None, True),
        ("cancel", 5.0, None, True),
    ],
)
def test_lost_mandatory_work_has_failed_unless_its_owner_had_it_so(how, deadline, estimate, expected):
    assert failed(lost(how, deadline, estimate=estimate), 2.0) is expected
    assert not failed(lost(how, deadline, mandatory=False, estimate=estimate), 2.0)


def test_satisfaction_is_allocated_over_deserved():
    stays = [Stay("a", 0.0, 10.0), Stay("b", 0.0, 10.0, demand=2.0)]
    jobs = [done(1, "a", 0, 6, data=stays[0]), done(2, "b", 0, 2, data=stays[1])]
    equal = fared(jobs, stays, now=10.0, deserved="area")
    assert equal["a"].satisfaction == pytest.approx(6 / 5)
    assert equal["b"].satisfaction == pytest.approx(2 / 5)
    capped = fared(jobs, stays, now=10.0)
    assert capped["a"].satisfaction == pytest.approx(6 / 8)
    assert capped["b"].satisfaction == pytest.approx(1.0)


def test_who_is_given_all_that_was_asked_for_is_fully_satisfied_on_any_grid():
    jobs = [done(k, f"u{k}", 0, 10 * k) for k in range(1, 4)]
    users = fared(jobs, slots=30, now=100.0)
    assert [user.satisfaction for user in users.values()] == [1.0, 1.0, 1.0]


def test_work_is_compared_with_what_the_speeds_can_do_and_time_with_the_slots():
    # One slot of speed 2: 20 s of work take 10 s.
    job = Job(1, "u", 0.0, 20.0)
    job.queue(0.0)
    job.begin(0.0)
    job.finish(10.0)
    for allocated, share in (("completed", 20.0), ("occupied", 10.0)):
        for deserved in ("area", "capped"):
            (user,) = fared([job], capacity=2.0, now=10.0, allocated=allocated, deserved=deserved).values()
            assert (user.allocated, user.deserved) == (share, pytest.approx(share))


def test_who_was_starved_to_the_end_is_not_satisfied_at_all():
    users = fared([done(1, "served", 0, 10), Job(2, "starved", 0.0, 5.0)], now=20.0)
    assert users["starved"].satisfaction == 0.0
    assert users["served"].satisfaction == pytest.approx(10 / 5)


@pytest.mark.parametrize("deserved", ["capped", "area"])
@pytest.mark.parametrize(("how", "deadline", "waits"), [
    ("reject", 5.0, 5.0), ("reject", inf, 10.0), ("expire", inf, 10.0), ("cancel", inf, 1.0),
])  # fmt: skip
def test_who_was_refused_would_have_waited_until_the_deadline_or_the_end(how, deadline, waits, deserved):
    (user,) = fared([lost(how, deadline)], now=10.0, deserved=deserved).values()
    assert (user.deserved, user.satisfaction) == (pytest.approx(waits), 0.0)


def test_who_is_refused_at_once_is_not_forgotten_among_the_satisfied():
    refused = Job(2, "refused", 2.0, 5.0)
    refused.reject(2.0)
    users = fared([done(1, "served", 0, 10), refused], now=20.0)
    assert (users["refused"].deserved, users["refused"].satisfaction) == (pytest.approx(5.0), 0.0)


def test_who_had_all_that_was_promised_wanted_no_more_until_the_end():
    users = fared([lost("expire", estimate=9.0)], now=20.0, deserved="area")
    assert users["u"].deserved == pytest.approx(1.0)


def test_a_user_of_sessions_and_of_jobs_is_one_user():
    stay = Stay("u", 0.0, 10.0, demand=4.0)
    jobs = [done(1, "u", 0, 4, data=stay, kind="mandatory"), done(2, "u", 4, 7, kind="batch")]
    (user,) = fared(jobs, [stay], now=10.0).values()
    assert (user.jobs, user.allocated, user.deserved) == (2, 7.0, pytest.approx(7.0))
    assert set(user.classes) == {"mandatory", "batch"}


def test_a_user_is_unhappy_in_the_classes_in_which_work_failed():
    jobs = [
        done(1, "u", 0, 11, deadline=10, kind="sdj"),
        done(2, "u", 0, 40, kind="batch"),
        done(3, "u", 10, 20, kind="batch"),
    ]
    (user,) = fared(jobs, now=40.0).values()
    assert user.unhappy
    assert user.classes["sdj"].unhappy
    assert not user.classes["batch"].unhappy
    assert user.classes["batch"].response_mean == 30.0
    assert user.classes["batch"].slowdown_mean == pytest.approx((1 + 2) / 2)


def test_a_lost_job_counts_as_if_begun_after_the_end_and_all_other_lost_work():
    jobs = [done(1, "u", 5, 15), Job(2, "u", 4.0, 2.0), Job(3, "u", 6.0, 3.0)]
    user = fared(jobs, now=20.0)["u"]
    assert user.classes["job"].waitings == [5.0, 20 + 5 - 4.0, 20 + 5 - 6.0]
    assert user.classes["job"].responses == [15.0, 20 + 5 - 4.0 + 2.0, 20 + 5 - 6.0 + 3.0]
    assert user.waiting_mean == pytest.approx((5 + 21 + 19) / 3)
    assert (user.lost_jobs, user.lost_work) == (2, 5.0)
    assert fared([], [Stay("u", 0.0, 1.0)])["u"].response_mean is nan


def test_lost_work_is_begun_after_the_end_and_best_effort_work_after_that():
    served, missed = done(1, "u", 5, 15), Job(2, "u", 4.0, 6.0)
    spare = Job(3, "u", 2.0, 8.0, mandatory=False)
    optional = Job(4, "u", 0.0, 100.0, mandatory=False, data=Stay("u", 0.0, 9.0))  # is owed to nobody
    cut = lost("expire", estimate=9.0)  # had the 9 s that it had promised
    known = Reckoning.of([served, missed, spare, optional, cut], 20.0, pace=2.0)
    assert (known.last, known.least) == (20 + 6 / 2, 20 + (6 + 8) / 2)
    assert [known.begun(job) for job in (served, missed, spare, cut)] == [5.0, 23.0, 27.0, -8.0]
    assert [known.waiting(job) for job in (served, missed, spare, cut)] == [5.0, 19.0, 25.0, -8.0]
    assert [known.response(job) for job in (served, missed, spare, cut)] == [15.0, 22.0, 29.0, 1.0]
    assert [known.times(job).waiting for job in (served, missed, spare)] == [5.0, 19.0, 25.0]
    assert [known.times(job).response for job in (served, missed, spare)] == [15.0, 22.0, 29.0]


def test_best_effort_work_deserves_what_the_others_leave():
    jobs = [done(1, "a", 0, 10), done(2, "b", 10, 18, mandatory=False)]
    users = fared(jobs)
    assert {name: user.deserved for name, user in users.items()} == pytest.approx({"a": 10.0, "b": 8.0})
    # Of the 8 s that are free while both want them, half goes to each until the one has its 2 s.
    users = fared([*jobs, done(3, "a", 18, 20, mandatory=False)])
    assert {name: user.deserved for name, user in users.items()} == pytest.approx({"a": 12.0, "b": 6.0})


@pytest.mark.parametrize(("allocated", "unit"), [("completed", 1.0), ("occupied", 2.0)])
def test_on_a_slot_of_speed_two_work_takes_half_the_time_for_whoever_asks(allocated, unit):
    stay = Stay("s", 100.0, 130.0, demand=16.0)
    jobs = [Job(1, "a", 0.0, 20.0), Job(2, "b", 12.0, 8.0, mandatory=False)]
    for job, start in zip(jobs, (0.0, 20.0), strict=True):
        job.queue(job.submit)
        job.begin(start)
        job.finish(start + job.runtime / 2)
    users = fared(jobs, [stay], now=200.0, capacity=2.0, allocated=allocated)
    expected = {"a": 20 / unit, "b": 8 / unit, "s": 16 / unit}
    assert {name: user.deserved for name, user in users.items()} == pytest.approx(expected)


def test_work_that_came_just_before_the_end_deserves_what_could_be_done_of_it():
    late, early = Job(1, "late", 19.5, 5.0), Job(2, "early", 10.0, 5.0)
    users = fared([late, early], slots=4)
    assert users["late"].deserved == pytest.approx(0.5)
    assert users["early"].deserved == pytest.approx(5.0)


def test_optional_requests_are_owed_to_nobody_and_all_other_work_is():
    stay = Stay("u", 0.0, 20.0, n_min=1, mandatory_work=4.0, demand=8.0)
    kinds = {"mandatory": True, "optional": False}
    jobs = [Job(at, "u", 0.0, 4.0, mandatory=owed, data=stay, kind=kind)
            for at, (kind, owed) in enumerate(kinds.items())]  # fmt: skip
    jobs.append(Job(3, "u", 0.0, 4.0, mandatory=False, kind="spare"))
    classes = fared(jobs, [stay])["u"].classes
    assert {kind: part.work for kind, part in classes.items()} == {
        "mandatory": 4.0,
        "optional": 0.0,
        "spare": 4.0,
    }
    # After the end and all lost work, as `Reckoning` says; the optional one is forgotten.
    assert classes["mandatory"].waitings == [24.0]
    assert classes["optional"].waitings == []
    assert classes["spare"].waitings == [28.0]
    assert [part.lost_jobs for part in classes.values()] == [1, 0, 1]
    assert [part.lost_work for part in classes.values()] == [4.0, 0.0, 4.0]
    assert [part.owed_lost for part in classes.values()] == [4.0, 0.0, 0.0]


def test_the_work_of_optional_requests_counts_in_no_class_even_if_it_is_done():
    jobs = [
        done(1, "u", 0, 4, mandatory=False, data=Stay("u", 0.0, 20.0), kind="optional"),
        done(2, "u", 4, 8, mandatory=False, kind="spare"),
        done(3, "u", 8, 12, deadline=10.0, kind="late"),
        done(4, "u", 12, 16, deadline=10.0, kind="late"),
    ]
    user = fared(jobs)["u"]
    assert {kind: part.work for kind, part in user.classes.items()} == {"optional": 0, "spare": 4, "late": 8}
    assert [part.owed_lost for part in user.classes.values()] == [0.0, 0.0, 0.0]
    assert user.mandatory_failed == user.classes["late"].mandatory_failed == 2


def test_who_runs_at_the_end_has_held_slots_since_the_start_and_before():
    job = Job(1, "u", 0.0, 100.0, processors=3)
    job.queue(0.0)
    job.begin(5.0)
    job.wasted = 2.0
    waiting = Job(2, "v", 0.0, 100.0)
    users = fared([job, waiting], slots=4, allocated="occupied")
    assert {name: user.allocated for name, user in users.items()} == {"u": 2 + 15 * 3, "v": 0.0}


def test_what_runs_has_been_given_what_its_nodes_did_so_far():
    job = Job(1, "u", 0.0, 10.0, processors=3)
    assert progress(job, 6.0, 2.0) == 0.0
    job.queue(0.0)
    job.begin(2.0)
    assert [progress(job, now, 2.0) for now in (4.0, 6.0, 60.0)] == [12.0, 24.0, 30.0]
    job.finish(7.0)
    assert progress(job, 8.0, 2.0) == 30.0


def test_short_jobs_slow_down_by_less_and_fast_nodes_make_up_for_nothing():
    plain, fast = Reckoning(0.0, 0.0), Reckoning(0.0, 0.0, pace=2.0)
    assert plain.slowdown(done(1, "u", 99, 100)) == 10.0
    assert plain.slowdown(done(1, "u", 0, 1)) == 1.0
    assert fast.slowdown(done(1, "u", 20, 120)) == pytest.approx(120 / 50)


fates = st.lists(
    st.builds(
        lambda user, kind, runtime, fate: (f"u{user}", kind, float(runtime), fate),
        st.integers(0, 3),
        st.sampled_from(["batch", "sdj", "meta"]),
        st.integers(1, 30),
        st.sampled_from(["done", "reject", "wait"]),
    ),
    max_size=20,
)


@given(fates, st.sampled_from(["completed", "occupied"]))
def test_the_classes_of_a_user_add_up_to_the_user(rows, allocated):
    jobs = []
    for number, (user, kind, runtime, fate) in enumerate(rows):
        job = Job(number, user, 0.0, runtime, kind=kind)
        if fate == "done":
            job = done(number, user, 0.0, runtime, kind=kind)
        elif fate == "reject":
            job.reject(0.0)
        jobs.append(job)
    users = fared(jobs, now=100.0, allocated=allocated)
    assert sum(user.jobs for user in users.values()) == len(jobs)
    for user in users.values():
        parts = user.classes.values()
        for name in ("jobs", "completed", "mandatory_failed"):
            assert getattr(user, name) == sum(getattr(part, name) for part in parts)
        assert user.allocated == pytest.approx(sum(part.allocated for part in parts))
        assert user.unhappy == any(part.unhappy for part in parts)


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 20), st.integers(1, 20), st.integers(0, 9)), max_size=15
    ),
    st.integers(1, 8),
)
def test_who_was_given_everything_is_satisfied_however_little_it_was(rows, slots):
    jobs = []
    for number, (user, submit, runtime, wait) in enumerate(rows):
        job = Job(number, f"u{user}", submit, runtime)
        job.queue(submit)
        job.begin(submit + wait)
        job.finish(submit + wait + runtime)
        jobs.append(job)
    users = fared(jobs, slots=slots, now=100.0)
    assert all(user.satisfaction >= 1 - 1e-9 for user in users.values())
    span = max((job.end for job in jobs), default=0.0) - min((job.submit for job in jobs), default=0.0)
    assert sum(user.deserved for user in users.values()) <= slots * span + 1e-6


@pytest.mark.parametrize(("horizon", "unhappy"), [(None, 3), (360.0, 1), (5000.0, 3)])
def test_who_is_never_served_is_unhappy_unless_the_horizon_comes_before_the_deadline(horizon, unhappy):
    class Idle(BatchPolicy):
        """Nobody ever starts."""

        def starts(self, cluster, now):
            return []

    jobs = {"count": 3, "users": 3, "interval": 100.0, "runtime": 10.0, "deadline": 250.0}
    document = {
        "title": "nobody starts",
        "site": [{"name": "c", "nodes": 4, "policy": "fcfs"}],
        "workload": [{"name": "j", "kind": "generated", **jobs}],
    } | ({} if horizon is None else {"horizon": horizon})
    scenario = Scenario("test", document, Path()).override({"site.c.policy": Idle()})
    assert simulate(scenario).metrics["unhappy_users"].value == unhappy
