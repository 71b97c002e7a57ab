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
        [2.244, 2.014, 0.9439, 2.113, 2.149, 1.225, 1.537, 1.573, 1.201, 1.755, 1.957, 2.111,
         0.971, 1.159],
        [-0.3571, -0.1558, 0.2523, -0.1972, -0.408, 0.08549, 0.06896, -0.3364, 0.2544, -0.2216,
         -0.3385, -0.2723, -0.2307, -0.3718],
    ],
    "spread of draws": [
        [0.1018, 0.06143, 0.1503, 0.06892, 0.07604, 0.0732, 0.07381, 0.09787, 0.07443, 0.06258,
         0.05993, 0.09414, 0.1106, 0.0948],
        [0.09815, 0.07222, 0.08978, 0.1046, 0.08642, 0.07314, 0.08083, 0.1075, 0.07231, 0.08061,
         0.1013, 0.1152, 0.09127, 0.1061],
    ],
    "mean of draws": [
        [-0.00195, 0.00395, -0.0014, 0.00337, 0.004, -5e-05, -0.00115, -0.00054, 0.00116,
         0.00171, 0.00398, 0.00103, -0.0062, -0.00622],
        [-0.00257, 0.00253, -0.0003, 0.00274, 0.00302, 0.00244, -0.0003, -0.00199, -0.00083,
         0.00172, -0.00168, 0.00096, -0.00167, -0.00392],
    ],
    "streams": [
        [0.5879, -0.6855, -0.1798, 0.2774],
        [0.3102, -0.8974, -0.7094, 1.297],
    ],
    "replays": [
        [-0.08572, 0.03857, -0.01838, 0.02684, 0.02132, 0.00662, 0.0243, -0.0387, 0.00833,
         0.03083, 0.03584, -0.06927, 0.01183, 0.00023],
        [0.00897, -0.0522, -0.06061, -0.06515, 0.06192, -0.02126, -0.04078, 0.05432, -0.04799,
         0.026, 0.08617, -0.09068, 0.04192, 0.09878],
    ],
    "spread of replays": [
        [0.1019, 0.06576, 0.1692, 0.07418, 0.08133, 0.08869, 0.08464, 0.1159, 0.09088, 0.07266,
         0.06728, 0.09776, 0.1071, 0.09755],
        [0.1156, 0.07746, 0.1079, 0.09156, 0.1083, 0.1209, 0.08783, 0.1265, 0.08031, 0.09037,
         0.09978, 0.123, 0.09941, 0.1124],
    ],
    "chances": [
        [0.1589, 0.00547, 0.4809, 0.02434, 0.2957, 0.01173, 0, 0.3514, 0.00781, 0.04901, 0.2159,
         0.1135, 0.9898, 0.8741],
    ],
    "chances of some": [
        [0.4835, 0, 0.6816, 0, 0.7274, 0, 0.02141, 0, 0.01964, 0, 0.8389, 0, 1, 0],
    ],
    "losses": [
        [0.1602, 0.3912, 0.05381, 0.3548, 0.1034, 0.218, 0.4173, 0.1097, 0.2184, 0.2694, 0.1581,
         0.2552, 0.00055, 0.00638],
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
