"""The front as text: a row for each configuration; on request what is dominated, and the statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gridtune.model.metrics.labels import label
from gridtune.optimize.front.front import Front
from gridtune.optimize.replication.compare import promising
from gridtune.optimize.report.answer import caveats, changes_text, heading
from gridtune.optimize.report.frame import ON_FRONT, TITLE, Row, rows, texts
from gridtune.optimize.report.numbers import amount, as_objective, metric_label, setting, with_half
from gridtune.optimize.report.recommended import harms_text, infeasible, why_none
from gridtune.optimize.search_space.constraints import tightest
from gridtune.plain_text import counted
from gridtune.scenarios.results.amounts import human
from gridtune.scenarios.results.text import text_table, wrapped

SHOWN = 12  # configurations of the front in a terminal, at most
NEAREST = 3  # configurations that are named where none keeps the constraints


def listed(front: Front) -> list[Row]:
    """The configurations that a table shows: baseline, recommendations and front without equals."""
    return [row for row in rows(front) if row.is_baseline or row.advice or (row.member and row.on_front)]


def spread(front: Front) -> list[Row]:
    """What a terminal shows of `listed`: of the front the best of each objective, and a spread over it."""
    some = listed(front)
    others = [row for row in some if row.state == ON_FRONT and not row.advice]
    if len(others) <= SHOWN:
        return some
    means = front.costs([row.evaluation for row in others if row.evaluation])
    best = sorted(set(means.argmin(axis=0).tolist()))
    more = promising(means[None], range(len(others)), SHOWN - len(best), base=best)
    hidden = {row.number for row in others} - {others[at].number for at in (*best, *more)}
    return [row for row in some if row.number not in hidden]


def front_text(front: Front, some: Sequence[Row], width: int) -> str:
    """What each recommendation makes worse, the front, what its signs mean, what is recommended."""
    remarks = [*caveats(front), *_nearest(front)]
    if not some:
        return "\n".join(wrapped([heading(front), why_none(front), *remarks], width)) + "\n"
    titles, cells, left = texts(front, some)
    table = text_table(titles, cells, width, left=left).rstrip("\n")
    notes = wrapped([*_notes(front, some, titles), *remarks], width)
    top, bottom = wrapped([heading(front)], width), wrapped([why_none(front)], width)
    if advice := front.archive.recommendations:
        top += ["", *wrapped([line for one in advice for line in harms_text(one)], width)]
        bottom = [line for one in advice for line in changes_text(one, width)]
    return "\n".join([*top, "", table, "", *notes, "", *bottom]) + "\n"


def _notes(front: Front, some: Sequence[Row], titles: Sequence[str]) -> Iterator[str]:
    errors = "; of constraints, the standard error" if front.archive.constraints else ""
    half = f"±: the difference from the baseline is known to within this (95 %){errors}"
    if not front.certain:
        yield half if front.archive.standing else "±: standard error"
    if "P" in titles:
        yield "P: estimated probability that no other dominates it"
    known = [row.evaluation for row in some if row.evaluation and not row.advice]
    if front.posterior is not None and any(one.number not in front.posterior for one in known):
        yield "without ±: the mean of runs in the search, not comparable with the other values"
    if front.validated and not all(one.validation_replications for one in known):
        yield "runs: number of runs in checks (`1 search`: one run in the search, no checks)"
    if hidden := len({one.number for one in front.on_front} - {row.number for row in some}):
        yield f"{counted(hidden, 'more configuration')} on the front: `--format csv`, or `--all`"
    if same := sum(len(front.equals(one.number)) for one in front.on_front):
        yield f"{counted(same, 'more configuration')} gave the same in every run."


def _nearest(front: Front) -> Iterator[str]:
    for one in [] if front.on_front else infeasible(front)[:NEAREST]:
        broken = ", ".join(
            f"{label(rule.metric)} {amount(tightest(rule, one.cases).value.mean, as_objective(rule))}"
            for rule in front.archive.constraints
        )
        values = ", ".join(f"{path} {setting(value)}" for path, value in one.values.items())
        yield f"Nearest: no. {one.number} with {broken} ({values or 'the baseline'})."


def statistics_text(front: Front, width: int) -> str:
    """What stands behind a front: hypervolume, categories, constraints, scenarios."""
    text = "\n".join(wrapped([heading(front), *statistics(front)], width)) + "\n"
    if not front.archive.cases or not front.members:
        return text
    every = [*map(as_objective, front.archive.constraints), *front.objectives]
    metrics = {one.name: one for one in every}.values()
    cells = []
    for row in listed(front):
        for case, known in row.evaluation.checked_cases.items() if row.evaluation else ():
            means = [with_half(known[one.name].mean, known[one.name].standard_error, one) for one in metrics]
            cells.append([row.name, case, *means])
    titles = ["no.", "scenario", *(metric_label(one, TITLE) for one in metrics)]
    return f"{text}\n{text_table(titles, cells, width, keep=2, left=(0, 1))}"


def reference_text(front: Front) -> str:
    """The reference point of the hypervolume, as people read it."""
    pairs = zip(front.objectives, front.reference, strict=True)
    return ", ".join(f"{label(one.name)} {amount(value, one)}" for one, value in pairs)


def statistics(front: Front) -> Iterator[str]:
    """The same in sentences."""
    archive = front.archive
    yield f"Hypervolume: {human(front.hypervolume)} (reference point: {reference_text(front)})."
    again = counted(sum(one.validated is not None for one in archive.evaluations), "configuration")
    yield f"{again} ran on validation seeds, {len(archive.evaluations)} in the search."
    yield from _absent(front)
    if archive.cases:
        summed = {"mean": "the mean", "worst": "the worst"}.get(archive.robust, archive.robust)
        yield f"Each configuration ran in {len(archive.cases)} scenarios; an objective is {summed} of them."
    for rule in archive.constraints:
        known = [cases for one in archive.evaluations if (cases := one.checked_cases)]
        broken = sum(tightest(rule, cases).excess > 0 for cases in known)
        bound = f"{label(rule.metric)} {rule.relation} {amount(rule.bound, as_objective(rule))}"
        yield f"Constraint: {bound}; {counted(broken, 'configuration')} broke it."


def _absent(front: Front) -> Iterator[str]:
    """Which categories of parameters that every configuration has are not on the front."""
    if front.posterior is None:
        return
    known = [one for one in front.archive.evaluations if one.number in front.posterior and one.values]
    shown = {one.number for one in front.on_front}
    for path in dict.fromkeys(path for one in known for path in one.values):
        tried = Counter(one.values.get(path) for one in known)
        there = {one.values.get(path) for one in known if one.number in shown}
        for value in sorted(value for value in tried if isinstance(value, str) and None not in tried):
            if value not in there:
                yield f"No configuration with {path} {value} is on the front ({tried[value]} tried)."
