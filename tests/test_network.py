"""Links that transfers share: against an independent computation, and what they do to jobs."""

from fractions import Fraction
from math import inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.agents.infrastructure.network import Network
from gridtune.model.grid import Grid
from gridtune.model.infrastructure.sharing import max_min_rates
from gridtune.scenarios import load, simulate
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError


def fair_shares(flows, capacities):
    """Max-min fair rates from their definition, in exact arithmetic and flow by flow.

    The vector of rates, sorted upwards, is the largest in lexicographic order: the least of all rates is
    raised as far as any feasible vector allows, those flows that cannot have more are settled, and so on.
    """
    rates = {}
    while len(rates) < len(flows):
        # The most that all unsettled flows can have together: on no link may the sum exceed what is there.
        open_ = [k for k in range(len(flows)) if k not in rates]
        level = min(
            (Fraction(capacities[link]) - sum(rates[k] for k in rates if link in flows[k]))
            / sum(link in flows[k] for k in open_)
            for link in range(len(capacities))
            if any(link in flows[k] for k in open_)
        )
        trial = rates | dict.fromkeys(open_, level)
        for k in open_:
            room = min(
                Fraction(capacities[link]) - sum(trial[j] for j in trial if link in flows[j])
                for link in flows[k]
            )
            if room == 0:
                rates[k] = level
    return [rates[k] for k in range(len(flows))]


def topology(seed, most=8):
    """Links with capacities, and transfers as (begin, bytes, route)."""
    rng = np.random.default_rng(seed)
    links = int(rng.integers(2, most))
    capacities = rng.integers(1, 100, links).tolist()
    routes = []
    for _ in range(int(rng.integers(2, 12))):
        length = int(rng.integers(1, min(4, links) + 1))
        routes.append(tuple(sorted(rng.choice(links, length, replace=False).tolist())))
    sizes = rng.integers(1, 5000, len(routes)).tolist()
    begins = rng.integers(0, 60, len(routes)).tolist()
    return capacities, list(zip(begins, sizes, routes, strict=True))


def ends_by_definition(capacities, transfers):
    """When each transfer ends: between two beginnings or ends, all advance at their fair rates."""
    left = {k: Fraction(size) for k, (_, size, _) in enumerate(transfers)}
    ends, now = {}, Fraction(0)
    while len(ends) < len(transfers):
        active = [k for k in left if transfers[k][0] <= now]
        rates = dict(zip(active, fair_shares([transfers[k][2] for k in active], capacities), strict=True))
        steps = [left[k] / rates[k] for k in active]
        steps += [Fraction(begin) - now for begin, _, _ in transfers if begin > now]
        step = min(steps)
        now += step
        for k in active:
            left[k] -= step * rates[k]
            if left[k] == 0:
                ends[k] = now
                del left[k]
    return [float(ends[k]) for k in range(len(transfers))]


@pytest.mark.parametrize("seed", range(20))
def test_transfers_end_when_an_independent_computation_says(seed):
    capacities, transfers = topology(seed)
    grid = Grid()
    names = [f"link-{k}" for k in range(len(capacities))]
    network = Network(
        grid,
        dict(zip(names, map(float, capacities), strict=True)),
        {f"way-{k}": ([names[link] for link in route], 0.0) for k, (_, _, route) in enumerate(transfers)},
    )
    ends = {}
    for k, (begin, size, _) in enumerate(transfers):
        way = network.ways[f"way-{k}"]
        grid.agenda.at(
            float(begin),
            lambda job, way=way, size=size: way.send(
                size, lambda job: ends.__setitem__(job, grid.agenda.now), job
            ),
            k,
        )
    grid.run()
    expected = ends_by_definition(capacities, transfers)
    assert [ends[k] for k in range(len(transfers))] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert network.bytes_moved == sum(size for _, size, _ in transfers)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_rates_fill_no_link_and_each_flow_has_a_bottleneck(seed):
    capacities, transfers = topology(seed)
    routes = [route for _, _, route in transfers]
    rates = max_min_rates(routes, [1] * len(routes), capacities)
    having = list(zip(rates, routes, strict=True))
    used = [sum(rate for rate, route in having if k in route) for k in range(len(capacities))]
    assert all(total <= most * (1 + 1e-12) for total, most in zip(used, capacities, strict=True))
    for rate, route in having:
        # A link on its way that is full, where nobody has more: more would be taken from who has less.
        assert any(
            used[link] >= capacities[link] * (1 - 1e-12)
            and rate >= max(r for r, other in having if link in other) * (1 - 1e-12)
            for link in route
        )


