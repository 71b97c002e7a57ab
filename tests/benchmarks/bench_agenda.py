"""The agenda with Mesa agents against SimPy: 20 sites of 50 servers, first come, first served, same draws.

Run with `pytest tests/benchmarks/bench_agenda.py --benchmark-only`.
"""

import gc
import time
from collections import deque
from itertools import chain
from operator import attrgetter

import mesa
import numpy as np
import pytest
import simpy

from model.agenda import ARRIVAL, COMPLETION
from model.grid import Grid

SITES, SERVERS, TASKS, LOAD, MEAN_SERVICE = 20, 50, 200_000, 0.8, 1.0


class Task:
    """A task of the benchmark; times in s."""

    __slots__ = ("arrival", "service", "site", "start")

    def __init__(self, site, arrival, service):
        self.site = site
        self.arrival = arrival
        self.service = service
        self.start = 0.0


class Site(mesa.Agent):
    """Servers that take tasks first come, first served."""

    def __init__(self, grid):
        super().__init__(grid)
        self.agenda = grid.agenda
        self.free = SERVERS
        self.waiting = deque()

    def arrive(self, task):
        if self.free:
            self.free -= 1
            self.start(task)
        else:
            self.waiting.append(task)

    def start(self, task):
        task.start = self.agenda.now
        self.agenda.after(task.service, self.complete, task, COMPLETION)

    def complete(self, task):
        if self.waiting:
            self.start(self.waiting.popleft())
        else:
            self.free += 1


class ChainedSite(Site):
    """A site whose next arrival is entered into the heap when one arrives."""

    def expect(self, tasks):
        self.coming = iter(tasks)
        self.expect_next()

    def expect_next(self):
        task = next(self.coming, None)
        if task is not None:
            self.agenda.at(task.arrival, self.arrive, task, ARRIVAL)

    def arrive(self, task):
        super().arrive(task)
        self.expect_next()


def draw():
    """The tasks of each site, by arrival."""
    rng = np.random.default_rng(1)
    per_site = TASKS // SITES
    gap = MEAN_SERVICE / (SERVERS * LOAD)
    sites = []
    for site in range(SITES):
        arrivals = np.cumsum(rng.exponential(gap, per_site)).tolist()
        services = rng.exponential(MEAN_SERVICE, per_site).tolist()
        sites.append([Task(site, *times) for times in zip(arrivals, services, strict=True)])
    return sites


def mean_wait(sites):
    return sum(task.start - task.arrival for tasks in sites for task in tasks) / TASKS


def merged(sites):
    """All arrivals as one sorted stream beside the heap."""
    with Grid() as grid:
        agents = [Site(grid) for _ in sites]
        stream = sorted(chain(*sites), key=attrgetter("arrival"))
        grid.agenda.feed((task.arrival, agents[task.site].arrive, task) for task in stream)
        grid.run()


def chained(sites):
    """Each site's next arrival through the heap."""
    with Grid() as grid:
        for tasks in sites:
            ChainedSite(grid).expect(tasks)
        grid.run()


def with_simpy(sites):
    """The same in SimPy: a process for each source and each task."""
    env = simpy.Environment()

    def source(servers, tasks):
        for task in tasks:
            yield env.timeout(task.arrival - env.now)
            env.process(serve(servers, task))

    def serve(servers, task):
        with servers.request() as turn:
            yield turn
            task.start = env.now
            yield env.timeout(task.service)

    for tasks in sites:
        env.process(source(simpy.Resource(env, SERVERS), tasks))
    env.run()


RUNS = {"simpy": with_simpy, "chained": chained, "merged": merged}


@pytest.mark.parametrize("engine", RUNS)
def test_speed(benchmark, engine):
    sites = draw()
    benchmark.pedantic(RUNS[engine], (sites,), rounds=3, iterations=1)
    benchmark.extra_info["mean_wait_s"] = mean_wait(sites)
    benchmark.extra_info["tasks_per_s"] = TASKS / benchmark.stats.stats.min


def test_ratios(benchmark):
    """All three in turn, best of three: at least 6 times the tasks of SimPy chained, and 10 times merged."""

    def rates():
        best, waits = {}, {}
        for _ in range(3):
            for engine, run in RUNS.items():
                sites = draw()
                gc.collect()
                began = time.perf_counter()
                run(sites)
                rate = TASKS / (time.perf_counter() - began)
                best[engine] = max(rate, best.get(engine, 0.0))
                waits[engine] = mean_wait(sites)
        return best, waits

    best, waits = benchmark.pedantic(rates, rounds=1, iterations=1)
    benchmark.extra_info.update({f"{engine}_tasks_per_s": rate for engine, rate in best.items()})
    assert waits["chained"] == pytest.approx(waits["simpy"], rel=1e-9)
    assert waits["merged"] == pytest.approx(waits["simpy"], rel=1e-9)
    assert best["chained"] >= 6 * best["simpy"]
    assert best["merged"] >= 10 * best["simpy"]
