"""Noise of runs: its size, and replication effects where runs are unbalanced."""

import numpy as np
import pytest

from gridtune.optimize.inference.gaussian_process import fit
from gridtune.optimize.inference.noise import _likelihood, beyond_effects, explained, least_squares, variance


def test_effects_of_replications_are_least_squares_where_runs_are_unbalanced():
    rng = np.random.default_rng(7)
    seen = rng.random((12, 5)) < 0.6
    seen[:, 0] = True
    runs = np.where(seen, rng.normal(size=seen.shape) + np.arange(5) * 3.0, 0.0)
    effects, means, rest = explained(runs, seen)
    # The same by a regression on a column for each configuration and each replication.
    rows, columns = np.nonzero(seen)
    design = np.zeros((len(rows), 17))
    design[np.arange(len(rows)), rows] = design[np.arange(len(rows)), 12 + columns] = 1.0
    found = np.linalg.lstsq(design, runs[seen], rcond=None)[0][12:]
    assert effects == pytest.approx(found - found.mean(), abs=1e-9)
    assert means == pytest.approx((runs - np.where(seen, effects, 0)).sum(axis=1) / seen.sum(axis=1))
    assert rest[~seen] == pytest.approx(0.0)
    assert rest.sum(axis=1) == pytest.approx(np.zeros(12), abs=1e-9)


@pytest.mark.parametrize("configurations", [21, 140, 245, 294, 385])
@pytest.mark.parametrize("repeated", [5, 9, 17])
@pytest.mark.parametrize("replications", [3, 6])
def test_runs_without_noise_are_explained_exactly(configurations, repeated, replications):
    rng = np.random.default_rng(configurations)
    seen = np.zeros((configurations, replications), dtype=bool)
    seen[:, 0] = seen[:repeated] = True
    true = rng.normal(size=replications)
    runs = np.where(seen, 90 * rng.normal(size=configurations)[:, None] + true, 0.0)
    effects, _, rest = explained(runs, seen)
    assert effects == pytest.approx(true - true.mean(), abs=1e-9)
    assert rest == pytest.approx(np.zeros(seen.shape), abs=1e-9)


def test_the_variance_is_in_the_unit_of_the_runs_squared():
    rng = np.random.default_rng(12)
    rest = 3 * rng.normal(size=(40, 4))
    rest -= rest.mean(axis=1)[:, None]
    seen, means = np.ones((40, 4), dtype=bool), np.zeros(40)
    beyond = beyond_effects(seen, np.eye(40))
    known = variance(rest, means, seen, beyond)
    assert known == pytest.approx(9, rel=0.25)
    assert variance(1e-6 * rest, means, seen, beyond) == pytest.approx(1e-12 * known)
    level = [variance(0 * rest, means + mean, seen, beyond) for mean in (5.0, 500.0)]
    assert level[1] == pytest.approx(1e4 * level[0], rel=1e-6, abs=0)


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


def test_how_likely_residuals_are_of_configurations_that_share_no_replication_is_a_product():
    rng = np.random.default_rng(8)
    seen = np.kron(np.eye(2), np.ones((3, 4))) > 0
    rest = np.where(seen, rng.normal(size=seen.shape), 0.0)
    parts = [
        _likelihood(rest[rows, columns], seen[rows, columns], np.eye(3))
        for rows, columns in ((slice(3), slice(4)), (slice(3, 6), slice(4, 8)))
    ]
    assert _likelihood(rest, seen, np.eye(6)) == pytest.approx(sum(parts))
