"""The one data frame of a study: a row for each configuration, from which every report is made.

`HEAD`, `_of_objective` and `TAIL` hold its columns. Tables of text and LaTeX show those with a title.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import nan
from operator import attrgetter
from typing import Any, NamedTuple

import pandas as pd

from gridtune.optimize.front.changes import gains
from gridtune.optimize.front.front import Front, keeps
from gridtune.optimize.records.difference import Change
from gridtune.optimize.records.evaluations import Constraint, Estimate, Evaluation, Failed, Objective, Value
from gridtune.optimize.records.recommendation import Recommendation
from gridtune.optimize.replication.compare import signs
from gridtune.optimize.report import numbers
from gridtune.optimize.report.recommended import GUARDS
from gridtune.optimize.search_space.constraints import Bounded, feasible, tightest
from gridtune.scenarios.results.frames import columns_of_values

BASELINE, ON_FRONT, DOMINATED, INFEASIBLE, FAILED = "baseline", "front", "dominated", "infeasible", "failed"
TITLE = 16  # letters in a line of a title
STATES = (BASELINE, ON_FRONT, DOMINATED, INFEASIBLE, FAILED)


@dataclass(frozen=True)
class Row:
    """A configuration of a study, with all that a report says of it."""

    front: Front
    entry: Evaluation | Failed
    member: bool  # of the front
    advice: Recommendation | None  # what it is recommended as
    on_front: bool  # or equals in every run a configuration that is

    @property
    def number(self) -> int:
        """Of the configuration."""
        return self.entry.number

    @property
    def stand(self) -> int:
        """See `Front.stand`."""
        return self.front.stand(self.number)

    @property
    def evaluation(self) -> Evaluation | None:
        """The entry; None if it failed."""
        return self.entry if isinstance(self.entry, Evaluation) else None

    @property
    def is_baseline(self) -> bool:
        """Whether it is the scenario's own configuration."""
        return self.evaluation is not None and self.front.archive.baseline == self.number

    @cached_property
    def state(self) -> str:
        """One of `STATES`; the baseline is on the front or not, too, see `on_front`."""
        if isinstance(self.entry, Failed):
            return FAILED
        if self.is_baseline:
            return BASELINE
        return ON_FRONT if self.on_front else DOMINATED if self.feasible else INFEASIBLE

    @cached_property
    def feasible(self) -> bool:
        """Whether it keeps all constraints; what failed does not."""
        archive, one = self.front.archive, self.evaluation
        if one is None or self.member:
            return one is not None and keeps(one, archive.constraints)
        return feasible(one, archive.constraints) and self.number not in archive.broken

    @property
    def chance(self) -> float | None:
        """Probability that no other configuration dominates it; None if unknown."""
        return self.front.chance(self.number) if self.member else None

    @property
    def equals(self) -> tuple[int, ...]:
        """Numbers of further configurations that gave the same in every run as a member."""
        return self.front.equals(self.number) if self.member else ()

    @property
    def confirmation_replications(self) -> int:
        """Runs by which a recommendation was compared with the baseline; of the baseline, with the first."""
        beside = self.front.archive.recommendations if self.is_baseline else ()
        return getattr(self.advice or next(iter(beside), None), "replications", 0)

    @property
    def name(self) -> str:
        """What people call it: `baseline`, the letter of a recommendation, or its number."""
        return BASELINE if self.is_baseline else self.advice.letter if self.advice else str(self.number)

    @property
    def values(self) -> dict[str, Value]:
        """Its parameters by path; of the baseline what the scenario has."""
        return {**self.front.archive.present, **self.entry.values} if self.is_baseline else self.entry.values

    @cached_property
    def changes(self) -> dict[str, Change]:
        """What happens to each objective against the baseline, by name; empty if unknown."""
        if self.advice is not None:
            return self.advice.objectives
        archive, one = self.front.archive, self.evaluation
        if self.stand not in (self.number, archive.baseline):
            one = next(other for other in archive.evaluations if other.number == self.stand)
        return {each.metric.name: each for each in gains(self.front, one)} if one else {}

    def mean(self, objective: Objective) -> float:
        """What is expected of an objective, in its unit: the one value that every report shows."""
        standing, means = self.front.archive.standing, self.front.means
        if standing is not None and standing.number in means and objective.name in self.changes:
            return self.front.value(standing.number, objective) + self.changes[objective.name].difference.mean
        if self.stand in means:
            return self.front.value(self.stand, objective)
        return self.evaluation.estimates[objective.name].mean if self.evaluation else nan

    def baseline(self, objective: Objective) -> float:
        """What is expected of the baseline, of which a difference is known."""
        return self.mean(objective) - self.changes[objective.name].difference.mean


