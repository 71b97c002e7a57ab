"""What the pictures share: configurations and axes from the frame, and how each kind of them looks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from gridtune.model.metrics.labels import label
from gridtune.optimize.front.front import Front
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.records.recommendation import Recommendation
from gridtune.optimize.report.frame import BASELINE, DOMINATED, FAILED, INFEASIBLE, ON_FRONT, frame
from gridtune.optimize.report.numbers import NO_BREAK, metric_label, path_label, setting
from gridtune.scenarios.plots.style import BLUE, DARK, GREY, ORANGE
from gridtune.scenarios.results.amounts import counted, human, scale_of

Array = np.ndarray[Any, np.dtype[np.float64]]

LOG_FROM = 30.0  # ratio of the largest to the least value above which an axis is logarithmic
LINE = 18  # letters in a line of an axis's label
WORDS = 4  # of an entry of a legend
GOLDEN = 0.6180339887
BINS = 4  # of a number, by which its effect is measured


def configurations(front: Front) -> pd.DataFrame:
    """All configurations with finite objectives: the brief frame."""
    table = frame(front, brief=True)
    names = [one.name for one in front.objectives]
    finite = np.isfinite(table[names].to_numpy(dtype=float)).all(axis=1)
    found: pd.DataFrame = table.loc[(table["state"] != FAILED).to_numpy() & finite]
    return found


@dataclass(frozen=True)
class Axis:
    """Where configurations lie on an axis.

    Attributes:
        label: what stands beside it.
        at: positions, one for each; nan where a parameter does not exist.
        categories: texts at 0, 1, …, where the values are no numbers; empty otherwise.
        log: whether it is logarithmic.
        falling: whether less is better.
    """

    label: str
    at: Array
    categories: tuple[str, ...] = ()
    log: bool = False
    falling: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """Least and largest position."""
        return float(np.nanmin(self.at)), float(np.nanmax(self.at))

    def shares(self, at: Any) -> Any:
        """Positions in [0, 1], of objectives with the better end up."""
        low, high = self.ends
        if low == high:
            return at * 0.0 + 0.5
        places, low, high = (np.log(one) if self.log else one for one in (at, low, high))
        share = (places - low) / (high - low)
        return 1 - share if self.falling else share

    def apart(self, numbers: Any, width: float) -> Any:
        """Positions; those of one category lie apart over that width, always in the same way, by numbers."""
        return self.at + width * ((numbers * GOLDEN) % 1 - 0.5) if self.categories else self.at

    def view(self, near: Any) -> tuple[float, float]:
        """Limits that show these configurations and their surroundings, whatever the worst are.

        Args:
            near: a truth value for each configuration.
        """
        shown = self.at[np.asarray(near)]
        low, high = float(shown.min()), float(shown.max())
        width = high - low or max(abs(high), 1.0) * 0.1
        around = self.at[(self.at >= low - width) & (self.at <= high + width)]
        low, high = min(low, float(np.quantile(around, 0.02))), max(high, float(np.quantile(around, 0.98)))
        margin = 0.07 * (high - low or width)
        return low - margin, high + margin

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """(position in [0, 1], text): each category, or the ends."""
        if self.categories:
            places = range(len(self.categories))
            return [(float(self.shares(float(k))), self.categories[k]) for k in places]
        return [(float(self.shares(end)), human(end)) for end in dict.fromkeys(self.ends)]


def objective_axis(table: pd.DataFrame, objective: Objective) -> Axis:
    """An objective, in the unit in which people read it, and which way is better."""
    values = np.asarray(table[objective.name], dtype=float)
    size, unit = scale_of(float(np.abs(values).max()), objective.unit, objective.name)
    size, unit = (0.01, "%") if label(objective.name).percent else (size, unit)
    unit = unit.strip() if objective.unit == "s" else f"{unit}{objective.unit}"
    text = metric_label(replace(objective, unit="seconds" if unit == "s" else unit))
    falling = objective.direction == "minimize"
    text = re.sub(r"(?<=,) ", NO_BREAK, f"{text}{NO_BREAK}{'↓' if falling else '↑'}")
    return Axis(text, values / size, falling=falling)


def order_axis(table: pd.DataFrame) -> Axis:
    """The numbers of the configurations."""
    return Axis("number of the configuration", np.asarray(table.index, dtype=float))


def parameter_axis(table: pd.DataFrame, path: str, paths: Sequence[str]) -> Axis:
    """A parameter, logarithmic where it covers orders of magnitude."""

    name, column = path_label(path, paths, LINE), table[path]
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        known = pd.Categorical(column.astype(object).map(setting, na_action="ignore"))
        at = np.where(known.codes < 0, np.nan, known.codes.astype(float))
        return Axis(name, at, tuple(map(str, known.categories)))
    at = column.to_numpy(dtype=float, na_value=np.nan)
    low, high = float(np.nanmin(at)), float(np.nanmax(at))
    return Axis(name, at, log=low > 0 and high / low >= LOG_FROM)


def varied(table: pd.DataFrame, front: Front) -> list[str]:
    """Parameters with more than one value in the table, those that matter most first.

    How much one matters is the share of an objective's variance of ranks between its values (of a number,
    between four groups of equal size), for the objective of which it is most.
    """
    known = dict.fromkeys(path for one in front.archive.evaluations for path in one.values)
    paths = [path for path in known if path in table and table[path].nunique(dropna=True) > 1]
    ranks = table[[one.name for one in front.objectives]].rank()

    def effect(path: str) -> float:
        column = table[path]
        number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
        groups = pd.qcut(column, BINS, labels=False, duplicates="drop") if number else column.astype(str)
        within = ranks.groupby(groups, dropna=False, observed=True).transform("mean")
        return float((within.var() / ranks.var().replace(0.0, 1.0)).max())

    return sorted(paths, key=effect, reverse=True)


def note(front: Front) -> str:
    """What stands below the title of a picture."""
    tried = counted(len(front.archive.evaluations), "configuration")
    return f"{tried}, {len(front.on_front)} on the Pareto front; estimated means"


LOOKS: dict[str, dict[str, Any]] = {
    DOMINATED: {"s": 12, "color": GREY, "alpha": 0.35, "linewidths": 0, "zorder": 2},
    ON_FRONT: {"s": 30, "color": BLUE, "edgecolors": "white", "linewidths": 0.5, "zorder": 4},
    BASELINE: {"s": 90, "color": DARK, "marker": "X", "edgecolors": "white", "linewidths": 0.8, "zorder": 6},
}
LETTERED: dict[str, Any] = {"s": 120, "color": ORANGE, "edgecolors": DARK, "linewidths": 0.8, "zorder": 7}
LEGEND = {DOMINATED: "dominated", ON_FRONT: "Pareto front", BASELINE: "baseline"}


def marked(table: pd.DataFrame) -> pd.Series[bool]:
    """Whether each configuration is on the front, recommended or the baseline."""
    return table["on_front"].astype(bool) | table["name"].str.isalpha()


def shown_states(table: pd.DataFrame) -> pd.Series[str]:
    """What each configuration is drawn as."""
    return table["state"].astype(str).replace({INFEASIBLE: DOMINATED})


def letter(axes: Axes, name: str, x: float, y: float) -> None:
    """The mark of a recommendation."""
    axes.scatter([x], [y], **LETTERED)
    axes.annotate(name, (x, y), ha="center", va="center_baseline", size=7.5, weight="bold", zorder=8)


def scatter(axes: Axes, table: pd.DataFrame, x: Array, y: Array) -> None:
    """All configurations, each as what it is: dominated ones faint, recommendations with their letters."""
    state = shown_states(table)
    for kind, look in LOOKS.items():
        of = (state == kind).to_numpy()
        axes.scatter(x[of], y[of], rasterized=bool(of.sum() > 2000), **look)
    for at, name in enumerate(table["name"]):
        if name.isalpha() and name != BASELINE and x[at] == x[at]:
            letter(axes, name, x[at], y[at])


def handles(front: Front, table: pd.DataFrame) -> list[Artist]:
    """The legend of `scatter`."""
    state = set(shown_states(table))
    looks = [(LEGEND[kind], LOOKS[kind]) for kind in LOOKS if kind in state]
    looks += [(named(one), LETTERED) for one in front.archive.recommendations]
    made: list[Artist] = [
        Line2D(
            [], [], linestyle="none", label=text, marker=look.get("marker", "o"), markersize=look["s"] ** 0.5,
            color=look["color"], alpha=look.get("alpha"), markeredgecolor=look.get("edgecolors", "none"),
        )
        for text, look in looks
    ]  # fmt: skip
    return made


def named(one: Recommendation) -> str:
    """A recommendation in a legend, in four words at most."""
    return f"{one.letter}: {one.title}" if len(one.title.split()) < WORDS else f"recommendation {one.letter}"
