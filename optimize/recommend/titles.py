"""What a recommendation is called: by the objectives that it is best in, or that it improves."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gridtune.model.metrics.labels import label
from gridtune.optimize.records.evaluations import Objective


def title_of(
    chosen: Sequence[Objective],
    gained: Collection[Objective],
    unrivalled: Collection[Objective],
    among: Sequence[Objective],
    *,
    compromise: bool = False,
) -> str:
    """A title without superlatives that another configuration would deserve; at least what is better.

    Args:
        chosen: objectives for whose sake it was chosen.
        gained: objectives that are better than in the baseline.
        unrivalled: objectives in which no configuration on the front is better.
        among: all objectives.
        compromise: whether it was chosen as the compromise.
    """
    told = [one for one in chosen if one in gained]
    best = [f"{_ways(one)[1]} {_called(one, among)}" for one in told if one in unrivalled]
    rest = [one for one in told if one not in unrivalled] or ([] if best or compromise else gained)
    better = [" and ".join(f"{_ways(one)[0]} {_called(one, among)}" for one in rest)] if rest else []
    return ", ".join([*best, *better, *["compromise"] * compromise])


def _ways(objective: Objective) -> tuple[str, str]:
    """What a better and the best value are called: fewer and fewest users, more and most work."""
    known, least = label(objective.name), objective.direction == "minimize"
    counted = objective.unit not in ("", "s") or (known.percent and known.name.endswith("s"))
    if least:
        return ("fewer", "fewest") if counted else ("lower", "lowest")
    return ("more", "most") if counted or known.name.endswith("work") else ("higher", "highest")


def _called(objective: Objective, among: Sequence[Objective]) -> str:
    """An objective's name; with its statistic where others share its name."""
    mine = label(objective.name)
    shared = sum(label(one.name).name == mine.name for one in among) > 1
    return str(mine).replace("log10 of the ", "") if shared else mine.name
