"""What `gridtune front` does: open a search that was kept, draw its front, and put it in words."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from gridtune.optimize import api
from gridtune.optimize.commands.export import differences, exported
from gridtune.optimize.front.against_today import KEEP, gains, settings_changed, todays, told_changes
from gridtune.optimize.front.breakdown import scenario_header, scenario_rows
from gridtune.optimize.front.export import summary, to_csv, to_dict, to_latex
from gridtune.optimize.front.front import Front, Member
from gridtune.optimize.front.number_format import cell
from gridtune.optimize.front.preference import Preference
from gridtune.optimize.front.recommendations import grouped, recommend
from gridtune.optimize.front.terminal import laid_out, table, terminal_width, wrapped
from gridtune.optimize.records.evaluations import Evaluation
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.json_text import to_json


def show_front(
    study: str,
    format: str,
    plot: Path | None,
    *,
    salvage: bool = False,
    mend: Path | None = None,
    export: str | None = None,
    export_diff: str | None = None,
    prefer: str | None = None,
) -> str:
    """What `gridtune front` prints: the front of a search that was kept, or a point of it.

    Args:
        study: a search's folder, a journal file, or the URL of a storage.
        format: see `front_text`.
        plot: picture to draw.
        salvage: whether to take what is whole of a damaged study.
        mend: new journal for what is whole of it.
        export, export_diff: point to print as a scenario, or as what to change; `preferred` is the first of
            `prefer`.
        prefer: see `optimize.front.preference`; members that keep its limits, the preferred first.

    Raises:
        ScenarioError: there is no such study, it is damaged, or the picture cannot be drawn.
    """
    if export is not None and export_diff is not None:
        raise ScenarioError("--export and --export-diff: standard output takes one of them")
    for option, text in (("--export", export), ("--export-diff", export_diff)):
        if text is not None and format != "table":
            raise ScenarioError(f"{option} has a form of its own: it goes without --format {format}")
    if plot is not None:
        from gridtune.scenarios.plots import picture_format

        picture_format(plot, also=("html",))
    opened = api.open_study(study, salvage=salvage or mend is not None)
    for note in opened.notes:
        print(note, file=sys.stderr)
    if mend is not None:
        from gridtune.optimize.study import mending

        count = mending.mend(study, mend)
        print(f"note: {mend}: has {count} evaluations; --storage {mend} --resume goes on", file=sys.stderr)
    found = opened.details
    if plot is not None:
        from gridtune.optimize.visualization import save

        os.environ.setdefault("MPLBACKEND", "Agg")
        save(found, plot)
    if prefer is not None:
        ranked = Preference.of(prefer, found.objectives).ranked(found)
        if not ranked:
            raise ScenarioError(f"--prefer {prefer}: no point of the front keeps the limits")
        found = replace(found, members=tuple(ranked))
        export, export_diff = (_preferred(name, ranked[0]) for name in (export, export_diff))
    if export is not None:
        return exported(opened, export)
    if export_diff is not None:
        return differences(opened, export_diff)
    if prefer is not None:
        return preference_text(found, prefer, format)
    return front_text(found, format)


def _preferred(name: str | None, first: Member) -> str | None:
    return str(first.evaluation.number) if name == "preferred" else name


def front_text(found: Front, format: str) -> str:
    """A front for standard output.

    Args:
        found: what to print.
        format: `table` (with what it means in words), `csv`, `json` or `latex`.
    """
    if format == "json":
        return to_json(to_dict(found)) + "\n"
    if format == "csv":
        return to_csv(found)
    if format == "latex":
        return to_latex(found)
    width = terminal_width()
    said = wrapped([*summary(found), *_advice(found)], width)
    return "\n".join([_tables(found, width), *said]) + "\n"


def _tables(found: Front, width: int) -> str:
    """The front, and below it how each member does in each scenario."""
    text = table(found, width)
    if todays(found) is not None:
        note = "vs today: difference to today's setting"
        if not found.certain:
            note += " on common streams, ± half its 95 % interval"
        text += "\n".join(wrapped([note], width)) + "\n"
    if not found.archive.cases or not found.members:
        return text
    return f"{text}\n{laid_out([scenario_header(found), *scenario_rows(found)], width)}"


def preference_text(found: Front, prefer: str, format: str) -> str:
    """Ranked members for standard output.

    Args:
        found: of which the members are ranked.
        prefer: how they were.
        format: see `front_text`.
    """
    if format == "json":
        return to_json({**to_dict(found), "preference": prefer}) + "\n"
    if format != "table":
        return front_text(found, format)
    first = found.members[0].evaluation
    what = f"point {first.number}, today's setting" if first.number == found.archive.today else ""
    lines = [f"preferred by {prefer}: {what or f'point {first.number}'}", *_changed(found, first)]
    width = terminal_width()
    return "\n".join([_tables(found, width), *wrapped(lines, width)]) + "\n"


def _changed(found: Front, evaluation: Evaluation) -> Iterator[str]:
    """What a point changes against today's setting, a line each."""
    if todays(found) is None:
        settings = ", ".join(f"{path}={cell(value)}" for path, value in evaluation.values.items())
        yield f"  {settings}"
        return
    if evaluation.number == found.archive.today:
        yield f"  {KEEP}"
        return
    changed = settings_changed(found, evaluation)
    yield f"  change {'; '.join(map(str, changed)) or 'nothing'}"
    yield from (f"  {line}" for line in told_changes(gains(found, evaluation)))


def _advice(found: Front) -> Iterator[str]:
    """Each recommended point once: what to change, what that gains and costs, and why."""
    for items in grouped(recommend(found)):
        evaluation = items[0].member.evaluation
        names = ", ".join(item.name.replace("_", " ") for item in items)
        yield f"\n{names}: point {evaluation.number}"
        yield from _changed(found, evaluation)
        yield f"  {items[0].reason}"
        if (loss := items[0].loss) is not None:
            yield f"  {loss}"