class Column(NamedTuple):
    """A column of the frame: `name` and `value` in CSV and the Python API, the others in tables of text."""

    name: str
    value: Callable[[Row], Any]
    title: str = ""  # empty where tables do not show it
    text: Callable[[Row], str] | None = None  # made of the value if left out


def _runs(row: Row) -> str:
    one = row.evaluation
    if row.confirmation_replications:
        return str(row.confirmation_replications)
    return "0" if one is None else str(one.validation_replications or f"{one.replications} search")


HEAD = (
    Column("name", lambda row: row.name, "no."),
    Column("state", lambda row: row.state),
    Column("on_front", lambda row: row.on_front),
)
TAIL = (
    Column("probability_non_dominated", lambda row: row.chance, "P",
           lambda row: "-" if row.chance is None else f"{row.chance:.2f}"),
    Column("replications", lambda row: getattr(row.evaluation, "replications", 0)),
    Column("validation_replications", lambda row: getattr(row.evaluation, "validation_replications", 0),
           "runs", _runs),
    Column("confirmation_replications", lambda row: row.confirmation_replications),
    Column("equivalents", lambda row: len(row.equals)),
    Column("feasible", lambda row: row.feasible),
    Column("failure", lambda row: row.entry.reason if isinstance(row.entry, Failed) else ""),
)  # fmt: skip


def _part(name: str, find: Callable[[Row], Any], part: str, **shown: Any) -> Column:
    """A column of a part of what is found for a row; empty where nothing is."""
    return Column(name, lambda row: (found := find(row)) and attrgetter(part)(found), **shown)


def _plain(metric: str, case: str = "") -> list[Column]:
    """The plain means of a metric, be it of one of several cases, and their standard errors."""

    def known(row: Row, whole: str, by_case: str) -> Estimate | None:
        found = getattr(row.evaluation, by_case if case else whole, None) or {}
        return (found.get(case, {}) if case else found).get(metric)

    kinds = {
        "search": partial(known, whole="objectives", by_case="cases"),
        "validated": partial(known, whole="validated", by_case="validated_cases"),
    }
    parts, at = {"": "mean", "_se": "standard_error"}, f"@{case}" if case else ""
    return [_part(f"{metric}_{kind}{se}{at}", kinds[kind], parts[se]) for kind in kinds for se in parts]


def _of_objective(one: Objective) -> list[Column]:
    """The columns of an objective: estimated mean, difference to the baseline, plain means of its runs."""

    def change(row: Row) -> Change | None:
        return row.changes.get(one.name)

    def text(row: Row) -> str:
        if row.evaluation is None:
            return "-"
        found, known = change(row), row.evaluation.estimates[one.name]
        error = None if row.front.archive.standing else known.standard_error
        return numbers.with_half(row.mean(one), found.difference.half if found else error, one)

    ends = {"": "mean", "_low": "low", "_high": "high"}
    return [
        Column(one.name, lambda row: row.mean(one), numbers.metric_label(one, TITLE), text),
        *(_part(f"{one.name}_difference{end}", change, f"difference.{part}") for end, part in ends.items()),
        *_plain(one.name),
    ]


def _of_constraint(one: Constraint, several: bool) -> list[Column]:
    """The columns of a constraint: what is nearest to the bound, and in which case."""
    metric = numbers.as_objective(one)

    def nearest(row: Row) -> Bounded | None:
        known = row.evaluation
        return tightest(one, known.validated_cases or known.cases) if known else None

    def text(row: Row) -> str:
        known = nearest(row)
        if known is None:
            return "-"
        tail = f"{known.whose}{' broken' * (known.excess > 0)}"
        return f"{numbers.with_half(known.value.mean, known.value.standard_error, metric)}{tail}"

    title = f"{numbers.metric_label(metric, TITLE)}\n{one.relation} {numbers.amount(one.bound, metric)}"
    made = [
        _part(str(one), nearest, "value.mean", title=title, text=text),
        _part(f"{one}_se", nearest, "value.standard_error"),
    ]
    return [*made, _part(f"{one}_scenario", nearest, "case")] if several else made


