"""Jobs of a log that follow others: when they come, and which one they follow in a log drawn anew."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.scenarios import ScenarioError, load, simulate
from gridtune.scenarios.results.run import notes
from gridtune.scenarios.trace_files.reading import read_trace
from gridtune.scenarios.workloads.dependencies import linked
from gridtune.scenarios.workloads.jobs import Task
from tests.facts import missing


def log(path, rows):
    """A log of rows (submit, wait, run, processors, status, preceding, think)."""
    lines = [
        f"{k} {submit} {wait} {run} {n if run >= 0 else -1} -1 -1 {n} 100 -1 {status} u "
        f"-1 -1 -1 -1 {before} {think}"
        for k, (submit, wait, run, n, status, before, think) in enumerate(rows, 1)
    ]
    path.write_text("; MaxProcs: 2\n" + "\n".join(lines) + "\n")
    return str(path)


def replay(trace, **values):
    return load("batch/replay").override(
        {"workload.trace": trace, "workload.dependencies": "keep", "workload.cancelled": "keep", **values}
    )


ROWS = [
    (0, 0, 10, 2, 1, -1, -1),
    (1, 9, 10, 2, 1, -1, -1),  # waits for the first: runs from 10 to 20
    (25, 0, 5, 1, 1, 2, 3),  # follows the second: logged at 25, comes at 23
    (26, 0, 5, 1, 1, 9, 3),  # follows nobody who is here: comes when logged
    (40, 0, 5, 1, 1, 3, 0),  # follows the third at once: 28
    (41, 2, -1, 2, 5, 3, 4),  # follows it after 4 s, and is withdrawn 2 s later: from 32 to 34
    (60, 0, 5, 1, 1, 6, 1),  # follows that one: 35
]


def test_a_job_comes_when_the_one_that_it_follows_has_ended_and_its_owner_has_thought(tmp_path):
    path = log(tmp_path / "a.swf", ROWS)
    run = simulate(replay(path))
    came = sorted(job.submit for job in [*run.record.jobs, *run.record.placeholders])
    assert came == [0, 1, 23, 26, 28, 32, 35]
    logged = simulate(replay(path, **{"workload.dependencies": "ignore"}))
    assert sorted(job.submit for job in logged.record.jobs) == [0, 1, 25, 26, 40, 60]


def test_the_manifest_says_what_became_of_dependencies(tmp_path):
    path = log(tmp_path / "a.swf", ROWS)
    (kept,) = [line for line in notes(replay(path)) if "fields 17 and 18" in line]
    assert not missing(kept, "5 of 7 rows", "kept")
    (told,) = [
        line for line in notes(replay(path, **{"workload.dependencies": "ignore"})) if "fields 17" in line
    ]
    assert "ignored, jobs come when logged" in told


def test_slower_service_delays_those_who_follow_but_no_think_time_changes(tmp_path):
    rows = [(0, 0, 10, 2, 1, -1, -1), (15, 0, 4, 1, 1, 1, 5)]
    path = log(tmp_path / "a.swf", rows)
    for overhead in (0.0, 7.0):
        first, second = simulate(replay(path, **{"site.cluster.start_overhead": overhead})).record.jobs
        assert (first.end, second.submit) == (10 + overhead, 15 + overhead)
    first, second = simulate(replay(path, **{"workload.compression": 2.0})).record.jobs
    assert second.submit == first.end + 2.5


def test_jobs_that_wait_for_others_beyond_the_end_are_lost(tmp_path):
    rows = [(0, 0, 10, 1, 1, -1, -1), *((12 * k, 0, 10, 2, 1, k, 2) for k in range(1, 6))]
    path = log(tmp_path / "a.swf", rows)

    def lost(overhead):
        run = simulate(replay(path, horizon=70.0, **{"site.cluster.start_overhead": overhead}))
        metrics = run.metrics
        assert metrics["completed"].value + metrics["lost_jobs"].value == 6
        return [metrics[name].value for name in ("lost_jobs", "never_submitted", "lost_work")]

    assert lost(0.0) == [0, 0, 0]  # the last runs from 60 to 70
    assert lost(20.0) == [4, 3, 80]  # the third is cut off by the end, and three more were to follow


@pytest.mark.long
@settings(deadline=None, max_examples=40)
@given(
    rows=st.lists(
        st.tuples(
            st.integers(0, 5), st.integers(1, 9), st.integers(1, 3), st.integers(0, 10), st.integers(0, 5)
        ),
        min_size=1,
        max_size=12,
    ),
    policy=st.sampled_from(["fcfs", "easy", "conservative"]),
)
def test_every_job_comes_once_and_never_before_its_time(tmp_path_factory, rows, policy):
    made, now = [], 0
    for number, (gap, run, wide, before, think) in enumerate(rows, 1):
        now += gap
        made.append((now, 0, run, wide, 1, before if before < number else -1, think))
    path = log(tmp_path_factory.mktemp("logs") / "a.swf", made)
    jobs = simulate(replay(path, **{"site.cluster.policy": policy, "site.cluster.nodes": 2})).record.jobs
    assert len(jobs) == len(made)  # jobs of three processors are refused, and those who follow them come
    # Jobs are distinguished by what they ask for; each that follows came its think time after an end.
    times = sorted(job.submit for job in jobs)
    ends = [job.end for job in jobs]
    alone = [row[0] - made[0][0] for row in made if row[5] < 1]
    for time in alone:
        times.remove(time)
    thinks = {row[6] for row in made if row[5] >= 1}
    assert all(any(abs(end + think - time) < 1e-9 for end in ends for think in thinks) for time in times)


def task(submit, number, preceding=0, user="u"):
    return Task(submit, user, "", 1.0, 1, 1.0, number=number, preceding=preceding)


def test_in_a_log_drawn_anew_a_job_follows_the_copy_that_moved_with_it():
    logged = {7: 0.0, 8: 10.0}
    drawn = [task(100.0, 7), task(110.0, 8, 7), task(200.0, 7), task(210.0, 8, 7), task(315.0, 8, 7)]
    assert [one.preceding for one in linked(drawn, logged, 0.0)] == [0, 1, 0, 3, 0]
    assert [one.preceding for one in linked(drawn, logged, 200.0)] == [0, 1, 0, 3, 3]
    copies = [task(100.0, 7), task(100.0, 7, user="u~2"), task(110.0, 8, 7), task(110.0, 8, 7, "u~2")]
    assert [one.preceding for one in linked(copies, logged, 0.0)] == [0, 0, 1, 2]
    assert [one.preceding for one in linked([task(0.0, 7, user="v"), task(10.0, 8, 7)], logged, 0.0)] == [
        0,
        1,
    ]


def test_a_conversion_keeps_who_follows_whom(tmp_path):
    from gridtune.scenarios.results.swf import swf_lines

    trace = read_trace(log(tmp_path / "a.swf", ROWS[:5]))
    (tmp_path / "b.swf").write_text("\n".join(swf_lines(trace)))
    again = read_trace(tmp_path / "b.swf")
    assert [(job.preceding, job.think) for job in again.jobs] == [
        (None, None), (None, None), (2, 3.0), (9, 3.0), (3, 0.0),
    ]  # fmt: skip


def test_dependencies_are_for_sites_with_a_batch_scheduler(tmp_path):
    path = log(tmp_path / "a.swf", ROWS)
    with pytest.raises(ScenarioError, match=r"dependencies: .*site"):
        simulate(load("grid/kth").override({"workload.kth.trace": path, "workload.kth.dependencies": "keep"}))
