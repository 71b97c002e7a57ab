"""Scenarios of batch sites: replays of traces, generated jobs, and the queue of theory."""

import csv
from pathlib import Path

import pytest

from gridtune.model.job import State
from gridtune.scenarios import ScenarioError, build, load, simulate
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.results.files import tables
from gridtune.scenarios.systems.batch import sites_of

ORACLES = Path(__file__).parents[2] / "shared" / "oracles"
SITE = {"name": "lal", "nodes": 4, "policy": "easy"}
JOBS = {
    "name": "local",
    "kind": "generated",
    "count": 50,
    "interval": {"law": "exponential", "mean": 2.0},
    "runtime": {"law": "uniform", "low": 1.0, "high": 9.0},
}


def scenario(site=None, workload=None, **tables):
    sites = site if isinstance(site, list) else [{**SITE, **(site or {})}]
    return Scenario(
        "test", {"title": "test", "site": sites, "workload": [{**JOBS, **(workload or {})}], **tables}, Path()
    )


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative"])
def test_a_replay_gives_the_published_schedule(policy):
    if not ORACLES.is_dir():
        pytest.skip(f"no oracle files in {ORACLES}")
    values = {
        "workload.trace": str(ORACLES / "tiny.8.swf"),
        "site.cluster.nodes": 8,
        "site.cluster.policy": policy,
    }
    run = simulate(load("batch/replay").override(values))
    with (ORACLES / f"tiny.8.{policy[:4]}.csv").open() as file:
        expected = [tuple(map(float, row.values())) for row in csv.DictReader(file)]
    assert [(job.id, job.submit, job.start, job.end, job.processors) for job in run.record.jobs] == expected
    assert run.metrics["makespan"].value == max(end for _, _, _, end, _ in expected)


def with_site(*workloads):
    return {"title": "test", "site": [SITE], "workload": list(workloads)}


def write_trace(path, rows):
    lines = [f"{number} {submit} -1 {runtime} {procs} -1 -1 -1 {asked} -1 1 7 1 -1 -1 -1 -1 -1"
             for number, (submit, runtime, procs, asked) in enumerate(rows, 1)]  # fmt: skip
    path.write_text("\n".join(lines) + "\n")


def test_part_of_a_trace_is_replayed_at_a_higher_load(tmp_path):
    write_trace(
        tmp_path / "log.swf", [(10, 5, 1, 6), (20, 5, 1, -1), (30, 5, 9, 5), (40, 5, 1, 5), (50, 5, 1, 5)]
    )
    document = {
        "title": "part",
        "site": [SITE],
        "workload": [
            {"name": "log", "kind": "trace", "trace": "log.swf", "first": 2, "last": 4, "compression": 2.0}
        ],
    }
    run = simulate(Scenario("part.toml", document, tmp_path))
    assert [(job.submit, job.estimate, job.user) for job in run.record.jobs] == [
        (0, 5, "7"),
        (5, 5, "7"),
        (10, 5, "7"),
    ]
    assert run.record.jobs[1].state is State.REJECTED
    assert run.metrics["refused"].value == 1
    window = Scenario("part.toml", document, tmp_path).override(
        {"workload.start": 100.0, "workload.end": 200.0}
    )
    with pytest.raises(ScenarioError, match=r"workload\.log: .*log\.swf "):
        simulate(window)


def test_queues_that_a_trace_does_not_have_are_named(tmp_path):
    rows = [f"{k + 1} {10 * k} 0 5 1 -1 -1 1 5 -1 1 1 1 1 {queue} -1 -1 -1" for k, queue in enumerate((4, 6))]
    (tmp_path / "log.swf").write_text("\n".join(rows) + "\n")
    workload = {"name": "log", "kind": "trace", "trace": str(tmp_path / "log.swf"), "queues": ["4"]}
    document = {"title": "queues", "site": [SITE], "workload": [workload]}
    scenario = Scenario("test", document, Path())
    assert [job.submit for job in simulate(scenario).record.jobs] == [0.0]
    with pytest.raises(ScenarioError, match=r"log\.queues: .* 5; .* 4, 6"):
        simulate(scenario.override({"workload.queues": ["4", "5"]}))
    both = {"workload.queues": ["4", "6"], "workload.last": 1}  # the log has 6, if not this part of it
    assert len(simulate(scenario.override(both)).record.jobs) == 1


def test_jobs_have_their_numbers_in_the_log(tmp_path):
    write_trace(tmp_path / "log.swf", [(30, 5, 1, 5), (10, 5, 1, 5), (20, 5, 1, 5), (40, 5, 1, 5)])
    log = {"name": "log", "kind": "trace", "trace": str(tmp_path / "log.swf"), "first": 2, "last": 3}
    for more in ({}, {"dependencies": "keep"}, {"resample": "shake", "shake": 1.0}):
        jobs = tables(simulate(Scenario("test", with_site(log | more), Path())))["jobs"]
        assert jobs[["id", "log_id"]].values.tolist() == [[1, 3], [2, 1]]
    more = tables(simulate(Scenario("test", with_site(log, {**JOBS, "count": 1}), Path())))["jobs"]
    assert (len(more), sorted(more["log_id"].dropna())) == (3, [1, 3])
    assert "log_id" not in tables(simulate(scenario()))["jobs"], "of none comes from a log"


