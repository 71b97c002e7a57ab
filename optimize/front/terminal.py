"""A front for a terminal: what fits its width, today's setting first, and differences against it.

Columns are the objectives, their differences to today's setting, and the parameters that vary; points that
cannot be told apart share a row. Where that is too wide, points become columns, as many side by side as fit.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gridtune.optimize.front.against_today import between, gains, todays, todays_chance
from gridtune.optimize.front.breakdown import constraint_cells, constraint_titles, number
from gridtune.optimize.front.changes import Change
from gridtune.optimize.front.front import Front, Member
from gridtune.optimize.front.number_format import cell, estimated, spoken
from gridtune.optimize.records.evaluations import Objective, Value
from gridtune.optimize.replication.loss import EXCESS_LOSS
from gridtune.scenarios.results.amounts import counted, human, human_difference

WIDTH = 120  # columns where standard output is no terminal
LIKELY = 0.1  # chance of being on the front, below which members that fell are only counted
NEAR = 0.1  # of the front's span in an objective: points further apart are never merged
GAP = "  "


def terminal_width() -> int:
    """Columns of the terminal, or as the environment says; `WIDTH` where there is none."""
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return WIDTH
    return max(shutil.get_terminal_size((WIDTH, 24)).columns, 40)


@dataclass(frozen=True)
class Group:
    """Members that cannot be told apart.

    Attributes:
        members: the first stands for all of them.
    """

    members: tuple[Member, ...]

    @property
    def label(self) -> str:
        """Their numbers."""
        return ", ".join(number(member) for member in self.members)


def merged(front: Front) -> list[Group]:
    """The members of a front, those that cannot be told apart together, in their order.

    Two are alike if in every objective the 95 % interval of their paired difference holds 0, or they are
    equal, and their means differ by no more than `NEAR` of the front's span. Those that stay come first, so
    that each of them stands for what is no different from it.
    """
    import numpy as np

    if not front.members:
        return []
    rows = front.costs(front.members)
    span = np.ptp(rows, axis=0)
    groups: list[list[int]] = []
    for at, member in enumerate(front.members):
        for group in groups:
            first = front.members[group[0]]
            near = bool(np.all(np.abs(rows[at] - rows[group[0]]) <= NEAR * span))
            if near and first.feasible == member.feasible and _alike(front, first, member):
                group.append(at)
                break
        else:
            groups.append([at])
    return [Group(tuple(front.members[at] for at in group)) for group in groups]


def _alike(front: Front, one: Member, other: Member) -> bool:
    if front.archive.today in (one.evaluation.number, other.evaluation.number):
        return False
    return not any(change.told for change in between(front, one.evaluation, other.evaluation))


def table(front: Front, width: int) -> str:
    """The front as lines of at most `width` columns, if single cells allow."""
    shown, fell = _parted(front)
    titles, rows = _cells(front, shown)
    text = laid_out([titles, *rows], width)
    if fell:
        points = counted(sum(len(group.members) for group in fell), "point")
        more = wrapped([f"{points} run again with P below {LIKELY:g}: --format csv has them."], width)
        text += "".join(f"{line}\n" for line in more)
    return text


def _parted(front: Front) -> tuple[list[Group], list[Group]]:
    """Members that are kept, may be on the front or are today's setting, and the others."""

    def shown(member: Member) -> bool:
        p = member.probability_non_dominated
        today = member.evaluation.number == front.archive.today
        return member.non_dominated or today or p is None or p >= LIKELY

    groups = merged(front)
    likely = [any(map(shown, group.members)) for group in groups]
    return (
        [group for group, one in zip(groups, likely, strict=True) if one],
        [group for group, one in zip(groups, likely, strict=True) if not one],
    )


def laid_out(rows: Sequence[Sequence[str]], width: int) -> str:
    """Rows below their titles as aligned columns; turned on its side, in blocks, where that is too wide."""
    if _width(rows) <= width:
        return _aligned(rows)
    titles, *left = rows
    blocks = []
    while left:
        sides = (_turned([titles, *left[:count]]) for count in range(len(left), 0, -1))
        count, side = next(
            (len(side[0]) - 1, side) for side in sides if len(side[0]) == 2 or _width(side) <= width
        )
        # What none of these has is no row of theirs.
        blocks.append(_aligned([row for row in side if {*row[1:]} != {"-"}]))
        left = left[count:]
    return "\n".join(blocks)


