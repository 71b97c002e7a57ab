"""The kinds of pictures of a run, and their way into a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.classes import draw_classes
from gridtune.scenarios.plots.gantt import draw_gantt
from gridtune.scenarios.plots.messages import draw_messages
from gridtune.scenarios.plots.style import PlotError, picture_format, save
from gridtune.scenarios.plots.tables import RunTables, read_run
from gridtune.scenarios.plots.time_series import draw_queues, draw_signals
from gridtune.scenarios.plots.users import draw_users
from gridtune.scenarios.plots.waiting_times import draw_waits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Window = tuple[float, float] | None

KINDS: dict[str, tuple[Callable[[RunTables, Window], Figure], str]] = {
    "gantt": (draw_gantt, "which job held which node, when"),
    "signals": (draw_signals, "every sampled signal over time"),
    "queues": (draw_queues, "jobs waiting and slots held over time, by kind of job"),
    "users": (draw_users, "satisfaction of every user, and who is unhappy"),
    "classes": (
        draw_classes,
        "by class of jobs: happy and unhappy users, jobs done and failed, response times",
    ),
    "waits": (draw_waits, "distribution of waiting times by kind of job"),
    "messages": (draw_messages, "messages that agents handled over time"),
}


def draw_run(tables: RunTables, kind: str, window: Window = None) -> Figure:
    """Draw a run.

    Args:
        tables: of the run.
        kind: one of `KINDS`.
        window: times to show, s; left out, all or what can be seen.

    Raises:
        PlotError: no such kind, or nothing to draw.
    """
    with style.style():
        return KINDS[known(kind)][0](tables, window)


def draw_run_picture(folder: Path | str, kind: str, path: Path | str, window: Window = None) -> None:
    """Draw a run that was written to a folder into a file.

    Args:
        folder: that `gridtune run --out` wrote.
        kind: one of `KINDS`.
        path: of a png, svg or pdf file.
        window: times to show, s.

    Raises:
        PlotError: no such run, kind or format, or nothing to draw.
        ScenarioError: the file cannot be written.
    """
    picture_format(path)
    known(kind)
    save(draw_run(read_run(folder), kind, window), path)


def known(kind: str) -> str:
    """The kind, if there is such a kind of picture.

    Raises:
        PlotError: there is none.
    """
    if kind not in KINDS:
        raise PlotError(f"{kind}: no such picture of a run; there are {', '.join(KINDS)}")
    return kind
