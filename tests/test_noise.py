"""Noise of runs: replication effects where runs are unbalanced, and how alike variances are."""

import numpy as np
import pytest
from scipy.special import polygamma

from gridtune.optimize.inference.gaussian_process import fit
from gridtune.optimize.inference.noise import (
    MOST_ALIKE,
    _prior_freedom,
    beyond_effects,
    explained,
    least_squares,
    variances,
)


def test_effects_of_replications_are_weighted_least_squares_where_runs_are_unbalanced():
    rng = np.random.default_rng(7)
    seen = rng.random((12, 5)) < 0.6
    seen[:, 0] = True
    runs = np.where(seen, rng.normal(size=seen.shape) + np.arange(5) * 3.0, 0.0)
    precision = rng.uniform(0.2, 4.0, 12)
    effects, means, rest = explained(runs, seen, precision)
    # The same by a regression on a column for each configuration and each replication.
    rows, columns = np.nonzero(seen)
    design = np.zeros((len(rows), 17))
    design[np.arange(len(rows)), rows] = design[np.arange(len(rows)), 12 + columns] = 1.0
    root = np.sqrt(precision[rows])
    found = np.linalg.lstsq(design * root[:, None], runs[seen] * root, rcond=None)[0][12:]
    assert effects == pytest.approx(found - found.mean(), abs=1e-9)
    assert means == pytest.approx((runs - np.where(seen, effects, 0)).sum(axis=1) / seen.sum(axis=1))
    assert rest[~seen] == pytest.approx(0.0)
    assert rest.sum(axis=1) == pytest.approx(np.zeros(12), abs=1e-9)


@pytest.mark.parametrize("degrees", [4.0, 12.0])
def test_prior_degrees_of_freedom_are_those_that_the_variances_were_drawn_with(degrees):
    rng = np.random.default_rng(11)
    free = np.resize([2, 5, 14], 4000)
    variances = degrees / rng.chisquare(degrees, 4000)  # scaled inverse chi-squared around 1
    own = variances * rng.chisquare(free)
    assert _prior_freedom(own, free) == pytest.approx(degrees, rel=0.15)


def test_prior_degrees_of_freedom_are_those_by_which_logarithms_of_few_variances_spread():
    own, free = np.array([0.1, 1.0, 2.0, 9.0, 30.0, 0.4]), np.full(6, 4)
    beyond = np.log(own).var(ddof=1) - polygamma(1, 2.0)
    assert polygamma(1, _prior_freedom(own, free) / 2) == pytest.approx(beyond)
    assert _prior_freedom(own[:4], free[:4]) == MOST_ALIKE, "too few"


def test_equal_variances_have_as_many_prior_degrees_of_freedom_as_there_may_be():
    own = np.random.default_rng(3).chisquare(6, 4000)
    assert _prior_freedom(own, np.full(4000, 6)) > 60


def test_variances_are_in_the_unit_of_the_runs_squared():
    rng = np.random.default_rng(12)
    rest = rng.normal(size=(40, 4)) * rng.uniform(0.1, 3.0, (40, 1))
    rest -= rest.mean(axis=1)[:, None]
    seen, means = np.ones((40, 4), dtype=bool), np.zeros(40)
    beyond = beyond_effects(seen, np.eye(40))
    known = variances(rest, means, seen, beyond)
    assert known.max() > 10 * known.min(), "they differ too much to be taken for one"
    assert variances(1e-6 * rest, means, seen, beyond) == pytest.approx(1e-12 * known)


@pytest.mark.parametrize("size", [1.0, 1e4, 1e9, 1e13])  # of the effects, in those of the noise
def test_differences_are_as_well_known_however_large_the_effects_of_replications_are(size):
    rng = np.random.default_rng(5)
    true, seen = rng.normal(size=30), np.ones((30, 4), dtype=bool)
    runs = true[:, None] + size * rng.normal(size=4) + rng.normal(size=seen.shape)
    means, covariance = least_squares(runs, seen, np.eye(30))
    # All were run alike, so that means of what they differ by are all that is known.
    assert covariance == pytest.approx((np.eye(30) - 1 / 30) / 4, abs=1e-12)
    assert np.ptp(means - runs.mean(axis=1)) < 1e-9 + 1e-14 * size
    assert covariance == pytest.approx(covariance.T, abs=1e-14)


def test_a_model_of_runs_with_huge_effects_of_replications_and_hardly_any_noise():
    rng = np.random.default_rng(6)
    places = rng.random((25, 2))
    shape = np.stack([np.sin(3 * places[:, 0]), places.sum(axis=1)], axis=1)
    runs = shape[:, :, None] + 1e4 * rng.normal(size=(1, 2, 5)) + 1e-6 * rng.normal(size=(25, 2, 5))
    found = fit(runs, [{"a": float(a), "b": float(b)} for a, b in places], draws=20)
    assert found is not None
    off = found.means - shape
    assert off - off.mean(axis=0) == pytest.approx(0.0, abs=1e-5)
    assert np.isfinite(found.draws).all()
