import numpy as np
import pytest
from scipy.stats import t

from gridtune.optimize.inference import luck
from gridtune.optimize.inference.response_surface import Surface


def ragged(rng, points=7, streams=4):
    """Runs of which some are missing, and which there are; every point has one at least."""
    seen = rng.uniform(size=(points, streams)) < 0.7
    seen[:, 0] = True
    return np.where(seen[:, None, :], rng.normal(0, 1, (points, 2, streams)), 0.0), seen


def test_what_streams_and_points_add_is_that_of_weighted_least_squares():
    rng = np.random.default_rng(21)
    values, seen = ragged(rng)
    slopes, precision = rng.uniform(0.5, 2.0, (7, 2)), rng.uniform(0.5, 2.0, (7, 2))
    found = luck.stream_effects(values, seen, slopes, precision)
    assert found.sum(axis=0) == pytest.approx(0.0, abs=1e-9)
    means = luck.point_means(values, seen, found, slopes)
    at, stream = np.nonzero(seen)
    for column in range(2):
        design = np.hstack([np.eye(7)[at], slopes[at, column, None] * np.eye(4)[stream]])
        root = np.sqrt(precision[at, column])
        effects = np.linalg.lstsq(design * root[:, None], values[at, column, stream] * root, rcond=None)[0]
        assert np.diff(found[:, column]) == pytest.approx(np.diff(effects[7:]))
        level = effects[7:].mean()  # on which points and streams may agree anyhow
        assert means[:, column] == pytest.approx(effects[:7] + slopes[:, column] * level)
    left = luck.unexplained(values, seen, found, slopes, means)
    assert not left[np.broadcast_to(~seen[:, None, :], left.shape)].any(), "where there is no run"
    assert left.sum(axis=2) == pytest.approx(0.0, abs=1e-12)
    weighted = left * (slopes * precision)[:, :, None]
    assert weighted.sum(axis=0) == pytest.approx(0.0, abs=1e-12)


def test_the_size_of_luck_is_that_of_the_analysis_of_variance_in_each_objective():
    rng = np.random.default_rng(22)
    values = rng.normal(0, 1, (6, 2, 5)) * np.array([1.0, 3.0])[:, None]
    seen = np.ones((6, 5), dtype=bool)
    rest = (
        values
        - values.mean(axis=2, keepdims=True)
        - values.mean(axis=0, keepdims=True)
        + values.mean(axis=(0, 2), keepdims=True)
    )
    noise, factors, expected = luck.spread(rest, values.mean(axis=2), seen)
    pooled = np.cov(rest.transpose(1, 0, 2).reshape(2, -1), bias=True) * 30 / (5 * 4)
    assert noise == pytest.approx(pooled)
    # A point's own spread counts as its free runs, the one that is expected of it as points are alike.
    own = rest.var(axis=2, ddof=1) / np.diag(pooled)
    free = np.full(6, 4)
    alike = np.array([luck.likeness(*one, free) for one in zip(4 * own.T, expected.T, strict=True)])
    assert factors == pytest.approx((alike * expected + 4 * own) / (alike + 4))


def test_points_count_by_their_own_runs_as_far_as_their_luck_differs():
    rng = np.random.default_rng(43)
    free = rng.integers(0, 10, 80)
    sums = rng.chisquare(np.maximum(free, 1), (60, 80)) * (free > 0)
    even = np.ones(80)
    for degrees in (5.0, 12.0):
        sizes = degrees / rng.chisquare(degrees, (60, 80))
        found = [luck.likeness(some, even, free) for some in sums * sizes]
        assert np.median(found) == pytest.approx(degrees, rel=0.2)
    assert np.median([luck.likeness(some, even, free) for some in sums]) > 60, "all are alike"
    assert np.median([luck.likeness(some, even * 9, free) for some in sums]) > 60, "and more than expected"
    # Too few points tell nothing.
    assert luck.likeness(sums[0] * np.linspace(0.01, 100, 80), even, free * (np.arange(80) < 4)) == 100


