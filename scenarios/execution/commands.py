"""What `gridtune run`, `sweep` and `plot` do: run, sum up, write, draw."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.classes import by_class, classes_of
from gridtune.scenarios.execution.pool import Pool
from gridtune.scenarios.execution.replicate import Metrics, Task, known_metrics, replicate, summarise
from gridtune.scenarios.execution.simulate import build, simulate
from gridtune.scenarios.execution.sweep import grid, logarithmic_paths, parse_vary, sweep
from gridtune.scenarios.results.files import manifest, tables, writable_folder, write_json, write_run
from gridtune.scenarios.results.run import notes

if TYPE_CHECKING:
    import pandas as pd

OBJECTIVES = ("unhappy_users", "unfairness", "completed")


class Kept(NamedTuple):
    """A run of which everything is kept."""

    metrics: Metrics
    tables: dict[str, pd.DataFrame]


def kept_run(task: Task, events: bool) -> Kept:
    """Simulate, and keep metrics and tables."""
    run = simulate(task.resolved(), task.seed, task.replication, keep_events=events)
    return Kept(run.metrics, tables(run))


def prepare(scenario: Scenario) -> None:
    """Find faults in what a scenario names before anything is computed or written, and say what it found.

    Traces are read here once; worker processes inherit them.

    Raises:
        ScenarioError: a file that the scenario names cannot be used.
    """
    build(scenario).close()
    for note in notes(scenario):
        print(f"gridtune: {note}", file=sys.stderr)


def workers(jobs: int, dask: str | None, *scenarios: Scenario) -> Pool:
    """Who runs scenarios: processes of this machine, or a Dask cluster.

    Args:
        jobs: worker processes of this machine.
        dask: address of a cluster's scheduler; its workers are used instead.
        scenarios: what they will run.

    Raises:
        ScenarioError: the cluster cannot be used.
    """
    if dask is None:
        return Pool(jobs)
    from gridtune.scenarios.execution.dask_workers import dask_pool

    return dask_pool(dask, scenarios)


def run_scenario(
    scenario: Scenario,
    seed: int,
    replications: int,
    jobs: int,
    *,
    out: Path | None,
    events: bool,
    dask: str | None = None,
) -> dict[str, Any]:
    """Run a scenario and write what it gives.

    Args:
        scenario: what to run.
        seed: of the experiment.
        replications: how often.
        jobs, dask: see `workers`.
        out: folder for tables, metrics and manifest; nothing is written without it.
        events: whether to keep the table of events.

    Returns:
        What is printed as JSON.

    Raises:
        ScenarioError: the folder cannot be written, or a run fails.
    """
    prepare(scenario)
    runs: list[Metrics]
    with workers(min(jobs, replications), dask, scenario) as pool:
        folder = None if out is None else writable_folder(out)
        if folder is None:
            runs = replicate(scenario, seed, replications, pool)
        else:
            kept = replicate(scenario, seed, replications, pool, partial(kept_run, events=events))
            runs = [run.metrics for run in kept]
    made: dict[str, Any] = {
        "scenario": scenario.name,
        "seed": seed,
        "replications": replications,
        "metrics": {name: summary.as_json() for name, summary in summarise(runs).items()},
        "out": None if folder is None else str(folder),
    }
    _tell_unfinished(runs)
    if classes := classes_of(scenario.active):
        made["classes"] = by_class(made["metrics"], classes)
    if folder is not None:
        about = manifest(scenario, seed, replications, folder)
        write_run(folder, [run.tables for run in kept], made["metrics"], about)
    return made


def run_sweep(
    scenario: Scenario,
    vary: Sequence[str],
    seed: int,
    replications: int,
    jobs: int,
    *,
    out: Path | None,
    plot: Path | None,
    objectives: Sequence[str] = (),
    dask: str | None = None,
) -> tuple[dict[str, Any], Sequence[str], list[dict[str, Any]]]:
    """Run every combination of varied values.

    Args:
        scenario: what to run.
        vary: `PATH=V1,V2,…` or `PATH=LOW:HIGH:COUNT[:log]`.
        seed: of the experiment.
        replications: runs of each point.
        jobs, dask: see `workers`.
        out: folder for `sweep.json` and the manifest.
        plot: picture to draw.
        objectives: metrics to print and draw; those of the scenario's search if left out.

    Returns:
        What is printed as JSON, and the columns and rows of the table.

    Raises:
        ScenarioError: a value does not fit, or a file cannot be written.
    """
    points = grid([parse_vary(text) for text in vary])
    prepare(scenario)  # which also defines the metrics that only some scenarios have
    names = known_metrics(objectives or _objectives(scenario))
    if plot is not None:
        from gridtune.scenarios.plots import draw_sweep, picture_format, save

        picture_format(plot)
        writable_folder(plot.parent)
    made: list[dict[str, Any]] = [{} for _ in points]
    with workers(min(jobs, len(points) * replications), dask, scenario) as pool:
        done = sweep(scenario, points, seed, replications, pool)
        folder = None if out is None else writable_folder(out)
        for index, point in done:
            metrics = {name: summary.as_json() for name, summary in point.metrics.items()}
            _measured(names, metrics)
            made[index] = {"values": point.values, "metrics": metrics}
            if point.failure is not None:
                made[index]["failure"] = str(point.failure)
                print(f"gridtune: {point.values}: {point.failure}", file=sys.stderr)
    result = {"scenario": scenario.name, "points": made}
    if folder is not None:
        write_json(folder / "sweep.json", result)
        write_json(
            folder / "manifest.json", {**manifest(scenario, seed, replications, folder), "vary": list(vary)}
        )
    if plot is not None:
        save(draw_sweep(made, names, logarithmic_paths(vary)), plot)
    rows = [
        point["values"] | {name: point["metrics"].get(name, {}).get("mean") for name in names}
        for point in made
    ]
    return result, [*points[0], *names], rows


def draw_run(run: Path, kind: str, out: Path, window: str | None) -> None:
    """Draw a picture of a run that was written to a folder.

    Raises:
        ScenarioError: no such run, kind of picture or window, or the file cannot be written.
    """
    from gridtune.scenarios.plots import draw_run_picture

    draw_run_picture(run, kind, out, _window(window))


def picture_rows() -> list[dict[str, str]]:
    """The kinds of pictures and what they show."""
    from gridtune.scenarios.plots import KINDS

    return [{"kind": name, "shows": description} for name, (_, description) in KINDS.items()]


def _tell_unfinished(runs: Sequence[Metrics]) -> None:
    """Say if best-effort campaigns were left unfinished, and why."""
    short = [run for run in runs if "unfinished_campaigns" in run and run["unfinished_campaigns"].value > 0]
    if not short:
        return
    abandoned = [run["abandoned"].value for run in short if run["abandoned"].value > 0]
    campaigns = max(run["unfinished_campaigns"].value for run in short)
    print(
        f"gridtune: best-effort campaigns were left unfinished in {len(short)} of {len(runs)} runs "
        f"({campaigns:g} campaigns at most): "
        + (
            f"harvesters gave up, with up to {max(abandoned):g} jobs in their bags, as their controller "
            "wants less than one job for ever; another reference or other gains would have it submit them"
            if abandoned
            else "the run ended at its horizon"
        ),
        file=sys.stderr,
    )


def _objectives(scenario: Scenario) -> Sequence[str]:
    search = scenario.spec.search
    return OBJECTIVES if search is None else search.objectives


def _measured(names: Sequence[str], metrics: Mapping[str, Any]) -> None:
    """Stop at the first point that lacks a metric asked for (one that failed has none)."""
    missing = [name for name in names if metrics and name not in metrics]
    if missing:
        raise ScenarioError(
            f"{missing[0]}: not measured in this scenario, which measures {', '.join(metrics)}"
        )


def _window(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        start, end = (float(part) for part in text.split(":"))
    except ValueError:
        raise ScenarioError(f"--window {text}: expected FROM:TO in seconds, e.g. 0:3600") from None
    if not start < end:
        raise ScenarioError(f"--window {text}: it must end after it starts")
    return start, end
