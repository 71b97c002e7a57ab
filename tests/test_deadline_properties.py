"""Deadline scheduling: what must hold whatever the workload, the platform and the errors."""

from collections import Counter, defaultdict
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.model.job import State
from gridtune.scenarios import ScenarioError, build, load, simulate
from gridtune.scenarios.document.scenario import Scenario
from tests.test_deadline import listed, scenario

COURSES = st.sampled_from(
    [
        1.0,
        {"course": "fixed", "value": {"law": "uniform", "low": 0.3, "high": 1.0}},
        {
            "course": "drawn",
            "value": {"law": "uniform", "low": 0.1, "high": 1.0},
            "hold": {"law": "exponential", "mean": 5.0},
        },
        {"course": "listed", "steps": [[0, 1.0], [10, 0.2], [40, 0.9]]},
    ]
)
LINKS = st.sampled_from(
    [
        None,
        1000.0,
        {
            "course": "drawn",
            "value": {"law": "loguniform", "low": 50.0, "high": 5000.0},
            "hold": {"law": "exponential", "mean": 4.0},
        },
    ]
)
OWN_LINKS = st.sampled_from([{}, {"task": {"bandwidth": 200.0, "latency": 0.3}}])
ROUTINGS = st.one_of(
    st.just("greedy"),
    st.builds(lambda time: {"kind": "mct", "ack_timeout": time}, st.sampled_from([1.0, 2.0])),
    st.builds(
        lambda share, prefer: {"kind": "deadline", "conservatism": share, "prefer": prefer},
        st.sampled_from([0.5, 1.0]),
        st.sampled_from(["earliest", "latest"]),
    ),
    st.builds(
        lambda share, fallback: {"kind": "priority", "conservatism": share, "fallback": fallback},
        st.sampled_from([0.5, 1.0]),
        st.sampled_from(["none", "displaced", "slipped"]),
    ),
)
ERRORS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["perfect", "measured", "nws"]),
        "bias": st.sampled_from([0.5, 1.0, 1.7]),
        "spread": st.sampled_from([0.0, 0.5]),
        "noise": st.sampled_from([0.0, 0.5]),
    }
)


@st.composite
def documents(draw, routings=ROUTINGS):
    """Any small grid of servers, with tasks that come faster than it can do them."""
    servers = [
        {
            "name": name,
            "count": draw(st.integers(1, 3)),
            "speed": draw(st.sampled_from([1.0, 0.5, {"law": "uniform", "low": 0.5, "high": 2.0}])),
            "availability": draw(COURSES),
            "bandwidth": draw(LINKS),
            "memory": draw(st.sampled_from([1.0, 2.0])),
            "links": draw(OWN_LINKS),
        }
        for name in ("fast", "slow")
    ]
    for server in servers:
        if server["bandwidth"] is None:
            del server["bandwidth"]
    workload = {
        "name": "task",
        "kind": "tasks",
        "count": draw(st.integers(1, 40)),
        "window": draw(st.sampled_from([0.0, 20.0, 100.0])),
        "runtime": {"law": "uniform", "low": 1.0, "high": 20.0},
        "input": draw(st.sampled_from([0.0, 500.0])),
        "output": draw(st.sampled_from([0.0, 500.0])),
        "memory": draw(st.sampled_from([0.0, {"law": "uniform", "low": 0.5, "high": 2.5}])),
        "priority": {"low": 1, "high": draw(st.integers(1, 10))},
        "deadline_factor": draw(st.sampled_from([1.5, 5.0])),
    }
    return {
        "network": {"latency": draw(st.sampled_from([0.0, 0.1]))},
        "server": servers,
        "agent": {
            "routing": draw(routings),
            "forecast": draw(ERRORS),
            "correction": draw(st.sampled_from(["none", "average", "listing"])),
            "probe_period": 3.0,
        },
        "workload": [workload],
    }


