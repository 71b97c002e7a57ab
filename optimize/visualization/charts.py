"""The linked charts of the page of a front: scatter matrix, parallel coordinates, bars of parameters.

Fields have plain names (`o0` for the first objective, `p0` for the first parameter), because dots and
brackets of dotted paths have a meaning of their own in Vega-Lite.
"""

from __future__ import annotations

import warnings
from itertools import combinations
from math import log10
from typing import TYPE_CHECKING, Any

from gridtune.optimize.front.export import parameters
from gridtune.optimize.front.front import Front
from gridtune.optimize.front.number_format import cell, estimated, plain
from gridtune.optimize.records.evaluations import Value
from gridtune.optimize.visualization.points import (
    BEATEN,
    BROKEN,
    ON_FRONT,
    errors,
    marked,
    means,
    objective_label,
    parameter_axes,
    searched,
    short_path,
    standing,
    view,
)
from gridtune.scenarios.plots.style import BLUE, GREY, ORANGE

if TYPE_CHECKING:
    import altair as alt

CLOUD = 2000  # searched points in the background at most
BARS_ACROSS = 4
LOG = "log_"  # begins the name of a field of logarithms


def linked_charts(front: Front) -> dict[str, Any]:
    """Vega-Lite specification of all charts, data included.

    Args:
        front: with at least one member.
    """
    import altair as alt

    brush = alt.selection_interval(name="brush", resolve="global")
    members = _member_rows(front)
    lines, texts, order = _parallel_rows(front, members)
    with warnings.catch_warnings():
        # The panels share one brush on purpose.
        warnings.filterwarnings("ignore", "Automatically deduplicated selection parameter")
        parts: list[Any] = [
            _scatter_matrix(front, brush),
            _parallel(front, order, brush),
            *_bars(front, brush),
        ]
        whole = alt.vconcat(*parts, spacing=34)
    whole = whole.configure_view(stroke="#DDDDDD").configure_axis(
        gridColor="#EEEEEE", titleFontWeight="normal"
    )
    datasets = {"members": members, "cloud": _cloud_rows(front), "lines": lines, "texts": texts}
    return dict(whole.to_dict()) | {"datasets": datasets}


def _member_rows(front: Front) -> list[dict[str, Any]]:
    names = {member.evaluation.number: name for member, name in marked(front)}
    paths = parameters(front)
    axes = parameter_axes([member.evaluation for member in front.members])
    rows = []
    for member in front.members:
        evaluation = member.evaluation
        row: dict[str, Any] = {
            "number": evaluation.number,
            "kept": standing(member),
            "chosen": names.get(evaluation.number),
            "probability": member.probability_non_dominated,
        }
        for k, objective in enumerate(front.objectives):
            estimate = member.estimates[objective.name]
            error = estimate.standard_error or 0.0
            row |= {f"o{k}": estimate.mean, f"l{k}": estimate.mean - error, f"h{k}": estimate.mean + error}
            row[f"t{k}"] = estimated(estimate)
        row |= {f"p{k}": _shown(evaluation.values.get(path)) for k, path in enumerate(paths)}
        for axis in axes:
            value = evaluation.values.get(axis.path)
            if axis.log and value is not None:
                row[f"{LOG}p{paths.index(axis.path)}"] = log10(float(value))
        rows.append(row)
    return rows


def _shown(value: Value | None) -> int | float | str | None:
    """A parameter's value as data: truth values as words."""
    return cell(value) if isinstance(value, bool) else value


