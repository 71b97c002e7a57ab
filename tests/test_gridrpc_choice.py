"""GridRPC: services, estimation vectors, plug-in schedulers, the client's choice, trees and machines."""

import pytest

from gridtune.agents.gridrpc.machine import Machine
from gridtune.model.grid import Grid
from gridtune.model.gridrpc.dispatch import Submission
from gridtune.model.gridrpc.estimation import EstimationVector, History, ServerState
from gridtune.model.gridrpc.selection import BestEstimate, ByCompletion, ByLoad, ByTag, RandomChoice
from gridtune.scenarios import ScenarioError, build, load, simulate
from gridtune.scenarios.document.scenario import Scenario

TREE = {
    "title": "any",
    "network": {"latency": 0.001},
    "local_agent": [
        {"name": "north", "latency": 0.1},
        {"name": "cluster", "parent": "north", "keep": 2},
        {"name": "south", "rank": {"kind": "tag", "tag": "power", "largest": True}},
    ],
    "sed": [
        {"name": "lu", "count": 4, "parent": "cluster", "services": ["lu"]},
        {"name": "both", "count": 2, "parent": "south", "services": ["lu", "solve"], "speed": 2.0},
    ],
    "client": [
        {"name": "new", "dispatch": "ethic"},
        {"name": "old", "dispatch": "legacy", "n_submit": 5},
    ],
    "workload": [
        {
            "name": "a", "kind": "regular", "count": 3, "interval": 1.0, "n_min": 2, "n_max": 30,
            "deadline": 20.0, "runtime": 1.0, "service": "lu",
        },
        {
            "name": "b", "kind": "session-list", "client": "old", "service": "solve",
            "session": [
                {"user": "ann", "arrival": 2.0, "deadline": 9.0, "n_min": 1, "n_max": 9, "runtime": 1.0},
            ],
        },
    ],
}  # fmt: skip


def tree(**changes):
    return Scenario("tree", {**TREE, **changes}, load("diet/day-regular").base)


def unhappy(name="diet/two-speeds", **values):
    made = load(name).override({key.replace("__", "."): value for key, value in values.items()})
    return simulate(made).metrics["unhappy_users"].value


def test_clients_that_go_by_estimates_leave_nobody_with_a_slow_server():
    assert unhappy() == 0
    assert unhappy(client__dispatch="legacy") == 0
    assert unhappy(client__choice="round-robin") == 20
    assert unhappy(client__choice="random") > 0


def test_what_nobody_knows_flatters_no_server():
    unused = ServerState(0.25, 1e9, 0, 0, 0, 0, 0.0)
    used = unused._replace(executed=2, executed_time=80.0, waiting=1)
    assert History().values("", unused)["estimated_completion"] == float("inf")
    assert History(prior=10.0).values("", unused)["estimated_completion"] == 40.0
    assert History().values("", used)["estimated_completion"] == 80.0


def vectors(*given):
    return [EstimationVector(k, values) for k, values in enumerate(given)]


def test_agents_order_by_what_their_plug_in_says():
    found = vectors({"load": 2.0, "power": 4.0}, {"load": 1.0, "power": 1.0}, {"power": 2.0})
    assert [one.server for one in ByLoad().best(found, 9)] == [1, 0, 2]
    assert [one.server for one in ByTag().best(found, 2)] == [0, 2]
    assert [one.server for one in ByTag(tag="load", largest=False).best(found, 9)] == [1, 0, 2]
    assert [one.server for one in ByCompletion().best(found, 9)] == [0, 2, 1]


def test_a_client_counts_what_it_sends_itself():
    found = vectors(
        {"estimated_completion": 10.0, "service_time": 10.0, "power": 1.0},
        {"estimated_completion": 15.0, "service_time": 5.0, "power": 1.0},
    )
    plan = [Submission(1, True), Submission(0, True), Submission(0, True), Submission(1, False, True)]
    made = BestEstimate().assign(plan, found, None)
    assert [one.server for one in made] == [0, 1, 0, 1]  # done at 10, 15, 20; the last is bound to its server


def test_servers_answer_only_for_services_that_they_offer_and_clients_differ():
    run = simulate(tree())
    sites = {}
    for job in run.record.jobs:
        sites.setdefault(job.user, set()).add(job.site)
    assert sites["ann"] == {"both-000", "both-001"}
    assert len([job for job in run.record.jobs if job.user == "ann"]) == 5
    for user in ("a-000", "a-001", "a-002"):
        assert sites[user] >= {"both-000", "both-001"}
        assert sum(site.startswith("lu") for site in sites[user]) == 2  # the cluster hands up two
    assert {agent for agent, kind, _ in run.record.messages if kind == "discover"} == {
        "client-node", "master-agent", "north", "cluster", "south"
    }  # fmt: skip


