"""The command line of gridtune: parses, calls, prints."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gridtune import boundary, limits

if TYPE_CHECKING:
    from gridtune.scenarios.api.experiment import Scenario

app = typer.Typer(
    name="gridtune",
    no_args_is_help=True,
    rich_markup_mode=None,
    cls=boundary.Group,
    help="Simulate grid middleware under scheduling policies, and search the policies' parameters.",
)
scenarios_app = typer.Typer(cls=boundary.Group, invoke_without_command=True)
trace_app = typer.Typer(cls=boundary.Group, no_args_is_help=True, help="Workload traces (SWF, GWF).")
app.add_typer(scenarios_app, name="scenarios")
app.add_typer(trace_app, name="trace")


class Format(StrEnum):
    """How to print results."""

    table = "table"
    json = "json"


class Table(StrEnum):
    """How to print a table that is data, too."""

    table = "table"
    csv = "csv"
    json = "json"


class FrontFormat(StrEnum):
    """How to print a front."""

    table = "table"
    csv = "csv"
    json = "json"
    latex = "latex"


class Sensor(StrEnum):
    """What a harvester measures."""

    load = "load"
    waiting = "waiting"
    used = "waiting+running"


Name = Annotated[str, typer.Argument(help="Name of a shipped scenario, or path of a TOML file.")]
Study = Annotated[str, typer.Argument(help="A search's folder, journal file or storage URL.")]
Set = Annotated[
    list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="Override a value; repeatable.")
]
Seed = Annotated[int, typer.Option(help="Seed of all random streams.", min=0, max=limits.SEED)]
Replications = Annotated[
    int, typer.Option(help="Runs of each point, on common random numbers.", min=1, max=limits.REPLICATIONS)
]
Jobs = Annotated[int, typer.Option(help="Worker processes.", min=1, max=limits.WORKERS)]
AllJobs = Annotated[
    int | None, typer.Option(help="Worker processes; all cores by default.", min=1, max=limits.WORKERS)
]
Dask = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler to run on instead.")]
Out = Annotated[Path | None, typer.Option(help="Folder for results.")]
Output = Annotated[Format, typer.Option("--format", help="What goes to standard output.")]
Vary = Annotated[list[str] | None, typer.Option(metavar="PATH=SPEC", help="Values to vary; repeatable.")]
Objectives = Annotated[list[str] | None, typer.Option(help="Metric to show or trade off; repeatable.")]


@scenarios_app.callback()
def scenarios(context: typer.Context, format: Output = Format.table) -> None:
    """List the shipped scenarios.

    Example: gridtune scenarios
    """
    if context.invoked_subcommand is None:
        list_scenarios(format)


@scenarios_app.command("list")
def list_scenarios(format: Output = Format.table) -> None:
    """List the shipped scenarios.

    Example: gridtune scenarios list --format json
    """
    from gridtune.scenarios.document.scenario import load, shipped_names

    specs = {name: load(name).spec for name in shipped_names()}
    rows = [{"name": name, "title": spec.title, "source": spec.source} for name, spec in specs.items()]
    _print(rows, rows, ("name", "title", "source"), format)


@scenarios_app.command("show")
def show_scenario(name: Annotated[str, typer.Argument(help="Name of a shipped scenario.")]) -> None:
    """Print the TOML of a shipped scenario.

    Example: gridtune scenarios show diet/day-regular > mine.toml
    """
    from gridtune.scenarios.document.scenario import shipped_text

    sys.stdout.write(shipped_text(name))


@app.command()
def policies(
    family: Annotated[str | None, typer.Option(help="Only this family.")] = None,
    format: Output = Format.table,
) -> None:
    """List the policies with their parameters.

    Example: gridtune policies --family discipline
    """
    from gridtune.scenarios.document.catalogue import policy_lines, policy_tree
    from gridtune.scenarios.results.files import to_json

    print(to_json(policy_tree(family)) if format is Format.json else "\n".join(policy_lines(family)))


@app.command()
def trust(
    files: Annotated[list[Path] | None, typer.Argument(help="Python files; left out, lists them.")] = None,
    forget: Annotated[bool, typer.Option("--forget", help="Do not let them run any more.")] = False,
) -> None:
    """Let Python files that scenarios name as plug-ins run, for as long as they stay as they are.

    Example: gridtune trust mine.py
    """
    from gridtune.scenarios.document.trust import changed_trust

    for line in changed_trust(files or [], forget):
        print(line)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a scenario document, for editors.

    Example: gridtune schema > gridtune.schema.json
    """
    from gridtune.scenarios.results.files import to_json
    from gridtune.scenarios.tables.schema import ScenarioSpec

    print(to_json(ScenarioSpec.model_json_schema()))


