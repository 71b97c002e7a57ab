"""What points of a front are worth, on one level, so that values and differences agree.

Points have different numbers of fresh runs, and what the streams of these do to all points moves their plain
means by more than what tells points apart. So values are what the model of all runs expects
(`optimize.inference.judgement`), on the level of the streams on which the members were compared, as far as a
point's own runs allow that. Without the model they are means, brought to the streams of the
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


LEAST_LUCK = 1e-12  # of the largest variance of a front: a point of less counts as one of that
PRIOR = 0.1  # runs that the model's word on a point's luck counts as, beside the point's own
POSSIBLE = 0.99  # of the means of a point's runs: what lies beyond is not what they are runs of


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
    level = _level(known, means, judgement, objectives)
    return {
        one.number: _possible(
            judgement.means(one.number) + level, one, objectives, bool(one.validated) == fresh
        )
        if one.number in judgement
        else means[one.number]
        for one in (*members, *others, *(one for one in searched if one.number in judgement))
    }


def _level(
    members: Sequence[Evaluation],
    means: dict[int, Array],
    judgement: Judgement,
    objectives: Sequence[Objective],
) -> Array:
    """By how much values on the streams of the members are more than what the model expects, by objective.

    A member whose runs differ much says little of it: what waits for hours would move what waits for seconds
    by minutes.
    """
    import numpy as np

    off = np.array([means[one.number] - judgement.means(one.number) for one in members])
    luck = np.array([_variance(one, judgement.luck(one.number), objectives) for one in members])
    runs = np.array([one.fresh_replications or one.replications for one in members])
    most = luck.max(axis=0)
    luck = np.where(most > 0, np.maximum(luck / np.where(most > 0, most, 1.0), LEAST_LUCK), 1.0)
    weights = runs[:, None] / luck
    return np.asarray((weights * off).sum(axis=0) / weights.sum(axis=0))


def _variance(evaluation: Evaluation, luck: Array, objectives: Sequence[Objective]) -> Array:
    """Of a run of a point, an entry per objective: by its own runs, and a little by what the model says."""
    import numpy as np

    values = [np.array(_estimates(evaluation)[objective.name].values) for objective in objectives]
    own = np.array([((known - known.mean()) ** 2).sum() for known in values])
    free = np.array([len(known) - 1 for known in values])
    return np.asarray((own + PRIOR * luck**2) / (free + PRIOR))


def _estimates(evaluation: Evaluation) -> dict[str, Estimate]:
    return evaluation.validated or evaluation.objectives


def _possible(row: Array, evaluation: Evaluation, objectives: Sequence[Objective], on_level: bool) -> Array:
    """What is expected of a point, as far as its own runs allow it; what was the same in all of them is that.

    A value lies within the interval of `POSSIBLE` of the point's runs, and on the side of 0 where all are.
    Runs that are not on the streams of the members (`on_level`) say nothing of values on their level.
    """
    import numpy as np
    from scipy.special import stdtrit

    found = np.array(row, dtype=float)
    for at, (objective, sign) in enumerate(zip(objectives, signs(objectives), strict=True)):
        estimates = evaluation.objectives, evaluation.validated or {}
        every = [x for some in estimates if objective.name in some for x in some[objective.name].values]
        own = _estimates(evaluation)[objective.name]
        if len(every) < 2:
            continue
        if min(every) == max(every):
            found[at] = sign * every[0]
        elif on_level and own.standard_error is not None:
            wide = own.standard_error * float(stdtrit(len(own.values) - 1, (1 + POSSIBLE) / 2))
            low = max(own.mean - wide, 0.0 if min(every) >= 0 else -np.inf)
            high = min(own.mean + wide, 0.0 if max(every) <= 0 else np.inf)
            found[at] = sign * min(max(sign * found[at], low), high)
    return found