def _cloud_rows(front: Front) -> list[dict[str, Any]]:
    points = searched(front)
    step = max(1, -(-len(points) // CLOUD))
    return [
        {"number": point.number}
        | {f"o{k}": float(f"{point.objectives[o.name].mean:.6g}") for k, o in enumerate(front.objectives)}
        for point in points[::step]
    ]


def _tooltip(front: Front) -> list[Any]:
    import altair as alt

    shown = [alt.Tooltip("number:Q", title="number"), alt.Tooltip("chosen:N", title="recommended as")]
    shown += [alt.Tooltip(f"t{k}:N", title=objective_label(o)) for k, o in enumerate(front.objectives)]
    shown.append(alt.Tooltip("probability:Q", title="P(non-dominated)", format=".2f"))
    return shown + [alt.Tooltip(f"p{k}:N", title=path) for k, path in enumerate(parameters(front))]


def _data(name: str) -> alt.Chart:
    """A chart of a data set that all charts of the page share by its name."""
    import altair as alt

    return alt.Chart(alt.NamedData(name=name))


def _scatter_matrix(front: Front, brush: alt.Parameter) -> alt.VConcatChart:
    import altair as alt

    count = len(front.objectives)
    if count == 1:
        return alt.vconcat(_panel(front, brush, None, 0, 520))
    side = 330 if count == 2 else max(150, 640 // (count - 1))
    rows: list[list[Any]] = [[] for _ in range(count - 1)]
    for across, up in combinations(range(count), 2):
        rows[up - 1].append(_panel(front, brush, across, up, side))
    return alt.vconcat(*(alt.hconcat(*row) for row in rows))


def _panel(front: Front, brush: alt.Parameter, across: int | None, up: int, side: int) -> Any:
    """One pair of objectives; `across` None stands for the number of the evaluation."""
    import altair as alt

    y = alt.Y(f"o{up}:Q", title=objective_label(front.objectives[up]), scale=_scale(front, up))
    if across is None:
        x = alt.X("number:Q", title="number of the evaluation")
    else:
        x = alt.X(
            f"o{across}:Q", title=objective_label(front.objectives[across]), scale=_scale(front, across)
        )
    size = {"width": side, "height": min(side, 330)}
    behind = _data("cloud").mark_circle(size=14, color=GREY, opacity=0.3, clip=True).encode(x, y)
    ahead = _data("members")
    bars = [
        ahead.mark_rule(color=BLUE, opacity=0.4, clip=True).encode(x, alt.Y(f"l{up}:Q"), alt.Y2(f"h{up}:Q"))
    ]
    if across is not None:
        bars.append(
            ahead.mark_rule(color=BLUE, opacity=0.4, clip=True).encode(
                alt.X(f"l{across}:Q"), y, x2=f"h{across}:Q"
            )
        )
    points = (
        ahead.mark_point(filled=True, size=55, strokeWidth=1.2, opacity=1)
        .encode(
            x,
            y,
            fill=alt.condition(
                brush,
                alt.Fill("kept:N", scale=_kept_scale(), legend=None),
                alt.value("#D5DCE4"),
            ),
            stroke=alt.condition(brush, alt.value(BLUE), alt.value("#C3CBD4")),
            tooltip=_tooltip(front),
        )
        .add_params(brush)
    )
    stars = (
        ahead.transform_filter("datum.chosen != null")
        .mark_point(filled=True, shape="diamond", size=150, stroke="black", strokeWidth=0.8, opacity=1)
        .encode(x, y, fill=alt.value(ORANGE), tooltip=_tooltip(front))
    )
    return alt.layer(behind, *bars, points, stars).properties(**size)


def _kept_scale() -> alt.Scale:
    import altair as alt

    return alt.Scale(domain=[ON_FRONT, BEATEN, BROKEN], range=[BLUE, "white", "white"])


def _scale(front: Front, k: int) -> alt.Scale:
    """An axis that shows the front and its surroundings."""
    import altair as alt

    name = front.objectives[k].name
    rows = [member.estimates for member in front.members]
    cloud = means([evaluation.objectives for evaluation in searched(front)], name)
    low, high = view(cloud, means(rows, name), errors(rows, name))
    return alt.Scale(domain=[low, high], nice=False, zero=False)


def _parallel(front: Front, order: list[str], brush: alt.Parameter) -> Any:
    import altair as alt

    x = alt.X(
        "axis:N", sort=order, title=None, axis=alt.Axis(labelAngle=0, domain=False, ticks=False, grid=True)
    )
    y = alt.Y("at:Q", axis=None, scale=alt.Scale(domain=[-0.08, 1.08]))
    base = _data("lines").encode(x, y, detail="number:N", tooltip=_tooltip(front))
    chosen = alt.condition("datum.chosen != null", alt.value(ORANGE), alt.value(BLUE))
    look = {"color": chosen, "opacity": alt.condition(brush, alt.value(0.75), alt.value(0.06))}
    paths = base.mark_line(strokeWidth=1.4, invalid="break-paths-show-domains").encode(**look)
    dots = base.mark_circle(size=26, invalid="filter").encode(**look)
    scale = (
        _data("texts").mark_text(align="left", dx=5, fontSize=10, color="#444444").encode(x, y, text="text:N")
    )
    title = alt.TitleParams(
        "Settings and outcomes (a line per point; up is better for objectives; gaps are inactive parameters)",
        anchor="start",
        fontWeight="normal",
        fontSize=12,
    )
    return alt.layer(paths, dots, scale).properties(width=max(640, 88 * len(order)), height=260, title=title)


def _parallel_rows(
    front: Front, members: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[str]]:
    """Rows of lines and of texts, and the names of the axes in their order."""
    paths = parameters(front)
    facts = {row["number"]: row for row in members}
    lines: list[dict[str, Any]] = []
    texts: list[dict[str, Any]] = []
    order: list[str] = []

    def add(name: str, heights: list[float], ticks: list[tuple[float, str]]) -> None:
        order.append(name)
        for member, height in zip(front.members, heights, strict=True):
            row = facts[member.evaluation.number]
            lines.append(row | {"axis": name, "at": height if height == height else None})
        texts.extend({"axis": name, "at": at, "text": text} for at, text in ticks)

    for axis in parameter_axes([member.evaluation for member in front.members]):
        name = short_path(axis.path, paths).replace("\n", "") + (" (log)" if axis.log else "")
        add(
            name,
            [axis.share(member.evaluation.values.get(axis.path)) for member in front.members],
            axis.ticks,
        )
    for objective in front.objectives:
        values = [member.estimates[objective.name].mean for member in front.members]
        worst, best = max(values), min(values)
        if objective.direction == "maximize":
            worst, best = best, worst
        span = best - worst
        heights = [(value - worst) / span if span else 0.5 for value in values]
        ends = [(0.0, plain(worst)), (1.0, plain(best))] if span else [(0.5, plain(best))]
        add(objective_label(objective), heights, ends)
    return lines, texts, order


def _bars(front: Front, brush: alt.Parameter) -> list[alt.ConcatChart]:
    """How the brushed points spread over each parameter; nothing without any parameter."""
    import altair as alt

    paths = parameters(front)
    axes = [axis for axis in parameter_axes([m.evaluation for m in front.members]) if axis.path in paths]
    panels = []
    for axis in axes:
        field = f"p{paths.index(axis.path)}"
        label = short_path(axis.path, paths).replace("\n", "")
        every = _data("members").transform_filter(f"datum.{field} != null")
        if axis.categories:
            x = alt.X(f"{field}:N", title=label, axis=alt.Axis(labelAngle=0), sort=list(axis.categories))
        elif axis.log:
            x = alt.X(f"{LOG}{field}:Q", bin=alt.Bin(maxbins=12), title=f"log10 {label}")
        else:
            x = alt.X(f"{field}:Q", bin=alt.Bin(maxbins=12), title=label)
        count = alt.Y("count():Q", title="points", axis=alt.Axis(tickMinStep=1))
        back = every.mark_bar(color="#D5DCE4").encode(x, count)
        fore = every.transform_filter(brush).mark_bar(color=BLUE).encode(x, count)
        panels.append(alt.layer(back, fore).properties(width=150, height=110))
    return [alt.concat(*panels, columns=BARS_ACROSS)] if panels else []
