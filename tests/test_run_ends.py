"""A run is over with its last job, what would come later is no part of it, and odd scenarios end, too."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from gridtune.scenarios import ScenarioError, simulate
from tests.test_calibration import load_text

SITE = '[[site]]\nname = "c"\nnodes = 2\n'
WORK = """\
[[workload]]
name = "{}"
kind = "generated"
count = {}
interval = 0.0
runtime = {}
processors = {}
"""
WORKERS = 'vres = { batch = 1.0 }\npolicy = "fcfs"\n[[site.classes]]\nname = "batch"\n'


def loaded(*parts):
    with TemporaryDirectory() as folder:
        return load_text('title = "odd"\n' + "".join(parts), Path(folder))


def run(*parts):
    return simulate(loaded(*parts))


@pytest.mark.parametrize(
    "policy",
    [
        'policy = { kind = "fair-share", max_wait = 2592000.0 }\n',
        'policy = { kind = "priority", interval = 3600.0 }\n',
        'policy = "easy"\nprime_time = [{ longest = 1e6, hours = [[0, 167]] }]\n',
    ],
)
def test_a_run_ends_with_its_last_job_whenever_the_policy_wanted_to_be_asked_again(policy):
    ended = run(SITE, policy, WORK.format("w", 3, 100.0, 1.0), WORK.format("wide", 1, 30.0, 3.0))
    last = max(job.end for job in ended.record.jobs if job.state == "done")
    assert ended.end == last < 7300
    # The refused job counts as begun after the run, and its own 30 s.
    waits = [job.start - job.submit for job in ended.record.jobs if job.state == "done"]
    assert ended.metrics["waiting_mean"].value == pytest.approx((sum(waits) + last + 30) / 4)


@pytest.mark.parametrize("more", ["", 'mode = "plain"\n', "first_task = 500.0\n"])
def test_tasks_that_would_come_after_the_end_are_neither_lost_nor_late(more):
    start = 0.0 if "first" in more else 500.0
    overlay = f'[[overlay]]\nname = "o"\nstart = {start}\ntasks = 5\nruntime = 10.0\nworkers = 2\n{more}'
    ended = run("horizon = 100.0\n[wms]\n", SITE, WORKERS, overlay, WORK.format("w", 2, 10.0, 1.0))
    assert ended.metrics["waiting_p50"].value >= 0
    assert all(job.submit <= 100 for job in ended.record.jobs)
    assert (
        not [job for job in ended.record.jobs if job.kind == "task" and job.state != "done"]
        or "first" in more
    )


def test_more_workers_than_calls_of_a_program_may_nest_end_with_their_master():
    overlay = '[[overlay]]\nname = "o"\ntasks = 5\nruntime = 10.0\nworkers = 600\n'
    ended = run("[wms]\n", SITE, WORKERS, overlay)
    assert [job.state for job in ended.record.jobs] == ["done"] * 5


def test_a_queue_of_theory_has_no_links():
    middleware = '[middleware]\nkind = "push"\n[network]\nsharing = "max-min"\nbandwidth = 1e6\n'
    ended = run(
        "[queue]\ncustomers = 100\n", middleware, SITE, 'policy = "easy"\n', WORK.format("w", 8, 30.0, 1.0)
    )
    assert ended.metrics["completed"].value == 108


@pytest.mark.parametrize("routing", ["mct", "greedy", "deadline", "priority"])
def test_a_middleware_does_not_route_as_an_agent_of_tasks_does(routing):
    middleware = f'[middleware]\nkind = "push"\nrouting = "{routing}"\n'
    with pytest.raises(ScenarioError, match=f"middleware.routing: {routing} routes tasks of"):
        run(middleware, SITE, 'policy = "easy"\n', WORK.format("w", 8, 30.0, 1.0))


@pytest.mark.parametrize("where", ["site", "platform"])
def test_virtual_reservations_of_no_class_are_refused(where):
    sites = f'{SITE}policy = "fcfs"\nvres = {{}}\n'
    sites = (
        '[platform]\nsites = 3\nnodes = 2.0\npolicy = "fcfs"\nvres = {}\n' if where == "platform" else sites
    )
    with pytest.raises(ScenarioError, match="vres: names no class"):
        run("[wms]\n", sites, WORK.format("w", 8, 30.0, 1.0))
