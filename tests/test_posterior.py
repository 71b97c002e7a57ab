from dataclasses import replace

import numpy as np
import pytest

from gridtune.optimize.inference import gaussian_process
from gridtune.optimize.inference.gaussian_process import (
    _in_proportion,
    _missing_odds,
    _raised,
    fit,
)
from gridtune.optimize.inference.surrogate_model import coordinates_of
from gridtune.optimize.records.evaluations import Estimate, Evaluation, Objective
from tests.fronts import posterior

OBJECTIVES = (Objective("cost", "minimize"), Objective("gain", "maximize"))


def configurations(count, rng):
    return [{"x": float(x), "kind": str(rng.choice(["a", "b"]))} for x in rng.uniform(0, 1, count)]


def truth_of(configuration):
    """A trade-off along x, on which kind b is worse in both."""
    lost = 0.2 if configuration["kind"] == "b" else 0.0
    return np.array([2 * configuration["x"] + lost, -np.sqrt(configuration["x"]) + lost])


def runs(known, counts, rng, noise=0.1, shared=1.0):
    effects = rng.normal(0, shared, (2, max(counts)))
    values = np.full((len(known), 2, max(counts)), np.nan)
    for at, (configuration, count) in enumerate(zip(known, counts, strict=True)):
        own = rng.normal(0, noise, (2, count))
        values[at, :, :count] = truth_of(configuration)[:, None] + effects[:, :count] + own
    return values


def evaluations(values, known):
    made = []
    for number, (row, configuration) in enumerate(zip(values, known, strict=True)):
        seen = [column[np.isfinite(column)] for column in row]
        objectives = {"cost": Estimate.of(seen[0].tolist()), "gain": Estimate.of((-seen[1]).tolist())}
        made.append(Evaluation(number, configuration, objectives, {}))
    return made


def test_what_replications_do_to_all_configurations_drops_out():
    rng = np.random.default_rng(1)
    known = configurations(40, rng)
    values = runs(known, [3] * 40, rng)
    moved = values + rng.normal(0, 50, (1, 2, 3))
    one, other = fit(values, known), fit(moved, known)
    assert one.non_dominated() == pytest.approx(other.non_dominated(), abs=0.05)
    gaps = one.means - one.means[0]
    assert gaps == pytest.approx(other.means - other.means[0], abs=0.02)


def test_means_of_configurations_are_estimated_better_than_from_their_own_runs():
    rng = np.random.default_rng(2)
    known = configurations(80, rng)
    counts = [1 + (at % 3 == 0) for at in range(80)]
    values = runs(known, counts, rng)
    truth = np.array([truth_of(one) for one in known])
    found = fit(values, known)

    def wrong(means):
        return np.sqrt((((means - means.mean(axis=0)) - (truth - truth.mean(axis=0))) ** 2).mean(axis=0))

    assert (wrong(found.means) < 0.6 * wrong(values[:, :, 0])).all()


def test_intervals_of_differences_cover_the_truth():
    covered = []
    for seed in range(4):
        rng = np.random.default_rng([3, seed])
        known = configurations(50, rng)
        found = fit(runs(known, [1] * 25 + [4] * 25, rng), known)
        for to, start in rng.integers(0, 50, (90, 2)):
            gaps = found.draws[:, to] - found.draws[:, start]
            low, high = np.quantile(gaps, (0.025, 0.975), axis=0)
            true = truth_of(known[to]) - truth_of(known[start])
            covered.append((low - 1e-9 <= true) & (true <= high + 1e-9))
    assert 0.88 <= np.mean(covered) <= 0.995


def test_configurations_that_are_dominated_for_sure_have_no_chance_and_chances_add_up_to_the_front():
    rng = np.random.default_rng(4)
    known = configurations(60, rng)
    truth = np.array([truth_of(one) for one in known])
    dominated = np.array([((truth <= row).all(1) & (truth < row).any(1)).any() for row in truth])
    chances = fit(runs(known, [8] * 60, rng, noise=0.02), known).non_dominated()
    assert chances[~dominated].mean() > 0.8
    assert chances[dominated].mean() < 0.1
    assert chances.sum() == pytest.approx((~dominated).sum(), rel=0.2)


def test_one_run_each_tells_nothing_of_noise():
    rng = np.random.default_rng(5)
    known = configurations(30, rng)
    assert fit(runs(known, [1] * 30, rng), known) is None


