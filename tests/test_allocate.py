"""A race gives replications to points whose membership of the front is uncertain, and to nobody else."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import t

from gridtune.optimize.replication import allocate
from gridtune.optimize.replication.allocate import contested
from gridtune.optimize.replication.compare import common_scale

LINE = [(float(k), 10.0 - k) for k in range(11)]  # a front without noise: far apart, none beats another


def observed(*points):
    """Points x objectives x replications, padded with values that must not count, and their numbers."""
    most = max(len(point[0]) for point in points)
    padded = [[(*column, *[-1e9] * (most - len(column))) for column in point] for point in points]
    return np.array(padded, dtype=float), np.array([len(point[0]) for point in points])


def noisy(means, count, *, spread=0.1, common=0.0, seed=1):
    draw = np.random.default_rng(seed)
    streams = draw.normal(0, common, (1, 1, count)) if common else 0.0
    means = np.array(means)[:, :, None]
    return means + streams + draw.normal(0, spread, (len(means), 2, count)), np.full(len(means), count)


def test_clearly_dominated_points_and_clear_members_get_nothing_more():
    values, counts = noisy([*LINE, (8.0, 9.0), (9.0, 8.0)], 3)
    assert contested(values, counts, 10) == []


def test_two_close_points_get_more_and_those_far_from_both_do_not():
    values, counts = noisy([*LINE, (5.02, 5.02)], 3)
    assert contested(values, counts, 10, zone=0.0) == [5, 11]


def test_without_noise_nobody_gets_more():
    values, counts = noisy([*LINE, (5.02, 5.02), (4.99, 5.0)], 2, spread=0.0)
    assert contested(values, counts, 10) == []


def test_equal_points_are_not_told_apart():
    values, counts = noisy([*LINE, *LINE], 3)
    values[11:] = values[:11]
    assert contested(values, counts, 10) == []


def test_nobody_gets_more_than_the_most():
    values, counts = noisy([(0.0, 0.0)] * 6, 4)
    assert contested(values, counts, 4) == []
    more = contested(values, counts, 5, confidence=0.99)
    assert more == list(range(6))


def test_of_two_close_points_the_one_with_fewer_replications_catches_up():
    values, counts = noisy([*LINE, (5.02, 5.02)], 6)
    counts[5] = 3
    assert contested(values, counts, 6, zone=0.0) == [5]


def test_noise_that_all_points_share_makes_nobody_uncertain():
    means = [*LINE, (6.0, 6.0)]
    assert contested(*noisy(means, 3, spread=0.01, common=50.0), 10) == []
    draw = np.random.default_rng(2)
    own = np.array(means)[:, :, None] + draw.normal(0, 50.0, (len(means), 2, 3))
    assert len(contested(own, np.full(len(means), 3), 10)) > 5


def test_differences_within_the_zone_are_not_raced_for():
    values, counts = noisy([*LINE, (5.02, 5.02)], 8, spread=0.05)
    assert contested(values, counts, 20, zone=0.0) == [5, 11]
    assert contested(values, counts, 20, zone=0.02) == []


def test_more_confidence_takes_more_replications():
    values, counts = noisy([*LINE, (5.1, 5.1)], 4, spread=0.1)
    assert contested(values, counts, 20, zone=0.0, confidence=0.6) == []
    assert contested(values, counts, 20, zone=0.0, confidence=0.99) == [5, 11]


def test_a_tie_in_one_objective_does_not_keep_a_worse_point_in_the_race():
    values, counts = noisy([(0.0, float(k)) for k in range(8)], 3)
    values[:, 0] = 0.0
    assert contested(values, counts, 10) == []


def test_a_single_replication_is_followed_by_a_few_probes_among_the_best():
    values, counts = noisy([*LINE, (8.0, 9.0), (9.0, 8.0)], 1)
    probes = contested(values, counts, 10)
    assert probes == [0, 1, 2, 3, 4]
    counts[probes] = 2
    values = np.repeat(values, 2, axis=2)
    assert contested(values, counts, 10) == []


def test_values_beyond_the_number_of_a_point_do_not_count():
    values, counts = observed(
        *[((k, k, k), (9 - k, 9 - k, 9 - k)) for k in range(6)],
        ((8, 8), (8, 8)),
    )
    assert contested(values, counts, 3) == []


@pytest.mark.parametrize("points", [0, 1])
def test_without_a_rival_there_is_no_race(points):
    assert contested(np.zeros((points, 2, 1)), np.ones(points, dtype=int), 5) == []


def breaking(means, count):
    """What each replication breaks one constraint by, up to 0.1 more or less: points x 1 x replications."""
    return np.array(means)[:, None, None] + np.linspace(-0.1, 0.1, count)


def test_points_that_surely_keep_or_break_constraints_are_not_run_again_for_them():
    values, counts = noisy([*LINE, (1.0, 1.0)], 3)
    assert contested(values, counts, 10, breaking([-2.0] * 11 + [2.0], 3)) == []


def test_who_breaks_a_constraint_is_no_rival():
    means = [*LINE, (5.02, 5.02), (-1.0, -1.0)]
    values, counts = noisy(means, 3)
    assert contested(values, counts, 10, zone=0.0) == []
    assert contested(values, counts, 10, breaking([-2.0] * 12 + [2.0], 3), zone=0.0) == [5, 11]


@pytest.mark.parametrize("near", [-0.02, 0.02])
def test_who_may_keep_a_constraint_and_be_on_the_front_gets_more(near):
    values, counts = noisy([*LINE, (4.0, 4.0), (9.0, 9.0)], 3)
    broken = breaking([-2.0] * 13, 3)
    broken[11:] += 2.0 + near  # one would be on the front, the other is beaten either way
    assert contested(values, counts, 10, broken) == [11]


def test_where_nothing_keeps_the_constraints_who_may_do_so_gets_more():
    values, counts = noisy(LINE, 3)
    assert contested(values, counts, 10, breaking([1.0] * 10 + [0.02], 3)) == [10]
    assert contested(values, counts, 10, breaking([1.0] * 11, 3)) == []


def test_probes_are_taken_among_those_that_keep_the_constraints_or_nearly():
    values, counts = noisy(LINE, 1)
    broken = np.array([*[1.0] * 5, 0.2, 0.1, *[-1.0] * 4])[:, None, None]
    assert contested(values, counts, 10, broken) == [6, 7, 8, 9, 10]


def test_who_meets_a_bound_exactly_and_always_keeps_it():
    values, counts = noisy(LINE, 3)
    broken = breaking([-1.0] * 11, 3)
    broken[4] = 0.0
    assert contested(values, counts, 10, broken) == []


def test_the_spread_is_pooled_over_all_pairs_and_points():
    values, counts = noisy(LINE[:4], 5, seed=3)
    race, limits = allocate._Race(values, counts, np.zeros(2), 0.9), allocate._Limits(values, counts, 0.9)
    race.pool(np.arange(4))
    pairs = [values[one] - values[other] for one in range(4) for other in range(one)]
    assert race.pooled == pytest.approx(np.mean([pair.var(axis=1, ddof=1) for pair in pairs], axis=0))
    limits.pool(np.arange(4))
    own, pooled = values.var(axis=2, ddof=1), values.var(axis=2, ddof=1).mean(axis=0)
    free = allocate.PRIOR + 4
    spread = (allocate.PRIOR * pooled + 4 * own) / free
    assert limits.margin == pytest.approx(t.ppf(0.9, free) * np.sqrt(spread / 5))


@cache
def quantile(share, freedom):
    return float(t.ppf(share, freedom))


def plainly(values, counts, most, broken, confidence, zone):
    """Who should get more replications, test by test in plain Python."""
    count = range(len(counts))
    if len(counts) < 2 or min(counts) >= most:
        return []

    def margin(mean, squares, runs, pooled):
        spread = (allocate.PRIOR * pooled + squares) / (allocate.PRIOR + runs - 1)
        spread = 0.0 if mean == squares == 0 else spread
        return quantile(confidence, allocate.PRIOR + runs - 1) * (spread / runs) ** 0.5

    def moments(row):
        return sum(row) / len(row), sum((x - sum(row) / len(row)) ** 2 for x in row)

    kept_by = [[moments(row[: counts[i]]) for row in broken[i]] for i in count]
    violation = [sum(max(mean, 0.0) for mean, _ in row) for row in kept_by]
    means, rank, left, layer = (
        common_scale(values, counts).tolist(),
        {},
        {i for i in count if not violation[i]},
        0,
    )

    def beats(i, j):
        return all(a <= b for a, b in zip(means[i], means[j], strict=True)) and means[i] != means[j]

    while left:
        best = {j for j in left if not any(beats(i, j) for i in left)}
        rank |= dict.fromkeys(best, layer)
        left, layer = left - best, layer + 1
    ranked = sorted(count, key=lambda i: (violation[i], rank.get(i, len(counts)), i))
    repeated, enough = [i for i in ranked if counts[i] >= 2], min(5, len(counts))
    if len(repeated) < enough:
        return sorted([i for i in ranked if counts[i] < 2][: enough - len(repeated)])
    worst = rank.get(repeated[enough - 1], len(counts))
    samples = [i for i in repeated if rank.get(i, len(counts)) <= worst]

    def gaps(i, j):
        """Moments of the differences of one to another, per objective, and their number."""
        runs = min(counts[i], counts[j])
        return [moments([a - b for a, b in zip(x[:runs], y[:runs], strict=True)])
                for x, y in zip(values[i], values[j], strict=True)], runs  # fmt: skip

    pairs = [gaps(i, j) for at, i in enumerate(samples) for j in samples[:at]]
    pooled = [
        sum(found[k][1] / (runs - 1) for found, runs in pairs) / len(pairs) for k in range(values.shape[1])
    ]
    luck = [
        sum(kept_by[i][k][1] / (counts[i] - 1) for i in samples) / len(samples)
        for k in range(broken.shape[1])
    ]
    front = [i for i in rank if rank[i] == 0]
    zones = [zone * (max(means[i][k] for i in front) - min(means[i][k] for i in front)) if front else 0.0
             for k in range(values.shape[1])]  # fmt: skip

    def tested(i, j):
        found, runs = gaps(i, j)
        return [
            (mean, margin(mean, squares, runs, pooled[k]), zones[k])
            for k, (mean, squares) in enumerate(found)
        ]

    limits = [
        [(mean, margin(mean, squares, counts[i], luck[k])) for k, (mean, squares) in enumerate(kept_by[i])]
        for i in count
    ]
    racing = [i for i in count if not any(mean > most_by for mean, most_by in limits[i])]
    for j in front:
        beaten = {
            i for i in racing
            if all(far - mean <= near for mean, far, near in tested(i, j))
            and any(mean > far for mean, far, _ in tested(i, j))
        }  # fmt: skip
        racing = [i for i in racing if i not in beaten]
    wanted = {i for i in racing if not all(mean <= -far for mean, far in limits[i])}
    rivals = [i for i in racing if not violation[i]]
    for j in rivals:
        for i in rivals:
            better = any(mean < -far for mean, far, _ in tested(i, j))
            alike = all(abs(mean) + far <= near for mean, far, near in tested(i, j))
            if i != j and not better and not alike:
                wanted |= {i} if counts[i] <= counts[j] else set()
                wanted |= {j} if counts[i] >= counts[j] else set()
    return sorted(i for i in wanted if counts[i] < most)


def test_who_gets_more_is_who_does_by_plain_tests():
    draw = np.random.default_rng(7)
    found = []
    for _ in range(200):
        points, objectives, limits = draw.integers(1, 10), draw.integers(1, 4), draw.integers(0, 3)
        most = int(draw.integers(1, 7))
        counts = draw.integers(min(2, most), most + 1, points)
        if draw.random() < 0.4:
            counts[:] = draw.integers(1, most + 1)
        size = draw.choice([0.0, 0.3, 1.0], (1, objectives, 1))
        values = draw.integers(0, 5, (points, objectives, 1)) + size * draw.integers(
            -2, 3, (points, objectives, most)
        )
        broken = draw.choice([-1.0, -0.2, 0.0, 0.1], (points, limits, 1)) + draw.choice(
            [0.0, 0.1]
        ) * draw.integers(-1, 2, (points, limits, most))
        chosen = float(draw.choice([0.6, 0.75, 0.95])), float(draw.choice([0.0, 0.02, 0.5]))
        given = (values, counts, most, broken)
        assert contested(*given, confidence=chosen[0], zone=chosen[1]) == plainly(*given, *chosen)
        found.append(len(plainly(*given, *chosen)))
    assert min(found) == 0
    assert np.mean(np.array(found) > 0) > 0.2
