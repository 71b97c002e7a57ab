"""Mandatory work that fails makes its user unhappy in every system, with or without a deadline."""

from pathlib import Path

import pytest

from gridtune.scenarios import ScenarioError, simulate
from gridtune.scenarios.document.scenario import Scenario

SITE = {"name": "lal", "nodes": 2, "policy": "fcfs"}
SHORT = [{"name": "sdj", "kinds": ["sdj"], "full": "reject"}, {"name": "batch"}]
VRES = SITE | {"nodes": 1, "virtual_slots": 2, "vres": {"sdj": 0.5}, "classes": SHORT}


def jobs(name="local", count=4, runtime=10.0, interval=1.0, **others):
    """Jobs of equal run times, at 1, 2, 3, ... s by default."""
    return {
        "name": name, "kind": "generated", "count": count, "interval": interval, "runtime": runtime
    } | others  # fmt: skip


def tried(*workloads, sites=(SITE,), **tables):
    document = {"title": "test", "site": list(sites), "workload": list(workloads), **tables}
    return simulate(Scenario("test", document, Path()))


def unhappy(run):
    return {name for name, user in run.users.items() if user.unhappy}


def test_without_deadline_or_refusal_nobody_is_unhappy():
    assert unhappy(tried(jobs())) == set()


def test_jobs_that_no_queue_accepts():
    run = tried(jobs("wide", processors=3.0), jobs("narrow"))
    assert unhappy(run) == {"wide-000"}
    assert run.metrics["refused"].value == run.users["wide-000"].mandatory_failed == 4


@pytest.mark.parametrize("kind", ["push", "pull", "pilot"])
def test_jobs_that_no_site_of_a_middleware_accepts(kind):
    run = tried(
        jobs("odd", requires=["gpu"]), jobs("plain"), sites=[SITE], middleware={"kind": kind}, horizon=1e4
    )
    assert unhappy(run) == {"odd-000"}


def test_jobs_that_a_site_kills_although_they_kept_their_promise():
    limits = [*SHORT[:1], {"name": "batch", "wall_limit": 12.0}]
    run = tried(jobs(interval=3.0, role="batch"), sites=[VRES | {"classes": limits, "virtual_slots": 4}])
    assert run.metrics["vres_expired"].value > 0
    assert unhappy(run) == {"local-000"}


def test_jobs_killed_for_a_broken_promise_are_their_owners_doing_unless_they_have_a_deadline():
    strict = [SITE | {"overrun": "kill"}]
    run = tried(jobs(promise=0.5), sites=strict)
    assert run.metrics["killed_by_limit"].value == 4
    assert unhappy(run) == set()
    assert run.metrics["utilisation"].value > run.metrics["goodput"].value == 0
    assert unhappy(tried(jobs(promise=0.5, deadline=1000.0), sites=strict)) == {"local-000"}


@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_a_promise_is_used_up_by_the_work_that_was_done_not_by_the_time(speed):
    run = tried(jobs(promise=0.5), sites=[SITE | {"overrun": "kill", "speed": speed}])
    assert run.metrics["killed_by_limit"].value == 4
    assert [job.given for job in run.record.jobs] == pytest.approx([5.0] * 4)
    assert (run.metrics["lost_jobs"].value, unhappy(run)) == (0, set())


def test_what_a_site_takes_before_a_job_runs_is_nothing_that_its_owner_was_given():
    limited = SITE | {"speed": 0.5, "queue": [{"name": "q", "max_runtime": 8.0}], "start_overhead": 5.0}
    run = tried(jobs(promise=0.3), sites=[limited])
    assert [job.given for job in run.record.jobs] == pytest.approx([4.0] * 4)