def test_directions_are_heeded():
    rng = np.random.default_rng(6)
    known = configurations(20, rng)
    values = runs(known, [5] * 20, rng, noise=0.02)
    found = posterior(evaluations(values, known), OBJECTIVES).chances
    cheapest = min(range(20), key=lambda at: truth_of(known[at])[0])
    assert found[cheapest] > 0.8
    assert max(found[at] for at in range(20) if known[at]["kind"] == "b" and at != cheapest) < 0.7


def test_an_objective_without_noise_ties():
    rng = np.random.default_rng(7)
    known = configurations(30, rng)
    values = runs(known, [3] * 30, rng)
    values[:, 1] = 4.0  # the same in every run of every configuration
    chances = fit(values, known).non_dominated()
    assert chances.sum() == pytest.approx(
        1.0, abs=0.35
    )  # one objective is left: one configuration is the best


def test_an_objective_without_noise_says_nothing_of_how_unsure_the_others_are():
    # Its means are a million times its noise: the least variance there would drown the others.
    rng = np.random.default_rng(43)
    known = configurations(60, rng)
    values = runs(known, [3] * 60, rng, noise=0.05)
    exact = np.array([[1e5 * one["x"] ** 2] * 3 for one in known])
    alone, beside = fit(values, known), fit(np.concatenate([values, exact[:, None]], axis=1), known)
    gaps = [(found.draws - found.draws[:, :1])[:, 1:] for found in (alone, beside)]
    wider = gaps[1][..., :2].std(axis=0) / gaps[0].std(axis=0)
    assert np.median(wider, axis=0) == pytest.approx(1.0, abs=0.1)
    assert not np.ptp(gaps[1][..., 2], axis=0).any(), "what does not vary is known"
    assert beside.means[:, 2] - beside.means[0, 2] == pytest.approx(exact[:, 0] - exact[0, 0])


def test_settings_become_places():
    made = [{"x": 1.0}, {"x": 1000.0, "k": "a"}, {"x": 10.0, "k": "b"}]
    x, kind = coordinates_of(made, {"x"})[::-1]
    assert x[:, 0] == pytest.approx([0, 1, 1 / 3])
    assert np.linalg.norm(kind[1] - kind[2]) == pytest.approx(1.0)
    (flag,) = coordinates_of([{"on": True}, {"on": False}])
    assert flag.shape == (2, 2)


def test_equal_seeds_give_equal_chances():
    rng = np.random.default_rng(8)
    known = configurations(25, rng)
    values = runs(known, [2] * 25, rng)
    one, other = (posterior(evaluations(values, known), OBJECTIVES, seed=3).chances for _ in range(2))
    assert one == other


def judged(seed, noise=0.1, counts=4):
    rng = np.random.default_rng([11, seed])
    known = configurations(50, rng)
    values = runs(known, [counts] * 50, rng, noise=noise)
    return known, posterior(evaluations(values, known), OBJECTIVES)


@pytest.mark.long
def test_a_difference_is_better_known_from_all_runs_than_from_those_of_the_pair():
    covered, widths = [], []
    for seed in range(4):
        known, found = judged(seed, counts=3)
        for to, start in np.random.default_rng(seed).integers(0, 50, (60, 2)):
            if to == start:
                continue
            for column, (objective, sign) in enumerate(zip(OBJECTIVES, (1, -1), strict=True)):
                gap = found.difference(int(to), int(start), objective)
                true = sign * (truth_of(known[to]) - truth_of(known[start]))[column]
                covered.append(gap.low - 1e-9 <= true <= gap.high + 1e-9)
                widths.append(gap.high - gap.low)
    assert 0.9 <= np.mean(covered) <= 0.995
    paired = 2 * 4.303 * 0.1 * (2 / 3) ** 0.5  # Student's t with two degrees of freedom
    assert np.mean(widths) < 0.4 * paired


def test_odds_that_are_said_too_low_are_raised_by_as_much_as_they_are():
    true = np.random.default_rng(24).uniform(0.2, 0.8, 4000)
    odds = true / (1 - true)
    for factor in (0.5, 1.0, 3.0):
        said = odds * factor / (1 + odds * factor)
        happened = (np.random.default_rng(25).uniform(size=4000) < true).astype(float)
        assert _missing_odds(said, happened, 1000) == pytest.approx(-np.log(factor), abs=0.1)
    # Of one that was said to be as likely as not, and is: there the prior is as steep as the likelihood.
    shift = _missing_odds(np.array([0.5]), np.array([1.0]), 1000)
    assert shift == pytest.approx(1 - 1 / (1 + np.exp(-shift)), abs=1e-4)
    # All of ten never said: the prior keeps it finite.
    assert 1.0 < _missing_odds(np.full(10, 0.001), np.ones(10), 1000) < 5.0
    # Nor is anything raised or lowered out of all proportion.
    assert _missing_odds(np.full(4000, 0.001), np.ones(4000), 1000) == pytest.approx(5.0, abs=0.01)
    assert _missing_odds(np.full(4000, 0.999), np.zeros(4000), 1000) == pytest.approx(-5, abs=0.01)


