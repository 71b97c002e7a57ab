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


def _digits(number: float) -> str:
    """A bound as it is read: 100000, 1e+18, 2^64-1."""
    power = int(number) + 1
    if power > limits.WHOLE and not power & (power - 1):
        return f"2^{power.bit_length() - 1}-1"
    return str(number) if isinstance(number, int) else f"{number:g}"


def _number(
    help: str, least: float, most: float, *names: str, default: str | None = None, panel: str = HOW
) -> Any:
    """An option that is a number from `least` to `most`, which its help shows.

    Args:
        help: a sentence.
        least, most: the bounds; whole numbers for a whole number.
        names: of the option; that of the parameter if left out.
        default: what holds where it is left out, if that is no number.
        panel: of the help.
    """
    return typer.Option(
        *names, help=help, min=least, max=most, metavar=f"{_digits(least)}..{_digits(most)}",
        show_default=default or True, rich_help_panel=panel,
    )  # fmt: skip


# What a command is about.
Scenario = Annotated[
    str,
    typer.Argument(
        help="Give the name of a shipped scenario, or the path of a TOML file.",
        autocompletion=completion.scenarios,
    ),
]
ShippedScenario = Annotated[
    str, typer.Argument(help="Give the name of a shipped scenario.", autocompletion=completion.scenarios)
]
Study = Annotated[str, typer.Argument(help="Give the folder, journal file or storage URL of a search.")]
StudyOrScenario = Annotated[
    str,
    typer.Argument(
        metavar="STUDY|SCENARIO",
        help="Give the folder, journal file or storage URL of a search, or a scenario to simulate.",
        autocompletion=completion.scenarios,
    ),
]
Configuration = Annotated[
    str,
    typer.Argument(help="Give the number of a configuration, the letter of a recommendation, or baseline."),
]
RunsAndPicture = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN... KIND",
        help="Give folders of `gridtune run --out`, then the kind of picture. `--list` prints the kinds.",
        autocompletion=completion.pictures,
    ),
]
Paper = Annotated[
    str | None,
    typer.Argument(
        help="Name the paper, as PAPER or PAPER/EXPERIMENT. Without it, all are listed.",
        autocompletion=completion.papers,
    ),
]
Trace = Annotated[Path, typer.Argument(help="Name the trace to read: SWF, GWF, or of sacct or OAR.")]
Logs = Annotated[
    list[str], typer.Argument(help="Name traces that record waits: SWF, GWF, CSV, or of sacct or OAR.")
]
Nodes = Annotated[
    int | None,
    _number("Give the site so many processors.", 1, limits.SITE_SLOTS, default="as many as the trace names"),
]
LastJob = Annotated[
    int | None,
    _number("Use the jobs up to this number only.", 1, limits.WHOLE, default="all jobs"),
]
ScenarioFile = Annotated[Path | None, _keep(help="Write a TOML file, which must not exist.")]
SlurmConf = Annotated[Path | None, _how(help="Take policy and limits from the site's slurm.conf.")]
SlurmQos = Annotated[Path | None, _how(help="Read what `sacctmgr -P show qos` prints at that site.")]
SwfFile = Annotated[Path, typer.Argument(help="Name the file to write, which must not exist.")]
Plugins = Annotated[
    list[Path] | None,
    typer.Argument(help="Name Python files to trust. Without any, trusted files are listed."),
]

# Values of a scenario.
Set = Annotated[
    list[str] | None,
    _what(
        "--set",
        metavar="PATH=VALUE",
        help="Override a value (repeatable).",
        autocompletion=completion.settings,
    ),
]
Vary = Annotated[
    list[str] | None,
    _what(metavar="PATH=SPEC", help="Vary a value (repeatable).", autocompletion=completion.settings),
]
Scenarios = Annotated[
    list[str] | None,
    _what(
        "--scenario",
        metavar="NAME[:PATH=VALUE,…]",
        help="Add a scenario that every configuration must handle (repeatable).",
    ),
]

