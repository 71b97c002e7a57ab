"""Principal axes, and when surfaces are learned along them."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from gridtune.optimize.inference import response_surface
from gridtune.optimize.inference.axes import principal_axes
from gridtune.optimize.inference.noisy_surface import NoisySurface
from gridtune.optimize.inference.response_surface import distances, learn, surfaces


def test_along_the_axes_nothing_is_in_common_and_spreads_are_those_of_correlations():
    rng = np.random.default_rng(1)
    cost = rng.normal(0, 50, 200)
    values = np.column_stack([cost, -3e-4 * cost + rng.normal(0, 2e-3, 200), rng.normal(7, 1e6, 200)])
    axes = principal_axes(values)
    turned = values @ axes.T
    variances = np.linalg.eigvalsh(np.corrcoef(values.T))
    assert np.cov(turned.T, bias=True) == pytest.approx(np.diag(variances), abs=1e-9)
    # The scale of a quantity says nothing.
    again = (values * [1e-3, 1e6, -2.0]) @ principal_axes(values * [1e-3, 1e6, -2.0]).T
    assert np.abs(again).std(axis=0) == pytest.approx(np.abs(turned).std(axis=0), rel=1e-6)


def test_what_does_not_vary_is_an_axis_of_its_own():
    rng = np.random.default_rng(2)
    values = np.column_stack([rng.normal(size=30), np.full(30, 0.1), rng.normal(size=30)])
    axes = principal_axes(values)
    there = np.abs(axes) > 1e-9
    assert there[:, 1].sum() == 1
    assert there[there[:, 1]].tolist() == [[False, True, False]]
    assert abs(np.linalg.det(axes)) > 0.1
    assert principal_axes(values[:, 1:2]).shape == (1, 1)


def study(tied, seed=3, count=40):
    """Distances of points, what two quantities give there under noise, and the covariance of that."""
    rng = np.random.default_rng(seed)
    columns = [rng.uniform(0, 1, (count, 1)) for _ in range(4)]
    x, y, z, w = (column[:, 0] for column in columns)
    along, across = np.sin(5 * x) + y + np.cos(4 * z), 0.5 * np.sin(6 * w)
    first = along + 0.05 * across if tied else along
    second = 0.05 * across - along if tied else np.cos(5 * y) + across
    values = np.column_stack([first, 1000 * second]) + rng.normal(0, 0.1, (count, 2)) * [1, 1000]
    return distances(columns), values, np.diag(np.repeat([1e-2, 1e4], count))


def test_a_trade_off_that_holds_everywhere_is_learned_along_and_across():
    apart, values, noise = study(tied=True)
    found = learn(apart, values, noise)
    assert np.count_nonzero(found.axes) == 4
    (own, cross), (_, other) = found.covariance.reshape(2, 40, 2, 40).transpose(0, 2, 1, 3)
    alike = np.diag(cross) / np.sqrt(np.diag(own) * np.diag(other))
    assert (alike < -0.9).all()
    assert np.linalg.eigvalsh(found.covariance / np.outer(*[np.repeat([1.0, 1000.0], 40)] * 2)).min() > -1e-9


def test_quantities_with_little_in_common_keep_surfaces_of_their_own():
    apart, values, noise = study(tied=False)
    found = learn(apart, values, noise)
    assert np.array_equal(found.axes, np.eye(2))
    _, cross, _, _ = found.covariance.reshape(2, 40, 2, 40).transpose(0, 2, 1, 3).reshape(4, 40, 40)
    assert not cross.any()


def test_little_more_evidence_does_not_turn_the_axes(monkeypatch):
    apart, values, noise = study(tied=True)
    cost = 2 / 4 * np.log(40) + response_surface.VERY_STRONG
    for ahead, nonzero in ((cost - 0.1, 2), (cost + 0.1, 4)):
        monkeypatch.setattr(
            response_surface,
            "_evidence",
            lambda one, *_, ahead=ahead: ahead if np.count_nonzero(one.axes) == 4 else 0.0,
        )
        assert np.count_nonzero(learn(apart, values, noise).axes) == nonzero


def test_evidence_is_the_likelihood_of_what_was_seen():
    apart, values, noise = study(tied=False, count=12)
    plain, turned = (
        surfaces(apart, values, noise, axes, 1)[0] for axes in (np.eye(2), principal_axes(values))
    )

    def exact(surface):
        law = multivariate_normal(np.repeat(surface.means, 12), surface.covariance + noise)
        return law.logpdf(values.T.ravel())

    ahead = response_surface._evidence(turned, values, noise) - response_surface._evidence(
        plain, values, noise
    )
    assert abs(ahead) > 0.1
    assert ahead == pytest.approx(exact(turned) - exact(plain), abs=1e-3)


def test_draws_for_proposals_are_of_the_axes_turned_back():
    apart, values, _ = study(tied=True)
    found = NoisySurface.of(apart.among(np.arange(30)), values[:30], 1)
    given = range(30, 40), 4000, np.random.default_rng(1)
    drawn = found.draws(apart, values[:30], *given)
    assert drawn.shape == (4000, 10, 2)
    turned = drawn @ found.axes.T
    seen = (values[:30] @ found.axes.T).T
    for k, (one, column) in enumerate(zip(found.each, seen, strict=True)):
        alone = one.draws(apart, column, *given)
        assert turned[..., k].mean(axis=0) == pytest.approx(alone.mean(axis=0), abs=0.1 * column.std())
        assert turned[..., k].std(axis=0) == pytest.approx(alone.std(axis=0), rel=0.1)
    off = turned - turned.mean(axis=0)
    alike = (off[..., 0] * off[..., 1]).mean(axis=0) / off.std(axis=0).prod(axis=1)
    assert np.abs(alike).max() < 0.1
    assert (np.abs(drawn.mean(axis=0) - values[30:]).mean(axis=0) < 0.6 * values.std(axis=0)).all()
