"""Brokers that see any site, and jobs that say themselves where they want to go."""

from collections import Counter
from pathlib import Path

import pytest

from gridtune.agents.wms.advertising import advertise
from gridtune.model.job import Job
from gridtune.model.vres import ClassRules, SlotClass
from gridtune.scenarios import ScenarioError, simulate
from gridtune.scenarios.document.scenario import Scenario
from tests.meta_worlds import most_at_once

RESERVED = {"name": "reserved", "nodes": 2, "policy": "fcfs", "vres": {"batch": 1.0}}
EASY = {"name": "easy", "nodes": 4, "policy": "easy", "queue": [{"name": "q", "max_runtime": 500.0}]}
FAST = {"name": "fast", "nodes": 2, "policy": "conservative", "speed": 2.0}


def ran(*, sites="all", where=(RESERVED, EASY, FAST), **workload):
    document = {
        "title": "t",
        "site": list(where),
        "wms": {"sites": sites, "update_period": 0.0},
        "workload": {
            "name": "w",
            "role": "batch",
            "kind": "generated",
            "count": 40,
            "interval": 20.0,
            "runtime": 150.0,
            "via": "wms",
        }
        | workload,
    }
    jobs = simulate(Scenario("t", document, Path())).record.jobs
    return jobs, Counter(job.site for job in jobs)


def test_brokers_bring_jobs_to_batch_sites_whatever_their_scheduler_if_they_see_them():
    jobs, everywhere = ran()
    assert set(everywhere) == {"reserved", "easy", "fast"}
    assert {job.state for job in jobs} == {"done"}
    # With all eight nodes in sight nobody waits; two that share the work of 7.5 jobs are clogged.
    assert max(job.waiting_time for job in jobs) < 1.0
    known, _ = ran(where=(RESERVED,), sites="reserved")
    assert max(job.waiting_time for job in known) > 1000.0


def test_who_sees_only_reservations_needs_some():
    with pytest.raises(ScenarioError, match="vres"):
        ran(sites="reserved", where=(EASY, FAST))
    assert set(ran(where=(EASY, FAST))[1]) <= {"easy", "fast"}


def test_jobs_say_where_they_want_to_go():
    assert set(ran(requirements="speed > 1")[1]) == {"fast"}
    assert set(ran(requirements='queue == "q"')[1]) == {"easy"}
    _, fastest = ran(ranking={"kind": "expression", "rank_by": "speed"})
    assert set(fastest) == {"fast"}
    jobs, long = ran(runtime=600.0, count=3)
    assert "easy" not in long  # it lets no job run so long
    assert {job.state for job in jobs} == {"done"}


TWO_QUEUES = {
    "name": "two",
    "nodes": 4,
    "policy": "easy",
    "queue": [{"name": "short", "max_runtime": 500.0, "slots": 2}, {"name": "long"}],
}


def test_brokers_choose_among_all_queues_of_a_site_that_take_a_job():
    jobs, _ = ran(where=(TWO_QUEUES,), requirements="wall_limit > 10000", count=3)
    assert {job.state for job in jobs} == {"done"}
    assert {job.state for job in ran(where=(TWO_QUEUES,), requirements='queue == "none"')[0]} == {"rejected"}
    # The short queue has two of the four slots: who finds it full goes to the long one.
    jobs, _ = ran(where=(TWO_QUEUES,), count=4, interval=1.0)
    assert [job.start for job in jobs] == [job.submit for job in jobs]
    # Whoever wants the short queue only waits for its two slots.
    jobs, _ = ran(where=(TWO_QUEUES,), count=4, interval=1.0, requirements='queue == "short"')
    assert [job.start for job in jobs] == [1.0, 2.0, 151.0, 152.0]


def test_a_job_that_no_site_suits_is_told_so():
    jobs, _ = ran(requirements="speed > 9")
    assert {job.state for job in jobs} == {"rejected"}


@pytest.mark.parametrize(
    ("change", "words"),
    [({"requirements": "sped > 1"}, "sped"), ({"requirements": "speed > 1", "via": None}, "brokers")],
)
def test_descriptions_that_nobody_understands_are_refused(change, words):
    change = dict(change)
    document = {
        "title": "t",
        "site": [EASY],
        "wms": {"sites": "all"},
        "workload": {"kind": "generated", "count": 1, "interval": 1.0, "runtime": 1.0, "via": "wms"},
    }
    if change.pop("via", "wms") is None:
        del document["wms"]
        del document["workload"]["via"]
    document["workload"] |= change
    with pytest.raises(ScenarioError, match=words):
        simulate(Scenario("t", document, Path()))


@pytest.mark.parametrize(
    "trouble",
    [
        {},
        {"errors": {"application": 0.1, "system": 0.2, "connection": 0.2}},
        {"lifetime": {"law": "exponential", "mean": 150.0}},
        {"patience": 20.0, "workers": 6, "lifetime": {"law": "exponential", "mean": 150.0}},
    ],
)
def test_workers_hold_slots_of_batch_sites_and_are_never_more_than_wanted(trouble):
    # Half of the nodes fail what starts there, and the head node takes 4 s to come to anything.
    site = {"name": "a", "nodes": 4, "named_nodes": True, "policy": "fcfs", "head_node": {"time": 4.0}}
    document = {
        "title": "t",
        "horizon": 30000.0,
        "site": site,
        "wms": {"sites": "all"},
        "overlay": {"tasks": 30, "runtime": 40.0, "workers": 3, "watch": 50.0} | trouble,
        "fault": {"kind": "broken", "together": 2, "between": 300.0, "repair": 500.0, "after": 5.0},
    }
    record = simulate(Scenario("t", document, Path())).record
    states = Counter(job.state for job in record.jobs)
    assert states["done"] >= 15
    assert states["done"] + states["failed"] == 30
    workers = [job for job in record.placeholders if job.start == job.start]
    assert most_at_once((job.start, job.end, 1) for job in workers) <= document["overlay"]["workers"]


def test_jobs_that_promise_no_end_can_be_compared():
    known = SlotClass(ClassRules("batch"), [2], 1)
    endless, brief = (Job(k, "u", 0.0, 1.0, estimate=s) for k, s in enumerate((float("inf"), 30.0)))
    for job in (endless, brief):
        known.running_work += known.promised(job)
        known.take(0)
    known.running_work -= known.promised(endless)
    assert advertise("s", 1.0, known).ett == pytest.approx(30.0 / 2 / 2)
