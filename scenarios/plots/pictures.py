"""The kinds of pictures of a run, and their way into a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.classes import draw_classes
from gridtune.scenarios.plots.gantt import draw_gantt
from gridtune.scenarios.plots.messages import draw_messages
from gridtune.scenarios.plots.overlays import OVERLAYS, draw_sizes, draw_utilisation
from gridtune.scenarios.plots.style import PlotError, check_free, picture_format, save
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
    "sizes": (lambda run, window: draw_sizes({run.title: run}, window), OVERLAYS["sizes"][1]),
    "utilisation": (
        lambda run, window: draw_utilisation({run.title: run}, window),
        OVERLAYS["utilisation"][1],
    ),
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
        return KINDS[known(kind)][0](tables, _times(window))


def _times(window: Any) -> Window:
    """A window as two times in s.

    Raises:
        PlotError: it is something else.
    """
    if window is None:
        return None
    try:
        low, high = map(float, window)
    except (TypeError, ValueError):
        raise PlotError(f"window: {window!r:.40}: expected two times in s, such as (0, 3600)") from None
    return low, high


def draw_runs(runs: Mapping[str, RunTables], kind: str, window: Window = None) -> Figure:
    """Draw several runs in one picture.

    Args:
        runs: tables of each, by what distinguishes them.
        kind: one of `OVERLAYS`.
        window: times to show, s; left out, all or what can be seen.

    Raises:
        PlotError: no such kind of several runs, or nothing to draw.
    """
    if known(kind) not in OVERLAYS:
        raise PlotError(f"{kind}: shows one run; of several there are {', '.join(OVERLAYS)}")
    with style.style():
        return OVERLAYS[kind][0](runs, _times(window))


def draw_run_picture(
    folders: Sequence[Path | str], kind: str, path: Path | str, window: Window = None
) -> None:
    """Draw runs that were written to folders into a file.

    Args:
        folders: that `gridtune run --out` wrote, one or several.
        kind: one of `KINDS`, of several runs one of `OVERLAYS`.
        path: of a png, svg or pdf file.
        window: times to show, s.

    Raises:
        PlotError: no such run, kind or format, the same run twice, or nothing to draw; or the file is there,
            and gridtune has not drawn it.
        ScenarioError: the file cannot be written.
    """
    picture_format(path)
    known(kind)
    check_free(path)
    runs = [read_run(folder) for folder in folders]
    if len(runs) == 1:
        save(draw_run(runs[0], kind, window), path)
        return
    paths = [Path(folder).resolve() for folder in folders]
    if len(set(paths)) < len(paths):
        raise PlotError("the same run twice; name runs that differ")
    names = [one.name for one in paths]
    labels = names if len(set(names)) == len(names) else [str(folder) for folder in folders]
    save(draw_runs(dict(zip(labels, runs, strict=True)), kind, window), path)


def known(kind: str) -> str:
    """The kind, if there is such a kind of picture.

    Raises:
        PlotError: there is none.
    """
    if kind not in KINDS:
        raise PlotError(f"{kind}: no such picture of a run; there are {', '.join(KINDS)}")
    return kind