def test_an_objective_that_is_nothing_everywhere_ties():
    assert gaussian_process._unit(np.array([0.0, 0.0])) == np.inf
    assert gaussian_process._unit(np.array([1.0, 3.0])) == pytest.approx(2 * gaussian_process.ALIKE)


def test_what_never_or_always_happens_stays_so_and_odds_are_raised():
    raised = _raised(np.array([0.0, 0.5, 0.8, 1.0]), 0.0, 100)
    assert raised == pytest.approx([0.0, 0.5, 0.8, 1.0])
    assert _raised(np.array([0.5]), np.log(3), 100) == pytest.approx(0.75)


@pytest.mark.parametrize("sign", [1, -1])
def test_where_effects_are_in_proportion_small_means_stay_small(sign):
    rng = np.random.default_rng(11)
    known = configurations(40, rng)
    means = np.exp(np.linspace(0.0, 6.0, 40))
    values = np.full((40, 1, 7), np.nan)
    effects = np.exp(rng.normal(0.0, 0.5, 7))
    effects *= 7 / effects.sum()
    for k in range(40):
        count = 7 if k % 4 == 0 else 1  # most ran in the first replication alone
        values[k, 0, :count] = sign * means[k] * (effects * np.exp(rng.normal(0, 0.02, 7)))[:count]
    found = fit(values, known)
    assert found.means[:, 0] == pytest.approx(sign * means, rel=0.15)
    assert np.median(found.draws[:, :, 0], axis=0) == pytest.approx(found.means[:, 0], rel=0.1)
    spread = found.draws[:, :, 0].std(axis=0)
    assert spread[-1] > 100 * spread[0], "noise is in proportion, too"


@pytest.mark.parametrize("strong", [0.05, 0.6])
def test_intervals_hold_where_strong_effects_are_in_proportion(strong):
    held, certain = [], []
    for seed in range(12, 36):
        rng = np.random.default_rng([13, seed])
        known = configurations(24, rng)
        theta = np.exp([1 + 1.5 * one["x"] for one in known])
        values = theta[:, None] * np.exp(rng.normal(0, strong, 7) + rng.normal(0, 0.1, (24, 7)))
        values[12:, 1:] = np.nan
        true = theta * np.exp((strong**2 + 0.1**2) / 2)
        found = replace(
            fit(values[:, None], known, apart=0),
            numbers=range(24),
            rivals=range(24),
            objectives=OBJECTIVES[:1],
        )
        for number in range(1, 24):
            gap = found.difference(number, 0, OBJECTIVES[0])
            wide = gap.times(found.factor_of(OBJECTIVES[0]))
            held.append(wide.low <= true[number] - true[0] <= wide.high)
            certain.append((gap.low > 0 or gap.high < 0) == (wide.low > 0 or wide.high < 0))
    assert 0.9 <= np.mean(held) <= 0.99
    assert all(certain)


def test_the_mean_of_effects_is_as_uncertain_as_by_students_t():
    assert gaussian_process._uncertain(np.array([-0.3, -0.1, 0.1, 0.3])) == pytest.approx(
        3.182 * 0.2582 / 2, rel=1e-3
    )
    assert gaussian_process._uncertain(np.array([-0.3, 0.0, 0.3])) == 0.0, "too few to tell"


def test_where_effects_are_the_same_for_all_they_are_taken_so():
    rng = np.random.default_rng(12)
    means = np.linspace(10.0, 50.0, 40)
    shared = rng.normal(0, 3, 7)
    values = means[:, None, None] + shared[None, None, :] + rng.normal(0, 0.5, (40, 1, 7))
    assert (values > 0).all()
    seen = np.ones((40, 7), dtype=bool)
    assert _in_proportion(values[:, 0], seen) == 0
    assert _in_proportion(np.exp(values[:, 0] / 10), seen) == 1
    assert _in_proportion(-np.exp(values[:, 0] / 10), seen) == -1
    assert _in_proportion(np.exp(values[:, 0] / 10) - 3, seen) == 0, "not all are of one sign"
    some = np.arange(40)[:, None] < [40] + [gaussian_process.FEWEST_REPEATED] * 6
    assert _in_proportion(np.exp(values[:, 0] / 10), some) == 1
    some[0, 1:] = False
    assert _in_proportion(np.exp(values[:, 0] / 10), some) == 0, "too few were repeated"


