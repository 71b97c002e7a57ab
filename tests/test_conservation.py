"""What holds for a grid with all parts at once, whatever breaks: jobs and slots are conserved.

More and other examples with `--hypothesis-profile=many`.
"""

from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gridtune.model.batch.nodes import hosts_in
from gridtune.model.metrics.summary import summarise
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.simulation.simulate import build, simulate
from tests.meta_worlds import most_at_once
from tests.whole_grids import grids

LONG = 1e5  # s by which everything is over: the last job comes after some 1,500 s
ENDS = {"done", "killed", "failed", "expired", "cancelled"}
SLOTS = {"s0": 1, "v": 4, "site-000": 2, "site-001": 2}  # of a node, or of a site whose nodes have no names


class Span(NamedTuple):
    """An execution: who held what, from when to when, and how it ended."""

    job: int
    site: str
    node: str
    start: float
    end: float
    how: str


def spans(journal):
    """All executions of a journal, in the order of their ends."""
    begun, made = {}, []
    for time, event, job, site, node in journal:
        if event == "started":
            assert job not in begun, f"job {job} runs twice at once"
            begun[job] = time, site, node
        elif event in ENDS and job in begun:
            start, where, nodes = begun.pop(job)
            made.append(Span(job, where, nodes, start, time, event))
    assert not begun
    return made


def inside(job, document):
    """Whether a job runs in a slot that a pilot or worker holds."""
    in_pilot = job.kind == "meta" and document["middleware"]["kind"] == "pilot"
    return in_pilot or (job.kind == "task" and job.user == "overlay")


def uncovered(inner, outer):
    """The most of the inner spans that overlap beyond the outer ones that last then."""
    changes = sorted(
        change
        for rank, weight, some in ((0, 1, inner), (1, -1, outer))
        for span in some
        if span.end > span.start
        for change in ((span.end, rank, -weight), (span.start, 3 - rank, weight))
    )
    level = most = 0
    for _, _, weight in changes:
        level += weight
        most = max(most, level)
    return most


@pytest.mark.long
@settings(
    max_examples=settings().max_examples // 4, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(document=grids(), seed=st.integers(1, 99))
def test_no_job_is_lost_without_being_counted_and_no_slot_is_taken_twice(document, seed):
    scenario = Scenario("test", document | {"horizon": LONG}, Path())
    with build(scenario, seed, keep_events=True) as grid:
        grid.run()
        assert grid.agenda.last < LONG, "the run does not end by itself"
        metrics, _ = summarise(grid)
        record = grid.record
    jobs = record.jobs
    # All that were to come have come, and none is forgotten: each has ended in one way or another.
    came = Counter(job.user.partition("-")[0] for job in jobs if job.mandatory or job.kind == "best-effort")
    wanted = {"meta": 20, "own": 8, "sdj": 12, "view": 6, "bag": 10}
    wanted |= {"overlay": 6} if "overlay" in document else {}
    assert {name: came[name] for name in wanted} == wanted
    assert sum(came.values()) == sum(wanted.values()) + (12 if "sed" in document else 0)
    assert not [job for job in (*jobs, *record.placeholders) if job.state in ("created", "queued", "running")]
    owed = [job for job in jobs if job.mandatory]
    assert metrics["lost_jobs"].value == sum(job.state != "done" for job in owed)
    assert metrics["completed"].value == sum(job.state == "done" for job in jobs)
    assert metrics["never_submitted"].value == 0
    # What was lost of executions is what was counted.
    made = spans(record.journal)
    wasted = defaultdict(float)
    for span in made:
        if span.how != "done" and span.job > 0:
            wasted[span.job] += (span.end - span.start) * jobs[span.job - 1].processors
    assert all(job.wasted + job.kept == pytest.approx(wasted[job.id], abs=1e-6) for job in jobs)
    # No slot is held twice, and who works in the slot of another works while that holds it.
    slots = SLOTS | {"s1": document["site"][1].get("slots", 1)}
    held, within = defaultdict(list), defaultdict(list)
    for span in made:
        if span.job > 0 and inside(jobs[span.job - 1], document):
            within[span.site, span.node].append(span)
        else:
            for node in hosts_in(span.node) or [""]:
                held[span.site, node].append(span)
    for (site, _), those in held.items():
        # Servers are places, too: they run one request at a time.
        assert most_at_once((span.start, span.end, 1) for span in those) <= slots.get(site, 1), site
    for place, those in within.items():
        assert uncovered(those, [span for span in held[place] if span.job < 0]) <= 0
    short = [span for span in made if span.site == "v" and span.job > 0 and jobs[span.job - 1].kind == "sdj"]
    assert most_at_once((span.start, span.end, 1) for span in short) <= 4
    again = simulate(scenario, seed, keep_events=True)
    assert again.record.journal == record.journal
    assert repr(again.metrics) == repr(metrics)
