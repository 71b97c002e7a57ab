"""A front for other programs and for papers: JSON, CSV, LaTeX, rows of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from gridtune.model.metrics.registry import resolution, rounded
from gridtune.optimize.front.against_today import (
    gains,
    no_advice,
    settings_changed,
    todays,
    todays_chance,
)
from gridtune.optimize.front.breakdown import (
    columns,
    constraint_cells,
    constraint_titles,
    entry,
    nothing_feasible,
    number,
    scenario_header,
    scenario_rows,
    sentences,
    titled,
    totals,
)
from gridtune.optimize.front.dominant_choice import dominant_choices
from gridtune.optimize.front.front import Front, Member
from gridtune.optimize.front.number_format import cell, estimated, plain
from gridtune.optimize.front.recommendations import Recommendation, recommend, reliabilities, silent
from gridtune.optimize.inference.judgement import HOLD
from gridtune.optimize.records.evaluations import Archive, Estimate, Evaluation
from gridtune.scenarios.results.amounts import counted

if TYPE_CHECKING:
    import pandas as pd


def to_dict(front: Front, *, order: Sequence[str] | None = None) -> dict[str, Any]:
    """A front as data for JSON, values that are not finite as None.

    Args:
        front: what to write.
        order: of the objectives for the recommendations; see `optimize.front.choose.recommend`.
    """
    return {
        "study": front.archive.study,
        "objectives": [{"name": o.name, "direction": o.direction} for o in front.objectives],
        "evaluations": len(front.archive.evaluations),
        "hypervolume": front.hypervolume,
        "hypervolume_searched": front.hypervolume_searched,
        "hypervolume_levelled": front.hypervolume_levelled,
        "reference": {o.name: value for o, value in zip(front.objectives, front.reference, strict=True)},
        "replications": _effort(front.archive),
        "front": [
            _entry(member) | _differences(front, member.evaluation) | entry(member, front.archive)
            for member in front.members
        ],
        "recommendations": [
            _advice(item) | _differences(front, item.member.evaluation) | _settings(front, item)
            for item in recommend(front, order=order)
        ],
        "reliability": {
            name: {"share": known.share, "p": known.doubt} if known else None
            for name, known in reliabilities(front).items()
        },
        "settled": [one.as_json() for one in dominant_choices(front)],
        **_today(front),
        **totals(front),
    }


def parameters(front: Front) -> list[str]:
    """Paths that any member sets, in order of first appearance."""
    return list(dict.fromkeys(path for member in front.members for path in member.evaluation.values))


def to_frame(front: Front) -> pd.DataFrame:
    """A front as a table of numbers, a row per member; inactive parameters are missing."""
    import pandas as pd

    rows = []
    for member in front.members:
        evaluation = member.evaluation
        row: dict[str, object] = {"number": evaluation.number}
        row |= {path: evaluation.values.get(path) for path in parameters(front)}
        for objective in front.objectives:
            for suffix, source in (("", evaluation.objectives), ("_validated", evaluation.validated or {})):
                estimate = source.get(objective.name)
                if estimate is not None or front.validated:
                    row[objective.name + suffix] = estimate.mean if estimate else None
                    row[f"{objective.name}{suffix}_se"] = estimate.standard_error if estimate else None
        for change in gains(front, evaluation):
            gap, name = change.difference, change.metric.name
            row[f"{name}_difference"] = gap.mean
            row |= {f"{name}_difference_low": gap.low, f"{name}_difference_high": gap.high}
        row |= columns(member, front)
        row["replications"] = evaluation.replications
        row["fresh_replications"] = evaluation.fresh_replications
        row["non_dominated"] = member.non_dominated
        row["probability_non_dominated"] = member.probability_non_dominated
        rows.append(row)
    return pd.DataFrame(rows, dtype=object)


def to_csv(front: Front) -> str:
    """A front as CSV, numbers in full."""
    return str(to_frame(front).to_csv(index=False))


def header(front: Front) -> list[str]:
    """Column titles of `rows`."""
    return [*numeric_header(front), *parameters(front)]


def numeric_header(front: Front) -> list[str]:
    """Column titles of the numbers, which stand before the parameters."""
    objectives, constraints = map(titled, front.objectives), constraint_titles(front)
    return ["number", *objectives, *constraints, "P(non-dominated)", "replications"]


def rows(front: Front) -> list[list[str]]:
    """A front as texts, a row per member below `header`: means with their standard errors.

    A member that is dominated or breaks a constraint on fresh seeds has its number in parentheses, an
    inactive parameter is `-`. Its replications are those that the values rest on.
    """
    return [_row(member, front) for member in front.members]


def to_text(front: Front) -> str:
    """A front as aligned columns of plain text; below it, how each member does in each scenario."""
    text = _aligned([header(front), *rows(front)])
    if not front.archive.cases or not front.members:
        return text
    return f"{text}\n{_aligned([scenario_header(front), *scenario_rows(front)])}"


def _aligned(table: list[list[str]]) -> str:
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def to_latex(front: Front) -> str:
    """A front as a LaTeX table (needs the package booktabs), and one of each member in each scenario."""
    numeric = len(numeric_header(front))
    text = _tabular(header(front), rows(front), "r" * numeric + "l" * (len(header(front)) - numeric))
    if not front.archive.cases or not front.members:
        return text
    titles = scenario_header(front)
    return f"{text}\n{_tabular(titles, scenario_rows(front), 'rl' + 'r' * (len(titles) - 2))}"


def _tabular(titles: list[str], texts: list[list[str]], columns: str) -> str:
    import pandas as pd

    cells = [[_math(text) for text in row] for row in texts]
    table = pd.DataFrame(cells, columns=[_escaped(title) for title in titles])
    return str(table.to_latex(index=False, escape=False, column_format=columns))


def summary(front: Front) -> list[str]:
    """What to know about a front, a sentence each."""
    archive, members = front.archive, front.members
    evaluations = counted(len(archive.evaluations), "evaluation")
    if not members and front.infeasible:
        return nothing_feasible(front)
    if not members:
        return [f"{evaluations}, none with finite objectives: there is no front."]
    tried = f"{evaluations} ({len(archive.failed)} failed)"
    again = sum(one.validated is not None for one in archive.evaluations)
    were = "was" if again == 1 else "were"
    said = [
        f"{tried}, of which {counted(again, 'point')} {were} run again on fresh seeds."
        if front.validated
        else f"{tried} gave a front of {counted(len(members), 'point')}."
    ]
    if archive.max_replications is not None and archive.max_replications > archive.replications:
        said.append(
            f"adaptive: {archive.runs} runs; a fixed {archive.max_replications} per point would have taken "
            f"{archive.fixed_runs} (saved {1 - archive.runs / archive.fixed_runs:.0%})."
        )
    said += sentences(front)
    if front.validated:
        held = f"{len(front.kept)} of {len(members) + _fallen(front)}"
        if front.judgement is None:
            said.append(f"On fresh seeds {held} stay{'s' * (len(front.kept) == 1)} non-dominated.")
        elif len(front.kept) == 1:
            said.append(f"{held} is kept.")
        else:
            said.append(
                f"{held} are kept: {HOLD:.0%} of these are expected to hold against each other on new runs."
            )
        said.append(_luck(front))
    else:
        said.append("Not validated: the values are those that the search picked them by, and flatter them.")
        said.append(f"Hypervolume {plain(front.hypervolume)}.")
    if front.unvalidated:
        said.append(f"{front.unvalidated} more looked non-dominated in the search but have no fresh seeds.")
    said += _equals(front)
    said += map(str, dominant_choices(front))
    said += _unreliable(front)
    if todays(front) is not None and not recommend(front):
        said.append(no_advice(front))
    return said


def _fallen(front: Front) -> bool:
    """Whether today's setting was run on fresh seeds and is not kept: then it is no member."""
    today = todays(front)
    numbers = {member.evaluation.number for member in front.members}
    return today is not None and today.validated is not None and today.number not in numbers