# How often and where things run.
_SEED_HELP = "Set the seed of all random numbers."
Seed = Annotated[int, _number(_SEED_HELP, 0, limits.SEED)]
SearchSeed = Annotated[int, _number(_SEED_HELP, 0, limits.SEARCH_SEED)]
Seeds = Annotated[
    str | None,
    _what(metavar="N,N,…", help="Run every configuration under these workload seeds (0..2^64-1 each)."),
]
_REPLICATIONS_HELP = "Run each configuration this often, on common random numbers."
Replications = Annotated[int, _number(_REPLICATIONS_HELP, 1, limits.REPLICATIONS)]
FirstReplications = Annotated[
    int | None,
    _number(
        "Run each configuration this often at first.",
        1,
        limits.REPLICATIONS,
        default="that of the scenario, else 1",
    ),
]
DesignReplications = Annotated[int | None, _number(_REPLICATIONS_HELP, 1, limits.REPLICATIONS, default="1")]
ValidationReplications = Annotated[
    int | None,
    _number(
        "Run each configuration this often on validation seeds.",
        1,
        limits.REPLICATIONS,
        default="as often as on the front, at least 5",
    ),
]
_JOBS_HELP = "Use this many worker processes."
Jobs = Annotated[int, _number(_JOBS_HELP, 1, limits.WORKERS)]
AllJobs = Annotated[int | None, _number(_JOBS_HELP, 1, limits.WORKERS, default="all cores")]
Dask = Annotated[str | None, _how(metavar="ADDRESS", help="Run on the workers of a Dask scheduler instead.")]

# What a search is to find, and where it is kept.
Budget = Annotated[
    int | None,
    _number(
        "End after so many configurations, and one more for each recommendation.",
        1,
        limits.BUDGET,
        default="100 without another limit",
        panel=LONG,
    ),
]
RunBudget = Annotated[
    int | None,
    _number(
        "End after so many simulations, validation included.",
        1,
        limits.BUDGET,
        default="no limit",
        panel=LONG,
    ),
]
TimeBudget = Annotated[
    str | None,
    _how_long(
        metavar="DURATION", help="End after this time, such as 90s, 10m or 1.5h.", show_default="no limit"
    ),
]
Converged = Annotated[bool, _how_long("--converged", help="End when the front stops growing.")]
Sampler = Annotated[
    str,
    _how(help="Choose the sampler. `--sampler list` prints all.", autocompletion=completion.samplers),
]
Objectives = Annotated[
    list[str] | None,
    _what(
        help="Show or trade off a metric (repeatable).",
        show_default="those of the scenario",
        autocompletion=completion.metrics,
    ),
]
Require = Annotated[
    list[str] | None,
    _what(metavar="METRIC<=NUMBER", help="Add a constraint, also with >=, < or > (repeatable)."),
]
Robust = Annotated[
    str | None,
    _what(help="Summarise several scenarios or seeds by mean, worst or quantile:SHARE (SHARE in 0..1)."),
]
StartFrom = Annotated[
    list[str] | None,
    _what(
        metavar="SCENARIO|STUDY",
        help="Evaluate the configurations of another one first, after the baseline (repeatable).",
    ),
]
AllowLoss = Annotated[
    bool | None,
    _what(
        "--allow-loss/--no-loss",
        help="Let configurations lose more mandatory work than the baseline.",
        show_default="as in [search], else no-loss",
    ),
]
AllowStarvation = Annotated[
    bool | None,
    _what(
        "--allow-starvation/--no-starvation",
        help="Let configurations make somebody wait much longer than the baseline.",
        show_default="as in [search], else no-starvation",
    ),
]
Storage = Annotated[
    str | None, _keep(metavar="URL", help="Use an Optuna storage.", show_default="a journal file")
]
StudyName = Annotated[str | None, _keep(help="Name the study.", show_default="the name of the scenario")]
SkipBroken = Annotated[bool, _keep("--skip-broken", help="Pass over broken lines of the table of runs.")]
Resume = Annotated[bool, _keep("--resume", help="Go on with an interrupted search.")]

