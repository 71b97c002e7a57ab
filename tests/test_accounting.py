"""Accounting of Slurm and OAR, schedules with users, and traces written in SWF."""

import gzip
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from gridtune import cli
from gridtune.scenarios import ScenarioError, load, simulate
from gridtune.scenarios.trace_files.reading import read_trace
from gridtune.scenarios.trace_files.records import Keep
from gridtune.scenarios.traces.summary import summarise
from gridtune.scenarios.traces.summary_text import summary_lines
from tests.facts import missing, unstated

SACCT = """\
JobIDRaw|JobID|Submit|Start|End|ElapsedRaw|AllocCPUS|ReqCPUS|TimelimitRaw|State|User|Account|Partition
100|100|2026-03-01T10:00:00|2026-03-01T10:05:00|2026-03-01T11:05:00|3600|8|8|120|COMPLETED|ann|physics|long
100.batch|100.batch|2026-03-01T10:05:00|2026-03-01T10:05:00|2026-03-01T11:05:00|3600|8|8||COMPLETED||physics|
103|102_1|2026-03-01T10:00:30|2026-03-01T10:10:00|2026-03-01T10:11:40|100|1|1|UNLIMITED|TIMEOUT|bob|chem|short
104|104|2026-03-01T10:01:00|Unknown|2026-03-01T12:00:00|0|0|4|60|CANCELLED by 1001|bob|chem|short
105|105|2026-03-01T10:02:00|2026-03-01T12:00:00|Unknown|900|2|2|60|RUNNING|bob|chem|short
"""
OAR = """\
job_id,submission_time,start_time,stop_time,state,job_user,project,queue_name,moldable_walltime,resources
7,1500000000,1500000060,1500000660,Terminated,ann,p1,default,3600,16
8,1500000010,0,1500000500,Error,bob,p2,besteffort,600,0
9,1500000020,1500000700,1500000800,Error,bob,p2,default,600,4
"""


@pytest.fixture
def sacct(tmp_path):
    path = tmp_path / "sacct.txt"
    path.write_text(SACCT)
    return path


def test_jobs_of_oar_that_have_not_ended_are_called_so(tmp_path):
    states = {"Running": "1500000700", "Finishing": "1500000700", "Waiting": "0", "Hold": "0"}
    rows = [
        f"{10 + k},1500000020,{start},0,{state},bob,p2,default,600,4\n"
        for k, (state, start) in enumerate(states.items())
    ]
    path = tmp_path / "oar.csv"
    path.write_text(OAR + "".join(rows))
    dropped = {reason: tally.count for reason, tally in read_trace(path).report.dropped.items()}
    assert [[count for why, count in dropped.items() if word in why] for word in ("running", "waiting")] == [
        [2], [2],
    ]  # fmt: skip


def test_sacct_by_hand(sacct):
    trace = read_trace(sacct)
    assert trace.format == "sacct"
    first, second = trace.jobs
    assert (first.id, first.submit, first.wait, first.runtime, first.processors) == (100, 0, 300, 3600, 8)
    assert (first.estimate, first.status, first.user, first.group, first.queue) == (
        7200, 1, "ann", "physics", "long"
    )  # fmt: skip
    assert (second.submit, second.wait, second.runtime, second.estimate, second.status) == (
        30,
        570,
        100,
        None,
        0,
    )
    # A cancelled job and one that runs; the step is no row at all.
    assert trace.report.rows == 4
    assert not unstated(trace.report.dropped, ["cancelled"], ["running"])
    assert [tally.count for tally in trace.report.dropped.values()] == [1, 1]


