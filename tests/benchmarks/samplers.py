"""Compare all samplers by the fronts that they leave a user with.

    python -m tests.benchmarks.samplers --budgets 200,1000 --seeds 5      # measures what is missing
    python -m tests.benchmarks.samplers --table                           # prints what is measured

For every scenario, sampler, seed and budget there is a search with one replication per evaluation. The
points that a trusting user would keep of it (its shortlist, at most 20 points) are run again, 10 times
each, on random streams that no search used, the same for all points. The quality of the search is the
hypervolume of these values in a fixed box (`sampler_cases.CASES`); higher is better. Where a sampler's
batches have the same size for several budgets, one search for the largest is made: the smaller budgets are
its beginnings.

Each finished search is added to the file of rows at once (`--rows`), and what the file holds is not done
again, so that the program can be stopped and started at will. Several may run at the same time on files of
their own.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from gridtune.optimize.evaluator import Evaluator
from gridtune.optimize.study.evaluation_store import Store

from gridtune.optimize.budget import Budget, Meter
from gridtune.optimize.exploration import Exploration
from gridtune.optimize.front.front import costs
from gridtune.optimize.records.evaluations import Estimate, Evaluation
from gridtune.optimize.replication.evaluate import estimate
from gridtune.optimize.replication.listener import Progress
from gridtune.optimize.replication.shortlist import shortlist
from gridtune.optimize.samplers import Result, Sampler, samplers
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Point, key
from gridtune.scenarios.execution.replicate import Task, summarise
from gridtune.scenarios.workers.pool import Pool
from tests.benchmarks import sampler_variants
from tests.benchmarks.sampler_cases import CASES, Case
from tests.benchmarks.sampler_runs import Runs
from tests.benchmarks.sampler_table import ROWS, read_rows, table

BUDGETS = (100, 200, 500, 1000, 3000)
KEPT = 20  # points that a user looks at
WORKLOAD_SEED = 1  # of all searches
FRESH_SEED = 1_000_003  # no search has it
FRESH_REPLICATIONS = 10


class Timed(Sampler):
    """A sampler under the clock.

    Attributes:
        spent: after each batch, points proposed so far and the CPU time, s, that proposing and learning took.
    """

    def __init__(self, inner: Sampler) -> None:
        super().__init__(inner.space, inner.objectives, inner.seed, inner.batch)
        self.inner = inner
        self.spent: list[tuple[int, float]] = [(0, 0.0)]

    def ask(self) -> list[Point]:
        started = time.process_time()
        points = self.inner.ask()
        count, seconds = self.spent[-1]
        self.spent.append((count + len(points), seconds + time.process_time() - started))
        return points

    def tell(self, results: Sequence[Result]) -> None:
        started = time.process_time()
        self.inner.tell(results)
        count, seconds = self.spent[-1]
        self.spent[-1] = (count, seconds + time.process_time() - started)

    def milliseconds(self, budget: int) -> float:
        """CPU time per proposal up to a budget, ms."""
        count, seconds = next((entry for entry in self.spent if entry[0] >= budget), self.spent[-1])
        return 1000 * seconds / count


@dataclass
class Judge:
    """Tells what points of a scenario are worth, on streams that no search has used."""

    case: Case
    runs: Runs
    known: dict[str, dict[str, Estimate]] = field(default_factory=dict)

    def front(self, points: Sequence[Point]) -> list[list[float]]:
        """Objectives of the points that stay non-dominated."""
        import moocore

        goals = self.case.goals
        for point in points:
            if key(point) not in self.known:
                streams = range(FRESH_REPLICATIONS)
                again = [self.runs(Task(self.case.scenario, point, FRESH_SEED, k)) for k in streams]
                self.known[key(point)] = {name: estimate(one) for name, one in summarise(again).items()}
        found = [self.known[key(point)] for point in points]
        stay = np.flatnonzero(moocore.is_nondominated(costs(found, goals)))
        return [[float(f"{found[k][goal.name].mean:.5g}") for goal in goals] for k in stay]


def explore(
    judge: Judge, kind: type[Sampler], seed: int, batch: int, budget: int
) -> tuple[Sequence[Evaluation], Timed]:
    """One search, in memory: its evaluations in their order, and its sampler."""
    case = judge.case
    settings = Settings(
        case.scenario, case.space, case.goals, kind.name, batch, WORKLOAD_SEED, case.replications
    )
    store = Store(settings, "benchmark", budget)
    sampler = Timed(kind(case.space, case.goals, seed, batch))
    evaluator = Evaluator(settings, store, Pool(1), Progress(), judge.runs)
    Exploration(evaluator, sampler, Meter(Budget(budget))).explore()
    return [entry for entry in store.entries() if isinstance(entry, Evaluation)], sampler


def measure(
    name: str, sampler: str, seed: int, batch: int, budgets: Sequence[int], judge: Judge
) -> Iterator[dict[str, object]]:
    """A row for each budget, all from one search.

    Args:
        name: of the case.
        sampler: name of it.
        seed: of the sampler.
        batch: points per batch.
        budgets: for which the sampler would choose that batch.
        judge: of the case.
    """
    found, timed = explore(judge, samplers()[sampler], seed, batch, max(budgets))
    for budget in budgets:
        # Points that are rounded to the same one are one point.
        different = {key(judge.runs.rounded(one.values)): one for one in reversed(found[:budget])}
        kept = shortlist(list(different.values()), judge.case.goals, KEPT)
        yield {
            "scenario": name,
            "sampler": sampler,
            "batch": batch,
            "seed": seed,
            "budget": budget,
            "different": len(different),
            "proposal_ms": round(timed.milliseconds(budget), 3),
            "kept": len(kept),
            "front": judge.front([judge.runs.rounded(one.values) for one in kept]),
        }


def searches(
    names: Iterable[str], chosen: Iterable[str], seeds: int, budgets: Sequence[int]
) -> Iterator[tuple[str, str, int, int, list[int]]]:
    """What there is to do, the seeds one after the other: scenario, sampler, seed, batch and budgets.

    Args:
        names: of scenarios.
        chosen: samplers; `NAME:BATCH` asks for batches of that size whatever the budget.
        seeds: how many.
        budgets: in evaluations.
    """
    names, chosen = list(names), list(chosen)
    for seed in range(1, seeds + 1):
        for name in names:
            for text in chosen:
                sampler, _, size = text.partition(":")
                by_batch: dict[int, list[int]] = {}
                for budget in sorted(budgets):
                    batch = int(size) if size else samplers()[sampler].batch_for(budget)
                    by_batch.setdefault(batch, []).append(budget)
                for batch, same in by_batch.items():
                    yield name, sampler, seed, batch, same


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is missing, or print the table."""
    options = _options(arguments)
    if options.table:
        print(table(read_rows(options.rows)))
        return
    sampler_variants.register_all()
    gc.collect()
    gc.freeze()  # what is loaded is never garbage: a search in worker processes does the same
    judges = {
        name: Judge(CASES[name], Runs(CASES[name], _memory(options.rows[0], name)))
        for name in options.scenario
    }
    done = {
        (row["scenario"], row["sampler"], row["seed"], row["batch"], row["budget"])
        for path in options.rows
        for row in read_rows([path])
    }
    for name, sampler, seed, batch, budgets in searches(
        options.scenario, options.sampler, options.seeds, options.budgets
    ):
        missing = [budget for budget in budgets if (name, sampler, seed, batch, budget) not in done]
        if not missing:
            continue
        started = time.monotonic()
        for row in measure(name, sampler, seed, batch, missing, judges[name]):
            with options.rows[0].open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, separators=(",", ":")) + "\n")
        print(
            f"{name} {sampler}:{batch} seed {seed} to {max(missing)}: {time.monotonic() - started:.0f} s",
            flush=True,
        )


def _memory(rows: Path, name: str) -> Path:
    return rows.with_name(f"{rows.stem}.{name.replace('/', '-')}.runs")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare samplers.", allow_abbrev=False)
    plain = [name for name in samplers() if name not in ("exhaustive", "gp")]
    parser.add_argument(
        "--scenario", action="append", choices=list(CASES), help="all if left out; repeatable"
    )
    parser.add_argument(
        "--sampler", action="append", help="NAME or NAME:BATCH; repeatable; all but gp if left out"
    )
    parser.add_argument("--budgets", type=_numbers, default=BUDGETS, help="evaluations, with commas")
    parser.add_argument("--seeds", type=int, default=5, help="searches per scenario, sampler and budget")
    parser.add_argument("--rows", type=Path, action="append", help="JSON lines; more of them are only read")
    parser.add_argument("--table", action="store_true", help="print the table of all rows")
    options = parser.parse_args(arguments)
    options.scenario = options.scenario or list(CASES)
    options.sampler = list(dict.fromkeys(options.sampler or plain))
    options.rows = options.rows or [ROWS]
    return options


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


if __name__ == "__main__":
    main()
