"""Confidence intervals hold the mean as often as they say, and pairing removes common noise."""

import numpy as np
import pytest

from gridtune.scenarios.results.intervals import half_width, paired_half_widths


def test_the_interval_is_that_of_student():
    assert half_width([1.0, 2.0, 3.0]) == pytest.approx(4.302653 / 3**0.5)
    assert np.isnan(half_width([1.0]))


def test_intervals_hold_the_mean_in_95_percent_of_experiments():
    rng = np.random.default_rng(1)
    samples = rng.normal(5.0, 2.0, (2000, 6))
    held = [abs(sample.mean() - 5.0) < half_width(sample) for sample in samples]
    assert 0.935 < np.mean(held) < 0.965


def test_what_all_configurations_share_widens_nothing():
    rng = np.random.default_rng(2)
    own = rng.normal(0.0, 1.0, (4, 30))
    shared = rng.normal(0.0, 50.0, 30)
    assert paired_half_widths(own + shared) == pytest.approx(paired_half_widths(own))


def test_without_anything_shared_paired_intervals_are_about_the_plain_ones():
    rows = np.random.default_rng(3).normal(0.0, 1.0, (5, 4000))
    assert paired_half_widths(rows) == pytest.approx([half_width(row) for row in rows], rel=0.05)


def test_one_configuration_or_one_replication_cannot_be_paired():
    assert np.isnan(paired_half_widths([[1.0, 2.0]])).all()
    assert np.isnan(paired_half_widths([[1.0], [2.0]])).all()