@pytest.mark.long
@given(document=documents(), seed=st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_no_task_is_lost_or_run_twice_and_no_server_does_two_things_at_once(document, seed):
    run = simulate(scenario(document), seed, keep_events=True)
    jobs = run.record.jobs
    assert len(jobs) == document["workload"][0]["count"]
    assert {job.state for job in jobs} <= {State.DONE, State.REJECTED}
    starts = Counter(job for _, event, job, _, _ in run.record.journal if event == "started")
    assert starts == {job.id: 1 for job in jobs if job.state is State.DONE}
    held = defaultdict(list)
    for job in jobs:
        if job.state is State.DONE:
            held[job.node].append((job.start, job.end))
    for intervals in held.values():
        assert all(end <= begin for (_, end), (begin, _) in pairwise(sorted(intervals)))
    metrics = {name: metric.value for name, metric in run.metrics.items()}
    assert metrics["executed"] + metrics["missed"] == len(jobs)
    assert metrics["missed_high_priority"] + metrics["missed_low_priority"] == metrics["missed"]
    assert metrics["rejected"] == sum(job.state is State.REJECTED for job in jobs)
    assert metrics["rejected"] <= metrics["missed"]
    placements = Counter(event for _, event, *_ in run.record.journal)
    assert placements["fallback"] == metrics["fallbacks"]
    assert placements["resubmitted"] == metrics["resubmissions"] <= metrics["fallbacks"]


@given(document=documents(), seed=st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_the_agent_knows_every_queue(document, seed):
    with build(scenario(document), seed) as grid:
        (agent,) = (agent for agent in grid.agents if type(agent).__name__ == "SchedulingAgent")

        def compare(_):
            for server in agent.servers:
                assert list(server.queue.jobs()) == agent.timetable.waiting[server.index]

        grid.agenda.every(0.5, compare)
        grid.run()
        compare(None)


@pytest.mark.long
@given(document=documents(), seed=st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_with_fallback_and_forecasts_that_come_true_nothing_runs_late(document, seed):
    document["agent"]["forecast"] = "perfect"
    document["agent"]["correction"] = "none"
    document["agent"]["routing"] = {"kind": "priority", "fallback": "displaced", "unplaced": "reject"}
    for server in document["server"]:
        server["availability"] = 1.0
        server["bandwidth"] = 700.0
    run = simulate(scenario(document), seed)
    assert run.metrics["forecast_error"].value < 1e-12
    # 1e-9: a plan adds the same times in another order than the clock does.
    assert all(job.end < job.deadline + 1e-9 for job in run.record.jobs if job.state is State.DONE)


@pytest.mark.long
@given(document=documents(), seed=st.integers(0, 3))
@settings(max_examples=25, deadline=None)
def test_with_equal_priorities_fallback_changes_nothing(document, seed):
    document["workload"][0]["priority"] = 4
    runs = []
    for fallback in ("none", "displaced"):
        document["agent"]["routing"] = {"kind": "priority", "fallback": fallback}
        run = simulate(scenario(document), seed)
        runs.append([(job.site, job.state, str(job.start), str(job.end)) for job in run.record.jobs])
        assert run.metrics["fallbacks"].value == 0
    assert runs[0] == runs[1]


@given(document=documents(), seed=st.integers(0, 3))
@settings(max_examples=15, deadline=None)
def test_equal_seeds_give_equal_runs(document, seed):
    first, second = (simulate(scenario(document), seed) for _ in range(2))
    assert repr(first.metrics) == repr(second.metrics)


def test_a_task_goes_only_where_it_can_be_done():
    document = {
        "server": [
            {"name": "small", "count": 2, "memory": 10.0, "software": ["blas"]},
            {"name": "large", "count": 2, "memory": 99.0, "speed": 0.1},
        ],
        "agent": {"routing": "greedy"},
        "workload": [
            {
                "name": name,
                "kind": "tasks",
                "count": 6,
                "runtime": 5.0,
                "memory": memory,
                "software": software,
            }
            for name, memory, software in (("a", 50.0, ""), ("b", 1.0, "blas"), ("c", 50.0, "blas"))
        ],
    }
    run = simulate(scenario(document))
    where = {name: {job.site[:5] for job in run.record.jobs if job.user.startswith(name)} for name in "abc"}
    assert where == {"a": {"large"}, "b": {"small"}, "c": {""}}
    assert run.metrics["rejected"].value == 6


SLOWER = {"course": "listed", "steps": [[0, 100.0], [1, 10.0]]}  # measured at 0 s only
BLIND = {"forecast": "measured", "probe_period": 1000.0}


def test_a_link_that_has_become_slow_costs_the_time_out_and_the_next_server_is_tried():
    tasks = [{"arrival": time, "times": {"s": 1, "t": 1}, "input": 400.0} for time in (0.5, 40.0)]
    servers = {"s": {"bandwidth": SLOWER}, "t": {"bandwidth": 50.0}}
    run = simulate(listed(tasks, servers, routing="mct", **BLIND))
    first, second = run.record.jobs
    # Sent: 50 B in the first half second, 350 B at 10 B/s. Then the agent still expects 4 s of S, 8 s of T.
    assert (first.site, first.end) == ("s", 0.5 + 0.5 + 35.0 + 1.0)
    assert (second.site, second.queued, second.end) == ("t", 40.0 + 2 * 400 / 100, 48.0 + 8.0 + 1.0)
    assert run.metrics["ack_timeouts"].value == 1


def test_a_task_that_no_server_acknowledges_is_rejected():
    tasks = [{"arrival": 5.0, "times": {"s": 1}, "input": 400.0}]
    run = simulate(listed(tasks, {"s": {"bandwidth": SLOWER}}, routing="mct", **BLIND))
    assert (run.record.jobs[0].state, run.record.jobs[0].end) == (State.REJECTED, 13.0)
    assert run.metrics["missed"].value == 1


def test_tasks_that_wrong_forecasts_made_late_are_moved_only_where_asked():
    # S is half as fast as forecast from 1 s on: the third task would end there at 39 s, not at 20 s.
    tasks = [
        {"priority": 1, "deadline": 99, "times": {"s": 10}},
        {"priority": 1, "deadline": 99, "times": {"t": 18}},
        {"priority": 1, "deadline": 27, "times": {"s": 10, "t": 6}, "arrival": 0.5},
    ]
    servers = {"s": {"availability": {"course": "listed", "steps": [[0, 1.0], [1, 0.5]]}}, "t": {}}
    ends = {}
    for fallback in ("displaced", "slipped"):
        kind = {"kind": "priority", "fallback": fallback}
        run = simulate(listed(tasks, servers, routing=kind, **BLIND))
        assert run.record.jobs[0].end == 19.0
        ends[fallback] = (run.record.jobs[2].site, run.record.jobs[2].end)
    assert ends == {"displaced": ("s", 39.0), "slipped": ("t", 25.0)}


def test_conservatism_leaves_a_share_of_the_time_to_the_deadline_unused():
    tasks = [{"deadline": 20, "times": {"s": 9}}, {"deadline": 20, "times": {"s": 9}}]
    for share, rejected in ((1.0, 0), (0.9, 1), (0.4, 2)):
        routing = {"kind": "priority", "conservatism": share}
        run = simulate(listed(tasks, {"s": {}}, routing=routing))
        assert run.metrics["rejected"].value == rejected


def test_the_latest_server_that_meets_the_deadline_keeps_the_fast_ones_free():
    tasks = [{"deadline": 10, "times": {"s": 2, "t": 9}}]
    for prefer, site in (("earliest", "s"), ("latest", "t")):
        run = simulate(listed(tasks, {"s": {}, "t": {}}, routing={"kind": "deadline", "prefer": prefer}))
        assert run.record.jobs[0].site == site


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"agent": None}, "needs \\[\\[server\\]\\] and \\[agent\\]"),
        ({"agent": {"routing": "prioritty"}}, "no routing policy 'prioritty'"),
        ({"server": [{"name": "S1", "speed": 0}]}, "server.S1: speed: 0.0: a server must"),
        ({"server": [{"name": "S1"}]}, "no server is called 'S2'"),
        ({"server": [{"name": "S1", "links": {"no": {"bandwidth": 1}}}]}, "S1.links: no workload .* 'no'"),
        ({"server": [{"name": "S1", "availability": {"course": "listed", "steps": [[1, 1]]}}]}, "begin at 0"),
    ],
)
def test_faults_of_a_document_are_named(change, message):
    document = {**load("deadline/example").document, **change}
    if document["agent"] is None:
        del document["agent"]
    with pytest.raises(ScenarioError, match=message):
        _ = Scenario("mine.toml", document, load("deadline/example").base).spec