def test_a_slow_level_delays_discovery_by_its_way_there_and_back():
    near = tree(local_agent=[{**agent, "latency": 0.001} for agent in TREE["local_agent"]])
    first = [min(job.submit for job in simulate(made).record.jobs) for made in (near, tree())]
    assert first[1] - first[0] == pytest.approx(2 * 0.099)


def test_levels_of_a_uniform_tree_differ_in_latency_and_filter():
    deep = {"hierarchy.depth": 1, "hierarchy.fan_out": 2, "workload.count": 1}
    plain = simulate(load("diet/day-regular").override(deep))
    made = load("diet/day-regular").override({**deep, "hierarchy.level": [{}, {"latency": 0.5, "keep": 3}]})
    changed = simulate(made)
    assert len({job.site for job in plain.record.jobs}) == 10
    assert len({job.site for job in changed.record.jobs}) == 6
    assert changed.record.jobs[0].submit - plain.record.jobs[0].submit == pytest.approx(2 * 0.499)


def test_data_travel_with_requests_and_results():
    base = load("diet/day-regular").override({"workload.count": 1, "workload.n_max": 3})
    slow = {"network.bandwidth": 1e6, "workload.request_bytes": 5e5, "workload.result_bytes": 2e6}
    plain, moved = (simulate(made).record.jobs for made in (base, base.override(slow)))
    assert [b.queued - a.queued for a, b in zip(plain, moved, strict=True)] == pytest.approx([0.5] * 3)
    assert unhappy("diet/day-regular", **{k.replace(".", "__"): v for k, v in slow.items()}) == 0
    own = base.override(slow | {"sed.bandwidth": 1e9})
    assert simulate(own).record.jobs[0].queued - plain[0].queued == pytest.approx(5e-4)


def test_sessions_are_drawn_listed_and_read(tmp_path):
    made = load("diet/day-regular").override(
        {
            "workload.deadline": {"law": "uniform", "low": 50.0, "high": 150.0},
            "workload.n_min": {"law": "uniform", "low": 0.0, "high": 9.0},
            "sed.speed": {"law": "uniform", "low": 0.5, "high": 2.0},
        }
    )
    stays = simulate(made).record.stays
    assert len({stay.n_min for stay in stays}) > 3
    assert len({stay.deadline - stay.entry for stay in stays}) == 10
    (tmp_path / "s.csv").write_text("user,arrival,deadline,n_min,n_max,runtime\neve,3,20,1,4,2\n")
    listed = {"kind": "session-list", "name": "l", "service": "lu", "file": str(tmp_path / "s.csv")}
    (stay,) = simulate(tree(workload=[listed])).record.stays
    assert (stay.user, stay.entry, stay.deadline, stay.n_min) == ("eve", 3.0, 23.0, 1)
    (tmp_path / "s.csv").write_text("user,arrival,deadline,n_min,n_max,runtime\neve,3,20,5,4,2\n")
    with pytest.raises(ScenarioError, match=r"s\.csv: line 2: .*n_min"):
        simulate(tree(workload=[listed]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"local_agent": [{"name": "cluster", "parent": "south"}, {"name": "south", "parent": "cluster"}]},
            "below itself",
        ),
        ({"local_agent": [{"name": "cluster"}]}, "no agent 'south'"),
        ({"hierarchy": {"depth": 1}}, "uniform or written out"),
        ({"workload": [{**TREE["workload"][0], "service": "qr"}]}, "no .*sed.* offers 'qr'"),
        ({"workload": [{**TREE["workload"][0], "client": "nobody"}]}, "no .*client.* 'nobody'"),
        ({"workload": [{**TREE["workload"][0], "n_min": 2.5}]}, "whole number"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes, message):
    with pytest.raises(ScenarioError, match=message):
        build(tree(**changes))


def test_processes_of_a_machine_share_it_and_each_takes_its_messages_in_turn():
    grid, seen = Grid(), []
    machine = Machine(grid, 1.0)
    for process, name in (("a", "a1"), ("a", "a2"), ("b", "b1")):
        machine.handle(process, lambda name: seen.append((grid.now, name)), name)
    grid.agenda.run(10.0)
    # a1 and b1 share the processor until 2 s; then a2 has it alone.
    assert sorted(seen) == [(2.0, "a1"), (2.0, "b1"), (3.0, "a2")]
    assert machine.busy == 3.0