def _turned(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [list(column) for column in zip(*rows, strict=True)]


def wrapped(lines: Iterable[str], width: int) -> list[str]:
    """Sentences broken at the width, what follows a break indented as the line, and two more."""
    made = []
    for line in lines:
        start = line[: len(line) - len(line.lstrip())]
        breaks = textwrap.wrap(
            line.strip(), width - len(start), subsequent_indent="  ", break_on_hyphens=False,
            break_long_words=False,
        )  # fmt: skip
        made += [start + part for part in breaks] or [line]
    return made


def short_names(paths: Sequence[str]) -> dict[str, str]:
    """For each dotted path the shortest end that tells it from the others, of two names at least."""
    found = {}
    for path in paths:
        parts = path.split(".")
        for length in range(min(2, len(parts)), len(parts) + 1):
            tail = ".".join(parts[-length:])
            if sum(other == tail or other.endswith(f".{tail}") for other in paths) == 1:
                break
        found[path] = tail
    return found


def varying(front: Front) -> list[str]:
    """Parameters that differ between the members, or from today's setting, in order of appearance."""
    values: dict[str, set[object]] = {}
    rows: list[Mapping[str, Value]] = [member.evaluation.values for member in front.members]
    paths = dict.fromkeys(path for row in rows for path in row)
    if todays(front) is not None:
        rows = [front.archive.present, *rows]
    for path in paths:
        values[path] = {(type(row.get(path)), row.get(path)) for row in rows}
    return [path for path, some in values.items() if len(some) > 1]


def _cells(front: Front, groups: Sequence[Group]) -> tuple[list[str], list[list[str]]]:
    today, objectives = todays(front), front.objectives
    paths = varying(front)
    short = short_names(paths)
    bound = _bounds(front)
    titles = ["point"]
    for objective in objectives:
        titles += [titled(spoken(objective), objective.unit)] + (["vs today"] if today else [])
    titles += [title for title, kept in zip(constraint_titles(front), bound, strict=True) if kept]
    chances = front.chances
    titles += [*["P"] * chances, "runs", *(short[path] for path in paths)]
    rows = []
    if today is not None:
        row = ["today"]
        for objective in objectives:
            row += [_value(front, today.number, objective), ""]
        row += ["" for kept in bound if kept]
        chance_of_today = todays_chance(front)
        row += ["" if chance_of_today is None else f"{chance_of_today:.2f}"] * chances
        row += [str(today.fresh_replications or today.replications)]
        rows.append([*row, *(cell(front.archive.present.get(path)) for path in paths)])
    for group in groups:
        first = group.members[0]
        if first.evaluation.number == front.archive.today:
            cells = [text for text, kept in zip(constraint_cells(first, front), bound, strict=True) if kept]
            end = len(titles) - len(paths) - 1 - chances
            rows[0][end - len(cells) : end] = cells
            continue
        changes = {one.metric.name: one for one in gains(front, first.evaluation)}
        row = [group.label]
        for objective in objectives:
            shown = _value(front, first.evaluation.number, objective)
            row.append(shown if today else estimated(first.estimates[objective.name]))
            row += [against(changes[objective.name])] if today else []
        row += [text for text, kept in zip(constraint_cells(first, front), bound, strict=True) if kept]
        row += [chance(first)] * chances
        row.append(str(first.evaluation.fresh_replications or first.evaluation.replications))
        rows.append([*row, *(_range(group, path) for path in paths)])
    same = [at for at, title in enumerate(titles) if title == "vs today" and _idle(row[at] for row in rows)]
    return _without(titles, same), [_without(row, same) for row in rows]


def _idle(texts: Iterable[str]) -> bool:
    """Whether nothing differs from today's setting."""
    return all(text in ("", "=") for text in texts)


def _without(row: Sequence[str], places: Sequence[int]) -> list[str]:
    return [text for at, text in enumerate(row) if at not in places]


def _bounds(front: Front) -> list[bool]:
    """Which columns of constraints to show: not the guard against losing work, where all keep it."""
    constraints = front.archive.constraints
    if not constraints:
        return []
    own = [one.metric != EXCESS_LOSS for one in constraints]
    kept = all(member.feasible for member in front.members)
    return [*(mine or not kept for mine in own), any(own) or not kept]


def titled(name: str, unit: str) -> str:
    """A name with its unit, where neither the name nor the values say it."""
    return name if unit in ("", "s", *name.split()) else f"{name} [{unit}]"


def _value(front: Front, number: int, objective: Objective) -> str:
    return human(front.value(number, objective), objective.unit)


def against(one: Change) -> str:
    """The difference of an objective to today's setting, and half its interval."""
    gap = one.difference
    return human_difference(gap.mean, gap.half, one.metric.unit)


def chance(member: Member) -> str:
    """How probably no other evaluated point beats a member."""
    found = member.probability_non_dominated
    return "?" if found is None else f"{found:.2f}"


def _range(group: Group, path: str) -> str:
    values = [member.evaluation.values.get(path) for member in group.members]
    present = [value for value in values if value is not None]
    numbers = [v for v in present if isinstance(v, int | float) and not isinstance(v, bool)]
    if present and len(numbers) == len(values) and min(numbers) < max(numbers):
        return f"{human(min(numbers))} to {human(max(numbers))}"
    return ", ".join(dict.fromkeys(setting(value) for value in values))


def setting(value: Value | None) -> str:
    """The value of a parameter, numbers to three digits."""
    if isinstance(value, float):
        return human(value)
    return cell(value)


def _width(rows: Sequence[Sequence[str]]) -> int:
    return sum(max(map(len, column)) for column in zip(*rows, strict=True)) + len(GAP) * (len(rows[0]) - 1)


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        GAP.join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join(lines) + "\n"
