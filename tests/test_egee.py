"""Claims of Responsive Grids that must hold, and the trade-off that its search is about."""

from pathlib import Path

import pytest

from gridtune.scenarios import ScenarioError, load, simulate

LOG = Path("../shared/data/LPC-EGEE-2004-1.2-cln.swf.gz")


def test_a_larger_share_rejects_fewer_short_jobs_and_slows_batch_jobs_more():
    rows = []
    for share in (0.05, 0.15, 0.3):
        metrics = simulate(load("egee/search").override({"site.lal.vres.sdj": share})).metrics
        rows.append((metrics["sdj_rejection"].value, metrics["batch_slowdown"].value))
    rejection, slowdown = zip(*rows, strict=True)
    assert rejection[0] > rejection[1] > rejection[2]
    assert slowdown[0] < slowdown[1] < slowdown[2]


def test_a_share_that_is_not_whole_is_refused_where_it_stands():
    with pytest.raises(ScenarioError, match=r"site\.lal\.vres\.sdj: 0\.26 of 160 .* 41\.6,"):
        load("egee/search").override({"site.lal.vres.sdj": 0.26})


@pytest.mark.long
def test_short_jobs_of_the_log_start_at_once_or_are_rejected():
    if not LOG.exists():
        pytest.skip(f"no {LOG}")
    run = simulate(load("egee/lpc").override({"horizon": 1.0e6}))
    short = [job for job in run.record.jobs if job.kind == "sdj" and job.start == job.start]
    assert len(short) > 10
    assert all(job.start == job.submit for job in short)
