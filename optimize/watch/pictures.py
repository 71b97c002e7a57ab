"""The pictures of the live view, drawn anew after each step."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from gridtune.model.metrics.registry import METRICS
from gridtune.optimize.watch.occupancy import HELD, occupancy
from gridtune.scenarios.plots.style import BLUE, COLOURS, DARK, GREY, RED, labelled, style, time_axis
from gridtune.scenarios.simulation.grid_model import GridModel

SIZE = (7.0, 4.3)  # inches
BARS = 60  # users that are shown one by one


def sites(model: GridModel) -> Figure:
    """Slots and queues of all sites and servers as they fill."""
    places = occupancy(model)
    kinds = list(dict.fromkeys(job.kind for job in model.record.jobs))
    colours = {kind: COLOURS[k % len(COLOURS)] for k, kind in enumerate(kinds)} | {HELD: GREY}
    with style():
        drawing = _figure(left=0.17)
        queues, slots = drawing.subplots(1, 2, sharey=True, width_ratios=(2, 3))
        rows = range(len(places))
        queues.barh(rows, [place.waiting for place in places], color=DARK, height=0.7)
        queues.set_xlim(max([5, *(place.waiting for place in places)]) * 1.05, 0)
        queues.set_yticks(rows, [place.name for place in places], fontsize=8)
        queues.set_xlabel("jobs waiting")
        queues.invert_yaxis()
        held = [0] * len(places)
        for kind in (*kinds, HELD):
            part = [place.running[kind] for place in places]
            if any(part):
                slots.barh(rows, part, left=held, color=colours[kind], height=0.7, label=kind)
                held = [before + more for before, more in zip(held, part, strict=True)]
        slots.barh(rows, [place.slots for place in places], fill=False, edgecolor=DARK, height=0.7, lw=0.8)
        slots.set_xlim(0, max([1, *(place.slots for place in places)]) * 1.03)
        for axes in (queues, slots):
            axes.xaxis.get_major_locator().set_params(integer=True)
        slots.set_xlabel("slots, and the jobs that hold them")
        slots.tick_params(left=False)
        own = [(count, place.slots) for count, place in zip(held, places, strict=True) if not place.leased]
        taken, there = (sum(column) for column in zip(*own, strict=True)) if own else (0, 0)
        _title(drawing, f"Sites: {taken} of {there} slots held")
        if any(held):
            drawing.legend(loc="upper right", ncols=4, fontsize=8)
    return drawing


def users(model: GridModel) -> Figure:
    """Satisfaction of all users; those whose mandatory work failed in another colour."""
    outcomes = model.users
    known = sorted(
        (user.satisfaction, user.unhappy, name) for name, user in outcomes.items() if user.deserved > 0
    )
    unhappy = sum(user.unhappy for user in outcomes.values())
    with style():
        drawing = _figure()
        axes = drawing.subplots()
        if len(known) <= BARS:
            colours = [RED if sad else BLUE for _, sad, _ in known]
            axes.bar(range(len(known)), [value for value, _, _ in known], color=colours, width=0.8)
            labels = [name for _, _, name in known] if len(known) <= 15 else [""] * len(known)
            axes.set_xticks(range(len(known)), labels, rotation=30, ha="right", fontsize=8)
            axes.grid(visible=False, axis="x")
            axes.axhline(1.0, color=DARK, lw=0.8, ls="--")
            axes.set_ylabel("satisfaction (allocated / deserved)")
            axes.set_ylim(0, max([1.1, *(value for value, _, _ in known)]) * 1.02)
        else:
            top = max(1.2, known[int(0.99 * len(known))][0])
            groups = [
                [min(value, top) for value, sad, _ in known if sad is failed] for failed in (False, True)
            ]
            axes.hist(groups, bins=30, range=(0, top), stacked=True, color=[BLUE, RED])
            axes.axvline(1.0, color=DARK, lw=0.8, ls="--")
            axes.set_xlabel("satisfaction (allocated / deserved)")
            axes.set_ylabel("users")
        _title(drawing, f"Users: {len(outcomes)} so far, {unhappy} of them unhappy (red)")
    return drawing


def objectives(model: GridModel, names: Sequence[str]) -> Figure:
    """Objectives over time, one below the other."""
    rows = model.datacollector.model_vars
    with style():
        drawing = _figure()
        drawing.subplots_adjust(top=0.94, hspace=0.2 + 0.2 * len(names))
        for axes, name in zip(
            drawing.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0], names, strict=True
        ):
            better = "less" if METRICS[name].direction == "minimize" else "more"
            axes.plot(rows["time"], rows[name], color=BLUE, lw=1.6, marker=".", ms=3)
            axes.set_title(f"{labelled(name, METRICS[name].unit)}: {better} is better", fontsize=9)
            axes.margins(y=0.15)
        _time(axes, model)
    return drawing


def jobs(model: GridModel) -> Figure:
    """Jobs that run and jobs that wait, in all places, over time: signals of the record."""
    rows = model.datacollector.model_vars
    with style():
        drawing = _figure()
        axes = drawing.subplots()
        for suffix, colour in (("running", BLUE), ("waiting", RED)):
            names = [name for name, _ in model.record.probes if name.endswith(f".{suffix}")]
            sums = [sum(values) for values in zip(*(rows[name] for name in names), strict=True)]
            if names:
                axes.plot(rows["time"], sums, color=colour, lw=1.6, label=suffix)
        axes.set_ylabel("jobs at sites and servers")
        axes.margins(y=0.1)
        axes.set_ylim(bottom=0)
        _time(axes, model)
        if axes.lines:
            axes.legend(loc="upper left")
        _title(drawing, "Jobs running and waiting")
    return drawing


def _figure(left: float = 0.1) -> Figure:
    """An empty figure with fixed margins: to fit them anew in each frame would take longer than to draw."""

    drawing = Figure(figsize=SIZE)
    FigureCanvasAgg(drawing)
    drawing.subplots_adjust(left=left, right=0.98, top=0.9, bottom=0.15, hspace=0.45, wspace=0.08)
    return drawing


def _time(axes: Axes, model: GridModel) -> None:
    time_axis(axes, 0.0, max(model.now, model.step_length))


def _title(drawing: Figure, text: str) -> None:
    drawing.suptitle(text, x=0.01, ha="left", weight="bold")
