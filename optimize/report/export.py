"""A front for other programs and for papers: JSON, CSV, LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

import pandas as pd

from gridtune.model.metrics.registry import resolution, rounded
from gridtune.optimize.front.front import Front
from gridtune.optimize.records.evaluations import Estimate, Evaluation
from gridtune.optimize.report.frame import BASELINE, Row, frame, rows, texts
from gridtune.optimize.report.recommended import changed_values, infeasible
from gridtune.optimize.report.tables import NEAREST, differs, listed
from gridtune.optimize.search_space.constraints import Cases, tightest


def to_dict(front: Front, some: Sequence[Row] | None = None) -> dict[str, Any]:
    """A front as data for JSON, values that are not finite as None.

    Args:
        some: the configurations of `front`, in their order; those on it if left out.
    """
    archive = front.archive
    some = [row for row in rows(front) if row.member and row.on_front] if some is None else some
    made: dict[str, Any] = {
        "study": archive.study,
        "objectives": [{"name": o.name, "direction": o.direction} for o in front.objectives],
        "evaluations": len(archive.evaluations),
        "hypervolume": front.hypervolume,
        "hypervolume_searched": front.hypervolume_searched,
        "reference": {o.name: value for o, value in zip(front.objectives, front.reference, strict=True)},
        "replications": {"each": archive.replications, "runs": archive.runs},
        "front": [_entry(row) for row in some if row.evaluation],
        "recommendations": [
            {
                **asdict(one),
                "name": one.letter,
                "reason": one.title,
                "difference": {name: gap.difference.as_json() for name, gap in one.objectives.items()},
            }
            for one in front.archive.recommendations
        ],
        "reliability": {
            o.name: None if (p := differs(front, o)) is None else {"p": p} for o in front.objectives
        },
    }
    for row in rows(front, [BASELINE]):
        if row.is_baseline:
            made["baseline"] = {**_entry(row), "in_space": bool(row.entry.values)}
    return made | _totals(front)


def to_csv(front: Front, some: Sequence[Row] | None = None) -> str:
    """The front, or some configurations, as CSV, numbers in full; see `optimize.report.frame`."""
    return str(frame(front, listed(front) if some is None else some, metrics=False).to_csv())


def to_latex(front: Front, some: Sequence[Row] | None = None) -> str:
    """The front, or some configurations, as a LaTeX table (needs the package booktabs)."""
    titles, cells, left = texts(front, listed(front) if some is None else some)
    flat = [" ".join(title.split()) for title in titles]
    columns = "".join("l" if at in left else "r" for at in range(len(flat)))
    made = pd.DataFrame(cells, columns=flat).to_latex(index=False, escape=True, column_format=columns)
    return str(made).replace("±", r"$\pm$").replace("≤", r"$\le$")


def _entry(row: Row) -> dict[str, Any]:
    """A configuration: its parameters, what is known of its objectives, how sure that is."""
    one, front = row.evaluation, row.front
    assert one is not None
    made: dict[str, Any] = {
        "values": dict(row.values),
        "objectives": _estimates(one.objectives),
        "validated": _estimates(one.validated) if one.validated else None,
        "estimated": {o.name: _finite(row.mean(o), resolution(o.name)) for o in front.objectives},
        "probability_non_dominated": row.member.probability_non_dominated if row.member else None,
        "non_dominated": row.on_front,
        "replications": one.replications,
        "validation_replications": one.validation_replications,
        "number": one.number,
        "equivalents": list(row.member.equivalents) if row.member else [],
    }
    if row.differences:
        named = {o.name: o for o in front.objectives}
        made["difference"] = {
            name: {**gap.as_json(), "better": bool(row.better(named[name]))}
            for name, gap in row.differences.items()
        }
    if front.archive.standing is not None and not row.is_baseline:
        changed = changed_values(front, one.values)
        made["changes"] = [{"path": path, "from": a, "to": b} for path, (a, b) in changed.items()]
    return made | _in_cases(row, one)


def _in_cases(row: Row, one: Evaluation) -> dict[str, Any]:
    """What there is only with several scenarios, or with constraints."""
    archive, found = row.front.archive, dict[str, Any]()
    if archive.cases:
        again = one.validated_cases
        found["scenarios"] = {case: _estimates(known) for case, known in one.cases.items()}
        found["validated_scenarios"] = again and {case: _estimates(known) for case, known in again.items()}
    if archive.constraints and row.member:
        found["feasible"] = row.member.feasible
        found["probability_feasible"] = row.member.probability_feasible
        found["constraints"] = _constraints(row.front, row.member.cases)
    return found


def _totals(front: Front) -> dict[str, Any]:
    """The same of the whole search."""
    archive, found = front.archive, dict[str, Any]()
    if archive.cases:
        found |= {"scenarios": list(archive.cases), "robust": archive.robust}
    if archive.constraints:
        broken = infeasible(front)
        found |= {"constraints": list(map(str, archive.constraints)), "infeasible": len(broken)}
        if not front.members:
            found["least_violating"] = [
                {
                    "number": one.number,
                    "values": dict(one.values),
                    "constraints": _constraints(front, one.cases),
                }
                for one in broken[:NEAREST]
            ]
    return found


def _constraints(front: Front, cases: Cases) -> dict[str, Any]:
    found = {}
    for one in front.archive.constraints:
        known = tightest(one, cases)
        found[str(one)] = {
            "scenario": known.case,
            "metric": known.metric,
            "mean": _finite(known.value.mean),
            "standard_error": _finite(known.value.standard_error),
            "holds": one.excess(known.value.mean) <= 0,
        }
    return found


def _estimates(estimates: dict[str, Estimate]) -> dict[str, dict[str, float | None]]:
    return {
        name: {
            "mean": _finite(one.mean, resolution(name)),
            "standard_error": _finite(one.standard_error, resolution(name)),
        }
        for name, one in estimates.items()
    }


def _finite(value: float | None, step: float = 0.0) -> float | None:
    return rounded(value, step) if value is not None and isfinite(value) else None
