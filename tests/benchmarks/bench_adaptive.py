"""How many runs adaptive replications save against a fixed number, at equal quality.

Run with `pytest tests/benchmarks/bench_adaptive.py --benchmark-only -s`. Every plan evaluates the same number
of points. Its quality is the hypervolume of the front that it reports, each member at its true mean (known,
or from `TRUE` runs on seeds of their own), as a share of that of all true members of all plans together. It
is averaged over searches with different seeds. Runs include those on fresh seeds. A fixed number equals an
adaptive plan if its mean quality is no worse by more than the standard error of the paired difference.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import log, sqrt
from statistics import fmean, stdev

import moocore
import numpy as np
import pytest

from gridtune.model.metrics.registry import Metric
from gridtune.optimize.front.front import front
from gridtune.optimize.search import search
from gridtune.optimize.search_space.space import key
from gridtune.scenarios import load
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.execution.replicate import Task, metrics_of

MOST = 16
PLANS = {f"fixed {count}": (count, count) for count in (1, 2, 4, 8, MOST)}
PLANS |= {f"adaptive {count} to {MOST}": (count, MOST) for count in (1, 2)}
FIRST_SEED = 101  # of the searches; others were used to choose the confidence
TRUE = 24  # runs behind a true mean where it is not known
NOISE = 0.3  # standard deviation of a point's own noise; the front of ZDT1 spans 1
TRUE_SEED = 10_000_019
SPACE = {
    "network.latency": {"low": 0.001, "high": 0.1, "log": True},
    "sed.speed": {"low": 0.5, "high": 2.0, "log": True},
    "network.bandwidth": {"low": 1e6, "high": 1e8, "log": True},
}


@dataclass(frozen=True)
class Problem:
    """What is searched, by runs of `work`; `truth` gives the true objectives of a point, to be minimised."""

    scenario: Scenario
    objectives: tuple[str, ...]
    sampler: str
    budget: int
    work: Callable[[Task], dict[str, Metric]]
    truth: Callable[[Mapping[str, float]], Sequence[float]]


def zdt1(values: Mapping[str, float]) -> tuple[float, float]:
    """The test problem ZDT1 with three variables."""
    first = log(values["network.latency"] / 0.001) / log(100)
    rest = [log(values["sed.speed"] / 0.5) / log(4), log(values["network.bandwidth"] / 1e6) / log(100)]
    g = 1 + 9 * fmean(rest)
    return first, g * (1 - sqrt(first / g))


def noisy_zdt1(task: Task) -> dict[str, Metric]:
    """ZDT1 with noise of each point's own, and twice as much that all points share."""
    own = zlib.crc32(key(dict(task.values)).encode())
    shared = np.random.default_rng([task.seed, task.replication]).normal(0, 2 * NOISE, 2)
    noise = shared + np.random.default_rng([own, task.seed, task.replication]).normal(0, NOISE, 2)
    first, second = np.array(zdt1(task.values)) + noise
    return {"unfairness": Metric(float(first), ""), "waiting_mean": Metric(float(second), "s")}


def toy() -> Problem:
    """ZDT1 with noise."""
    scenario = load("diet/day-regular").override({"search.space": SPACE})
    return Problem(scenario, ("unfairness", "waiting_mean"), "nsga2", 200, noisy_zdt1, zdt1)


def shipped() -> Problem:
    """`dirac/search` with fewer tasks: push, pull or pilots for shared sites."""
    scenario = load("dirac/search").override({"workload.meta.count": 100, "workload.local.count": 100})
    objectives = ("meta_response_mean", "background_waiting_mean", "messages")
    known: dict[tuple[str, int, int], dict[str, Metric]] = {}

    def work(task: Task) -> dict[str, Metric]:
        """A run; plans that ask for the same one share it."""
        name = key(dict(task.values)), task.seed, task.replication
        if name not in known:
            known[name] = metrics_of(task)
        return known[name]

    def truth(values: Mapping[str, float]) -> list[float]:
        runs = [work(Task(scenario, values, TRUE_SEED, replication)) for replication in range(TRUE)]
        return [fmean(run[name].value for run in runs) for name in objectives]

    return Problem(scenario, objectives, "tpe", 40, work, truth)


