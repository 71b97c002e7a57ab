"""The model of all runs by its numbers: what a small study gives, and its parts at their bounds."""

from dataclasses import replace

import numpy as np
import pytest

from gridtune.optimize.inference import model_of_runs, posterior
from gridtune.optimize.inference.posterior import Posterior
from gridtune.optimize.records.evaluations import Evaluation
from gridtune.optimize.replication.compare import estimate_of
from tests.test_posterior import OBJECTIVES, points, runs

KNOWN = {
    "means": [
        [2.247, 2.027, 0.9256, 2.126, 2.165, 1.224, 1.549, 1.585, 1.196, 1.774, 1.974, 2.115,
         0.9616, 1.163],
        [-0.351, -0.2577, 0.2507, -0.2927, -0.3131, 0.1715, 0.01061, -0.3465, 0.1917, -0.1413,
         -0.2453, -0.3432, -0.2432, -0.301],
    ],
    "spread of draws": [
        [0.1007, 0.06357, 0.1458, 0.07082, 0.07901, 0.07733, 0.07266, 0.09974, 0.07916, 0.06252,
         0.06022, 0.0945, 0.1063, 0.09265],
        [0.0848, 0.04944, 0.08592, 0.05992, 0.06018, 0.05798, 0.05922, 0.08629, 0.05883, 0.05568,
         0.05039, 0.08063, 0.08065, 0.07767],
    ],
    "mean of draws": [
        [-0.00191, 0.004, -0.00133, 0.00347, 0.00413, -0.00031, -0.00123, -0.0005, 0.0009,
         0.00165, 0.00396, 0.00095, -0.006, -0.00615],
        [-0.0021, 0.00214, -0.00045, 0.00333, 0.0037, 0.00128, 0.00078, -0.00377, 0.00104,
         0.00245, 0.00082, -0.00197, -0.0026, -0.00448],
    ],
    "streams": [
        [0.5759, -0.6853, -0.1832, 0.2926],
        [0.3064, -0.8962, -0.7069, 1.297],
    ],
    "replays": [
        [-0.0831, 0.04608, -0.01761, 0.03189, 0.02189, 0.00346, 0.02132, -0.04342, 0.00801,
         0.02971, 0.03822, -0.06018, 0.00853, -0.01005],
        [-0.00978, 0.00262, -0.06396, 0.00741, 0.02034, -0.04163, -0.02281, 0.04764, -0.0502,
         0.00913, 0.01616, -0.02903, 0.04545, 0.06764],
    ],
    "spread of replays": [
        [0.1009, 0.06659, 0.1642, 0.07485, 0.08161, 0.0921, 0.0845, 0.1173, 0.09457, 0.07199,
         0.06795, 0.09779, 0.1017, 0.09582],
        [0.101, 0.05511, 0.1079, 0.06587, 0.07369, 0.07617, 0.05708, 0.1059, 0.07385, 0.06066,
         0.05693, 0.0968, 0.08434, 0.07853],
    ],
    "chances": [
        [0.3066, 0.1103, 0.5587, 0.1544, 0.1804, 0.00702, 0, 0.7316, 0.01404, 0.01304, 0.1093,
         0.4017, 0.996, 0.8613],
    ],
    "chances of some": [
        [0.8822, 0, 0.8621, 0, 0.846, 0, 0.05672, 0, 0.06568, 0, 0.8077, 0, 1, 0],
    ],
    "losses": [
        [0.1019, 0.1973, 0.04333, 0.1711, 0.1523, 0.2094, 0.3934, 0.03075, 0.1929, 0.2965,
         0.2037, 0.09356, 0.00026, 0.00591],
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