# What is analysed, and how.
Method = Annotated[
    str | None,
    _how(help="Choose the method for a scenario: morris or sobol.", show_default="morris"),
]
Samples = Annotated[
    int | None,
    _number(
        "Set the number of trajectories (morris) or base samples (sobol, a power of 2).",
        2,
        limits.SAMPLES,
        default="20 trajectories, 128 base samples",
    ),
]
Ablate = Annotated[bool, _how(help="Put the settings of the configuration back one by one.")]
Harvester = Annotated[str | None, _how(help="Name the harvester.", show_default="the only one")]
Measured = Annotated[
    Sensor | None, _how(help="Choose what is measured.", show_default="as the controller does")
]
Low = Annotated[float, _number("Submit so many jobs per cycle before the step.", 0.0, limits.NUMBER)]
High = Annotated[float, _number("Submit so many jobs per cycle after the step.", 0.0, limits.NUMBER)]
Settling = Annotated[float, _number("Let the closed loop settle within so many cycles.", 0.01, limits.NUMBER)]
Overshoot = Annotated[
    float, _number("Place poles that alone would overshoot by this share of the step.", 1e-6, 0.99)
]

# What comes out, and where to.
_FORMAT_HELP = "Choose what goes to standard output."
Output = Annotated[Format, _output("--format", help=_FORMAT_HELP)]
TableOutput = Annotated[TableFormat, _output("--format", help=_FORMAT_HELP)]
FrontOutput = Annotated[FrontFormat, _output("--format", help=_FORMAT_HELP)]
Out = Annotated[Path | None, _keep(help="Write results to a folder.")]
FiguresOut = Annotated[Path | None, _keep(help="Write figures to a folder.", show_default="results/PAPER")]
Quick = Annotated[
    bool, _how("--quick", help="Work at reduced size: fewer configurations, smaller workloads.")
]
PictureOut = Annotated[Path | None, _output(help="Draw this file (png, svg, pdf).")]
All = Annotated[bool, _output("--all", help="Print every metric, in groups.")]
Events = Annotated[bool, _keep("--events", help="Keep the event table.")]
AllTerms = Annotated[bool, _output("--all", help="Print quantiles, classes and single logs, too.")]
SweepPlot = Annotated[
    Path | None, _output(help="Draw the objectives over the varied values (png, svg, pdf).")
]
Compared = Annotated[
    str,
    typer.Argument(
        metavar="STUDY|RUN",
        help="Give the folder, journal file or storage URL of a search, or the folder or JSON of a run.",
    ),
]
Export = Annotated[
    str | None,
    _output(metavar="NAME", help="Print a configuration (A, a number, baseline) as a scenario to run."),
]
ExportDiff = Annotated[
    str | None,
    _output(metavar="NAME", help="Print what to change in the baseline, and what each change does."),
]
Full = Annotated[
    bool,
    _output(
        "--full",
        help="Export the configuration that a recommendation was reduced from, with all its changes.",
    ),
]
Every = Annotated[bool, _output("--all", help="List dominated configurations, too.")]
Statistics = Annotated[bool, _output("--statistics", help="Print hypervolume and constraints instead.")]
Whole = Annotated[bool, _output("--all", help="Print all of it, not only what matters most.")]
EveryRow = Annotated[bool, _output("--all", help="List what is equal, too.")]
Prefer = Annotated[
    str | None,
    _output(metavar="TEXT", help="Rank by weights a=2,b=1 and limits a<=3."),
]
FrontPlot = Annotated[
    Path | None,
    _output(
        help="Draw a picture (png, svg, pdf) named pairs, parallel, parameters or history, or a page (html)."
    ),
]
Plot = Annotated[Path | None, _output(help="Draw a picture (png, svg, pdf).")]
Window = Annotated[
    str | None, _output(metavar="FROM:TO", help="Draw this time window, in s.", show_default="the whole run")
]
ListPictures = Annotated[bool, _output("--list", help="List the kinds of pictures.")]
ListPapers = Annotated[bool, _output("--list", help="List papers and experiments.")]
Family = Annotated[
    str | None,
    _output(help="List only this family.", show_default="all", autocompletion=completion.families),
]
Forget = Annotated[bool, _output("--forget", help="Stop trusting the files.")]

# The live view.
Steps = Annotated[int, _number("Divide a whole run into about so many steps.", 1, limits.WHOLE)]
StepLength = Annotated[
    float | None,
    _number("Advance so many seconds in each step instead.", 1e-9, limits.NUMBER, default="by `--steps`"),
]
Port = Annotated[int, _number("Listen at this port, on this machine only. 0 chooses a free one.", 0, 65535)]
Browser = Annotated[bool, _how(help="Open a browser.")]