def test_a_schedule_is_replayed(tmp_path):
    (tmp_path / "real.csv").write_text(
        "id,submit,start,end,procs,walltime,state\n1,0,2,12,3,20,ok\n2,1,12,14,2,5,ok\n"
    )
    workload = {"name": "log", "kind": "trace", "trace": str(tmp_path / "real.csv")}
    document = {"title": "schedule", "site": [SITE], "workload": [workload]}
    run = simulate(Scenario("test", document, Path()))
    assert [(job.start, job.end, job.estimate) for job in run.record.jobs] == [(0, 10, 20), (10, 12, 5)]
    for text, fault in (
        ("id,submit,start\n1,0,2\n", "no column end, procs, walltime"),
        ("id,submit,start,end,procs,walltime\n1,0,two,12,3,20\n", r"first on line 2"),
        ("id,submit,start,end,procs,walltime\n1,9,2,12,3,20\n", "none of its 1 rows is readable as CSV"),
        ("id,submit,start,end,procs,walltime\n", "has no rows"),
    ):
        (tmp_path / "real.csv").write_text(text)
        with pytest.raises(ScenarioError, match=fault):
            simulate(Scenario("test", document, Path()))


def test_a_trace_that_is_missing_is_said_to_be():
    with pytest.raises(ScenarioError, match=r"nowhere\.swf"):
        build(load("batch/replay").override({"workload.trace": "nowhere.swf"}))


def test_generated_jobs_do_not_change_with_the_policy_or_with_each_other():
    def facts(made, *names):
        return [tuple(getattr(job, name) for name in names) for job in simulate(made).record.jobs]

    plain = scenario(workload={"users": 3, "promise": {"law": "uniform", "low": 1.0, "high": 5.0}})
    assert facts(plain, "submit", "runtime", "estimate", "user") == facts(
        plain.override({"site.lal.policy": "fcfs"}), "submit", "runtime", "estimate", "user"
    )
    assert facts(plain, "submit", "user") == facts(
        plain.override({"workload.runtime": 3.0}), "submit", "user"
    )
    assert {user for (user,) in facts(plain, "user")} == {"local-000", "local-001", "local-002"}


def test_sites_and_their_workloads_go_together():
    two = scenario(site=[SITE, {**SITE, "name": "cern"}], workload={"site": "cern"})
    with build(two) as grid:
        assert list(sites_of(grid)) == ["lal", "cern"]
        assert grid.slots == 8
        grid.run()
        assert {job.site for job in grid.record.jobs} == {"cern"}
    with pytest.raises(ScenarioError, match=r"'nikhef'; .*lal, cern"):
        two.override({"workload.site": "nikhef"})
    with pytest.raises(ScenarioError, match="name one of lal, cern"):
        _ = scenario(site=[SITE, {**SITE, "name": "cern"}]).spec
    with pytest.raises(ScenarioError, match=r"jobs need a \[\[site\]\]"):
        _ = Scenario("test", {"title": "test", "workload": [JOBS]}, Path()).spec


def test_faults_of_a_site_are_named():
    with pytest.raises(ScenarioError, match="3 speeds for 4 nodes"):
        _ = scenario({"speed": [1.0, 2.0, 3.0]}).spec
    with pytest.raises(ScenarioError, match=r"speed: .* more than 0"):
        _ = scenario({"speed": 0.0}).spec
    with pytest.raises(ScenarioError, match="names of queues must differ"):
        _ = scenario({"queue": [{"name": "a"}, {"name": "a"}]}).spec
    with pytest.raises(ScenarioError, match=r"'sjf'.* conservative, easy, fair-share, fcfs, priority"):
        _ = scenario({"policy": "sjf"}).spec


def test_site_values_have_paths():
    made = scenario({"queue": [{"name": "short"}, {"name": "long"}]}).override(
        {
            "site.lal.queue.short.max_runtime": 4.0,
            "site.lal.start_overhead": {"law": "lognormal", "median": 2.0, "sigma": 0.3},
            "site.lal.policy": {"kind": "fair-share", "weights": {"local-000": 2.0}},
            "site.lal.policy.half_life": 60.0,
            "site.lal.speed": [1.0, 1.0, 2.0, 2.0],
        }
    )
    run = simulate(made)
    assert run.metrics["completed"].value == 50
    lengths = {
        job.end - job.start - job.runtime for job in run.record.jobs if job.node in ("lal-000", "lal-001")
    }
    assert len(lengths) > 5
    assert min(lengths) > 0.5
