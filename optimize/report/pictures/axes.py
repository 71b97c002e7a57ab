"""What pictures and page share: the configurations that are drawn, and where they lie on axes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from gridtune.optimize.front.front import Front
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.replication.compare import Array
from gridtune.optimize.report.frame import DOMINATED, FAILED, INFEASIBLE, frame
from gridtune.optimize.report.numbers import NO_BREAK, path_label, setting
from gridtune.optimize.report.recommended import changed_values
from gridtune.scenarios.plots.style import labelled, scaled
from gridtune.scenarios.results.amounts import human

LOG_FROM = 30.0  # ratio of the largest to the least value above which an axis is logarithmic
LINE = 18  # letters in a line of an axis's label
GOLDEN = 0.6180339887
BINS = 4  # of a number, by which its effect is measured
PARAMETERS = 9  # axes of parameters in the parallel coordinates of a page at most


def configurations(front: Front) -> pd.DataFrame:
    """The frame of all configurations that could be evaluated."""
    table = frame(front, metrics=False)
    return table.loc[table["state"] != FAILED]


def marked(table: pd.DataFrame) -> pd.Series[bool]:
    """Whether each configuration is on the front, recommended or the baseline."""
    return table["on_front"].astype(bool) | table["name"].str.isalpha()


def shown_states(table: pd.DataFrame) -> pd.Series[str]:
    """What each configuration is drawn as."""
    return table["state"].astype(str).replace({INFEASIBLE: DOMINATED})


@dataclass(frozen=True)
class Axis:
    """Where configurations lie on an axis."""

    label: str
    at: Array  # positions, one for each configuration; nan where a parameter does not exist
    categories: tuple[str, ...] = ()  # texts at 0, 1, …, where the values are no numbers
    log: bool = False
    falling: bool = False  # whether less is better

    @classmethod
    def of_objective(cls, table: pd.DataFrame, objective: Objective) -> Axis:
        """An objective, in the unit in which people read it, and which way is better."""
        values = np.asarray(table[objective.name], dtype=float)
        size, unit = scaled(objective.name, float(np.abs(values).max()), objective.unit)
        text = labelled(objective.name, "seconds" if unit == "s" else unit)
        falling = objective.direction == "minimize"
        text = re.sub(r"(?<=,) ", NO_BREAK, f"{text}{NO_BREAK}{'↓' if falling else '↑'}")
        return cls(text, values / size, falling=falling)

    @classmethod
    def of_order(cls, table: pd.DataFrame) -> Axis:
        """The numbers of the configurations."""
        return cls("number of the configuration", np.asarray(table.index, dtype=float))

    @classmethod
    def of_parameter(cls, table: pd.DataFrame, path: str, paths: Sequence[str]) -> Axis:
        """A parameter, logarithmic where it covers orders of magnitude."""
        name, column = path_label(path, paths, LINE), table[path]
        if not _numeric(column):
            codes, texts = pd.factorize(column.astype(object).map(setting, na_action="ignore"), sort=True)
            return cls(name, np.where(codes < 0, np.nan, codes.astype(float)), tuple(map(str, texts)))
        at = _limited(column)
        if np.isinf(column.to_numpy(dtype=float, na_value=np.nan)).any():
            name = f"{name} (none: at the end)"
        low, high = np.nanmin(at), np.nanmax(at)
        return cls(name, at, log=bool(low > 0 and high / low >= LOG_FROM))

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
        """Limits that show these configurations (or all, if none) and their surroundings, not the worst."""
        shown = self.at[np.asarray(near)] if any(near) else self.at
        low, high = float(shown.min()), float(shown.max())
        width = high - low or max(abs(high), 1.0) * 0.1
        around = self.at[(self.at >= low - width) & (self.at <= high + width)]
        low, high = min(low, float(np.quantile(around, 0.02))), max(high, float(np.quantile(around, 0.98)))
        margin = 0.07 * (high - low or width)
        return low - margin, high + margin

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """(position in [0, 1], text): each category, or the ends."""
        texts: dict[float, str] = dict(enumerate(self.categories)) or {end: human(end) for end in self.ends}
        return [(float(self.shares(at)), text) for at, text in texts.items()]


def varied(table: pd.DataFrame, front: Front) -> list[str]:
    """Parameters with more than one value in the table, those that matter most first.

    That is the largest share of an objective's variance of ranks between its values, of numbers in `BINS`.
    """
    known = dict.fromkeys(path for one in front.archive.evaluations for path in one.values)
    paths = [path for path in known if path in table and table[path].nunique() > 1]
    ranks = table[[one.name for one in front.objectives]].rank()

    def effect(path: str) -> float:
        groups = table[path].astype(str)
        if _numeric(table[path]):
            numbers = pd.Series(_limited(table[path]), table.index)
            groups = pd.qcut(numbers, BINS, labels=False, duplicates="drop")
        within = ranks.groupby(groups, dropna=False, observed=True).transform("mean")
        return float((within.var() / ranks.var()).max())

    return sorted(paths, key=effect, reverse=True)


def _limited(column: pd.Series[Any]) -> Array:
    """Numbers; what has no limit is as the largest that has one."""
    at = column.to_numpy(dtype=float, na_value=np.nan)
    finite = at[np.isfinite(at)]
    return np.where(np.isinf(at), finite.max(initial=-np.inf) if len(finite) else 0.0, at)


def _numeric(column: pd.Series[Any]) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def page_data(front: Front) -> dict[str, Any]:
    """What the pictures of a page draw: columns of all configurations, in the order of the frame."""
    table = configurations(front)
    paths = varied(table, front)
    chosen = marked(table)
    differ = [path for path in paths if table.loc[chosen, path].astype(object).nunique(dropna=False) > 1]
    objectives = [Axis.of_objective(table, one) for one in front.objectives]
    axes = [Axis.of_parameter(table, path, paths) for path in reversed(differ[:PARAMETERS])]
    places = Axis("order of the front", np.arange(len(table), dtype=float), falling=True)
    known = {one.number: changed_values(front, one.values) for one in front.archive.evaluations}
    return {
        "names": table["name"].tolist(),
        "states": shown_states(table).tolist(),
        "chosen": chosen.astype(int).tolist(),
        "places": _axis(places, places.at) | {"view": places.view(chosen)},
        "objectives": [_axis(one, one.at) | {"view": one.view(chosen)} for one in objectives],
        "parameters": [_axis(one, one.shares(one.at)) for one in axes],
        "settings": ["\n".join(f"{c.path} {setting(c.after)}" for c in known[at]) for at in table.index],
    }


def _axis(axis: Axis, at: Any) -> dict[str, Any]:
    return {
        "label": axis.label.replace("\n", "") + (" (log)" if axis.log else ""),
        "at": [_short(one) for one in at.tolist()],
        "down": axis.falling,
        "ticks": [[_short(place), text] for place, text in axis.ticks],
    }


def _short(value: float) -> float | None:
    return float(f"{value:.5g}") if value == value else None
