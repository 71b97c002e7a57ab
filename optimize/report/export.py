"""A front for other programs, for papers and for a browser: JSON, CSV, LaTeX, one HTML page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from typing import Any

import pandas as pd

from gridtune.optimize.front.front import Front
from gridtune.optimize.records.evaluations import Estimate
from gridtune.optimize.report import answer, recommended
from gridtune.optimize.report.frame import Row, frame, rows, texts
from gridtune.optimize.report.numbers import metric_label, plain, settings
from gridtune.optimize.report.pictures.axes import page_data
from gridtune.optimize.report.recommended import all_harms, harms_text
from gridtune.optimize.report.tables import NEAREST, listed, statistics
from gridtune.optimize.search_space.constraints import Cases, tightest
from gridtune.plain_text import escaped

LISTED = 500  # rows of the table of the front at most


def to_dict(front: Front, some: Sequence[Row] | None = None) -> dict[str, Any]:
    """A front, or some configurations, as data for JSON."""
    archive, every = front.archive, rows(front)
    some = [row for row in every if row.member and row.on_front] if some is None else some
    made: dict[str, Any] = {
        "study": archive.study,
        "objectives": [{"name": o.name, "direction": o.direction} for o in front.objectives],
        "evaluations": len(archive.evaluations),
        "hypervolume": front.hypervolume,
        "reference": {o.name: value for o, value in zip(front.objectives, front.reference, strict=True)},
        "replications": {"each": archive.replications, "runs": archive.runs},
        "front": [_entry(row) for row in some if row.evaluation],
        "recommendations": [
            {
                **asdict(one),
                "harms": list(map(asdict, all_harms(one))),
                "name": one.letter,
                "reason": one.title,
                "difference": {name: asdict(gap.difference) for name, gap in one.objectives.items()},
            }
            for one in archive.recommendations
        ],
    }
    if every and every[0].is_baseline:
        made["baseline"] = {**_entry(every[0]), "in_space": bool(every[0].entry.values)}
    if archive.cases:
        made |= {"scenarios": list(archive.cases), "robust": archive.robust}
    if archive.constraints:
        broken = sum(not row.feasible for row in every if row.evaluation)
        made |= {"constraints": list(map(str, archive.constraints)), "infeasible": broken}
        if not front.members:
            made["least_violating"] = [
                {"number": e.number, "values": e.values, "constraints": _constraints(front, e.cases)}
                for e in recommended.infeasible(front)[:NEAREST]
            ]
    return made


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
    one, front, archive = row.evaluation, row.front, row.front.archive
    assert one is not None
    made: dict[str, Any] = {
        "values": row.values,
        "objectives": _estimates(one.objectives),
        "validated": _estimates(one.validated) if one.validated else None,
        "estimated": {o.name: row.mean(o) for o in front.objectives},
        "probability_non_dominated": row.chance,
        "non_dominated": row.on_front,
        "replications": one.replications,
        "validation_replications": one.validation_replications,
        "confirmation_replications": row.confirmation_replications,
        "number": one.number,
        "equivalents": row.equals,
    }
    if row.changes:
        made["difference"] = {
            name: {**asdict(one.difference), "better": one.better} for name, one in row.changes.items()
        }
    if archive.standing is not None and not row.is_baseline:
        changed = recommended.changed_values(front, one.values)
        made["changes"] = [{"path": c.path, "from": c.before, "to": c.after} for c in changed]
    if archive.cases:
        for name, cases in {"scenarios": one.cases, "validated_scenarios": one.validated_cases}.items():
            made[name] = cases and {case: _estimates(known) for case, known in cases.items()}
    if archive.constraints and row.member:
        made["feasible"] = row.feasible
        made["constraints"] = _constraints(front, one.checked_cases)
    return made


def _constraints(front: Front, cases: Cases) -> dict[str, Any]:
    known = {str(rule): tightest(rule, cases) for rule in front.archive.constraints}
    return {rule: {"scenario": e.case, **e.as_json(), "holds": e.excess <= 0} for rule, e in known.items()}


def _estimates(estimates: Mapping[str, Estimate]) -> dict[str, dict[str, float | None]]:
    return {name: {"mean": one.mean, "standard_error": one.standard_error} for name, one in estimates.items()}


def page(front: Front) -> str:
    """The page of a front: the answer, pictures that one can point at, the front as a table, statistics."""
    import jinja2
    from markupsafe import Markup

    room = files("gridtune.optimize.report")
    source, script = ((room / name).read_text(encoding="utf-8") for name in ("page.html", "page.js"))
    template = jinja2.Environment(autoescape=True, trim_blocks=True).from_string(source)
    some = listed(front)[:LISTED]
    advice = front.archive.recommendations
    titles, cells, left = texts(front, some) if some else ([], [], [])
    looks = ["chosen" if row.advice else row.state for row in some]
    data = json.dumps(page_data(front), allow_nan=False, separators=(",", ":")) if front.members else ""
    text = template.render(
        title=front.archive.heading,
        facts=answer.heading(front).partition(": ")[2],
        objectives=[metric_label(plain(one)) for one in front.objectives],
        comparison=answer.comparison_rows(front),
        harms=[(bool(all_harms(one)), line) for one in advice for line in harms_text(one)],
        legend=" ".join(text.strip() for text in answer.legend(front)),
        advice=advice,
        answer=answer,
        recommended=recommended,
        settings=settings,
        why_none="" if advice else recommended.why_none(front),
        caveats=answer.caveats(front),
        titles=titles,
        left=left,
        rows=list(zip(looks, cells, strict=True)),
        statistics=list(statistics(front)),
        data=Markup(data.replace("<", "\\u003c")),  # no `<` ends the script
        script=Markup(script),
    )
    return escaped(text, "\n\t")
