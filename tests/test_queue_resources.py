"""A middleware that sees the queues of sites: an idle one beside a clogged one is used, within its rules."""

from pathlib import Path

import pytest

from gridtune.scenarios import ScenarioError, simulate
from gridtune.scenarios.document.scenario import Scenario

KINDS = ["push", "pull", "pilot"]


def ran(kind, *, queues, groups=("",), per_queue=True, runtime=50.0, **middleware):
    """40 tasks beside local jobs that clog the long queue of one site with eight nodes."""
    workload = [
        {
            "name": f"m{k}",
            "role": "meta",
            "kind": "generated",
            "count": 40 // len(groups),
            "interval": 5.0,
            "runtime": runtime,
            "group": group,
        }
        for k, group in enumerate(groups)
    ]
    clog = {
        "name": "own",
        "role": "own",
        "kind": "generated",
        "site": "a",
        "count": 100,
        "interval": 1.0,
        "runtime": 2000.0,
    }
    document = {
        "title": "t",
        "horizon": 4000.0,
        "site": {"name": "a", "nodes": 8, "policy": "fcfs", "queue": queues},
        "middleware": {"kind": kind, "poll_period": 10.0, "per_queue": per_queue, **middleware},
        "workload": [*workload, clog],
    }
    run = simulate(Scenario("t", document, Path()))
    return [job for job in run.record.jobs if job.kind == "meta"], run


LONG = {"name": "long", "slots": 4}
SHORT = {"name": "short", "priority": 1.0, "slots": 4, "max_runtime": 100.0}


@pytest.mark.parametrize("kind", KINDS)
def test_an_idle_queue_beside_a_clogged_one_is_used(kind):
    def done(per_queue):
        tasks, _ = ran(kind, queues=[LONG, SHORT], per_queue=per_queue)
        return sum(task.state == "done" for task in tasks)

    # As a whole the site lets every job into its first queue, which is clogged, or has no room at all.
    assert done(per_queue=False) <= 1  # one may come before all slots of that queue are taken
    assert done(per_queue=True) >= 36


@pytest.mark.parametrize("kind", KINDS)
def test_a_queue_takes_only_what_its_limits_and_groups_admit(kind):
    closed = SHORT | {"groups": ["physics"]}
    tasks, _ = ran(kind, queues=[LONG, closed], groups=("physics", "biology"))
    by_group = {
        group: sum(task.state == "done" for task in tasks if task.group == group)
        for group in ("physics", "biology")
    }
    assert by_group["physics"] == 20
    assert by_group["biology"] <= 1
    long, _ = ran(kind, queues=[LONG, SHORT], runtime=200.0)
    assert sum(task.state == "done" for task in long) <= 1  # too long for the short queue
    most = max(
        sum(task.start <= time < task.end for task in tasks if task.start == task.start)
        for time in range(0, 4000, 7)
    )
    assert most <= 4  # slots of the queue


def test_groups_of_queues_are_heeded_for_local_jobs_and_refused_to_who_does_not_see_them():
    document = {
        "title": "t",
        "site": {"nodes": 2, "policy": "fcfs", "queue": {"name": "q", "groups": ["physics"]}},
        "workload": [
            {"name": group, "kind": "generated", "count": 3, "interval": 1.0, "runtime": 5.0, "group": group}
            for group in ("physics", "biology")
        ],
    }
    run = simulate(Scenario("t", document, Path()))
    assert {(job.group, job.state.value) for job in run.record.jobs} == {
        ("physics", "done"),
        ("biology", "rejected"),
    }
    with pytest.raises(ScenarioError, match="per_queue"):
        ran("push", queues=[LONG, SHORT | {"groups": ["physics"]}], per_queue=False)
