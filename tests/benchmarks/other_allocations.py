"""Allocations of the literature that gridtune does not ship, to be compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gridtune.optimize.records.evaluations import Archive, Evaluation
from gridtune.optimize.replication.compare import estimate_of, non_dominated, signs
from gridtune.optimize.search import search
from gridtune.optimize.search_space.space import Point, Space
from gridtune.scenarios.execution.replicate import Task
from tests.benchmarks.arenas import Arena

Array = np.ndarray[Any, np.dtype[Any]]
FIRST, EACH = 3, 24  # runs of a point before MOCBA, and runs between two looks
ZONE = 0.01  # of the span: differences that MOCBA takes for that


class Sampled:
    """Points and their runs so far; run k of every point has the streams of run k of any other."""

    def __init__(self, arena: Arena, seed: int) -> None:
        self.arena, self.seed = arena, seed
        self.points: list[Point] = []
        self.values: list[list[list[float]]] = []

    def add(self, point: Point) -> int:
        """A new point, without a run."""
        self.points.append(point)
        self.values.append([])
        return len(self.points) - 1

    def run(self, at: int) -> None:
        """Run a point once more."""
        task = Task(self.arena.scenario, self.points[at], self.seed, len(self.values[at]))
        metrics = self.arena.work(task)
        self.values[at].append([metrics[name].value for name in self.arena.objectives])

    def means(self) -> Array:
        """To be minimised, points x objectives."""
        return np.array([np.mean(rows, axis=0) for rows in self.values]) * signs(self.arena.goals)

    def archive(self) -> Archive:
        """As a search leaves it."""
        goals = self.arena.goals
        evaluations = tuple(
            Evaluation(
                number,
                dict(point),
                {goal.name: estimate_of([row[k] for row in rows]) for k, goal in enumerate(goals)},
                {},
            )
            for number, (point, rows) in enumerate(zip(self.points, self.values, strict=True))
        )
        return Archive("benchmark", self.arena.name, goals, evaluations, seed=self.seed)


def mocba(arena: Arena, seed: int, runs: int) -> Archive:
    """TPE with one run each on half of the runs, then MOCBA on the best quarter of the points.

    Source: L. Lee, E. Chew, S. Teng and D. Goldsman, Finding the non-dominated Pareto set for multi-objective
        simulation models, IIE Transactions 42(9), 2010.
    """
    archive = search(
        arena.scenario, budget=runs // 2, sampler="tpe", seed=seed, replications=1, max_replications=1,
        validation_replications=0, objectives=arena.objectives, work=arena.work, today=False, allow_loss=True,
    ).archive  # fmt: skip
    made = Sampled(arena, seed)
    for evaluation in archive.evaluations:
        made.run(made.add(evaluation.values))
    left = runs - len(made.points)
    ranks = _ranks(made.means())
    chosen = np.argsort(ranks, kind="stable")[: max(2, min(len(ranks) // 4, left // (2 * FIRST)))]
    for at in chosen:
        for _ in range(FIRST - 1):
            made.run(int(at))
            left -= 1
    while left > 0:
        values = [np.array(made.values[at]) * signs(arena.goals) for at in chosen]
        wanted = _mocba_weights(values)
        counts = np.array([len(rows) for rows in values])
        for _ in range(min(EACH, left)):
            at = int(np.argmax(wanted * (counts.sum() + 1) - counts))
            made.run(int(chosen[at]))
            counts[at] += 1
            left -= 1
    kept = Sampled(arena, seed)
    for at in chosen:
        kept.points.append(made.points[at])
        kept.values.append(made.values[at])
    return kept.archive()


def _ranks(means: Array) -> Array:
    import moocore

    return np.asarray(moocore.pareto_rank(means))


def _mocba_weights(values: Sequence[Array]) -> Array:
    """Shares of the runs that points should have."""
    means = np.array([rows.mean(axis=0) for rows in values])
    spread = np.array([rows.var(axis=0, ddof=1) for rows in values]) + 1e-12
    span = np.ptp(means, axis=0)
    gaps = means[None] - means[:, None]  # of j over i
    gaps = np.where(np.abs(gaps) < ZONE * span, np.where(gaps < 0, -1, 1) * ZONE * span, gaps)
    signal = gaps * np.abs(gaps) / (spread[:, None] + spread[None])
    worst = signal.argmax(axis=2)  # objective in which j beats i least surely
    least = np.take_along_axis(signal, worst[:, :, None], 2)[:, :, 0]
    np.fill_diagonal(least, np.inf)
    rival = least.argmin(axis=1)
    own = least[np.arange(len(means)), rival]
    aimed = [np.flatnonzero(rival == at) for at in range(len(means))]
    first = np.array(
        [not len(some) or abs(own[at]) < np.abs(own[some]).min() for at, some in enumerate(aimed)]
    )
    shares = np.zeros(len(means))
    for at in np.flatnonzero(first):
        column = worst[at, rival[at]]
        shares[at] = spread[at, column] / gaps[at, rival[at], column] ** 2
    for at in np.flatnonzero(~first):
        some = [h for h in aimed[at] if first[h]]
        squares = [shares[h] ** 2 * spread[at, worst[h, at]] / spread[h, worst[h, at]] for h in some]
        shares[at] = np.sqrt(np.sum(squares)) if squares else 0.0
    shares = np.maximum(shares, 1e-3 * shares.max())
    return np.asarray(shares / shares.sum())


def rtea(arena: Arena, seed: int, runs: int) -> Archive:
    """The rolling tide: a child of the elite, then another run of the elite's point with the fewest, in turn.

    It begins with 100 points at random (here a fifth of the runs, if that is less); the last 5 % of the runs
    are for the elite alone.

    Source: J. Fieldsend and R. Everson, The Rolling Tide Evolutionary Algorithm, IEEE Transactions on
        Evolutionary Computation 19(1), 2015.
    """
    space, rng = Space.of(arena.scenario), np.random.default_rng([seed, 9])
    made, left = Sampled(arena, seed), runs
    elite: list[int] = []

    def settled() -> list[int]:
        return non_dominated(made.means())

    for _ in range(min(100, runs // 5)):
        made.run(made.add(space.at(rng.random(len(space)).tolist())))
        left -= 1
    elite = settled()
    while left > 0:
        if left > 0.05 * runs:
            parents = [made.points[int(rng.choice(elite))] for _ in range(2)]
            made.run(made.add(_child(space, parents, rng)))
            left -= 1
            elite = settled()
        least = min(elite, key=lambda at: len(made.values[at]))
        made.run(least)
        left -= 1
        elite = settled()
    return made.archive()


def _child(space: Space, parents: Sequence[Point], rng: np.random.Generator) -> Point:
    """Uniform crossover, and a mutation of one parameter in the mean."""
    flat: Point = {}
    for parameter in space:
        donor = parents[int(rng.integers(2))]
        value = donor.get(parameter.path, parents[0].get(parameter.path, parents[1].get(parameter.path)))
        if value is None or rng.random() < 1 / len(space):
            if value is None or parameter.choices:
                value = parameter.at(float(rng.random()))
            else:
                share = parameter.share(value) + 0.1 * float(rng.normal())
                value = parameter.at(min(max(share, 0.0), 1.0))
        flat[parameter.path] = value
    return space.active(flat)
