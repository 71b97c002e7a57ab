"""Figures 2 to 4 of RR-5335 and a picture of forecast errors, drawn from simulated runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from gridtune.scenarios.plots.style import COLOURS, GREY
from gridtune.scenarios.reproduction.figures import picture, published
from gridtune.scenarios.reproduction.workbench import Values

if TYPE_CHECKING:
    from gridtune.scenarios.results.run import Run


PUBLISHED_ENDS = {1: 6, 2: 5, 3: 21, 4: 15, 5: 14}  # s; of the tasks of table 1


def draw_gantt(path: Path, run: Run) -> None:
    """Who ran where and when, with deadlines (figure 2)."""
    note = "dotted: the deadline of the task of that colour; stars: ends by RR-5335, table 1"
    with picture(path, 7.2, 3.0, "Five tasks on three servers", note) as drawing:
        axes = drawing.subplots()
        servers = sorted({job.node for job in run.record.jobs if job.node})
        for job in run.record.jobs:
            row, colour = servers.index(job.node), COLOURS[(job.id - 1) % len(COLOURS)]
            axes.barh(row, job.end - job.start, left=job.start, height=0.7, color=colour, alpha=0.55)
            label = f"task {job.id}\n{job.end - job.start:g} s"
            axes.text(job.start + 0.6, row, label, ha="left", va="center", fontsize="small")
            published(axes, "RR-5335, table 1: end", PUBLISHED_ENDS[job.id], row)
            axes.plot([job.deadline] * 2, [row - 0.45, row + 0.45], color=colour, linestyle=":", linewidth=2)
        axes.set(xlabel="time (s)", ylabel="server")
        axes.set_yticks(range(len(servers)), servers)
        axes.invert_yaxis()
        axes.set_xlim(left=0)
        axes.grid(False)


def draw_counts(path: Path, title: str, curves: Mapping[str, Mapping[int, Sequence[float]]]) -> None:
    """Executed tasks over submitted tasks, mean and range over replications (figures 3 and 4)."""
    runs = len(next(iter(next(iter(curves.values())).values())))
    note = f"mean and range of {runs} runs; dotted: all of them"
    with picture(path, 6.0, 4.0, title, note) as drawing:
        axes = drawing.subplots()
        # Curves that lie on each other: the first is wide and pale.
        for k, (colour, marker, (label, curve)) in enumerate(
            zip(COLOURS, "os^", curves.items(), strict=False)
        ):
            counts = sorted(curve)
            values = np.array([curve[count] for count in counts])
            axes.fill_between(
                counts, values.min(axis=1), values.max(axis=1), color=colour, alpha=0.2, linewidth=0
            )
            axes.plot(
                counts, values.mean(axis=1), marker=marker, markersize=4 if k else 7, color=colour,
                linewidth=1.4 if k else 4, alpha=1 if k else 0.5, label=label,
            )  # fmt: skip
        axes.axline((0, 0), slope=1, color=GREY, linewidth=0.8, linestyle=":")
        highest = max(max(values) for curve in curves.values() for values in curve.values())
        axes.set(
            xlabel="submitted tasks",
            ylabel="tasks executed before their deadline",
            xlim=0,
            ylim=(0, 1.1 * highest),
        )
        axes.legend(loc="lower right")


def draw_errors(
    path: Path, made: Mapping[tuple[str, str], Values], errors: Sequence[str], algorithms: Sequence[str]
) -> None:
    """A table of miss rates: kinds of errors against algorithms, and the same as CSV beside it."""
    import pandas as pd
    import seaborn as sns

    from gridtune.scenarios.whole_files import replace_text

    def table(metric: str) -> pd.DataFrame:
        rows = [[fmean(made[error, algorithm][metric]) for algorithm in algorithms] for error in errors]
        return pd.DataFrame(rows, index=pd.Index(errors, name="forecast error"), columns=list(algorithms))

    missed, ratio = table("missed_fraction"), table("forecast_ratio")
    with picture(path, 10, 4.2, "Wrong forecasts and their correction") as drawing:
        left, right = drawing.subplots(1, 2, sharey=True)
        sns.heatmap(100 * missed, annot=True, fmt=".1f", cmap="rocket_r", ax=left, cbar=False)
        sns.heatmap(np.log2(ratio), annot=ratio, fmt=".2f", cmap="vlag", center=0, ax=right, cbar=False)
        left.set(title="missed deadlines (%)", ylabel="error of forecasts")
        right.set(title="forecast over actual time", ylabel="")
        for axes in (left, right):
            axes.tick_params(axis="x", labelrotation=30)
            for label in axes.get_xticklabels():
                label.set_horizontalalignment("right")
    together = pd.concat({"missed_fraction": missed, "forecast_ratio": ratio}, axis=1)
    tidy = (
        together.stack(level=1, future_stack=True).rename_axis(["forecast error", "algorithm"]).reset_index()
    )
    replace_text(path.with_suffix(".csv"), tidy.to_csv(index=False))
