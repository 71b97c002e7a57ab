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
        [2.25, 2.007, 0.9261, 2.094, 2.125, 1.222, 1.533, 1.559, 1.199, 1.753, 1.953, 2.117,
         0.9277, 1.128],
        [-0.3589, -0.1663, 0.2348, -0.2362, -0.4636, 0.06818, 0.04702, -0.3644, 0.2544, -0.2591,
         -0.4033, -0.2711, -0.2593, -0.4362],
    ],
    "spread of draws": [
        [0.1122, 0.06847, 0.147, 0.07704, 0.08297, 0.07467, 0.07304, 0.1112, 0.07603, 0.0707,
         0.06744, 0.1057, 0.1175, 0.1047],
        [0.1011, 0.07442, 0.1013, 0.1011, 0.08075, 0.07702, 0.08681, 0.1211, 0.07114, 0.07267,
         0.09169, 0.1182, 0.08996, 0.09504],
    ],
    "mean of draws": [
        [-0.00219, 0.00455, 0.00268, 0.00423, 0.00453, 0.00325, 0.00244, 0.00153, 0.00415,
         0.00314, 0.00385, 0.00128, 0.00018, 0.00051],
        [-0.00255, 0.00328, 0.00115, 0.00274, 0.00261, 0.00421, 0.00173, 0.00186, 0.00129,
         0.00174, -0.00134, 0.00224, 0.00184, 0.00479],
    ],
    "streams": [
        [0.5984, -0.7039, -0.1834, 0.2888],
        [0.3385, -0.9054, -0.7199, 1.287],
    ],
    "replays": [
        [0.01473, 0.01578, -0.07144, 0.02509, 0.02902, -0.0356, -0.02021, 0.03139, -0.03539,
         -0.009, 0.00569, 0.00715, 0.0986, 0.076],
        [0.02997, -0.0805, -0.0501, -0.09494, 0.02538, -0.04875, -0.1272, 0.00066, -0.07477,
         0.00784, 0.02587, -0.05668, 0.03062, 0.08696],
    ],
    "spread of replays": [
        [0.139, 0.08176, 0.1465, 0.08811, 0.09231, 0.0723, 0.07513, 0.1365, 0.07386, 0.08051,
         0.07881, 0.138, 0.1188, 0.1111],
        [0.1811, 0.07641, 0.1169, 0.1337, 0.09083, 0.08809, 0.08651, 0.1565, 0.08655, 0.08089,
         0.09519, 0.158, 0.1175, 0.1045],
    ],
    "chances": [
        [0.06672, 0, 0.408, 0.00889, 0.2901, 0.0082, 0, 0.2176, 0.00409, 0.03601, 0.258, 0.0255,
         1, 0.9269],
    ],
    "chances of some": [
        [0.2195, 0, 0.5466, 0, 0.6764, 0, 0.00833, 0, 0.00833, 0, 0.878, 0, 1, 0],
    ],
    "losses": [
        [0.1929, 0.3991, 0.05696, 0.3279, 0.07736, 0.2459, 0.4257, 0.1261, 0.2377, 0.2584,
         0.1081, 0.2804, 0, 0.00382],
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
