"""Jobs that a file server or their data slow down: what they were given is work, not time."""

import pytest

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.predictor import Predictor
from gridtune.agents.batch.qos import QosPreemption, Terms
from gridtune.agents.infrastructure.network import Network, Volume
from gridtune.model.batch.nodes import Counted
from gridtune.model.grid import Grid
from gridtune.model.infrastructure.file_system import FileSystem
from gridtune.model.job import EXPIRED
from gridtune.model.metrics.lost import overran
from gridtune.model.metrics.summary import summarise
from gridtune.model.policy import make
from gridtune.model.prediction.run_times import LastRuns, MeanRatio

SHARE, THREADS = 0.9, 0.25  # one processor: 0.9 / (1 - 0.9 + 0.9 s) = 0.25, so 1 s of work takes 3.6 s


def play(works, nodes, *, terms=None, prediction=None, slowed=True, look=None, **facts):
    """Run works (submit, runtime, estimate, kind) of one processor each on a site whose file server is slow.

    Planned ends of what runs at some time go where `look` says.
    """
    grid = Grid()
    if slowed:
        facts |= {"file_system": FileSystem(grid.agenda, THREADS), "io_share": SHARE}
    site = BatchSite(grid, "site", Counted(nodes), make("batch", "easy"), **facts)
    if terms is not None:
        QosPreemption(site, terms)
    if prediction is not None:
        Predictor(site, prediction)
    for submit, runtime, estimate, kind in works:
        job = grid.record.job("ann", submit, runtime, estimate=estimate, kind=kind)
        grid.agenda.at(submit, site.submit, job)
    if look is not None:
        time, ends = look
        running = site.executions
        grid.agenda.at(time, lambda _: ends.update((one, running[one].planned_end) for one in running))
    grid.run()
    return grid.record.jobs, site


def test_a_promise_is_used_up_by_work_and_predictions_read_work():
    works = [(0.0, 100.0, 50.0, "job"), (200.0, 10.0, 80.0, "job")]
    (first, second), _ = play(works, 1, overrun="kill", prediction=LastRuns())
    assert (first.state, first.end) == (EXPIRED, pytest.approx(180.0))
    assert first.given == pytest.approx(50.0)
    assert overran(first)
    assert (second.expected, second.end) == pytest.approx((50.0, 236.0))


def test_a_checkpoint_keeps_the_work_that_was_done_and_no_more():
    # At 36 s 10 of 50 s are done, the urgent job of 5 s takes 18 s; 40 s are left, which take 144.
    works = [(0.0, 50.0, 50.0, "job"), (36.0, 5.0, 5.0, "urgent")]
    (job, urgent), _ = play(works, 1, terms=Terms("checkpoint", {"urgent": 1.0}))
    assert (urgent.start, urgent.end) == pytest.approx((36.0, 54.0))
    assert (job.estimate, job.start, job.end) == pytest.approx((40.0, 54.0, 198.0))
    assert (job.kept, job.wasted) == pytest.approx((36.0, 0.0))


def test_a_prediction_that_a_slowed_job_exceeds_is_corrected():
    # The second job is predicted to take 10 s, as the first one did; it ends at 136.
    works = [(0.0, 10.0, 100.0, "job"), (100.0, 10.0, 100.0, "job")]
    ends = {}
    jobs, _ = play(works, 1, prediction=LastRuns(), look=(111.0, ends))
    assert jobs[1].end == pytest.approx(136.0)
    assert ends == {2: 170.0}  # 100 + 10 + 60 s


def test_who_went_on_from_a_checkpoint_is_compared_with_all_that_was_promised():
    # It takes 50 of 100 s, 40 of them before it makes way, when it promises 60 s more.
    works = [(0.0, 50.0, 100.0, "job"), (40.0, 5.0, 5.0, "urgent"), (80.0, 7.0, 100.0, "job")]
    terms = Terms("checkpoint", {"urgent": 1.0})
    jobs, _ = play(works, 1, terms=terms, prediction=MeanRatio(), slowed=False)
    assert [job.end for job in jobs] == [55, 45, 87]
    assert jobs[2].expected == pytest.approx(100.0 * (0.5 + 1.0) / 2)


def test_data_that_moves_is_no_progress():
    # 8 s for 800 bytes, then 5 s of 20 s of work until 13 s; from 16 s on the data comes again.
    grid = Grid()
    site = BatchSite(grid, "site", Counted(1), make("batch", "easy"))
    network = Network(grid, {"link": 100.0}, {"site": (["link"], 0.0)})
    site.stage(network.ways["site"])
    QosPreemption(site, Terms("checkpoint", {"urgent": 1.0}))
    job = grid.record.job("ann", 0.0, 20.0)
    network.volumes[job.id] = Volume(0.0, 800.0, 0.0, "")
    grid.agenda.at(0.0, site.submit, job)
    grid.agenda.at(13.0, site.submit, grid.record.job("ann", 13.0, 3.0, kind="urgent"))
    grid.run()
    assert (job.start, job.end) == pytest.approx((16.0, 16.0 + 8.0 + 15.0))


def test_running_jobs_count_with_the_work_that_was_done_for_them():
    grid = Grid(horizon=36.0)
    site = BatchSite(
        grid, "site", Counted(2), make("batch", "easy"),
        file_system=FileSystem(grid.agenda, THREADS), io_share=SHARE,
    )  # fmt: skip
    job = grid.record.job("ann", 0.0, 50.0)
    grid.agenda.at(0.0, site.submit, job)
    grid.run()
    metrics, users = summarise(grid, allocated="occupied")
    assert job.given == pytest.approx(10.0)
    assert metrics["goodput"].value == pytest.approx(10.0 / (2 * 36.0))
    assert users["ann"].allocated == pytest.approx(36.0)
    assert summarise(grid)[1]["ann"].allocated == pytest.approx(10.0)
