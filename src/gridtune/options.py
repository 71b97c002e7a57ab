"""Arguments and options of the command line: what each is called, may be, and means.

A command in `cli.py` names them; options that every command has stand in `boundary.py`.
"""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from gridtune import completion, limits
from gridtune.help_panels import HOW, KEEP, LONG, OUTPUT, WHAT

_what, _how_long, _how, _keep, _output = (
    partial(typer.Option, rich_help_panel=panel) for panel in (WHAT, LONG, HOW, KEEP, OUTPUT)
)


class Format(StrEnum):
    """How to print results."""

    table = "table"
    json = "json"


class TableFormat(StrEnum):
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


def _count(help: str, most: int, *names: str, least: int = 1, panel: str = HOW) -> Any:
    """An option that is a whole number from 1, or `least`, to `most`."""
    return typer.Option(*names, help=help, min=least, max=most, metavar="N", rich_help_panel=panel)


# What a command is about.
Scenario = Annotated[
    str,
    typer.Argument(
        help="Name of a shipped scenario, or path of a TOML file.", autocompletion=completion.scenarios
    ),
]
ShippedScenario = Annotated[
    str, typer.Argument(help="Name of a shipped scenario.", autocompletion=completion.scenarios)
]
Study = Annotated[str, typer.Argument(help="A search's folder, journal file or storage URL.")]
StudyOrScenario = Annotated[
    str,
    typer.Argument(
        metavar="STUDY|SCENARIO",
        help="A search's, or one to simulate.",
        autocompletion=completion.scenarios,
    ),
]
Configuration = Annotated[str, typer.Argument(help="A number, the letter of a recommendation, or baseline.")]
RunsAndPicture = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN... KIND",
        help="Folders that `gridtune run --out` wrote, then the kind of picture; `--list` prints the kinds.",
        autocompletion=completion.pictures,
    ),
]
Paper = Annotated[
    str | None, typer.Argument(help="PAPER or PAPER/EXPERIMENT.", autocompletion=completion.papers)
]
Trace = Annotated[Path, typer.Argument()]
Logs = Annotated[list[str], typer.Argument(help="Traces with waits: SWF, GWF, CSV, or of sacct or OAR.")]
Nodes = Annotated[int | None, _count("Processors; as many as the trace names.", limits.SITE_SLOTS)]
LastJob = Annotated[int | None, _count("Number of the last job to use; all.", limits.WHOLE)]
ScenarioFile = Annotated[Path | None, _keep(help="TOML file to write; it must not exist.")]
SlurmConf = Annotated[Path | None, _how(help="slurm.conf of the site: its settings are tried first.")]
SlurmQos = Annotated[Path | None, _how(help="What `sacctmgr -nP show qos` prints at that site.")]
SwfFile = Annotated[Path, typer.Argument(help="File to write; it must not exist.")]
Plugins = Annotated[list[Path] | None, typer.Argument(help="Python files; left out, lists them.")]

# Values of a scenario.
Set = Annotated[
    list[str] | None,
    _what(
        "--set",
        metavar="PATH=VALUE",
        help="Override a value; repeatable.",
        autocompletion=completion.settings,
    ),
]
Vary = Annotated[
    list[str] | None,
    _what(metavar="PATH=SPEC", help="Values to vary; repeatable.", autocompletion=completion.settings),
]
Scenarios = Annotated[
    list[str] | None,
    _what(
        "--scenario",
        metavar="NAME[:PATH=VALUE,…]",
        help="Additional scenario every configuration must handle (repeatable).",
    ),
]

# How often and where things run.
Seed = Annotated[int, _count("Seed of all random numbers.", limits.SEED, least=0)]
Seeds = Annotated[
    str | None, _what(metavar="N,N,…", help="Workload seeds that every configuration must handle.")
]
Replications = Annotated[
    int, _count("Runs of each configuration, on common random numbers.", limits.REPLICATIONS)
]
FirstReplications = Annotated[
    int | None,
    _count("Runs of each configuration at first; the scenario's number, or 1.", limits.REPLICATIONS),
]
DesignReplications = Annotated[int | None, _count("Runs of each configuration; 1.", limits.REPLICATIONS)]
ValidationReplications = Annotated[
    int | None, _count("Runs of each configuration on validation seeds.", limits.REPLICATIONS)
]
Jobs = Annotated[int, _count("Worker processes.", limits.WORKERS)]
AllJobs = Annotated[int | None, _count("Worker processes; all cores by default.", limits.WORKERS)]
Dask = Annotated[str | None, _how(metavar="ADDRESS", help="Dask scheduler to run on instead.")]

