"""A front as one HTML page that needs nothing else: no network, no library, no evaluation of texts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

from gridtune import limits
from gridtune.optimize.front.against_today import (
    KEEP,
    gains,
    in_words,
    no_advice,
    settings_changed,
    todays,
    todays_chance,
)
from gridtune.optimize.front.breakdown import number, scenario_header, scenario_rows
from gridtune.optimize.front.export import summary
from gridtune.optimize.front.front import Front, Member
from gridtune.optimize.front.number_format import amount, cell, spoken
from gridtune.optimize.front.recommendations import Recommendation, grouped, recommend
from gridtune.optimize.front.terminal import against, chance, setting, short_names, varying
from gridtune.optimize.records.evaluations import Objective, Value
from gridtune.optimize.visualization.points import (
    bars,
    objective_label,
    parameter_axes,
    searched,
    standing,
    worths,
)
from gridtune.scenarios.results.amounts import counted, human

CLOUD = 5000  # searched points in the background at most


def page(front: Front) -> str:
    """The page of a front: what to do, beside the picture; all numbers in a table; the statistics folded.

    Its scripts are part of it, and its security policy forbids it to load anything or to evaluate texts.

    Args:
        front: what to show; without members the page says so and has no picture.
    """
    import jinja2
    from markupsafe import Markup

    room = files("gridtune.optimize.visualization")
    source, script = ((room / name).read_text(encoding="utf-8") for name in ("page.html", "page.js"))
    template = jinja2.Environment(autoescape=True, trim_blocks=False).from_string(source)
    advice = recommend(front)
    return template.render(
        title=f"{front.archive.heading}: front",
        facts=_facts(front),
        cards=[_card(front, items) for items in grouped(advice)],
        nothing=no_advice(front) if front.members and not advice and todays(front) is not None else "",
        summary=summary(front),
        reasons=[
            (", ".join(item.name.replace("_", " ") for item in items), items[0].reason)
            for items in grouped(advice)
        ],
        today=todays(front) is not None,
        header=_header(front),
        rows=_rows(front, {item.member.evaluation.number for item in advice}),
        scenario_header=scenario_header(front),
        scenario_rows=scenario_rows(front),
        data=Markup(_json(_data(front, advice)) if front.members else ""),
        script=Markup(script),
    )


def _facts(front: Front) -> str:
    archive = front.archive
    count = len(archive.evaluations)
    done = f"{count:,} of {archive.budget:,}" if count <= archive.budget < limits.BUDGET else f"{count:,}"
    facts = [f"{done} evaluations", archive.each]
    facts += [f"sampler {archive.sampler}"] if archive.sampler else []
    seeds = "values on fresh seeds" if front.validated else "values as searched, which flatter the points"
    return ", ".join([*facts, f"seed {archive.seed}", seeds])


def _card(front: Front, items: Sequence[Recommendation]) -> dict[str, Any]:
    """A recommended point: what to change, what that gains and costs, how surely."""
    member = items[0].member
    evaluation = member.evaluation
    changes = gains(front, evaluation)
    told = [one for one in changes if one.told]
    changed = settings_changed(front, evaluation)
    if todays(front) is None:
        settings = [(path, "", setting(value)) for path, value in evaluation.values.items()]
    else:
        settings = [
            (one.path, "new" if one.before is None else shown(one.before), shown(one.after))
            for one in changed
            for shown in [cell if setting(one.before) == setting(one.after) else setting]
        ]
    return {
        "number": evaluation.number,
        "names": ", ".join(item.name.replace("_", " ") for item in items),
        "keep": KEEP if evaluation.number == front.archive.today else "",
        "settings": settings,
        "gains": [in_words(one) for one in told if one.better],
        "costs": [in_words(one) for one in told if not one.better],
        "unsure": [in_words(one) for one in changes if one not in told and one.difference.mean],
        "plain": []
        if changes
        else [f"{spoken(o)} {amount(front.value(evaluation.number, o), o)}" for o in front.objectives],
        "sure": _sure(front, items[0]),
    }


def _sure(front: Front, item: Recommendation) -> list[str]:
    """How surely a recommended point is one, a sentence each."""
    evaluation = item.member.evaluation
    runs = evaluation.fresh_replications or evaluation.replications
    where = "on fresh seeds" if front.validated else "of the search, which flatter it"
    rests = f"{counted(runs, 'run')} {where}"
    if item.member.probability_non_dominated is None:
        return [rests]
    said = [f"on the front with probability {chance(item.member)}; {rests}"]
    return said if item.loss is None else [*said, str(item.loss)]


def _header(front: Front) -> list[dict[str, Any]]:
    """Columns of the table: title, what it says in full, and whether it holds texts."""
    today = todays(front) is not None
    columns = [("point", "number of the evaluation", False)]
    for objective in front.objectives:
        columns.append((_label(objective), "mean", False))
        about = "difference" if front.certain else "difference, ± half its 95 % interval"
        columns += [("against today", about, False)] if today else []
    if front.chances:
        columns.append(("P", "probability that no other evaluated point beats it", False))
    columns.append(("runs", "behind the values", False))
    columns.append(("settings" + (" that differ from today" if today else ""), "of those that vary", True))
    # A title may be broken after a dot or an underscore.
    return [
        {"parts": re.findall(r"[^._]+[._]?|[._]", title), "about": about, "text": text}
        for title, about, text in columns
    ]


def _rows(front: Front, chosen: set[int]) -> list[dict[str, Any]]:
    today, short = todays(front), short_names(varying(front))
    shown = []
    if today is not None:
        cells = ["today"]
        for objective in front.objectives:
            cells += [human(front.value(today.number, objective), objective.unit), ""]
        mine = todays_chance(front)
        cells += ["" if mine is None else f"{mine:.2f}"] * front.chances
        cells.append(str(today.fresh_replications or today.replications))
        cells.append(_settings(front.archive.present, short))
        shown.append({"look": "today", "number": -1, "cells": cells})
    for member in front.members:
        evaluation = member.evaluation
        if today is not None and evaluation.number == today.number:
            continue
        changes = {one.metric.name: one for one in gains(front, evaluation)}
        cells = [number(member)]
        for objective in front.objectives:
            cells.append(human(front.value(evaluation.number, objective), objective.unit))
            cells += [against(changes[objective.name])] if today is not None else []
        cells += [chance(member)] * front.chances
        cells.append(str(evaluation.fresh_replications or evaluation.replications))
        values: Mapping[str, Value] = evaluation.values
        if today is not None:
            differ = {one.path for one in settings_changed(front, evaluation)}
            values = {path: value for path, value in values.items() if path in differ}
        cells.append(_settings(values, short))
        look = "chosen" if evaluation.number in chosen else "" if member.non_dominated else "beaten"
        shown.append({"look": look, "number": evaluation.number, "cells": cells})
    return shown


def _settings(values: Mapping[str, Value], short: Mapping[str, str]) -> str:
    """Parameters that vary and their values, in one text."""
    return ", ".join(f"{short[path]} {setting(value)}" for path, value in values.items() if path in short)


def _label(objective: Objective) -> str:
    """As the title of an axis or column; times name their units themselves."""
    return objective_label(replace(objective, unit="" if objective.unit == "s" else objective.unit))


def _data(front: Front, advice: Sequence[Recommendation]) -> dict[str, Any]:
    """What the pictures draw."""
    objectives, today = front.objectives, todays(front)
    names: dict[int, str] = {
        items[0].member.evaluation.number: ", ".join(item.name.replace("_", " ") for item in items)
        for items in grouped(advice)
    }
    cloud = searched(front)
    step = max(1, -(-len(cloud) // CLOUD))
    others = [worths(front, cloud[::step], o) for o in objectives]
    reach = list(zip(*(bars(front, front.members, o) for o in objectives), strict=True))
    return {
        "objectives": [_objective(o) for o in objectives],
        "members": [
            _member(member, front, names, row) for member, row in zip(front.members, reach, strict=True)
        ],
        "today": None if today is None else [_short(front.value(today.number, o)) for o in objectives],
        "cloud": [list(map(_short, row)) for row in zip(*others, strict=True)],
        "axes": _axes(front),
        "validated": front.validated,
    }


def _objective(objective: Objective) -> dict[str, Any]:
    return {
        "label": _label(objective),
        "unit": objective.unit,
        "down": objective.direction == "minimize",
    }


def _member(member: Member, front: Front, names: dict[int, str], reach: Sequence[float]) -> dict[str, Any]:
    evaluation = member.evaluation
    worth = [front.value(evaluation.number, o) for o in front.objectives]
    return {
        "number": evaluation.number,
        "at": [_short(one) for one in worth],
        "error": [_short(one) for one in reach],
        "before": [_short(evaluation.objectives[o.name].mean) for o in front.objectives],
        "kept": member.non_dominated,
        "standing": standing(member),
        "chosen": names.get(evaluation.number),
        "today": evaluation.number == front.archive.today,
        "text": [amount(one, o) for one, o in zip(worth, front.objectives, strict=True)],
        "settings": [f"{path} = {cell(value)}" for path, value in evaluation.values.items()],
    }


def _axes(front: Front) -> list[dict[str, Any]]:
    """Axes of parameters that vary: their names, where each member lies in [0, 1], and texts at places."""
    paths = varying(front)
    short = short_names(paths)
    axes = [axis for axis in parameter_axes([m.evaluation for m in front.members]) if axis.path in short]
    return [
        {
            "label": short[axis.path] + (" (log)" if axis.log else ""),
            "about": axis.path,
            "at": [_share(axis.share(member.evaluation.values.get(axis.path))) for member in front.members],
            "ticks": [
                [_short(at), text if axis.categories else human(float(text))] for at, text in axis.ticks
            ],
        }
        for axis in axes
    ]


def _share(at: float) -> float | None:
    return None if at != at else _short(at)


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def _json(content: Any) -> str:
    """JSON that may stand in a script: no `<` can end it."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