FULL = """\
JobID|JobIDRaw|Submit|Eligible|Start|End|AllocCPUS|ReqCPUS|TimelimitRaw|State|User|Account|Partition|QOS|Reservation
100+0|100|2026-03-01T10:00:00|2026-03-01T10:00:00|2026-03-01T10:05:00|2026-03-01T11:05:00|8|8|120|COMPLETED|ann|phys|long|high|
100+1|101|2026-03-01T10:00:00|2026-03-01T10:00:00|2026-03-01T10:05:00|2026-03-01T11:06:00|4|4|180|COMPLETED|ann|phys|gpu|high|
102_7|110|2026-03-01T10:00:10|2026-03-01T10:00:10|2026-03-01T10:10:00|2026-03-01T10:20:00|1|1|10|TIMEOUT|bob|chem|short|normal|
102_8|111|2026-03-01T10:00:10|2026-03-01T10:00:10|2026-03-01T10:10:00|2026-03-01T10:12:00|1|1|10|NODE_FAIL|bob|chem|short|normal|
120|120|2026-03-01T10:00:20|2026-03-01T10:00:20|2026-03-01T10:11:00|2026-03-01T10:12:00|2|2|10|PREEMPTED|cy|chem|short|low|class1
130|130|2026-03-01T10:00:30|2026-03-01T10:00:30|Unknown|Unknown|0|4|60|PENDING|cy|chem|short|low|
102_[9-20%2]|102|2026-03-01T10:00:10|2026-03-01T10:00:10|Unknown|Unknown|0|1|10|PENDING|bob|chem|short|normal|
140|140|2026-03-01T10:00:40|2026-03-01T10:00:40|2026-03-01T10:30:00|Unknown|4|4|60|RUNNING|cy|chem|short|low|
"""


def test_rows_of_overlapping_exports_count_once(sacct):
    once = read_trace(sacct)
    head, *rows = SACCT.splitlines()
    sacct.write_text("\n".join([head, *rows, head, *rows[:3]]))  # the last one without a line break
    again = read_trace(sacct)
    assert again.jobs == once.jobs
    (reason,) = set(again.report.dropped) - set(once.report.dropped)
    assert "equal to an earlier row" in reason
    assert again.report.dropped[reason].count == 2, "a step of a job is no row"


def test_what_only_slurm_knows_arrives_in_the_trace(tmp_path):
    path = tmp_path / "sacct.txt"
    path.write_text(FULL)
    trace = read_trace(path)
    whole, seventh, eighth, last = trace.jobs
    # The parts of a heterogeneous job start together: they are one job.
    assert (whole.id, whole.processors, whole.runtime, whole.estimate) == (100, 12, 3660, 180 * 60)
    assert (whole.part_of, whole.qos, whole.queue, whole.state) == ("100+", "high", "long", "COMPLETED")
    assert [(job.id, job.part_of, job.state) for job in (seventh, eighth)] == [
        (110, "102_", "TIMEOUT"),
        (111, "102_", "NODE_FAIL"),
    ]
    assert (last.state, last.qos, last.reservation, last.part_of) == ("PREEMPTED", "low", "class1", None)
    assert [job.status for job in trace.jobs] == [1, 0, 0, 0]
    report = trace.report
    found = sorted((one.first_line, one.count, reason) for reason, one in report.dropped.items())
    assert [(line, count) for line, count, _ in found] == [(3, 1), (7, 2), (9, 1)]
    assert not unstated([reason for *_, reason in found], ["heterogeneous"], ["waiting"], ["running"])
    assert report.rows == report.kept + sum(one.count for one in report.dropped.values()) == 8
    assert report.kept == len(trace.jobs)
    assert not report.missing
    lines = list(summary_lines(summarise(path)))
    said = {line.split()[0]: line for line in lines if line}
    assert not missing(said["states"], "COMPLETED 1", "TIMEOUT 1", "NODE_FAIL 1", "PREEMPTED 1")
    assert not missing(said["QOS"], "normal 2", "high 1", "low 1")
    assert not missing(said["of"], "1 in reservations", "2 tasks")
    assert len(simulate(load("batch/replay").override(
        {"workload.trace": str(path), "site.cluster.nodes": 12}
    )).record.jobs) == 4  # fmt: skip


