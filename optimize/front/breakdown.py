"""A front against its constraints, and scenario by scenario."""

from __future__ import annotations

from math import isfinite
from typing import Any

from gridtune.optimize.front.front import Front, Member
from gridtune.optimize.front.number_format import cell, estimated, spoken, with_unit
from gridtune.optimize.records.evaluations import Archive, Constraint, Estimate, Evaluation, Objective
from gridtune.optimize.search_space.constraints import Cases, tightest

NEAREST = 3  # points to name where none keeps the constraints


def constraint_titles(front: Front) -> list[str]:
    """Column titles of `constraint_cells`."""
    constraints = front.archive.constraints
    return [*(_title(one) for one in constraints), *(["P(feasible)"] if constraints else [])]


def constraint_cells(member: Member, front: Front) -> list[str]:
    """What is constrained, in the scenario where it is nearest to its bound, and how surely all is kept."""
    constraints = front.archive.constraints
    if not constraints:
        return []
    chance = member.probability_feasible
    cells = []
    for one in constraints:
        known = tightest(one, member.cases)
        broken = " broken" if one.excess(known.value.mean) > 0 else ""
        cells.append(f"{estimated(known.value)}{known.whose}{broken}")
    return [*cells, "?" if chance is None else f"{chance:.2f}"]


def scenario_header(front: Front) -> list[str]:
    """Column titles of `scenario_rows`; empty where there is one scenario."""
    return ["number", "scenario", *map(titled, _columns(front.archive))] if front.archive.cases else []


def scenario_rows(front: Front) -> list[list[str]]:
    """How each member does in each scenario, as texts: means with their standard errors."""
    return [
        [number(member), case, *(estimated(member.cases[case][o.name]) for o in _columns(front.archive))]
        for member in front.members
        for case in front.archive.cases
    ]


def number(member: Member) -> str:
    """The number of a member, in parentheses if it is not on the front after all."""
    shown = str(member.evaluation.number)
    return shown if member.non_dominated else f"({shown})"


def titled(objective: Objective) -> str:
    """An objective as the title of a column, with its unit unless the name says it."""
    return f"{spoken(objective)} [{objective.unit}]" if with_unit("", objective) else spoken(objective)


def entry(member: Member, archive: Archive) -> dict[str, Any]:
    """What JSON says of a member beyond its objectives: nothing without scenarios and constraints."""
    found: dict[str, Any] = {}
    if archive.cases:
        found["scenarios"] = _scenarios(member.evaluation.cases)
        again = member.evaluation.validated_cases
        found["validated_scenarios"] = None if again is None else _scenarios(again)
    if archive.constraints:
        found["feasible"] = member.feasible
        found["probability_feasible"] = member.probability_feasible
        found["constraints"] = _kept(member.cases, archive)
    return found


def totals(front: Front) -> dict[str, Any]:
    """What JSON says of a search with several scenarios or constraints beyond its front."""
    archive, found = front.archive, dict[str, Any]()
    if archive.cases:
        found |= {"scenarios": list(archive.cases), "robust": archive.robust}
    if archive.constraints:
        infeasible = front.infeasible
        found |= {"constraints": list(map(str, archive.constraints)), "infeasible": len(infeasible)}
        if not front.members:
            found["least_violating"] = [
                {"number": e.number, "values": dict(e.values), "constraints": _kept(e.cases, archive)}
                for e in infeasible[:NEAREST]
            ]
    return found


def columns(member: Member, front: Front) -> dict[str, object]:
    """What CSV says of a member beyond its objectives, by the title of the column."""
    archive, row = front.archive, dict[str, object]()
    evaluation = member.evaluation
    for one in archive.constraints:
        known = tightest(one, member.cases)
        row |= {str(one): known.value.mean, f"{one}_se": known.value.standard_error}
        if archive.cases:
            row[f"{one}_scenario"] = known.case
    if archive.constraints:
        row |= {"feasible": member.feasible, "probability_feasible": member.probability_feasible}
    for case in archive.cases:
        for objective in _columns(archive):
            for suffix, source in (("", evaluation.cases), ("_validated", evaluation.validated_cases or {})):
                estimate = source.get(case, {}).get(objective.name)
                if estimate is not None or front.validated:
                    name = f"{objective.name}{suffix}"
                    row[f"{name}@{case}"] = estimate.mean if estimate else None
                    row[f"{name}_se@{case}"] = estimate.standard_error if estimate else None
    return row


def sentences(front: Front) -> list[str]:
    """What to know of constraints and scenarios, a sentence each."""
    archive, said = front.archive, []
    if archive.cases:
        summed = {"mean": "their mean", "worst": "the worst of them"}.get(archive.robust, archive.robust)
        said.append(f"Each point was run in {len(archive.cases)} scenarios; an objective is {summed}.")
    if archive.constraints:
        rules = ", ".join(map(str, archive.constraints))
        count = len(front.infeasible)
        who = "No evaluation breaks" if count == 0 else "1 breaks" if count == 1 else f"{count} break"
        said.append(f"{who} a constraint ({rules}).")
        broken = sum(not member.feasible for member in front.members)
        if broken:
            are = "member breaks" if broken == 1 else "members break"
            said.append(f"{broken} {are} one on fresh seeds only, and {_leave(broken)} the front.")
    return said


def nothing_feasible(front: Front) -> list[str]:
    """What to say where no point keeps the constraints: which come nearest."""
    archive = front.archive
    rules = ", ".join(map(str, archive.constraints))
    said = [f"{len(archive.evaluations)} evaluations, none of which keeps {rules}: there is no front."]
    for evaluation in front.infeasible[:NEAREST]:
        values = ", ".join(f"{path}={cell(value)}" for path, value in evaluation.values.items())
        said.append(f"Nearest: point {evaluation.number} ({values}) with {_measured(evaluation, archive)}.")
    return said


def _measured(evaluation: Evaluation, archive: Archive) -> str:
    parts = []
    for one in archive.constraints:
        known = tightest(one, evaluation.cases)
        where = f" in {known.case}" if archive.cases else ""
        parts.append(f"{one.metric} {with_unit(estimated(known.value), _metric(one))}{known.whose}{where}")
    return ", ".join(parts)


def _leave(count: int) -> str:
    return "leaves" if count == 1 else "leave"


def _columns(archive: Archive) -> list[Objective]:
    """What is known in each scenario: the objectives, and what is constrained."""
    constrained = {one.metric: _metric(one) for one in archive.constraints}
    return list({**{o.name: o for o in archive.objectives}, **constrained}.values())


def _metric(one: Constraint) -> Objective:
    return Objective(one.metric, "minimize" if one.upper else "maximize", one.unit)


def _title(one: Constraint) -> str:
    return f"{spoken(_metric(one))} {one.relation} {with_unit(f'{one.bound:.6g}', _metric(one))}"


def _kept(cases: Cases, archive: Archive) -> dict[str, Any]:
    found = {}
    for one in archive.constraints:
        known = tightest(one, cases)
        found[str(one)] = {
            "scenario": known.case,
            "metric": known.metric,
            **_numbers(known.value),
            "kept": one.excess(known.value.mean) <= 0,
        }
    return found


def _scenarios(cases: Cases) -> dict[str, Any]:
    return {case: {name: _numbers(e) for name, e in row.items()} for case, row in cases.items()}


def _numbers(estimate: Estimate) -> dict[str, float | None]:
    error = estimate.standard_error
    return {
        "mean": estimate.mean if isfinite(estimate.mean) else None,
        "standard_error": error if error is not None and isfinite(error) else None,
    }
