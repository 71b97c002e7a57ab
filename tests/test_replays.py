"""Replays of logs: the size that a log names, what a replay says of itself, and estimates."""

import gzip
from bisect import insort
from pathlib import Path

import pytest

from gridtune.scenarios import ScenarioError, load, simulate
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.results.run import notes
from gridtune.scenarios.trace_files import TraceError, find_trace
from gridtune.scenarios.workloads.jobs import JobWorkload
from gridtune.scenarios.workloads.trace_jobs import CHOICE, PART, TraceJobs
from tests.facts import missing, unstated

KTH = "KTH-SP2-1996-2.1-cln.swf.gz"
NASA = "NASA-iPSC-1993-3.1-cln.swf.gz"


def trace_path(name):
    try:
        return find_trace(name)
    except TraceError:
        pytest.skip(f"no {name} in the folders of traces")


def rows_of(path):
    """(submit, run time, processors, requested time) of the rows of a log with a run time and processors."""
    with gzip.open(path, "rt") as file:
        fields = [line.split() for line in file if line.strip() and not line.startswith(";")]
    fields.sort(key=lambda f: (int(f[1]), int(f[0])))
    rows = [
        (int(f[1]), max(1, int(f[3])), int(f[4]), int(f[8]))
        for f in fields
        if int(f[3]) >= 0 and int(f[4]) > 0
    ]
    origin = min(submit for submit, *_ in rows)
    return [(submit - origin, run, width, asked) for submit, run, width, asked in rows]


def easy_starts(rows, capacity):
    """EASY counted independently: lists only, no part of gridtune."""
    waiting, ends, planned, starts = [], [], [], [None] * len(rows)
    free, come = capacity, 0
    while come < len(rows) or waiting:
        now = min(rows[come][0] if come < len(rows) else float("inf"), ends[0][0] if ends else float("inf"))
        while ends and ends[0][0] <= now:
            _, number = ends.pop(0)
            free += rows[number][2]
            planned.remove((starts[number] + rows[number][3], number))
        while come < len(rows) and rows[come][0] <= now:
            waiting.append(come)
            come += 1

        def start(number, now=now):
            nonlocal free
            starts[number] = now
            free -= rows[number][2]
            insort(ends, (now + rows[number][1], number))
            insort(planned, (now + rows[number][3], number))

        while waiting and rows[waiting[0]][2] <= free:
            start(waiting.pop(0))
        if not waiting or not free:
            continue
        there, shadow, spare = free, None, 0
        for end, number in planned:
            if shadow is not None and max(end, now) > shadow:
                break
            there += rows[number][2]
            if there >= rows[waiting[0]][2]:
                shadow, spare = max(end, now), there - rows[waiting[0]][2]
        for number in waiting[1:]:
            _, _, width, asked = rows[number]
            if width > free or (now + asked > shadow and width > spare):
                continue
            if now + asked > shadow:
                spare -= width
            start(number)
        waiting = [number for number in waiting if starts[number] is None]
    return starts


@pytest.mark.long
def test_a_log_is_replayed_as_an_independent_count_has_it():
    rows = rows_of(trace_path(KTH))
    starts = easy_starts(rows, 100)
    slow = [
        max(1.0, (start - submit + run) / max(run, 10))
        for (submit, run, _, _), start in zip(rows, starts, strict=True)
    ]
    run = simulate(load("batch/replay").override({"workload.trace": KTH}))
    jobs = run.record.jobs
    assert run.slots == 100
    assert (len(jobs), run.metrics["refused"].value) == (len(rows), 0)
    assert run.metrics["completed"].value == len(rows)
    assert [job.start for job in jobs] == starts
    measured = [max(1.0, (job.end - job.submit) / max(job.runtime, 10.0)) for job in jobs]
    counted = sum(slow) / len(slow)
    assert counted == pytest.approx(91.6, abs=0.1)
    assert sum(measured) / len(measured) == pytest.approx(counted)
    assert run.metrics["slowdown_mean"].value == pytest.approx(counted, rel=1e-4)
    assert run.metrics["lost_jobs"].value == 0


HEADER = "; MaxNodes: 4\n; MaxProcs: 8\n"


def log(folder, header, rows, name="log.swf"):
    """An SWF file of rows (submit, run, processors, requested, status, follows)."""
    lines = [
        f"{k} {submit} -1 {run} {procs} -1 -1 -1 {asked} -1 {status} 7 1 -1 -1 -1 {follows} -1"
        for k, (submit, run, procs, asked, status, follows) in enumerate(rows, 1)
    ]
    (folder / name).write_text(header + "\n".join(lines) + "\n")
    return str(folder / name)


