"""The model of all runs by its numbers: what a small study gives, and its parts at their bounds."""

from dataclasses import replace

import numpy as np
import pytest

from gridtune.optimize.records.evaluations import Evaluation
from gridtune.optimize.replication import posterior
from gridtune.optimize.replication.compare import estimate_of
from gridtune.optimize.replication.posterior import Posterior
from tests.test_posterior import OBJECTIVES, points, runs

KNOWN = {
    "means": [
        [2.238, 2.005, 0.9599, 2.09, 2.117, 1.237, 1.539, 1.544, 1.217, 1.754, 1.95, 2.106,
         0.9204, 1.115],
        [-0.3856, -0.1237, 0.2604, -0.1496, -0.5036, 0.04061, 0.04974, -0.3778, 0.2889, -0.2848,
         -0.4684, -0.2398, -0.2367, -0.4721],
    ],
    "spread of draws": [
        [0.1082, 0.06753, 0.1418, 0.07463, 0.08045, 0.07212, 0.07475, 0.1136, 0.07312, 0.07286,
         0.06753, 0.1048, 0.1037, 0.09671],
        [0.09391, 0.084, 0.1217, 0.1216, 0.08088, 0.08255, 0.1102, 0.1377, 0.07164, 0.08398,
         0.1009, 0.1346, 0.09446, 0.1028],
    ],
    "mean of draws": [
        [-0.0022, 0.00507, 0.00228, 0.0047, 0.00501, 0.00316, 0.00266, 0.00172, 0.00404, 0.0036,
         0.00439, 0.00155, -8e-05, 0.00043],
        [-0.00252, 0.00379, 0.00092, 0.00302, 0.00291, 0.00444, 0.00149, 0.00259, 0.001, 0.00201,
         -0.00151, 0.0035, 0.00184, 0.00517],
    ],
    "streams": [
        [0.5965, -0.7171, -0.1902, 0.2855],
        [0.3299, -0.9039, -0.7116, 1.272],
    ],
    "replays": [
        [0.00689, 0.00598, -0.04617, 0.0156, 0.02063, -0.02586, -0.02123, 0.01613, -0.0252,
         -0.01446, -0.00253, -0.00534, 0.09112, 0.06528],
        [0.02071, -0.07108, -0.04157, -0.1167, 0.01026, -0.0602, -0.1482, -0.02641, -0.04943,
         -0.00426, 0.0115, -0.09032, 0.0447, 0.07473],
    ],
    "spread of replays": [
        [0.1486, 0.0851, 0.1469, 0.0915, 0.09569, 0.07454, 0.07766, 0.1388, 0.07611, 0.08355,
         0.08195, 0.1455, 0.117, 0.1092],
        [0.1748, 0.0864, 0.1408, 0.1732, 0.09348, 0.09504, 0.1075, 0.1808, 0.08896, 0.09256,
         0.1053, 0.1788, 0.1295, 0.1131],
    ],
    "chances": [
        [0.0273, 0, 0.2179, 0.00077, 0.1581, 0.0027, 0, 0.1235, 0.00154, 0.02067, 0.2179,
         0.00582, 1, 0.9375],
    ],
    "chances of some": [
        [0.0727, 0, 0.2508, 0, 0.3582, 0, 0.01553, 0, 0.00185, 0, 0.8825, 0, 1, 0],
    ],
    "losses": [
        [0.4449, 0.7601, 0.07446, 0.7679, 0.1917, 0.2695, 0.5088, 0.2324, 0.2752, 0.4527, 0.2057,
         0.6545, 0, 0.00429],
    ],
}  # fmt: skip


def test_a_small_study_gives_what_it_gave():
    # Pinned, so that no result changes by accident; the parts are derived elsewhere (test_posterior).
    rng = np.random.default_rng(41)
    known = points(14, rng)
    found = posterior.fit(runs(known, [4, 3, 2, 1] * 3 + [4, 2], rng, luck=0.3), known, seed=2)
    every = np.arange(14)
    assert (found.draws.shape, found.replays.shape) == ((1000, 14, 2), (5, 200, 14, 2))
    losses = found.losses(every, every)
    assert losses.shape == (400, 14)
    got = {
        "means": found.means,
        "spread of draws": found.draws.std(axis=0),
        "mean of draws": found.draws.mean(axis=0) - found.means,
        "streams": found.streams,
        "replays": found.replays.mean(axis=(0, 1)) - found.means,
        "spread of replays": found.replays.std(axis=(0, 1)),
        "chances": found.non_dominated()[:, None],
        "chances of some": found.non_dominated(every[::2])[:, None],
        "losses": losses.mean(axis=0)[:, None],
    }
    for name, columns in KNOWN.items():
        np.testing.assert_allclose(got[name].T, columns, atol=1e-3, err_msg=name)


def evaluated(number, cost, gain, fresh=None):
    def estimates(values):
        return {"cost": estimate_of(values[0]), "gain": estimate_of(values[1])}

    return Evaluation(number, {"x": number}, estimates((cost, gain)), {}, fresh and estimates(fresh))


def test_runs_of_the_search_come_before_those_on_fresh_seeds():
    study = [evaluated(0, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0), ((7.0,), (8.0,))), evaluated(1, (9.0,), (1.0,)),
             evaluated(2, (3.0,), (2.0,), ((5.0, 6.0), (7.0, 8.0)))]  # fmt: skip
    none = np.nan
    expected = [
        [[1, 2, 3, 7, none], [-4, -5, -6, -8, none]],
        [[9, none, none, none, none], [-1, none, none, none, none]],
        [[3, none, none, 5, 6], [-2, none, none, -7, -8]],
    ]
    np.testing.assert_array_equal(posterior.runs_of(study, OBJECTIVES), np.array(expected, dtype=float))


