"""The shortlist: evaluations that promise the largest hypervolume."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gridtune.optimize.replication.compare import Array

ROUNDING = 1e-9  # of a volume


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