# What a search is to find, and where it is kept.
Budget = Annotated[
    int | None,
    _count(
        "Configurations to try, and one more for each recommendation; 100 without another limit.",
        limits.BUDGET,
        panel=LONG,
    ),
]
RunBudget = Annotated[
    int | None, _count("Simulations in all, validation included.", limits.BUDGET, panel=LONG)
]
TimeBudget = Annotated[str | None, _how_long(metavar="DURATION", help="How long: 90s, 10m, 1.5h.")]
Converged = Annotated[bool, _how_long("--converged", help="End when the front stops growing.")]
Sampler = Annotated[
    str,
    _how(help="auto, or a name; `--sampler list` prints them.", autocompletion=completion.samplers),
]
Objectives = Annotated[
    list[str] | None,
    _what(help="Metric to show or trade off; repeatable.", autocompletion=completion.metrics),
]
Require = Annotated[
    list[str] | None,
    _what(metavar="METRIC<=NUMBER", help="Constraint; also >=, <, >; repeatable."),
]
Robust = Annotated[str | None, _what(help="Of several scenarios or seeds: mean, worst or quantile:SHARE.")]
StartFrom = Annotated[
    list[str] | None,
    _what(metavar="SCENARIO|STUDY", help="Configurations to evaluate first, after the baseline; repeatable."),
]
AllowLoss = Annotated[
    bool | None,
    _what("--allow-loss/--no-loss", help="Configurations may lose more mandatory work than the baseline."),
]
AllowStarvation = Annotated[
    bool | None,
    _what("--allow-starvation/--no-starvation", help="Somebody may wait much longer than in the baseline."),
]
Storage = Annotated[str | None, _keep(metavar="URL", help="Optuna storage; a journal file by default.")]
StudyName = Annotated[str | None, _keep(help="Name of the study.")]
SkipBroken = Annotated[bool, _keep("--skip-broken", help="Pass over broken lines of the table of runs.")]
Resume = Annotated[bool, _keep("--resume", help="Go on with an interrupted search.")]

# What is analysed, and how.
Method = Annotated[str | None, _how(help="morris (default) or sobol; scenarios only.")]
Samples = Annotated[int | None, _count("Trajectories or base samples.", limits.SAMPLES)]
Ablate = Annotated[bool, _how(help="Put its settings back one by one.")]
Harvester = Annotated[str | None, _how(help="Name; not needed where there is only one.")]
Measured = Annotated[Sensor, _how(help="What to measure.")]
Low = Annotated[float, _how(help="Jobs per cycle before the step.", min=0, max=limits.NUMBER)]
High = Annotated[float, _how(help="Jobs per cycle after the step.", min=0, max=limits.NUMBER)]
Settling = Annotated[float, _how(help="Cycles until the closed loop settles.")]
Overshoot = Annotated[float, _how(help="Of the step response, as a fraction.")]

# What comes out, and where to.
Output = Annotated[Format, _output("--format", help="What goes to standard output.")]
TableOutput = Annotated[TableFormat, _output("--format", help="What goes to standard output.")]
FrontOutput = Annotated[FrontFormat, _output("--format", help="What goes to standard output.")]
Out = Annotated[Path | None, _keep(help="Folder for results.")]
FiguresOut = Annotated[Path | None, _keep(help="Folder for figures; results/PAPER by default.")]
Quick = Annotated[
    bool, _how("--quick", help="Do it at reduced size: fewer configurations, smaller workloads.")
]
PictureOut = Annotated[Path | None, _output(help="File to draw (png, svg, pdf).")]
All = Annotated[bool, _output("--all", help="Print every metric, by the component that it is about.")]
Events = Annotated[bool, _keep("--events", help="Keep the event table.")]
AllTerms = Annotated[bool, _output("--all", help="Print quantiles, classes and single logs, too.")]
SweepPlot = Annotated[
    Path | None, _output(help="Draw the objectives over the varied values (png, svg, pdf).")
]
Compared = Annotated[str, typer.Argument(metavar="STUDY|RUN", help="A search's, or a run's folder or JSON.")]
Export = Annotated[
    str | None,
    _output(metavar="NAME", help="Print a configuration (A, a number, baseline) as a scenario to run."),
]
ExportDiff = Annotated[
    str | None,
    _output(metavar="NAME", help="Print what to change in the baseline, and what each change does."),
]
Full = Annotated[
    bool, _output("--full", help="Export what a recommendation was made from, with all its changes.")
]
Every = Annotated[bool, _output("--all", help="List dominated configurations, too.")]
Statistics = Annotated[bool, _output("--statistics", help="Print hypervolume, optimism and tests instead.")]
Whole = Annotated[bool, _output("--all", help="Print all of it, not only what matters most.")]
EveryRow = Annotated[bool, _output("--all", help="List what is equal, too.")]
Prefer = Annotated[
    str | None,
    _output(metavar="TEXT", help="Rank by weights a=2,b=1, limits a<=3, or an order a~0.05,b."),
]
FrontPlot = Annotated[
    Path | None,
    _output(help="Picture (png, svg, pdf) or page (html), named pairs, parallel, parameters or history."),
]
Plot = Annotated[Path | None, _output(help="Picture (png, svg, pdf).")]
Window = Annotated[str | None, _output(metavar="FROM:TO", help="Time window in s.")]
ListPictures = Annotated[bool, _output("--list", help="List the kinds of pictures.")]
ListPapers = Annotated[bool, _output("--list", help="List papers and experiments.")]
Family = Annotated[str | None, _output(help="Only this family.", autocompletion=completion.families)]
Forget = Annotated[bool, _output("--forget", help="Do not let them run any more.")]

# The live view.
Steps = Annotated[int, _how(help="Steps that a whole run takes, about.", min=1)]
StepLength = Annotated[float | None, _how(help="Seconds that a step advances, instead.", min=1e-9)]
Port = Annotated[int, _count("To listen at, on this machine only; 0: any.", 65535, least=0)]
Browser = Annotated[bool, _how(help="Open a browser.")]
