"""The M/M/c queue against Erlang's formula."""

from heapq import heappop, heappush
from statistics import fmean, stdev

import pytest

from gridtune.model.batch.queueing_theory import erlang_c, mg1_wait, mmc_wait
from gridtune.scenarios import load, simulate

BATCHES = 20


@pytest.mark.parametrize(("servers", "load_", "expected"), [(1, 0.5, 0.5), (2, 0.5, 1 / 3), (4, 0.8, 0.5964)])
def test_erlang_c(servers, load_, expected):
    assert erlang_c(servers, load_) == pytest.approx(expected, abs=5e-5)


def test_there_is_no_stationary_queue_under_overload():
    assert mmc_wait(1, 0.5, 4.0) == pytest.approx(4.0)
    with pytest.raises(ValueError, match="load"):
        erlang_c(2, 1.0)


def customers(servers, load_, count=42_000):
    values = {"queue.servers": servers, "queue.load": load_, "queue.customers": count}
    return simulate(load("queue/mmc").override(values)).record.jobs


def off_by(times, theory):
    """Standard errors between the mean of what the later customers saw and theory, by means of batches."""
    steady = times[2_000:]  # the first come to an empty queue
    size = len(steady) // BATCHES
    means = [fmean(steady[k * size : (k + 1) * size]) for k in range(BATCHES)]
    return abs(fmean(means) - theory) / (stdev(means) / BATCHES**0.5)


@pytest.mark.long
@pytest.mark.parametrize("servers", [1, 4, 50])
@pytest.mark.parametrize("load_", [0.3, 0.6, 0.8])
def test_times_are_those_of_theory_within_three_standard_errors(servers, load_):
    jobs = customers(servers, load_)
    wait = mmc_wait(servers, load_, 4.0)
    assert off_by([job.end - job.submit for job in jobs], 4.0 + wait) <= 3
    if (
        erlang_c(servers, load_) * len(jobs) > 1000
    ):  # waits that are too rare have no standard error to speak of
        assert off_by([job.start - job.submit for job in jobs], wait) <= 3


@pytest.mark.parametrize(("servers", "load_"), [(1, 0.8), (4, 0.6), (50, 0.8), (50, 1.2)])
def test_every_wait_is_that_of_the_recursion(servers, load_):
    jobs = customers(servers, load_, 5_000)
    free = [0.0] * servers  # when each server is done with those before, soonest first
    for job in jobs:
        start = max(job.submit, heappop(free))
        heappush(free, start + job.runtime)
        assert job.start == start


@pytest.mark.long
def test_servers_are_as_busy_as_they_should_be():
    run = simulate(
        load("queue/mmc").override({"queue.servers": 10, "queue.load": 0.6, "queue.customers": 20_000})
    )
    assert run.metrics["utilisation"].value == pytest.approx(0.6, rel=0.02)
    assert run.metrics["goodput"].value == pytest.approx(run.metrics["utilisation"].value)


@pytest.mark.parametrize(("variation", "expected"), [(0.0, 4.5), (1.0, 9.0), (2.0, 22.5)])
def test_one_server_waits_the_longer_the_more_service_varies(variation, expected):
    assert mg1_wait(0.9, 1.0, variation) == pytest.approx(expected)  # half, all, and 5/2 of M/M/1's