@pytest.mark.parametrize(("processors", "nodes"), [(1, 1), (2, 2)])
@pytest.mark.parametrize(("wall", "lost"), [(8.0, 2), (14.0, 0)])
def test_who_shares_a_processor_has_not_been_given_what_was_promised(processors, nodes, wall, lost):
    # Two jobs of 10 s that promise 5 s, at half the rate but for the first and the last second.
    limits = [{"name": "batch", "wall_limit": wall}]
    site = SITE | {"nodes": nodes, "virtual_slots": 2, "vres": {"batch": 1.0}, "classes": limits}
    run = tried(
        jobs(count=2, promise=0.5, role="batch", processors=float(processors)), sites=[site]
    )  # fmt: skip
    given = (wall + 1) / 2
    assert [job.given for job in run.record.jobs] == pytest.approx([given, given])
    assert run.metrics["lost_jobs"].value == lost


def test_short_deadline_jobs_without_a_deadline_fail_where_they_are_not_done():
    held = {"submission": 1000.0}
    run = tried(jobs("short", role="sdj"), jobs("long", role="batch"), sites=[VRES], wms=held, horizon=100.0)
    assert {job.state for job in run.record.jobs} == {"created"}
    assert run.metrics["sdj_failed"].value == run.metrics["failed_fraction"].value == 1.0


def test_short_deadline_jobs_that_find_no_slot():
    run = tried(jobs("short", role="sdj"), jobs("long", count=2, role="batch"), sites=[VRES])
    assert unhappy(run) == {"short-000"}
    assert run.metrics["sdj_failed"].value == pytest.approx(3 / 4)
    assert run.metrics["sdj_rejection"].value == pytest.approx(3 / 4)


def test_the_response_ratio_of_batch_jobs_counts_waiting_and_those_still_there():
    # One slot, alone on its processor: 10 s each, submitted at 1 and 2 s; the second ends at 21 s.
    run = tried(jobs("long", count=2, role="batch"), sites=[VRES])
    assert run.metrics["batch_response_ratio"].value == pytest.approx((10 / 10 + 19 / 10) / 2)
    cut = tried(jobs("long", count=2, role="batch"), sites=[VRES], horizon=16.0)
    # Not finished at 16 s: it counts as begun when all lost work, its own 10 s, had been done after that.
    assert cut.metrics["batch_response_ratio"].value == pytest.approx((10 / 10 + 34 / 10) / 2)
    assert cut.metrics["sdj_failed"].value != cut.metrics["sdj_failed"].value


@pytest.mark.parametrize("rejected", ["resubmit", "tell"])
def test_jobs_that_brokers_could_not_place(rejected):
    run = tried(
        jobs("short", role="sdj"), jobs("long", count=2, role="batch"),
        sites=[VRES], wms={"update_period": 0.0, "rejected": rejected},
    )  # fmt: skip
    assert unhappy(run) == {"short-000"}
    assert run.metrics["told_rejected"].value == run.metrics["mandatory_failed.sdj"].value == 3


def test_jobs_that_brokers_lost_too_often():
    run = tried(jobs("long", role="batch"), sites=[VRES], wms={"failure": 0.9, "retries": 0})
    assert run.metrics["aborted"].value == run.users["long-000"].mandatory_failed > 0
    assert unhappy(run) == {"long-000"}


def test_jobs_of_a_portal_that_come_too_late():
    portal = {"workloads": ["impatient", "patient"], "slots": 1, "retry": 1.0}
    run = tried(
        jobs("impatient", role="sdj", deadline=15.0), jobs("patient", role="sdj", deadline=500.0),
        sites=[VRES], portal=portal,
    )  # fmt: skip
    assert unhappy(run) == {"impatient-000"}


def test_tasks_that_the_scheduling_agent_rejects_without_any_deadline():
    run = tried(
        {
            "kind": "task-list",
            "role": "urgent",
            "tasks": [
                {"user": "a", "times": {"s1": 5.0}},
                {"user": "b", "times": {"s1": 5.0}, "deadline": 2.0},
            ],
        },
        sites=[],
        server=[{"name": "s1"}],
        agent={"routing": "priority"},
    )
    assert unhappy(run) == {"b"}
    assert {job.kind for job in run.record.jobs} == {"urgent"}


