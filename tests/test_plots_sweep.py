"""Pictures of a sweep put what was varied where it can be compared."""

import numpy as np
import pytest

from gridtune.scenarios.plots import PlotError, draw_sweep, save
from gridtune.scenarios.plots.sweeps import axis_path, is_log_spaced


def configuration(values, **metrics):
    return {
        "values": values,
        "metrics": {
            name: {
                "mean": mean,
                "standard_error": error,
                "values": [] if mean is None else [mean - (error or 0), mean + (error or 0)],
                "unit": "jobs",
            }
            for name, (mean, error) in metrics.items()
        },
    }


def test_a_metric_is_a_line_with_a_confidence_band_over_the_varied_number():
    configurations = [configuration({"n": n}, completed=(n * 2, 0.5)) for n in (3, 1, 2)]
    (axes,) = draw_sweep(configurations, ["completed"]).axes
    assert axes.lines[0].get_xdata().tolist() == [1, 2, 3]
    assert axes.lines[0].get_ydata().tolist() == [2, 4, 6]
    band = axes.collections[0].get_paths()[0].vertices
    half = 12.706 * 0.5  # of the interval from two values
    assert (band[:, 1].min(), band[:, 1].max()) == pytest.approx((2 - half, 6 + half), rel=1e-3)
    assert axes.get_xscale() == "linear"
    assert axes.get_ylabel() == "completed jobs"


def test_values_have_the_unit_in_which_people_read_them():
    metrics = {"completed_work": (7200.0, 0.0), "goodput": (0.25, 0.0), "waiting_mean": (90.0 * 60.0, 0.0)}
    units = {"completed_work": "s", "waiting_mean": "s"}
    configurations = [configuration({"n": n}, **metrics) for n in (1, 2)]
    for one in configurations:
        for name, unit in units.items():
            one["metrics"][name]["unit"] = unit
    panels = draw_sweep(configurations, list(metrics)).axes
    assert [panel.lines[0].get_ydata()[0] for panel in panels] == [2.0, 25.0, 1.5]
    assert [" ".join(panel.get_ylabel().split()) for panel in panels] == [
        "completed work (core-h)", "goodput (share of capacity, %)", "waiting time (mean, h)",
    ]  # fmt: skip


def test_every_value_of_a_second_path_is_a_line_and_constants_are_not_named():
    configurations = [
        configuration({"kind": "x", "n": n, "policy": policy}, completed=(n, 0.1))
        for n in (1, 10, 100)
        for policy in ("push", "pull")
    ]
    figure = draw_sweep(configurations, ["completed"])
    assert len(figure.axes[0].lines) == 2
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["policy = push", "policy = pull"]
    assert figure.axes[0].get_xscale() == "log"


def test_the_dark_band_leaves_out_what_all_configurations_share():
    def of(n, values):
        metric = {"mean": sum(values) / 3, "standard_error": 1.0, "values": values, "unit": "jobs"}
        return {"values": {"n": n}, "metrics": {"completed": metric}}

    (axes,) = draw_sweep([of(1, [10, 20, 30]), of(2, [11, 21, 31])], ["completed"]).axes
    wide, narrow = (np.ptp(band.get_paths()[0].vertices[:, 1]) for band in axes.collections)
    assert wide > 40  # the workloads differ much
    # But not the step from one configuration to the other: only the means remain.
    assert narrow == pytest.approx(1)


def test_a_range_asked_for_as_logarithmic_is_drawn_so_however_narrow():
    configurations = [configuration({"n": n}, completed=(n, 0.1)) for n in (1, 2, 4)]
    assert draw_sweep(configurations, ["completed"]).axes[0].get_xscale() == "linear"
    assert draw_sweep(configurations, ["completed"], {"n"}).axes[0].get_xscale() == "log"


def test_names_stand_along_the_axis_with_error_bars():
    configurations = [configuration({"policy": policy}, completed=(3, 0.5)) for policy in ("push", "pull")]
    (axes,) = draw_sweep(configurations, ["completed"]).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["push", "pull"]
    assert len(axes.containers) == 2  # of the means, and without what the configurations share


def test_missing_means_and_errors_are_gaps_and_failed_configurations_are_left_out(tmp_path):
    configurations = [configuration({"n": n}, completed=(None if n == 2 else n, None)) for n in (1, 2, 3)]
    configurations.append({"values": {"n": 4}, "metrics": {}})
    figure = draw_sweep(configurations, ["completed"])
    assert [y == y for y in figure.axes[0].lines[0].get_ydata()] == [True, False, True]
    save(figure, tmp_path / "sweep.svg")
    assert "completed" in (tmp_path / "sweep.svg").read_text(encoding="utf-8")


def test_the_default_is_a_panel_for_each_of_the_three_objectives():
    configurations = [
        configuration({"n": n}, unhappy_users=(0, 0), unfairness=(n, 0), completed=(n, 0)) for n in (1, 2)
    ]
    assert len(draw_sweep(configurations).axes) == 3


def test_the_axis_is_the_number_with_the_most_values():
    configurations = [
        configuration({"a": a, "b": b, "c": c}) for a in "xyz" for b in (1, 2) for c in (True, False)
    ]
    assert axis_path(configurations) == "b"


def test_spacing():
    assert is_log_spaced([1, 10, 100])
    assert is_log_spaced([3, 7, 16, 38, 90])
    assert not is_log_spaced([1, 6, 11, 16])
    assert not is_log_spaced([0, 1, 100])
    assert not is_log_spaced([1, 100])


def test_what_cannot_be_drawn_is_refused_in_one_line():
    configurations = [configuration({"n": 1}, completed=(1, 0))]
    with pytest.raises(PlotError, match=r"makespan: no such metric.* completed"):
        draw_sweep(configurations, ["makespan"])
    with pytest.raises(PlotError, match="no results"):
        draw_sweep([{"values": {"n": 1}, "metrics": {}}])
    with pytest.raises(PlotError, match="nothing was varied"):
        draw_sweep([configuration({}, completed=(1, 0))], ["completed"])
