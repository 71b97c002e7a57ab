"""Who waits longest, worked out by hand: by share of the site, by run time and by user."""

from math import inf, isnan

import numpy as np
import pytest

from gridtune.model.grid import Grid
from gridtune.model.job import Job
from gridtune.model.metrics.harm import harm, waited
from gridtune.model.metrics.labels import label
from gridtune.model.metrics.registry import DAY, HARM_METRICS, HOUR, METRICS, WEEK, definition
from gridtune.model.metrics.summary import measured
from gridtune.optimize.recommend.harm import harms
from gridtune.optimize.replication.guards import excess_waits
from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.replicate import known_metrics
from gridtune.scenarios.simulation.simulate import simulate
from gridtune.scenarios.tables.search import Starvation

NOW = 30 * DAY


def done(wait, user="u", processors=1, runtime=60.0, site="s"):
    job = Job(1, user, 0.0, runtime, processors=processors)
    job.queue(0.0, site)
    job.begin(wait)
    job.finish(wait + runtime)
    return job


def values(jobs, sites=None, now=NOW, pace=1.0, queues=None, slowdowns=None):
    found = harm(jobs, slowdowns or [1.0] * len(jobs), sites or {"s": 100}, now, pace, queues or {})
    return {name: metric.value for name, metric in found.items()}


def test_who_never_starts_waits_until_the_end_and_who_runs_has_waited():
    queued, running, refused, withdrawn, failed = (Job(at, "u", 100.0, 60.0) for at in range(5))
    for job in (queued, running, withdrawn, failed):
        job.queue(100.0, "s")
    running.begin(150.0)
    refused.reject(100.0)
    withdrawn.cancel(400.0)
    failed.begin(110.0)
    failed.fail(120.0)
    assert [waited(job, 1000.0) for job in (queued, running, refused, withdrawn, failed)] == [
        900.0, 50.0, 900.0, 300.0, 900.0,
    ]  # fmt: skip


def test_a_job_killed_at_its_owners_own_promise_had_its_turn_and_one_killed_before_had_not():
    own, early = Job(1, "u", 0.0, 60.0, estimate=30.0), Job(2, "u", 0.0, 60.0)
    for job in (own, early):
        job.queue(0.0)
        job.begin(5.0)
        job.expire(35.0)
    assert [waited(job, 1000.0) for job in (own, early)] == [5.0, 1000.0]


def test_classes_of_size_are_shares_of_the_jobs_own_site():
    widths = (1, 2, 10, 11, 25, 26)
    found = values([done(10.0 * width, processors=width) for width in widths])
    assert [found[f"jobs.size-{name}"] for name in ("small", "medium", "large", "huge")] == [1, 2, 2, 1]
    assert found["waited_p95.size-medium"] == pytest.approx(np.quantile([20, 100], 0.95))
    slow = values([done(1.0, processors=width) for width in widths], slowdowns=[1, 2, 4, 8, 16, 32])
    means = [slow[f"slowdown_mean.size-{name}"] for name in ("small", "medium", "large", "huge")]
    assert means == [1, 3, 12, 32]
    assert found["waited_p95.size-huge"] == found["waited_p95.worst-size"] == 260.0
    # Of a job that no site took, the largest site is the measure.
    elsewhere = values(
        [done(7.0, processors=10, site="t"), done(9.0, processors=10, site="")], {"s": 100, "t": 20}
    )
    assert (elsewhere["waited_p95.size-huge"], elsewhere["waited_p95.size-medium"]) == (7.0, 9.0)


