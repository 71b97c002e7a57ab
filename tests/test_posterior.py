import numpy as np
import pytest

from gridtune.optimize.records.evaluations import Evaluation, Objective
from gridtune.optimize.replication.compare import estimate_of
from gridtune.optimize.replication.judgement import ENOUGH, judgement_of
from gridtune.optimize.replication.posterior import fit
from gridtune.optimize.replication.reliability import reliability
from gridtune.optimize.replication.response_surface import coordinates_of

OBJECTIVES = (Objective("cost", "minimize"), Objective("gain", "maximize"))


def points(count, rng):
    return [{"x": float(x), "kind": str(rng.choice(["a", "b"]))} for x in rng.uniform(0, 1, count)]


def worth(point):
    """A trade-off along x, on which kind b is worse in both."""
    lost = 0.2 if point["kind"] == "b" else 0.0
    return np.array([2 * point["x"] + lost, -np.sqrt(point["x"]) + lost])


def runs(known, counts, rng, luck=0.1, shared=1.0):
    streams = rng.normal(0, shared, (2, max(counts)))
    values = np.full((len(known), 2, max(counts)), np.nan)
    for at, (point, count) in enumerate(zip(known, counts, strict=True)):
        own = rng.normal(0, luck, (2, count))
        values[at, :, :count] = worth(point)[:, None] + streams[:, :count] + own
    return values


def evaluations(values, known):
    made = []
    for number, (row, point) in enumerate(zip(values, known, strict=True)):
        seen = [column[np.isfinite(column)] for column in row]
        objectives = {"cost": estimate_of(seen[0].tolist()), "gain": estimate_of((-seen[1]).tolist())}
        made.append(Evaluation(number, point, objectives, {}))
    return made


def test_what_streams_do_to_all_points_drops_out():
    rng = np.random.default_rng(1)
    known = points(40, rng)
    values = runs(known, [3] * 40, rng)
    moved = values + rng.normal(0, 50, (1, 2, 3))
    one, other = fit(values, known), fit(moved, known)
    assert one.non_dominated() == pytest.approx(other.non_dominated(), abs=0.05)
    gaps = one.means - one.means[0]
    assert gaps == pytest.approx(other.means - other.means[0], abs=1e-3)


def test_the_worth_of_points_is_known_better_than_from_their_own_runs():
    rng = np.random.default_rng(2)
    known = points(80, rng)
    counts = [1 + (at % 3 == 0) for at in range(80)]
    values = runs(known, counts, rng)
    truth = np.array([worth(point) for point in known])
    found = fit(values, known)

    def wrong(means):
        return np.sqrt((((means - means.mean(axis=0)) - (truth - truth.mean(axis=0))) ** 2).mean(axis=0))

    assert (wrong(found.means) < 0.6 * wrong(values[:, :, 0])).all()


def test_intervals_of_differences_cover_the_truth():
    covered = []
    for seed in range(4):
        rng = np.random.default_rng([3, seed])
        known = points(50, rng)
        found = fit(runs(known, [1] * 25 + [4] * 25, rng), known)
        for to, start in rng.integers(0, 50, (90, 2)):
            mean, low, high = found.difference(to, start)
            assert (low <= mean + 0.05).all()
            true = worth(known[to]) - worth(known[start])
            covered.append((low - 1e-9 <= true) & (true <= high + 1e-9))
    assert 0.88 <= np.mean(covered) <= 0.99


def test_points_that_are_beaten_for_sure_have_no_chance_and_chances_add_up_to_the_front():
    rng = np.random.default_rng(4)
    known = points(60, rng)
    truth = np.array([worth(point) for point in known])
    beaten = np.array([((truth <= row).all(1) & (truth < row).any(1)).any() for row in truth])
    chances = fit(runs(known, [8] * 60, rng, luck=0.02), known).non_dominated()
    assert chances[~beaten].mean() > 0.8
    assert chances[beaten].mean() < 0.1
    assert chances.sum() == pytest.approx((~beaten).sum(), rel=0.2)


def test_one_run_each_tells_nothing_of_luck():
    rng = np.random.default_rng(5)
    known = points(30, rng)
    assert fit(runs(known, [1] * 30, rng), known) is None