def replay(trace, **values):
    return load("batch/replay").override({"workload.trace": trace, **values})


ROWS = [
    (0, 100, 4, 300, 1, -1),
    (1, 0, 2, 60, 1, -1),  # a run time of 0
    (2, -1, 2, 60, 5, -1),  # cancelled before its start
    (3, 50, 2, -1, 0, 1),  # failed, without a request, follows the first
    (4, 90, 9, 60, 1, -1),  # wider than the machine, longer than requested
]


def test_a_replay_says_how_it_differs_from_the_log(tmp_path):
    made = replay(log(tmp_path, HEADER, ROWS))
    said = notes(made)
    assert said[0].startswith("workload log: the trace ")
    assert not unstated(
        said[1:],
        ["site cluster", "8 nodes"],
        ["workload log", "1 of 5 rows", "left out", "run time below 0"],
        ["workload log", "1 of 5 rows", "run time", "1 s"],
        ["workload log", "1 of 5 rows", "fields 17 and 18", "ignored"],
        ["workload log", "1 of 4 jobs", "failed", "completed"],
        ["workload log", "1 of 4 jobs", "no requested time", "`estimate`", "`estimate_factor`"],
        ["workload log", "1 of 4 jobs", "requested", "`overrun`"],
        ["workload log", "1 of 4 jobs", "8 processors", "site cluster", "lost"],
    )
    assert simulate(made).metrics["refused"].value == 1


@pytest.mark.parametrize(("requested", "starts"), [(60, 60.0), (-1, 10.0)])
def test_a_job_that_was_cancelled_holds_processors_for_what_it_requested_at_most(tmp_path, requested, starts):
    trace = tmp_path / "cancelled.swf"
    rows = [
        f"1 0 100000 -1 -1 -1 -1 1 {requested} -1 5 1 1 -1 1 -1 -1 -1",
        "2 10 0 10 1 -1 -1 1 20 -1 1 2 1 -1 1 -1 -1 -1",
    ]
    trace.write_text("\n".join(["; MaxProcs: 1", *rows]) + "\n")
    (job,) = simulate(replay(str(trace))).record.jobs
    assert (job.start, job.end) == (starts, starts + 10.0)


def test_queues_are_chosen_by_number_or_by_the_name_that_the_header_gives(tmp_path):
    trace = tmp_path / "queues.swf"
    rows = [
        f"{k} {k} 0 10 1 -1 -1 1 60 -1 1 1 1 -1 {queue} -1 -1 -1" for k, queue in ((1, 1), (2, 3), (3, 3))
    ]
    trace.write_text(
        "\n".join(["; MaxProcs: 4", "; Queue:  1  test", ";  Queue: 3 long  long", *rows]) + "\n"
    )
    for queues, ids in ((["long"], [2, 3]), (["3"], [2, 3]), (["test", "3"], [1, 2, 3])):
        made = replay(str(trace), **{"workload.log.queues": queues})
        record = simulate(made).record
        assert [record.log_ids[job.id] for job in record.jobs] == ids
    with pytest.raises(ScenarioError, match=r"queue short; .*1, 3"):
        simulate(replay(str(trace), **{"workload.log.queues": ["short"]}))


def test_a_faithful_replay_says_only_where_it_comes_from(tmp_path):
    trace = log(tmp_path, "", [(0, 100, 4, 300, 1, -1)])
    assert len(notes(replay(trace, **{"site.cluster.nodes": 4}))) == 1
    assert len(notes(load("batch/replay"))) == 2  # what it is, and its size


@pytest.mark.parametrize("name", ["deadline/trace", "diet/egee-week"])
def test_tasks_and_sessions_from_a_log_say_how_they_differ_from_it(tmp_path, name):
    said = notes(load(name).override({"workload.trace": log(tmp_path, HEADER, ROWS)}))
    unit = "task" if name == "deadline/trace" else "request"
    assert not unstated(
        said[1:],
        ["workload lpc", "1 of 5 rows", "left out", "run time below 0"],
        ["workload lpc", "1 of 5 rows", "run time", "1 s"],
        ["workload lpc", "1 of 5 rows", "fields 17 and 18", "ignored"],
        ["workload lpc", "1 of 4 jobs", "failed", "completed"],
        ["workload lpc", "4 of 4 jobs", "several processors", unit],
        ["workload lpc", "3 of 4 jobs", "requested time", "ignored"],
    )