def test_differences_below_the_resolution_are_none_where_there_is_no_noise():
    rng = np.random.default_rng(5)
    known = configurations(30, rng)
    values = runs(known, [2] * 30, rng)
    values[:, 1] = np.linspace(0.0, 1.0, 30)[:, None]
    for resolution, none in ((0.0, False), (0.5, True)):
        objectives = (OBJECTIVES[0], replace(OBJECTIVES[1], resolution=resolution))
        found = posterior(evaluations(values, known), objectives)
        assert (found.difference(9, 0, objectives[1]).equal) == none
        assert abs(found.difference(29, 0, objectives[1]).mean) == pytest.approx(1.0)


def test_configurations_that_were_run_once_are_not_exact_where_nothing_like_them_was_run_again():
    """Those run again are quiet because nobody waits there; the others lie far beyond them."""
    rng = np.random.default_rng(9)
    known = [{"x": at / 11} for at in range(12)]
    values = np.full((12, 2, 3), np.nan)
    values[:, 0, 0], values[:, 1, 0] = rng.normal(size=12), [0.0, 1.0, 0.5, *range(2, 11)]
    values[:2, 0, 1:], values[:2, 1, 1:] = rng.normal(size=(2, 2)), [[0.0], [1.0]]
    found = fit(values, known)
    spread = found.draws[:, :, 1].std(axis=0)
    assert not np.ptp(found.draws[:, :3, 1], axis=0).any(), "between two that are exact, one is as exact"
    assert spread[3:] == pytest.approx((np.arange(2, 11) - 1) / 2, rel=0.1)


def stepped(check, monkeypatch, step):
    """How often 95 % intervals hold where the truth jumps in the middle; most configurations run once."""
    if not check:
        monkeypatch.setattr(gaussian_process, "too_sure", lambda *_: 1.0)
    covered = []
    for seed in range(12):
        rng = np.random.default_rng([11, seed])
        known = [{"x": float(x), "y": float(y)} for x, y in rng.uniform(0, 1, (40, 2))]
        true = np.array(
            [0.5 * step * (one["x"] > 0.5) - (1 - step) * one["x"] + 0.3 * one["y"] for one in known]
        )
        values = np.full((40, 1, 3), np.nan)
        values[:, 0, 0] = true + rng.normal(0, 0.1, 40)
        values[:8, 0, 1:] = true[:8, None] + rng.normal(0, 0.1, (8, 2))
        found = fit(values, known)
        gaps = found.draws[:, :, 0] - found.draws[:, :1, 0]
        low, high = np.quantile(gaps, (0.025, 0.975), axis=0)
        covered.append(((low <= true - true[0]) & (true - true[0] <= high))[1:])
    return np.mean(covered)


def test_where_means_jump_the_model_is_less_sure(monkeypatch):
    smooth = stepped(True, monkeypatch, 0.0)
    jumps = stepped(True, monkeypatch, 1.0)
    assert smooth == pytest.approx(stepped(False, monkeypatch, 0.0), abs=0.02)
    assert jumps > stepped(False, monkeypatch, 1.0) + 0.01


def test_a_gaussian_process_is_too_sure_by_the_errors_of_predicting_each_value_from_the_others():
    rng = np.random.default_rng(12)
    root = rng.normal(size=(300, 300)) / 10
    covariance = root @ root.T + np.eye(300)
    values = np.linalg.cholesky(covariance) @ rng.normal(size=300)
    some = range(0, 300, 2)
    assert gaussian_process.too_sure(covariance, 3 * values, some) == pytest.approx(3, rel=0.15)
    assert gaussian_process.too_sure(covariance, values / 3, some) == 1.0
    one = np.array([[1.0, 0.6], [0.6, 1.0]])  # the first by the second: 0.6 * 2, variance 0.64
    assert gaussian_process.too_sure(one, np.array([4.0, 2.0]), [0]) == pytest.approx((4 - 1.2) / 0.8)
