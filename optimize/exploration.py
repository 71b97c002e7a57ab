"""A search under way: propose, evaluate, learn, until the budget is spent or the front stops growing.

It ends after so many configurations, runs or seconds, or when nothing changes; any first.
"""

from __future__ import annotations

import time
from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from gridtune import limits
from gridtune.optimize.config import CONFIGURATIONS, SearchConfig
from gridtune.optimize.front.front import hypervolume
from gridtune.optimize.records.evaluations import Evaluation
from gridtune.optimize.replication.compare import costs, non_dominated, signs
from gridtune.optimize.runs.evaluator import Evaluator
from gridtune.optimize.samplers import Result, Sampler, samplers
from gridtune.optimize.search_space.constraints import Excesses, excesses, feasible
from gridtune.optimize.search_space.space import Configuration, key

STALE_BATCHES = 25  # batches in a row without a new configuration, after which a sampler is given up
LEAST = 100  # evaluations before the first look
STEP = 25  # evaluations between two looks
WINDOW = 0.3  # of the evaluations: those that must have found nothing
TOLERANCE = 0.01  # of the hypervolume: growth that is nothing
SEARCH, VALIDATION = 0.85, 0.925  # shares of runs and time after which search and validation end
KEPT, KEPT_OF_TIME = 1 / 4, 1 / 3  # of all runs for recommendations, at most; the latter under a time limit
MOST_OF_TIME = 1 / 2  # where less confirms none


def expected(config: SearchConfig, replications: int, cases: int) -> int:
    """About how many configurations there will be: what suits a sampler depends on it."""
    if config.runs is None:
        return config.configurations if config.counted else CONFIGURATIONS
    return max(1, min(config.configurations, round(SEARCH * config.runs / (replications * cases))))


@dataclass
class Meter:
    """What is left of the limits of a search, which begins now."""

    config: SearchConfig
    reserve: int = 0  # runs that are left to validation in any case; 0 if the search may take all
    # Runs that search and validation leave to recommendations: at most a share `KEPT` (or `KEPT_OF_TIME`).
    confirming: int = 0
    # Of these, without which none is confirmed: a limit of time that allows less in that share leaves them
    # all the same, up to `MOST_OF_TIME`; beyond it, nothing.
    least: int = 0
    _began: float = field(default_factory=lambda: time.monotonic(), init=False)

    def left_to_search(self, spent: int) -> int:
        """Runs left of those that find configurations, once some are spent."""
        left = self.left(spent, SEARCH if self.reserve else 1.0)
        return min(left, max(0, self.left(spent) - self.reserve - self._kept(spent)))

    def late(self, spent: int) -> Callable[[], bool]:
        """Says if no time is left to find configurations: some may take far longer than those before."""
        seconds, kept = self.config.seconds, self._kept(spent)
        if seconds is None:
            return lambda: False
        # Validation takes what recommendations leave of their share.
        ends = 1 - max(kept / (spent + self.left(spent)), KEPT_OF_TIME) if kept else SEARCH
        return lambda: self._now() >= ends * seconds

    def left_to_validate(self, spent: int) -> int:
        """Runs left of those that find and validate configurations, once some are spent."""
        return min(self.left(spent, VALIDATION), max(0, self.left(spent) - self._kept(spent)))

    def _now(self) -> float:
        return time.monotonic() - self._began

    def _kept(self, spent: int) -> int:
        """Runs for confirming recommendations."""
        runs = spent + self.left(spent)
        if self.config.seconds is None:
            return min(self.confirming, int(KEPT * runs))
        most = int(KEPT_OF_TIME * runs)
        if most < self.least:
            most = self.least if self.least <= MOST_OF_TIME * runs else 0
        return min(self.confirming, most)

    def left(self, spent: int, share: float = 1.0) -> int:
        """Runs left of a share of them, once some are spent; no more than the time allows at this pace."""
        runs, seconds = self.config.runs, self.config.seconds
        left = limits.WHOLE if runs is None else max(0, int(share * runs) - spent)
        if seconds is not None:
            now = self._now()
            time_left = share * seconds - now
            left = 0 if time_left <= 0 else min(left, int(spent * time_left / now) if spent and now else left)
        return left


