"""What the pictures of a front share: points as arrays, axes of parameters, the recommended points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log10
from typing import TYPE_CHECKING, Any

from gridtune.optimize.front.against_today import gains, todays
from gridtune.optimize.front.front import Front, Member, comparable
from gridtune.optimize.front.number_format import cell, plain
from gridtune.optimize.front.recommendations import Recommendation, recommend
from gridtune.optimize.records.evaluations import Evaluation, Objective, Value
from gridtune.scenarios.plots.style import BLUE, GREY, ORANGE, labelled

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes

    Array = np.ndarray[Any, np.dtype[np.float64]]

LOG_FROM = 30.0  # ratio of the largest to the least value above which an axis is logarithmic


def objective_label(objective: Objective) -> str:
    """An axis label with the unit and an arrow towards the better side."""
    arrow = "↓" if objective.direction == "minimize" else "↑"
    return f"{labelled(objective.name, objective.unit)} {arrow}"


ON_FRONT, BEATEN = "on the front", "not kept on fresh seeds"
BROKEN = "breaks a constraint on fresh seeds"


def worths(front: Front, evaluations: Sequence[Evaluation], objective: Objective) -> Array:
    """What points are worth in an objective, in its unit: all on one level, as far as runs allow."""
    import numpy as np

    found = [
        front.value(one.number, objective)
        if one.number in front.worth
        else one.objectives[objective.name].mean
        for one in evaluations
    ]
    return np.array(found, dtype=float)


def bars(front: Front, members: Sequence[Member], objective: Objective) -> Array:
    """How far bars reach: half the 95 % interval of the difference to today's setting, 0 where unknown.

    In a search that does not know today's setting it is the standard error of the mean.
    """
    import numpy as np

    if todays(front) is None:
        found = [member.estimates[objective.name].standard_error or 0.0 for member in members]
    else:
        found = []
        for member in members:
            gaps = [one.difference for one in gains(front, member.evaluation) if one.metric == objective]
            found.append(sum((gap.high or 0.0) - (gap.low or 0.0) for gap in gaps) / 2)
    return np.array(found, dtype=float)


def searched(front: Front) -> list[Evaluation]:
    """All points that the search could rank."""
    return comparable(front.archive)


def marked(front: Front) -> list[tuple[Member, str]]:
    """The recommended points, each once, with the names of all recommendations it has."""
    named: dict[int, tuple[Member, list[str]]] = {}
    for item in recommend(front):
        named.setdefault(item.member.evaluation.number, (item.member, []))[1].append(_short(item))
    return [(member, ", ".join(names)) for member, names in named.values()]


def _short(item: Recommendation) -> str:
    return item.name.replace("_", " ")


@dataclass(frozen=True)
class ParameterAxis:
    """How the values of a parameter lie on an axis.

    Attributes:
        path: of the parameter.
        categories: texts in their order, if the values are no numbers; empty otherwise.
        log: whether the axis is logarithmic.
        low, high: least and largest position.
    """

    path: str
    categories: tuple[str, ...]
    log: bool
    low: float
    high: float

    def position(self, value: Value | None) -> float:
        """Where a value lies: an index for a category, the number itself else; nan where inactive."""
        if value is None:
            return float("nan")
        if self.categories:
            return float(self.categories.index(cell(value)))
        return min(max(float(value), self.low), self.high)

    def share(self, value: Value | None) -> float:
        """Where a value lies in [0, 1]; nan where inactive."""
        return self._scaled(self.position(value))

    def _scaled(self, at: float) -> float:
        if self.low == self.high:
            return at * 0 + 0.5
        if self.log:
            return (log10(at) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return (at - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """(position in [0, 1], text): each category, or the two ends and a middle."""
        if self.categories:
            last = max(len(self.categories) - 1, 1)
            return [
                (0.5 if len(self.categories) == 1 else k / last, name)
                for k, name in enumerate(self.categories)
            ]
        if self.low == self.high:
            return [(0.5, plain(self.low))]
        middle = (self.low * self.high) ** 0.5 if self.log else (self.low + self.high) / 2
        return [(0.0, plain(self.low)), (0.5, f"{middle:.3g}"), (1.0, plain(self.high))]


def parameter_axis(path: str, values: Sequence[Value]) -> ParameterAxis:
    """The axis of a parameter from the values that occur."""
    numbers = [float(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) < len(values) or not values:
        names = tuple(sorted({cell(value) for value in values}))
        return ParameterAxis(path, names, False, 0.0, float(max(len(names) - 1, 0)))
    finite = [number for number in numbers if isfinite(number)] or [0.0]
    low, high = min(finite), max(finite)
    return ParameterAxis(path, (), low > 0 and high / low >= LOG_FROM, low, high)


def parameter_axes(evaluations: Sequence[Evaluation]) -> list[ParameterAxis]:
    """An axis for every parameter that takes more than one value; all of them if none does."""
    paths = list(dict.fromkeys(path for e in evaluations for path in e.values))
    axes = [parameter_axis(path, [e.values[path] for e in evaluations if path in e.values]) for path in paths]
    return [axis for axis in axes if axis.low < axis.high] or axes


def short_path(path: str, paths: Sequence[str]) -> str:
    """The end of a dotted path that tells it from the others, on two lines if long."""
    parts = path.split(".")
    least = 2 if parts[-1] == "kind" else 1  # of what?
    for length in range(min(least, len(parts)), len(parts) + 1):
        tail = ".".join(parts[-length:])
        if sum(other == tail or other.endswith(f".{tail}") for other in paths) == 1:
            break
    head, dot, last = tail.rpartition(".")
    return f"{head}{dot}\n{last}" if len(tail) > 14 and head else tail


def note(front: Front) -> str:
    """What stands below the title of a picture of a front."""
    archive = front.archive
    seeds = "values on fresh seeds" if front.validated else "values as searched, not validated"
    return f"{len(archive.evaluations)} evaluations, {archive.each}; front: {seeds}"


def standing(member: Member) -> str:
    """What became of a member on fresh seeds, in words."""
    if member.non_dominated:
        return ON_FRONT
    return BEATEN if member.feasible else BROKEN


def draw_cloud(axes: Axes, x: Array, y: Array) -> None:
    """Searched points in the background."""
    size = 14 if len(x) <= 500 else 7
    axes.scatter(x, y, s=size, color=GREY, alpha=0.35, linewidths=0, zorder=2, rasterized=len(x) > 2000)


def draw_members(
    axes: Axes,
    x: Array,
    y: Array,
    kept: Sequence[bool],
    reach: tuple[Array | None, Array | None] = (None, None),
) -> None:
    """Members on top: filled and with bars if they stay non-dominated, hollow if not."""
    import numpy as np

    stays = np.array(kept, dtype=bool)
    xerr, yerr = (None if one is None else one[stays] for one in reach)
    axes.errorbar(
        x[stays], y[stays], xerr=xerr, yerr=yerr, fmt="none", ecolor=BLUE, elinewidth=0.8, alpha=0.7, zorder=5
    )
    axes.scatter(x[~stays], y[~stays], s=22, facecolors="white", edgecolors=BLUE, linewidths=0.9, zorder=4)
    axes.scatter(x[stays], y[stays], s=26, color=BLUE, edgecolors="white", linewidths=0.5, zorder=5)


MARKS = (("*", ORANGE, 150), ("D", ORANGE, 46), ("^", ORANGE, 58), ("v", ORANGE, 58), ("s", ORANGE, 46))


def draw_mark(axes: Axes, x: float, y: float, rank: int) -> None:
    """The sign of the recommendation of that rank."""
    marker, colour, size = MARKS[rank % len(MARKS)]
    axes.scatter([x], [y], marker=marker, s=size, color=colour, edgecolors="black", linewidths=0.8, zorder=7)


def view(cloud: Array, front: Array, reach: Array) -> tuple[float, float]:
    """Limits of an axis that show the front and its surroundings, whatever the worst points are."""
    import numpy as np

    low, high = float((front - reach).min()), float((front + reach).max())
    span = high - low or max(abs(high), 1.0) * 0.1
    near = cloud[(cloud >= low - 1.5 * span) & (cloud <= high + 1.5 * span)]
    if len(near):
        low, high = min(low, float(np.quantile(near, 0.02))), max(high, float(np.quantile(near, 0.98)))
    margin = 0.06 * (high - low or span)
    return low - margin, high + margin
