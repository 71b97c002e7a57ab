"""The response surrogate against the normal law that it stands for, written out pair by pair."""

from math import exp, log
from unittest.mock import patch

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal

from gridtune.optimize.inference import surrogate_model
from gridtune.optimize.inference.surrogate_model import (
    REACH,
    STIFFNESS,
    Distances,
    Fitted,
    distances,
    joint_draws,
    surrogates,
)

PLACES = np.array(
    [[0.0, 0.1], [0.2, 0.9], [0.5, 0.4], [0.9, 0.8], [1.0, 0.0]]
)  # five configurations, two parameters
COLUMNS = [PLACES[:, :1], PLACES[:, 1:]]
SQUARES = np.stack([(column - column.T) ** 2 for column in COLUMNS])
APART = distances(COLUMNS)
SIZES = {"together": 2.0, "alone": (0.7, 1.5), "rates": (3.0, 0.5), "nugget": 0.3}
LOGARITHMS = np.log([2.0, 0.7, 1.5, 3.0, 0.5, 0.3])


def alike(one, other):
    """Covariance of the means at two places, by the formula, without the nugget."""
    gaps = [(a - b) ** 2 for a, b in zip(one, other, strict=True)]
    joint = SIZES["together"] * exp(-sum(r * gap for r, gap in zip(SIZES["rates"], gaps, strict=True)) / 2)
    alone = (a * exp(-gap / (2 * REACH**2)) for a, gap in zip(SIZES["alone"], gaps, strict=True))
    return joint + sum(alone)


def covariance(places):
    return np.array([[alike(one, other) for other in places] for one in places])


def test_the_misfit_is_that_of_the_normal_law_and_a_prior_and_its_slope_is_its_own():
    values, noise = np.array([0.3, -1.0, 0.8, 1.9, -0.2]), np.diag([0.1, 0.2, 0.1, 0.4, 0.3])
    noise[0, 1] = noise[1, 0] = 0.05  # noise that two configurations share
    expected = LOGARITHMS + np.array([1.0, -2.0, 0.5, 0.0, 0.3, -1.0])
    given = (SQUARES, np.exp(-0.5 / REACH**2 * SQUARES), values, noise, expected)
    misfit, slope = surrogate_model._misfit(LOGARITHMS, *given)
    law = multivariate_normal(np.zeros(5), covariance(PLACES) + noise + SIZES["nugget"] * np.eye(5))
    prior = STIFFNESS / 2 * sum((LOGARITHMS - expected) ** 2)
    assert misfit == pytest.approx(-law.logpdf(values) - 5 / 2 * log(2 * np.pi) + prior)
    numeric = approx_fprime(LOGARITHMS, lambda at: surrogate_model._misfit(at, *given)[0], 1e-6)
    assert slope == pytest.approx(numeric, abs=1e-4)


def test_draws_are_of_the_normal_law_given_what_was_seen():
    surrogate, values = Fitted(10.0, LOGARITHMS), np.array([9.0, 11.5, 10.2])
    draws = surrogate.draws(APART, values, [4, 1], 20_000, np.random.default_rng(1))
    seen = covariance(PLACES)
    seen[:3, :3] += SIZES["nugget"] * np.eye(3)  # noise of observations; it is no part of the means
    known = np.linalg.inv(seen[:3, :3])
    for at, place in enumerate((4, 1)):
        across = np.array([alike(PLACES[place], PLACES[other]) for other in range(3)])
        mean = 10.0 + across @ known @ (values - 10.0)
        left = alike(PLACES[place], PLACES[place]) - across @ known @ across
        assert draws[:, at].mean() == pytest.approx(mean, abs=0.05)
        assert draws[:, at].var() == pytest.approx(left, rel=0.05)
    one, other = (np.array([alike(PLACES[place], PLACES[seen]) for seen in range(3)]) for place in (4, 1))
    both = alike(PLACES[4], PLACES[1]) - one @ known @ other
    assert np.cov(draws.T)[0, 1] == pytest.approx(both, abs=0.05)


def test_a_parameter_that_changes_nothing_is_found_to():
    rng = np.random.default_rng(3)
    columns = [rng.uniform(0, 1, (60, 1)), rng.uniform(0, 1, (60, 1))]
    values = np.sin(4 * columns[0]) + rng.normal(0, 0.05, (60, 1))
    surrogate = Fitted.of(distances(columns), values[:, 0], 1)
    _, (matters, idle), _, noise = surrogate_model._sizes(surrogate.sizes, 2)
    assert idle < matters / 20
    assert noise == pytest.approx(0.05**2, rel=0.5)


def test_a_configuration_that_is_asked_for_twice_is_drawn_alike():
    draws = Fitted(0.0, LOGARITHMS).draws(APART, np.zeros(3), [4, 4], 50, np.random.default_rng(1))
    assert draws[:, 0] == pytest.approx(draws[:, 1], abs=0.01)
    assert draws.std() > 0.1