def test_columns_that_are_not_there_are_named(sacct, tmp_path):
    assert not unstated(read_trace(sacct).report.missing, ["QOS"], ["Reservation"], ["Eligible"])
    few = tmp_path / "few.txt"
    few.write_text("JobID|Submit|Start|End|NCPUS\n1|10|20|30|2\n")
    columns = read_trace(few).report.missing[:3]
    assert not unstated(columns, ["TimelimitRaw"], ["State"], ["User"])
    assert any(not missing(warning, *columns) for warning in summarise(few).warnings)
    out = CliRunner().invoke(cli.app, ["trace", "convert", str(few), str(tmp_path / "few.swf")]).output
    assert all(one in out for one in columns)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("JobID|State|User|Start|NCPUS\n1|COMPLETED|ann|10|2\n", "columns Submit, End; use sacct"),
        ("State|User|Submit|Start|End\nCOMPLETED|a|1|2|3\n", "columns JobID, AllocCPUS; use sacct"),
        ("JobID|Submit|Start|End\n1|1|2|3\n", "columns AllocCPUS; use sacct"),
        (
            "JobID    Submit   Start  End State\n------- ------- -----\n1  1 2 3 C\n",
            "sacct without -P, whose",
        ),
    ],
)
def test_accounting_without_what_is_needed_says_so(tmp_path, text, said):
    path = tmp_path / "mine.txt"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=said) as error:
        read_trace(path)
    assert "--format=JobID,JobIDRaw,Submit,Eligible,Start,End" in str(error.value)


@pytest.mark.parametrize("start", ["Unknown", "None", "2026-03-01T10:06:00"])
@pytest.mark.parametrize("allocated", ["0", "", "4"])
def test_what_slurm_cancels_in_the_queue_never_ran(tmp_path, start, allocated):
    """Whatever it says of their start: that of the cancellation in many versions."""
    path = tmp_path / "sacct.txt"
    lines = SACCT.splitlines()
    lines[4] = (
        f"104|104|2026-03-01T10:01:00|{start}|2026-03-01T10:06:00|0|{allocated}|4|60|CANCELLED by 7|bob|chem|"
    )
    path.write_text("\n".join(lines))
    assert [job.id for job in read_trace(path).jobs] == [100, 103]
    gone = read_trace(path, keep=Keep(cancelled=True)).jobs[-1]
    assert (gone.id, gone.withdrawn, gone.processors, gone.estimate) == (104, 300, 4, 3600)


def test_jobs_wait_from_when_they_are_eligible(tmp_path):
    """Not while they are held, or wait for another job; what is cancelled before never waited at all."""
    path = tmp_path / "sacct.txt"
    rows = {
        1: "1000|1000|1010|1110|COMPLETED",
        2: "1000|1400|1500|1600|COMPLETED",
        3: "1000|Unknown|1500|1600|COMPLETED",
        4: "1000|Unknown|Unknown|1300|CANCELLED by 7",
        5: "1000|1100|Unknown|1300|CANCELLED by 7",
        7: "1000|1500|Unknown|1300|CANCELLED by 7",  # a date to come
        8: "1000|900|1010|1110|COMPLETED",
        6: "1000|1200|1150|1300|COMPLETED",  # started before: clocks differ
    }
    lines = ["JobID|Submit|Eligible|Start|End|State|NCPUS", *(f"{k}|{row}|2" for k, row in rows.items())]
    path.write_text("\n".join(lines) + "\n")
    trace = read_trace(path, keep=Keep(cancelled=True))
    found = {job.id: (job.submit, job.wait if job.withdrawn is None else job.withdrawn) for job in trace.jobs}
    assert found == {1: (0, 10), 3: (0, 500), 8: (0, 10), 5: (100, 200), 6: (150, 0), 2: (400, 100)}
    assert [one.count for reason, one in trace.report.dropped.items() if "held" in reason] == [2]
    assert not any("order" in reason for reason in trace.report.repairs)


