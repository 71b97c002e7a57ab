"""DIET and DIET-ethic: the paper's numbers, and what must hold whatever the workload."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.agents.gridrpc.client import Client, ClientHabits, Session
from gridtune.agents.gridrpc.hierarchy import MasterAgent
from gridtune.agents.gridrpc.sed import SeD
from gridtune.model.gridrpc.dispatch import EthicDispatch
from gridtune.model.job import State
from gridtune.model.network import Link
from gridtune.scenarios import build, load, simulate
from gridtune.scenarios.document.scenario import Scenario


def metrics(name, seed=1, **values):
    scenario = load(name).override({key.replace("__", "."): value for key, value in values.items()})
    return {name: metric.value for name, metric in simulate(scenario, seed).metrics.items()}


@pytest.mark.parametrize(
    ("n_submit", "completed", "tolerance"),
    [(50, 500, 0), (100, 1000, 0), (150, 1500, 0), (190, 1890, 0), (300, 1840, 5), (1000, 1800, 5)],
)
def test_legacy_clients_with_regular_arrivals(n_submit, completed, tolerance):
    made = metrics("diet/day-regular", client__dispatch="legacy", client__n_submit=n_submit)
    assert abs(made["completed"] - completed) <= tolerance
    assert made["unhappy_users"] == 0


def test_legacy_unfairness_is_what_arithmetic_says():
    made = metrics("diet/day-regular", client__dispatch="legacy", client__n_submit=150)
    assert made["unfairness"] == pytest.approx(150 * (1 / 139.127 - 1 / 292.897), rel=1e-4)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ethic_clients_with_regular_arrivals(seed):
    made = metrics("diet/day-regular", seed)
    assert 1835 <= made["completed"] <= 1855
    assert made["killed"] == made["killed_by_mandatory"] == 27
    assert made["unhappy_users"] == 0
    assert made["unfairness"] <= 0.15


@pytest.mark.long
def test_scalability():
    made = metrics("diet/scalability")
    assert 13500 <= made["completed"] <= 13800
    assert made["unhappy_users"] == 0
    assert made["unfairness"] <= 0.70


def test_a_cumulative_counter_lets_newcomers_starve_the_others():
    fair = metrics("diet/day-regular", sed__discipline="ethic")
    literal = metrics(
        "diet/day-regular", sed__discipline__kind="ethic", sed__discipline__fair_counter="cumulative"
    )
    assert literal["unfairness"] > 0.7 > 0.15 > fair["unfairness"]


@pytest.mark.parametrize("window", [1, 2])
def test_who_comes_back_gets_a_third_beside_two_who_stayed(window):
    grid = build(load("diet/day-regular").override({"sed.count": 4, "workload.count": 1}))
    habits = ClientHabits(EthicDispatch(window=window), 3, 0.0005, 0.001, "client-node")
    (master,) = (agent for agent in grid.agents if isinstance(agent, MasterAgent))
    servers = sorted((agent for agent in grid.agents if isinstance(agent, SeD)), key=lambda sed: sed.index)
    stays = [("back", 0.0, 20.0), ("a", 0.0, 4000.0), ("b", 0.0, 4000.0), ("back", 3000.0, 4000.0)]
    visits = [Session(user, start, end, 3, 100_000, (1.0,)) for user, start, end in stays]

    def arrive(session):
        Client(grid, session, habits, master, servers, Link()).enter()

    for session in visits:
        grid.agenda.at(session.arrival, arrive, session)
    grid.agenda.run(4001.0)
    second = [job for job in grid.record.jobs if job.state == "done" and 3000.0 <= job.end <= 4000.0]
    third = sum(job.user == "back" for job in second) / len(second)
    assert len(second) > 3500
    assert third == pytest.approx(1 / 3, rel=0.05)


def test_dropping_displaced_requests_costs_their_users_a_server():
    requeued, dropped = (metrics("diet/day-regular", sed__killed=rule) for rule in ("requeue", "drop"))
    assert dropped["unfairness"] > requeued["unfairness"]
    assert dropped["killed"] == requeued["killed"] == 27


def test_a_deeper_hierarchy_finds_the_same_servers_with_more_messages():
    flat, deep = (
        simulate(load("diet/day-regular").override({"hierarchy.depth": depth, "hierarchy.fan_out": 3}))
        for depth in (0, 2)
    )
    assert deep.metrics["completed"].value == pytest.approx(flat.metrics["completed"].value, rel=0.01)
    agents = {agent for agent, _, _ in deep.record.messages}
    assert sum(agent.startswith("local-agent") for agent in agents) == 3 + 9


def test_agents_keep_the_best_k():
    run = simulate(load("diet/day-regular").override({"hierarchy.keep": 4, "workload.count": 1}))
    assert len({job.site for job in run.record.jobs}) == 4


def test_a_larger_window_keeps_servers_busy_over_slow_links():
    slow = {"network.latency": 0.2, "workload.count": 1}
    narrow, wide = (
        simulate(
            load("diet/day-regular").override(
                {**slow, "client.dispatch": {"kind": "ethic", "window": window}}
            )
        )
        for window in (1, 2)
    )
    assert wide.metrics["completed"].value > 1.3 * narrow.metrics["completed"].value


@st.composite
def documents(draw):
    """Any small GridRPC scenario: servers, clients, two workloads."""
    discipline = draw(
        st.sampled_from([None, "fcfs", "ethic", {"kind": "ethic", "fair_counter": "cumulative"}])
    )
    workloads = []
    for name in ("a", "b"):
        n_min = draw(st.integers(0, 5))
        workloads.append(
            {
                "name": name,
                "kind": "regular",
                "count": draw(st.integers(1, 4)),
                "interval": draw(st.sampled_from([0.0, 0.5, 1.0, 3.0])),
                "n_min": n_min,
                "n_max": n_min + draw(st.integers(1, 30)),
                "deadline": draw(st.sampled_from([0.5, 2.0, 10.0])),
                "runtime": draw(st.sampled_from([0.25, 1.0, {"law": "uniform", "low": 0.1, "high": 2.0}])),
            }
        )
    sed = {
        "name": "sed",
        "count": draw(st.integers(1, 4)),
        "speed": draw(st.sampled_from([0.5, 1.0, 2.0])),
        "overhead": draw(st.sampled_from([0.0, 0.001])),
        "killed": draw(st.sampled_from(["requeue", "drop"])),
    }
    if discipline is not None:
        sed["discipline"] = discipline
    return {
        "title": "any",
        "network": {"latency": draw(st.sampled_from([0.0, 0.01]))},
        "hierarchy": {"depth": draw(st.integers(0, 2)), "fan_out": 2},
        "sed": [sed],
        "client": [
            {
                "name": "client",
                "dispatch": draw(st.sampled_from(["ethic", "legacy", {"kind": "ethic", "window": 3}])),
                "n_submit": draw(st.integers(1, 20)),
            }
        ],
        "workload": workloads,
    }


def scenario(document):
    return Scenario("any", document, load("diet/day-regular").base)


@settings(max_examples=60, deadline=None)
@given(documents())
def test_nothing_is_lost_and_no_server_does_two_things_at_once(document):
    run = simulate(scenario(document), keep_events=True)
    record, spec = run.record, run.scenario.spec
    assert all(job.state in (State.DONE, State.CANCELLED) for job in record.jobs)
    assert all(job.state is State.DONE for job in record.jobs if job.mandatory)
    sed = spec.sed[0]
    held: dict[str, list[tuple[float, float]]] = {}
    started: dict[int, tuple[float, str]] = {}
    by_id = {job.id: job for job in record.jobs}
    busy = 0.0
    for time, event, job, _, node in record.journal:
        if event == "started":
            started[job] = (time, node)
        elif job in started:
            begin, place = started.pop(job)
            held.setdefault(place, []).append((begin, time))
            busy += time - begin
            if event == "done":
                service = sed.overhead + by_id[job].runtime / sed.speed.value
                assert time - begin == pytest.approx(service)
    for intervals in held.values():
        intervals.sort()
        assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(intervals))
    done = sum(job.end - job.start for job in record.jobs if job.state is State.DONE)
    assert busy == pytest.approx(done + sum(job.wasted for job in record.jobs))
    assert run.metrics["utilisation"].value <= 1 + 1e-9
    assert all(stay.leave >= stay.deadline for stay in record.stays)


@settings(max_examples=25, deadline=None)
@given(documents(), st.sampled_from([0.3, 1.0, 7.0]))
def test_stepping_and_running_give_identical_jobs(document, step_length):
    def fates(grid):
        return [(job.id, job.user, job.site, job.start, job.end, str(job.state)) for job in grid.record.jobs]

    with build(scenario(document)) as at_once:
        at_once.run()
        expected = repr(fates(at_once))
    with build(scenario({**document, "step_length": step_length})) as stepwise:
        while stepwise.running:
            stepwise.step()
        assert repr(fates(stepwise)) == expected


def test_equal_seeds_give_equal_runs_and_policies_do_not_change_the_workload():
    name = "diet/day-irregular-random"
    first, again, other = (simulate(load(name), seed).record.stays for seed in (5, 5, 6))
    assert first == again
    assert first != other
    legacy = simulate(load(name).override({"client.dispatch": "legacy"}), 5).record.stays
    assert [(stay.user, stay.entry, stay.demand) for stay in legacy] == [
        (stay.user, stay.entry, stay.demand) for stay in first
    ]
