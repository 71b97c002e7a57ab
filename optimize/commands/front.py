"""What `gridtune front` does: open a search that was kept, and print or draw its front."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gridtune.optimize import api
from gridtune.optimize.commands.export import differences, exported
from gridtune.optimize.front.front import Front
from gridtune.optimize.report.export import to_csv, to_dict, to_latex
from gridtune.optimize.report.frame import Row, rows
from gridtune.optimize.report.preference import preferred
from gridtune.optimize.report.tables import front_text, listed, spread, statistics_text
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.json_text import to_json
from gridtune.scenarios.results.text import terminal_width

PREFERRED = "preferred"  # the first of `--prefer`


@dataclass(frozen=True)
class FrontRequest:
    """What `gridtune front` is asked for.

    Attributes:
        format: `table`, `csv`, `json` or `latex`.
        every: whether to list what is dominated, too.
        statistics: whether to print hypervolume, optimism and tests instead.
        prefer: ranks the front, see `optimize.report.preference`; None for no ranking.
        export, export_diff: configuration to print as a scenario, or as what to change.
        full: whether these are what a recommendation was made from.
        plot: picture to draw; its name chooses which, see `optimize.report.pictures`.
    """

    format: str = "table"
    every: bool = False
    statistics: bool = False
    prefer: str | None = None
    export: str | None = None
    export_diff: str | None = None
    full: bool = False
    plot: Path | None = None


def show_front(study: str, request: FrontRequest, *, skip_broken: bool = False) -> str:
    """What `gridtune front` prints: the front of a search that was kept, or a configuration of it.

    Args:
        study: a search's folder, a journal file, or the URL of a storage.
        skip_broken: whether to pass over broken lines of the table of runs.

    Raises:
        ScenarioError: there is no such study, it is damaged, or the picture cannot be drawn.
    """
    _check(request)
    opened = api.open_study(study, skip_broken=skip_broken)
    for note in opened.notes:
        print(note, file=sys.stderr)
    found = opened.details
    if request.plot is not None:
        from gridtune.optimize.report.pictures.draw import save

        os.environ.setdefault("MPLBACKEND", "Agg")
        save(found, request.plot)
    some, first, called = None, "", ""
    if request.prefer is not None:
        known = {row.number: row for row in rows(found)}
        some = [known[member.evaluation.number] for member in preferred(request.prefer, found)]
        if not some:
            raise ScenarioError(f"--prefer {request.prefer}: no configuration on the front keeps the limits")
        first, called = str(some[0].number), some[0].name
    export, diff = (
        first if first and name == PREFERRED else name for name in (request.export, request.export_diff)
    )
    if export is not None:
        return exported(opened, export, full=request.full)
    if diff is not None:
        return differences(opened, diff, full=request.full)
    if request.statistics:
        return statistics_text(found, terminal_width())
    if some is None and request.every:
        some = listed(found, every=True)
    text = printed(found, request.format, some)
    if request.prefer is None or request.format != "table":
        return text
    return f"Preferred by {request.prefer}: {called}\n\n{differences(opened, first)}\n{text}"


def _check(request: FrontRequest) -> None:
    """Refuse options that contradict each other, and a picture without a known form."""
    exports = {"--export": request.export is not None, "--export-diff": request.export_diff is not None}
    if all(exports.values()):
        raise ScenarioError("--export and --export-diff: standard output takes one of them")
    for option, given in (exports | {"--statistics": request.statistics}).items():
        if given and request.format != "table":
            raise ScenarioError(f"{option} has a form of its own: it goes without --format {request.format}")
    if request.prefer is None and PREFERRED in (request.export, request.export_diff):
        raise ScenarioError(f"{PREFERRED}: --prefer says what is preferred")
    if request.full and not any(exports.values()):
        raise ScenarioError("--full: goes with --export or --export-diff")
    if request.plot is not None:
        from gridtune.scenarios.plots.style import check_free, picture_format

        if picture_format(request.plot, also=("html",)) != "html":
            check_free(request.plot)
        elif request.plot.exists() and b"gridtune" not in request.plot.read_bytes():
            raise ScenarioError(f"{request.plot}: exists, and gridtune has not drawn it; give another name")


def printed(found: Front, format: str, some: Sequence[Row] | None = None) -> str:
    """A front for standard output.

    Args:
        format: `table` (with what it means in words), `csv`, `json` or `latex`.
        some: the configurations to list; those on the front if left out.
    """
    if format == "json":
        return to_json(to_dict(found, some)) + "\n"
    if format == "csv":
        return to_csv(found, some)
    if format == "latex":
        return to_latex(found, some)
    return front_text(found, spread(found) if some is None else some, terminal_width())