def test_flows_on_one_route_are_counted_and_routes_without_flows_get_nothing():
    assert max_min_rates([(0,), (0, 1), (1,)], [2, 1, 0], [30.0, 100.0]) == [10.0, 10.0, 0.0]
    assert max_min_rates([(0,), (1,)], [1, 1], [0.0, 5.0]) == [0.0, 5.0]  # a link that is cut


def alone_and_beside(**bulk):
    """End of one transfer of 1,000 bytes over a link of 10 bytes/s and latency 1 s."""
    grid = Grid()
    network = Network(grid, {"a": 10.0, "b": inf}, {"here": (["a", "b"], 1.0)})
    came = []
    network.ways["here"].send(1000.0, lambda _: came.append(grid.agenda.now))
    for begin, size in bulk.get("others", ()):
        grid.agenda.at(begin, lambda size: network.transfer("here", size), size)
    for begin, end in bulk.get("cuts", ()):
        grid.agenda.at(begin, network.cut, "b")
        grid.agenda.at(end, network.mend, "b")
    grid.run()
    return came[0]


def test_a_transfer_is_slowed_by_another_and_stands_still_while_a_link_is_cut():
    assert alone_and_beside() == pytest.approx(101.0)
    assert alone_and_beside(others=[(50.0, 100.0)]) == pytest.approx(111.0)
    assert alone_and_beside(cuts=[(50.0, 80.0)]) == pytest.approx(131.0)
    assert alone_and_beside(cuts=[(50.0, 80.0), (60.0, 90.0)]) == pytest.approx(141.0)


SITE = {"nodes": 4, "policy": "fcfs"}
MOVING = {
    "title": "two sites that share a backbone",
    "network": {"sharing": "max-min", "bandwidth": 100.0, "latency": 2.0, "backbone": 100.0},
    "site": [{"name": "a", **SITE}, {"name": "b", **SITE}],
    "workload": [
        {
            "name": "w",
            "kind": "generated",
            "site": "a",
            "count": 3,
            "interval": 1000.0,
            "runtime": 50.0,
            "data": {"input": 1000.0, "output": 500.0},
        }
    ],
}


def ran(document):
    return simulate(Scenario("test", document, Path()))


def test_a_job_holds_its_slots_while_its_data_moves():
    run = ran(MOVING)
    # 2 s + 10 s in, 50 s of work, 5 s + 2 s out.
    assert [job.execution_time for job in run.record.jobs] == pytest.approx([69.0] * 3)
    assert run.metrics["staging_mean"].value == pytest.approx(19.0)
    assert run.metrics["bytes_moved"].value == 4500.0


def test_a_bulk_transfer_slows_the_jobs_of_a_neighbour():
    bulk = {"name": "bulk", "site": "b", "size": 40_000.0, "interval": 900.0, "count": 1}
    jobs = ran(MOVING | {"transfer": bulk}).record.jobs
    # It shares the backbone with all data of the first job, and what it takes from 900 s on is over by then.
    assert [job.execution_time for job in jobs] == pytest.approx([84.0, 69.0, 69.0])
    elsewhere = ran(MOVING | {"network": MOVING["network"] | {"backbone": inf}, "transfer": bulk}).record.jobs
    assert [job.execution_time for job in elsewhere] == pytest.approx([69.0] * 3)


def test_the_data_of_a_job_that_is_killed_at_a_limit_goes_nowhere():
    site = {"name": "a", **SITE, "queue": {"name": "q", "max_runtime": 40.0}}
    promise = {"name": "w", **MOVING["workload"][0], "promise": 0.5}
    jobs = ran(MOVING | {"site": [site, {"name": "b", **SITE}], "workload": [promise]}).record.jobs
    assert [(job.state, job.execution_time) for job in jobs] == [("expired", pytest.approx(52.0))] * 3