def test_what_ends_before_it_starts_is_said_so(tmp_path):
    """At the end of summer time; of a job that was cancelled, it is that it never ran."""
    path = tmp_path / "sacct.txt"
    times = "2025-10-26T01:50:00|2025-10-26T02:40:00|2025-10-26T02:10:00"
    path.write_text(SACCT + "".join(f"{k}|{k}|{times}||4|4|60|{state}|u|a|b\n" for k, state in
                                    ((106, "COMPLETED"), (107, "CANCELLED by 7"))))  # fmt: skip
    dropped = {reason.split(" (")[0]: one.count for reason, one in read_trace(path).report.dropped.items()}
    assert dropped["ends before it starts"] == 1
    assert dropped["cancelled before its start"] == 2


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("id,submit,start,end,procs,walltime", "{},0,1,9,1,{}"),
        ("job_id,submission_time,start_time,stop_time,state,resources,walltime", "{},5,6,9,Terminated,1,{}"),
        ("JobID|Submit|Start|End|NCPUS|Timelimit", "{}|5|6|9|1|{}"),
    ],
)
def test_requested_times_are_read_in_hours_minutes_and_seconds_and_others_are_counted(tmp_path, head, row):
    path = tmp_path / "mine.csv"
    times = ("01:00:00", "1-00:00:10", "90", "UNLIMITED", "", "soon", "12 h")
    path.write_text("\n".join([head, *(row.format(k, time) for k, time in enumerate(times, 1))]) + "\n")
    trace = read_trace(path)
    assert [job.estimate for job in trace.jobs] == [3600, 86410, 90, None, None, None, None]
    assert not unstated(trace.report.repairs, ["requested time"])
    assert [one.count for one in trace.report.repairs.values()] == [2]


def test_names_that_are_not_utf_8_stay_apart(tmp_path):
    path = tmp_path / "sacct.txt"
    text = "".join(SACCT.splitlines(keepends=True)[i] for i in (0, 1, 3)).replace("ann", "m\374ller")
    path.write_bytes(text.replace("bob", "m\351ller").encode("latin-1"))
    users = [job.user for job in read_trace(path).jobs]
    assert users == [r"m\xfcller", r"m\xe9ller"]


def test_sacct_with_times_in_seconds_and_other_columns(tmp_path):
    path = tmp_path / "mine.txt.gz"
    text = (
        "User|JobID|State|Submit|Start|End|NCPUS|Timelimit\nann|5_2|COMPLETED|1000|1010|1110|3|1-02:00:00\n"
    )
    path.write_bytes(gzip.compress(text.encode()))
    (job,) = read_trace(path).jobs
    assert (job.wait, job.runtime, job.processors, job.estimate, job.user) == (10, 100, 3, 93600, "ann")


def test_oar_by_hand(tmp_path):
    path = tmp_path / "oar.csv"
    path.write_text(OAR)
    trace = read_trace(path)
    assert trace.format == "OAR"
    assert [(job.id, job.submit, job.wait, job.runtime, job.processors) for job in trace.jobs] == [
        (7, 0, 60, 600, 16),
        (9, 20, 680, 100, 4),
    ]
    assert trace.jobs[0].estimate == 3600
    assert trace.jobs[1].queue == "default"
    # Although it is CSV it is of OAR.
    run = simulate(load("batch/replay").override({"workload.trace": str(path), "site.cluster.nodes": 16}))
    assert [job.user for job in run.record.jobs] == ["ann", "bob"]


def test_jobs_in_csv_have_users(tmp_path):
    path = tmp_path / "made.csv"
    path.write_text(
        "id,submit,start,end,procs,walltime,user,group,queue\n1,0,0,10,1,20,ann,g,short\n2,1,1,9,1,20,bob,g,long\n"
    )
    replay = load("batch/replay").override({"workload.trace": str(path), "site.cluster.nodes": 2})
    assert [(job.user, job.group) for job in simulate(replay).record.jobs] == [("ann", "g"), ("bob", "g")]
    (only,) = simulate(replay.override({"workload.queues": ["long"]})).record.jobs
    assert only.user == "bob"


