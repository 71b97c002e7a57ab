"""Which configurations may be recommended, the best first, and what a recommendation is called.

Of each objective the best, and the compromise. Once some were refused for what they make worse, only what is
no nearer to any of these than to the baseline: what is like them would be refused, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gridtune.model.metrics.labels import label
from gridtune.optimize.front.changes import bearable, gains
from gridtune.optimize.front.front import Front, keeps
from gridtune.optimize.inference.surrogate_model import Distances
from gridtune.optimize.recommend.subsets import Subsets
from gridtune.optimize.records.evaluations import Evaluation, Objective
from gridtune.optimize.records.recommendation import Refusal
from gridtune.optimize.replication.compare import shares
from gridtune.optimize.search_space.space import Configuration

MOST = 3  # recommendations
ROUNDING = 1e-9  # of squared distances


@dataclass
class Candidate:
    """A configuration that may be recommended, and why."""

    chosen: list[Objective]  # that it is the best candidate for
    compromise: bool
    origin: Evaluation  # of the search
    sparse: Configuration  # its values with as few changes as suffice
    changed: list[str]  # parameters that are changed there, the most effective first


def candidates_of(
    front: Front, subsets: Subsets, sure: Callable[..., bool], refusals: Mapping[int, Refusal]
) -> list[Candidate]:
    """The best of each objective, and the compromise, as far as they are better than the baseline.

    Those that are significantly better come first: runs may suffice for one alone. `sure` says whether an
    objective changes significantly, for the better or not.
    """
    standing = front.archive.standing
    if standing is None:
        return []
    able = [one for one in _able(front, subsets, refusals) if bearable(front, one)]
    if not able:
        return []
    start, values = front.means[standing.number], front.costs(able)
    chosen: dict[int, list[Objective]] = {}
    for at, objective in enumerate(front.objectives):
        best = int(values[:, at].argmin())
        if values[best, at] < start[at]:
            chosen.setdefault(best, []).append(objective)
    compromise = None
    ahead = np.flatnonzero((values < start).any(axis=1))
    if len(front.objectives) > 1 and len(ahead):
        compromise = int(ahead[shares(values)[ahead].max(axis=1).argmin()])
        chosen.setdefault(compromise, [])
    made = []
    for at, objectives in list(chosen.items())[:MOST]:
        one = able[at]
        made.append(Candidate(objectives, at == compromise, one, one.values, subsets.ordered(one.values)))
    return sorted(made, key=lambda one: not any(sure(gain, better=True) for gain in gains(front, one.origin)))


def _able(front: Front, subsets: Subsets, refusals: Mapping[int, Refusal]) -> list[Evaluation]:
    """The front without what was refused; or all that is like the baseline rather than like that."""
    archive, known = front.archive, front.means if front.posterior is None else front.posterior
    out = {archive.baseline, *refusals}
    able = [one for one in archive.evaluations if keeps(one, archive.constraints)]
    left = [one for one in able if one.number in known and one.number not in out]
    broke = [one for one in archive.evaluations if refusals.get(one.number, Refusal()).metrics]
    if not broke or not left:
        return [one for one in front.on_front if one in left]
    some = [subsets.combined({}, ()), *(one.values for one in broke)]
    places = Distances.of([*some, *(one.values for one in left)], archive.logarithmic)
    apart = places.squares.sum(axis=0)[len(some) :, : len(some)]
    near = apart[:, 0] <= apart[:, 1:].min(axis=1) + ROUNDING
    return [one for one, like in zip(left, near, strict=True) if like]


def title_of(
    chosen: Sequence[Objective], gained: Sequence[Objective], among: Sequence[Objective], *, compromise: bool
) -> str:
    """What a recommendation improves: of objectives for which it was chosen, that got better, or any."""
    told = [one for one in chosen if one in gained] or ([] if compromise else gained)
    better = [" and ".join(f"{_way(one)} {_called(one, among)}" for one in told)] if told else []
    return ", ".join([*better, *["compromise"] * compromise])


def _way(objective: Objective) -> str:
    """What a better value is called: fewer users, more work."""
    known = label(objective.name)
    counted = objective.unit not in ("", "s") or (known.percent and known.name.endswith("s"))
    if objective.direction == "minimize":
        return "fewer" if counted else "lower"
    return "more" if counted or known.name.endswith("work") else "higher"


def _called(objective: Objective, among: Sequence[Objective]) -> str:
    """An objective's name; with its statistic where others share its name."""
    mine = label(objective.name)
    shared = sum(label(one.name).name == mine.name for one in among) > 1
    return str(mine).replace("log10 of the ", "") if shared else mine.name