def test_messages_that_cost_nothing_change_nothing_and_costly_ones_delay():
    base = load("diet/day-regular").override({"workload.count": 2})
    free, costly = (
        simulate(made).record.jobs for made in (base, base.override({"message_cost.client": 0.2}))
    )
    assert free[0].queued < costly[0].queued
    assert len(costly) < len(free)


def test_random_choices_come_from_the_clients_stream():
    import numpy as np

    plan = [Submission(0, True)] * 20
    found = vectors(*({} for _ in range(4)))
    first, again = (RandomChoice().assign(plan, found, np.random.default_rng(5)) for _ in range(2))
    assert first == again
    assert {one.server for one in first} == {0, 1, 2, 3}


def test_servers_that_fail_lose_their_requests_and_clients_submit_them_again():
    fault = {
        "name": "crash",
        "kind": "server",
        "between": {"law": "exponential", "mean": 20.0},
        "repair": 10.0,
    }
    base = load("diet/day-regular").document
    made = Scenario("any", {**base, "fault": [fault]}, load("diet/day-regular").base)
    whole, failing = simulate(load("diet/day-regular")), simulate(made, keep_events=True)
    assert failing.record.counters["faults"] > 10
    owed = [job for job in failing.record.jobs if job.mandatory]
    assert (len(owed), {job.state for job in owed}) == (30, {"done"})
    went = {}
    for _, event, job, site, _ in failing.record.journal:
        if event == "queued":
            went.setdefault(job, set()).add(site)
    assert max(len(went[job.id]) for job in owed) > 1
    for name in ("lost_jobs", "never_submitted", "unhappy_users"):
        assert failing.metrics[name].value == 0
    assert failing.metrics["completed"].value < 0.9 * whole.metrics["completed"].value
    down = {}
    for time, event, _, site, _ in failing.record.journal:
        if event == "fault":
            down[site.partition(":")[2]] = time
        elif event == "mended":
            down.pop(site.partition(":")[2])
        elif event == "started":
            assert site not in down


def test_requests_that_servers_lose_when_their_user_has_left_are_wanted_no_more():
    fault = {"name": "crash", "kind": "server", "between": {"law": "exponential", "mean": 3.0}, "repair": 2.0}
    base = load("diet/day-regular").document
    client = [{**base["client"][0], "retry": 4.0}]
    made = Scenario("any", {**base, "client": client, "fault": [fault]}, load("diet/day-regular").base)
    run = simulate(made)
    assert {job.state for job in run.record.jobs} <= {"done", "cancelled"}


def test_faults_of_gridrpc_servers_leave_those_of_tasks_alone():
    fault = {
        "name": "crash",
        "kind": "server",
        "between": {"law": "exponential", "mean": 300.0},
        "repair": 9.0,
    }
    made = load("federation/small")  # of which these two parts, on nodes of their own
    made = made.override({f"parts.{part}": part in ("gridrpc", "deadline") for part in made.spec.parts})
    faults = made.document["fault"]
    whole, failing = (
        simulate(Scenario("any", {**made.document, "fault": [*faults, *more]}, made.base))
        for more in ([], [fault])
    )
    for name in ("missed", "rejected", "completed.task"):
        assert failing.metrics[name] == whole.metrics[name]
    assert failing.metrics["faults"].value > 0


def test_a_client_looks_again_until_a_server_is_there():
    fault = {"name": "crash", "kind": "server", "between": 1.0, "repair": 30.0}
    base = load("diet/day-regular").document
    late = {
        "name": "user", "kind": "session-list",
        "session": [
            {"user": "eve", "arrival": 5.0, "deadline": 50.0, "n_min": 2, "n_max": 2, "runtime": 0.1}
        ],
    }  # fmt: skip
    made = Scenario("any", {**base, "fault": [fault], "workload": [late]}, load("diet/day-regular").base)
    jobs = simulate(made).record.jobs
    assert min(job.submit for job in jobs) > 31.0
    assert sum(job.state == "done" for job in jobs) == 2
    with pytest.raises(ScenarioError, match=r"no .*sed.* 'x'"):
        build(Scenario("any", {**base, "fault": [{**fault, "server": "x"}]}, made.base))
