"""Pictures of a front show every point, label every axis and are written whole or not at all."""

import pytest

from gridtune.optimize.front.front import front
from gridtune.optimize.visualization import PLOTS, draw, save
from gridtune.optimize.visualization.points import parameter_axis, short_path, view
from gridtune.scenarios.plots.style import PlotError
from tests.fronts import COMPLETED, THREE, UNFAIR, archive, search


@pytest.fixture(scope="module")
def found():
    return front(search())


def offsets(axes):
    return [collection.get_offsets() for collection in axes.collections if len(collection.get_offsets())]


def test_pairs_has_a_panel_per_pair_with_all_points_and_the_members(found):
    panels = [axes for axes in draw(found).axes if axes.axison]
    assert len(panels) == 3
    sizes = [len(points) for points in offsets(panels[0])]
    assert sizes[0] == len(found.archive.evaluations)
    kept, beaten = len(found.kept), len(found.members) - len(found.kept)
    assert [size for size in sizes[1:] if size > 1] == [size for size in (beaten, kept) if size > 1]
    labels = {axes.get_xlabel() for axes in panels} | {axes.get_ylabel() for axes in panels}
    assert labels == {"", "unhappy users ↓", "unfairness ↓", "completed (jobs) ↑"}


def test_bars_are_of_points_that_are_kept_alone(found):
    assert 0 < len(found.kept) < len(found.members)
    for axes in (axes for axes in draw(found).axes if axes.axison):
        bars = [len(lines.get_segments()) for lines in axes.collections if hasattr(lines, "get_segments")]
        assert bars == [len(found.kept)] * 2  # across and up


@pytest.mark.parametrize(("objectives", "panels"), [(1, 1), (2, 1), (3, 3)])
def test_any_number_of_objectives_can_be_drawn(objectives, panels):
    small = front(search(30, objectives=objectives))
    assert len([axes for axes in draw(small).axes if axes.axison]) == panels
    for kind in PLOTS:
        assert draw(small, kind).axes


def test_four_objectives_have_six_panels():
    four = (*THREE, type(UNFAIR)("makespan", "minimize", "s"))
    many = front(archive(four, (0, 1, 5, 9), (1, 0, 6, 8), (2, 2, 7, 7)))
    assert len([axes for axes in draw(many).axes if axes.axison]) == 6


def test_parallel_coordinates_have_a_column_per_varying_parameter_and_objective(found):
    axes = draw(found, "parallel").axes[0]
    names = [label.get_text().replace("\n", " ") for label in axes.get_xticklabels()]
    assert names[-3:] == ["unhappy users", "unfairness", "completed (jobs)"]
    assert len(names) == 8
    lines = [line for line in axes.lines if len(line.get_xdata()) == len(names)]
    assert len(lines) == len(found.kept)
    gaps = [line for line in lines if any(y != y for y in line.get_ydata())]
    assert len(gaps) == len(lines)  # n_submit and window are never active together


def test_parameters_has_a_panel_per_objective_and_parameter(found):
    panels = draw(found, "parameters").axes
    assert len(panels) == 3 * 5
    assert sum(axes.get_xscale() == "log" for axes in panels) >= 3


def test_history_ends_at_one_and_shows_the_value_on_fresh_seeds(found):
    axes = draw(found, "history").axes[0]
    curve, _, fresh = axes.lines
    assert curve.get_ydata()[-1] == pytest.approx(1)
    assert curve.get_xdata()[-1] == len(found.archive.evaluations)
    assert fresh.get_ydata()[0] == pytest.approx(found.hypervolume / found.hypervolume_searched)


def test_pictures_are_written_by_suffix_and_are_repeatable(found, tmp_path):
    for suffix, start in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        path = tmp_path / f"front{suffix}"
        save(found, path, "history")
        first = path.read_bytes()
        assert first.startswith(start)
        assert len(first) > 3000
        save(found, path, "history")
        assert path.read_bytes() == first
    assert sorted(p.name for p in tmp_path.iterdir()) == ["front.pdf", "front.png", "front.svg"]


@pytest.mark.parametrize("name", ["front.jpg", "front"])
def test_a_wrong_file_is_one_line_and_leaves_nothing(found, tmp_path, name):
    with pytest.raises(PlotError) as caught:
        save(found, tmp_path / name)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_unknown_kinds_and_empty_fronts_are_refused(found):
    with pytest.raises(PlotError, match="pie: no such picture of a front; there are pairs, "):
        draw(found, "pie")
    with pytest.raises(PlotError, match="nothing to draw"):
        draw(front(archive(THREE)))


def test_axes_of_parameters():
    axis = parameter_axis("client.n_submit", [1, 10, 100])
    assert axis.log
    assert [axis.share(v) for v in (1, 10, 100)] == [0, pytest.approx(0.5), 1]
    assert axis.share(None) != axis.share(None)  # nan
    flags = parameter_axis("sed.strict", [True, False])
    assert flags.categories == ("false", "true")
    assert flags.share(True) == 1
    assert parameter_axis("x", [0.0, 50.0]).log is False
    mixed = parameter_axis("x", ["a", 3])
    assert mixed.categories == ("3", "a")


def test_short_paths_stay_unique():
    paths = ["client.n_submit", "site.a.nodes", "site.b.nodes"]
    assert [short_path(path, paths) for path in paths] == ["n_submit", "a.nodes", "b.nodes"]


def test_the_view_holds_the_front_and_leaves_out_what_is_far_away():
    import numpy as np

    low, high = view(np.array([0.0, 1.0, 1.2, 1000.0]), np.array([0.0, 1.0]), np.array([0.1, 0.1]))
    assert low < -0.1
    assert 1.1 < high < 3


def test_a_front_of_one_point_can_be_drawn():
    single = front(archive((UNFAIR, COMPLETED), (0.1, 5)))
    for kind in PLOTS:
        assert draw(single, kind).axes
