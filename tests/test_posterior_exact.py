"""The model of all runs by its numbers: what a small study gives, and its parts at their bounds."""

from dataclasses import replace

import numpy as np
import pytest

from gridtune.optimize.inference import luck, model_of_runs, posterior
from gridtune.optimize.inference.posterior import Posterior
from gridtune.optimize.records.evaluations import Evaluation
from gridtune.optimize.replication.compare import estimate_of
from tests.test_posterior import OBJECTIVES, points, runs

KNOWN = {
    "means": [
        [2.258, 2.029, 0.8997, 2.123, 2.157, 1.21, 1.535, 1.566, 1.184, 1.765, 1.975, 2.123,
         0.9267, 1.132],
        [-0.3392, -0.3128, 0.2212, -0.3535, -0.3693, 0.1419, -0.03394, -0.3874, 0.1575, -0.1752,
         -0.2913, -0.3523, -0.2886, -0.3436],
    ],
    "spread of draws": [
        [0.1109, 0.06767, 0.1452, 0.07622, 0.08203, 0.07347, 0.07151, 0.1092, 0.07479, 0.06929,
         0.06649, 0.1045, 0.1164, 0.1032],
        [0.1104, 0.06807, 0.1062, 0.07626, 0.0806, 0.07216, 0.06953, 0.1138, 0.0727, 0.06743,
         0.06756, 0.1063, 0.09543, 0.08952],
    ],
    "mean of draws": [
        [-0.00216, 0.00445, 0.00265, 0.00412, 0.00442, 0.00318, 0.00237, 0.00155, 0.00408,
         0.00306, 0.00375, 0.00129, 0.00014, 0.0005],
        [-0.0026, 0.00336, 0.00153, 0.00362, 0.00379, 0.00402, 0.00372, 0.0014, 0.00363, 0.00331,
         0.00264, -0.00065, 0.0014, 0.00241],
    ],
    "streams": [
        [0.5975, -0.7029, -0.1838, 0.2893],
        [0.3451, -0.9157, -0.7213, 1.292],
    ],
    "replays": [
        [0.01724, 0.01938, -0.07748, 0.02528, 0.02647, -0.03957, -0.02112, 0.03204, -0.03669,
         -0.00983, 0.00616, 0.0141, 0.09389, 0.07071],
        [0.01835, -0.02307, -0.07577, -0.00809, 0.0004, -0.08949, -0.07753, 0.034, -0.09551,
         -0.0496, -0.02644, 0.00305, 0.05203, 0.06029],
    ],
    "spread of replays": [
        [0.1353, 0.08103, 0.1433, 0.08677, 0.0908, 0.0711, 0.07551, 0.1363, 0.07224, 0.08076,
         0.07842, 0.1353, 0.1181, 0.1112],
        [0.1936, 0.07567, 0.1205, 0.0897, 0.09538, 0.08365, 0.07649, 0.1416, 0.0855, 0.07108,
         0.07356, 0.1704, 0.1181, 0.109],
    ],
    "chances": [
        [0.08847, 0.08789, 0.3798, 0.1341, 0.152, 0.00383, 0.00096, 0.5163, 0.00722, 0.01307,
         0.08675, 0.1156, 1, 0.6733],
    ],
    "chances of some": [
        [0.4238, 0, 0.5961, 0, 0.637, 0, 0.01607, 0, 0.01722, 0, 0.5429, 0, 1, 0],
    ],
    "losses": [
        [0.1794, 0.1826, 0.08388, 0.1454, 0.133, 0.4288, 0.4943, 0.02893, 0.3939, 0.3217, 0.204,
         0.1356, 0, 0.00901],
    ],
}  # fmt: skip


def test_a_small_study_gives_what_it_gave():
    # Pinned, so that no result changes by accident; the parts are derived elsewhere (test_posterior).
    rng = np.random.default_rng(41)
    known = points(14, rng)
    found = model_of_runs.fit(runs(known, [4, 3, 2, 1] * 3 + [4, 2], rng, luck=0.3), known, seed=2)
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
    np.testing.assert_array_equal(model_of_runs.runs_of(study, OBJECTIVES), np.array(expected, dtype=float))


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
    monkeypatch.setattr(model_of_runs, "JOINT", most)
    assert model_of_runs.best_layers(layered(), always) == list(chosen)


def test_worth_is_what_the_model_expects_and_beyond_it_what_points_look_like_on_its_level(monkeypatch):
    rng = np.random.default_rng(5)
    values = layered() + rng.normal(0, 0.3, (7, 2, 2))
    study = [evaluated(k, tuple(row[0]), tuple(-row[1])) for k, row in enumerate(values)]
    monkeypatch.setattr(model_of_runs, "JOINT", 5)
    chosen = model_of_runs.best_layers(values)
    model = model_of_runs.fit(values[chosen], [study[k].values for k in chosen], draws=1).means
    found, plain = model_of_runs.worth_of(study, OBJECTIVES), model_of_runs._levelled(values)
    assert found[chosen] == pytest.approx(model)
    left = [k for k in range(7) if k not in chosen]
    assert found[left] - model[0] == pytest.approx(plain[left] - plain[chosen[0]])
    once = [evaluated(k, row[0][:1], -row[1][:1]) for k, row in enumerate(values)]
    assert model_of_runs.worth_of(once, OBJECTIVES) == pytest.approx(
        model_of_runs._levelled(values[:, :, :1])
    )


def test_nothing_is_fitted_to_points_without_a_run_or_without_two():
    values = layered()
    assert model_of_runs.fit(values[:0], []) is None
    empty = values.copy()
    empty[3] = np.nan
    assert model_of_runs.fit(empty, [{"x": k} for k in range(7)]) is None
    once = values.copy()
    once[:, 0, 1] = np.nan  # a run with one objective alone is none
    assert model_of_runs.fit(once, [{"x": k} for k in range(7)]) is None
    assert model_of_runs.fit(values, [{"x": k} for k in range(7)], draws=3).draws.shape == (3, 7, 2)


def test_parts_of_luck_by_their_normal_equations():
    normal = np.array([[4.0, 1.0], [1.0, 3.0]])
    assert luck.parts(normal, normal @ [0.5, 0.75]) == pytest.approx((0.5, 0.75))
    assert luck.parts(normal, normal @ [-0.5, 0.75]) == (0.0, 1.0)
    # The least of its own is kept; the rest of the second equation is shared.
    right = normal @ [0.5, 0.01]
    assert luck.parts(normal, right) == pytest.approx((right[1] - 3 * 0.05, 0.05))
    low = np.array([[4.0, 1.0], [1.0, 30.0]])
    assert luck.parts(low, low @ [0.5, 0.02]) == (0.0, 0.05)
    assert luck.parts(np.zeros((2, 2)), np.zeros(2)) == (0.0, 1.0)
    assert luck.parts(np.ones((2, 2)), np.array([0.5, 0.5])) == (0.0, 1.0)


def test_objectives_that_do_not_vary_tie_and_shares_at_their_ends_stay():
    means = np.array([[1.0, 1.0, 0.0], [1.0 + 2e-9, 1.0 + 0.5e-9, 0.0]])
    assert model_of_runs._unit(means)[1:].tolist() == [np.inf, np.inf]
    assert model_of_runs._unit(means)[0] == pytest.approx(2e-14)
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