def test_csv_is_described_and_converted_as_any_log_is(tmp_path):
    path, out = tmp_path / "made.csv", tmp_path / "made.swf"
    rows = ["1,0,0,10.5,1,20", "2,3,4,9,2,20", "3,9,4,9,2,20", "4,9,,9,2,20"]
    path.write_text("\n".join(["id,submit,start,end,procs,walltime", *rows]) + "\n")
    told = CliRunner().invoke(cli.app, ["trace", "info", str(path)])
    assert told.exit_code == 0, told.output
    assert not missing(" ".join(told.output.split()), "dropped 2", "line 4")
    assert CliRunner().invoke(cli.app, ["trace", "convert", str(path), str(out)]).exit_code == 0
    before, after = (read_trace(one).jobs for one in (path, out))
    kept = [[(job.submit, job.wait, job.runtime, job.estimate) for job in jobs] for jobs in (before, after)]
    assert kept[0] == kept[1] == [(0, 0, 10.5, 20), (3, 1, 5, 20)]


def test_a_converted_trace_is_the_same_trace(sacct, tmp_path):
    out = tmp_path / "mine.swf"
    result = CliRunner().invoke(cli.app, ["trace", "convert", str(sacct), str(out)])
    assert result.exit_code == 0, result.output
    assert "3 jobs in SWF" in result.output  # with the cancelled one
    before, after = (read_trace(path, keep=Keep(cancelled=True)) for path in (sacct, out))
    assert after.format == "SWF"
    kept = ("id", "submit", "wait", "runtime", "processors", "estimate", "status", "withdrawn")
    for one, other in zip(before.jobs, after.jobs, strict=True):
        assert [getattr(one, name) for name in kept] == [getattr(other, name) for name in kept]
    assert [job.user for job in after.jobs] == ["1", "2", "2"]
    assert after.header["User"] == "1 ann\n2 bob"
    assert after.header["UnixStartTime"] == "1772359200"


def test_a_converted_trace_keeps_its_clock_and_its_queues(tmp_path):
    first, out = tmp_path / "first.swf", tmp_path / "out.swf"
    row = "1 3600 0 50 1 -1 -1 1 60 -1 1 1 1 -1 1 -1 -1 -1"
    first.write_text(f"; UnixStartTime: 1000000000\n; Queue: 1 short\n; Queue: 2 long\n{row}\n")
    assert CliRunner().invoke(cli.app, ["trace", "convert", str(first), str(out)]).exit_code == 0
    header = read_trace(out).header
    assert (header["UnixStartTime"], header["Queue"]) == ("1000003600", "1 short\n2 long")


CANCELLED = """\
; MaxProcs: 2
1 0 0 100 2 -1 -1 2 100 -1 1 1 1 -1 1 -1 -1 -1
2 1 49 -1 -1 -1 -1 2 500 -1 5 2 1 -1 1 -1 -1 -1
3 2 0 30 1 -1 -1 1 30 -1 1 1 1 -1 1 -1 -1 -1
4 3 400 -1 0 -1 -1 1 300 -1 5 2 1 -1 1 -1 -1 -1
5 4 0 10 2 -1 -1 2 10 -1 1 3 1 -1 1 -1 -1 -1
"""


def test_cancelled_jobs_wait_until_they_are_cancelled_or_run_as_long_as_requested(tmp_path):
    """First come, first served: job 2 leaves the queue at 50 s, job 4 its processor at 400 s."""
    path = tmp_path / "cancelled.swf"
    path.write_text(CANCELLED)
    replay = load("batch/replay").override({"workload.trace": str(path), "site.cluster.policy": "fcfs"})
    run = simulate(replay)
    # At 100 s jobs 3 and 4 start; 4 requested 300 s, and is gone when its owner cancels it at 403 s.
    assert [(job.start, job.end) for job in run.record.jobs] == [(0, 100), (100, 130), (400, 410)]
    second, fourth = run.record.placeholders
    assert (second.state, second.end) == ("cancelled", 50)
    assert (fourth.state, fourth.start, fourth.end) == ("done", 100, 400)
    assert run.metrics["lost_jobs"].value == 0
    limited = simulate(replay.override({"site.cluster.queue": [{"name": "all", "max_runtime": 200.0}]}))
    assert limited.record.placeholders[1].state == "rejected"
    assert limited.metrics["killed_by_limit"].value == 0, "what was cancelled counts in no metric"
    dropped = simulate(replay.override({"workload.cancelled": "drop"}))
    assert [(job.start, job.end) for job in dropped.record.jobs] == [(0, 100), (100, 130), (130, 140)]
    assert not dropped.record.placeholders
    notes = list(replay.active.workload[0].differences())
    assert any(not missing(note, "2 of 5 jobs", "cancelled") for note in notes)


