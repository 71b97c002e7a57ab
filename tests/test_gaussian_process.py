"""What all runs of a search teach: scales, replication effects, spreads, shortlists, worked out by hand."""

from math import inf

import numpy as np
import pytest
from scipy.stats import t as student

from gridtune.model.metrics.registry import Metric
from gridtune.optimize.inference.gaussian_process import best_layers, runs_of
from gridtune.optimize.inference.noise import (
    SHARES,
    beyond_effects,
    degrees_of_freedom,
    explained,
    least_squares,
    noise_of,
    variance,
)
from gridtune.optimize.inference.surrogate_model import _start, coordinates_of, sampled
from gridtune.optimize.records.difference import difference
from gridtune.optimize.replication.compare import (
    adjusted_means,
    costs,
    level,
    non_dominated,
    promising,
    ranges,
    signs,
)
from gridtune.optimize.replication.guards import OF_CLASS, TOLERANCE
from tests.fronts import COMPLETED, UNFAIR, estimate, evaluation, posterior, search
from tests.saboteurs import worst_loss

TWO = (UNFAIR, COMPLETED)


def places(*values, logarithmic=()):
    configurations = [{} if value is None else {"a": value} for value in values]
    (column,) = coordinates_of(configurations, logarithmic)
    return column[:, 0].tolist() if column.shape[1] == 1 else column.tolist()


def test_a_number_has_its_place_between_the_least_and_the_largest():
    assert places(2.0, 4.0, 3.0) == [0.0, 1.0, 0.5]
    assert places(-10.0, 10.0, 5.0) == [0.0, 1.0, 0.75]
    assert places(1.0, 101.0, 2.0) == [0.0, 1.0, 0.01]
    assert places(3.0, 3.0) == [0.0, 0.0]
    assert places(2.0, None, 4.0) == [0.0, 0.5, 1.0], "who has none is in the middle"
    assert places(2.0, inf, 4.0) == [0.0, 1.0, 1.0], "no limit is as the largest"
    assert places(inf, inf) == [0.0, 0.0]


def test_a_logarithmic_range_is_taken_by_its_logarithm():
    assert places(1.0, 4.0, 2.0, logarithmic={"a"}) == pytest.approx([0.0, 1.0, 0.5])
    assert places(1.0, 4.0, 2.0, logarithmic={"b"}) == pytest.approx([0.0, 1.0, 1 / 3])
    assert places(0.0, 4.0, 2.0, 1.0, logarithmic={"a"}) == [0.0, 1.0, 0.5, 0.0], "0 is as the least"
    assert places(0.0, 0.0, logarithmic={"a"}) == [0.0, 0.0]


def test_two_choices_are_as_far_from_each_other_as_the_ends_of_a_range():
    for some in (("a", "b", "c"), (True, False), ("a", None)):
        rows = np.array(places(*some))
        assert ((rows[0] - rows[1]) ** 2).sum() == pytest.approx(1.0)
        assert rows.shape[1] == len(some)
    assert [column.shape for column in coordinates_of([{"b": 1, "a": "x"}, {"b": 2}])] == [(2, 2), (2, 1)]
    assert coordinates_of([{}, {}])[0].tolist() == [[0.0], [0.0]]


def test_the_model_starts_from_half_of_what_differs_for_all_together_and_half_apart():
    sizes = np.exp(_start(4, 8.0))
    assert sizes == pytest.approx([4.0, 1.0, 1.0, 1.0, 1.0, *[1.0] * 4, 0.008])


def test_values_are_level_that_differ_by_less_than_rounding_or_their_resolution():
    values = np.array([[1000.0, 2.26], [1000.0 + 1e-11, 2.24], [1000.1, 0.0]])
    found = level(values, (0.0, 0.1))
    assert found[0, 0] == found[1, 0] == pytest.approx(1000.0)
    assert found[2, 0] == pytest.approx(1000.1)
    assert found[:, 1] == pytest.approx([2.3, 2.2, 0.0])
    assert level(np.array([[1e-15], [2e-15]]), (0.0,))[:, 0] == pytest.approx([1e-15, 2e-15], rel=1e-6, abs=0)
    assert level(np.zeros((2, 1)), (0.0,)).tolist() == [[0.0], [0.0]]
    assert level(np.empty((0, 2)), (0.0, 0.0)).shape == (0, 2)


