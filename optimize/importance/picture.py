"""Which parameters matter for which objective: a panel per objective, the parameters ranked."""

from __future__ import annotations

from textwrap import fill

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from gridtune.optimize.importance.sensitivity import METHODS, Method, Ranking, Sensitivity
from gridtune.optimize.report.numbers import metric_label, path_label
from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.style import BLUE, DARK, ORANGE

LABELS = {
    "importance": "importance, 95 % interval",
    "mu_star": "μ*: mean size of the effect, 95 % interval",
    "sigma": "σ: how much the effect varies",
    "ST": "total share, with all interactions, 95 % interval",
    "S1": "share alone, 95 % interval",
}


def draw_sensitivity(sensitivity: Sensitivity) -> Figure:
    """Bars from zero with 95 % intervals, the parameter that matters most on top.

    Morris: μ* as bars, σ as diamonds. Sobol: the total share as bars, the share alone as diamonds.
    """
    method, rankings = METHODS[sensitivity.method], sensitivity.rankings
    basis = "Importances" if sensitivity.method == "importance" else sensitivity.method.capitalize()
    across = min(2, len(rankings))
    rows = -(-len(rankings) // across)
    most = max(2, *(len(ranking.effects) for ranking in rankings))
    with style.style():
        drawing = style.figure(max(6.8, 5.0 * across), max(1.6, 0.9 + 0.36 * most) * rows + 1.3)
        panels = drawing.subplots(rows, across, squeeze=False).ravel()
        for axes in panels[len(rankings) :]:
            axes.set_visible(False)
        for axes, ranking in zip(panels, rankings, strict=False):
            axes.set_title(metric_label(ranking.objective))
            if len(ranking.effects):
                _draw_panel(axes, ranking, method)
            else:
                axes.set_axis_off()
                why = fill(ranking.reason, 40)
                axes.text(0.5, 0.5, why, ha="center", va="center", transform=axes.transAxes)
        shown = [axes.get_legend_handles_labels() for axes in panels]
        handles, labels = max(shown, key=lambda one: len(one[0]))
        if handles:
            drawing.legend(handles, labels, loc="outside lower center", ncols=len(handles))
        title = f"{sensitivity.subject}: which parameters matter"
        style.title(drawing, title, f"{basis}: {sensitivity.basis()}")
    return drawing


def _draw_panel(axes: Axes, ranking: Ranking, method: Method) -> None:
    effects = ranking.effects
    known = effects[effects["active"] > 0]
    main, other = method.main, next((name for name in method.columns[1:] if name in LABELS), None)
    axes.barh(
        known.index, known[main], xerr=_bars(known, main), height=0.62, color=BLUE, alpha=0.85,
        error_kw={"ecolor": DARK, "elinewidth": 1.0, "capsize": 2.5}, label=LABELS[main],
    )  # fmt: skip
    if other is not None:
        axes.errorbar(
            known[other], known.index + 0.19,
            xerr=_bars(known, other) if f"{other}_conf" in known else None,
            fmt="D", color=ORANGE, markeredgecolor="black", markeredgewidth=0.6, markersize=5,
            capsize=2.0, elinewidth=0.8, label=LABELS[other],
        )  # fmt: skip
    for k in effects.index.difference(known.index):
        axes.annotate("never active", (0, k), (4, 0), textcoords="offset points", va="center", fontsize=8)
    paths = effects["path"].tolist()
    axes.set_yticks(range(len(effects)), [path_label(path, paths, width=28) for path in paths])
    axes.set_ylim(len(effects) - 0.4, -0.6)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.grid(axis="y", visible=False)
    axes.axvline(0.0, color=DARK, linewidth=0.8)
    unit = ranking.objective.unit if method.unit_of_objective else ""
    axes.set_xlabel(f"{method.title} ({unit})" if unit else method.title)


def _bars(known: pd.DataFrame, name: str) -> list[pd.Series]:
    """How far the intervals reach to the left and right; what cannot be negative ends at zero."""
    halves = known[f"{name}_conf"]
    signed = name == "S1"  # an estimate that may fall below zero
    return [halves if signed else halves.clip(upper=known[name]), halves]
