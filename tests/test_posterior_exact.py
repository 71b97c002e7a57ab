"""The posterior by its numbers: what a small study gives, and its parts at their bounds."""

import numpy as np
import pytest

from gridtune.optimize.inference import gaussian_process
from gridtune.optimize.inference.gaussian_process import Posterior, _log_odds
from gridtune.optimize.records.evaluations import Estimate, Evaluation
from tests.test_posterior import OBJECTIVES


def evaluated(number, cost, gain, validation=None):
    def estimates(values):
        return {"cost": Estimate.of(values[0]), "gain": Estimate.of(values[1])}

    return Evaluation(
        number, {"x": number}, estimates((cost, gain)), {}, validation and estimates(validation)
    )


def test_runs_of_the_search_come_before_those_on_validation_seeds():
    study = [evaluated(0, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0), ((7.0,), (8.0,))), evaluated(1, (9.0,), (1.0,)),
             evaluated(2, (3.0,), (2.0,), ((5.0, 6.0), (7.0, 8.0)))]  # fmt: skip
    none = np.nan
    expected = [
        [[1, 2, 3, 7, none], [-4, -5, -6, -8, none]],
        [[9, none, none, none, none], [-1, none, none, none, none]],
        [[3, none, none, 5, 6], [-2, none, none, -7, -8]],
    ]
    np.testing.assert_array_equal(
        gaussian_process.runs_of(study, OBJECTIVES), np.array(expected, dtype=float)
    )


def layered():
    """Runs of configurations in three layers of two, and one further."""
    rows = [(5.0, 5.0), (0.0, 1.0), (1.0, 0.0), (2.0, 3.0), (3.0, 2.0), (4.0, 4.5), (4.5, 4.0)]
    return np.array(rows)[:, :, None] + np.array([0.0, 10.0])


@pytest.mark.parametrize(
    ("most", "always", "chosen"),
    [(800, (), range(7)), (4, (), [1, 2, 3, 4]), (5, (), range(1, 6)), (3, (0,), [0, 1, 2]),
     (4, (0, 5), [0, 1, 2, 5]), (1, (), [1])],
)  # fmt: skip
def test_the_model_is_about_the_best_layers_and_who_is_in_it_anyway(monkeypatch, most, always, chosen):
    monkeypatch.setattr(gaussian_process, "JOINT", most)
    assert gaussian_process.best_layers(layered(), always) == list(chosen)


def test_nothing_is_fitted_to_configurations_without_a_run_or_without_two():
    values = layered()
    assert gaussian_process.fit(values[:0], []) is None
    empty = values.copy()
    empty[3] = np.nan
    assert gaussian_process.fit(empty, [{"x": k} for k in range(7)]) is None
    once = values.copy()
    once[:, 0, 1] = np.nan  # a run with one objective alone is none
    assert gaussian_process.fit(once, [{"x": k} for k in range(7)]) is None
    assert gaussian_process.fit(values, [{"x": k} for k in range(7)], draws=3).draws.shape == (3, 7, 2)


def test_objectives_that_do_not_vary_tie_and_shares_at_their_ends_stay():
    means = np.array([[1.0, 1.0, 0.0], [1.0 + 2e-9, 1.0 + 0.5e-9, 0.0]])
    units = [gaussian_process._unit(column) for column in means.T]
    assert units[1:] == [np.inf, np.inf]
    assert units[0] == pytest.approx(2e-14)
    shares = np.array([0.0, 0.001, 0.5, 1.0])
    assert _log_odds(shares, 100) == pytest.approx([-np.log(199), -np.log(199), 0.0, np.log(199)])


def test_the_posterior_of_each_objective_is_in_its_unit():
    values = layered() + np.random.default_rng(6).normal(0, 0.3, (7, 2, 2))
    settings = [{"x": k} for k in range(7)]
    known = gaussian_process.fit(values, settings, draws=9)
    scaled = gaussian_process.fit(values * np.array([[1e3], [1e-3]]), settings, draws=9)
    for one in ("means", "draws", "unit", "replays"):
        assert getattr(scaled, one) == pytest.approx(getattr(known, one) * [1e3, 1e-3], rel=1e-3), one
    assert known.replays.shape == (gaussian_process.REPLAYS, 9, 7, 2)
    assert known.replays.std(axis=1) == pytest.approx(np.tile(known.draws.std(axis=0), (5, 1, 1)))


def test_a_baseline_far_from_all_others_keeps_the_mean_of_its_runs():
    rng = np.random.default_rng(8)
    values = rng.normal(0, 0.3, (60, 1, 4))
    values[0] += 20.0
    values[30:, 0, 1:] = np.nan
    settings = [{"x": x, "y": y} for x, y in rng.random((60, 2))]
    found = gaussian_process.fit(values, settings, apart=0)
    assert found.means[0, 0] - found.means[1:, 0].mean() == pytest.approx(20.0, abs=0.5)
    assert found.draws[:, 0, 0].std() == pytest.approx(0.15, rel=0.4)
    # What is apart says nothing of the others.
    values[0] += 1000.0
    again = gaussian_process.fit(values, settings, apart=0)
    assert again.means[1:] == pytest.approx(found.means[1:], abs=0.02)


def test_draws_that_differ_by_less_than_the_unit_tie_and_ties_are_all_non_dominated():
    found = Posterior(*[np.empty(0)] * 3, np.array([0.1, 1.0]), *[np.empty(0)] * 2)
    draws = np.array([[[1.0, 5.0], [1.04, 5.3], [1.1, 5.0], [2.0, 4.0]], [[1, 5], [1, 6], [0, 7], [1, 5]]])
    assert found.won(draws).tolist() == [[True, True, False, True], [True, False, True, True]]