def test_costs_are_turned_and_on_the_replications_that_all_have():
    rows = [{"unfairness": estimate(1.0, 3.0), "completed": estimate(5.0, 7.0)},
            {"unfairness": estimate(2.0), "completed": estimate(6.0)}]  # fmt: skip
    assert costs(rows, TWO).tolist() == [[2.0, -6.0], [3.0, -7.0]]
    assert costs([], TWO).shape == (0, 2)
    assert signs(TWO).tolist() == [1.0, -1.0]
    few = adjusted_means(np.array([[[1.0, 3.0, 8.0]], [[2.0, 4.0, np.nan]], [[5.0, np.nan, np.nan]]]))
    assert few[:, 0] == pytest.approx([4.0, 3.0 + 2.0, 5.0 + 1.0 + 2.0])


def test_ranges_are_1_where_there_are_no_rows_or_all_are_equal():
    assert ranges(np.empty((0, 2))).tolist() == [1.0, 1.0]
    assert ranges(np.array([[3.0, 5.0], [3.0, 9.0]])).tolist() == [1.0, 4.0]


def test_equal_rows_are_all_non_dominated():
    assert non_dominated(np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0], [0.0, 9.0]])) == [0, 1, 3]
    assert non_dominated(np.empty((0, 2))) == []


def test_layers_of_the_front_are_taken_until_there_are_enough(monkeypatch):
    runs = np.array([[[k], [k]] for k in (3.0, 1.0, 2.0, 0.0)])
    monkeypatch.setattr("gridtune.optimize.inference.gaussian_process.JOINT", 2)
    assert best_layers(runs) == [1, 3]
    assert best_layers(runs, always=[0]) == [0, 3]
    monkeypatch.setattr("gridtune.optimize.inference.gaussian_process.JOINT", 3)
    assert best_layers(runs) == [1, 2, 3]


def test_runs_are_listed_those_of_the_search_first():
    configurations = [
        evaluation(0, TWO, ((1.0, 2.0), (3.0, 4.0)), validation=((5.0,), (6.0,))),
        evaluation(1, TWO, ((7.0,), (8.0,))),
    ]
    found = runs_of(configurations, TWO)
    assert found[0].tolist() == [[1, 2, 5], [-3, -4, -6]]
    assert found[1, :, 0].tolist() == [7, -8]
    assert np.isnan(found[1, :, 1:]).all()


def test_what_is_expected_lies_between_the_configurations_own_mean_and_that_of_similar_ones():
    draw = np.random.default_rng(1)
    configurations = [
        evaluation(k, (UNFAIR,), (tuple(0.5 * k + draw.normal(0, 1, 3)),), values={"a": k}) for k in range(30)
    ]
    means = np.array([one.objectives["unfairness"].mean for one in configurations])
    made = posterior(configurations, (UNFAIR,))
    found = np.array([made.means[k][0] for k in range(30)])
    truth = 0.5 * np.arange(30)
    assert abs(found - truth).mean() < 0.8 * abs(means - truth).mean()
    once = [evaluation(k, (UNFAIR,), (float(k),), values={"a": k}) for k in range(3)]
    assert posterior(once, (UNFAIR,)) is None


def test_a_posterior_takes_three_configurations():
    configurations = list(search(20, objectives=2, validation=0).evaluations)
    goals = search(1, objectives=2, validation=0).objectives
    assert posterior(configurations[:2], goals) is None
    assert set(posterior(configurations[:3], goals).chances) == {0, 1, 2}
    found = posterior(configurations, goals, rivals=range(5))
    assert set(found.chances) == set(range(20))
    assert all(found.chances[k] == 0 for k in range(5, 20))
    assert all(0 <= found.chances[k] <= 1 for k in range(5))
    gap = found.difference(1, 0, goals[0], 4)
    back = found.difference(0, 1, goals[0], 4)
    assert (gap.mean, gap.low, gap.high) == pytest.approx((-back.mean, -back.high, -back.low))
    free = 20 * 3 - 3  # four runs of each, and effects of four replications
    wide = (gap.high - gap.low) / gap.standard_error / 2
    assert student.ppf(0.975, free) < wide < student.ppf(0.975, free / 2), "what is alike says less"
    assert gap.pairs == 4
    same = found.difference(0, 0, goals[0])
    assert (same.equal, same.low, same.high) == (True, 0.0, 0.0)
    assert 3 in found
    assert 99 not in found