def test_meta_jobs_of_a_log_that_fit_at_no_site_are_said(tmp_path):
    sites = {"site.large.nodes": 8, "site.medium.nodes": 4, "site.small.nodes": 2}
    made = load("grid/kth").override({"workload.trace": log(tmp_path, HEADER, ROWS), **sites})
    assert not missing(notes(made)[-1], "workload kth", "1 of 4 jobs", "8 processors", "site large", "lost")
    assert simulate(made).metrics["lost_jobs"].value == 1


def test_limits_of_queues_that_refuse_jobs_are_said(tmp_path):
    queues = [{"name": "short", "max_runtime": 100.0}, {"name": "narrow", "max_processors": 2}]
    trace = log(tmp_path, HEADER, [(0, 50, 4, 300, 1, -1), (0, 50, 2, 300, 1, -1), (0, 50, 4, 60, 1, -1)])
    made = replay(trace, **{"site.cluster.queue": queues})
    assert not missing(notes(made)[-1], "1 of 3 jobs", "queue", "site cluster")
    assert simulate(made).metrics["refused"].value == 1


@pytest.mark.parametrize(
    ("values", "estimates"),
    [
        ({}, [300, 60, 50, 60]),
        ({"workload.estimate": "actual"}, [100, 1, 50, 90]),
        ({"workload.estimate": "factor"}, [200, 2, 100, 180]),
        ({"workload.estimate": "factor", "workload.estimate_factor": 3.0}, [300, 3, 150, 270]),
    ],
)
def test_what_owners_promise_is_said_to_be(tmp_path, values, estimates):
    run = simulate(replay(log(tmp_path, HEADER, ROWS), **values))
    assert [job.estimate for job in run.record.jobs] == estimates
    factor = {"actual": "1", "factor": f"{values.get('workload.estimate_factor', 2):g}"}
    if values:
        said = f"owners promise {factor[values['workload.estimate']]} times the run time"
        assert any(said in note for note in notes(run.scenario))


def test_a_log_without_requests_makes_easy_an_oracle_and_says_so():
    trace_path(NASA)
    assert any("no requested time" in note for note in notes(replay(NASA)))


def test_the_size_of_a_log_takes_slots_of_nodes_into_account(tmp_path):
    assert simulate(replay(log(tmp_path, HEADER, ROWS), **{"site.cluster.slots": 4})).slots == 8


def test_a_size_that_no_log_names_is_asked_for(tmp_path):
    trace = log(tmp_path, "", ROWS)
    with pytest.raises(ScenarioError, match=r"site\.cluster\.nodes: .* 9: "):
        simulate(replay(trace))
    other = log(tmp_path, "; MaxProcs: 16\n", ROWS, "other.swf")
    document = {
        "title": "two logs",
        "site": [{"name": "lal", "nodes": "log", "policy": "easy"}],
        "workload": [
            {"name": "a", "kind": "trace", "trace": log(tmp_path, HEADER, ROWS, "one.swf")},
            {"name": "b", "kind": "trace", "trace": other},
        ],
    }
    with pytest.raises(ScenarioError, match=r"site\.lal\.nodes: .* sizes .*16"):
        simulate(Scenario("test", document, Path()))
    drawn = {"name": "jobs", "kind": "generated", "count": 2, "runtime": 1.0, "interval": 1.0}
    with pytest.raises(ScenarioError, match=r'"log" .*kind "trace"'):
        simulate(Scenario("test", document | {"workload": [drawn]}, Path()))


@pytest.mark.parametrize("nodes", [0, -1, 2.5, "many", True])
def test_nodes_are_a_number_or_those_of_the_log(nodes):
    with pytest.raises(ScenarioError, match=r'site\.cluster\.nodes: .*whole .* or "log"'):
        load("batch/replay").override({"site.cluster.nodes": nodes})


def test_policies_differ_on_the_embedded_log():
    waits = {
        policy: simulate(load("batch/replay").override({"site.cluster.policy": policy}))
        .metrics["waiting_mean"]
        .value
        for policy in ("fcfs", "easy", "conservative", "fair-share")
    }
    assert min(abs(a - b) for a in waits.values() for b in waits.values() if a != b) > 100
    assert len(set(waits.values())) == 4


def test_whatever_chooses_jobs_of_a_log_distinguishes_replays():
    chooses = set(TraceJobs.model_fields) - set(JobWorkload.model_fields)
    # The file, and what is read of it, tell by themselves; whoever resamples chooses anew in each run.
    assert chooses - CHOICE == {"kind", "trace", "cancelled", "resample_from", "resample_weeks"}
    # What is made of the part that is resampled, anew in each run, says nothing of which part that is.
    anew = {"resample", "shake", "compression", "prefix", "queues", "shortest", "longest"}
    assert anew == CHOICE - PART
