"""Densities of the Parzen estimator, and what it takes for good."""

import numpy as np
import pytest

from optimize.samplers.parzen import Axis, ChoiceDensity, RangeDensity
from optimize.samplers.tree import _fading, _good, _spread
from optimize.space import Parameter

WEIGHTS = np.array([1.0, 0.2, 0.5])


@pytest.mark.parametrize(
    "observed", [np.array([]), np.array([2.0]), np.array([2.0, 2.0, 2.0]), np.array([1.0, 5.0, 2.5])]
)
def test_a_density_of_a_range_sums_to_one_and_stays_within(observed):
    density = RangeDensity(1.0, 5.0, observed, np.ones(len(observed)))
    edges = np.linspace(1.0, 5.0, 20_001)
    middles = (edges[1:] + edges[:-1]) / 2
    assert np.exp(density.log_density(middles)).sum() * (edges[1] - edges[0]) == pytest.approx(1.0, abs=1e-4)
    drawn = density.sample(np.random.default_rng(1), 1000)
    assert drawn.min() >= 1.0
    assert drawn.max() <= 5.0


@pytest.mark.parametrize("log", [False, True])
def test_probabilities_of_whole_numbers_sum_to_one(log):
    axis = Axis(Parameter("n", low=1, high=40, log=log, whole=True))
    places = np.array([axis.number(n) for n in range(1, 41)])
    density = axis.density(places[[3, 4, 30]], WEIGHTS)
    assert np.exp(density.log_density(places)).sum() == pytest.approx(1.0)
    values = {axis.value(float(place)) for place in density.sample(np.random.default_rng(1), 2000)}
    assert values <= set(range(1, 41))
    assert all(type(value) is int for value in values)


def test_values_around_those_observed_are_likelier():
    near = RangeDensity(0.0, 1.0, np.array([0.2, 0.21, 0.22]), np.ones(3))
    assert near.log_density(np.array([0.21]))[0] > near.log_density(np.array([0.8]))[0] + 1.0
    faint = RangeDensity(0.0, 1.0, np.array([0.2, 0.21, 0.22]), np.full(3, 0.1))
    assert faint.log_density(np.array([0.21]))[0] < near.log_density(np.array([0.21]))[0]


def test_choices_count_as_often_as_they_were_observed_and_once_more():
    density = ChoiceDensity(3, np.array([0.0, 2.0, 2.0]), WEIGHTS)
    expected = np.array([2.0, 1.0, 1.7]) / 4.7
    assert np.exp(density.log_density(np.arange(3.0))) == pytest.approx(expected)


def test_true_and_one_are_different_choices():
    axis = Axis(Parameter("flag", choices=(1, True, False)))
    assert [axis.number(value) for value in (1, True, False)] == [0.0, 1.0, 2.0]
    assert axis.value(1.0) is True


def test_good_points_are_taken_front_by_front():
    costs = np.array([[3.0, 3.0], [1.0, 2.0], [2.0, 1.0], [2.0, 2.0], [4.0, 4.0]])
    assert sorted(_good(costs, 2)) == [1, 2]
    assert sorted(_good(costs, 4)) == [0, 1, 2, 3]


def test_of_a_front_the_points_that_add_most_are_taken():
    front = np.array([[0.0, 1.0], [0.01, 0.99], [0.4, 0.4], [1.0, 0.0]])
    assert _spread(front, 1) == [2]
    every = [sorted(_spread(front, count)) for count in (2, 3, 4)]
    assert [len(rows) for rows in every] == [2, 3, 4]
    assert not {0, 1} <= set(every[1])


def test_old_points_count_less_than_recent_ones():
    weights = _fading(100)
    assert weights[0] == pytest.approx(0.01)
    assert np.all(np.diff(weights) >= 0)
    assert np.all(weights[-25:] == 1)
    assert list(_fading(3)) == [1.0, 1.0, 1.0]
