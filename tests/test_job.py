"""A job goes only from state to state as documented."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridtune.model.job import IllegalTransition, Job, State

ALLOWED = {
    State.CREATED: {"queue", "cancel", "reject"},
    State.QUEUED: {"queue", "begin", "cancel", "reject"},
    State.RUNNING: {"finish", "kill", "cancel", "expire"},
    State.DONE: set(),
    State.CANCELLED: set(),
    State.EXPIRED: set(),
    State.REJECTED: set(),
}


@given(
    st.lists(st.sampled_from(["queue", "begin", "finish", "kill", "cancel", "expire", "reject"]), max_size=12)
)
def test_legal_transitions_pass_and_all_others_are_refused(verbs):
    job = Job(1, "ann", 0.0, 10.0)
    for now, verb in enumerate(verbs):
        before = job.state
        if verb in ALLOWED[before]:
            getattr(job, verb)(float(now))
        else:
            with pytest.raises(IllegalTransition, match="job 1 of ann"):
                getattr(job, verb)(float(now))
            assert job.state is before


def test_a_kill_loses_progress_but_not_the_job():
    job = Job(1, "ann", 0.0, 10.0, processors=2)
    job.queue(1.0, "site")
    job.begin(2.0, "node")
    job.kill(5.0)
    assert (job.state, job.kills, job.wasted, job.queued) == (State.QUEUED, 1, 6.0, 5.0)
    job.begin(7.0)
    job.finish(17.0)
    assert (job.waiting_time, job.execution_time, job.response_time, job.work) == (7.0, 10.0, 17.0, 20.0)


def test_the_journal_holds_every_transition():
    journal = []
    job = Job(3, "ann", 0.0, 1.0, journal=journal)
    job.queue(0.5, "here")
    job.begin(1.0, "node-1")
    job.finish(2.0)
    assert journal == [
        (0.5, "queued", 3, "here", ""),
        (1.0, "started", 3, "here", "node-1"),
        (2.0, "done", 3, "here", "node-1"),
    ]
