"""What points of a front are worth, on one level, so that values and differences agree.

Points have different numbers of fresh runs, and what the streams of these do to all points moves their plain
means by more than what tells points apart. So values are what the model of all runs expects
(`optimize.inference.judgement`), on the level of the streams on which the members were compared; what was
the same in every run of a point is that. Without the model they are means, brought to the streams of the
member that has most.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from gridtune.optimize.inference.judgement import Judgement
from gridtune.optimize.records.evaluations import Estimate, Evaluation, Objective
from gridtune.optimize.replication.compare import costs, signs

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]


LEAST_LUCK = 1e-6  # of the largest of a front: a point of less counts as one of that


def worth_of(
    members: Sequence[Evaluation],
    others: Sequence[Evaluation],
    searched: Sequence[Evaluation],
    objectives: Sequence[Objective],
    judgement: Judgement | None,
) -> dict[int, Array]:
    """What each point is worth, by its number, an entry per objective, to be minimised.

    Args:
        members: points of a front, on whose streams the level is.
        others: further points to tell of.
        searched: points to tell of as far as the model knows them.
        objectives: what is traded off.
        judgement: of all runs; None where nothing can be said beyond means.
    """
    inside = {one.number for one in members}
    others = [one for one in others if one.number not in inside]
    sides = signs(objectives)
    means: dict[int, Array] = {
        one.number: sides * [_estimates(one)[objective.name].mean for objective in objectives]
        for one in others
    }
    fresh = any(one.validated for one in members)
    # What was not run on the streams of the members is no point of comparison for them.
    level_with = [
        one for one in others if bool(one.validated) == fresh and all(map(isfinite, means[one.number]))
    ]
    rows = costs([_estimates(one) for one in (*members, *level_with)], objectives)
    means |= {one.number: row for one, row in zip((*members, *level_with), rows, strict=True)}
    known = [one for one in members if judgement is not None and one.number in judgement]
    if judgement is None or not known:
        return means
    level = _level(known, means, judgement)
    return {
        one.number: _possible(judgement.means(one.number) + level, one, objectives)
        if one.number in judgement
        else means[one.number]
        for one in (*members, *others, *(one for one in searched if one.number in judgement))
    }


def _level(members: Sequence[Evaluation], means: dict[int, Array], judgement: Judgement) -> Array:
    """By how much values on the streams of the members are more than what the model expects, by objective.

    Those of much luck say little of it: what waits for hours would move what waits for seconds by minutes.
    """
    import numpy as np

    off = np.array([means[one.number] - judgement.means(one.number) for one in members])
    luck = np.array([judgement.luck(one.number) for one in members])
    runs = np.array([one.fresh_replications or one.replications for one in members])
    most = luck.max(axis=0)
    luck = np.where(most > 0, np.maximum(luck / np.where(most > 0, most, 1.0), LEAST_LUCK), 1.0)
    weights = runs[:, None] / luck**2
    return np.asarray((weights * off).sum(axis=0) / weights.sum(axis=0))


def _estimates(evaluation: Evaluation) -> dict[str, Estimate]:
    return evaluation.validated or evaluation.objectives


def _possible(row: Array, evaluation: Evaluation, objectives: Sequence[Objective]) -> Array:
    """What is expected of a point, where its runs differ; what was the same in every run is that."""
    import numpy as np

    found = np.array(row, dtype=float)
    for at, (objective, sign) in enumerate(zip(objectives, signs(objectives), strict=True)):
        estimates = evaluation.objectives, evaluation.validated or {}
        values = [x for some in estimates if objective.name in some for x in some[objective.name].values]
        if len(values) > 1 and min(values) == max(values):
            found[at] = sign * values[0]
    return found
