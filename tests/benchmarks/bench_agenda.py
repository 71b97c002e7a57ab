"""The agenda with Mesa agents against SimPy: 20 sites of 50 servers, first come, first served, same draws.

Times are CPU times of one core. Run with `pytest -n0 tests/benchmarks/bench_agenda.py --benchmark-only`.
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

from gridtune.model.agenda import ARRIVAL, COMPLETION
from gridtune.model.grid import Grid

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
        self.completed = self.complete  # bound once, not at every start

    def arrive(self, task):
        if self.free:
            self.free -= 1
            self.start(task)
        else:
            self.waiting.append(task)

    def start(self, task):
        task.start = self.agenda.now
        self.agenda.after(task.service, self.completed, task, COMPLETION)

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
            self.agenda.at(task.arrival, self.arrive_in_turn, task, ARRIVAL)

    def arrive_in_turn(self, task):
        self.arrive(task)
        self.expect_next()


class Draw:
    """The tasks of one run, by arrival: of each site, and of all.

    Everything else about a run is timed; that tasks come sorted is given, as in a trace.
    """

    def __init__(self):
        rng = np.random.default_rng(1)
        per_site = TASKS // SITES
        gap = MEAN_SERVICE / (SERVERS * LOAD)
        self.sites = []
        for site in range(SITES):
            arrivals = np.cumsum(rng.exponential(gap, per_site)).tolist()
            services = rng.exponential(MEAN_SERVICE, per_site).tolist()
            self.sites.append([Task(site, *times) for times in zip(arrivals, services, strict=True)])
        self.tasks = sorted(chain(*self.sites), key=attrgetter("arrival"))

    @property
    def mean_wait(self):
        return sum(task.start - task.arrival for task in self.tasks) / TASKS


def merged(draw):
    """All arrivals as one sorted stream beside the heap."""
    with Grid() as grid:
        arrive = [Site(grid).arrive for _ in draw.sites]
        grid.agenda.feed((task.arrival, arrive[task.site], task) for task in draw.tasks)
        grid.run()


def chained(draw):
    """Each site's next arrival through the heap."""
    with Grid() as grid:
        for tasks in draw.sites:
            ChainedSite(grid).expect(tasks)
        grid.run()


def with_simpy(draw):
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

    for tasks in draw.sites:
        env.process(source(simpy.Resource(env, SERVERS), tasks))
    env.run()


RUNS = {"simpy": with_simpy, "chained": chained, "merged": merged}


@pytest.mark.benchmark(timer=time.process_time)
@pytest.mark.parametrize("engine", RUNS)
def test_speed(benchmark, engine):
    draw = Draw()
    benchmark.pedantic(RUNS[engine], (draw,), rounds=3, iterations=1)
    benchmark.extra_info["mean_wait_s"] = draw.mean_wait
    benchmark.extra_info["tasks_per_s"] = TASKS / benchmark.stats.stats.min


def test_ratios(benchmark):
    """Best of five in turn: at least 6 times the tasks of SimPy chained, and 10 times merged."""

    def rates():
        best, waits = dict.fromkeys(RUNS, 0.0), {}
        for _ in range(5):
            for engine, run in RUNS.items():
                draw = Draw()
                gc.collect()
                began = time.process_time()
                run(draw)
                best[engine] = max(best[engine], TASKS / (time.process_time() - began))
                waits[engine] = draw.mean_wait
        return best, waits

    best, waits = benchmark.pedantic(rates, rounds=1, iterations=1)
    benchmark.extra_info.update({f"{engine}_tasks_per_s": rate for engine, rate in best.items()})
    assert waits["chained"] == pytest.approx(waits["simpy"], rel=1e-9)
    assert waits["merged"] == pytest.approx(waits["simpy"], rel=1e-9)
    assert best["chained"] >= 6 * best["simpy"]
    assert best["merged"] >= 10 * best["simpy"]