def test_tasks_of_plain_users_that_brokers_give_up():
    overlay = {"name": "diane", "mode": "plain", "tasks": 5, "workers": 1, "runtime": 3.0, "role": "sdj"}
    run = tried(
        jobs("long", count=1, role="batch"),
        sites=[VRES], wms={"update_period": 0.0, "rejected": "tell"}, overlay=[overlay],
    )  # fmt: skip
    assert unhappy(run) == {"diane"}


def test_optional_requests_that_are_cancelled_and_best_effort_jobs_make_nobody_unhappy():
    run = simulate(load_regular())
    assert sum(job.state == "cancelled" for job in run.record.jobs) > 0
    assert unhappy(run) == set()
    bag = {"name": "bag", "kind": "campaign", "count": 30, "runtime": 50.0}
    harvested = tried(jobs("premium"), bag, harvester=[{"controller": "wait-batch"}], horizon=60.0)
    assert any(not job.mandatory and job.state != "done" for job in harvested.record.jobs)
    assert unhappy(harvested) == set()


def load_regular():
    from gridtune.scenarios import load

    return load("diet/day-regular")


def test_a_response_above_its_bound_makes_unhappy_and_one_at_it_does_not():
    # One node: jobs of 10 s at 1, 2, 3 and 4 s end at 11, 21, 31 and 41 s.
    one = [SITE | {"nodes": 1}]
    run = tried(jobs(response_bound={"factor": 3.7}), sites=one)
    assert [job.deadline for job in run.record.jobs] == [38.0, 39.0, 40.0, 41.0]
    assert unhappy(run) == set()
    assert unhappy(tried(jobs(response_bound={"factor": 3.69}), sites=one)) == {"local-000"}
    assert unhappy(tried(jobs(response_bound={"factor": 1.0, "least": 37.0}), sites=one)) == set()


def test_of_a_bound_and_a_deadline_the_tighter_holds():
    bound = {"factor": 2.0, "least": 30.0}
    for deadline, expected in ((10.0, 11.0), (40.0, 31.0)):
        (job,) = tried(jobs(count=1, deadline=deadline, response_bound=bound)).record.jobs
        assert job.deadline == expected


def test_bounds_hold_for_local_jobs_of_every_site_for_meta_tasks_and_for_traces(tmp_path):
    log = "1 5 -1 8 1 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1\n"
    (tmp_path / "log.swf").write_text(log)
    bound = {"response_bound": {"factor": 2.0}}
    logged = {"kind": "trace", "name": "log", "trace": str(tmp_path / "log.swf"), "role": "logged", **bound}
    run = tried(
        jobs("own", site="*", role="local", **bound), jobs("tasks", role="meta", **bound), logged,
        sites=[SITE, SITE | {"name": "ral"}], middleware={"kind": "push"},
    )  # fmt: skip
    assert {job.kind: job.deadline - job.submit for job in run.record.jobs} == pytest.approx(
        {"local": 20.0, "meta": 20.0, "logged": 16.0}
    )


def test_where_run_times_are_lengths_bounds_go_by_the_mean_speed():
    (job,) = tried(
        jobs(count=1, runtime=800.0, response_bound={"factor": 2.0}), sites=[SITE | {"speed": [300.0, 500.0]}]
    ).record.jobs
    assert job.deadline == 1.0 + 2.0 * 800.0 / 400.0


def test_bounds_are_checked_and_best_effort_jobs_have_none():
    for facts, message in (
        ({"response_bound": {"factor": 0.0}}, r"workload\.local.*response_bound\.factor: .*greater than 0"),
        ({"response_bound": {"least": 5.0}}, r"response_bound\.factor"),
        ({"best_effort": {}, "response_bound": {"factor": 2.0}}, "response_bound: best-effort jobs are not"),
        ({"best_effort": {}, "deadline": 5.0}, "deadline: best-effort jobs are not mandatory"),
    ):
        with pytest.raises(ScenarioError, match=message):
            tried(jobs(**facts))
