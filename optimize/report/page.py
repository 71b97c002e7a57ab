"""A front as one HTML page that needs nothing else: no network, no library, no evaluation of texts."""

from __future__ import annotations

import json
from importlib.resources import files

from gridtune.optimize.front.front import Front
from gridtune.optimize.report import answer, recommended
from gridtune.optimize.report.frame import texts
from gridtune.optimize.report.harms import all_harms, harms_text
from gridtune.optimize.report.numbers import metric_label, plain, settings
from gridtune.optimize.report.pictures.axes import page_data
from gridtune.optimize.report.tables import listed, statistics
from gridtune.plain_text import escaped

LISTED = 500  # rows of the table of the front at most


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
