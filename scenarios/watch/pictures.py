"""The pictures of the live view, drawn anew after each step."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

import numpy as np
from matplotlib.figure import Figure

from gridtune.model.metrics.registry import METRICS
from gridtune.scenarios.plots.style import BLUE, COLOURS, DARK, GREY, RED, labelled, scaled, style, time_axis
from gridtune.scenarios.simulation.grid_model import GridModel
from gridtune.scenarios.tables.search import SearchSpec
from gridtune.scenarios.watch.occupancy import HELD, occupancy

SIZE = (7.0, 4.3)  # inches
BARS = 60  # users that are shown one by one


def draw(fill: Callable[[GridModel, Figure], str], model: GridModel) -> Figure:
    """One of the pictures below.

    Args:
        fill: draws into an empty figure, and says its title.
    """
    with style():
        drawing = Figure(figsize=SIZE)
        # Fixed margins: to fit them anew in each frame would take longer than to draw.
        drawing.subplots_adjust(left=0.1, right=0.98, top=0.9, bottom=0.15, hspace=0.45, wspace=0.08)
        drawing.suptitle(fill(model, drawing), x=0.01, ha="left", weight="bold")
    return drawing


def sites(model: GridModel, drawing: Figure) -> str:
    """Slots and queues of all sites and servers as they fill."""
    places = occupancy(model)
    rows = range(len(places))
    drawing.subplots_adjust(left=0.17)
    queues, slots = drawing.subplots(1, 2, sharey=True, width_ratios=(2, 3))
    queues.barh(rows, [place.waiting for place in places], color=DARK, height=0.7)
    queues.set_xlim(max([5, *(place.waiting for place in places)]) * 1.05, 0)
    queues.set_yticks(rows, [place.name for place in places], fontsize=8)
    queues.set_xlabel("jobs waiting")
    queues.invert_yaxis()
    kinds = dict.fromkeys(job.kind for job in model.record.jobs)
    held = np.zeros(len(places), dtype=int)
    for kind, colour in (*zip(kinds, cycle(COLOURS), strict=False), (HELD, GREY)):
        part = np.array([place.running[kind] for place in places], dtype=int)
        if part.any():
            slots.barh(rows, part, left=held, color=colour, height=0.7, label=kind)
            held = held + part
    slots.barh(rows, [place.slots for place in places], fill=False, edgecolor=DARK, height=0.7, lw=0.8)
    slots.set_xlim(0, max([1, *(place.slots for place in places)]) * 1.03)
    slots.set_xlabel("slots, and the jobs that hold them")
    slots.tick_params(left=False)
    for axes in (queues, slots):
        axes.xaxis.get_major_locator().set_params(integer=True)
    if held.any():
        drawing.legend(loc="upper right", ncols=4, fontsize=8)
    own = [place for place in places if not place.leased]
    taken, there = sum(place.running.total() for place in own), sum(place.slots for place in own)
    return f"Sites: {taken} of {there} slots held"


def users(model: GridModel, drawing: Figure) -> str:
    """Satisfaction of all users; those whose mandatory work failed in another colour."""
    outcomes = model.users
    known = sorted(
        (user.satisfaction, user.unhappy, name) for name, user in outcomes.items() if user.deserved > 0
    )
    values = [value for value, _, _ in known]
    label = "satisfaction (allocated / deserved)"
    axes = drawing.subplots()
    if len(known) <= BARS:
        axes.bar(range(len(known)), values, color=[RED if sad else BLUE for _, sad, _ in known], width=0.8)
        names = [name if len(known) <= 15 else "" for _, _, name in known]
        axes.set_xticks(range(len(known)), names, rotation=30, ha="right", fontsize=8)
        axes.grid(visible=False, axis="x")
        axes.axhline(1.0, color=DARK, lw=0.8, ls="--")
        axes.set_ylabel(label)
        axes.set_ylim(0, max([1.1, *values]) * 1.02)
    else:
        top = max(1.2, values[int(0.99 * len(known))])
        groups = [[min(value, top) for value, sad, _ in known if sad is failed] for failed in (False, True)]
        axes.hist(groups, bins=30, range=(0, top), stacked=True, color=[BLUE, RED])
        axes.axvline(1.0, color=DARK, lw=0.8, ls="--")
        axes.set_xlabel(label)
        axes.set_ylabel("users")
    unhappy = sum(user.unhappy for user in outcomes.values())
    return f"Users: {len(outcomes)} so far, {unhappy} of them unhappy (red)"


def objectives(model: GridModel, drawing: Figure) -> str:
    """Objectives over time, one below the other: those of every search, and the scenario's own."""
    names = dict.fromkeys([*SearchSpec().objectives, *model.source.spec.searching.objectives])
    rows = model.datacollector.model_vars
    drawing.subplots_adjust(top=0.94, hspace=0.2 + 0.2 * len(names))
    panels = drawing.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for axes, name in zip(panels, names, strict=True):
        better = "less" if METRICS[name].direction == "minimize" else "more"
        size, unit = scaled(name, max(map(abs, rows[name]), default=0.0), METRICS[name].unit)
        axes.plot(rows["time"], [one / size for one in rows[name]], color=BLUE, lw=1.6, marker=".", ms=3)
        axes.set_title(f"{labelled(name, unit)}: {better} is better", fontsize=9)
        axes.margins(y=0.15)
    time_axis(axes, 0.0, max(model.now, model.step_length))
    return ""


def jobs(model: GridModel, drawing: Figure) -> str:
    """Jobs that run and jobs that wait, in all places, over time: signals of the record."""
    rows = model.datacollector.model_vars
    axes = drawing.subplots()
    for suffix, colour in (("running", BLUE), ("waiting", RED)):
        signals = [rows[name] for name, _ in model.record.probes if name.endswith(f".{suffix}")]
        if signals:
            axes.plot(rows["time"], np.sum(signals, axis=0), color=colour, lw=1.6, label=suffix)
    axes.set_ylabel("jobs at sites and servers")
    axes.margins(y=0.1)
    axes.set_ylim(bottom=0)
    time_axis(axes, 0.0, max(model.now, model.step_length))
    if axes.lines:
        axes.legend(loc="upper left")
    return "Jobs running and waiting"
