"""Differences of two configurations or samples, against the textbook and at the bounds of their words."""

import numpy as np
import pytest
from scipy import stats

from gridtune.optimize.records.difference import Difference, difference


def as_row(found):
    return [found.mean, found.standard_error, found.low, found.high, found.p_value]


@pytest.mark.parametrize("count", [2, 3, 7])
def test_pairs_are_those_of_students_test(count):
    draw = np.random.default_rng(count)
    for sign in (1, -1):
        start = draw.normal(5, 1, count)
        to = start + sign * draw.uniform(0.1, 3, count)
        test = stats.ttest_rel(to, start)
        interval = test.confidence_interval(0.95)
        found = difference([*to, 99.0], start)
        error = (to - start).std(ddof=1) / count**0.5
        expected = [(to - start).mean(), error, interval.low, interval.high, test.pvalue]
        assert as_row(found) == pytest.approx(expected)
        assert found.pairs == count


def test_what_does_not_vary_is_sure_and_one_run_says_nothing_of_chance():
    assert difference((3.0, 4.0), (1.0, 2.0)) == Difference(2.0, 0.0, 2.0, 2.0, 0.0, 2)
    assert difference((1.0, 2.0), (1.0, 2.0)) == Difference(0.0, 0.0, 0.0, 0.0, 1.0, 2)
    assert difference((3.0,), (0.5,)) == Difference(2.5, None, None, None, None, 1)
    for to, start in (((), (1.0,)), ((1.0,), ())):
        with pytest.raises(ValueError, match="without a common"):
            difference(to, start)


def test_gaps_below_the_resolution_or_rounding_are_none():
    def gaps(step, *pairs):
        found = [difference((1.0 + gap,), (1.0,), step).mean for gap in pairs]
        return [gap != 0 for gap in found]

    assert gaps(0.25, 0.2, 0.2499999, 0.25, -0.25, 0.26) == [False, False, True, True, True]
    assert gaps(0.25, 0.25 * (1 - 1.5e-9), 0.25 * (1 - 0.5e-9)) == [False, True]
    assert gaps(0.0, 0.5e-12, 2e-12, 0.5) == [False, True, True]
    assert difference((1000.0 + 5e-10,), (1000.0,)).mean == 0.0
    assert difference((8.0 * (1 - 1e-9),), (0.0,), 8.0).mean == 0.0
    # A spread at the limit of rounding is none.
    assert difference((1.0, 2.0 + 3e-13), (0.0, 1.0)).standard_error == 0.0
    assert difference((1.0, 2.0 + 1e-9), (0.0, 1.0)).standard_error > 0


def test_values_that_are_equal_in_every_pair_are_equal():
    assert Difference(0.0, 0.0, 0.0, 0.0, 1.0, 4).equal
    assert Difference(0.0, None, None, None, None, 1).equal
    assert not Difference(0.0, 0.5, -1.0, 1.0, 0.0, 4).equal