def test_where_points_are_worth_more_luck_is_larger_as_far_as_runs_say_so():
    rng = np.random.default_rng(41)
    means, free = rng.uniform(0, 4, (60, 2)), np.full(60, 5)
    free[40:] = 0  # run once
    places = (means - means.mean(axis=0)) / means.std(axis=0)
    for slope in (0.8, 0.0):
        logs = np.column_stack([slope * places[:, 0], -slope * places[:, 1]])
        sums = np.exp(logs) * rng.chisquare(5, (40, 60, 2)) * (free > 0)[:, None]
        found = [luck.louder(one, free, means) for one in sums]
        # Slopes are drawn towards none a little.
        assert np.mean(np.log(found), axis=0) == pytest.approx(logs, abs=0.1 + 0.12 * np.abs(logs).max())
    # An objective that no run moves, or that varies nowhere, says nothing, and stays finite.
    still = luck.louder(np.zeros((60, 2)), free, np.column_stack([np.zeros(60), means[:, 0]]))
    assert np.isfinite(still).all()
    assert still.min() > 0


def steep_runs(rng, points=30, streams=8, steep=0.3, noise=0.05):
    """One objective, in which streams move points the more these are worth."""
    means = rng.uniform(2, 6, points)
    moved = rng.normal(0, 1, streams)
    slopes = 1 + steep * (means - means.mean())
    values = means[:, None] + slopes[:, None] * moved + rng.normal(0, noise, (points, streams))
    seen = rng.uniform(size=values.shape) < 0.8
    seen[:, 0] = True
    return np.where(seen, values, 0.0)[:, None, :], seen


def test_how_much_more_streams_move_what_is_worth_more_is_found_and_nothing_where_they_do_not():
    rng = np.random.default_rng(33)
    for steep in (0.3, -0.3):
        found = [luck.steepness(*steep_runs(rng, steep=steep))[0][0] for _ in range(20)]
        # In units of what streams do to the point in the middle, which depends on the points that were drawn.
        assert np.mean(found) == pytest.approx(steep, rel=0.05)
    even = [luck.steepness(*steep_runs(rng, steep=0.0))[0][0] for _ in range(40)]
    assert np.mean(np.array(even) == 0) > 0.4
    assert np.abs(even).max() < 0.05
    values, seen = steep_runs(rng, noise=0.0)
    steep, error, middle = luck.steepness(values, seen)
    means = luck.even_means(values, seen)
    assert luck.slopes_at(means, steep, middle).min() >= luck.LEAST_SLOPE
    assert error[0] < 0.01


def test_no_stream_moves_a_point_the_other_way():
    rng = np.random.default_rng(34)
    means = np.linspace(0, 10, 20)
    moved = rng.normal(0, 1, 10)
    values = (means[:, None] + np.where(means > 1.5, 1.0, -1.0)[:, None] * moved)[:, None, :]
    seen = np.ones((20, 10), dtype=bool)
    steep, _, middle = luck.steepness(values, seen)
    least = 1 + steep[0] * (means.min() - middle[0])
    assert least >= luck.LEAST_SLOPE - 1e-9
    assert luck.slopes_at(np.array([[-50.0]]), steep, middle) == luck.LEAST_SLOPE


def test_what_was_learned_of_few_streams_is_less_sure():
    assert luck.widening(2) == pytest.approx(t.ppf(0.975, 1) / 1.96, rel=1e-3)
    assert luck.widening(10_000) == pytest.approx(1.0, abs=1e-3)


