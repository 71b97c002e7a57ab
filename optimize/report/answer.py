"""The answer of a search: what to change, what that gains and costs, and what to type next.

At most 24 lines of 80 columns for up to four objectives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gridtune.model.metrics.labels import label
from gridtune.optimize.front.against_baseline import baseline
from gridtune.optimize.front.front import Front
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.records.recommendation import Harm, ParameterChange, Recommendation
from gridtune.optimize.report.frame import BASELINE, Row, estimated_mean, rows
from gridtune.optimize.report.numbers import (
    MANY,
    SAME,
    UNKNOWN,
    amount,
    change,
    duration,
    metric_label,
    settings,
)
from gridtune.optimize.report.recommended import (
    GUARDS,
    change_groups,
    infeasible,
    recommendations,
    why_none,
)
from gridtune.scenarios.results.amounts import counted
from gridtune.scenarios.results.text import Styled, text_table, wrapped

LINES = 24
TITLE = 14  # letters in a line of a column's title
TIGHT = 3  # lines of a recommendation, up to which it is told in brief
HARMS = 2  # that are named; the others are counted


@dataclass(frozen=True)
class Place:
    """Where a study is kept.

    Attributes:
        study: what `gridtune front` takes; empty where nothing is kept.
        page: the page of its front; None if it has none.
    """

    study: str = ""
    page: Path | None = None


def answer(front: Front, width: int, *, place: Place | None = None, seconds: float | None = None) -> str:
    """What a search prints when it ends.

    Args:
        front: what it found.
        width: columns of the terminal.
        place: where it is kept; nothing is said of that if left out.
        seconds: that it took.
    """
    advice = recommendations(front)
    top = wrapped([heading(front, seconds)], width)
    bottom = [*excluded(front), *next_steps(front, place or Place())]
    if not advice:
        lines = [*top, "", *wrapped([why_none(front)], width), "", *wrapped(bottom, width)]
        return "\n".join(lines) + "\n"
    table = comparison_table(front, width).splitlines()
    titled = all(any(one.title in line for line in table) for one in advice)
    bottom = wrapped(bottom, width)
    room = LINES - len(top) - len(table) - len(bottom) - 3
    lines = [*top, "", *table, "", *_fitted(advice, room, width, titled), "", *bottom]
    return "\n".join(lines) + "\n"


def heading(front: Front, seconds: float | None = None) -> str:
    """What was searched, how much it took, and what the comparison rests on."""
    archive = front.archive
    tried = len(archive.evaluations) + len(archive.failed)
    facts = [f"{tried:,} configurations", f"{run_count(front):,} runs"]
    facts += [] if seconds is None else [duration(seconds)]
    facts += [f"{len(archive.failed)} failed"] if archive.failed else []
    confirmed = [one.replications for one in recommendations(front)]
    counts = [one.evaluation.validation_replications for one in front.on_front]
    if confirmed:
        basis = f"confirmed on {counted(min(confirmed), 'seed')}"
    elif any(counts):
        basis = f"{sum(map(bool, counts))} of {counted(len(counts), 'configuration')} on the front validated"
    else:
        basis = "not validated"
    return f"{archive.heading}: {', '.join(facts)}; {basis}"


def run_count(front: Front) -> int:
    """Simulations of the search, or at least those behind all configurations."""
    if front.archive.simulated:
        return front.archive.simulated
    each = sum(one.replications + one.validation_replications for one in front.archive.evaluations)
    return each * max(len(front.archive.cases), 1)


def comparison_rows(
    front: Front, some: Sequence[Row], *, values: bool = True
) -> list[tuple[str, str, list[str]]]:
    """The baseline and the recommendations: name, title, and a cell for each objective.

    Args:
        front: of which study.
        some: the rows of its frame.
        values: whether cells of recommendations have the value beside the change.
    """
    return [
        (
            row.name,
            row.advice.title if row.advice else "",
            [_cell(row, one, values) for one in front.objectives],
        )
        for row in some
    ]


def comparison_table(front: Front, width: int) -> str:
    """The baseline and the recommendations, a row each, and below them what the signs mean."""
    titles = ["", *(metric_label(one, TITLE) for one in front.objectives)]
    some = rows(front, [BASELINE])
    # Of many objectives first the titles of the recommendations give way, then the values.
    for titled, values in ((True, True), (False, True), (False, False)):
        found = comparison_rows(front, some, values=values)
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
    value = amount(row.mean(objective), objective)
    gap, standing = row.differences.get(objective.name), baseline(row.front)
    if row.is_baseline or gap is None or standing is None:
        return value
    of = estimated_mean(row.front, standing, objective)
    told = change(gap, of, objective)
    text = told if told == SAME or not values else f"{value}  {told}"
    better = None if told == SAME else row.better(objective)
    return text if better is None else Styled(text, "green" if better else "red")


def _fitted(advice: Sequence[Recommendation], room: int, width: int, titled: bool) -> list[str]:
    """What each recommendation changes, the longest ones shortened until all fit into so many lines.

    Args:
        advice: the recommendations.
        room: lines.
        width: columns of the terminal.
        titled: whether their titles stand in the table already.
    """
    most = max(room, 0)
    while True:
        made = [changes_text(one, width, most, titled) for one in advice]
        if sum(map(len, made)) <= room or most <= 1:
            return [line for one in made for line in one]
        most = min(most, max(map(len, made))) - 1


def changes_text(one: Recommendation, width: int, most: int | None = None, titled: bool = False) -> list[str]:
    """What a recommendation changes, a line for each change, the most effective first, and what it harms.

    Args:
        one: the recommendation.
        width: columns of the terminal.
        most: lines that it may take, about; all if left out.
        titled: whether its title is told elsewhere.
    """
    groups = change_groups(one.changes)
    wide = max((len(group.path) for group in groups), default=0)
    told = []
    for group in groups:
        text = ", ".join(_changed(each, group.path) for each in group.changes)
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


def _changed(one: ParameterChange, path: str) -> str:
    """A change behind the path of its group."""
    before, after = settings(one.before, one.after)
    text = after if one.before is None else f"{before} -> {after}"
    return text if one.path == path else f"{one.path.rpartition('.')[2]} {text}"


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


def next_steps(front: Front, place: Place) -> list[str]:
    """What to type next."""
    if not place.study:
        return ["Nothing is kept: give `--out DIR` to look at the front and use a configuration."]
    if not front.on_front:
        return [f"What comes nearest: gridtune front {place.study}"]
    told = [
        f"The Pareto front has {counted(len(front.on_front), 'configuration')}: gridtune front {place.study}"
    ]
    told += [f"Pictures and details: {place.page}"] if place.page else []
    advice = recommendations(front)
    if advice:
        letter = advice[0].letter
        told.append(f"Use one: gridtune front {place.study} --export {letter} > {letter.lower()}.toml")
    return told