def test_the_most_promising_adds_most_to_the_volume_of_what_is_there():
    draws = np.array([[[0.0, 10.0], [10.0, 0.0], [1.0, 1.0], [1.1, 1.1], [0.5, 9.0]]])
    assert promising(draws, [0, 1, 2, 3, 4], 1) == [2]
    assert promising(draws, [3, 4], 1, base=[0, 1]) == [3]
    assert promising(draws, [3, 4], 5, base=[0, 1, 2]) == [4, 3], "what is near the base adds nothing"
    assert promising(draws, [], 3, base=[0, 1]) == []


def measured(**values):
    return {name.replace("__", "."): Metric(value, "") for name, value in values.items()}


def test_work_that_the_end_cuts_off_is_no_loss_up_to_half_a_percent():
    baseline = measured(lost_fraction=0.1, cut_off_fraction=0.0)
    assert worst_loss(measured(lost_fraction=0.104, cut_off_fraction=0.004), baseline) == 0.0
    assert worst_loss(measured(lost_fraction=0.11, cut_off_fraction=0.01), baseline) == pytest.approx(
        0.01 - TOLERANCE
    )
    assert worst_loss(measured(lost_fraction=0.104, cut_off_fraction=0.0), baseline) == pytest.approx(0.004)
    assert worst_loss(measured(lost_fraction=0.05), baseline) == pytest.approx(-0.05)
    assert worst_loss(measured(lost_fraction=0.1, dropped=2.0), baseline) == pytest.approx(2 * TOLERANCE)
    assert worst_loss(measured(lost_fraction=0.1, dropped=2.0), baseline | measured(dropped=2.0)) == 0.0


def test_a_class_may_lose_a_job_or_a_twentieth_of_its_work_more():
    baseline = measured(lost_fraction=0.0, owed_lost_fraction__a=0.1, lost_jobs__a=1.0)

    def lost(share, jobs):
        return worst_loss(
            measured(lost_fraction=0.0, owed_lost_fraction__a=share, lost_jobs__a=jobs), baseline
        )

    assert lost(0.1 + OF_CLASS + 0.02, 3.0) == pytest.approx(0.02)
    assert lost(0.9, 2.0) == 0.0, "a single job"
    assert lost(0.1 + OF_CLASS - 0.01, 9.0) == 0.0


def test_how_sure_a_difference_is():
    assert difference((2.0, 3.0), (1.0, 2.0)).p_value == 0.0
    assert difference((1.0, 2.0), (1.0, 2.0)).p_value == 1.0
    assert difference((1.0, 1.004), (1.0, 1.0), 0.01).equal
    assert difference((1.0, 1.02), (1.0, 1.0), 0.01).mean == pytest.approx(0.01)
    for some in ((), (1.0,)), ((1.0,), ()):
        with pytest.raises(ValueError, match="compared"):
            difference(*some)


def test_means_are_those_of_the_mixed_model_with_common_replication_effects():
    rng = np.random.default_rng(23)
    seen = np.array([[1, 1, 1, 1], [1, 1, 0, 1], [1, 0, 1, 0], [1, 1, 1, 1], [0, 1, 1, 1]], dtype=bool)
    runs = np.where(seen, rng.normal(0, 1, seen.shape) + np.arange(5)[:, None], 0.0)
    root = rng.normal(0, 1, (5, 5))
    noise = np.corrcoef(root + np.eye(5)) * 0.7
    effects, _, rest = explained(runs, seen)
    assert effects.mean() == pytest.approx(0)
    assert not rest[~seen].any()
    means, covariance = least_squares(runs, seen, noise)
    # The law of all runs: each configuration's mean, a random effect of the replication, and noise.
    who, when = np.nonzero(seen)
    law = (effects.var() + noise[np.ix_(who, who)]) * (when[:, None] == when)
    design = (who[:, None] == np.arange(5)).astype(float)
    precision = design.T @ np.linalg.solve(law, design)
    precise = np.linalg.inv(precision) @ design.T @ np.linalg.solve(law, runs[who, when])
    assert means - means[0] == pytest.approx(precise - precise[0])
    contrast = np.eye(5) - 1 / 5
    assert covariance == pytest.approx(contrast @ np.linalg.inv(precision) @ contrast)