def _equals(front: Front) -> Iterator[str]:
    """How many points gave the same as those that are kept, which stand for them."""
    parts = [
        f"{counted(len(member.equivalents), 'point')} as number {member.evaluation.number}"
        for member in front.kept
        if member.equivalents
    ]
    if parts:
        yield f"Others gave the same in every run, and are not shown: {', '.join(parts)}."


def _unreliable(front: Front) -> Iterator[str]:
    """Objectives that do not tell the points of the front apart, no two of them either."""
    for name, doubt in silent(front).items():
        yield (
            f"On this front {name.replace('_', ' ')} tells points apart no better than chance: equal "
            f"points would differ as much with a probability of {doubt:.2f}."
        )


def _luck(front: Front) -> str:
    """The volume as it is and as the search believed it, and how much of that all members share."""
    volumes = plain(front.hypervolume), plain(front.hypervolume_searched)
    text = "Hypervolume {} on fresh seeds, {} as searched".format(*volumes)
    if not front.hypervolume:
        return f"{text}."
    believed, alone = (
        volume / front.hypervolume for volume in (front.hypervolume_searched, front.hypervolume_levelled)
    )
    if believed < 1.005:
        return f"{text}."
    shared = "that all points share" if alone < 1.005 else f"({alone:.2f} times beyond what all points share)"
    return f"{text}, {believed:.2f} times as much: luck {shared}."