@app.command()
def validate(scenario: Name) -> None:
    """Check a scenario and name every fault in it at once.

    Example: gridtune validate mine.toml
    """
    from gridtune.scenarios.document.scenario import load

    load(scenario)
    print(f"{scenario}: valid")


@app.command()
def run(
    scenario: Name,
    set: Set = None,
    seed: Seed = 1,
    replications: Replications = 1,
    jobs: Jobs = 1,
    dask: Dask = None,
    out: Out = None,
    events: Annotated[bool, typer.Option("--events", help="Keep the event table.")] = False,
    format: Output = Format.table,
) -> None:
    """Simulate a scenario.

    Example: gridtune run diet/day-regular --set client.dispatch=legacy --set client.n_submit=190
    """
    from gridtune.scenarios.results.printing import metric_rows, print_table
    from gridtune.scenarios.simulation.classes import split

    found = _scenario(scenario, set).run(
        seed=seed, replications=replications, jobs=jobs, events=events, out=out, dask=dask, tables=False
    )
    made = found.to_dict()
    overall, classes = split(made)
    _print(made, metric_rows(overall), ("metric", "mean", "standard error", "unit"), format)
    if classes and format is Format.table:
        print_table(list(classes[0]), classes)


@app.command()
def sweep(
    scenario: Name,
    vary: Vary = None,
    set: Set = None,
    seed: Seed = 1,
    replications: Replications = 1,
    jobs: Jobs = 1,
    dask: Dask = None,
    out: Out = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the objectives over the varied values (png, svg, pdf).")
    ] = None,
    objective: Objectives = None,
    format: Output = Format.table,
) -> None:
    """Simulate every combination of varied values.

    Values are PATH=V1,V2,… or PATH=LOW:HIGH:COUNT[:log].

    Example: gridtune sweep diet/day-regular --set client.dispatch=legacy --vary client.n_submit=50:300:6
    """
    from gridtune.scenarios.api.sweep_result import sweep

    made = sweep(
        _scenario(scenario, set), vary or [],
        seed=seed, replications=replications, jobs=jobs, objectives=objective or [],
        out=out, plot=plot, dask=dask,
    )  # fmt: skip
    _print(made.to_dict(), made.rows(), [*made.paths, *made.objectives], format)


@app.command()
def search(
    scenario: Name,
    budget: Annotated[
        int, typer.Option(help="Evaluations (points, each with its replications).", min=1, max=limits.BUDGET)
    ] = 100,
    sampler: Annotated[str, typer.Option(help="auto, or a name; `--sampler list` prints them.")] = "auto",
    replications: Annotated[
        int | None,
        typer.Option(
            help="Runs of each point at first; the scenario's number, or 1.", min=1, max=limits.REPLICATIONS
        ),
    ] = None,
    max_replications: Annotated[
        int | None,
        typer.Option(
            help="Runs of a point that may be on the front; no more if left out.",
            min=1,
            max=limits.REPLICATIONS,
        ),
    ] = None,
    jobs: AllJobs = None,
    dask: Dask = None,
    seed: Seed = 1,
    storage: Annotated[
        str | None, typer.Option(metavar="URL", help="Optuna storage; a journal file by default.")
    ] = None,
    study: Annotated[str | None, typer.Option(help="Name of the study.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted search.")] = False,
    objective: Objectives = None,
    require: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC<=NUMBER", help="Constraint; also >=, <, >; repeatable."),
    ] = None,
    others: Annotated[
        list[str] | None,
        typer.Option("--scenario", metavar="NAME[:PATH=VALUE,…]", help="To do well in, too; repeatable."),
    ] = None,
    seeds: Annotated[str | None, typer.Option(metavar="N,N,…", help="Workload seeds to do well in.")] = None,
    robust: Annotated[
        str | None, typer.Option(help="Of several scenarios or seeds: mean, worst or quantile:SHARE.")
    ] = None,
    allow_loss: Annotated[
        bool | None,
        typer.Option("--allow-loss/--no-loss", help="Points may lose more work than the scenario does."),
    ] = None,
    vary: Vary = None,
    set: Set = None,
    out: Out = None,
    format: Output = Format.table,
) -> None:
    """Search a scenario's parameters for the best trade-offs.

    Ranges are PATH=LOW:HIGH[:log] or PATH=V1,V2,…; they add to or replace those of the scenario.
    Of several scenarios the first gives space and objectives; worst and quantile compare raw values.

    Example: gridtune search diet/egee-week --budget 200 --out results/egee-week
    """
    from gridtune.optimize.commands.front import front_text
    from gridtune.optimize.commands.search import run_search, sampler_rows

    if sampler == "list":
        rows = sampler_rows()
        _print(rows, rows, ("sampler", "meaning"), format)
        return
    found = run_search(
        _scenario(scenario, set),
        budget=budget, sampler=sampler, replications=replications, max_replications=max_replications,
        jobs=jobs or os.cpu_count() or 1, seed=seed, storage=storage, study=study, resume=resume,
        objectives=objective or [], vary=vary or [], require=require or [], others=others or [],
        assignments=set or [], seeds=seeds, robust=robust, allow_loss=allow_loss, out=out, dask=dask,
    )  # fmt: skip
    sys.stdout.write(front_text(found, format))


