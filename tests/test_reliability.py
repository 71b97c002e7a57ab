"""Whether an objective tells configurations apart: the analysis of variance against its textbook form."""

import numpy as np
import pytest
from scipy.stats import f

from gridtune.optimize.replication.reliability import SIGNIFICANCE, Reliability, reliability


def test_share_and_p_are_those_of_the_analysis_of_variance():
    table = np.random.default_rng(3).normal(size=(4, 6)) + np.arange(4)[:, None] * 0.4 + np.arange(6) * 9.0
    configurations, effects = table.mean(axis=1), table.mean(axis=0)
    rest = table - configurations[:, None] - effects + table.mean()
    between, within = 6 * configurations.var(ddof=1), (rest**2).sum() / 15
    found = reliability(table.tolist())
    assert found.share == pytest.approx((between - within) / between)
    assert found.p == pytest.approx(f.sf(between / within, 3, 15))


def test_configurations_are_compared_on_the_replications_that_all_have():
    table = np.random.default_rng(3).normal(size=(3, 6)).tolist()
    assert reliability([table[0], table[1][:4], table[2]]) == reliability([row[:4] for row in table])


@pytest.mark.parametrize("level", [5.0, -5.0])
def test_without_chance_or_two_of_each_nothing_can_be_said(level):
    assert reliability([[level, level + 1], [level + 2, level + 3]]) is None
    assert reliability([[level, level + 1]]) is None
    assert reliability([[level], [level + 1]]) is None
    assert reliability([]) is None
    assert reliability([[level, level + 1], [level + 2, level + 2.5]]) is not None


def test_configurations_that_differ_by_less_than_noise_explain_nothing():
    assert reliability([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]]) == Reliability(0.0, 1.0)
    assert (
        Reliability(0.5, SIGNIFICANCE).significant,
        Reliability(0.5, SIGNIFICANCE * 1.01).significant,
    ) == (True, False)