@pytest.mark.parametrize("kind", ["push", "pull", "pilot"])
def test_a_sandbox_travels_with_its_task_and_messages_share_the_way(kind):
    def starts(**changes):
        document = {
            "title": "t",
            "network": {"bandwidth": 1000.0} | changes.pop("network", {}),
            "site": [{"name": "a", **SITE}],
            "middleware": {"kind": kind, "message_size": 100.0, "poll_period": 5.0},
            "workload": [
                {"name": "m", "kind": "generated", "count": 3, "interval": 1.0, "runtime": 50.0} | changes
            ],
        }
        return [job.start for job in ran(document).record.jobs]

    shared = {"network": {"sharing": "max-min"}}
    heavy = starts(**shared, data={"sandbox": 20_000.0})
    assert heavy[0] >= starts(**shared)[0] + 20.0
    if kind == "push":
        # Alone on its way a message takes as long as on a link of constant delay.
        assert starts(**shared) == pytest.approx(starts())


@pytest.mark.parametrize("kind", ["push", "pull", "pilot"])
def test_a_network_without_limits_changes_nothing(kind):
    scenario = load("dirac/shared").override({"middleware.kind": kind, "workload.meta.count": 60})
    plain = simulate(
        scenario.override({"platform.topology.wan_bandwidth": 1e14, "platform.topology.lan_bandwidth": 1e14})
    )
    shared = simulate(
        scenario.override(
            {
                "network.sharing": "max-min",
                "platform.topology.wan_bandwidth": 1e14,
                "platform.topology.lan_bandwidth": 1e14,
            }
        )
    )
    for one, other in zip(plain.record.jobs, shared.record.jobs, strict=True):
        assert other.start == pytest.approx(one.start, abs=1e-6)
        assert other.site == one.site


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"network": {}}, "shared"),
        ({"transfer": {"site": "c", "size": 1.0, "interval": 1.0}}, "no site 'c'"),
    ],
)
def test_what_cannot_move_is_refused(change, words):
    with pytest.raises(ScenarioError, match=words):
        ran(MOVING | change)


def test_best_effort_jobs_move_data_and_leave_in_the_middle_of_it():
    document = MOVING | {
        "site": [{"name": "a", "nodes": 2, "policy": "fcfs"}],
        "harvester": {"site": "a", "controller": "tap", "cycle": 10.0},
        "workload": [
            MOVING["workload"][0] | {"count": 1, "interval": 55.0, "processors": 2.0, "data": {"input": 0.0}},
            {"name": "bag", "kind": "campaign", "count": 2, "runtime": 30.0, "data": {"input": 4000.0}},
        ],
    }
    run = ran(document)
    premium, *bag = run.record.jobs if run.record.jobs[0].kind == "job" else reversed(run.record.jobs)
    assert premium.waiting_time == 0.0
    assert [job.kills for job in bag] == [1, 1]
    assert all(job.state == "done" for job in bag)


@pytest.mark.long
@pytest.mark.parametrize("lease", [None, {"length": 1e5}])
def test_data_of_requests_cross_the_links_of_the_site_where_their_server_stands(lease):
    def ends(network=MOVING["network"], **changes):
        session = {"n_min": 2, "n_max": 2, "deadline": 5.0, "runtime": 10.0, "count": 1, "interval": 1.0}
        document = MOVING | {
            "network": network,
            "sed": {"count": 2, "site": "a", "overhead": 0.0, **({"lease": lease} if lease else {})},
            "client": {"dispatch": "legacy", "n_submit": 2, "spacing": 0.0, "reaction": 0.0},
            "workload": {"kind": "regular"} | session | changes.pop("data", {}),
        }
        return ran(document | changes)

    data = {"request_bytes": 1000.0, "result_bytes": 500.0}
    plain, heavy = ends(), ends(data=data)
    # Two requests share the link of their site: each takes 20 s, and then its result 10 s and 2 s.
    assert [job.start for job in heavy.record.jobs] == pytest.approx(
        [job.start + 20.0 for job in plain.record.jobs]
    )
    assert heavy.metrics["bytes_moved"].value == 3000.0
    assert heavy.record.stays[0].leave == pytest.approx(heavy.record.jobs[0].end + 12.0)
    bulk = {"name": "bulk", "site": "b", "size": 1000.0, "interval": 8.0, "count": 1}
    beside = ends(data=data, transfer=bulk).record.jobs
    assert [job.start for job in beside] == pytest.approx([job.start + 10.0 for job in heavy.record.jobs])
    unshared = ends(MOVING["network"] | {"sharing": "none"}, data=data).record.jobs
    assert [job.start for job in unshared] == pytest.approx([job.start + 10.0 for job in plain.record.jobs])