@pytest.mark.parametrize("processors", [100, 140, 430, 2004, 70_000])
def test_a_job_of_exactly_a_share_belongs_to_it(processors):
    for width in {processors // 100, processors // 10, processors // 4}:
        share = width / processors
        expected = "small" if share <= 0.01 else "medium" if share <= 0.1 else "large"
        assert values([done(1.0, processors=width)], {"s": processors})[f"jobs.size-{expected}"] == 1


def test_classes_of_length_are_of_run_times_at_the_mean_speed():
    lengths = (HOUR / 6, HOUR, 8 * HOUR, 8.1 * HOUR)
    found = values([done(at, runtime=2 * length) for at, length in enumerate(lengths, 1)], pace=2.0)
    names = ("brief", "short", "long", "very-long")
    assert [found[f"waited_p95.length-{name}"] for name in names] == [1, 2, 3, 4]
    assert found["waited_p95.worst-length"] == 4


def test_the_worst_tenth_of_users_are_those_whose_mean_wait_is_longest():
    jobs = [done(wait, user) for user, wait in (("a", 30.0), ("a", 50.0), ("b", 100.0))]
    jobs += [done(1.0, f"u{at}") for at in range(9)]
    assert values(jobs)["waited_mean.worst-users"] == (100 + 40) / 2  # two of eleven
    assert values(jobs[:1])["waited_mean.worst-users"] == 30.0


def test_waits_of_more_than_a_day_and_a_week_are_counted():
    found = values([done(wait) for wait in (DAY, DAY + 1, WEEK, WEEK + 1)])
    assert (found["waited_day"], found["waited_week"], found["waited_max"]) == (3, 1, WEEK + 1)


def test_without_jobs_nobody_waits():
    found = values([])
    assert isnan(found["waited_max"])
    assert isnan(found["waited_p95.worst-size"])
    assert isnan(found["waited_mean.worst-users"])
    assert (found["waited_day"], found["jobs.size-huge"]) == (0, 0)
    assert found.keys() == HARM_METRICS.keys() <= METRICS.keys()


def test_runs_with_batch_sites_measure_them_and_no_others_do():
    run = simulate(load("batch/replay"))
    jobs = [job for job in run.record.jobs if job.mandatory]
    wait = {job: job.start - job.submit for job in jobs}
    assert run.metrics["waited_max"].value == max(wait.values())
    huge = [wait[job] for job in jobs if job.processors > 32]
    assert run.metrics["waited_p95.size-huge"].value == pytest.approx(np.quantile(huge, 0.95))
    assert run.metrics["jobs.size-huge"].value == len(huge) > 0
    assert (
        not HARM_METRICS.keys()
        & simulate(load("diet/day-regular").override({"workload.count": 2})).metrics.keys()
    )
    assert not HARM_METRICS.keys() & set(measured(Grid()))


def test_a_rule_that_starves_wide_jobs_is_seen():
    """Shortness first without an age bound against first come, first served."""
    easy, starving = (
        simulate(load("batch/replay").override({"site.cluster.policy": policy})).metrics
        for policy in ("easy", {"kind": "priority", "rule": "saf", "reservations": 0})
    )
    assert starving["waiting_mean"].value < easy["waiting_mean"].value
    assert starving["waited_p95.worst-size"].value > 1.5 * easy["waited_p95.worst-size"].value
    assert starving["waited_max"].value > 1.5 * easy["waited_max"].value < inf


def test_queues_of_a_log_with_enough_jobs_are_compared_one_by_one():
    jobs = [done(float(wait)) for wait in range(90)]
    for number, job in enumerate(jobs):
        job.id = number
    queues = {number: "a" if number < 30 else "b" for number in range(89)}
    found = values(jobs, queues=queues)
    assert found["waited_p95.queue-a"] == pytest.approx(np.quantile(range(30), 0.95))
    assert found["waited_p95.queue-b"] == pytest.approx(np.quantile(range(30, 89), 0.95))
    slow = values(jobs, queues=queues, slowdowns=list(range(1, 91)))
    assert (slow["slowdown_mean.queue-a"], slow["slowdown_mean.queue-b"]) == (15.5, 60.0)
    assert "waited_p95.queue-" not in found, "a job without a queue is in none"
    few = {number: "a" if number < 9 else "b" for number in range(90)}
    assert [name for name in values(jobs, queues=few) if "queue" in name] == [
        "waited_p95.queue-b", "slowdown_mean.queue-b",
    ]  # fmt: skip
    one = dict.fromkeys(range(90), "a")
    assert not [name for name in values(jobs, queues=one) if "queue" in name]


def test_a_replay_tells_waits_of_the_logs_queues_and_guards_them(tmp_path):
    lines = ["; MaxProcs: 1"] + [
        f"{k} {60 * k} 0 90 1 -1 -1 1 100 -1 1 1 1 -1 {1 + k % 2} -1 -1 -1" for k in range(1, 81)
    ]
    path = tmp_path / "two-queues.swf"
    path.write_text("\n".join(lines) + "\n")
    scenario = load("batch/replay").override({"workload.trace": str(path)})
    metrics = simulate(scenario).metrics
    kinds = ("waited_p95", "slowdown_mean")
    names = [name for name in metrics if "queue" in name]
    assert names == [f"{kind}.queue-{number}" for number in (1, 2) for kind in kinds]
    before = {name: metric.value for name, metric in metrics.items()}
    slower = before | {names[0]: 1e6}
    assert excess_waits(slower, before, Starvation())["excess_wait.queue-1"] > 9e5
    assert str(label(names[0])) == "wait in queue 1 (95th percentile)"
    assert definition(names[0]).direction == "minimize"


def test_a_replay_tells_waits_of_the_qos_of_a_log_and_guards_them(tmp_path):
    rows = ["JobID|Submit|Start|End|AllocCPUS|ReqCPUS|TimelimitRaw|State|User|QOS"]
    rows += [
        f"{k}|{60 * k}|{60 * k}|{60 * k + 90}|1|1|2|COMPLETED|u|{'high' if k % 2 else 'normal'}"
        for k in range(1, 81)
    ]
    path = tmp_path / "two-qos.txt"
    path.write_text("\n".join(rows) + "\n")
    site = {"workload.trace": str(path), "site.cluster.nodes": 1}
    metrics = simulate(load("batch/replay").override(site)).metrics
    names = [name for name in metrics if ".qos-" in name]
    kinds = ("waited_p95", "slowdown_mean")
    assert names == [f"{kind}.qos-{qos}" for qos in ("high", "normal") for kind in kinds]
    before = {name: metric.value for name, metric in metrics.items()}
    slower = before | {names[0]: 1e6}
    assert excess_waits(slower, before, Starvation())["excess_wait.qos-high"] > 9e5
    assert str(label(names[0])) == "wait in QOS high (95th percentile)"
    (harmed,) = harms({names[0]: (100.0, 110.0)}, {names[0]: (200.0, 211.0)}, ())
    assert harmed.metric == names[0]


@pytest.mark.parametrize("name", ["waited_p95.qos-high", "slowdown_mean.queue-1"])
def test_what_only_a_log_names_is_refused_as_an_objective_in_words(name):
    with pytest.raises(ScenarioError, match="guards and harms look at it"):
        known_metrics([name])
