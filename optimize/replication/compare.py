"""Values to be minimised on one scale, of configurations with different numbers of replications.

Configurations are only compared on replications that they share: the others may have been easier. The
shortlist is of those that promise the largest hypervolume.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gridtune.optimize.records.evaluations import Estimate, Objective, replications

Array = np.ndarray[Any, np.dtype[Any]]

SINGULAR = 1e-9  # of the largest eigenvalue: what is less is 0, but for rounding
ROUNDING = 1e-9  # of a volume


def costs(estimates: Sequence[Mapping[str, Estimate]], objectives: Sequence[Objective]) -> Array:
    """Means as a matrix to be minimised, a row per configuration and a column per objective; see `level`.

    Maximised objectives are negated. Where numbers of replications differ, means are `adjusted_means`.
    """
    if len({replications(row) for row in estimates}) > 1:
        means = adjusted_means(stacked(estimates, objectives))
    else:
        rows = [[row[objective.name].mean for objective in objectives] for row in estimates]
        means = np.array(rows, dtype=float).reshape(len(estimates), len(objectives)) * signs(objectives)
    return level(means, [objective.resolution for objective in objectives])


def stacked(estimates: Sequence[Mapping[str, Estimate]], objectives: Sequence[Objective]) -> Array:
    """Values of each run, to be minimised: configurations x objectives x replications; nan where not run."""
    most = max(map(replications, estimates), default=0)
    values = np.full((len(estimates), len(objectives), most), np.nan)
    for row, known in zip(values, estimates, strict=True):
        for column, objective in zip(row, objectives if known else (), strict=False):
            some = known[objective.name].values
            column[: len(some)] = some
    return values * signs(objectives)[:, None]


def adjusted_means(runs: Array) -> Array:
    """Means of configurations without the effect of each replication, by objective, of `stacked` runs.

    Source: R. Little and D. Rubin, Statistical Analysis with Missing Data, 3rd edition, 2019, chapter 2
        (unbalanced data with additive effects).
    """
    seen, columns = by_objective(runs)
    return np.stack([explained(column, seen)[1] for column in columns], axis=1)


def by_objective(runs: Array) -> tuple[Array, Array]:
    """Which configuration was run in which replication, and runs by objective, 0 where there is none."""
    seen = np.asarray(np.isfinite(runs).all(axis=1))
    return seen, np.moveaxis(np.where(seen[:, None, :], runs, 0.0), 1, 0)


def explained(runs: Array, seen: Array) -> tuple[Array, Array, Array]:
    """Replication effects (least squares, 0 in the mean), means without them, and residuals of an objective.

    Runs, and whether they are `seen`, are configurations x replications; see `by_objective`.
    """
    counts = seen.sum(axis=1)
    off = np.where(seen, runs - (runs.sum(axis=1) / counts)[:, None], 0.0)
    normal = np.diag(seen.sum(axis=0)) - (seen / counts[:, None]).T @ seen
    effects = np.linalg.pinv(normal, rcond=SINGULAR, hermitian=True) @ off.sum(axis=0)
    effects -= effects.mean()
    rest = np.where(seen, runs - effects, 0.0)
    means = rest.sum(axis=1) / counts
    return effects, means, np.where(seen, rest - means[:, None], 0.0)


def non_dominated(values: Array) -> list[int]:
    """Rows that no other row dominates; equal rows are all kept."""
    import moocore

    if not len(values):
        return []
    return np.flatnonzero(moocore.is_nondominated(values, keep_weakly=True)).tolist()


def shares(values: Array) -> Array:
    """How far values to be minimised are from the best, in shares of each column's `ranges`."""
    return np.asarray((values - values.min(axis=0)) / ranges(values))


def ranges(values: Array) -> Array:
    """Ranges of the columns of a matrix; 1 where all its rows are equal, or there are none."""
    found = np.ptp(values, axis=0) if len(values) else np.zeros(values.shape[1])
    return np.asarray(np.where(found > 0, found, 1.0))


def signs(objectives: Sequence[Objective]) -> Array:
    """1 for each objective to be minimised, -1 for each to be maximised."""
    return np.array([1.0 if objective.direction == "minimize" else -1.0 for objective in objectives])


def level(values: Array, steps: Sequence[float]) -> Array:
    """Values (configurations x objectives) rounded to each column's step, or to 1e-12 of its largest."""
    size = np.abs(values).max(axis=0, initial=0.0)
    unit = np.maximum(10.0 ** np.floor(np.log10(np.where(size > 0, size, 1.0)) - 12), steps)
    return np.asarray(np.round(values / unit) * unit)


def promising(draws: Array, candidates: Sequence[int], limit: int, base: Sequence[int] = ()) -> list[int]:
    """Positions of the configurations that together promise the largest hypervolume.

    They are taken one after the other, each time the one that adds most to the mean over the draws; such a
    greedy choice is at most a factor of 1 - 1/e from the best one. Its gains only shrink, and none is more
    than the volume that no chosen configuration shares, so that most need not be computed.

    Args:
        draws: samples of means to be minimised, draws x configurations x objectives; infinite where useless.
        candidates, limit: positions of those to choose from, and how many to take at most.
        base: positions of those that are there anyway; the reference point is a tenth of their range worse
            than the worst of them, else of all.

    Source: G. Nemhauser, L. Wolsey and M. Fisher, An analysis of approximations for maximizing submodular set
        functions, Mathematical Programming 14, 1978; M. Minoux, Accelerated greedy algorithms, 1978.
    """
    import moocore

    some = draws[:, list(base) if len(base) > 1 else [*base, *candidates]]
    means = np.ma.masked_invalid(some).mean(axis=0)
    corner = np.asarray(means.max(axis=0) + 0.1 * np.ma.ptp(means, axis=0))
    volume = moocore.Hypervolume(ref=corner)
    chosen = list(base)
    reached = np.array([volume(draw[chosen]) if chosen else 0.0 for draw in draws])

    def together(place: int) -> Array:
        """The volumes with one more; unchanged where it is dominated, or worse than the corner."""
        row = draws[:, place]
        dominated = np.any(np.all(there[:, :-1] <= row[:, None], axis=2), axis=1)
        adds = np.all(row < corner, axis=1) & ~dominated
        volumes, there[:, -1] = reached.copy(), row
        for at in np.flatnonzero(adds):
            volumes[at] = volume(there[at])
        return volumes

    room = (corner - draws).clip(0.0)
    alone = room.prod(axis=2)
    shared = np.zeros(draws.shape[:2])  # with the chosen configuration that has most of it
    most = np.full(draws.shape[1], np.inf)  # that a configuration can add
    left, near = set(candidates), list(base)
    while left and len(chosen) < limit + len(base):
        for place in near:
            np.maximum(shared, np.minimum(room, room[:, place, None]).prod(axis=2), out=shared)
        np.minimum(most, (alone - shared).mean(axis=0) + ROUNDING * alone.mean(), out=most)
        best, volumes = (np.inf, -1), reached
        there = draws[:, [*chosen, -1]]  # the chosen configurations, and room for one more
        for place in sorted(left, key=lambda place: (-most[place], place)):
            if (-most[place], place) > best:
                break
            found = together(place)
            most[place] = found.mean() - reached.mean()
            if (-most[place], place) < best:
                best, volumes = (-most[place], place), found
        near, reached = [best[1]], volumes
        chosen += near
        left -= {*near}
    return chosen[len(base) :]