class Exploration:
    """Spends a budget, the baseline first.

    Proposals come in batches that do not depend on the number of workers, so equal seeds give equal searches.
    A resumed search asks for the same proposals and finds their runs in the table of runs: it ends as it
    would have uninterrupted, unless its end is a matter of time.
    """

    def __init__(self, evaluator: Evaluator, sampler: Sampler, meter: Meter) -> None:
        self.evaluator, self.sampler, self.meter = evaluator, sampler, meter
        self.settings = evaluator.settings
        self._next_look = LEAST

    def explore(self) -> None:
        """Spend the budget, or as much of it as there are configurations to evaluate."""
        evaluator, size = self.evaluator, self.settings.space.size()
        baseline = self.settings.baseline
        first = [*([] if baseline is None else [baseline.configuration]), *self.settings.starts]
        starts = {key(one): one for one in first}
        stale = 0
        if baseline is not None and self.meter.config.seconds is not None:
            evaluator.evaluate([baseline.configuration])  # its pace says how many others time allows
        while self._room():
            if size is not None and sum(1 for entry in evaluator.known.values() if entry.values) >= size:
                evaluator.note(f"note: the space has only {size} configurations; all of them are evaluated")
                break
            configurations = self.sampler.ask()
            new = {key(one): one for one in configurations if key(one) not in evaluator.known}
            stale = 0 if new else stale + 1
            if not configurations or stale >= STALE_BATCHES:  # others fill the budget
                old, stale = self.sampler, 0
                kind = samplers()["random" if size is None else "exhaustive"]
                self.sampler = kind(old.space, old.objectives, old.seed, old.batch)
                said = f"proposes nothing new after {len(evaluator.known)} configurations"
                evaluator.note(f"note: {old.name} {said}; others fill the budget")
                continue
            missing = [one for name, one in (starts | new).items() if name not in evaluator.known]
            evaluator.evaluate(missing[: self._room(missing)], self.meter.late(evaluator.spent))
            if any(key(one) not in evaluator.known for one in missing):
                break
            if starts:
                known = [one for one in starts.values() if one]
                self.sampler.inform(known, *self._outcomes(known))
                starts = {}
            self.sampler.learn(*self._outcomes(configurations))
            if self.meter.config.converged and (reason := self._converged()):
                evaluator.note(f"note: {reason}")
                break

    def _room(self, configurations: Sequence[Configuration] = ()) -> int:
        """How many of the next configurations the budget allows; whether it allows one if none are given."""
        numbers = range(self.settings.replications)
        room = max(0, self.meter.config.configurations - len(self.evaluator.known))
        left = self.meter.left_to_search(self.evaluator.spent)
        if not configurations:
            each = len(numbers) * len(self.settings.run_in)
            return room if self.evaluator.repeating else min(room, left // each)
        counts = range(1, min(room, len(configurations)) + 1)
        return bisect(counts, left, key=lambda n: self.evaluator.cost(configurations[:n], [numbers] * n))

    def _outcomes(self, configurations: Sequence[Configuration]) -> tuple[Sequence[Result], list[Excesses]]:
        """Means of the objectives (None of what failed), and by how much each constraint is broken."""
        entries = [self.evaluator.known[key(one)] for one in configurations]
        evaluated = [entry if isinstance(entry, Evaluation) else None for entry in entries]
        names = [objective.name for objective in self.settings.objectives]
        means = [[one.objectives[name].mean for name in names] if one else None for one in evaluated]
        broken = [excesses(self.settings.constraints, one.cases) if one else {} for one in evaluated]
        return means, broken

    def _converged(self) -> str:
        """Why the search may end; empty if the last evaluations added to the front, or it is early.

        The hypervolume of all configurations so far is compared with that of all but the last `WINDOW` of
        them, both by means. The search has converged when that is less than `TOLERANCE` more.

        Source: T. Wagner, H. Trautmann and B. Naujoks, OCD: Online Convergence Detection for Evolutionary
            Multi-Objective Algorithms, EMO 2009 (a window of a quality indicator; there with a test of its
            variance).
        """
        known = self.evaluator.archive.evaluations
        if len(known) < self._next_look:
            return ""
        self._next_look = len(known) + STEP
        early = round((1 - WINDOW) * len(known))
        objectives = self.settings.objectives
        values = costs([one.objectives for one in known], objectives)
        allowed = np.array([feasible(one, self.settings.constraints) for one in known])
        before = now = 0.0
        if allowed.any():
            front = values[allowed][non_dominated(values[allowed])]
            corner = signs(objectives) * (front.max(axis=0) + 0.1 * np.ptp(front, axis=0))
            before = hypervolume(values[:early][allowed[:early]], objectives, corner)
            now = hypervolume(values[allowed], objectives, corner)
        if now - before > TOLERANCE * now:
            return ""
        added = f"added {(now - before) / now if now else 0:.1%} to the hypervolume"
        return f"converged: the last {len(known) - early} of {len(known)} configurations {added}"
