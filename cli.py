"""The command line of gridtune: parses, calls, prints.

What an option is called and means stands in `gridtune.options`; what a command does beyond a call of the
Python API, in the module of its name in `scenarios/commands/` or `optimize/commands/`. Commands of two words
stand in `gridtune.subcommands`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from gridtune import boundary, options, subcommands
from gridtune.help_panels import EVIDENCE, LOOK, RUN, SEARCH, Command
from gridtune.options import Format, FrontFormat, TableFormat
from gridtune.plain_text import escaped
from gridtune.threads import single_threaded

if TYPE_CHECKING:
    from gridtune.scenarios.api.experiment import Scenario

app = typer.Typer(
    name="gridtune",
    no_args_is_help=True,
    rich_markup_mode=None,
    cls=boundary.Group,
    help="Simulate grid middleware under scheduling policies, and search the policies' parameters.",
)
app.add_typer(subcommands.scenarios_app, name="scenarios", rich_help_panel=RUN)
app.add_typer(subcommands.trace_app, name="trace", rich_help_panel=RUN)


@app.command(cls=Command, rich_help_panel=RUN)
def policies(family: options.Family = None, format: options.Output = Format.table) -> None:
    """List the policies with their parameters.

    Example: gridtune policies --family discipline
    """
    from gridtune.scenarios.document.catalogue import policy_lines, policy_tree
    from gridtune.scenarios.results.json_text import to_json

    print(to_json(policy_tree(family)) if format is Format.json else "\n".join(policy_lines(family)))


@app.command(cls=Command, rich_help_panel=RUN)
def trust(files: options.Plugins = None, forget: options.Forget = False) -> None:
    """Trust Python files that scenarios name as plug-ins.

    They run for as long as they stay as they are.

    Example: gridtune trust mine.py
    """
    from gridtune.scenarios.document.trust import changed_trust

    for line in changed_trust(files or [], forget):
        print(escaped(line))


@app.command(cls=Command, rich_help_panel=RUN)
def schema() -> None:
    """Print the JSON Schema of a scenario document, for editors.

    Example: gridtune schema > gridtune.schema.json
    """
    from gridtune.scenarios.results.json_text import to_json
    from gridtune.scenarios.tables.schema import ScenarioSpec

    print(to_json(ScenarioSpec.model_json_schema()))


@app.command(cls=Command, rich_help_panel=RUN)
def validate(scenario: options.Scenario) -> None:
    """Check a scenario and name every fault in it at once.

    Example: gridtune validate mine.toml
    """
    from gridtune.scenarios.document.scenario import load

    found = load(scenario)
    if found.spec.search is not None and not found.plugins:  # what these bring is known only once they ran
        from gridtune.optimize.search_space.settings import check

        check(found)
    print(f"{scenario}: valid")


@app.command(cls=Command, rich_help_panel=RUN)
def run(
    scenario: options.Scenario,
    set: options.Set = None,
    seed: options.Seed = 1,
    replications: options.Replications = 1,
    jobs: options.Jobs = 1,
    dask: options.Dask = None,
    out: options.Out = None,
    events: options.Events = False,
    all: options.All = False,
    format: options.Output = Format.table,
) -> None:
    """Simulate a scenario.

    Example: gridtune run diet/day-regular --set client.dispatch=legacy --set client.n_submit=190

    Example: gridtune run mine.toml --replications 10 --out results/mine
    """
    from gridtune.scenarios.results.json_text import to_json
    from gridtune.scenarios.results.printing import print_classes, print_metrics
    from gridtune.scenarios.simulation.classes import promises, split

    loaded = _scenario(scenario, set)
    found = loaded.run(
        seed=seed, replications=replications, jobs=jobs, events=events, out=out, dask=dask, tables=False
    )
    made = found.to_dict()
    if format is Format.json:
        print(to_json(made))
        return
    overall, classes = split(made)
    search = loaded.spec.search
    objectives = search.objectives if search else ()
    print_metrics(overall, every=all, objectives=objectives, promised=promises(found.scenario.active))
    if classes:
        print_classes(classes)


@app.command(cls=Command, rich_help_panel=RUN)
def sweep(
    scenario: options.Scenario,
    vary: options.Vary = None,
    set: options.Set = None,
    seed: options.Seed = 1,
    replications: options.Replications = 1,
    jobs: options.Jobs = 1,
    dask: options.Dask = None,
    out: options.Out = None,
    plot: options.SweepPlot = None,
    objective: options.Objectives = None,
    format: options.Output = Format.table,
) -> None:
    """Simulate every combination of varied values.

    Values are PATH=V1,V2,… or PATH=LOW:HIGH:COUNT[:log].

    Example: gridtune sweep diet/day-regular --set client.dispatch=legacy --vary client.n_submit=50:300:6
    """
    from gridtune.scenarios.api.sweep_result import sweep
    from gridtune.scenarios.commands.sweep import check_not_varied
    from gridtune.scenarios.results.printing import sweep_rows

    changed = _scenario(scenario, set)
    check_not_varied(changed, vary or [], set or [])
    made = sweep(
        changed, vary or [],
        seed=seed, replications=replications, jobs=jobs, objectives=objective or [],
        out=out, plot=plot, dask=dask,
    )  # fmt: skip
    rows = sweep_rows(made.outcomes, made.objectives)
    _print(made.to_dict(), rows, [*made.paths, *made.objectives], format)
    if format is Format.table and any("±" in str(value) for row in rows for value in row.values()):
        print("±: standard error")


@app.command(cls=Command, rich_help_panel=SEARCH)
def search(
    scenario: options.Scenario,
    budget: options.Budget = None,
    runs: options.RunBudget = None,
    time: options.TimeBudget = None,
    converged: options.Converged = False,
    sampler: options.Sampler = "auto",
    replications: options.FirstReplications = None,
    jobs: options.AllJobs = None,
    dask: options.Dask = None,
    seed: options.SearchSeed = 1,
    storage: options.Storage = None,
    study: options.StudyName = None,
    resume: options.Resume = False,
    objective: options.Objectives = None,
    require: options.Require = None,
    others: options.Scenarios = None,
    seeds: options.Seeds = None,
    robust: options.Robust = None,
    allow_loss: options.AllowLoss = None,
    allow_starvation: options.AllowStarvation = None,
    start_from: options.StartFrom = None,
    vary: options.Vary = None,
    set: options.Set = None,
    out: options.Out = None,
    format: options.Output = Format.table,
) -> None:
    """Search a scenario's parameters for the best trade-offs.

    Ranges are PATH=LOW:HIGH[:log] or PATH=V1,V2,…; they add to or replace those of the scenario.
    Of several scenarios the first gives space and objectives; worst and quantile compare raw values.

    Example: gridtune search diet/egee-week --budget 200 --out results/egee-week

    Example: gridtune search mine.toml --vary site.cluster.nodes=8:64 --time 10m --out results/mine
    """
    from gridtune.optimize.commands.search import run_search, sampler_rows

    if sampler == "list":
        rows = sampler_rows()
        _print(rows, rows, ("sampler", "meaning"), format)
        return
    said = run_search(
        _scenario(scenario, set),
        budget=budget, runs=runs, time=time, converged=converged,
        sampler=sampler, replications=replications,
        jobs=jobs or os.cpu_count() or 1, seed=seed, storage=storage, study=study, resume=resume,
        objectives=objective or [], vary=vary or [], require=require or [], others=others or [],
        assignments=set or [], seeds=seeds, robust=robust,
        allow_loss=allow_loss, allow_starvation=allow_starvation,
        start_from=start_from or [], out=out, dask=dask, format=format,
    )  # fmt: skip
    sys.stdout.write(said)


@app.command(cls=Command, rich_help_panel=LOOK)
def front(
    study: options.Study,
    format: options.FrontOutput = FrontFormat.table,
    all: options.Every = False,
    statistics: options.Statistics = False,
    plot: options.FrontPlot = None,
    export: options.Export = None,
    export_diff: options.ExportDiff = None,
    full: options.Full = False,
    prefer: options.Prefer = None,
    skip_broken: options.SkipBroken = False,
) -> None:
    """Show the Pareto front of a search, or export a configuration.

    Example: gridtune front results/egee-week --export A > a.toml

    Example: gridtune front results/egee-week --plot parallel.png
    """
    from gridtune.optimize.commands.front import FrontRequest, show_front

    request = FrontRequest(format, all, statistics, prefer, export, export_diff, full, plot)
    sys.stdout.write(show_front(study, request, skip_broken=skip_broken))


@app.command(cls=Command, rich_help_panel=LOOK)
def compare(
    a: options.Compared,
    b: options.Compared,
    all: options.EveryRow = False,
    format: options.Output = Format.table,
) -> None:
    """Set two studies, or two runs, side by side.

    What changes is listed, what changes significantly first.

    Example: gridtune compare results/monday results/tuesday
    """
    from gridtune.optimize.commands.compare import compare_text, run_compare
    from gridtune.scenarios.results.json_text import to_json
    from gridtune.scenarios.results.text import terminal_width

    made, json = run_compare(a, b), format is Format.json
    text = to_json(made.to_dict()) + "\n" if json else compare_text(made, terminal_width(), every=all)
    sys.stdout.write(text)


@app.command(cls=Command, rich_help_panel=EVIDENCE)
def sensitivity(
    subject: options.StudyOrScenario,
    method: options.Method = None,
    samples: options.Samples = None,
    replications: options.DesignReplications = None,
    jobs: options.AllJobs = None,
    dask: options.Dask = None,
    seed: options.Seed = 1,
    objective: options.Objectives = None,
    vary: options.Vary = None,
    set: options.Set = None,
    plot: options.Plot = None,
    out: options.Out = None,
    all: options.Whole = False,
    format: options.TableOutput = TableFormat.table,
) -> None:
    """Show which parameters matter for which objective.

    Of a search, its configurations are analysed; a scenario is simulated.

    Example: gridtune sensitivity dirac/search --samples 10 --plot effects.png
    """
    from gridtune.optimize.commands.sensitivity import SensitivityRequest, run_sensitivity, sensitivity_text
    from gridtune.scenarios.results.json_text import to_json
    from gridtune.scenarios.results.text import terminal_width

    asked = SensitivityRequest(
        subject, objective or [], seed, plot, out,
        method, samples, replications, jobs, dask, vary or [], set or [],
    )  # fmt: skip
    found = run_sensitivity(asked)
    if format is TableFormat.csv:
        sys.stdout.write(found.table().to_csv(index=False))
        return
    json = format is TableFormat.json
    shown = to_json(found.to_dict()) + "\n" if json else sensitivity_text(found, terminal_width(), every=all)
    sys.stdout.write(shown)


@app.command(cls=Command, rich_help_panel=EVIDENCE)
def explain(
    study: options.Study,
    configuration: options.Configuration,
    replications: options.ValidationReplications = None,
    jobs: options.AllJobs = None,
    dask: options.Dask = None,
    ablate: options.Ablate = True,
    all: options.Whole = False,
    format: options.Output = Format.table,
) -> None:
    """Say what a configuration gains and costs, and why.

    Example: gridtune explain results/egee-week A
    """
    from gridtune.optimize.api import open_study
    from gridtune.scenarios.results.json_text import to_json
    from gridtune.scenarios.results.text import shortened

    made = open_study(study).explain(
        configuration, replications=replications, jobs=jobs, dask=dask, ablate=ablate, progress=True
    )
    json = format is Format.json
    sys.stdout.write(to_json(made.details.to_dict()) + "\n" if json else shortened(made.text, every=all))


@app.command(cls=Command, rich_help_panel=LOOK)
def plot(
    runs: options.RunsAndPicture = None,
    out: options.PictureOut = None,
    list: options.ListPictures = False,
    window: options.Window = None,
) -> None:
    """Draw a picture of a run, or of several side by side.

    Example: gridtune plot results/easy results/sjf waits --out waits.png
    """
    from gridtune.scenarios.commands.plot import draw, picture_rows

    if list:
        rows = picture_rows()
        _print(rows, rows, ("kind", "shows", "of several runs"), Format.table)
    elif runs is None or len(runs) < 2 or out is None:
        raise typer.BadParameter(
            "a picture needs RUN, KIND and --out FILE; `gridtune plot --list` lists the kinds"
        )
    else:
        draw(runs[:-1], runs[-1], out, window)
        print(escaped(str(out)))


@app.command(cls=Command, rich_help_panel=RUN)
def watch(
    scenario: options.Scenario,
    set: options.Set = None,
    seed: options.Seed = 1,
    steps: options.Steps = 200,
    step_length: options.StepLength = None,
    port: options.Port = 8765,
    browser: options.Browser = True,
) -> None:
    """Watch a scenario run in the browser (extra `watch`).

    Policies and parameters can be changed there.

    Example: gridtune watch diet/day-regular
    """
    from gridtune.scenarios.commands.watch import watch as serve

    made = _scenario(scenario, set)
    serve(made, seed, steps=steps, step_length=step_length, port=port, browser=browser)


@app.command(cls=Command, rich_help_panel=SEARCH)
def calibrate(
    trace: options.Logs,
    nodes: options.Nodes = None,
    last: options.LastJob = None,
    slurm: options.SlurmConf = None,
    qos: options.SlurmQos = None,
    out: options.ScenarioFile = None,
    all: options.AllTerms = False,
    format: options.Output = Format.table,
) -> None:
    """Find settings under which a log's replay waits as the log did.

    Example: gridtune calibrate KTH-SP2-1996-2.1-cln.swf.gz --out mine.toml
    """
    from gridtune.scenarios.commands.calibrate import run_calibration
    from gridtune.scenarios.results.json_text import to_json

    made, lines = run_calibration(trace, nodes, last, out, slurm=slurm, qos=qos, every=all)
    print(to_json(made) if format is Format.json else "\n".join(lines))


@app.command(cls=Command, rich_help_panel=EVIDENCE)
def reproduce(
    paper: options.Paper = None,
    list: options.ListPapers = False,
    replications: options.Replications = 10,
    seed: options.Seed = 1,
    quick: options.Quick = False,
    jobs: options.AllJobs = None,
    out: options.FiguresOut = None,
    format: options.Output = Format.table,
) -> None:
    """Run a paper's experiments, draw figures, and check its claims.

    Example: gridtune reproduce diet/day-regular
    """
    from gridtune.scenarios.commands.reproduce import experiment_rows, remarks, run_paper

    if list or paper is None:
        rows = experiment_rows()
        _print(rows, rows, ("experiment", "title"), format)
        return
    made = run_paper(paper, replications, seed, jobs or os.cpu_count() or 1, out, quick=quick)
    columns = ("id", "experiment", "claim", "expected", "measured", "verdict")
    _print(made, made["claims"], columns, format)
    if format is Format.table:
        for line in remarks(made):
            print(line)
    if any(claim["verdict"] == "not met" for claim in made["claims"]):
        raise typer.Exit(1)


@app.command(cls=Command, rich_help_panel=SEARCH)
def identify(
    scenario: options.Scenario,
    set: options.Set = None,
    seed: options.Seed = 1,
    harvester: options.Harvester = None,
    sensor: options.Measured = None,
    low: options.Low = 0.0,
    high: options.High = 10.0,
    settling: options.Settling = 10.0,
    overshoot: options.Overshoot = 0.05,
    format: options.Output = Format.table,
) -> None:
    """Fit a harvester's response, and place a PI controller's gains.

    The model is y(k+1) = a y(k) + b u(k), fitted to a step of the submissions.

    Example: gridtune identify cigri/file-system
    """
    from gridtune.scenarios.simulation.identify import MEANINGS, identify

    found = identify(
        _scenario(scenario, set),
        seed,
        harvester=harvester,
        sensor=None if sensor is None else sensor.value,
        low=low,
        high=high,
    )
    made = found.as_json(settling, overshoot)
    rows = [{"parameter": name, "value": made[name], "meaning": text} for name, text in MEANINGS.items()]
    _print(made, rows, ("parameter", "value", "meaning"), format)
    if min(made["kp"], made["ki"]) < 0:
        hint = 'kind = "pole-placement" with these a and b takes them; a shorter --settling may avoid them'
        print(f'gridtune: kind = "pi" refuses gains below 0; {hint}', file=sys.stderr)


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
    single_threaded()
    boundary.run(partial(app, standalone_mode=False))


if __name__ == "__main__":
    main()
