"""Forecasters and the correction of run times."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridtune.model.deadline.forecasts import (
    Autoregression,
    BestSoFar,
    Correction,
    LastValue,
    Measured,
    NetworkWeatherService,
    RunningMean,
    SlidingMedian,
)
from gridtune.model.deadline.memories import Competing, Separate
from gridtune.model.policy import PolicyError, make

series = st.lists(st.floats(0.01, 1.0), min_size=1, max_size=30)


def fed(memory, values):
    for value in values:
        memory.observe(value)
    return memory.forecast()


@given(series)
def test_mean_and_median_are_those_of_statistics(values):
    assert fed(RunningMean(0.5), values) == pytest.approx(np.mean(values))
    assert fed(SlidingMedian(0.5, 5), values) == pytest.approx(np.median(values[-5:]))
    assert fed(LastValue(0.5), values) == values[-1]


def test_an_autoregression_learns_an_alternating_series():
    values = [0.2, 0.8] * 6
    assert fed(Autoregression(0.5), values) == pytest.approx(0.2)
    assert fed(Autoregression(0.5), [0.5, 0.5, 0.5]) == 0.5


@given(values=st.lists(st.floats(0.01, 1.0), min_size=5, max_size=30))
def test_an_autoregression_is_the_least_squares_line(values):
    x, y = np.array(values[:-1]), np.array(values[1:])
    if np.ptp(x) < 0.01:
        return
    slope, intercept = np.polyfit(x, y, 1)
    assert fed(Autoregression(0.5), values) == pytest.approx(intercept + slope * values[-1], abs=1e-6)


@pytest.mark.parametrize(
    ("values", "winner"),
    [
        ([0.2, 0.8] * 10, Autoregression),
        ([0.2] * 12 + [0.9] + [0.2] * 12 + [0.8] * 12 + [0.1] + [0.8] * 12, SlidingMedian),
        ([0.2, 0.9, 0.5, 0.1, 0.4, 0.8, 0.6, 0.2, 0.7, 0.3] * 2, RunningMean),
    ],
)
def test_the_forecaster_with_the_least_error_so_far_speaks(values, winner):
    memory = NetworkWeatherService(window=5).memory(0.5)
    fed(memory, values)
    assert isinstance(memory.best, winner)


def test_the_least_error_is_found_by_adding_up():
    memory = BestSoFar(1.0, [RunningMean(1.0), LastValue(1.0)])
    assert memory.forecast() == 1.0
    fed(memory, [0.1, 0.2, 0.3])  # the last value is off by 0.1 and 0.1, the mean by 0.1 and 0.15
    assert isinstance(memory.best, LastValue)
    assert memory.forecast() == 0.3


@given(series)
def test_forecasts_stay_within_what_was_measured(values):
    assert min(values) <= fed(NetworkWeatherService().memory(9.0), values) <= max(values)


@given(st.integers(1, 25), st.lists(st.lists(st.floats(0.01, 1e6), min_size=3, max_size=3), max_size=40))
def test_series_seen_to_at_once_are_forecast_to_the_last_bit_as_each_by_itself(window, measured):
    forecast = NetworkWeatherService(window=window)
    alone = Separate([forecast.memory(1.0) for _ in range(3)])
    together = Competing(3, window)
    for values in measured:
        assert together.observe(values).tolist() == alone.observe(values)


def test_the_correction_follows_its_recursion():
    correction = Correction()
    seen = []
    for actual, forecast in [(12.0, 10.0), (8.0, 10.0), (10.0, 5.0), (3.0, 6.0)]:
        correction.learn(actual, forecast)
        seen.append(correction.percent)
    # 120; (120 + 80) / 2; (2 * 100 + 200) / 3; (3 * 133.3 + 50) / 4
    assert seen == pytest.approx([120.0, 100.0, 400 / 3, 112.5])
    assert correction.executions == 4


def test_a_constant_bias_is_removed_at_once_where_the_ratio_is_to_the_uncorrected_forecast():
    correction = Correction()
    for truth in (10.0, 30.0, 7.0):
        forecast = truth / 1.6
        if correction.executions:
            assert forecast * correction.percent / 100 == pytest.approx(truth)
        correction.learn(truth, forecast)


def test_as_the_algorithm_is_printed_only_the_square_root_of_a_bias_is_removed():
    # The listing overwrites the forecast by its corrected value before it forms the ratio.
    correction = Correction()
    for _ in range(20_000):
        forecast = 10.0 / 4.0
        correction.learn(10.0, forecast * correction.percent / 100)
    assert correction.percent == pytest.approx(100 * 4**0.5, rel=1e-3)


def test_errors_are_drawn_as_asked():
    rng = np.random.default_rng(1)
    wrong = Measured(bias=2.0, spread=0.3, noise=0.1)
    assert np.log(wrong.lasting_error(rng, 20_000)).mean() == pytest.approx(np.log(2.0), abs=0.01)
    assert np.log(wrong.lasting_error(rng, 20_000)).std() == pytest.approx(0.3, rel=0.03)
    assert np.log(wrong.passing_error(rng, 20_000)).std() == pytest.approx(0.1, rel=0.03)
    assert Measured().passing_error(rng, 5) == 1.0
    assert list(Measured().lasting_error(rng, 3)) == [1.0, 1.0, 1.0]


def test_a_bias_must_be_positive():
    with pytest.raises(PolicyError, match=r"perfect\.bias: 0\.0 must be more than 0"):
        make("forecast", {"kind": "perfect", "bias": 0})
