"""The answer of a search: what to change, what that gains and costs, and what to type next.

At most 24 lines of 80 columns for up to four objectives.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gridtune.model.metrics.labels import label
from gridtune.optimize.front.front import Front
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.records.recommendation import Harm, Recommendation
from gridtune.optimize.report.frame import BASELINE, Row, rows
from gridtune.optimize.report.numbers import (
    MANY,
    SAME,
    UNKNOWN,
    amount,
    change,
    change_text,
    duration,
    metric_label,
)
from gridtune.optimize.report.recommended import GUARDS, change_groups, infeasible, why_none
from gridtune.scenarios.results.amounts import counted
from gridtune.scenarios.results.text import Styled, text_table, wrapped

LINES = 24
TITLE = 14  # letters in a line of a column's title
TIGHT = 3  # lines of a recommendation, up to which it is told in brief
HARMS = 2  # that are named; the others are counted


def answer(
    front: Front, width: int, *, study: str = "", page: Path | None = None, seconds: float | None = None
) -> str:
    """What a search prints when it ends.

    Args:
        study: what `gridtune front` takes; empty where nothing is kept.
        seconds: that it took.
    """
    top = wrapped([heading(front, seconds)], width)
    bottom = wrapped([*excluded(front), *_next_steps(front, study, page)], width)
    advice = front.archive.recommendations
    if advice:
        table = comparison_table(front, width).splitlines()
        titled = all(any(one.title in line for line in table) for one in advice)
        room = LINES - len(top) - len(table) - len(bottom) - 3
        middle = [*table, "", *_fitted(advice, room, width, titled)]
    else:
        middle = wrapped([why_none(front)], width)
    return "\n".join([*top, "", *middle, "", *bottom]) + "\n"


def heading(front: Front, seconds: float | None = None) -> str:
    """What was searched, how much it took, and what the comparison rests on."""
    archive = front.archive
    each = sum(one.replications + one.validation_replications for one in archive.evaluations)
    runs = archive.simulated or each * max(len(archive.cases), 1)
    facts = [f"{len(archive.evaluations) + len(archive.failed):,} configurations", f"{runs:,} runs"]
    facts += [] if seconds is None else [duration(seconds)]
    facts += [f"{len(archive.failed)} failed"] if archive.failed else []
    counts = [one.evaluation.validation_replications for one in front.on_front]
    basis = "not validated"
    if archive.recommendations:
        least = min(one.replications for one in archive.recommendations)
        basis = f"confirmed on {counted(least, 'seed')}"
    elif any(counts):
        basis = f"{sum(map(bool, counts))} of {counted(len(counts), 'configuration')} on the front validated"
    return f"{archive.heading}: {', '.join(facts)}; {basis}"


def comparison_rows(front: Front, *, values: bool = True) -> list[tuple[str, str, list[str]]]:
    """The baseline and the recommendations: name, title, and a cell for each objective.

    Cells of recommendations have the change, and the value if `values` says so.
    """
    return [
        (
            row.name,
            row.advice.title if row.advice else "",
            [_cell(row, one, values) for one in front.objectives],
        )
        for row in rows(front, [BASELINE])
    ]


def comparison_table(front: Front, width: int) -> str:
    """The baseline and the recommendations, a row each, and below them what the signs mean."""
    titles = ["", *(metric_label(one, TITLE) for one in front.objectives)]
    # Of many objectives first the titles of the recommendations give way, then the values.
    for titled, values in ((True, True), (False, True), (False, False)):
        found = comparison_rows(front, values=values)
        cells = [[f"{name}  {title}" if title and titled else name, *row] for name, title, row in found]
        text = text_table(titles, cells, width)
        if "\n\n" not in text:
            break
    said = [text for row in cells for text in row]
    signs = {
        SAME: "no significant difference from the baseline (95 %)",
        UNKNOWN: "one run: significance unknown",
    }
    notes = [f"  {sign} {text}" for sign, text in signs.items() if any(one.endswith(sign) for one in said)]
    return text + "".join(f"{line}\n" for line in wrapped(notes, width))


def _cell(row: Row, objective: Objective, values: bool) -> str:
    """An objective of a configuration, and what it changes by."""
    value, gap = amount(row.mean(objective), objective), row.differences.get(objective.name)
    if row.is_baseline or gap is None or row.front.archive.standing is None:
        return value
    told = change(gap, row.baseline(objective), objective)
    text = told if told == SAME or not values else f"{value}  {told}"
    better = None if told == SAME else row.better(objective)
    return text if better is None else Styled(text, "green" if better else "red")


def _fitted(advice: Sequence[Recommendation], room: int, width: int, titled: bool) -> list[str]:
    """What each recommendation changes, the longest ones shortened until all fit into `room` lines."""
    most = max(room, 0)
    while True:
        made = [changes_text(one, width, most, titled) for one in advice]
        if sum(map(len, made)) <= room or most <= 1:
            return [line for one in made for line in one]
        most = min(most, max(map(len, made))) - 1


def changes_text(one: Recommendation, width: int, most: int | None = None, titled: bool = False) -> list[str]:
    """What a recommendation changes, a line for each change, the most effective first, and what it harms.

    Args:
        most: lines that it may take, about; all if left out.
        titled: whether its title is told elsewhere.
    """
    groups = change_groups(one.changes)
    wide = max((len(group.path) for group in groups), default=0)
    told = []
    for group in groups:
        text = ", ".join(
            change_text(each)
            if each.path == group.path
            else f"{each.path.rpartition('.')[2]} {change_text(each)}"
            for each in group.changes
        )
        told.append(f"{group.path:<{wide}}  {text}{'  (most of the effect)' if group.main else ''}")
    told = told or ["nothing: keep the baseline"]
    head = [] if titled or (most is not None and most < TIGHT) else [one.title]
    kept = len(told) if most is None else max(most - bool(one.harms) - len(head), 1)
    # Changes that are left out have the pointer, too.
    pointer = "" if kept < len(told) else f": --export-diff {one.letter}"
    harms = _harms(one.harms, HARMS if most is None or most > TIGHT else 1, pointer)
    if kept < len(told):
        kept -= kept > 1
        more = f"and {counted(len(told) - kept, 'more change')}: --export-diff {one.letter}"
        told = [*told[:kept], more] if kept > 1 or most != 1 + len(harms) else [f"{told[0]}, {more}"]
    lines = wrapped((f"     {line}" for line in [*head, *told, *harms]), width)
    return [f"  {one.letter}  {lines[0][5:]}", *lines[1:]]


def _harms(harms: Sequence[Harm], most: int, pointer: str) -> list[str]:
    """What gets worse, in a line: the worst of so many classes by name, the others counted with a pointer."""
    if not harms:
        return []
    classes: dict[str, Harm] = {}
    for one in harms:
        classes.setdefault(one.metric.partition(".")[2], one)
    named = list(classes.values())[:most]
    more = f"; and {len(harms) - len(named)} more{pointer}" if len(harms) > len(named) else ""
    return [f"also: {'; '.join(map(harm_text, named))}{more}"]


def harm_text(one: Harm) -> str:
    """What gets worse: `completed best-effort work 30 % lower`."""
    name, gap = label(one.metric), one.mean - one.baseline
    way = "lower" if gap < 0 else "higher"
    if name.percent:
        return f"{name} {abs(100 * gap):.2g} points {way}"
    if one.baseline <= 0 or one.mean / one.baseline >= MANY:
        metric = Objective(one.metric, "minimize", one.unit)
        return f"{name} {amount(one.baseline, metric)} -> {amount(one.mean, metric)}"
    return f"{name} {abs(100 * gap / one.baseline):.0f} % {way}"


def excluded(front: Front) -> list[str]:
    """How many configurations the guards exclude, and how to allow them; a line for each guard."""
    told = []
    for metric, (one, many, option) in GUARDS.items():
        guards = [guard for guard in front.archive.constraints if guard.metric == metric]
        count = len(infeasible(front, guards)) if guards else 0
        if count:
            does = f"configuration {one}" if count == 1 else f"configurations {many}"
            told.append(f"{count} {does} than the baseline: excluded ({option}).")
    return told


def _next_steps(front: Front, study: str, page: Path | None) -> list[str]:
    """What to type next."""
    if not study:
        return ["Nothing is kept: give `--out DIR` to look at the front and use a configuration."]
    if not front.on_front:
        return [f"What comes nearest: gridtune front {study}"]
    told = [f"The Pareto front has {counted(len(front.on_front), 'configuration')}: gridtune front {study}"]
    told += [f"Pictures and details: {page}"] if page else []
    for one in front.archive.recommendations[:1]:
        told.append(f"Use one: gridtune front {study} --export {one.letter} > {one.letter.lower()}.toml")
    return told
