"""Harvesting: the published scenario, and what must hold whatever premium and best-effort jobs do."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.best_effort import BestEffortQueue, Preemption
from gridtune.agents.batch.services import Rounds
from gridtune.agents.harvest.bags import Bag, Bags
from gridtune.agents.harvest.harvester import Harvester
from gridtune.model.batch.nodes import Counted, Named, hosts_in
from gridtune.model.grid import Grid
from gridtune.model.infrastructure.file_system import FileSystem
from gridtune.model.job import State
from gridtune.model.policy import make
from gridtune.scenarios import ScenarioError, load, simulate
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.reproduction.batcigri.measured import executions, quality, signals
from gridtune.scenarios.simulation.identify import identify
from gridtune.scenarios.trace_files.find import find_trace


@pytest.mark.parametrize("speed", [1.0, 2.0])
@pytest.mark.parametrize("bound", [10.0, 1000.0])
def test_premium_jobs_are_slowed_down_as_all_jobs_are(speed, bound):
    part = {"kind": "generated", "role": "premium", "count": 3, "interval": 1.0, "runtime": 100.0}
    run = simulate(Scenario("test", {
        "title": "test",
        "site": [{"name": "s", "nodes": 1, "speed": speed, "policy": "fcfs"}],
        "harvester": [{"name": "h", "controller": "tap"}],
        "workload": [{"name": "p"} | part, {"name": "b", "kind": "campaign", "count": 1, "runtime": 10.0}],
        "metrics": {"slowdown_bound": bound},
    }, Path()))  # fmt: skip
    slow = {10.0: 1.0 + (0 + (100 / speed - 1) + 2 * (100 / speed - 1)) * speed / 300, 1000.0: 1.0}[bound]
    assert run.metrics["premium_slowdown"].value == pytest.approx(slow)
    assert run.metrics["slowdown_mean"].value == pytest.approx(slow)


def harvest(
    works,
    tasks,
    capacity=4,
    *,
    policy="easy",
    nodes=None,
    cycle=5.0,
    control="tap",
    preemption=None,
    rounds=None,
    threads=None,
):
    """Premium works (submit, runtime, processors, estimate) over tasks (time, runtime, processors, user)."""
    grid = Grid(keep_events=True)
    facts = {} if rounds is None else {"rounds": rounds}
    if threads is not None:
        facts |= {"file_system": FileSystem(grid.agenda, threads), "io_share": 0.25}
    site = BatchSite(grid, "site", nodes or Counted(capacity), make("batch", policy), **facts)

    def arrive(work):
        submit, runtime, processors, estimate = work
        site.submit(
            grid.record.job(
                "premium", submit, runtime, kind="premium", processors=processors, estimate=estimate
            )
        )

    grid.agenda.feed((work[0], arrive, work) for work in sorted(works))
    if tasks:
        bags = Bags(lambda: grid.now)
        Harvester(
            grid,
            "h",
            BestEffortQueue(site, preemption or Preemption()),
            bags,
            make("control", control),
            cycle,
        )
        bag_of = {user: Bag(user, io_share=0.5 if user == "a" else 0.25) for _, _, _, user in tasks}

        def drop(task):
            submit, runtime, processors, user = task
            job = grid.record.job(user, submit, runtime, kind="task", mandatory=False, processors=processors)
            bags.add(bag_of[user], job, 0.0)

        grid.agenda.feed((task[0], drop, task) for task in sorted(tasks))
        grid.bags = bags
    grid.run()
    grid.close()
    return grid


premium_works = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 20), st.integers(1, 4), st.integers(1, 25)), max_size=12
).map(lambda rows: [(float(a), float(b), c, float(d)) for a, b, c, d in rows])
best_effort_tasks = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 30), st.integers(1, 3), st.sampled_from("ab")),
    min_size=1,
    max_size=15,
).map(lambda rows: [(float(a), float(b), c, user) for a, b, c, user in rows])
controllers = st.sampled_from(
    ["tap", "wait-batch", {"kind": "p", "reference": 9.0, "kp": 1.0}, {"kind": "pi", "reference": 6.0}]
)
civil = st.builds(
    Preemption,
    grace=st.sampled_from([0.0, 3.0]),
    lifetime=st.sampled_from([0.0, 8.0]),
    start_delay=st.sampled_from([0.0, 7.0]),
)


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "fair-share"])
@settings(max_examples=60, deadline=None)
@given(works=premium_works, tasks=best_effort_tasks, control=controllers)
def test_premium_jobs_start_and_end_as_if_nobody_harvested(policy, works, tasks, control):
    alone = harvest(works, [], policy=policy)
    crowded = harvest(works, tasks, policy=policy, control=control)
    mine = [(job.submit, job.start, job.end) for job in alone.record.jobs]
    assert mine == [(job.submit, job.start, job.end) for job in crowded.record.jobs if job.kind == "premium"]


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(
    works=premium_works,
    tasks=best_effort_tasks,
    control=controllers,
    preemption=civil,
    rounds=st.sampled_from([None, Rounds(gap=5.0, period=60.0), Rounds(5.0, 60.0, lambda: 4.0)]),
    named=st.booleans(),
    threads=st.sampled_from([None, 0.5, 2.0]),
)
def test_no_job_is_lost_and_no_slot_is_held_twice(works, tasks, control, preemption, rounds, named, threads):
    nodes = Named("site", [1.0] * 4) if named else None
    grid = harvest(
        works, tasks, nodes=nodes, control=control, preemption=preemption, rounds=rounds, threads=threads
    )
    jobs = grid.record.jobs
    assert len(jobs) == len(works) + len(tasks)
    assert all(job.state is State.DONE for job in jobs)
    held = Counter()
    begun, busy = {}, 0.0
    slots: dict[str, list[tuple[float, float]]] = {}
    by_id = {job.id: job for job in jobs}
    for time, event, number, _, node in grid.record.journal:
        if event == "started":
            begun[number] = (time, node)
        elif event in ("done", "killed"):
            start, nodes_held = begun.pop(number)
            processors = by_id[number].processors
            busy += (time - start) * processors
            held[start] += processors
            held[time] -= processors
            for host in hosts_in(nodes_held):
                slots.setdefault(host, []).append((start, time))
    assert not begun
    # Work done and work wasted make up all the time that processors were busy.
    done = sum((job.end - job.start) * job.processors for job in jobs)
    assert busy == pytest.approx(done + sum(job.wasted for job in jobs))
    level = 0
    for time in sorted(held):
        level += held[time]
        assert 0 <= level <= 4
    for intervals in slots.values():
        assert all(end <= begin for (_, end), (begin, _) in pairwise(sorted(intervals)))
    assert sum(bag.received for bag in grid.bags.bags.values()) == pytest.approx(
        sum((job.end - job.start) * job.processors + job.wasted for job in jobs if job.kind == "task")
    )


@settings(max_examples=100, deadline=None)
@given(works=premium_works, tasks=best_effort_tasks, preemption=civil)
def test_nobody_is_killed_before_the_guaranteed_lifetime_or_without_notice(works, tasks, preemption):
    grid = harvest(works, tasks, preemption=preemption)
    begun = {}
    for time, event, number, _, _ in grid.record.journal:
        if event == "started":
            begun[number] = time
        elif event == "killed":
            assert time - begun[number] >= max(preemption.lifetime, preemption.grace) - 1e-9
            assert any(submit <= time - preemption.grace for submit, *_ in works)


def test_the_youngest_make_way():
    # Two tasks start at 0, one at 5; the premium job at 7 needs two of the four processors, one is idle.
    tasks = [(0.0, 100.0, 1, "a"), (0.0, 100.0, 1, "a"), (5.0, 100.0, 1, "a")]
    grid = harvest([(7.0, 10.0, 2, 10.0)], tasks, control={"kind": "p", "reference": 9.0, "kp": 1.0})
    first, second, young = sorted(
        (job for job in grid.record.jobs if job.kind == "task"), key=lambda job: job.submit
    )
    assert (first.kills, second.kills, young.kills) == (0, 0, 1)
    assert young.wasted == 2.0


@pytest.mark.parametrize(
    ("victims", "kills"),
    [
        ("youngest", [0, 0, 0, 1]),
        ("oldest", [1, 0, 0, 0]),
        ("least-lost", [0, 0, 0, 1]),  # 2 s are less than 6, 7 and 2 x 5 s
        ("scheduler", [1, 0, 0, 0]),  # node 0: the first that a scheduler hands out
    ],
)
def test_who_gives_way_is_a_policy(victims, kills):
    # Nodes 0, 1, 2 with 3, and 4 are taken one after the other; node 5 is idle.
    tasks = [(0.0, 1), (1.0, 1), (2.0, 2), (5.0, 1)]
    best_effort = [
        {"name": f"w{k}", "kind": "campaign", "count": 1, "submit": at, "runtime": 100.0, "processors": wide}
        for k, (at, wide) in enumerate(tasks)
    ]
    own = {"name": "own", "kind": "generated", "count": 1, "interval": 7.0, "runtime": 10.0}
    document = {
        "title": "t",
        "site": {"name": "a", "nodes": 6, "policy": "fcfs", "named_nodes": True},
        "harvester": {
            "controller": {"kind": "p", "reference": 9.0, "kp": 9.0}, "victims": victims, "cycle": 1.0
        },
        # A scheduler that sees no best-effort jobs wants node 0 though node 5 is idle; others need one more.
        "workload": [*best_effort, own | {"processors": 1.0 if victims == "scheduler" else 2.0}],
    }  # fmt: skip
    run = simulate(Scenario("t", document, Path()))
    assert [job.kills for job in run.record.jobs if job.kind == "best-effort"] == kills
    premium = next(job for job in run.record.jobs if job.kind == "job")
    assert premium.start == 7.0
    if victims == "scheduler":
        assert premium.node == "a-000"


def test_victims_by_node_need_nodes_with_names():
    with pytest.raises(ScenarioError, match="named_nodes"):
        simulate(load("cigri/search").override({"harvester.victims": "scheduler"}))


def test_a_kill_delays_the_execution_of_the_premium_job():
    works, tasks = [(7.0, 10.0, 4, 10.0)], [(0.0, 100.0, 1, "a")]
    grid = harvest(works, tasks, preemption=Preemption(kill_delay=lambda: 3.0))
    premium = next(job for job in grid.record.jobs if job.kind == "premium")
    assert (premium.start, premium.end) == (7.0, 20.0)


def test_a_job_that_ends_within_its_grace_is_not_lost():
    works, tasks = [(7.0, 10.0, 4, 10.0)], [(0.0, 9.0, 1, "a")]
    grid = harvest(works, tasks, preemption=Preemption(grace=5.0, kill_delay=lambda: 3.0))
    task = next(job for job in grid.record.jobs if job.kind == "task")
    premium = next(job for job in grid.record.jobs if job.kind == "premium")
    assert (task.kills, task.end) == (0, 9.0)
    assert (premium.start, premium.end) == (9.0, 19.0), "nothing was killed that would have to be cleaned up"


def test_a_job_that_is_spared_for_its_lifetime_stays_if_nobody_waits_for_it_any_more():
    # Two of four processors come free at 9; until 20, nobody may be killed.
    works, tasks = [(7.0, 10.0, 2, 10.0)], [(0.0, 9.0, 2, "a"), (0.0, 100.0, 1, "b"), (0.0, 100.0, 1, "c")]
    grid = harvest(works, tasks, preemption=Preemption(lifetime=20.0))
    premium = next(job for job in grid.record.jobs if job.kind == "premium")
    assert premium.start == 9.0
    assert [job.kills for job in grid.record.jobs if job.kind == "task"] == [0, 0, 0]


def test_what_comes_in_during_a_round_waits_for_the_next():
    works = [(0.0, 10.0, 1, 10.0), (2.0, 10.0, 1, 10.0)]
    grid = harvest(works, [], rounds=Rounds(gap=5.0, duration=lambda: 4.0))
    # The first round lasts from 0 to 4 s; the next begins 5 s after it and takes effect at 9 s.
    assert [job.start for job in grid.record.jobs] == [4.0, 9.0]


def test_campaigns_that_are_served_in_turn_are_treated_equally():
    tasks = [(0.0, 10.0, 1, user) for user in "aaaaaaaabbbbbbbb"]
    grid = harvest([], tasks, control={"kind": "p", "reference": 4.0, "kp": 1.0})
    assert grid.bags.unfairness == pytest.approx(0.0, abs=0.01)


def test_batcigri_is_reproduced():
    run = simulate(load("cigri/batcigri"), keep_events=True)
    made = quality(run, "cigri")
    best_effort = [job for job in run.record.jobs if job.kind == "best-effort"]
    assert sum(job.state is State.DONE for job in best_effort) == 500
    assert min(execution.start for execution in executions(run)) == 90.0
    assert 4700 <= made.end <= 5050
    assert run.metrics["killed"].value == 16
    assert 60 <= made.mean <= 68
    assert made.full >= 0.97


@pytest.mark.parametrize("seed", range(2, 6))
def test_batcigri_does_not_depend_on_the_seed(seed):
    run = simulate(load("cigri/batcigri"), seed)
    made = quality(run, "cigri")
    assert 4700 <= made.end <= 5050
    assert 60 <= made.mean <= 68
    assert run.metrics["killed"].value == 16


def test_the_rules_of_cigri_itself_use_the_cluster_less_than_a_pi_controller():
    made = {
        name: quality(simulate(load("cigri/batcigri").override(values)), "cigri")
        for name, values in {
            "pi": {},
            "tap": {"harvester.controller": "tap"},
            "batch": {"harvester.controller": "wait-batch"},
        }.items()
    }
    assert made["pi"].utilisation > made["tap"].utilisation > made["batch"].utilisation
    assert made["pi"].end < made["tap"].end < made["batch"].end


def test_the_cycle_that_reopens_the_tap_divides_its_rate():
    run = simulate(
        load("cigri/batcigri").override({"harvester.controller": "tap", "harvester.start_delay": 95})
    )
    given = {time: value for time, name, value in run.record.signals if name == "cigri.input"}
    # Closed at 30, 60 and 90 s: the rate of 4 is divided at 90 and at 120 s, but never falls below 3.
    assert [given[time] for time in (0, 30, 60, 90, 120, 150, 180)] == [3, 0, 0, 0, 3, 4, 6]


def test_a_signal_of_every_kind_is_recorded_in_every_cycle():
    run = simulate(load("cigri/batcigri"))
    made = signals(run, "cigri")
    assert "load" not in made, "there is no file system"
    assert "load" in signals(simulate(load("cigri/file-system")), "cigri")
    assert {len(series) for series in made.values()} == {len(made["time"])}
    assert made["time"][:4].tolist() == [0.0, 30.0, 60.0, 90.0]
    assert made["error"][0] == made["reference"][0] - made["measured"][0] == 64.0
    assert made["input"][0] == int(0.551 * 64 + 0.225 * 64)


def test_a_controller_that_wants_less_than_a_job_for_ever_is_left_alone():
    shy = {"kind": "p", "reference": 9.0, "kp": 0.1}
    run = simulate(load("cigri/batcigri").override({"harvester.controller": shy}))
    assert run.metrics["best_effort_completed"].value == 0
    assert run.metrics["completed"].value == 1
    assert all(job.state is State.CREATED for job in run.record.jobs if job.kind == "best-effort")
    assert run.metrics["abandoned"].value == 500
    assert run.metrics["unfinished_campaigns"].value == 1


WIND_UP = {  # the load runs far beyond a low reference: the sum of errors then takes hours to come back
    "workload.premium.count": 1,
    "harvester.controller.reference": 0.5,
    "harvester.controller.settling": 4.0,
    "harvester.controller.overshoot": 0.3,
    "harvester.controller.a": 0.05,
}


@pytest.mark.parametrize("kept", ["none", "conditional", "clamping", "back-calculation"])
def test_a_campaign_is_finished_however_long_an_integral_takes_to_unwind(kept):
    settings = WIND_UP | {"harvester.controller.anti_windup": kept, "workload.bag.count": 400}
    run = simulate(load("cigri/file-system").override(settings))
    assert run.metrics["best_effort_completed"].value == 400
    assert run.metrics["unfinished_campaigns"].value == run.metrics["abandoned"].value == 0


def test_cycles_in_which_an_integral_only_unwinds_are_passed_over():
    # One premium job on all four processors for 10,000 s: 2,000 cycles of error -3, each undone by three.
    control = {"kind": "pi", "reference": 1.0, "kp": 0.0, "ki": 0.5}
    grid = harvest([(0.0, 10_000.0, 4, 10_000.0)], [(0.0, 10.0, 1, "a")], control=control)
    task = next(job for job in grid.record.jobs if job.kind == "task")
    # The sum is about -6,000 when the job ends, and 2 in the cycle that submits.
    assert task.state is State.DONE
    assert task.start > 10_000 + 5 * 5_900
    assert grid.agenda.fired < 2_500


def test_two_harvesters_that_want_nothing_do_not_wait_for_each_other():
    grid = Grid()
    bags = Bags(lambda: grid.now)
    shy = make("control", {"kind": "p", "reference": 9.0, "kp": 0.1})
    harvesters = []
    for name in "ab":
        site = BatchSite(grid, name, Counted(4), make("batch", "easy"))
        harvesters.append(Harvester(grid, name, BestEffortQueue(site, Preemption()), bags, shy, 5.0))
    bags.add(Bag("bag"), grid.record.job("user", 0.0, 1.0, kind="task", mandatory=False), 0.0)
    grid.run()
    grid.close()
    assert all(harvester.gave_up for harvester in harvesters)
    assert bags.left == 1


@pytest.mark.parametrize("rounds", [None, {"gap": 5.0, "period": 60.0}])
@pytest.mark.parametrize("controller", ["tap", {"kind": "pi", "reference": 2.0, "kp": 0.5, "ki": 0.2}])
@pytest.mark.parametrize("sites", [1, 2])
def test_harvesters_give_up_where_their_jobs_can_never_start(sites, controller, rounds):
    names = [f"s{number}" for number in range(sites)]
    site = {"nodes": 2, "policy": "fcfs", "outage": [{"start": 100.0}]}
    run = simulate(Scenario("test", {
        "title": "test",
        "site": [{"name": name} | site | ({"rounds": rounds} if rounds else {}) for name in names],
        "harvester": [{"name": f"h{name}", "site": name, "controller": controller} for name in names],
        "workload": [{"name": "b", "kind": "campaign", "count": 40, "runtime": 50.0}],
    }, Path()))  # fmt: skip
    assert 0 < run.metrics["completed"].value < 40
    assert run.end < 10_000


def test_the_load_of_the_file_system_is_held_at_its_reference():
    quiet = load("cigri/file-system").override({"site.file_system.io_share": 0.0, "workload.bag.count": 2000})
    made = signals(simulate(quiet), "cigri")
    settled = made["load"][(made["time"] > 600) & (made["time"] < 3000)]
    assert settled.mean() == pytest.approx(3.0, abs=0.02)
    assert made["load"].max() < 3.0 * 1.10


def test_harvesting_without_restraint_slows_premium_jobs_down():
    bold = {"harvester.controller": {"kind": "p", "reference": 200.0, "kp": 1.0}}
    careful = simulate(load("cigri/file-system")).metrics["premium_slowdown"].value
    assert (
        simulate(load("cigri/file-system").override(bold)).metrics["premium_slowdown"].value > careful + 0.01
    )


def test_identification_finds_the_plant_of_the_file_system():
    found = identify(load("cigri/file-system").override({"site.file_system.io_share": 0.0}))
    assert found.plant == pytest.approx((0.6065, 0.0704), rel=0.01)
    assert found.fit == pytest.approx(1.0, abs=1e-6)


def test_identification_needs_a_harvester_and_an_answer():
    with pytest.raises(ScenarioError, match="needs one harvester"):
        identify(load("diet/day-regular"))
    with pytest.raises(ScenarioError, match="no file system"):
        identify(load("cigri/batcigri"), sensor="load")
    with pytest.raises(ScenarioError, match="lower --high"):
        identify(load("cigri/file-system"), high=100.0)  # 5,000 of 4,000 jobs
    with pytest.raises(ScenarioError, match=r"first order \(a -0\.\d+, b 0\.\d+, .*-0\.\d+\)"):
        identify(load("cigri/file-system").override({"harvester.cigri.cycle": 300.0}))
    with pytest.raises(ScenarioError, match="site=NAME"):
        identify(load("federation/small"))


def test_identification_measures_what_the_controller_does():
    assert identify(load("cigri/batcigri")).sensor == "waiting+running"
    assert identify(load("cigri/file-system")).sensor == "load"


def test_the_load_of_a_site_without_a_file_system_is_no_sensor():
    least = {"kind": "min", "of": [{"kind": "p", "sensor": "load"}, "tap"]}
    nested = {"kind": "max", "of": [least, "tap"]}
    for controller in ({"kind": "pi", "sensor": "load"}, least, nested):
        with pytest.raises(ScenarioError, match=r"site\.dahu\.file_system"):
            load("cigri/batcigri").override({"harvester.cigri.controller": controller})


def test_the_input_signal_counts_jobs_that_were_submitted():
    run = simulate(load("cigri/batcigri"))
    given = [value for _, name, value in run.record.signals if name == "cigri.input"]
    assert sum(given) == 500 + run.metrics["killed"].value, "each job once, and again after a kill"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"harvester.controller": "pie"}, "no control policy 'pie'"),
        ({"harvester.controller.kp": -1.0}, "at least 0"),
        ({"harvester.site": "moon"}, "no site 'moon'"),
        ({"harvester.cycle": 0}, "greater than 0"),
        ({"site.speed": [1.0] * 31 + [2.0]}, "different speeds"),
        ({"workload.bag.processors": 33}, "do not fit"),
        ({"workload.bag.best_effort.io_share": 1.0}, "less than 1"),
    ],
)
def test_what_makes_no_sense_is_refused(values, message):
    with pytest.raises(ScenarioError, match=message):
        load("cigri/batcigri").override(values)


@pytest.mark.long
def test_the_holes_of_a_real_cluster_are_harvested_unseen():
    try:
        find_trace("UniLu-Gaia-2014-2.swf.gz")
    except ValueError as error:
        pytest.skip(f"the trace is not there: {error}")
    slice_ = {
        "workload.premium.last": 3000,
        "workload.best-effort.last": 3000,
        "workload.campaign.count": 500,
        "site.nodes": 600,
    }
    unseen = load("cigri/gaia").override({**slice_, "harvester.kill_delay": 0.0})
    crowded = simulate(unseen)
    idle = {"kind": "step", "high": 0.0}
    alone = simulate(unseen.override({"harvester.controller": idle}))

    def starts(run):
        return [(job.submit, job.start, job.end) for job in run.record.jobs if job.kind == "premium"]

    assert crowded.metrics["killed"].value > 0
    assert starts(crowded) == starts(alone)


def test_a_best_effort_job_that_ends_with_its_node_is_counted_as_such():
    scenario = load("cigri/search").override({"site.cluster.outage": [{"start": 2000.0, "end": 2400.0}]})
    metrics = simulate(scenario).metrics
    assert 0 < metrics["killed_by_failure"].value <= metrics["killed"].value
