"""Arguments and options of the command line: what each is called, may be, and means.

A command in `cli.py` names them; options that every command has stand in `boundary.py`.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from gridtune import completion, limits


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


def _count(help: str, most: int, *names: str, least: int = 1) -> Any:
    """An option that is a whole number from 1, or `least`, to `most`."""
    return typer.Option(*names, help=help, min=least, max=most)


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
Point = Annotated[str, typer.Argument(help="Number of a point, or the name of a recommendation.")]
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
ScenarioFile = Annotated[Path | None, typer.Option(help="TOML file to write; it must not exist.")]
SlurmConf = Annotated[Path | None, typer.Option(help="slurm.conf of the site: its settings are tried first.")]
SlurmQos = Annotated[Path | None, typer.Option(help="What `sacctmgr -nP show qos` prints at that site.")]
SwfFile = Annotated[Path, typer.Argument(help="File to write; it must not exist.")]
Plugins = Annotated[list[Path] | None, typer.Argument(help="Python files; left out, lists them.")]

# Values of a scenario.
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Override a value; repeatable.",
        autocompletion=completion.settings,
    ),
]
Vary = Annotated[
    list[str] | None,
    typer.Option(metavar="PATH=SPEC", help="Values to vary; repeatable.", autocompletion=completion.settings),
]
Scenarios = Annotated[
    list[str] | None,
    typer.Option("--scenario", metavar="NAME[:PATH=VALUE,…]", help="To do well in, too; repeatable."),
]

# How often and where things run.
Seed = Annotated[int, _count("Seed of all random streams.", limits.SEED, least=0)]
Seeds = Annotated[str | None, typer.Option(metavar="N,N,…", help="Workload seeds to do well in.")]
Replications = Annotated[int, _count("Runs of each point, on common random numbers.", limits.REPLICATIONS)]
FirstReplications = Annotated[
    int | None, _count("Runs of each point at first; the scenario's number, or 1.", limits.REPLICATIONS)
]
MostReplications = Annotated[
    int | None, _count("Runs of a point that may be on the front; no more if left out.", limits.REPLICATIONS)
]
DesignReplications = Annotated[int | None, _count("Runs of each point; 1.", limits.REPLICATIONS)]
FreshReplications = Annotated[int | None, _count("Fresh runs of each point.", limits.REPLICATIONS)]
Jobs = Annotated[int, _count("Worker processes.", limits.WORKERS)]
AllJobs = Annotated[int | None, _count("Worker processes; all cores by default.", limits.WORKERS)]
Dask = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler to run on instead.")]

# What a search is to find, and where it is kept.
Budget = Annotated[int | None, _count("Points to evaluate; 100 without another limit.", limits.BUDGET)]
RunBudget = Annotated[int | None, _count("Simulations in all, fresh ones included.", limits.BUDGET)]
TimeBudget = Annotated[str | None, typer.Option(metavar="DURATION", help="How long: 90s, 10m, 1.5h.")]
Converged = Annotated[bool, typer.Option("--converged", help="End when the front stops growing.")]
Sampler = Annotated[
    str,
    typer.Option(help="auto, or a name; `--sampler list` prints them.", autocompletion=completion.samplers),
]
Objectives = Annotated[
    list[str] | None,
    typer.Option(help="Metric to show or trade off; repeatable.", autocompletion=completion.metrics),
]
Require = Annotated[
    list[str] | None,
    typer.Option(metavar="METRIC<=NUMBER", help="Constraint; also >=, <, >; repeatable."),
]
Robust = Annotated[
    str | None, typer.Option(help="Of several scenarios or seeds: mean, worst or quantile:SHARE.")
]
StartFrom = Annotated[
    list[str] | None,
    typer.Option(metavar="SCENARIO|STUDY", help="Settings to evaluate first, after today's; repeatable."),
]
AllowLoss = Annotated[
    bool | None,
    typer.Option("--allow-loss/--no-loss", help="Points may lose more work than the scenario does."),
]
Storage = Annotated[
    str | None, typer.Option(metavar="URL", help="Optuna storage; a journal file by default.")
]
StudyName = Annotated[str | None, typer.Option(help="Name of the study.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with an interrupted search.")]
Salvage = Annotated[bool, typer.Option("--salvage", help="Take what is whole of a damaged study.")]
Mend = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write that to a new journal, with which `search --resume` goes on."),
]

# What is analysed, and how.
Method = Annotated[str | None, typer.Option(help="morris (default) or sobol; scenarios only.")]
Samples = Annotated[int | None, _count("Trajectories or base samples.", limits.SAMPLES)]
Ablate = Annotated[bool, typer.Option(help="Put its settings back one by one.")]
Harvester = Annotated[str | None, typer.Option(help="Name; not needed where there is only one.")]
Measured = Annotated[Sensor, typer.Option(help="What to measure.")]
Low = Annotated[float, typer.Option(help="Jobs per cycle before the step.", min=0, max=limits.NUMBER)]
High = Annotated[float, typer.Option(help="Jobs per cycle after the step.", min=0, max=limits.NUMBER)]
Settling = Annotated[float, typer.Option(help="Cycles until the closed loop settles.")]
Overshoot = Annotated[float, typer.Option(help="Of the step response, as a fraction.")]

# What comes out, and where to.
Output = Annotated[Format, typer.Option("--format", help="What goes to standard output.")]
TableOutput = Annotated[TableFormat, typer.Option("--format", help="What goes to standard output.")]
FrontOutput = Annotated[FrontFormat, typer.Option("--format", help="What goes to standard output.")]
Out = Annotated[Path | None, typer.Option(help="Folder for results.")]
FiguresOut = Annotated[Path | None, typer.Option(help="Folder for figures; results/PAPER by default.")]
Quick = Annotated[
    bool, typer.Option("--quick", help="Do it at reduced size: fewer points, smaller workloads.")
]
PictureOut = Annotated[Path | None, typer.Option(help="File to draw (png, svg, pdf).")]
All = Annotated[bool, typer.Option("--all", help="Print every metric, by the part that it is about.")]
AllTerms = Annotated[bool, typer.Option("--all", help="Print quantiles, classes and single logs, too.")]
Events = Annotated[bool, typer.Option("--events", help="Keep the event table.")]
SweepPlot = Annotated[
    Path | None, typer.Option(help="Draw the objectives over the varied values (png, svg, pdf).")
]
Compared = Annotated[str, typer.Argument(metavar="STUDY|RUN", help="A search's, or a run's folder or JSON.")]
Export = Annotated[
    str | None,
    typer.Option(metavar="POINT", help="Print a point (number, recommendation, today) as a scenario to run."),
]
ExportDiff = Annotated[
    str | None, typer.Option(metavar="POINT", help="Print what to change in the scenario to get a point.")
]
Prefer = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="Rank by weights a=2,b=1, limits a<=3, or an order a~0.05,b."),
]
FrontPlot = Annotated[Path | None, typer.Option(help="Picture of the front (png, svg, pdf, html).")]
Plot = Annotated[Path | None, typer.Option(help="Picture (png, svg, pdf).")]
Window = Annotated[str | None, typer.Option(metavar="FROM:TO", help="Time window in s.")]
ListPictures = Annotated[bool, typer.Option("--list", help="List the kinds of pictures.")]
ListPapers = Annotated[bool, typer.Option("--list", help="List papers and experiments.")]
Family = Annotated[str | None, typer.Option(help="Only this family.", autocompletion=completion.families)]
Forget = Annotated[bool, typer.Option("--forget", help="Do not let them run any more.")]

# The live view.
Steps = Annotated[int, typer.Option(help="Steps that a whole run takes, about.", min=1)]
StepLength = Annotated[float | None, typer.Option(help="Seconds that a step advances, instead.", min=1e-9)]
Port = Annotated[int, _count("To listen at, on this machine only; 0: any.", 65535, least=0)]
Browser = Annotated[bool, typer.Option(help="Open a browser.")]