def test_luck_that_is_more_than_expected_of_a_point_counts_as_its_runs():
    scaled = np.array([[1.0, -1.0, 0.0, 0.0], [2.0, 0.0, -2.0, 0.0], [0.5, 0.5, -0.5, -0.5], [3.0, 0, 0, 0]])
    seen = np.array([[True] * 4] * 3 + [[True] + [False] * 3])
    luck_of_each = np.diag([1.0, 1.0, 4.0, 1.0])
    found = luck.more_or_less(scaled, seen, luck_of_each)
    # Of what three points have apart, the mean of them is taken away as what the stream did.
    expected = np.array([1 - 2 / 3, 1 - 2 / 3, 4 - 8 / 3]) + 6 / 9
    own = (scaled[:3] ** 2).sum(axis=1) / expected * (1 - 1 / 4)
    assert found[:3] == pytest.approx((luck.MOST_ALIKE + own) / (luck.MOST_ALIKE + 3))
    assert found[3] == 1.0, "one run tells nothing of luck"


def test_luck_that_near_points_share_is_told_from_their_own():
    rng = np.random.default_rng(31)
    places = rng.uniform(0, 1, 40)
    near = np.exp(-0.5 * ((places[:, None] - places) / 0.3) ** 2)
    surface = Surface(np.zeros(1), 9.0 * near, np.eye(1))
    seen = np.ones((40, 12), dtype=bool)
    for power, common, own in ((1, 4.0, 0.25), (8, 4.0, 0.25), (1, 0.0, 1.0)):
        shape = near**power
        root = np.linalg.cholesky(shape + 1e-9 * np.eye(40))
        found = []
        for _ in range(30):
            drawn = common**0.5 * root @ rng.normal(size=(40, 12)) + own**0.5 * rng.normal(size=(40, 12))
            rest = drawn - drawn.mean(axis=0) - drawn.mean(axis=1)[:, None] + drawn.mean()
            found.append(luck.luck_in_a_stream(rest[:, None, :], seen, np.eye(1), surface, np.ones((40, 1))))
        # What all share is told apart from nothing: it is what the stream does. So differences are compared.
        middle = np.eye(40) - 1 / 40
        expected = middle @ (luck.widening(12) ** 2 * common * shape + own * np.eye(40)) @ middle
        assert middle @ np.mean(found, axis=0) @ middle == pytest.approx(expected, abs=0.7)


def test_what_two_groups_share_is_of_one_size_and_what_points_have_alone_of_their_own():
    # A surface that knows what points of a group differ by would else tell how large it was in a stream.
    rng = np.random.default_rng(51)
    group = np.repeat([0, 1], 10)
    same = group[:, None] == group
    surface = Surface(np.zeros(1), same.astype(float), np.eye(1))
    seen, expected = np.ones((20, 8), dtype=bool), np.geomspace(0.3, 3.0, 20)[:, None]
    drawn = rng.normal(size=(2, 8))[group] + 0.3 * np.sqrt(expected) * rng.normal(size=(20, 8))
    rest = drawn - drawn.mean(axis=0) - drawn.mean(axis=1)[:, None] + drawn.mean()
    found = luck.luck_in_a_stream(rest[:, None, :], seen, np.eye(1), surface, expected)
    shared = found[same & ~np.eye(20, dtype=bool)]
    assert shared.min() > 0
    assert shared == pytest.approx(shared.mean())
    assert found[~same] == pytest.approx(0.0)
    alone = np.diag(found) - shared.mean()
    assert alone[-5:].mean() > 3 * alone[:5].mean()


def test_none_of_luck_is_shared_that_is_a_points_own():
    rng = np.random.default_rng(37)
    places = rng.uniform(0, 1, 30)
    near = np.exp(-0.5 * ((places[:, None] - places) / 0.3) ** 2)
    shares = []
    for _ in range(40):
        seen = np.ones((30, 8), dtype=bool)
        seen[10:, rng.integers(1, 8, 3)] = False
        scaled = np.where(seen, rng.normal(size=(30, 8)), 0.0)
        shared, own = luck.shared_luck(scaled, seen, near)
        shares.append(shared.max() / (shared.max() + own))
    assert np.mean(np.array(shares) == 0) > 0.75
    assert luck.shared_luck(scaled, np.eye(30, 8, dtype=bool), near)[1] == 1.0, "nothing was run twice"