@dataclass(frozen=True)
class Outcome:
    """Of one search: runs on the seeds of the search, in all, and the true objectives of what it reports."""

    searched: int
    runs: int
    members: list[Sequence[float]]


def outcome(problem: Problem, plan: tuple[int, int], seed: int) -> Outcome:
    """Search once."""
    archive = search(
        problem.scenario,
        budget=problem.budget,
        sampler=problem.sampler,
        replications=plan[0],
        max_replications=plan[1],
        seed=seed,
        objectives=problem.objectives,
        work=problem.work,
    ).archive
    fresh = sum(evaluation.fresh_replications for evaluation in archive.evaluations)
    members = [problem.truth(member.evaluation.values) for member in front(archive).kept]
    return Outcome(archive.runs, archive.runs + fresh, members)


def qualities(outcomes: Mapping[str, list[Outcome]]) -> dict[str, list[float]]:
    """Hypervolumes by plan and search, as shares of that of everything found."""
    found = np.array([member for plan in outcomes.values() for one in plan for member in one.members])
    best = moocore.filter_dominated(found)
    low, span = best.min(axis=0), np.ptp(best, axis=0)
    reference = np.full(found.shape[1], 1.1)
    whole = moocore.hypervolume((best - low) / span, ref=reference)
    return {
        name: [
            moocore.hypervolume((np.array(one.members) - low) / span, ref=reference) / whole for one in plan
        ]
        for name, plan in outcomes.items()
    }


def report(outcomes: Mapping[str, list[Outcome]]) -> dict[str, float]:
    """Print a table; for each adaptive plan the share of runs saved against the least equal fixed number."""
    quality = qualities(outcomes)
    runs = {name: fmean(one.runs for one in plan) for name, plan in outcomes.items()}
    print(f"\n{'plan':17} {'runs searched':>13} {'runs in all':>11} {'quality':>8} {'± se':>6}")
    for name, plan in outcomes.items():
        searched, error = fmean(one.searched for one in plan), stdev(quality[name]) / sqrt(len(plan))
        print(f"{name:17} {searched:13.0f} {runs[name]:11.0f} {fmean(quality[name]):8.3f} {error:6.3f}")
    saved = {}
    for name in outcomes:
        if name.startswith("adaptive"):
            equal = [
                other for other in outcomes if other.startswith("fixed") and no_worse(quality, other, name)
            ]
            if equal:
                cheapest = min(equal, key=runs.__getitem__)
                saved[name] = 1 - runs[name] / runs[cheapest]
                print(f"{name}: as good as {cheapest}, saves {saved[name]:.0%} of its runs")
            else:
                print(f"{name}: better than every fixed number")
            most = f"fixed {MOST}"
            print(f"{name}: {1 - runs[name] / runs[most]:.0%} fewer runs than {most}")
    return saved


def no_worse(quality: Mapping[str, list[float]], other: str, than: str) -> bool:
    """Whether a plan is no worse than another by more than the standard error of the difference."""
    differences = [a - b for a, b in zip(quality[other], quality[than], strict=True)]
    return fmean(differences) >= -stdev(differences) / sqrt(len(differences))


@cache
def compared(make: Callable[[], Problem], searches: int) -> dict[str, list[Outcome]]:
    """Every plan on the same seeds."""
    problem = make()
    return {
        name: [outcome(problem, plan, seed) for seed in range(FIRST_SEED, FIRST_SEED + searches)]
        for name, plan in PLANS.items()
    }


@pytest.mark.parametrize(("make", "searches"), [(toy, 10), (shipped, 5)], ids=["zdt1", "dirac"])
def test_runs_saved_at_equal_quality(benchmark, make, searches):
    outcomes = benchmark.pedantic(compared, (make, searches), rounds=1)
    saved = report(outcomes)
    benchmark.extra_info["saved"] = {name: round(share, 3) for name, share in saved.items()}
    quality = qualities(outcomes)
    assert no_worse(quality, f"adaptive 2 to {MOST}", f"fixed {MOST}")
