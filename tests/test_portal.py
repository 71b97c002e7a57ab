"""Deadline-fair arbitration: users get what their weights say, within a quantum, and no slot is left idle."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.agents.wms.portal import Portal
from gridtune.agents.wms.vres_site import VresSite
from gridtune.model.grid import Grid
from gridtune.model.vres import ClassRules
from gridtune.model.wms.arbitration import DeadlineFair, EarliestDeadline, FirstCome
from gridtune.scenarios import load, simulate


def portal_of(grid, arbitration, slots, weights):
    site = VresSite(grid, "lal", [1.0] * slots, [ClassRules("sdj", full="reject")], [slots])
    return Portal(grid, [site], arbitration, slots, weights, 5.0)


def saturate(grid, portal, users, jobs, runtime):
    """All users have all their jobs waiting before the first slot is given away."""
    slots, portal.slots = portal.slots, 0
    made = [grid.record.job(user, 0.0, runtime, kind="sdj") for _ in range(jobs) for user in users]
    for job in made[:-1]:
        portal.submit(job)
    portal.slots = slots
    portal.submit(made[-1])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=2, max_size=4), st.integers(1, 3))
def test_no_user_is_a_quantum_away_from_its_share(weights, slots):
    users = {f"u{k}": float(weight) for k, weight in enumerate(weights)}
    with Grid() as grid:
        saturate(grid, portal_of(grid, DeadlineFair(quantum=10.0), slots, users), users, 90, 10.0)
        grid.run()
        total = sum(users.values())
        for quanta in range(1, 90 // slots):
            for user, weight in users.items():
                got = sum(job.start < 10.0 * quanta - 1e-6 for job in grid.record.jobs if job.user == user)
                assert abs(got - slots * quanta * weight / total) < 1 + 1e-9


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 60), st.floats(1, 30), st.sampled_from("abc")), min_size=1, max_size=40),
    st.sampled_from([DeadlineFair(quantum=15.0), FirstCome(), EarliestDeadline()]),
)
def test_no_slot_idles_while_a_job_waits(rows, arbitration):
    with Grid() as grid:
        portal = portal_of(grid, arbitration, 2, {"a": 4.0, "b": 2.0})
        for submit, runtime, user in rows:
            job = grid.record.job(user, submit, runtime, kind="sdj")
            grid.agenda.at(submit, portal.submit, job)
        while grid.agenda.busy:
            grid.agenda.run(grid.agenda.next_time)
            if any(account.queue for account in portal.accounts.values()):
                assert portal.in_flight == 2
        assert {job.state for job in grid.record.jobs} == {"done"}
        assert sum(portal.granted().values()) == pytest.approx(sum(job.runtime for job in grid.record.jobs))


def shares(arbitration):
    values = {"portal.arbitration": arbitration, "horizon": 3600.0}
    record = simulate(load("egee/portal").override(values)).record
    held = dict.fromkeys(("gold", "silver", "bronze"), 0.0)
    for job in record.jobs:
        if job.group in held and job.state == "done":
            held[job.group] += job.end - job.start
    return [time / sum(held.values()) for time in held.values()]


def test_the_shipped_portal_serves_four_to_two_to_one():
    assert shares({"kind": "deadline-fair", "quantum": 60.0}) == pytest.approx(
        [4 / 7, 2 / 7, 1 / 7], abs=0.03
    )


def test_first_come_serves_whoever_submits():
    assert shares({"kind": "fcfs"}) == pytest.approx([1 / 3] * 3, abs=0.05)


@pytest.mark.parametrize("facts", [{"kind": "batch"}, {"kind": "sdj", "processors": 3}])
def test_a_job_that_no_site_could_ever_run_is_rejected_at_once(facts):
    with Grid() as grid:
        portal = portal_of(grid, FirstCome(), 2, {})
        site = portal.sites[0]
        site.classes[0].rules = ClassRules("sdj", kinds=frozenset({"sdj"}), full="reject")
        job = grid.record.job("u", 0.0, 10.0, **facts)
        portal.submit(job)
        grid.run()
        assert job.state == "rejected"
        assert grid.record.counters["refused"] == 1
        assert grid.now == 0.0


def test_the_nearest_deadline_goes_first_within_a_user_and_among_users():
    deadlines = (("a", 90.0), ("a", 40.0), ("b", 60.0), ("b", 20.0), ("b", 20.0))
    with Grid() as grid:
        portal = portal_of(grid, EarliestDeadline(), 1, {})
        portal.slots = 0
        for user, deadline in deadlines:
            portal.submit(grid.record.job(user, 0.0, 10.0, kind="sdj", deadline=deadline))
        portal.slots = 1
        portal.submit(grid.record.job("c", 0.0, 10.0, kind="sdj", deadline=50.0))
        grid.run()
        assert [job.start for job in grid.record.jobs] == [50.0, 20.0, 40.0, 0.0, 10.0, 30.0]


@pytest.mark.long
def test_earliest_deadline_first_misses_fewest_deadlines():
    missed = {
        kind: simulate(load("egee/portal-deadlines").override({"portal.arbitration": kind})).metrics[
            "failed_fraction"
        ]
        for kind in ("earliest-deadline", "deadline-fair", "fcfs")
    }
    least = missed.pop("earliest-deadline").value
    assert all(4 * least < other.value for other in missed.values())
