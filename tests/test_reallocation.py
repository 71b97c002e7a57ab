"""Clients' second thoughts: waiting requests that move, and displaced ones that go on where they were."""

from math import inf

import pytest

from gridtune.agents.gridrpc.sed import SED_COUNTERS, SeD
from gridtune.model.grid import Grid
from gridtune.model.gridrpc.disciplines import Ethic
from gridtune.model.gridrpc.reallocation import Never, Sooner
from gridtune.scenarios import ScenarioError, load, simulate

NAME = "diet/second-thoughts"


def test_a_request_moves_where_it_is_done_sooner_by_the_gain():
    assert not Never().moves(inf, 1.0)
    assert Sooner(0.1).moves(10.0, 8.9)
    assert not Sooner(0.1).moves(10.0, 9.0)
    assert Sooner().moves(inf, 50.0)
    assert not Sooner().moves(inf, inf)
    assert not Sooner().moves(5.0, inf)


def displaced(killed, cancel_at=None):
    """An optional request of 10 s, displaced after 3 s by a mandatory one of 4 s."""
    with Grid() as grid:
        for counter in SED_COUNTERS:
            grid.record.counters[counter] += 0
        server = SeD(grid, "sed", 0, Ethic(), overhead=0.0, killed=killed)
        optional = grid.record.job("u", 0.0, 10.0, kind="optional", mandatory=False)
        mandatory = grid.record.job("v", 3.0, 4.0, kind="mandatory")
        server.submit(optional, lambda _: None)
        grid.agenda.at(3.0, lambda job: server.submit(job, lambda _: None), mandatory)
        if cancel_at is not None:
            grid.agenda.at(cancel_at, server.cancel, optional)
        grid.run()
        return optional


def test_a_suspended_request_goes_on_where_it_was():
    anew, later = displaced("requeue"), displaced("suspend")
    assert (anew.start, anew.end, anew.wasted) == (7.0, 17.0, 3.0)
    assert (later.start, later.end, later.wasted, later.kept) == (7.0, 14.0, 0.0, 3.0)


def test_what_a_suspended_request_has_done_is_wasted_if_it_is_cancelled():
    assert displaced("suspend", 5.0).wasted == 3.0  # while it waits
    assert displaced("suspend", 9.0).wasted == pytest.approx(5.0)  # while it runs again
    assert displaced("requeue", 9.0).wasted == pytest.approx(5.0)


def test_a_waiting_request_is_expected_after_those_before_it():
    with Grid() as grid:
        server = SeD(grid, "sed", 0, Ethic())
        first, second = (grid.record.job("u", 0.0, 10.0, kind="mandatory") for _ in range(2))
        for job in (first, second):
            server.submit(job, lambda _: None)
        assert server.expected(second, 10.0) == 20.0
        assert server.expected(first, 10.0) == inf  # it runs


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_second_thoughts_leave_nobody_unhappy_and_every_request_runs_once(seed):
    never = simulate(load(NAME).override({"client.reallocation": "never"}), seed)
    moved = simulate(load(NAME), seed)
    assert moved.metrics["unhappy_users"].value == 0 < 20 <= never.metrics["unhappy_users"].value
    mandatory = [job for job in moved.record.jobs if job.mandatory]
    assert all(job.state == "done" and job.kills == 0 for job in mandatory)
    assert len(mandatory) == 4 * 30
    for job in mandatory:
        speed = 0.2 if job.site.startswith("slow") else 1.0
        assert job.end - job.start == pytest.approx(0.001 + job.runtime / speed)


def test_suspension_saves_what_kills_cost():
    completed = {
        killed: simulate(load("diet/day-regular").override({"sed.killed": killed})).metrics["completed"].value
        for killed in ("requeue", "suspend")
    }
    # 27 kills in the middle of requests of a second, each of which costs almost all of one.
    assert 20 <= completed["suspend"] - completed["requeue"] <= 45


def test_servers_on_leases_suspend_nothing():
    with pytest.raises(ScenarioError, match="'suspend' needs servers of their own"):
        simulate(load("federation/small").override({"sed.killed": "suspend"}))
