"""Which evaluations deserve a second look."""

from __future__ import annotations

from collections.abc import Sequence

from gridtune.optimize.records.evaluations import Evaluation, Objective
from gridtune.optimize.replication.compare import costs, non_dominated

LIMIT = 40  # points on the shortlist, at most


def to_minimise(evaluation: Evaluation, objectives: Sequence[Objective]) -> list[float]:
    """Means of the objectives, turned so that less is better."""
    return [
        evaluation.objectives[o.name].mean * (1.0 if o.direction == "minimize" else -1.0) for o in objectives
    ]


def shortlist(
    evaluations: Sequence[Evaluation], objectives: Sequence[Objective], limit: int = LIMIT
) -> list[Evaluation]:
    """The non-dominated evaluations, in their order; of equal ones all.

    Of more than `limit` those are left out, one after the other, that contribute least to the hypervolume of
    the rest, each objective scaled to its range over the front.
    """
    import moocore
    import numpy as np

    if not evaluations:
        return []
    values = costs([evaluation.objectives for evaluation in evaluations], objectives)
    chosen = np.array(non_dominated(values))
    front = values[chosen]
    spread = np.ptp(front, axis=0)
    front = (front - front.min(axis=0)) / np.where(spread > 0, spread, 1.0)
    if front.shape[1] == 1:
        chosen = chosen[:limit]  # of a single objective there are only ties
    while len(chosen) > limit:
        least = int(np.argmin(moocore.hv_contributions(front, ref=np.full(front.shape[1], 1.1))))
        chosen, front = np.delete(chosen, least), np.delete(front, least, axis=0)
    return [evaluations[index] for index in chosen.tolist()]