def test_the_sizes_that_are_found_fit_best(monkeypatch):
    monkeypatch.setattr(surrogate_model, "COARSE", 1e-9)
    rng = np.random.default_rng(5)
    columns = [rng.uniform(0, 1, (40, 1)), rng.uniform(0, 1, (40, 1))]
    values = (np.sin(4 * columns[0]) + columns[1] ** 2)[:, 0] + rng.normal(0, 0.1, 40)
    found = Fitted.of(distances(columns), values, 1)
    squares = np.stack([(column - column.T) ** 2 for column in columns])
    start = surrogate_model._start(2, values.var())
    shapes, noise = np.exp(-squares / (2 * REACH**2)), 1e-9 * values.var() * np.eye(40)
    given = (squares, shapes, values - found.mean, noise, start)
    _, slope = surrogate_model._misfit(found.sizes, *given)
    free = (found.sizes > start - 8.9) & (found.sizes < start + 4.9)
    assert free.sum() >= 4
    assert abs(slope[free]).max() < 0.05
    monkeypatch.setattr(surrogate_model, "COARSE", 0.125)
    steps = (Fitted.of(distances(columns), values, 1).sizes - start) / 0.125
    assert steps == pytest.approx(steps.round())
    assert steps == pytest.approx((found.sizes - start) / 0.125, abs=0.5)


def test_from_more_than_two_hundred_configurations_sizes_are_learned_from_some_by_the_seed():
    def learned_from(count, seed=1):
        """Values that the sizes are learned from, as positions of configurations."""
        places = np.linspace(0, 1, count)[:, None]
        given = distances([places]), np.arange(count, dtype=float)
        with patch("gridtune.optimize.inference.surrogate_model.minimize") as search:
            search.return_value.x = np.zeros(4)
            surrogate = Fitted.of(*given, seed, np.eye(count))
        squares, shapes, values, noise, _ = search.call_args.args[2]
        assert (len(noise), squares.shape, shapes.shape) == (len(values), (1, 200, 200), (1, 200, 200))
        return (values + surrogate.mean).round(6).tolist()

    assert learned_from(200, 1) == learned_from(200, 2) == list(range(200))
    some = learned_from(201, 1)
    assert (len(set(some)), some) == (200, sorted(some))
    assert learned_from(201) == some != learned_from(201, 2)


def test_places_of_settings_by_their_logarithm_where_that_counts():
    def column(*values, logarithmic=()):
        configurations = [{} if one is None else {"x": one} for one in values]
        (found,) = surrogate_model.coordinates_of(configurations, logarithmic)
        return found[:, 0].tolist() if found.shape[1] == 1 else found.round(6).tolist()

    assert column(1.0, 10.5, 20.0) == [0.0, 0.5, 1.0]
    assert column(0.5, 5.25, 10.0) == column(10.0, 105.0, 200.0) == [0.0, 0.5, 1.0]
    assert column(1.0, 20.5**0.5, 20.5, logarithmic={"x"}) == pytest.approx([0.0, 0.5, 1.0])
    assert column(0.0, 50.0, 100.0) == [0.0, 0.5, 1.0]
    assert column(2, None, 4, float("inf")) == [0.0, 0.5, 1.0, 1.0]
    assert column(3, 3, None) == [0.0, 0.0, 0.5]
    assert column(float("inf"), None) == [0.0, 0.5]
    half = round(0.5**0.5, 6)
    assert column(True, False) == [[0.0, half], [half, 0.0]]
    assert column("b", None, 7) == [[0.0, 0.0, half], [0.0, half, 0.0], [half, 0.0, 0.0]]
    assert surrogate_model.coordinates_of([{}, {}])[0].tolist() == [[0.0], [0.0]]


