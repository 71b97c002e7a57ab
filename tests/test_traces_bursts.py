"""Batch jobs become sessions: nothing is lost, and every session can be met."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridtune.scenarios.trace_files import TraceJob, read_trace
from gridtune.scenarios.traces.bursts import sessions_from_jobs
from gridtune.scenarios.traces.embedded import embedded_jobs

DATA = Path(__file__).parents[1] / ".." / "shared" / "data"


def jobs_of(*rows):
    return [TraceJob(k, submit, runtime, 1, user=user) for k, (submit, runtime, user) in enumerate(rows)]


rows = st.lists(
    st.tuples(
        st.integers(0, 3000).map(float),
        st.floats(0.0, 1e5, allow_nan=False),
        st.sampled_from(["a", "b", "c", None]),
    ),
    max_size=40,
).map(lambda found: sorted(found, key=lambda entry: entry[0]))


@pytest.mark.long
@given(
    rows=rows,
    gap=st.floats(0.0, 1000.0),
    max_requests=st.integers(1, 10),
    share=st.floats(0.0, 1.0),
    slack=st.floats(0.1, 10.0),
    parallelism=st.integers(1, 20),
    least=st.floats(1.0, 1000.0),
)
def test_every_job_is_in_one_session_that_is_well_formed(
    rows, gap, max_requests, share, slack, parallelism, least
):
    jobs = jobs_of(*rows)
    sessions = sessions_from_jobs(
        jobs,
        gap=gap,
        max_requests=max_requests,
        mandatory_share=share,
        slack=slack,
        parallelism=parallelism,
        min_deadline=least,
    )
    # Each user's sessions, one after the other, hold that user's jobs in their order: none lost, none twice.
    for user in {job.user for job in jobs}:
        own = [session for session in sessions if session.user == (user or "unknown")]
        replayed = [runtime for session in own for runtime in session.runtimes]
        assert replayed == [job.runtime for job in jobs if job.user == user]
    assert sum(session.n_max for session in sessions) == len(jobs)
    assert [session.arrival for session in sessions] == sorted(session.arrival for session in sessions)
    for session in sessions:
        assert session.n_max == len(session.runtimes) <= max_requests
        assert share * session.n_max <= session.n_min <= session.n_max
        assert session.n_min >= 1
        assert session.deadline > session.arrival
        allowed = session.deadline - session.arrival
        assert allowed >= min(least, slack * max(session.runtimes)) * (1 - 1e-9)


def test_a_burst_ends_with_a_pause_of_its_user_or_when_full():
    jobs = jobs_of((0, 9, "a"), (100, 8, "b"), (300, 7, "a"), (600, 6, "a"), (901, 5, "a"), (902, 4, "a"))
    sessions = sessions_from_jobs(jobs, gap=300, max_requests=2)
    assert [(s.user, s.arrival, s.runtimes) for s in sessions] == [
        ("a", 0, (9, 7)),
        ("b", 100, (8,)),
        ("a", 600, (6,)),
        ("a", 901, (5, 4)),
    ]


@pytest.mark.parametrize(
    ("runtimes", "allowed"),
    [
        ([10.0] * 8, 3 * 20.0),  # 8 requests on 4 servers take 20 s
        ([10.0] * 2, 3 * 10.0),  # no more servers than requests
        ([1.0, 1.0, 1.0, 1.0, 50.0], 3 * 50.0),  # never faster than the longest
        ([1.0], 20.0),  # the least that is allowed
    ],
)
def test_the_time_allowed_is_a_multiple_of_the_time_needed(runtimes, allowed):
    jobs = jobs_of(*((7.0, runtime, "a") for runtime in runtimes))
    (session,) = sessions_from_jobs(jobs, slack=3, parallelism=4, min_deadline=20)
    assert session.deadline == pytest.approx(7.0 + allowed)


@pytest.mark.parametrize(("share", "jobs", "mandatory"), [(0, 5, 1), (0.25, 4, 1), (0.25, 5, 2), (1, 5, 5)])
def test_a_share_of_the_requests_is_mandatory_and_at_least_one(share, jobs, mandatory):
    (session,) = sessions_from_jobs(jobs_of(*[(0.0, 1.0, "a")] * jobs), mandatory_share=share)
    assert session.n_min == mandatory


@pytest.mark.parametrize(
    "wrong",
    [
        {"gap": -1},
        {"gap": float("nan")},
        {"max_requests": 0},
        {"mandatory_share": 1.1},
        {"slack": 0},
        {"parallelism": 0},
        {"min_deadline": 0},
    ],
)
def test_parameters_out_of_range_are_refused_by_name(wrong):
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))} must be"):
        sessions_from_jobs([], **wrong)


def test_jobs_out_of_order_are_refused():
    with pytest.raises(ValueError, match="job 1 comes at 1 after 2"):
        sessions_from_jobs(jobs_of((2, 1, "a"), (1, 1, "a")))


def test_the_embedded_workload_is_the_same_for_the_same_stream():
    first, second = (embedded_jobs(np.random.default_rng(5)) for _ in range(2))
    assert first == second
    assert first != embedded_jobs(np.random.default_rng(6))


@pytest.mark.parametrize("seed", range(5))
def test_the_embedded_workload_is_a_day_of_a_few_bursty_users(seed):
    jobs = embedded_jobs(np.random.default_rng(seed))
    assert [job.id for job in jobs] == list(range(1, 601))
    submits = [job.submit for job in jobs]
    assert submits == sorted(submits)
    assert submits[0] == 0
    assert submits[-1] < 86400 + 3 * 3600
    assert all(1 <= job.runtime <= 43200 and job.estimate >= job.runtime for job in jobs)
    assert 2 <= len({job.user for job in jobs}) <= 6
    sizes = [session.n_max for session in sessions_from_jobs(jobs)]
    assert 20 < len(sizes) < 150  # far fewer sessions than jobs
    assert max(sizes) > 3 * float(np.median(sizes))


def test_the_embedded_workload_has_the_size_that_is_asked_for():
    jobs = embedded_jobs(np.random.default_rng(1), jobs=50, users=2, length=3600)
    assert len(jobs) == 50
    assert set(Counter(job.user for job in jobs)) <= {"u1", "u2"}
    assert jobs[-1].submit < 2 * 3600
    for wrong in ({"jobs": 0}, {"users": 0}, {"length": 0}):
        with pytest.raises(ValueError, match="must be positive"):
            embedded_jobs(np.random.default_rng(1), **wrong)


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the logs in ../shared/data")
def test_a_real_week_becomes_sessions_of_all_its_users():
    jobs = read_trace(DATA / "excerpt-lpc-egee-busy-week.swf.gz").jobs
    sessions = sessions_from_jobs(jobs)
    assert sum(session.n_max for session in sessions) == len(jobs)
    assert {session.user for session in sessions} == {job.user for job in jobs}
    assert sum(sum(session.runtimes) for session in sessions) == pytest.approx(sum(job.work for job in jobs))
