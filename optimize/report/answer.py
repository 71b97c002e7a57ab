"""The answer of a search: what to change, what that gains and costs, and what to type next.

At most 24 lines of 80 columns for up to four objectives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from gridtune.optimize.front.front import Front
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.records.recommendation import Recommendation
from gridtune.optimize.report import numbers
from gridtune.optimize.report.frame import Row, rows
from gridtune.optimize.report.numbers import NOT_SIGNIFICANT, UNKNOWN, metric_label, plain
from gridtune.optimize.report.recommended import (
    GUARDS,
    change_groups,
    harms_text,
    infeasible,
    is_main,
    why_none,
)
from gridtune.plain_text import argument, counted, escaped
from gridtune.scenarios.results.text import LINES, Styled, text_table, wrapped

TITLE = 14  # letters in a line of a column's title
HARMS = 5  # of each recommendation that are named, at most
FEW = 5  # changes of a single recommendation: so many are named, however little room there is
MAIN = "(large effect alone)"  # behind a change
WORSE = "!"  # behind a change for the worse


def answer(
    front: Front, width: int, study: str | None = "", page: Path | None = None, seconds: float | None = None
) -> str:
    """What a search that took so many seconds prints when it ends.

    `study` is what `gridtune front` takes; "" where nothing is kept, None to say nothing of what to type.
    """
    top = wrapped([heading(front, seconds)], width)
    steps = [] if study is None else _next_steps(front, study, page)
    remarks = caveats(front)
    if advice := front.archive.recommendations:
        table = comparison_table(front, width).splitlines()
        titled = all(any(one.title in line for line in table) for one in advice)
        whole = [line for one in advice for line in wrapped(harms_text(one, HARMS), width)]
        for shown in (len(steps), 2):  # harm comes before what to type
            bottom = wrapped([*remarks, *steps[:shown]], width)
            room = LINES - len(top) - len(table) - len(bottom) - 4
            harm, changes = _fitted(advice, room, width, titled)
            if harm == whole and len(harm) + len(changes) <= room:
                break
        middle = [*harm, "", *table, "", *changes]
    else:
        middle, bottom = wrapped([why_none(front)], width), wrapped([*remarks, *steps], width)
    return "\n".join([*top, "", *middle, *([""] if bottom else []), *bottom]) + "\n"


def heading(front: Front, seconds: float | None = None) -> str:
    """What was searched and how much it took; without recommendations how much of the front is validated."""
    archive = front.archive
    tried = counted(len(archive.evaluations) + len(archive.failed), "configuration")
    facts = [tried, counted(archive.simulated, "run")]
    facts += [] if seconds is None else [numbers.duration(seconds)]
    text = f"{archive.heading}: {', '.join(facts)}"
    if archive.recommendations:
        return text
    counts = [one.validation_replications for one in front.on_front]
    if not any(counts):
        return f"{text}; not validated"
    share = f"{sum(map(bool, counts))} of {counted(len(counts), 'configuration')} on the front"
    return f"{text}; {share} validated"


def comparison_rows(front: Front) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """The baseline and the recommendations: name, title, and of each objective the value and its change."""
    return [
        (row.name, row.advice.title if row.advice else "", [_cell(row, one) for one in front.objectives])
        for row in rows(front)
        if row.is_baseline or row.advice
    ]


def comparison_table(front: Front, width: int) -> str:
    """The baseline and the recommendations, a row each, and below them what the numbers are."""
    found = comparison_rows(front)
    columns = list(zip(*(row for _, _, row in found), strict=True))
    # Of many objectives first the titles of the recommendations give way, then the values.
    for titled, values in ((True, True), (False, True), (False, False)):
        names = [f"{name}  {title}" if title and titled else name for name, title, _ in found]
        cells = [_aligned(column, values) for column in columns]
        titles = [
            metric_label(plain(one), max(TITLE, *map(len, column)))
            for one, column in zip(front.objectives, cells, strict=True)
        ]
        lines = [list(line) for line in zip(names, *cells, strict=True)]
        text = text_table(["", *titles], lines, width, left=range(len(titles) + 1))
        if "\n\n" not in text:
            break
    return text + "".join(f"{line}\n" for line in wrapped(legend(front), width))


def _cell(row: Row, objective: Objective) -> tuple[str, str]:
    """The value of an objective, and what it changes by against the baseline; "" for the baseline."""
    mean, change, shown = row.mean(objective), row.changes.get(objective.name), plain(objective)
    value = numbers.amount(mean if shown is objective else 10**mean, shown)
    if change is None:
        return value, ""
    told = numbers.change(change, row.baseline(objective))
    if told == NOT_SIGNIFICANT:
        return value, f"({told})"
    return value, Styled(f"({told})", "green") if change.better else Styled(f"({told}) {WORSE}", "red")


def _aligned(column: Sequence[tuple[str, str]], values: bool) -> list[str]:
    wide = max(len(value) for value, _ in column)
    return [
        Styled(f"{value:>{wide}} {gap}".rstrip() if values or not gap else gap, getattr(gap, "style", ""))
        for value, gap in column
    ]


def legend(front: Front) -> list[str]:
    """What the numbers of the comparison are; nothing where there are no recommendations."""
    if not front.archive.recommendations:
        return []
    told = {gap for _, _, cells in comparison_rows(front) for _, gap in cells}
    runs = min(one.replications for one in front.archive.recommendations)
    signs = {
        f"({NOT_SIGNIFICANT}) change not significant": f"({NOT_SIGNIFICANT})" in told,
        f"{UNKNOWN} significance unknown": any(UNKNOWN in text for text in told),
        f"{WORSE} worse": any(text.endswith(WORSE) for text in told),
    }
    means = f"Means of {runs} new runs each" if runs > 1 else "One run each"
    shown = ". ".join(sign for sign, there in signs.items() if there)
    lines = [f"{means} (change from the baseline, significant at 95 %)", shown]
    return [f"  {line}." for line in lines if line]


def _fitted(advice: Sequence[Recommendation], room: int, width: int, titled: bool) -> list[list[str]]:
    """What the recommendations make worse, and what they change, each shortened until all fit.

    The longest are shortened first; what room that leaves over is filled, by harm first.
    """
    blocks = [
        _shorter(wrapped(harms_text(one, most), width) for most in range(HARMS, 0, -1)) for one in advice
    ]
    blocks += [_shapes(one, width, titled, alone=len(advice) == 1) for one in advice]
    left = [list(shapes) for shapes in blocks]  # the first is shown

    def spare() -> int:
        return room - sum(len(shapes[0]) for shapes in left)

    while spare() < 0 and (able := [shapes for shapes in reversed(left) if len(shapes) > 1]):
        max(able, key=lambda shapes: len(shapes[0])).pop(0)
    for every, shapes in zip(blocks, left, strict=True):
        rest = spare() + len(shapes[0])
        shapes[:] = [shape for shape in every if len(shape) <= rest] or shapes
    told = [shapes[0] for shapes in left]
    return [list(chain(*told[: len(advice)])), list(chain(*told[len(advice) :]))]


def changes_text(one: Recommendation, width: int) -> list[str]:
    """What a recommendation changes, a line for each change, the most effective first."""
    return _shapes(one, width, titled=False)[0]


def _shapes(one: Recommendation, width: int, titled: bool, *, alone: bool = False) -> list[list[str]]:
    """What it changes, below its title unless `titled` elsewhere: in lines, in running text, then in part.

    Of one `alone` that changes few, not in part.
    """
    groups = change_groups(one.changes)
    wide = max(map(len, groups), default=0)
    lines = [] if groups else ["nothing: keep the baseline"]
    for path, group in groups.items():  # the choice, then its parameters by their last names
        names = ["" if each.path == path else f"{each.path.rpartition('.')[2]} " for each in group]
        told = ", ".join(name + numbers.change_text(each) for name, each in zip(names, group, strict=True))
        lines.append(f"{path:<{wide}}  {told}{f'  {MAIN}' if is_main(group) else ''}")
    running = [" ".join(line.split()) for line in lines]
    shapes = [lines if titled else [one.title, *lines], ["; ".join(running)]]
    for shown in () if alone and len(running) <= FEW else range(len(running) - 1, 0, -1):
        more = f"and {counted(len(running) - shown, 'more change')}"
        shapes.append(["; ".join([*running[:shown], more])])
    texts = (wrapped((f"     {line}" for line in shape), width) for shape in shapes)
    return _shorter([f"  {one.letter}  {first[5:]}", *rest] for first, *rest in texts)


def _shorter(shapes: Iterable[list[str]]) -> list[list[str]]:
    """Those of these lines that are fewer than all before, the most first."""
    fewest: dict[int, list[str]] = {}
    for lines in shapes:
        if len(lines) < min(fewest, default=len(lines) + 1):
            fewest[len(lines)] = lines
    return list(fewest.values())


def caveats(front: Front) -> list[str]:
    """How many configurations the guards exclude, why some failed, and why harm may have been missed."""
    told, rules = [], front.archive.constraints
    for metric, (one, many, option) in GUARDS.items():
        if count := len(infeasible(front, [rule for rule in rules if rule.metric == metric])):
            told.append(f"{count} {one if count == 1 else many} than the baseline (to admit: {option})")
    excluded = [f"Excluded: {', '.join(told)}"] if told else []
    if later := ", ".join(map(str, sorted(front.archive.broken))):
        excluded.append(f"Excluded in later checks (further seeds, replays of logs): {later}")
    failures, every = front.archive.failed, len(front.archive.failed) + len(front.archive.evaluations)
    reasons = Counter(one.reason for one in failures).most_common(1)
    failed = [f"Failed: {len(failures)} of {every} configurations, e.g. {escaped(why)}" for why, _ in reasons]
    return [*excluded, *failed, *front.archive.remarks]


def _next_steps(front: Front, study: str, page: Path | None) -> list[str]:
    if not study:
        return ["Nothing was saved: give `--out DIR` to look at the front and use a configuration."]
    study = argument(study)
    if not front.on_front:
        return [f"What comes nearest: gridtune front {study}"]
    steps = {}
    if front.archive.recommendations:
        one = front.archive.recommendations[0].letter
        steps[f"{one} in detail"] = f"gridtune front {study} --export-diff {one}"
        steps[f"Use {one}"] = f"gridtune front {study} --export {one} > {one.lower()}.toml"
    steps[f"Pareto front ({len(front.on_front)})"] = f"gridtune front {study}"
    if page:
        steps["Pictures"] = str(page)
    wide = max(map(len, steps)) + 1
    return [f"{f'{what}:':<{wide}} {words}" for what, words in steps.items()]
