"""Brokers: what they see, how they choose, what the middleware costs, and that no job gets lost."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.agents.wms.broker import BrokerHabits, Latencies, Wms, WmsBroker
from gridtune.agents.wms.vres_site import VresSite
from gridtune.model.grid import Grid
from gridtune.model.middleware.retrying import Limited, Never
from gridtune.model.vres import ClassRules
from gridtune.model.wms.ranking import Expression, LeastTraversalTime, MostFree, formula


def world(grid, slots, habits, latencies=None, brokers=1, full="wait"):
    sites = [
        VresSite(grid, f"s{k}", [1.0] * n, [ClassRules("a", full=full)], [n]) for k, n in enumerate(slots)
    ]
    made = [WmsBroker(grid, k, sites, habits, latencies or Latencies(), 0.0) for k in range(brokers)]
    return Wms(grid, made)


def submit_all(grid, wms, rows):
    """Jobs as (submit, runtime, user)."""
    made, heard = [], []
    for submit, runtime, user in rows:
        job = grid.record.job(user, submit, runtime)
        made.append(job)
        grid.agenda.at(submit, lambda job: wms.submit(job, lambda ended: heard.append(ended.id)), job)
    return made, heard


def sites_of(habits, slots, rows):
    with Grid() as grid:
        made, _ = submit_all(grid, world(grid, slots, habits), rows)
        grid.agenda.run(max(row[0] for row in rows))
        return [job.site for job in made]


def test_the_most_free_slots_win_and_count_down_as_a_broker_sends():
    rows = [(0.0, 100.0, "u")] * 4
    assert sites_of(BrokerHabits(MostFree(), update_period=1e9), [1, 3], rows)[:2] == ["s1", "s1"]


def test_the_least_traversal_time_avoids_the_queue():
    rows = [(0.0, 100.0, "u"), (1.0, 100.0, "u"), (2.0, 1.0, "u")]
    sites = sites_of(BrokerHabits(LeastTraversalTime(), update_period=0), [1, 2], rows)
    assert sorted(sites) == ["s0", "s1", "s1"]


def test_an_expression_ranks_and_requirements_exclude():
    rows = [(0.0, 9.0, "u")]
    assert sites_of(BrokerHabits(Expression("-slots"), update_period=0), [1, 3], rows) == ["s0"]
    habits = BrokerHabits(Expression("-slots"), formula("slots > 2"), update_period=0)
    assert sites_of(habits, [1, 3], rows) == ["s1"]


def test_two_brokers_with_old_views_send_both_jobs_to_the_same_slot_and_with_new_views_they_do_not():
    rows = [(1.0, 100.0, "u"), (2.0, 100.0, "v")]
    for period, expected in ((1e9, ["s1", "s1"]), (0.0, ["s0", "s1"])):
        with Grid() as grid:
            # s1 looks slightly better as long as its only slot is free.
            habits = BrokerHabits(Expression("100 if free and name == 's1' else -ett"), update_period=period)
            made, _ = submit_all(grid, world(grid, [1, 1], habits, brokers=2), rows)
            grid.agenda.run(5.0)
            assert sorted(job.site for job in made) == expected


def test_who_knows_that_slots_share_processors_goes_where_jobs_advance():
    # Three jobs of 100 s on one processor: 50 s by their promises, 150 s as it is; one of 120 s alone: 60 s.
    for sharing, expected in (("ignored", "shared"), ("known", "alone")):
        with Grid() as grid:
            sites = [
                VresSite(grid, name, [1.0], [ClassRules("a")], [slots])
                for name, slots in (("shared", 3), ("alone", 1))
            ]
            for site, runtime in ((0, 100.0), (0, 100.0), (0, 100.0), (1, 120.0)):
                sites[site].submit(grid.record.job("u", 0.0, runtime))
            habits = BrokerHabits(LeastTraversalTime(sharing), update_period=0)
            wms = Wms(grid, [WmsBroker(grid, 0, sites, habits, Latencies(), 0.0)])
            (job,), _ = submit_all(grid, wms, [(0.0, 10.0, "u")])
            grid.agenda.run(0.0)
            assert job.site == expected
            assert [site.adverts()[0].rate for site in sites] == [1.0, 1.0]


def test_refused_jobs_are_offered_again_as_the_policy_says():
    for retry, started in ((Never(), None), (Limited(1, 30.0), None), (Limited(2, 30.0, 2.0), 92.0)):
        with Grid() as grid:
            habits = BrokerHabits(MostFree(), update_period=0, revisit=retry)
            wms = world(grid, [1], habits, full="reject")
            made, heard = submit_all(grid, wms, [(0.0, 60.0, "u"), (2.0, 10.0, "u")])
            grid.run()
            again = made[1]
            if started is None:
                assert (again.state, heard) == ("rejected", [2, 1])
            else:  # refused at 2 s and 32 s, taken at 92 s
                assert (again.state, again.start) == ("done", started)
            assert grid.record.counters["told_rejected"] == (started is None)


def test_latencies_delay_submission_match_and_notification():
    latencies = Latencies(lambda: 10.0, lambda: 5.0, lambda: 3.0)
    with Grid() as grid:
        wms = world(grid, [1], BrokerHabits(MostFree(), update_period=0), latencies)
        (job,), heard = submit_all(grid, wms, [(2.0, 7.0, "u")])
        grid.run()
        assert (job.start, job.end, wms.trips[0].told, heard) == (17.0, 24.0, 27.0, [1])


def test_a_lost_job_is_tried_as_often_as_its_retries_allow():
    latencies = Latencies(failure=lambda: 60.0)
    habits = BrokerHabits(MostFree(), update_period=0, failure=1.0, retries=2)
    with Grid() as grid:
        (job,), heard = submit_all(grid, world(grid, [1], habits, latencies), [(0.0, 7.0, "u")])
        grid.run()
        assert (job.state, grid.now, heard) == ("rejected", 180.0, [1])
        assert (grid.record.counters["grid_failures"], grid.record.counters["aborted"]) == (3, 1)


@pytest.mark.parametrize(("rejected", "state"), [("resubmit", "done"), ("tell", "rejected")])
def test_a_refused_job_goes_elsewhere_or_its_owner_is_told(rejected, state):
    rank = Expression("2 if name == 's0' else 1")
    with Grid() as grid:
        habits = BrokerHabits(rank, update_period=0, rejected=rejected)
        made, heard = submit_all(
            grid, world(grid, [1, 1], habits, full="reject"), [(0.0, 50.0, "u"), (1.0, 5.0, "v")]
        )
        grid.run()
        assert (made[0].state, made[1].state, sorted(heard)) == ("done", state, [1, 2])
        assert made[1].site == ("s1" if state == "done" else "")
        told = grid.record.counters["told_rejected"]
        assert (grid.record.counters["rerouted"], told) == ((1, 0) if state == "done" else (0, 1))


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.floats(0, 50), st.floats(0.5, 30), st.sampled_from("uvw")), min_size=1, max_size=30
    ),
    period=st.sampled_from([0.0, 7.0]),
    failure=st.sampled_from([0.0, 0.4]),
    full=st.sampled_from(["wait", "reject"]),
    rejected=st.sampled_from(["resubmit", "tell"]),
    brokers=st.integers(1, 3),
)
def test_every_job_ends_once_and_its_owner_hears_once(rows, period, failure, full, rejected, brokers):
    latencies = Latencies(lambda: 1.0, lambda: 2.0, lambda: 1.0, lambda: 4.0)
    habits = BrokerHabits(MostFree(), None, period, failure, 2, rejected)
    with Grid() as grid:
        wms = world(grid, [1, 2], habits, latencies, brokers, full)
        made, heard = submit_all(grid, wms, rows)
        grid.agenda.run(5000.0)
        assert sorted(heard) == [job.id for job in made]
        assert {job.state for job in made} <= {"done", "rejected"}
        counters = grid.record.counters
        lost = sum(job.state == "rejected" for job in made)
        assert lost == counters["aborted"] + counters["told_rejected"]
        assert all(trip.failures <= 3 for trip in wms.trips)
