"""Figures 2 to 4 of RR-5335 and a picture of forecast errors, drawn from simulated runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from gridtune.scenarios.reproduction.figures import published, save
from gridtune.scenarios.reproduction.workbench import Values

if TYPE_CHECKING:
    from gridtune.scenarios.results.run import Run


PUBLISHED_ENDS = {1: 6, 2: 5, 3: 21, 4: 15, 5: 14}  # s; of the tasks of table 1


def draw_gantt(path: Path, run: Run) -> None:
    """Who ran where and when, with deadlines (figure 2)."""
    import matplotlib.pyplot as plt
    import seaborn as sns

    palette = sns.color_palette("colorblind")
    figure, axis = plt.subplots(figsize=(7, 2.6), layout="constrained")
    servers = sorted({job.node for job in run.record.jobs if job.node})
    for job in run.record.jobs:
        row = servers.index(job.node)
        axis.barh(
            row, job.end - job.start, left=job.start, height=0.7, color=palette[job.id % 10], alpha=0.55
        )
        label = f"task {job.id}\n{job.end - job.start:g} s"
        axis.text((job.start + job.end) / 2, row, label, ha="center", va="center", fontsize="small")
        published(axis, "RR-5335, table 1: end", PUBLISHED_ENDS[job.id], row)
        axis.plot([job.deadline] * 2, [row - 0.45, row + 0.45], color=palette[job.id % 10], linestyle=":")
    axis.set(xlabel="Time (s); dotted: deadline of the task of that colour", ylabel="Server")
    axis.set_yticks(range(len(servers)), servers)
    axis.invert_yaxis()
    axis.set_xlim(left=0)
    sns.despine(ax=axis)
    save(figure, path)


def draw_counts(path: Path, title: str, curves: Mapping[str, Mapping[int, Sequence[float]]]) -> None:
    """Executed tasks over submitted tasks, mean and range over replications (figures 3 and 4)."""
    import matplotlib.pyplot as plt
    import seaborn as sns

    figure, axis = plt.subplots(figsize=(5.2, 3.6), layout="constrained")
    for colour, marker, (label, curve) in zip(
        sns.color_palette("colorblind"), "os^", curves.items(), strict=False
    ):
        counts = sorted(curve)
        values = np.array([curve[count] for count in counts])
        axis.fill_between(
            counts, values.min(axis=1), values.max(axis=1), color=colour, alpha=0.2, linewidth=0
        )
        axis.plot(counts, values.mean(axis=1), marker=marker, markersize=4, color=colour, label=label)
    axis.axline((0, 0), slope=1, color="grey", linewidth=0.8, linestyle=":")
    highest = max(max(values) for curve in curves.values() for values in curve.values())
    axis.set(
        xlabel="Submitted tasks", ylabel="Executed before their deadline", xlim=0, ylim=(0, 1.1 * highest)
    )
    axis.legend(frameon=False, loc="lower right")
    axis.set_title(title, fontsize="medium")
    sns.despine(ax=axis)
    save(figure, path)


def draw_errors(
    path: Path, made: Mapping[tuple[str, str], Values], errors: Sequence[str], algorithms: Sequence[str]
) -> None:
    """A table of miss rates: kinds of errors against algorithms, and the same as CSV beside it."""
    import matplotlib.pyplot as plt
    import pandas as pd
    import seaborn as sns

    from gridtune.scenarios.whole_files import replace

    def table(metric: str) -> pd.DataFrame:
        rows = [[fmean(made[error, algorithm][metric]) for algorithm in algorithms] for error in errors]
        return pd.DataFrame(rows, index=pd.Index(errors, name="forecast error"), columns=list(algorithms))

    missed, ratio = table("missed_fraction"), table("forecast_ratio")
    figure, axes = plt.subplots(1, 2, figsize=(12, 3.8), sharey=True, layout="constrained")
    sns.heatmap(100 * missed, annot=True, fmt=".1f", cmap="rocket_r", ax=axes[0], cbar=False)
    sns.heatmap(np.log2(ratio), annot=ratio, fmt=".2f", cmap="vlag", center=0, ax=axes[1], cbar=False)
    axes[0].set(title="Missed deadlines (%)", ylabel="Error of forecasts")
    axes[1].set(title="Forecast over actual time", ylabel="")
    for axis in axes:
        axis.tick_params(axis="x", labelrotation=30)
        for label in axis.get_xticklabels():
            label.set_horizontalalignment("right")
    save(figure, path)
    together = pd.concat({"missed_fraction": missed, "forecast_ratio": ratio}, axis=1)
    tidy = (
        together.stack(level=1, future_stack=True).rename_axis(["forecast error", "algorithm"]).reset_index()
    )
    replace(path.with_suffix(".csv"), lambda part: tidy.to_csv(part, index=False))
