"""Deadline scheduling as a plug-in of a hierarchy of agents: what it places, and what nobody knows there."""

import pytest

from gridtune.model.gridrpc.estimation import EstimationVector
from gridtune.model.gridrpc.selection import ByDisplaced
from gridtune.scenarios import load, simulate
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from tests.test_deadline import TABLE_1_STEPS

DECISIONS = ("assigned", "fallback", "resubmitted", "put back", "rejected")
PLUG_IN = {"agent.discovery": "hierarchy", "hierarchy.rank": "displaced"}


def decisions(scenario, seed=1):
    run = simulate(scenario, seed, keep_events=True)
    return [
        (time, event, job, site) for time, event, job, site, _ in run.record.journal if event in DECISIONS
    ]


def two_servers(latency=0.0, users=("one", "two"), **values):
    tasks = [{"user": user, "priority": 5, "deadline": 14, "times": {"a": 8, "b": 9}} for user in users]
    document = {
        "title": "test",
        "network": {"latency": latency},
        "server": [{"name": "a"}, {"name": "b"}],
        "agent": {"routing": "priority"},
        "workload": [{"name": "task", "kind": "task-list", "tasks": tasks}],
    }
    return Scenario("test", document, load("deadline/example").base).override(values)


def test_table_1_comes_out_in_the_published_nine_steps_through_a_tree():
    run = simulate(load("deadline/plug-in"), keep_events=True)
    steps = [(event, job, site) for _, event, job, site, _ in run.record.journal if event in DECISIONS]
    assert steps == TABLE_1_STEPS
    assert {job.id: (job.site, job.end) for job in run.record.jobs} == {
        1: ("S3", 6), 2: ("S1", 5), 3: ("S3", 21), 4: ("S1", 15), 5: ("S2", 14),
    }  # fmt: skip
    assert {agent for agent, kind, _ in run.record.messages if kind == "discover"} == {
        "task-client", "master-agent", "cluster-1", "cluster-2",
    }  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("unplaced", ["stay", "reject"])
@pytest.mark.parametrize("tree", [{}, {"hierarchy.depth": 2, "hierarchy.fan_out": 3}])
def test_one_client_through_a_tree_without_latency_decides_as_the_agent_that_knows_all(tree, unplaced):
    few = {"workload.count": 150, "server.count": 12, "workload.users": 1}
    routing = {"agent.routing": {"kind": "priority", "unplaced": unplaced}}
    scenario = load("deadline/fig4c").override(few | routing)
    direct = decisions(scenario)
    assert sum(event == "fallback" for _, event, _, _ in direct) > 50
    assert decisions(scenario.override(PLUG_IN | tree)) == direct


def test_clients_who_ask_at_once_are_told_of_the_same_gap_and_servers_mend_it():
    assert [site for *_, site in decisions(two_servers())] == ["a", "b"]
    through = two_servers(**PLUG_IN)
    assert [site for *_, site in decisions(through)] == ["a", "a"]
    late = through.override({"agent.routing": {"kind": "priority", "fallback": "none"}})
    assert simulate(late).metrics["missed"].value == 1
    one = two_servers(users=("one", "one"), **PLUG_IN)
    assert [site for *_, site in decisions(one)] == ["a", "b"]


def test_a_task_is_placed_once_the_question_has_gone_up_and_down_the_tree():
    tree = {"hierarchy.depth": 2}
    for latency, levels in ((1.0, {}), (0.5, tree)):
        (first, *_), *_ = decisions(two_servers(latency, **PLUG_IN, **levels))
        assert first == 2 * latency * (2 + levels.get("hierarchy.depth", 0))


def test_servers_that_become_late_are_ranked_behind_and_strangers_last():
    vectors = [
        EstimationVector(0, {"estimated_completion": 1.0}),
        EstimationVector(1, {"displaced": 1, "estimated_completion": 2.0}),
        EstimationVector(2, {"displaced": 0, "estimated_completion": 9.0}),
        EstimationVector(3, {"displaced": 0, "estimated_completion": 3.0}),
    ]
    assert [vector.server for vector in ByDisplaced().best(vectors, 9)] == [3, 2, 1, 0]


def test_interrupted_tasks_are_placed_anew_through_the_tree():
    scenario = load("federation/small").override(PLUG_IN)
    parts = {f"parts.{part}": part in ("deadline", "local") for part in scenario.spec.parts}
    leased = {"server.server.lease": {"length": 1800.0, "startup": 20.0}}
    run = simulate(scenario.override(parts | leased), keep_events=True)
    tasks = {job.id for job in run.record.jobs if job.kind == "task"}
    killed = {job for _, event, job, _, _ in run.record.journal if event == "killed" and job in tasks}
    again = {job for _, event, job, _, _ in run.record.journal if event == "resubmitted"}
    assert killed
    assert killed & again


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"agent.count": 2}, "agent.count: .*client"),
        ({"agent.load_correction": False}, "agent.load_correction: there is nothing to correct"),
        ({"agent.routing": "mct"}, "agent.routing: mct tries servers in turn"),
        ({"server.S1.parent": "nobody"}, "server.S1: parent: no agent 'nobody'"),
        ({"agent.discovery": "direct"}, "server.S1.parent: nobody asks it"),
    ],
)
def test_what_servers_that_answer_for_themselves_cannot_have_is_named(change, message):
    with pytest.raises(ScenarioError, match=message):
        _ = load("deadline/plug-in").override(change).spec