def test_the_size_of_the_noise_is_what_residuals_show_of_it():
    seen = np.ones((4, 3), dtype=bool)
    rest = np.array([[1.0, -1, 0], [2, -2, 0], [0, 0, 0], [0, 1, -1]])
    beyond = beyond_effects(seen, np.eye(4))
    assert degrees_of_freedom(beyond) == pytest.approx(4 * 2 - 2)
    assert variance(rest, np.zeros(4), seen, beyond) == pytest.approx((2 + 8 + 0 + 2) / 6)
    seen[3, 1:] = False
    beyond = beyond_effects(seen, np.eye(4))
    assert degrees_of_freedom(beyond) == pytest.approx(3 * 2 - 2)
    once = variance(rest * seen, np.zeros(4), seen, beyond)
    assert once == pytest.approx((2 + 8) / 4), "what was run once says nothing"


def test_degrees_of_freedom_are_runs_less_configurations_and_replications_where_runs_are_unbalanced():
    seen = np.zeros((20, 9), dtype=bool)
    seen[:, 0] = seen[:17, 1] = seen[:5, :4] = seen[0] = True  # some once, most twice, a few often
    left = (17 + 17 + 5 + 5) - 17 - 4 + 1  # no other tells of the five replications of the first alone
    assert degrees_of_freedom(beyond_effects(seen, np.eye(20))) == pytest.approx(left)


def test_configurations_with_much_noise_in_common_show_little_of_it():
    seen = np.ones((3, 5), dtype=bool)
    alike = np.array([[1.0, 0.99, 0.0], [0.99, 1.0, 0.0], [0.0, 0.0, 1.0]])
    beyond = beyond_effects(seen, alike)
    assert 4 < degrees_of_freedom(beyond) < 4.1, (
        "two of the three say the same: as of one pair in five replications"
    )
    rng, found = np.random.default_rng(26), []
    for _ in range(200):
        runs = np.linalg.cholesky(alike) @ rng.normal(0, 1, (3, 5)) + rng.normal(0, 9, 5)
        _, means, rest = explained(runs, seen)
        found.append(variance(rest, means, seen, beyond))
    assert np.mean(found) == pytest.approx(1, rel=0.15)


@pytest.mark.parametrize(("share", "low", "high"), [(0.0, 0.1, 0.3), (0.9, 0.7, 0.98)])
def test_how_much_noise_similar_configurations_have_in_common_is_learned(share, low, high):
    rng = np.random.default_rng(27)
    places, seen = rng.random(25), np.ones((25, 6), dtype=bool)
    similar = np.exp(-(((places[:, None] - places) / 0.3) ** 2))
    true = share * similar + (1 - share) * np.eye(25)
    runs = np.linalg.cholesky(true + 1e-9 * np.eye(25)) @ rng.normal(0, 1, (25, 6)) + rng.normal(0, 3, 6)
    _, means, rest = explained(runs, seen)
    found, _ = noise_of(rest, means, seen, similar)
    near = similar[0] > 0.5
    near[0] = False
    shares = found[0, near] / np.sqrt(found[0, 0] * np.diag(found)[near]) / similar[0, near]
    assert low - 1e-9 <= shares.min() <= shares.max() <= high + 1e-9
    assert (np.diff([0.0, *SHARES, 1.0]) > 0).all(), "those that are tried"


def test_samples_have_their_covariance():
    rng = np.random.default_rng(24)
    root = rng.normal(0, 1, (3, 3))
    draws = sampled(root @ root.T, 0.0, 40_000, rng)
    assert np.cov(draws.T) == pytest.approx(root @ root.T, abs=0.06)
