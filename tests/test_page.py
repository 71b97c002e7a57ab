"""The page of a front is one file that loads nothing, with every number in it."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from gridtune.optimize import visualization
from gridtune.optimize.front.front import front
from gridtune.optimize.visualization import save
from gridtune.optimize.visualization.page import page
from tests.fronts import THREE, archive, evaluation, search


@pytest.fixture(scope="module")
def found():
    return front(search())


@pytest.fixture(scope="module")
def text(found):
    return page(found)


def markup(text):
    """The page without its scripts."""
    return re.sub(r"<script>.*?</script>", "", text, flags=re.S)


def spec(text):
    return json.loads(re.search(r"^const spec = (.*);$", text, flags=re.M)[1])


def test_the_page_loads_nothing(text):
    assert not re.search(r"<(script|img|iframe)[^>]*\ssrc=", markup(text))
    assert "<link" not in markup(text)
    assert "http" not in markup(text).replace("http-equiv", "")
    assert "@import" not in text
    assert "default-src 'none'" in text
    assert "vegaEmbed=" in text
    assert len(text) < 2_000_000


def test_the_page_says_what_was_searched_and_what_to_run(text):
    shown = markup(text)
    assert "<h1>diet/day-regular, study regular: front</h1>" in shown
    assert "60 of 60 evaluations, 4 replications each, sampler tpe, seed 1" in shown
    assert "lexicographic: number" in shown
    assert "compromise: number" in shown
    assert "at the price of" in shown


def test_the_table_holds_every_member(found, text):
    assert len(re.findall(r"<tr[ >]", markup(text))) == len(found.members) + 1
    for member in found.members:
        assert re.search(rf"<td>\(?{member.evaluation.number}\)?</td>", markup(text))


def test_the_charts_share_one_brush_and_hold_all_points(found, text):
    charts = spec(text)
    assert [p["name"] for p in charts["params"]] == ["brush"]
    assert len(charts["params"][0]["views"]) >= 3
    assert len(charts["datasets"]["members"]) == len(found.members)
    assert len(charts["datasets"]["cloud"]) == len(found.archive.evaluations)
    assert len(charts["datasets"]["lines"]) == 8 * len(found.members)


def test_the_scripts_of_the_page_speak_the_language_of_its_charts():
    import altair

    room = Path(visualization.__file__).parent
    (scripts,) = room.glob("*.js.gz")
    assert scripts.name == "vega-lite-{}.{}.js.gz".format(*altair.SCHEMA_VERSION.lstrip("v").split("."))
    assert scripts.stat().st_size < 1_000_000
    assert (room / "vega.LICENSE.txt").exists()


def test_the_specification_is_valid_vega_lite(text):
    import vl_convert

    drawing = vl_convert.vegalite_to_svg(spec(text))
    assert "unfairness" in drawing
    assert "n_submit" in drawing


def test_every_parameter_has_bars_on_linear_and_logarithmic_scales():
    import vl_convert

    points = tuple(evaluation(k, THREE, (0, k, k)) for k in range(1, 200))
    drawing = vl_convert.vegalite_to_svg(spec(page(front(replace(archive(THREE), evaluations=points)))))
    assert 'aria-label="log10 n_submit: 0 – 0.2; points: 1"' in drawing
    assert 'aria-label="dispatch: ethic; points: ' in vl_convert.vegalite_to_svg(spec(page(front(search()))))


def test_hostile_names_stay_text():
    study = archive(THREE, (0, 0.1, 5), (1, 0.0, 6))
    points = [
        type(e)(e.number, {"a": "</script><script>alert(1)</script>"}, e.objectives, {})
        for e in study.evaluations
    ]
    text = page(front(type(study)("<b>x", "s", THREE, tuple(points))))
    assert "alert(1)</script>" not in text
    assert "<b>x" not in text


def test_one_objective_and_an_empty_front_have_a_page(tmp_path):
    save(front(search(30, objectives=1)), tmp_path / "one.html")
    assert "number of the evaluation" in (tmp_path / "one.html").read_text(encoding="utf-8")
    empty = page(front(archive(THREE)))
    assert "there is no front" in empty
    assert len(empty) < 10_000
