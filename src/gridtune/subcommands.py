"""Commands of two words: `gridtune scenarios …` and `gridtune trace …`."""

from __future__ import annotations

import sys
from math import inf

import typer

from gridtune import boundary, options
from gridtune.help_panels import Command
from gridtune.options import Format
from gridtune.plain_text import escaped

scenarios_app = typer.Typer(cls=boundary.Group, invoke_without_command=True)
trace_app = typer.Typer(
    cls=boundary.Group, no_args_is_help=True, help="Read and convert workload traces (SWF, GWF, sacct, OAR)."
)


@scenarios_app.callback()
def scenarios(context: typer.Context, format: options.Output = Format.table) -> None:
    """List the shipped scenarios.

    Example: gridtune scenarios
    """
    if context.invoked_subcommand is None:
        list_scenarios(format)


@scenarios_app.command("list", cls=Command)
def list_scenarios(format: options.Output = Format.table) -> None:
    """List the shipped scenarios.

    Example: gridtune scenarios list --format json
    """
    from gridtune.scenarios.document.catalogue import scenario_lines, scenario_rows
    from gridtune.scenarios.results.json_text import to_json
    from gridtune.scenarios.results.text import terminal_width

    width = terminal_width() if sys.stdout.isatty() else inf
    print(to_json(scenario_rows()) if format is Format.json else "\n".join(scenario_lines(width)))


@scenarios_app.command("show", cls=Command)
def show_scenario(name: options.ShippedScenario) -> None:
    """Print the TOML of a shipped scenario.

    Example: gridtune scenarios show diet/day-regular > mine.toml
    """
    from gridtune.scenarios.document.scenario import shipped_text

    sys.stdout.write(shipped_text(name))


@trace_app.command("convert", cls=Command)
def trace_convert(file: options.Trace, out: options.SwfFile) -> None:
    """Write a trace of any format in SWF, which other tools read.

    Example: gridtune trace convert sacct.txt mine.swf
    """
    from gridtune.scenarios.results.swf import convert
    from gridtune.scenarios.trace_files import find_trace

    for line in convert(find_trace(str(file)), out):
        print(escaped(line))


@trace_app.command("info", cls=Command)
def trace_info(file: options.Trace, format: options.Output = Format.table) -> None:
    """Say what is in a trace and what is wrong with it.

    Example: gridtune trace info LPC-EGEE-2004-1.2-cln.swf.gz
    """
    from gridtune.scenarios.results.json_text import to_json
    from gridtune.scenarios.trace_files import find_trace
    from gridtune.scenarios.traces.summary import summarise
    from gridtune.scenarios.traces.summary_text import summary_lines

    summary = summarise(find_trace(str(file)))
    print(to_json(summary.to_dict()) if format is Format.json else "\n".join(summary_lines(summary)))