def test_processors_are_conserved_whatever_is_cancelled(tmp_path):
    rng = random.Random(3)
    rows = []
    for k in range(1, 200):
        gone = rng.random() < 0.4
        run = -1 if gone else rng.randrange(1, 60)
        procs = rng.choice([1, 2, 4])
        held = -1 if gone else procs
        rows.append(
            f"{k} {5 * k} {rng.randrange(200)} {run} {held} -1 -1 {procs} 80 -1 {5 if gone else 1} "
            "1 1 -1 1 -1 -1 -1"
        )
    path = tmp_path / "many.swf"
    path.write_text("; MaxProcs: 4\n" + "\n".join(rows) + "\n")
    for policy in ("fcfs", "easy", "conservative", "fair-share", "priority"):
        run = simulate(
            load("batch/replay").override({"workload.trace": str(path), "site.cluster.policy": policy})
        )
        every = [*run.record.jobs, *run.record.placeholders]
        assert all(job.state == "done" for job in run.record.jobs)
        assert {job.state for job in run.record.placeholders} == {"cancelled", "done"}
        assert len(every) == 199
        ran = [job for job in every if job.start == job.start and job.end > job.start]
        assert any(job in ran for job in run.record.placeholders)
        for moment in (job.start for job in ran):
            assert sum(job.processors for job in ran if job.start <= moment < job.end) <= 4


@pytest.mark.parametrize(
    ("name", "there", "said"), [("mine.txt", False, "name it mine.swf"), ("mine.swf", True, "exists already")]
)
def test_nothing_is_overwritten(sacct, tmp_path, name, there, said):
    out = tmp_path / name
    if there:
        out.write_text("precious")
    result = CliRunner().invoke(cli.app, ["trace", "convert", str(sacct), str(out)])
    assert isinstance(result.exception, ScenarioError)
    assert said in str(result.exception)
    assert out.exists() == there
    assert not there or out.read_text() == "precious"


amounts = st.one_of(st.none(), st.integers(0, 10**6).map(float), st.floats(0.001, 1e6))
names = st.sampled_from([None, "1", "27", "ann", "bob b"])


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(amounts, amounts, amounts, st.integers(1, 500), names, names), min_size=1, max_size=8
    )
)
def test_what_is_written_is_read_again(tmp_path_factory, rows):
    """From GWF, which has names, to SWF and back again: numbers to the last digit, names one to one."""
    folder = tmp_path_factory.mktemp("converted")

    def text(value):
        return "-1" if value is None else str(value)

    lines = [
        "\t".join(
            [
                str(k),
                text(submit or 0.0),
                text(wait),
                text(run or 1.0),
                str(procs),
                *(["-1"] * 3),
                "-1",
                "-1",
                "1",
                text(user),
                text(group),
                *(["-1"] * 16),
            ]
        )
        for k, (submit, wait, run, procs, user, group) in enumerate(rows, 1)
    ]
    source = folder / "some.gwf"
    source.write_text("# a grid\n" + "\n".join(lines) + "\n")
    result = CliRunner().invoke(cli.app, ["trace", "convert", str(source), str(folder / "some.swf")])
    assert result.exit_code == 0, result.output
    keep = Keep(minimum_runtime=0.0)
    before, after = read_trace(source, keep=keep).jobs, read_trace(folder / "some.swf", keep=keep).jobs
    for name in ("id", "submit", "wait", "runtime", "processors", "estimate"):
        assert [getattr(job, name) for job in before] == [getattr(job, name) for job in after]
    for name in ("user", "group"):
        pairs = {(getattr(one, name), getattr(other, name)) for one, other in zip(before, after, strict=True)}
        assert len(pairs) == len({one for one, _ in pairs}) == len({other for _, other in pairs})