def test_directions_are_heeded_and_few_points_say_nothing():
    rng = np.random.default_rng(6)
    known = points(ENOUGH, rng)
    values = runs(known, [5] * ENOUGH, rng, luck=0.02)
    found = judgement_of(evaluations(values, known), OBJECTIVES).chances
    cheapest = min(range(ENOUGH), key=lambda at: worth(known[at])[0])
    assert found[cheapest] > 0.8
    assert max(found[at] for at in range(ENOUGH) if known[at]["kind"] == "b" and at != cheapest) < 0.7
    assert judgement_of(evaluations(values, known)[1:], OBJECTIVES) is None


def test_an_objective_without_luck_ties():
    rng = np.random.default_rng(7)
    known = points(30, rng)
    values = runs(known, [3] * 30, rng)
    values[:, 1] = 4.0  # the same in every run of every point
    chances = fit(values, known).non_dominated()
    assert chances.sum() == pytest.approx(1.0, abs=0.35)  # one objective is left: one point is the best


def test_settings_become_places():
    x, kind = coordinates_of([{"x": 1.0}, {"x": 1000.0, "k": "a"}, {"x": 10.0, "k": "b"}])[::-1]
    assert x[:, 0] == pytest.approx([0, 1, 1 / 3])
    assert np.linalg.norm(kind[1] - kind[2]) == pytest.approx(1.0)
    (flag,) = coordinates_of([{"on": True}, {"on": False}])
    assert flag.shape == (2, 2)


def test_equal_seeds_give_equal_chances():
    rng = np.random.default_rng(8)
    known = points(25, rng)
    values = runs(known, [2] * 25, rng)
    one, other = (judgement_of(evaluations(values, known), OBJECTIVES, seed=3).chances for _ in range(2))
    assert one == other


def judged(seed, luck=0.1, counts=4):
    rng = np.random.default_rng([11, seed])
    known = points(50, rng)
    values = runs(known, [counts] * 50, rng, luck=luck)
    return known, judgement_of(evaluations(values, known), OBJECTIVES)


def test_the_loss_of_a_point_is_by_how_much_it_is_beaten():
    losses = []
    for seed in range(6):
        known, found = judged(seed)
        truth = np.array([worth(point) for point in known])
        best = truth[[not ((truth <= row).all(1) & (truth < row).any(1)).any() for row in truth]]
        scaled = truth / np.ptp(best, axis=0)
        beaten = (scaled[:, None] - scaled[None]).min(axis=2).max(axis=1).clip(0)
        said = found.losses(range(50))
        losses += [(beaten[at], said[at].expected, said[at].probability) for at in range(50)]
    true, expected, probability = np.array(losses).T
    assert np.abs(true - expected).mean() < 0.02
    assert np.corrcoef(true, expected)[0, 1] > 0.95
    assert np.mean(true[probability <= 0.1] > 0.02) <= 0.05
    assert np.mean(true[probability >= 0.9] > 0.02) >= 0.9


def test_an_objective_that_is_all_luck_tells_nothing():
    rng = np.random.default_rng(12)
    streams = rng.normal(0, 5, 6)
    said = [reliability(streams + rng.normal(0, 1, (8, 6))).tells for _ in range(200)]
    assert 0.01 <= np.mean(said) <= 0.1
    clear = reliability(streams + np.arange(8)[:, None] + rng.normal(0, 1, (8, 6)))
    assert clear.tells
    assert clear.share == pytest.approx(1 - (1 / 6) / (6 + 1 / 6), abs=0.05)
    assert reliability([[1.0, 2.0]]) is None
    assert reliability([[1.0, 2.0], [3.0, 4.0]]) is None, "no chance at work"


def test_a_difference_is_better_known_from_all_runs_than_from_those_of_the_pair():
    covered, widths = [], []
    for seed in range(4):
        known, found = judged(seed, counts=3)
        for to, start in np.random.default_rng(seed).integers(0, 50, (60, 2)):
            if to == start:
                continue
            for column, (objective, sign) in enumerate(zip(OBJECTIVES, (1, -1), strict=True)):
                gap = found.difference(int(to), int(start), objective)
                true = sign * (worth(known[to]) - worth(known[start]))[column]
                covered.append(gap.low - 1e-9 <= true <= gap.high + 1e-9)
                widths.append(gap.high - gap.low)
    assert 0.9 <= np.mean(covered) <= 0.995
    paired = 2 * 4.303 * 0.1 * (2 / 3) ** 0.5  # Student's t with two degrees of freedom
    assert np.mean(widths) < 0.4 * paired
