"""A bound against starvation: who has waited too long goes first, and nobody delays that job any more."""

import random

import pytest

from gridtune.model.job import DONE
from gridtune.scenarios import ScenarioError, load, simulate

STARVING = {
    "sjf": {"kind": "priority", "rule": "sjf"},
    "saf, pure": {"kind": "priority", "rule": "saf", "reservations": 0},
    "multifactor": {"kind": "priority", "weight_age": 0.0, "weight_shortness": 10.0, "reservations": 2},
    "all, in a window": {"kind": "priority", "rule": "saf", "reservations": "all", "window": 3600.0},
    "few looked at": {"kind": "priority", "rule": "sjf", "queue_depth": 1},
    "fair-share": {"kind": "fair-share"},
}


def replay(tmp_path, rows, nodes, policy):
    """Jobs (submit, run time, processors, user) of a site, in the order of the rows."""
    path = tmp_path / "log.swf"
    path.write_text(
        "\n".join(
            f"{k} {submit} -1 {run} {width} -1 -1 {width} {run} -1 1 {user} 1 -1 1 -1 -1 -1"
            for k, (submit, run, width, user) in enumerate(rows, 1)
        )
        + "\n"
    )
    made = load("batch/replay").override(
        {"workload.trace": str(path), "site.cluster.nodes": nodes, "site.cluster.policy": policy}
    )
    return simulate(made).record.jobs


def test_a_wide_job_starts_when_its_processors_come_free_after_the_bound(tmp_path):
    """Two processors; short narrow jobs come every 50 s and run for 80 s: the wide one fits beside none."""
    rows = [(0, 80, 1, 1), (1, 100, 2, 2), *((50 * k, 80, 1, 1) for k in range(1, 40))]
    rows.sort()
    policy = {"kind": "priority", "rule": "sjf"}

    def wide(**more):
        return next(job for job in replay(tmp_path, rows, 2, policy | more) if job.processors == 2)

    assert wide().start > 1900
    # At 401 s jobs run that came at 350 and 400 s: the later one ends at 480 s, and nobody starts before.
    assert wide(max_wait=400.0).start == 480
    assert wide(max_wait=0.0).start == wide().start


def workload(seed):
    draws = random.Random(seed)
    rows, now = [], 0
    for _ in range(150):
        now += draws.choice([1, 40, 90, 200])
        rows.append((now, draws.choice([30, 300, 900]), draws.choice([1, 1, 2, 4, 8]), draws.randrange(4)))
    return rows


@pytest.mark.parametrize("name", STARVING)
@pytest.mark.parametrize("seed", range(4))
def test_nobody_delays_a_job_that_has_waited_too_long(tmp_path, name, seed):
    """When it alone has, it starts as soon as those that ran then leave it enough; counted independently."""
    most, nodes = 1500.0, 8
    jobs = replay(tmp_path, workload(seed), nodes, STARVING[name] | {"max_wait": most})
    assert all(job.state is DONE for job in jobs)
    seen = 0
    for job in jobs:
        due = job.submit + most
        if job.start < due or any(o is not job and o.submit <= job.submit and o.start >= due for o in jobs):
            continue  # it waited less, or others had waited too long before it
        # Jobs that start at that very moment and came before it had waited too long, too.
        running = [
            other
            for other in jobs
            if other is not job
            and other.end > due
            and (other.start < due or (other.start == due and other.submit < job.submit))
        ]
        free = nodes - sum(other.processors for other in running)
        moment = due
        for other in sorted(running, key=lambda one: one.end):
            if free >= job.processors:
                break
            free, moment = free + other.processors, other.end
        assert job.start == moment
        seen += 1
    assert seen


@pytest.mark.parametrize("name", STARVING)
def test_no_bound_changes_nothing_and_a_low_one_is_first_come_first_served(tmp_path, name):
    rows = workload(9)
    plain, none, every = (
        [job.start for job in replay(tmp_path, rows, 8, STARVING[name] | more)]
        for more in ({}, {"max_wait": 0.0}, {"max_wait": 1e-6})
    )
    assert plain == none
    conservative = [job.start for job in replay(tmp_path, rows, 8, "conservative")]
    if name in ("sjf", "multifactor", "fair-share"):
        assert every == conservative  # all have reservations, in the order of their coming


def test_a_bound_is_no_negative_time():
    with pytest.raises(ScenarioError, match="max_wait"):
        load("batch/replay").override({"site.cluster.policy": {"kind": "priority", "max_wait": -1.0}})


@pytest.mark.parametrize("resources", [{}, {"gpu": 4}])
def test_a_late_job_gives_neither_its_reservation_nor_its_horizon_to_others(tmp_path, resources):
    more = {"site.cluster.resources": resources} if resources else {}

    def last(rows, nodes, policy):
        path = tmp_path / "log.csv"
        with path.open("w") as file:
            file.write("id,submit,start,end,procs,walltime,user,group\n")
            for k, (at, run, width) in enumerate(rows, 1):
                file.write(f"{k},{at},{at},{at + run},{width},{run},u{k},g\n")
        made = load("batch/replay").override(
            {"workload.trace": str(path), "site.cluster.nodes": nodes, "site.cluster.policy": policy, **more}
        )
        return simulate(made).record.jobs[-1].start

    # The third is not late at 61 s and would start beyond the window: the fourth does not wait for it.
    beyond = [(0, 1000, 3), (0, 10, 2), (60, 100, 4), (61, 2000, 1)]
    policy = {"kind": "priority", "reservations": 2, "window": 100.0}
    assert last(beyond, 4, policy | {"max_wait": 50.0}) == last(beyond, 4, policy) == 61
    # Late jobs that start leave one reservation to the first of the others, and none to the second.
    at_once = [(0, 30, 3), (0, 200, 1), (1, 10, 1), (2, 10, 1), (25, 30, 2), (26, 40, 4), (27, 1000, 1)]
    for policy in ({"kind": "priority", "reservations": 1}, {"kind": "fair-share"}):
        assert last(at_once, 4, policy | {"max_wait": 10.0}) == last(at_once, 4, policy) == 30
