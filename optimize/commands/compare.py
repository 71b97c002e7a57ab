"""What `gridtune compare` does: find out what two names stand for, and set both side by side.

Under common random numbers (the same scenario and seed) values are compared pair by pair; else as two samples
with unequal variances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import isfinite
from pathlib import Path
from textwrap import fill
from typing import Any, Literal

import numpy as np
from scipy.stats import sem, ttest_ind

from gridtune.model.metrics.labels import label
from gridtune.model.metrics.registry import definition
from gridtune.optimize import api
from gridtune.optimize.api.search_result import Study
from gridtune.optimize.commands.sensitivity import is_study
from gridtune.optimize.front.changes import IDLE, change
from gridtune.optimize.front.front import Front, hypervolume
from gridtune.optimize.records.difference import ROUNDING, Change, Difference
from gridtune.optimize.records.evaluations import Estimate, Objective, side_by_side
from gridtune.optimize.records.recommendation import much
from gridtune.optimize.report.numbers import amount, metric_label
from gridtune.optimize.report.recommended import COUNTED
from gridtune.optimize.search_space.cases import Case
from gridtune.plain_text import counted, listed
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.amounts import human_difference
from gridtune.scenarios.results.saved_runs import SUBJECTS, Origin, SavedRun, saved_run, workloads_of
from gridtune.scenarios.results.text import GAP, LINES, Styled, text_table, wrapped

OWN_RUNS = "Hypervolumes are of estimated means; other values, of each configuration's own runs."
SPARE = 3  # lines for the head of the table
MOST = 3  # settings of workloads, or metrics, that are named
JOBS = "jobs.size-"  # metrics: how many jobs of a class there are, whatever becomes of them
NAME = 20  # columns that names have at least
MAIN = ("slowdown_mean", "waiting_mean")  # metrics that come first
REPEATED = "All replications are equal, so one counts; `--set workload.NAME.resample=weeks` varies a log."


@dataclass(frozen=True)
class Row:
    """One quantity in both: `of` what of a study (if not the whole), and whether one way is better."""

    change: Change
    of: str = ""
    judged: bool = True

    @property
    def better(self) -> bool | None:
        """Whether the second is better; None if equal, or neither way is."""
        return self.change.better if self.judged and self.change.difference.mean else None

    @property
    def told(self) -> bool:
        """Whether the second is significantly better or worse."""
        return self.judged and self.change.beyond_noise

    @property
    def harm(self) -> bool:
        """Whether the second is worse by over a tenth of the first, significantly or not."""
        return self.better is False and much(self.change.start, self.change.difference.mean)

    def as_json(self) -> dict[str, Any]:
        """For JSON."""
        gap, metric = self.change.difference, self.change.metric
        return {
            "name": f"{self.of} {metric.name}".strip(), "unit": metric.unit,
            "a": self.change.start, "b": self.change.to,
            "difference": gap.mean, "low": gap.low, "high": gap.high,
            "paired": gap.pairs > 0, "better": self.better,
        }  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """Two of a kind side by side."""

    a: str
    b: str
    kind: Literal["studies", "runs"]
    apart: str  # why they are not compared pair by pair; "" if they are
    rows: Sequence[Row]
    jobs: Sequence[str] = ()  # settings of workloads that differ, or metrics that show that jobs do
    missing: Sequence[str] = ()  # metrics that are not compared, as some runs have no finite value
    repeated: bool = False  # whether all replications of each are equal, so that one was compared

    def to_dict(self) -> dict[str, Any]:
        """As data for JSON; differences are B minus A."""
        return {
            "a": self.a,
            "b": self.b,
            "kind": self.kind,
            "paired": not self.apart,
            "unpaired_because": self.apart or None,
            "differing_workloads": self.jobs,
            "not_compared": self.missing,
            "rows": [row.as_json() for row in self.rows],
        }


def run_compare(a: str, b: str) -> Comparison:
    """Two studies, or two runs, side by side; a `ScenarioError` if these are none, or of two kinds."""
    first, second = _found(a), _found(b)
    if isinstance(first, Study) and isinstance(second, Study):
        return Comparison(a, b, "studies", *_studies(first, second))
    if isinstance(first, SavedRun) and isinstance(second, SavedRun):
        return Comparison(a, b, "runs", *_runs(first, second))
    raise ScenarioError(f"{a} and {b}: one is a study and the other a run; compare two of a kind")


def compare_text(made: Comparison, width: int, *, every: bool = False) -> str:
    """What changes from one to the other, first what does so significantly; `every` row, also if equal."""
    names, rows = _names(made.a, made.b), made.rows
    changed = [row for row in rows if row.change.difference.mean]
    changed.sort(
        key=lambda row: (
            row.change.metric.name not in MAIN, not row.told, not row.harm, -row.change.relative
        )
    )  # fmt: skip
    equal = len(rows) - len(changed)
    sentences = [REPEATED] * made.repeated
    if jobs := made.jobs:
        sentences.append(
            f"The runs have different jobs ({listed(jobs, MOST)}): differences may come from the jobs."
        )
    sure, total = sum(row.told for row in changed), counted(len(rows), "quantity", "quantities")
    said = f"{sure} of {total} differ significantly between {names[0]} and {names[1]}."
    if changed and all(row.change.difference.half is None for row in changed):
        ways = [row.better for row in changed]
        counts = f"{ways.count(True)} better, {ways.count(False)} worse in {names[1]}"
        counts += f", {ways.count(None)} neither" * (None in ways)
        said = f"{len(changed)} of {total} differ ({counts}); one run of each cannot say which by chance."
    if made.missing:
        sentences.append(f"Not compared, as some runs have no finite value: {listed(made.missing, MOST)}.")
    head = wrapped([*sentences, said], width)
    if not changed and not every:
        return "\n".join([*head, f"Nothing {'else ' if made.missing else ''}changes."]) + "\n"
    first: dict[tuple[str, ...], Row] = {}
    for row in changed:
        first.setdefault(_same(row), row)
    changed = list(first.values())
    titles = ["", *names, "difference", ""]
    cells = list(map(_cells, rows if every else changed))
    # Names go on in lines of their own, where these would make the table too wide.
    others = [max(map(len, column)) + GAP for column in list(zip(titles, *cells, strict=True))[1:]]
    room = max(width - sum(others), NAME)
    cells = [[fill(name, room, subsequent_indent="  "), *rest] for name, *rest in cells]
    foot, count = [basis(made, names)], len(cells)
    if not every:
        longest = wrapped([*foot, f"Not listed: {'more changes ' * 5} (--all)."], width)
        room = LINES - len(head) - len(longest) - SPARE
        count = sum(lines <= room for lines in accumulate(row[0].count("\n") + 1 for row in cells))
        worse = sum(row.harm for row in changed[count:])
        bad = f" ({worse} for the worse by over a tenth)" if worse else ""
        rest = [f"{len(changed) - count} more changes{bad}"] * (count < len(changed))
        rest += [f"{equal} equal"] * bool(equal)
        foot += [f"Not listed: {' and '.join(rest)} (--all)."] if rest else []
    table = text_table(titles, cells[:count], width)
    return "\n".join([*head, "", table, *wrapped(foot, width)]) + "\n"


def _names(a: str, b: str) -> Sequence[str]:
    """The ends of two paths, as long as it takes to distinguish them."""
    parts = [one.rstrip("/").split("/") for one in (a, b)]
    ends = (["/".join(one[-count:]) for one in parts] for count in range(1, max(map(len, parts)) + 1))
    return next((pair for pair in ends if pair[0] != pair[1]), (a, b))


def basis(made: Comparison, names: Sequence[str]) -> str:
    """What the comparison rests on, in a sentence or two."""
    way, why = f"{names[1]} minus {names[0]}", made.apart
    pairs = f"Differences are {way} on common random numbers"
    text = f"{why}: differences are {way} of two samples" if why else pairs
    if any("±" in _difference(row.change) for row in made.rows):
        text += "; ±: half of the 95 % interval; without a verdict behind ± not significant"
    return f"{text}. {OWN_RUNS}" if made.kind == "studies" else f"{text}."


def _same(row: Row) -> tuple[str, ...]:
    """What rows share that tell one thing under two names; counts may be equal by chance."""
    one = row.change
    if one.start.is_integer() and one.to.is_integer():
        return row.of, one.metric.name
    return row.of, one.metric.unit, f"{one.start:.9g}", f"{one.to:.9g}"


def _cells(row: Row) -> list[str]:
    one, verdict = row.change, ""
    if row.told:
        verdict = Styled("better", "green") if row.better else Styled("worse", "red")
    elif one.difference.half is None and row.better is not None:  # of one run each
        verdict = "better?" if row.better else "worse?"
    name = f"{row.of} {metric_label(one.metric)}".strip()
    return [name, amount(one.start, one.metric), amount(one.to, one.metric), _difference(one), verdict]


def _difference(one: Change) -> str:
    gap, half, metric = one.difference.mean, one.difference.half, one.metric
    size, unit = (100, " points") if label(metric.name).percent else (1, "")
    half = None if half is None else half * size
    return human_difference(gap * size, half, metric.unit, metric.name) + (unit if gap else "")


def _found(subject: str) -> Study | SavedRun:
    if (run := saved_run(subject)) is not None:
        return run
    path = Path(subject)
    if path.suffix == ".toml" or not (path.exists() or is_study(subject)):
        raise ScenarioError(f"{subject}: expected {SUBJECTS}")
    return api.open_study(subject)


def _studies(a: Study, b: Study) -> tuple[str, list[Row], list[str]]:
    first, second = ([(o.name, o.direction) for o in one.archive.objectives] for one in (a, b))
    if first != second:
        names = [", ".join(name for name, _ in some) for some in (first, second)]
        raise ScenarioError(f"the studies trade off different objectives: {names[0]}; and {names[1]}")
    if empty := [one.name for one in (a, b) if not one.details.on_front]:
        raise ScenarioError(f"{empty[0]}: has no front to compare")
    cases = [list(map(_origin, study.settings.run_in)) for study in (a, b)]
    pairs = list(zip(*cases, strict=False))
    jobs = list(dict.fromkeys(path for one, other in pairs for path in one.unlike(other)))
    reasons = [one.apart(other) for one, other in pairs]
    apart = reasons[0]
    if jobs:
        apart = "The searches have different jobs"
    elif a.details.validated != b.details.validated:
        apart = "The two share no random numbers (only one has validated its front)"
    elif len(cases[0]) != len(cases[1]) or (any(reasons) and not all(reasons)):
        apart = "The two were searched in other scenarios"
    rows = compared_fronts(a.details, b.details, common=not apart)
    if a.archive.standing and b.archive.standing:
        known = a.archive.standing.estimates, b.archive.standing.estimates
        rows += [_row("baseline", one, known, common=not apart) for one in a.archive.objectives]
    return apart, rows, jobs


def _origin(case: Case) -> Origin:
    made = workloads_of(case.scenario.spec.model_dump(mode="json"))
    return Origin(scenario=case.scenario.name, seed=case.seed, workloads=made)


def _runs(a: SavedRun, b: SavedRun) -> tuple[str, list[Row], list[str], list[str], bool]:
    both = [name for name in a.metrics if name in b.metrics]
    shared = {name: (a.metrics[name].values, b.metrics[name].values) for name in both}
    if not shared:
        raise ScenarioError("the runs have no metric in common")
    repeated = all(
        len(values) > 1 and len({*map(str, values)}) == 1 for both in shared.values() for values in both
    )
    if repeated:
        shared = {name: (x[:1], y[:1]) for name, (x, y) in shared.items()}
    pairs = min(len(values) for both in shared.values() for values in both)
    counts = [name for name, (x, y) in shared.items() if name.startswith(JOBS) and x[:pairs] != y[:pairs]]
    apart = "The runs have different jobs" if counts else a.apart(b)
    rows, missing = [], [name for name in {**a.metrics, **b.metrics} if name not in shared]
    for name, (first, second) in shared.items():
        finite = [*map(isfinite, (*first, *second))]
        if any(finite) and not all(finite):
            missing.append(name)
        elif any(finite):
            meaning, unit = definition(name), a.metrics[name].unit
            direction, step = (meaning.direction, meaning.resolution) if meaning else ("minimize", 0.0)
            one = compared(Objective(name, direction, unit, step), first, second, common=not apart)
            # Unknown metrics, idle ones, and sums over other jobs have no better direction.
            summed = unit in COUNTED or name.partition(".")[0].endswith("_work")
            idle = meaning is None or name in IDLE or (bool(counts) and summed)
            rows.append(Row(one, judged=not idle))
    return apart, rows, a.unlike(b) or counts, missing, repeated


def _row(of: str, objective: Objective, known: Sequence[Mapping[str, Estimate]], *, common: bool) -> Row:
    first, second = (one[objective.name].values for one in known)
    return Row(compared(objective, first, second, common=common), of)


def compared(metric: Objective, first: Sequence[float], second: Sequence[float], *, common: bool) -> Change:
    """One metric in both, a value per replication; `common` if those of one number share random numbers."""
    if common:  # over the replications that both have
        return change(metric, first, second)
    start, to = float(np.mean(first)), float(np.mean(second))
    if min(len(first), len(second)) < 2:
        return Change(metric, start, to, Difference(to - start, None, None, None, None, 0))
    error, freedom = 0.0, 1.0
    if not max(np.ptp(first), np.ptp(second)) <= ROUNDING * max(map(abs, (*first, *second))):
        error = float(np.hypot(sem(first), sem(second)))
        freedom = float(ttest_ind(first, second, equal_var=False).df)  # Welch's test
    return Change(metric, start, to, Difference.of(to - start, error, freedom, 0))


def compared_fronts(a: Front, b: Front, *, common: bool) -> list[Row]:
    """The fronts of two studies with the same objectives: hypervolume, and the best of each, by its runs.

    Hypervolumes are those of estimated means, both with the reference point of the first. Their difference
    has no interval: other seeds of the sampler would change it, too.
    """
    volumes = [[hypervolume(one.costs(one.on_front), a.objectives, a.reference)] for one in (a, b)]
    counts = [[len(one.on_front)] for one in (a, b)]
    volume, count = Objective("hypervolume", "maximize"), Objective("configurations on the front", "maximize")
    rows = [Row(compared(volume, *volumes, common=False))]
    rows.append(Row(compared(count, *counts, common=False), judged=False))
    for at, objective in enumerate(a.objectives):
        best = [front.on_front[front.costs(front.on_front)[:, at].argmin()] for front in (a, b)]
        known = side_by_side(best) if common else [one.estimates for one in best]
        rows.append(_row("best", objective, known, common=common))
    return rows