def _effort(archive: Archive) -> dict[str, Any]:
    """Replications of a point at first and at most, and what the latter for all would have taken."""
    return {
        "at_first": archive.replications,
        "at_most": archive.max_replications or archive.replications,
        "runs": archive.runs,
        "fixed_runs": archive.fixed_runs,
        "saved": 1 - archive.runs / archive.fixed_runs if archive.fixed_runs else 0.0,
    }


def _entry(member: Member) -> dict[str, Any]:
    evaluation = member.evaluation
    return {
        "values": dict(evaluation.values),
        "objectives": _estimates(evaluation.objectives),
        "validated": _estimates(evaluation.validated) if evaluation.validated else None,
        "probability_non_dominated": member.probability_non_dominated,
        "non_dominated": member.non_dominated,
        "replications": evaluation.replications,
        "fresh_replications": evaluation.fresh_replications,
        "number": evaluation.number,
        "equivalents": list(member.equivalents),
    }


def _today(front: Front) -> dict[str, Any]:
    """The scenario as it stands: its number, what stands there, and its objectives."""
    found = todays(front)
    if found is None:
        return {}
    today = {
        "number": found.number,
        "values": dict(front.archive.present),
        "in_space": bool(found.values),
        "probability_non_dominated": todays_chance(front),
        "objectives": _estimates(found.objectives),
        "validated": _estimates(found.validated) if found.validated else None,
        "replications": found.replications,
        "fresh_replications": found.fresh_replications,
    }
    return {"today": today}


def _differences(front: Front, evaluation: Evaluation) -> dict[str, Any]:
    """What a point changes against today's setting, by objective; nothing without one."""
    changes = gains(front, evaluation)
    named = {one.metric.name: {**one.difference.as_json(), "better": one.better} for one in changes}
    return {"difference": named} if named else {}


def _settings(front: Front, item: Recommendation) -> dict[str, Any]:
    if todays(front) is None:
        return {}
    changed = settings_changed(front, item.member.evaluation)
    return {"changes": [{"path": one.path, "from": one.before, "to": one.after} for one in changed]}


def _estimates(estimates: dict[str, Estimate]) -> dict[str, dict[str, float | None]]:
    return {
        name: {
            "mean": _finite(e.mean, resolution(name)),
            "standard_error": _finite(e.standard_error, resolution(name)),
        }
        for name, e in estimates.items()
    }


def _finite(value: float | None, step: float) -> float | None:
    return rounded(value, step) if value is not None and isfinite(value) else None


def _advice(item: Recommendation) -> dict[str, Any]:
    evaluation = item.member.evaluation
    return {
        "name": item.name,
        "number": evaluation.number,
        "values": dict(evaluation.values),
        "reason": item.reason,
        "expected_loss": item.loss.expected if item.loss else None,
        "probability_beaten": item.loss.probability if item.loss else None,
    }


def _row(member: Member, front: Front) -> list[str]:
    evaluation = member.evaluation
    probability = member.probability_non_dominated
    return [
        number(member),
        *(estimated(member.estimates[o.name]) for o in front.objectives),
        *constraint_cells(member, front),
        "?" if probability is None else f"{probability:.2f}",
        str(evaluation.fresh_replications or evaluation.replications),
        *(cell(evaluation.values.get(path)) for path in parameters(front)),
    ]


def _math(text: str) -> str:
    """A cell in LaTeX: numbers in mathematics, so that a minus is a minus."""
    number = text.replace(" ± ", "").replace(".", "").replace("-", "").replace("e", "").replace("+", "")
    return "$" + text.replace(" ± ", r" \pm ") + "$" if number.isdigit() else _escaped(text)


def _escaped(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {character: f"\\{character}" for character in "&%$#_{}"}
    return "".join(special.get(character, character) for character in text)