def test_luck_of_two_objectives_goes_together_as_far_as_it_does():
    rng = np.random.default_rng(36)
    seen = np.ones((12, 6), dtype=bool)
    surface = Surface(np.zeros(2), np.kron(np.eye(2), np.eye(12)), np.eye(2))
    alike = np.array([[1.0, 0.6], [0.6, 1.0]])
    rest, even = rng.normal(size=(12, 2, 6)), np.ones((12, 2))
    found = luck.luck_in_a_stream(rest, seen, alike, surface, even).reshape(2, 12, 2, 12)
    louder = luck.luck_in_a_stream(2 * rest, seen, alike, surface, 4 * even).reshape(2, 12, 2, 12)
    assert louder == pytest.approx(4 * found), "as much more as is expected"
    assert np.linalg.eigvalsh(found.reshape(24, 24)).min() > 0
    own = np.sqrt(np.diag(found[0, :, 0]) * np.diag(found[1, :, 1]))
    assert np.diag(found[0, :, 1]) == pytest.approx(0.6 * own, rel=0.05)


def test_means_are_those_of_least_squares_where_streams_and_luck_are_drawn():
    rng = np.random.default_rng(42)
    runs, seen = ragged(rng, points=5, streams=4)
    slopes, moved = rng.uniform(0.5, 2.0, (5, 2)), np.array([3.0, 0.5])
    root = rng.normal(0, 1, (10, 10))
    alone = root @ root.T + np.eye(10)  # objectives x points
    level = rng.normal(0, 1, (5, 2))
    found, covariance = luck.least_squares(runs, seen, slopes, moved, alone, level)
    at, stream, column = np.nonzero(np.repeat(seen[:, :, None], 2, axis=2))
    place = column * 5 + at
    noise = alone[np.ix_(place, place)] + (
        np.outer(slopes[at, column], slopes[at, column]) * moved[column] * (column == column[:, None])
    )
    noise *= stream == stream[:, None]
    design = np.eye(10)[place]
    weight = np.linalg.inv(noise)
    normal, pulled = design.T @ weight @ design, design.T @ weight @ runs[at, column, stream]
    # What is known besides: the level of all points, each along its slope, nearly for sure.
    for k in range(2):
        along = np.zeros(10)
        along[5 * k : 5 * k + 5] = slopes[:, k] / np.linalg.norm(slopes[:, k])
        sure = luck.SURE * np.trace(normal[5 * k : 5 * k + 5, 5 * k : 5 * k + 5])
        normal = normal + sure * np.outer(along, along)
        pulled = pulled + sure * along * (along[5 * k : 5 * k + 5] @ level[:, k])
    assert covariance == pytest.approx(np.linalg.inv(normal))
    assert found.T.ravel() == pytest.approx(np.linalg.solve(normal, pulled))
    for k in range(2):
        assert slopes[:, k] @ found[:, k] == pytest.approx(slopes[:, k] @ level[:, k], abs=0.02)


def test_a_point_that_was_run_in_one_stream_is_as_unsure_as_what_that_did_to_the_others():
    # The others share all of their luck: what the stream did cannot be told from it.
    seen = np.array([[True] * 4, [True] * 4, [True, False, False, False]])
    shared = np.array([[1.0, 0.99, 0.0], [0.99, 1.0, 0.0], [0.0, 0.0, 0.01]])
    _, covariance = luck.least_squares(
        np.zeros((3, 1, 4)), seen, np.ones((3, 1)), np.array([100.0]), shared, np.zeros((3, 1))
    )
    # So they differ from it by what they gave in that stream; three more runs of theirs say nothing of it.
    apart = np.array([1.0, 0.0, -1.0])
    assert apart @ covariance @ apart == pytest.approx(1.0 + 0.01, rel=0.02)


def test_points_are_grouped_by_the_streams_that_they_were_run_in():
    seen = np.array([[True, True, False, True], [True, True, False, False]])
    found = [(here.tolist(), some) for here, some in luck.patterns(seen)]
    assert found == [([0, 1], [0, 1]), ([0], [3])]