def test_sizes_start_from_the_spread_and_stay_near_it():
    assert np.exp(surrogate_model._start(2, 8.0)) == pytest.approx([4.0, 2.0, 2.0, 1.0, 1.0, 0.008])
    together, alone, rates, nugget = surrogate_model._sizes(np.log([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 2)
    assert (together, nugget) == (pytest.approx(1.0), pytest.approx(6.0))
    assert (alone.tolist(), rates.tolist()) == (pytest.approx([2.0, 3.0]), pytest.approx([4.0, 5.0]))
    (squares,) = distances([np.array([[0.0, 1.0], [0.5, 0.5], [3.0, 5.0]])]).squares
    assert squares == pytest.approx(np.array([[0.0, 0.5, 25.0], [0.5, 0.0, 26.5], [25.0, 26.5, 0.0]]))
    with patch("gridtune.optimize.inference.surrogate_model.minimize") as search:
        search.return_value.x = np.zeros(4)
        mean = Fitted.of(
            Distances(np.zeros((1, 3, 3)), np.ones((1, 3, 3))),
            np.array([1.0, 2.0, 6.0]),
            1,
            np.diag([1.0, 1.0, 4.0]),
        ).mean
    # Weights are 1 over the noise and the spread of 14/3; the spread beyond the noise of 2 is 8/3.
    weights = [1 / (1 + 14 / 3), 1 / (1 + 14 / 3), 1 / (4 + 14 / 3)]
    assert mean == pytest.approx(sum(w * x for w, x in zip(weights, (1, 2, 6), strict=True)) / sum(weights))
    (_, start, given), options = search.call_args
    assert start == pytest.approx(surrogate_model._start(1, 8 / 3))
    assert given[2] == pytest.approx(np.array([1.0, 2.0, 6.0]) - mean)
    assert options["bounds"] == [(low - 9, low + 5) for low in start]
    assert (options["method"], options["jac"], options["options"]) == ("L-BFGS-B", True, {"maxiter": 40})


def test_draws_of_very_large_quantities_are_as_sure():
    large = Fitted(0.0, LOGARITHMS + np.log([1e12, 1e12, 1e12, 1.0, 1.0, 1e12]))
    draws = large.draws(APART, np.zeros(3), [4, 4], 50, np.random.default_rng(1))
    small = Fitted(0.0, LOGARITHMS).draws(APART, np.zeros(3), [4, 4], 50, np.random.default_rng(1))
    assert draws == pytest.approx(1e6 * small, rel=1e-3)


def test_of_what_never_varies_the_sizes_are_in_its_unit_squared():
    noise = 1e-9 * np.eye(5)
    few, many = (Fitted.of(APART, np.full(5, each), 1, each**2 * noise) for each in (1.0, 1e3))
    squared = np.log([1e6, 1e6, 1e6, 1.0, 1.0, 1e6])
    assert many.sizes == pytest.approx(few.sizes + squared, abs=0.01)


def test_what_is_learned_does_not_depend_on_the_unit_and_draws_follow_their_noise():
    places = np.linspace(0, 1, 12)[:, None]
    values = np.sin(5 * places[:, 0]) + 0.1 * np.cos(40 * places[:, 0])
    one, tiny = (Fitted.of(distances([places]), scale * values, 1) for scale in (1.0, 1e-3))
    squared = np.log([1e-6, 1e-6, 1.0, 1e-6])
    assert tiny.sizes == pytest.approx(one.sizes + squared, abs=0.01)
    assert tiny.mean == pytest.approx(1e-3 * one.mean)
    given = APART, np.array([9.0, 11.5, 10.2]), [4]
    draws = Fitted(10.0, LOGARITHMS).draws(*given, 9, np.random.default_rng(1))[:, 0]
    noise = np.random.default_rng(1).normal(size=9)
    assert np.corrcoef(draws, noise)[0, 1] == pytest.approx(1.0)


def test_quantities_are_learned_each_alone():
    rng = np.random.default_rng(9)
    values = rng.normal(size=(5, 2)) * [1.0, 100.0]
    one, other = (Fitted.of(APART, column, 1) for column in values.T)
    draws = joint_draws(surrogates(APART, values, 1), APART, values, [0, 3], 7, np.random.default_rng(2))
    again = np.random.default_rng(2)
    expected = [
        which.draws(APART, column, [0, 3], 7, again)
        for which, column in zip((one, other), values.T, strict=True)
    ]
    assert draws == pytest.approx(np.stack(expected, axis=2))


def rows(sign, proportional):
    """Values at thirty places that grow along a line, by factors or by steps, with noise alike."""
    rng = np.random.default_rng(7)
    places = np.linspace(0.0, 1.0, 30)
    logs = 4.0 * places + rng.normal(0.0, 0.3, 30)
    return [places[:, None]], sign * (np.exp(logs) if proportional else 1.0 + logs)


@pytest.mark.parametrize("sign", [1, -1])
def test_what_grows_by_factors_is_modelled_by_its_logarithms_and_draws_keep_the_order(sign):
    columns, values = rows(sign, proportional=True)
    (one,) = surrogates(distances(columns), values[:, None], 1)
    assert one.sign == sign
    assert (np.argsort(one.scaled(values)) == np.argsort(values)).all()
    assert one.holds(values)
    assert not one.holds(-values)
    draws = joint_draws([one], distances(columns), values[:, None], range(30), 50, np.random.default_rng(1))
    assert draws.mean(axis=0)[[0, -1], 0] == pytest.approx(sign * np.array([0.0, 4.0]), abs=0.5)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 3600.0])
@pytest.mark.parametrize("proportional", [True, False])
def test_of_very_many_the_unit_does_not_decide_on_logarithms(unit, proportional):
    rng = np.random.default_rng(7)
    places = np.linspace(0.0, 1.0, 240)
    logs = 4.0 * places + rng.normal(0.0, 0.3, 240)
    values = unit * (np.exp(logs) if proportional else 2.0 + logs)
    (one,) = surrogates(distances([places[:, None]]), values[:, None], 1)
    assert one.sign == int(proportional)


def test_what_grows_by_steps_is_modelled_as_it_is():
    columns, values = rows(1, proportional=False)
    (one,) = surrogates(distances(columns), values[:, None], 1)
    assert one.sign == 0
    assert one.scaled(values) is values


def test_what_has_both_signs_is_modelled_as_it_is():
    columns, values = rows(1, proportional=True)
    values[0] = -0.01
    (one,) = surrogates(distances(columns), values[:, None], 1)
    assert one.sign == 0
    assert one.holds(values)
    values[0] = 0.0
    assert surrogates(distances(columns), values[:, None], 1)[0].sign == 0
