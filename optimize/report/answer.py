"""The answer of a search: what to change, what that gains and costs, and what to type next.

At most 24 lines of 80 columns for up to four objectives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gridtune.model.metrics.registry import METRICS
from gridtune.optimize.front.front import Front
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.records.recommendation import Harm, ParameterChange, Recommendation
from gridtune.optimize.report.frame import BASELINE, Row, rows
from gridtune.optimize.report.numbers import (
    SAME,
    UNKNOWN,
    amount,
    change,
    change_text,
    duration,
    is_logarithm,
    metric_label,
)
from gridtune.optimize.report.recommended import (
    GUARDS,
    change_groups,
    harm_text,
    infeasible,
    is_main,
    more_load,
    why_none,
)
from gridtune.plain_text import counted
from gridtune.scenarios.results.text import Styled, text_table, wrapped

LINES = 24
TITLE = 14  # letters in a line of a column's title
HARMS = 3  # that are named; the others are counted
MAIN = "(large effect alone)"  # behind a change
ELSEWHERE = "worse elsewhere"  # outside the table
IN_SOME = "in some runs also"
WORSE = "!"  # behind a change for the worse
NOTHING = "nothing found (by over a tenth)"


def answer(
    front: Front,
    width: int,
    *,
    study: str | None = "",
    page: Path | None = None,
    seconds: float | None = None,
) -> str:
    """What a search prints when it ends.

    Args:
        study: what `gridtune front` takes; empty where nothing is kept. None to say nothing of what to type.
        seconds: that it took.
    """
    top = wrapped([heading(front, seconds)], width)
    steps = [] if study is None else _next_steps(front, study, page)
    bottom = wrapped([*caveats(front), *steps], width)
    if advice := front.archive.recommendations:
        table = comparison_table(front, width).splitlines()
        titled = all(any(one.title in line for line in table) for one in advice)
        room = LINES - len(top) - len(table) - len(bottom) - 3
        middle = [*table, "", *_fitted(advice, room, width, titled)]
    else:
        middle = wrapped([why_none(front)], width)
    return "\n".join([*top, "", *middle, *([""] if bottom else []), *bottom]) + "\n"


def heading(front: Front, seconds: float | None = None) -> str:
    """What was searched and how much it took; without recommendations how much of the front is validated."""
    archive = front.archive
    each = sum(one.replications + one.validation_replications for one in archive.evaluations)
    runs = archive.simulated or each * max(len(archive.cases), 1)
    tried = len(archive.evaluations) + len(archive.failed)
    facts = [counted(tried, "configuration"), counted(runs, "run")]
    facts += [] if seconds is None else [duration(seconds)]
    facts += [f"{len(archive.failed)} failed"] if archive.failed else []
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
        for row in rows(front, [BASELINE])
    ]


def plain(objective: Objective) -> Objective:
    """What a logarithm is the logarithm of, as people know that; any other objective itself."""
    stem = objective.name.removesuffix("_log")
    return replace(objective, name=stem) if is_logarithm(objective) and stem in METRICS else objective


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
    mean, gap, shown = row.mean(objective), row.differences.get(objective.name), plain(objective)
    value = amount(mean if shown is objective else 10**mean, shown)
    if gap is None:
        return value, ""
    told = change(gap, row.baseline(objective), objective)
    better = row.better(objective)
    if told == SAME or better is None:
        return value, f"({told})"
    return value, Styled(f"({told})" if better else f"({told}) {WORSE}", "green" if better else "red")


def _aligned(column: Sequence[tuple[str, str]], values: bool) -> list[str]:
    """Cells of an objective: values below values, changes below changes."""
    wide = max(len(value) for value, _ in column)
    texts = []
    for value, gap in column:
        text = f"{value:>{wide}} {gap}".rstrip() if values or not gap else str(gap)
        texts.append(Styled(text, gap.style) if isinstance(gap, Styled) else text)
    return texts


def legend(front: Front) -> list[str]:
    """What the numbers of the comparison are; nothing where there are no recommendations."""
    if not front.archive.recommendations:
        return []
    told = {gap for _, _, cells in comparison_rows(front) for _, gap in cells}
    runs = min(one.replications for one in front.archive.recommendations)
    signs = {
        f"({SAME}) no significant change": f"({SAME})" in told,
        f"{UNKNOWN} significance unknown": any(UNKNOWN in text for text in told),
        f"{WORSE} worse": any(text.endswith(WORSE) for text in told),
    }
    means = f"Means of {runs} new runs each" if runs > 1 else "One run each"
    shown = ". ".join(sign for sign, there in signs.items() if there)
    lines = [f"{means} (change from the baseline, significant at 95 %)", shown]
    return [f"  {line}." for line in lines if line]


def _fitted(advice: Sequence[Recommendation], room: int, width: int, titled: bool) -> list[str]:
    """What each recommendation changes, the longest ones shortened until all fit into `room` lines."""
    left = [_shapes(one, width, titled) for one in reversed(advice)]
    while sum(len(shapes[0]) for shapes in left) > room and max(map(len, left)) > 1:
        longest = max((shapes for shapes in left if len(shapes) > 1), key=lambda shapes: len(shapes[0]))
        del longest[0]
    return [line for shapes in reversed(left) for line in shapes[0]]


def changes_text(one: Recommendation, width: int) -> list[str]:
    """What a recommendation changes, a line for each change, the most effective first, and what it harms."""
    return _shapes(one, width, titled=False)[0]


def _shapes(one: Recommendation, width: int, titled: bool) -> list[list[str]]:
    """The same, each shorter than the one before: in lines, in running text, fewer changes, fewer harms.

    Args:
        titled: whether its title is told elsewhere.
    """
    groups = change_groups(one.changes)
    wide = max(map(len, groups), default=0)
    lines = [f"{path:<{wide}}  {_group_text(path, group)}" for path, group in groups.items()]
    lines = lines or ["nothing: keep the baseline"]
    running = [" ".join(line.split()) for line in lines]
    harms, *less = (_harms(one, most) for most in range(HARMS, 0, -1))
    less += [[named_harms(ELSEWHERE, one.harms, 1)]] if one.harms else []
    shapes = [[*([] if titled else [one.title]), *lines, *harms], ["; ".join(running), *harms]]

    def some(shown: int) -> str:
        left = len(running) - shown
        more = f"; and {counted(left, 'more change')}" if left > 0 else ""
        return "; ".join(running[:shown]) + more

    # First changes go, as far as two, then harms.
    order = [(shown, harms) for shown in range(len(running) - 1, 1, -1)]
    order += [(shown, fewer) for shown in (2, 1) for fewer in (harms, *less)]
    how = f" (--export-diff {one.letter})"
    shapes += [[some(shown) + how * (shown < len(running)), *fewer] for shown, fewer in order]
    shapes.append([some(1), *order[-1][1]])
    made: list[list[str]] = []
    for shape in shapes:
        first, *rest = wrapped((f"     {line}" for line in shape), width)
        if not made or len(rest) + 1 < len(made[-1]):
            made.append([f"  {one.letter}  {first[5:]}", *rest])
    return made


def _group_text(path: str, group: Sequence[ParameterChange]) -> str:
    """What changes in a group: the choice, then its parameters by their last names."""
    names = ["" if one.path == path else f"{one.path.rpartition('.')[2]} " for one in group]
    texts = [f"{name}{change_text(one)}" for name, one in zip(names, group, strict=True)]
    return f"{', '.join(texts)}{f'  {MAIN}' if is_main(group) else ''}"


def _harms(one: Recommendation, most: int) -> list[str]:
    """What else gets worse, what in some runs, and what under a higher load: a line each."""
    usual = [harm for harm in one.harms if harm.load == 1 and harm.part is None]
    made = [named_harms(ELSEWHERE, usual, most)] if usual or not one.harms else []
    if some := [harm for harm in one.harms if harm.part is not None]:
        made.append(named_harms(IN_SOME, some, most))
    if busier := [harm for harm in one.harms if harm.load > 1]:
        plain = [replace(harm, replay=False, load=1.0) for harm in busier]
        made.append(named_harms(f"{more_load(busier[0])} also", plain, most))
    return made


def named_harms(where: str, some: Sequence[Harm], most: int) -> str:
    """The worst of so many classes by name, the others counted."""
    classes: dict[str, Harm] = {}
    for harm in some:
        classes.setdefault(harm.metric.partition(".")[2] or harm.metric, harm)
    named = list(classes.values())[:most]
    others = len(some) - len(named)
    more = f"; and {counted(others, 'other')}" if others else ""
    return f"{where}: {'; '.join(map(harm_text, named)) or NOTHING}{more}"


def caveats(front: Front) -> list[str]:
    """How many configurations the guards exclude, why some failed, and why harm may have been missed."""
    told = []
    for metric, (one, many, option) in GUARDS.items():
        guards = [guard for guard in front.archive.constraints if guard.metric == metric]
        count = len(infeasible(front, guards)) if guards else 0
        if count:
            told.append(f"{count} {one if count == 1 else many} ({option})")
    excluded = [f"Excluded, against the baseline: {', '.join(told)}"] if told else []
    if later := ", ".join(map(str, sorted(front.archive.broken))):
        excluded.append(f"Excluded in later checks (further seeds, replays of logs): {later}")
    reasons = Counter(one.reason for one in front.archive.failed).most_common(1)
    failed = [f"Failed, {count} of {len(front.archive.failed)}: {why}" for why, count in reasons]
    return [*excluded, *failed, *front.archive.remarks]


def _next_steps(front: Front, study: str, page: Path | None) -> list[str]:
    """What to type next."""
    if not study:
        return ["Nothing was saved: give `--out DIR` to look at the front and use a configuration."]
    if not front.on_front:
        return [f"What comes nearest: gridtune front {study}"]
    advice = [one.letter for one in front.archive.recommendations[:1]]
    steps = {f"{one} in detail": f"gridtune front {study} --export-diff {one}" for one in advice}
    steps |= {f"Use {one}": f"gridtune front {study} --export {one} > {one.lower()}.toml" for one in advice}
    steps[f"Pareto front ({len(front.on_front)})"] = f"gridtune front {study}"
    if page:
        steps["Pictures"] = str(page)
    wide = max(map(len, steps)) + 1
    return [f"{f'{what}:':<{wide}} {words}" for what, words in steps.items()]