def layered():
    """Runs of points in three layers of two, and one further."""
    rows = [(5.0, 5.0), (0.0, 1.0), (1.0, 0.0), (2.0, 3.0), (3.0, 2.0), (4.0, 4.5), (4.5, 4.0)]
    return np.array(rows)[:, :, None] + np.array([0.0, 10.0])


@pytest.mark.parametrize(
    ("most", "always", "chosen"),
    [(800, (), range(7)), (4, (), [1, 2, 3, 4]), (5, (), range(1, 6)), (3, (0,), [0, 1, 2]),
     (4, (0, 5), [0, 1, 2, 5]), (1, (), [1])],
)  # fmt: skip
def test_the_model_is_about_the_best_layers_and_who_is_in_it_anyway(monkeypatch, most, always, chosen):
    monkeypatch.setattr(posterior, "JOINT", most)
    assert posterior.best_layers(layered(), always) == list(chosen)


def test_worth_is_what_the_model_expects_and_beyond_it_what_points_look_like_on_its_level(monkeypatch):
    rng = np.random.default_rng(5)
    values = layered() + rng.normal(0, 0.3, (7, 2, 2))
    study = [evaluated(k, tuple(row[0]), tuple(-row[1])) for k, row in enumerate(values)]
    monkeypatch.setattr(posterior, "JOINT", 5)
    chosen = posterior.best_layers(values)
    model = posterior.fit(values[chosen], [study[k].values for k in chosen], draws=1).means
    found, plain = posterior.worth_of(study, OBJECTIVES), posterior._levelled(values)
    assert found[chosen] == pytest.approx(model)
    left = [k for k in range(7) if k not in chosen]
    assert found[left] - model[0] == pytest.approx(plain[left] - plain[chosen[0]])
    once = [evaluated(k, row[0][:1], -row[1][:1]) for k, row in enumerate(values)]
    assert posterior.worth_of(once, OBJECTIVES) == pytest.approx(posterior._levelled(values[:, :, :1]))


def test_nothing_is_fitted_to_points_without_a_run_or_without_two():
    values = layered()
    assert posterior.fit(values[:0], []) is None
    empty = values.copy()
    empty[3] = np.nan
    assert posterior.fit(empty, [{"x": k} for k in range(7)]) is None
    once = values.copy()
    once[:, 0, 1] = np.nan  # a run with one objective alone is none
    assert posterior.fit(once, [{"x": k} for k in range(7)]) is None
    assert posterior.fit(values, [{"x": k} for k in range(7)], draws=3).draws.shape == (3, 7, 2)


def test_parts_of_luck_by_their_normal_equations():
    normal = np.array([[4.0, 1.0], [1.0, 3.0]])
    assert posterior._parts(normal, normal @ [0.5, 0.75]) == pytest.approx((0.5, 0.75))
    assert posterior._parts(normal, normal @ [-0.5, 0.75]) == (0.0, 1.0)
    # The least of its own is kept; the rest of the second equation is shared.
    right = normal @ [0.5, 0.01]
    assert posterior._parts(normal, right) == pytest.approx((right[1] - 3 * 0.05, 0.05))
    low = np.array([[4.0, 1.0], [1.0, 30.0]])
    assert posterior._parts(low, low @ [0.5, 0.02]) == (0.0, 0.05)
    assert posterior._parts(np.zeros((2, 2)), np.zeros(2)) == (0.0, 1.0)
    assert posterior._parts(np.ones((2, 2)), np.array([0.5, 0.5])) == (0.0, 1.0)


def test_objectives_that_do_not_vary_tie_and_shares_at_their_ends_stay():
    means = np.array([[1.0, 1.0, 0.0], [1.0 + 2e-9, 1.0 + 0.5e-9, 0.0]])
    assert posterior._unit(means)[1:].tolist() == [np.inf, np.inf]
    assert posterior._unit(means)[0] == pytest.approx(2e-14)
    shares = np.array([0.0, 0.001, 0.5, 1.0])
    assert posterior._odds(shares, 100) == pytest.approx([-np.log(199), -np.log(199), 0.0, np.log(199)])


def test_losses_are_shares_of_the_span_of_the_front_and_nothing_without_one():
    means = np.array([[0.0, 4.0], [2.0, 0.0], [3.0, 5.0]])
    draws, none = np.repeat(means[None], 450, axis=0), np.zeros((3, 2, 2))
    known = Posterior(means, draws, np.zeros((1, 2)), np.full(2, 1e-6), means[None, None], none)
    every = np.arange(3)
    losses = known.losses(np.array([2, 0]), every)
    assert losses.shape == (400, 2)
    assert losses[0] == pytest.approx([0.5, 0.0])  # 2 is behind 0 by 3/2 and 1/4, behind 1 by 1/2 and 5/4
    flat = replace(known, means=means * [1, 0], draws=known.draws[:7])
    assert flat.losses(every, every).tolist() == [[0.0] * 3] * 7
    line = replace(known, means=np.array([[0.0, 4.0], [0.25, 4.0], [0.5, 4.0]]))
    assert not line.losses(every, every).any(), "the front is a single point"