def columns(front: Front) -> list[Column]:
    """The columns of a front's frame, apart from its parameters and further metrics."""
    archive = front.archive
    own = [column for one in front.objectives for column in _of_objective(one)]
    bound = [column for one in archive.constraints for column in _of_constraint(one, len(archive.cases) > 1)]
    named = dict.fromkeys([e.name for e in front.objectives] + [e.metric for e in archive.constraints])
    apart = [column for case in archive.cases for name in named for column in _plain(name, case)]
    return [*HEAD, *own, *bound, *TAIL, *apart]


def rows(front: Front) -> list[Row]:
    """All configurations: baseline, recommendations, the best first."""
    archive = front.archive
    members, on_front = ({one.number for one in some} for some in (front.members, front.on_front))
    advice = {one.number: one for one in reversed(archive.recommendations)}
    entries: list[Evaluation | Failed] = [*archive.evaluations, *archive.failed]
    made = [
        Row(front, e, e.number in members, advice.get(e.number), front.stand(e.number) in on_front)
        for e in entries
    ]
    turned = signs(front.objectives)

    def rank(row: Row) -> tuple[Any, ...]:
        letter = row.advice.letter if row.advice else "~"
        means = turned * [row.mean(one) for one in front.objectives]
        return (row.state != BASELINE, letter, STATES.index(row.state), *means, row.number)

    return sorted(made, key=rank)


def frame(front: Front, some: Sequence[Row] | None = None, *, metrics: bool = True) -> pd.DataFrame:
    """The frame, a row for each configuration (all, or `some`) by `number`; `metrics` adds other metrics."""
    some = rows(front) if some is None else some
    shown = columns(front)
    told = pd.DataFrame({one.name: [one.value(row) for row in some] for one in shown})
    fixed = {one.name for one in (*HEAD, *TAIL)} | {one.name for one in front.objectives}
    told = told.drop(columns=[name for name in told if name not in fixed and told[name].isna().all()])
    told["state"] = pd.Categorical(told["state"], STATES)
    told["probability_non_dominated"] = told["probability_non_dominated"].astype(float)
    parts = [told, pd.DataFrame(columns_of_values([row.values for row in some], _paths(some)))]
    if metrics:
        each = pd.DataFrame([row.evaluation.metrics if row.evaluation else {} for row in some])
        parts.append(each[[name for name in each if not any(name in one for one in parts)]])
    table = pd.concat(parts, axis=1)
    table.index = pd.Index([row.number for row in some], name="number", dtype="int64")
    return table


def _paths(some: Sequence[Row]) -> dict[str, None]:
    return dict.fromkeys(path for row in some for path in row.entry.values)


def texts(front: Front, some: Sequence[Row]) -> tuple[list[str], list[list[str]], list[int]]:
    """The frame as texts: titles, rows, and the places of columns that are no numbers.

    It has parameters that differ between the rows, and `GUARDS` that any row breaks.
    """
    idle = {"probability_non_dominated"} if all(row.chance is None for row in some) else set()
    if all(row.state != INFEASIBLE for row in some):
        idle |= {str(one) for one in front.archive.constraints if one.metric in GUARDS}
    own = [one for one in columns(front) if one.title and one.name not in idle]
    held = {path: [row.values.get(path) for row in some] for path in _paths(some)}
    paths = [path for path, values in held.items() if len({(type(one), one) for one in values}) > 1]
    cells = [[one.text(row) if one.text else numbers.setting(one.value(row)) for row in some] for one in own]
    cells += [[*map(numbers.setting, held[path])] for path in paths]
    titles = [*(one.title for one in own), *(numbers.path_label(path, paths, TITLE) for path in paths)]
    return titles, [list(row) for row in zip(*cells, strict=True)], [0, *range(len(own), len(titles))]
