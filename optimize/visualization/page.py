"""A front as one HTML page that needs nothing else, not even a network."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files
from typing import Any

from gridtune.optimize.front.breakdown import scenario_header, scenario_rows
from gridtune.optimize.front.export import header, numeric_header, rows, summary
from gridtune.optimize.front.front import Front
from gridtune.optimize.front.number_format import cell
from gridtune.optimize.front.recommendations import recommend


def page(front: Front) -> str:
    """The page of a front: recommendations in words, linked charts, and all numbers in a table.

    The scripts that draw the charts are part of the page, and its security policy forbids it to load
    anything from elsewhere.

    Args:
        front: what to show; without members the page says so and has no charts.
    """
    import jinja2
    from markupsafe import Markup

    source = (files("gridtune.optimize.visualization") / "page.html").read_text(encoding="utf-8")
    template = jinja2.Environment(autoescape=True, trim_blocks=False).from_string(source)
    archive = front.archive
    advice = recommend(front)
    spec = _charts(front) if front.members else ""
    return template.render(
        title=f"{archive.heading}: front",
        facts=_facts(front),
        summary=summary(front),
        recommendations=[
            {
                "name": item.name.replace("_", " "),
                "number": item.member.evaluation.number,
                "reason": item.reason,
                "settings": [(path, cell(value)) for path, value in item.member.evaluation.values.items()],
            }
            for item in advice
        ],
        header=header(front),
        numeric=len(numeric_header(front)),
        constrained=bool(archive.constraints),
        scenario_header=scenario_header(front),
        scenario_rows=scenario_rows(front),
        rows=_rows(front, {item.member.evaluation.number for item in advice}),
        library=Markup(_library() if spec else ""),
        spec=Markup(spec),
    )


def _facts(front: Front) -> str:
    archive = front.archive
    facts = [f"{len(archive.evaluations)} of {archive.budget} evaluations"] if archive.budget else []
    facts.append(archive.each)
    facts += [f"sampler {archive.sampler}"] if archive.sampler else []
    return ", ".join([*facts, f"seed {archive.seed}"])


def _rows(front: Front, chosen: set[int]) -> list[dict[str, Any]]:
    shown = []
    for member, cells in zip(front.members, rows(front), strict=True):
        look = "chosen" if member.evaluation.number in chosen else "" if member.non_dominated else "beaten"
        shown.append({"look": look, "cells": cells})
    return shown


def _charts(front: Front) -> str:
    """Specification of the charts as JSON that may stand in a script: no `<` can end it."""
    from gridtune.optimize.visualization.charts import linked_charts

    return json.dumps(linked_charts(front), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _library() -> str:
    """Vega-Embed, Vega-Lite and Vega in one script; `docs/making/bundle.py` has written it."""
    room = files("gridtune.optimize.visualization")
    (packed,) = (file for file in room.iterdir() if file.name.endswith(".js.gz"))
    return gzip.decompress(packed.read_bytes()).decode()