@app.command()
def front(
    study: Study,
    format: Annotated[FrontFormat, typer.Option(help="What goes to standard output.")] = FrontFormat.table,
    plot: Annotated[Path | None, typer.Option(help="Picture of the front (png, svg, pdf, html).")] = None,
    salvage: Annotated[
        bool, typer.Option("--salvage", help="Take what is whole of a damaged study.")
    ] = False,
) -> None:
    """Show the front of a search.

    Example: gridtune front results/egee-week --plot front.html
    """
    from gridtune.optimize.commands.front import front_text, open_front

    sys.stdout.write(front_text(open_front(study, plot, salvage=salvage), format))


@app.command()
def sensitivity(
    subject: Annotated[str, typer.Argument(metavar="STUDY|SCENARIO", help="A search's, or one to simulate.")],
    method: Annotated[str | None, typer.Option(help="morris (default) or sobol; scenarios only.")] = None,
    samples: Annotated[
        int | None, typer.Option(help="Trajectories or base samples.", min=1, max=limits.SAMPLES)
    ] = None,
    replications: Annotated[
        int | None, typer.Option(help="Runs of each point; 1.", min=1, max=limits.REPLICATIONS)
    ] = None,
    jobs: AllJobs = None,
    dask: Dask = None,
    seed: Seed = 1,
    objective: Objectives = None,
    vary: Vary = None,
    set: Set = None,
    plot: Annotated[Path | None, typer.Option(help="Picture (png, svg, pdf).")] = None,
    out: Out = None,
    format: Annotated[Table, typer.Option(help="What goes to standard output.")] = Table.table,
) -> None:
    """Show which parameters matter for which objective: in a search, or in the simulator itself.

    Example: gridtune sensitivity dirac/search --samples 10 --plot effects.png
    """
    from gridtune.optimize.commands.sensitivity import run_sensitivity

    found = run_sensitivity(
        subject,
        method=method, samples=samples, replications=replications, jobs=jobs, dask=dask, seed=seed,
        objectives=objective or [], vary=vary or [], assignments=set or [], plot=plot, out=out,
    )  # fmt: skip
    if format is Table.csv:
        sys.stdout.write(found.to_csv())
        return
    _print(found.to_dict(), found.rows(), found.columns(), Format(format))
    if format is Table.table:
        print("\n".join(found.summary()))


@app.command()
def explain(
    study: Study,
    point: Annotated[str, typer.Argument(help="Number of a point, or the name of a recommendation.")],
    replications: Annotated[
        int | None, typer.Option(help="Fresh runs of each point.", min=1, max=limits.REPLICATIONS)
    ] = None,
    jobs: AllJobs = None,
    dask: Dask = None,
    ablate: Annotated[bool, typer.Option(help="Put its settings back one by one.")] = True,
    format: Output = Format.table,
) -> None:
    """Say why a point: what it gains and pays, and which of its settings do it.

    Example: gridtune explain results/egee-week compromise
    """
    from gridtune.optimize.api import open_study
    from gridtune.scenarios.results.files import to_json

    made = open_study(study).explain(
        point, replications=replications, jobs=jobs, dask=dask, ablate=ablate, progress=True
    )
    sys.stdout.write(to_json(made.details.to_dict()) + "\n" if format is Format.json else made.text)


@app.command()
def plot(
    run: Annotated[Path | None, typer.Argument(help="Folder that `gridtune run --out` wrote.")] = None,
    kind: Annotated[str | None, typer.Argument(help="Kind of picture; `--list` prints them.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to draw (png, svg, pdf).")] = None,
    list: Annotated[bool, typer.Option("--list", help="List the kinds of pictures.")] = False,
    window: Annotated[str | None, typer.Option(metavar="FROM:TO", help="Time window in s.")] = None,
) -> None:
    """Draw a picture of a run.

    Example: gridtune plot results/day gantt --out gantt.png
    """
    from gridtune.scenarios.commands.plot import draw_run, picture_rows

    if list:
        rows = picture_rows()
        _print(rows, rows, ("kind", "shows"), Format.table)
    elif run is None or kind is None or out is None:
        raise typer.BadParameter(
            "a picture needs RUN, KIND and --out FILE; `gridtune plot --list` lists the kinds"
        )
    else:
        draw_run(run, kind, out, window)
        print(out)


