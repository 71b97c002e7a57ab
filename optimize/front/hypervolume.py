"""The hypervolume of configurations, and the reference point up to which it counts."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np

from gridtune.optimize.records.evaluations import Archive, Evaluation, Objective
from gridtune.optimize.replication.compare import Array, costs, signs
from gridtune.optimize.search_space.constraints import feasible


def comparable(archive: Archive) -> list[Evaluation]:
    """Evaluations that can be ranked: every objective is a finite number."""
    names = [objective.name for objective in archive.objectives]
    return [
        one
        for one in archive.evaluations
        if all(isfinite(known[name].mean) for known in (one.objectives, one.estimates) for name in names)
    ]


def reference_point(archive: Archive) -> tuple[float, ...]:
    """Reference point of the hypervolume: twice as bad as the baseline.

    That is twice the baseline's value of an objective to be minimised, and 0 of one to be maximised (one unit
    beyond it where the baseline's value is 0), by the first replication of the search. Searches of one
    scenario with one seed have the same reference, so that their volumes compare.

    Where a search does not know the baseline, it is the worst value of each objective and 10 % more. Values
    on validation seeds count, too: those of the search may all be optimistic. The 10 % are of the range that
    the search saw; where all values are equal, of their size (at least 1), so that no objective makes every
    volume zero. It depends on all evaluations: the volumes of two such searches do not compare.
    """
    if archive.standing is not None:
        first = [archive.standing.objectives[o.name].values[0] for o in archive.objectives]
        sides = signs(archive.objectives)
        return tuple(float(x + side * (abs(x) or 1.0)) for x, side in zip(first, sides, strict=True))
    usable = comparable(archive)
    # What breaks constraints does not count, unless there is nothing else.
    usable = [e for e in usable if feasible(e, archive.constraints)] or usable
    if not usable:
        return (0.0,) * len(archive.objectives)
    values = costs([evaluation.objectives for evaluation in usable], archive.objectives)
    validated = costs([e.validated for e in usable if e.validated], archive.objectives)
    ranges = np.ptp(values, axis=0)
    size = np.maximum(np.abs(values).max(axis=0), 1.0)
    worst = np.vstack([values, validated]).max(axis=0) + 0.1 * np.where(ranges > 0, ranges, size)
    return tuple((worst * signs(archive.objectives)).tolist())


def hypervolume(
    rows: Sequence[Array] | Array, objectives: Sequence[Objective], reference: Sequence[float]
) -> float:
    """Volume that configurations dominate within the reference point; its unit is the objectives' product.

    Args:
        rows: the configurations, by what is to be minimised; see `optimize.replication.compare.costs`.
        reference: in the units of the objectives; see `reference_point`.
    """
    import moocore

    if not len(rows):
        return 0.0
    return float(moocore.hypervolume(np.array(rows), ref=np.array(reference) * signs(objectives)))
