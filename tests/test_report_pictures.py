"""Pictures and the page of a front: what they show, that nothing is cut, and that they need nothing else."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from gridtune.optimize.api.search_result import OVERVIEW, PAGE
from gridtune.optimize.front.front import front
from gridtune.optimize.records.evaluations import Archive, Objective
from gridtune.optimize.report.export import page
from gridtune.optimize.report.frame import ON_FRONT
from gridtune.optimize.report.pictures.axes import Axis, configurations, marked, varied
from gridtune.optimize.report.pictures.draw import PLOTS, _broken, _scale, _scatter, draw, growth, save
from gridtune.scenarios import ScenarioError
from gridtune.scenarios.plots.style import MARKS
from tests.chromium import document
from tests.fronts import COMPLETED, UNFAIR, UNHAPPY, advised, archive, evaluation, search, with_baseline

pytestmark = pytest.mark.long

WAIT = Objective("waiting_mean", "minimize", "s")
GOODPUT = Objective("goodput", "maximize")


@pytest.fixture(scope="module")
def found():
    return advised(front(with_baseline(search(40))))


def texts(drawing):
    return {text.get_text() for text in drawing.findobj(lambda one: hasattr(one, "get_text"))}


def drawn(drawing):
    drawing.canvas.draw()
    return drawing.canvas.get_renderer()


@pytest.mark.parametrize("kind", PLOTS)
def test_every_picture_fits_a_page_and_cuts_no_text(found, kind):
    drawing = draw(found, kind)
    width, height = drawing.get_size_inches()
    assert width <= 13
    assert height <= 9
    renderer = drawn(drawing)
    whole = drawing.bbox
    for axes in drawing.axes:
        low, high = sorted(axes.get_xlim())
        ticks = [one for one in axes.get_xticklabels() if low <= one.get_position()[0] <= high]
        labels = [axes.xaxis.label, axes.yaxis.label, *ticks]
        for one in labels:
            if one.get_visible() and one.get_text() and axes.axison:
                box = one.get_window_extent(renderer)
                assert box.x0 >= whole.x0 - 2
                assert box.x1 <= whole.x1 + 2, one.get_text()
                assert box.y0 >= whole.y0 - 2


@pytest.mark.parametrize("kind", ["pairs", "parallel", "parameters"])
def test_recommendations_are_lettered_and_legends_have_four_words_at_most(found, kind):
    drawing = draw(found, kind)
    assert {one.letter for one in found.archive.recommendations} <= texts(drawing)
    legends = [*drawing.legends, *(axes.get_legend() for axes in drawing.axes)]
    entries = [text.get_text() for legend in legends if legend for text in legend.get_texts()]
    assert {"Pareto front", "baseline"} <= set(entries)
    assert all(len(entry.split()) <= 4 for entry in entries)


def test_parameters_has_the_six_that_matter(found):
    made = []
    draw_ = np.random.default_rng(1)
    for k in range(40):
        values = {f"sed.parameter_{name}": float(draw_.random()) for name in range(9)}
        unfair = 10 * values["sed.parameter_7"] + 5 * values["sed.parameter_3"] + 0.01 * draw_.random()
        made.append(evaluation(k, (UNFAIR, UNHAPPY), (unfair, 1.0), values=values))
    many = front(archive((UNFAIR, UNHAPPY), (1.0, 1.0)).__class__(
        "s", "s", (UNFAIR, UNHAPPY), tuple(made)))  # fmt: skip
    assert varied(configurations(many), many)[:2] == ["sed.parameter_7", "sed.parameter_3"]
    drawing = draw(many, "parameters")
    assert len(drawing.axes) == 6 * 2
    assert len(draw(many, "parallel").axes[0].get_xticks()) <= 11


def few():
    """A front of three configurations, over two parameters that differ and one that does not."""
    values = [{"same": 4, "two": k % 2, "some": k} for k in range(3)]
    made = [evaluation(k, (UNFAIR,), (1.0 + k,), values=values[k]) for k in range(3)]
    return front(Archive("s", "s", (UNFAIR,), tuple(made)))


@pytest.mark.parametrize(("most", "said"), [(1, ["the 1 of 2 parameters that matter most"]), (2, [])])
def test_parameters_that_are_left_out_are_counted(monkeypatch, most, said):
    monkeypatch.setattr("gridtune.optimize.report.pictures.draw.PANELS", most)
    drawing = draw(few(), "parameters")
    assert len(drawing.axes) == most
    assert re.findall("the [0-9]+ of .* matter most", " ".join(texts(drawing))) == said


def test_parallel_coordinates_have_an_axis_for_each_parameter_that_differs_and_objectives_on_the_right():
    drawing = draw(advised(front(with_baseline(search(80)))), "parallel")
    (axes,) = drawing.axes
    names = [text.get_text().replace("\n", "").removesuffix("(log)") for text in axes.get_xticklabels()]
    count = len(names)
    paths = {"client.dispatch", "n_submit", "client.dispatch.window", "client.spacing", "sed.strict"}
    assert set(names[:-3]) == paths
    low, high = axes.get_xlim()
    assert low < 0 < count - 1 < high < count
    assert drawing.get_size_inches()[0] >= count, "an inch each"
    (shade,) = axes.patches
    left, right = shade.get_x(), shade.get_x() + shade.get_width()
    assert [k for k in range(count) if left < k < right] == [count - 3, count - 2, count - 1]
    scales = [one.get_ydata() for one in axes.lines if set(one.get_xdata()) == {0}]
    assert any(min(ends) < 0 and max(ends) > 1 for ends in scales), "a scale holds all that is drawn"
    low, high = axes.get_ylim()
    assert all(low < text.get_position()[1] < high for text in axes.texts)


def test_parallel_coordinates_have_a_line_for_each_configuration_and_heavy_ones_as_in_the_legend(found):
    drawing = draw(found, "parallel")
    (axes,) = drawing.axes
    count = len(axes.get_xticklabels())
    lines = [one for one in axes.lines if len(one.get_xdata()) == count]
    special = {row.letter: row for row in found.archive.recommendations}
    others = {one.number for one in found.on_front} - {one.number for one in special.values()}
    assert len(lines) == len(others - {found.archive.baseline}) + len(special) + 1

    def look(line):
        return line.get_color(), line.get_linestyle(), line.get_linewidth()

    (legend,) = drawing.legends
    heavy = [look(one) for one in legend.get_lines() if one.get_linewidth() > 2]
    assert sorted(look(one) for one in lines if one.get_linewidth() > 2) == sorted(heavy)
    assert len(set(heavy)) == len(special) + 1, "no two look alike"
    letters = {text.get_text(): text for text in axes.texts if text.get_text() in special}
    ends = {(count - 1, one.get_ydata()[-1]) for one in lines if one.get_linewidth() > 2}
    assert letters.keys() == special.keys()
    assert {text.xy for text in letters.values()} <= ends
    highest = max(one.get_zorder() for one in (*axes.lines, *axes.collections))
    assert all(text.get_zorder() > highest for text in letters.values()), "nothing covers them"
    renderer = drawn(drawing)
    for text in letters.values():
        box, (_, mark) = text.get_window_extent(renderer), axes.transData.transform(text.xy)
        assert (box.y0 + box.y1) / 2 == pytest.approx(mark, abs=1.5), "in the middle of its mark"


def test_thousands_of_marks_are_drawn_as_a_picture_and_few_as_shapes():
    for count, rasterized in ((2000, False), (2001, True)):
        table = pd.DataFrame({"state": [ON_FRONT] * count, "name": ["0"] * count})
        axes = Figure().add_subplot()
        _scatter(axes, few(), table, np.zeros(count), np.zeros(count))
        assert [one.get_rasterized() for one in axes.collections] == [rasterized]


def test_of_many_on_the_front_some_are_drawn_evenly_spaced_along_the_first_objective(monkeypatch):
    monkeypatch.setattr("gridtune.optimize.report.pictures.draw.LINES", 2)
    found = front(archive((UNFAIR, COMPLETED), *[(k, 10 * k) for k in range(5)]))
    (axes,) = draw(found, "parallel").axes
    ends = {text.get_text() for text in axes.texts} - {"objectives: up is better"}
    assert ends == {"0", "3", "30"}, "numbers 0 and 3"


def test_parameters_that_are_the_same_on_the_whole_front_have_no_axis():
    drawing = draw(few(), "parallel")
    assert [text.get_text() for text in drawing.axes[0].get_xticklabels()] == ["unfairness\n(max - min) ↓"]


def test_lines_through_the_baseline_are_thinner_than_the_front_and_behind_it():
    found = front(archive((UNFAIR, COMPLETED), (3.0, 10.0), (1.0, 20.0), (2.0, 30.0), baseline=0))
    *across, stairs = draw(found, "pairs").axes[0].lines
    assert [one.is_dashed() for one in (*across, stairs)] == [True, True, False]
    for line in across:
        assert line.get_linewidth() < stairs.get_linewidth()
        assert line.get_zorder() < stairs.get_zorder()


def test_one_objective_is_drawn_in_the_order_of_the_search():
    (axes,) = draw(few(), "pairs").axes
    assert axes.get_xlabel() == "number of the configuration"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["not on the front", "Pareto front"]


@pytest.mark.parametrize(
    ("categories", "turned"), [(("easy", "fcfs"), 0), (("conservative", "easy", "fcfs"), 40)]
)
def test_names_of_categories_are_turned_where_they_would_overlap(categories, turned):
    axes = Figure().add_subplot()
    _scale(axes, Axis("", np.arange(len(categories)), categories))
    assert [text.get_text() for text in axes.get_xticklabels()] == list(categories)
    assert {text.get_rotation() for text in axes.get_xticklabels()} == {turned}
    assert axes.get_xlim() == (-0.5, len(categories) - 0.5)


def test_long_names_of_parameters_are_broken():
    assert _broken("fourteen_lette\nfifteen_letters") == "fourteen_lette\nfifteen_\nletters"


def test_positions_are_shares_of_what_the_axis_covers():
    level = Axis("", np.array([3.0, 3.0]), falling=True)
    assert level.shares(level.at).tolist() == [0.5, 0.5]
    wide = Axis("", np.array([1.0, 10.0, 100.0]), log=True)
    assert wide.shares(wide.at) == pytest.approx([0.0, 0.5, 1.0])
    assert wide.ticks == [(0.0, "1"), (1.0, "100")]
    falling = Axis("", np.array([1.0, 2.0, 5.0]), falling=True)
    assert falling.shares(falling.at).tolist() == [1.0, 0.75, 0.0]
    assert Axis("", np.array([1.0, 3.0]), falling=True).ticks == [(1.0, "1"), (0.0, "3")]
    assert Axis("", np.array([0.0, 1.0]), ("a", "b")).ticks == [(0.0, "a"), (1.0, "b")]


def test_only_parameters_that_have_two_values_are_varied():
    found = few()
    assert varied(configurations(found), found) == ["some", "two"]


def test_axes_are_in_the_units_that_people_read():
    table = configurations(front(archive((WAIT, GOODPUT), (7200.0, 0.7), (36000.0, 0.8))))
    wait, good = Axis.of_objective(table, WAIT), Axis.of_objective(table, GOODPUT)
    assert sorted(wait.at) == [2.0, 10.0]
    assert wait.label.replace("\xa0", " ") == "waiting time (mean, h) ↓"
    assert sorted(good.at) == pytest.approx([70, 80])
    assert good.label.replace("\xa0", " ") == "goodput (share of capacity, %) ↑"
    assert good.shares(good.at).max() == 1.0
    assert wait.shares(wait.at.min()) == 1.0, "less is better"


def test_axes_of_parameters_know_categories_gaps_and_orders_of_magnitude(found):
    table = configurations(found)
    kinds = Axis.of_parameter(table, "client.dispatch", [])
    assert kinds.categories == ("ethic", "legacy")
    assert set(Axis.of_parameter(table, "sed.strict", []).categories) == {"false", "true"}
    window = Axis.of_parameter(table, "client.dispatch.window", [])
    assert np.isnan(window.at).any()
    assert Axis.of_parameter(table, "client.spacing", []).log
    assert not window.log


def test_the_history_never_falls_and_no_part_is_above_the_whole(found):
    volumes = [volume for _, volume in growth(found)]
    assert volumes == sorted(volumes)
    (axes,) = draw(found, "history").axes
    assert max(axes.lines[0].get_ydata()) == pytest.approx(100)
    low, high = axes.get_ylim()
    assert low == 0
    assert high > 100


def test_a_view_shows_the_front_and_its_surroundings_not_the_worst():
    low, high = Axis("", np.array([1.0, 2.0, 2.5, 1000.0])).view([True, True, False, False])
    assert low < 1.0
    assert 2.5 < high < 4.0


def test_a_view_of_one_configuration_shows_what_is_within_a_tenth_of_it():
    low, high = Axis("", np.array([5.0, 5.4, 8.0, 20.0])).view([True, False, False, False])
    assert 4.9 < low < 5.0
    assert 5.39 < high < 5.5
    assert Axis("", np.array([0.0, 0.0])).view([True, True]) == pytest.approx((-0.007, 0.007))


def test_a_view_shows_all_where_nothing_is_on_the_front(found):
    assert Axis("", np.array([1.0, 2.0])).view([False, False]) == pytest.approx((0.93, 2.07))
    table = configurations(found)
    across, *_ = content(page(found))["objectives"]
    low, high = across["view"]
    shown = [at for at, near in zip(across["at"], marked(table), strict=True) if near]
    assert low < min(shown) <= max(shown) < high


@pytest.mark.parametrize(("values", "log"), [((1.0, 30.0), True), ((1.0, 29.9), False), ((0.0, 99.0), False)])
def test_an_axis_over_a_range_of_thirty_times_is_logarithmic(values, log):
    assert Axis.of_parameter(pd.DataFrame({"x": values}), "x", []).log == log


def test_a_file_is_drawn_by_its_name_and_suffix(found, tmp_path):
    for name in ("parallel.png", "mine.svg", PAGE, OVERVIEW):
        save(found, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 5000
    assert "1 - Jain" not in (tmp_path / "mine.svg").read_text()
    with pytest.raises(ScenarioError, match=r"front\.gif"):
        save(found, tmp_path / "front.gif")
    with pytest.raises(ScenarioError, match="no such picture"):
        draw(found, "pears")
    with pytest.raises(ScenarioError, match="empty"):
        draw(front(archive((UNFAIR,))))


def content(text):
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])


def test_the_page_opens_with_the_answer_and_loads_nothing(found):
    text = page(found)
    assert "default-src 'none'" in text
    assert not re.search(r'(src|href)="', text)
    body = text[text.index("<body>") :]
    places = [body.index(part) for part in ("Worse by over", 'class="answer"', 'class="card"', 'id="pairs"')]
    assert places == sorted(places)
    for one in found.archive.recommendations:
        assert f"--export {one.letter} &gt;" in body
        assert all(f"<code>{change.path}</code>" in body for change in one.changes)
    assert "50 s -&gt; 3.17 min" in body
    made = content(text)
    assert len(made["names"]) == len(made["objectives"][0]["at"]) == 40
    assert {"baseline", "front", "dominated"} >= set(made["states"])
    parameters = [one["label"] for one in made["parameters"]]
    assert {"client.dispatch", "client.dispatch.window", "sed.strict"} <= set(parameters)


def test_hostile_names_stay_text(found):
    hostile = archive((UNFAIR, UNHAPPY), (1.0, 2.0), (2.0, 1.0))
    object.__setattr__(hostile, "scenario", "</script><script>alert(1)</script>")
    values = {"a.b": "</script><script>alert(2)</script>"}
    object.__setattr__(hostile.evaluations[0], "values", values)
    text = page(front(hostile))
    assert "<script>alert" not in text


def test_a_page_without_a_front_says_why():
    text = page(front(archive((UNFAIR,))))
    assert MARKS["html"] in text.encode(), "so that another may take its place"
    assert "No configuration could be evaluated" in text
    assert 'id="data"' not in text


@pytest.mark.parametrize("options", [(), ("--blink-settings=preferredColorScheme=0",)])
def test_the_script_draws_in_a_browser_without_an_error(found, tmp_path, options):
    save(found, tmp_path / PAGE)
    shown = document(tmp_path / PAGE, *options)
    for room in ("pairs", "lines"):
        sizes = re.findall(rf'id="{room}">.*?<canvas[^>]*width="(\d+)" height="(\d+)"', shown)
        assert sizes
        assert all(int(side) > 100 for side in sizes[0])
    assert shown.count("<canvas") == 4


def test_a_page_of_thousands_is_small_and_quick(tmp_path):
    import time

    many = front(with_baseline(search(1500, replications=2, validation=0)))
    page(many)
    began = time.process_time()
    text = page(many)
    assert time.process_time() - began < 2
    assert len(text) < 600_000
    assert len(content(text)["names"]) == 1500