@app.command()
def watch(
    scenario: Name,
    set: Set = None,
    seed: Seed = 1,
    steps: Annotated[int, typer.Option(help="Steps that a whole run takes, about.", min=1)] = 200,
    step_length: Annotated[
        float | None, typer.Option(help="Seconds that a step advances, instead.", min=1e-9)
    ] = None,
    port: Annotated[
        int, typer.Option(help="To listen at, on this machine only; 0: any.", min=0, max=65535)
    ] = 8765,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
) -> None:
    """Watch a scenario run in the browser, and change its policies and parameters (extra `watch`).

    Example: gridtune watch diet/day-regular
    """
    from gridtune.optimize.commands.watch import watch as serve

    made = _scenario(scenario, set)
    serve(made, seed, steps=steps, step_length=step_length, port=port, browser=browser)


@app.command()
def reproduce(
    paper: Annotated[str | None, typer.Argument(help="PAPER or PAPER/EXPERIMENT.")] = None,
    list: Annotated[bool, typer.Option("--list", help="List papers and experiments.")] = False,
    replications: Replications = 10,
    seed: Seed = 1,
    jobs: AllJobs = None,
    out: Annotated[Path | None, typer.Option(help="Folder for figures; results/PAPER by default.")] = None,
    format: Output = Format.table,
) -> None:
    """Run a paper's experiments, draw its figures and check its claims.

    Example: gridtune reproduce diet/day-regular
    """
    from gridtune.scenarios.commands.reproduce import experiment_rows, run_paper

    if list or paper is None:
        rows = experiment_rows()
        _print(rows, rows, ("experiment", "title"), format)
        return
    made = run_paper(paper, replications, seed, jobs or os.cpu_count() or 1, out)
    columns = ("id", "experiment", "claim", "expected", "measured", "verdict")
    _print(made, made["claims"], columns, format)
    if format is Format.table:
        for claim in made["claims"]:
            if claim["verdict"] != "met" and claim["reason"]:
                print(f"{claim['id']}, {claim['claim']}: {claim['verdict']}: {claim['reason']}")
        if made["figures"]:
            print("figures: " + ", ".join(made["figures"]))
    if any(claim["verdict"] == "not met" for claim in made["claims"]):
        raise typer.Exit(1)


@app.command()
def identify(
    scenario: Name,
    set: Set = None,
    seed: Seed = 1,
    harvester: Annotated[str | None, typer.Option(help="Name; not needed where there is only one.")] = None,
    sensor: Annotated[Sensor, typer.Option(help="What to measure.")] = Sensor.load,
    low: Annotated[
        float, typer.Option(help="Jobs per cycle before the step.", min=0, max=limits.NUMBER)
    ] = 0.0,
    high: Annotated[
        float, typer.Option(help="Jobs per cycle after the step.", min=0, max=limits.NUMBER)
    ] = 10.0,
    settling: Annotated[float, typer.Option(help="Cycles until the closed loop settles.")] = 10.0,
    overshoot: Annotated[float, typer.Option(help="Of the step response, as a fraction.")] = 0.05,
    format: Output = Format.table,
) -> None:
    """Fit y(k+1) = a y(k) + b u(k) to a step of a harvester's submissions, and place a PI controller's gains.

    Example: gridtune identify cigri/file-system
    """
    from gridtune.scenarios.simulation.identify import identify

    found = identify(
        _scenario(scenario, set), seed, harvester=harvester, sensor=sensor.value, low=low, high=high
    )
    made = found.as_json(settling, overshoot)
    rows = [{"what": name, "value": made[name]} for name in ("a", "b", "fit", "kp", "ki")]
    _print(made, rows, ("what", "value"), format)


@trace_app.command("info")
def trace_info(file: Path, format: Output = Format.table) -> None:
    """Say what is in a trace and what is wrong with it.

    Example: gridtune trace info LPC-EGEE-2004-1.2-cln.swf.gz
    """
    from gridtune.scenarios.results.files import to_json
    from gridtune.scenarios.trace_files import find_trace
    from gridtune.scenarios.traces import summarise, summary_lines

    summary = summarise(find_trace(str(file)))
    print(to_json(summary.to_dict()) if format is Format.json else "\n".join(summary_lines(summary)))


def _scenario(name: str, assignments: Sequence[str] | None) -> Scenario:
    from gridtune.scenarios.api.experiment import load
    from gridtune.scenarios.document.paths import parse_assignments

    return load(name, parse_assignments(assignments or []))


def _print(content: Any, rows: Iterable[dict[str, Any]], columns: Sequence[str], format: Format) -> None:
    """The content as JSON, or the rows as a table."""
    from gridtune.scenarios.results.printing import print_result

    print_result(content, rows, columns, json=format is Format.json)


def main() -> None:
    """Entry point of the console script: every expected failure is a line on standard error."""
    boundary.run(partial(app, standalone_mode=False))


if __name__ == "__main__":
    main()
