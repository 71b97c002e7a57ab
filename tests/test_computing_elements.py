"""Brokers that see any site, and jobs that say themselves where they want to go."""

from collections import Counter
from pathlib import Path

import pytest

from gridtune.scenarios import ScenarioError, simulate
from gridtune.scenarios.document.scenario import Scenario

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
    # With all eight nodes in sight nobody waits; two that share 7.5 jobs' worth of work are clogged.
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
