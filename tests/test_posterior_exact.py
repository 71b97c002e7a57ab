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
        [2.235, 2.007, 0.9612, 2.09, 2.117, 1.235, 1.542, 1.55, 1.215, 1.758, 1.953, 2.108, 0.9163,
         1.115],
        [-0.3876, -0.1226, 0.2627, -0.1499, -0.504, 0.03981, 0.05093, -0.3743, 0.2879, -0.2827,
         -0.4668, -0.2397, -0.2385, -0.4721],
    ],
    "spread of draws": [
        [0.1081, 0.06744, 0.1412, 0.07451, 0.08025, 0.07192, 0.07435, 0.1129, 0.07293, 0.07244,
         0.06737, 0.1045, 0.1035, 0.09656],
        [0.0938, 0.0839, 0.1204, 0.1214, 0.08073, 0.08234, 0.1097, 0.1366, 0.0715, 0.08365, 0.1007,
         0.1341, 0.09437, 0.1028],
    ],
    "mean of draws": [
        [-0.0022, 0.00506, 0.00223, 0.0047, 0.00501, 0.00315, 0.00267, 0.0017, 0.00403, 0.00361,
         0.00438, 0.0015, -7e-05, 0.00045],
        [-0.00255, 0.00376, 0.00082, 0.00291, 0.00288, 0.00443, 0.00172, 0.00277, 0.00098, 0.00213,
         -0.0015, 0.00323, 0.00176, 0.00521],
    ],
    "streams": [
        [0.5959, -0.7172, -0.1895, 0.2876],
        [0.3296, -0.9041, -0.7112, 1.273],
    ],
    "replays": [
        [0.00553, 0.00787, -0.04836, 0.01664, 0.02126, -0.02671, -0.01988, 0.01787, -0.0262,
         -0.01211, -0.00031, -0.00469, 0.08881, 0.06447],
        [0.01913, -0.07006, -0.04115, -0.117, 0.01007, -0.0609, -0.1474, -0.02361, -0.05013,
         -0.00259, 0.01303, -0.08989, 0.04371, 0.07458],
    ],
    "spread of replays": [
        [0.1484, 0.08461, 0.1465, 0.09142, 0.09572, 0.07453, 0.07719, 0.138, 0.07606, 0.08258,
         0.08121, 0.1448, 0.1166, 0.1093],
        [0.1747, 0.08619, 0.1394, 0.1731, 0.09348, 0.09477, 0.1075, 0.1786, 0.08875, 0.09252,
         0.1054, 0.178, 0.1295, 0.1129],
    ],
    "chances": [
        [0.04206, 0, 0.2212, 0.00196, 0.1772, 0.00568, 0, 0.1394, 0.00353, 0.03272, 0.2285, 0.0115,
         1, 0.8967],
    ],
    "chances of some": [
        [0.09747, 0, 0.2579, 0, 0.3588, 0, 0.02123, 0, 0.00432, 0, 0.8239, 0, 1, 0],
    ],
    "losses": [
        [0.4374, 0.7627, 0.07654, 0.767, 0.1874, 0.2704, 0.5127, 0.2368, 0.2742, 0.4562, 0.2066,
         0.6543, 0, 0.00441],
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
