"""Partitions: queues with processors of their own, on which their jobs are planned as on a site."""

import random
from pathlib import Path

import pytest

from gridtune.scenarios import ScenarioError, simulate
from gridtune.scenarios.document.scenario import Scenario

SIZES = {"work": 6, "gpu": 3}
POLICIES = [
    "fcfs",
    "easy",
    "conservative",
    {"kind": "priority", "weight_age": 1.0, "reservations": "all"},
    {"kind": "priority", "rule": "sjf", "reservations": 2},
]


def jobs(seed):
    """Number, submission, run time and processors of jobs by their group, which names the partition."""
    draws, now, made = random.Random(seed), 0.0, {name: [] for name in SIZES}
    for number in range(120):
        now += draws.expovariate(1 / 9.0)
        name = draws.choice(list(SIZES))
        made[name].append((number, round(now), draws.randint(1, 60), draws.randint(1, SIZES[name])))
    return made


def starts(rows, site, folder):
    """When each job starts, by its number."""
    every = sorted(rows, key=lambda row: row[1:2] + row[:1])
    lines = [
        f"{number} {submit} -1 {run} {width} -1 -1 {width} {run} -1 1 1 {group} 1 {group} -1 -1 -1"
        for number, submit, run, width, group in every
    ]
    (folder / "log.swf").write_text("\n".join(lines) + "\n")
    log = {"name": "log", "kind": "trace", "trace": "log.swf", "response_bound": {"factor": 1e9}}
    document = {"title": "t", "site": [{"name": "s", **site}], "workload": [log]}
    run = simulate(Scenario("t", document, folder))
    first = every[0][1]  # a log begins with its first job
    return {row[0]: first + job.start for row, job in zip(every, run.record.jobs, strict=True)}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", [1, 2])
def test_partitions_on_nodes_of_their_own_are_as_sites_of_their_own(policy, seed, tmp_path):
    groups = {name: number for number, name in enumerate(SIZES, 1)}
    rows = {name: [(*row, groups[name]) for row in some] for name, some in jobs(seed).items()}
    alone = {}
    for name, size in SIZES.items():
        alone |= starts(rows[name], {"nodes": size, "policy": policy}, tmp_path)
    queues = [
        {"name": name, "slots": size, "partition": True, "groups": [str(groups[name])]}
        for name, size in SIZES.items()
    ]
    both = starts(
        [row for some in rows.values() for row in some],
        {"nodes": sum(SIZES.values()), "policy": policy, "queue": queues},
        tmp_path,
    )
    assert both == alone
    limits = [{key: value for key, value in queue.items() if key != "partition"} for queue in queues]
    site = {"nodes": sum(SIZES.values()), "policy": policy, "queue": limits}
    if policy != "fcfs":  # a limit beyond which jobs wait has no backfilling
        assert starts([row for some in rows.values() for row in some], site, tmp_path) != alone


def test_a_job_enters_the_partition_that_its_log_names_if_it_keeps_the_limits_there(tmp_path):
    made = jobs(3)
    rows = [(*row, number) for number, name in enumerate(SIZES, 1) for row in made[name]]
    alone = {}
    for number, (name, size) in enumerate(SIZES.items(), 1):
        alone |= starts([(*row, number) for row in made[name]], {"nodes": size, "policy": "easy"}, tmp_path)
    queues = [{"name": f"{k}", "slots": n, "partition": True} for k, n in enumerate(SIZES.values(), 1)]
    site = {"nodes": sum(SIZES.values()), "policy": "easy", "queue": queues}
    assert starts(rows, site, tmp_path) == alone
    queues[1]["max_runtime"] = 1.0  # nobody keeps that: all enter the first that fits
    assert all(start == start for start in starts(rows, site, tmp_path).values())


@pytest.mark.parametrize("reservations", [0, 1, "all"])
def test_a_long_queue_in_one_partition_leaves_no_other_idle(reservations, tmp_path):
    rows = [(number, 0, 100, 6, 1) for number in range(10)] + [(10, 1, 10, 1, 2)]
    queues = [
        {"name": "1", "slots": 6, "partition": True},
        {"name": "2", "slots": 3, "partition": True},
    ]
    policy = {"kind": "priority", "weight_age": 1.0, "reservations": reservations, "queue_depth": 3}
    found = starts(rows, {"nodes": 9, "policy": policy, "queue": queues}, tmp_path)
    assert (found[10], found[9]) == (1.0, 900.0)


@pytest.mark.parametrize("mode", ["requeue", "cancel"])
def test_an_express_job_that_waits_blocks_its_own_partition_only(mode, tmp_path):
    rows = [(0, 0, 30, 6, 1), (1, 1, 30, 6, 1), (2, 0, 600, 3, 2), (3, 5, 20, 3, 2)]
    queues = [
        {"name": "1", "slots": 6, "partition": True},
        {"name": "2", "slots": 3, "partition": True},
    ]
    preemption = {"express": 30.0, "mode": mode}
    found = starts(rows, {"nodes": 9, "policy": "easy", "queue": queues, "preemption": preemption}, tmp_path)
    assert (found[1], found[3]) == (30.0, 5.0)  # job 3 takes the nodes of job 2 while job 1 waits


@pytest.mark.parametrize(
    ("site", "fault"),
    [
        ({"queue": [{"name": "a", "partition": True}]}, "queue.a: partition: give its slots, a whole number"),
        (
            {
                "queue": [{"name": "a", "slots": 2, "partition": True}],
                "preemption": {"express": 60.0, "mode": "suspend"},
            },
            "resources or partitions",
        ),
    ],
)
def test_partitions_that_make_no_sense_are_refused(site, fault):
    document = {
        "title": "t",
        "site": [{"name": "s", "nodes": 4, "policy": "easy", **site}],
        "workload": [{"name": "w", "kind": "generated", "count": 1, "interval": 1.0, "runtime": 1.0}],
    }
    with pytest.raises(ScenarioError, match=fault):
        simulate(Scenario("t", document, Path()))


@pytest.mark.parametrize("policy", [*POLICIES, {"kind": "fair-share"}])
def test_queues_of_equal_priority_are_served_as_one(policy, tmp_path):
    groups = {name: number for number, name in enumerate(SIZES, 1)}
    rows = [(*row, groups[name]) for name, some in jobs(1).items() for row in some]
    queues = [{"name": name, "groups": [str(number)]} for name, number in groups.items()]
    site = {"nodes": 6, "policy": policy}
    one = starts(rows, site, tmp_path)
    assert starts(rows, {**site, "queue": queues}, tmp_path) == one
    assert starts(rows, {**site, "queue": queues[::-1]}, tmp_path) == one
    queues[0]["priority"] = 1.0
    assert starts(rows, {**site, "queue": queues}, tmp_path) != one
