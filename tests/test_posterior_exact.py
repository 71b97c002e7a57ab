"""The posterior by its numbers: what a small study gives, and its parts at their bounds."""

import numpy as np
import pytest

from gridtune.optimize.inference import gaussian_process, posterior
from gridtune.optimize.records.evaluations import Estimate, Evaluation
from tests.test_posterior import OBJECTIVES

KNOWN = {
    "means": [
        [2.251, 2.025, 0.9218, 2.125, 2.164, 1.223, 1.548, 1.586, 1.195, 1.772, 1.972, 2.117, 0.9656,
         1.165],
        [-0.3482, -0.2579, 0.2483, -0.2927, -0.313, 0.1701, 0.00991, -0.3446, 0.1902, -0.1417, -0.2457,
         -0.3408, -0.2438, -0.3004],
    ],
    "spread of draws": [
        [0.1007, 0.06334, 0.1467, 0.07086, 0.07923, 0.07872, 0.07352, 0.102, 0.08058, 0.06308, 0.06022,
         0.09497, 0.1078, 0.0944],
        [0.08485, 0.04967, 0.08672, 0.06004, 0.06023, 0.05856, 0.05971, 0.08661, 0.0595, 0.05598,
         0.0506, 0.08009, 0.08189, 0.07865],
    ],
    "mean of draws": [
        [-0.0019, 0.004, -0.00125, 0.00347, 0.00412, -0.00035, -0.00129, -0.00049, 0.00086, 0.00162,
         0.00395, 0.00098, -0.00595, -0.00614],
        [-0.00202, 0.00215, -0.00039, 0.00335, 0.00373, 0.00123, 0.00066, -0.00383, 0.00099, 0.00238,
         0.00081, -0.00186, -0.00252, -0.00451],
    ],
    "streams": [
        [0.5759, -0.6853, -0.1832, 0.2926],
        [0.3064, -0.8962, -0.7069, 1.297],
    ],
    "replays": [
        [-0.0805, 0.04449, -0.02055, 0.03062, 0.02084, 0.00299, 0.02108, -0.04164, 0.00745, 0.02872,
         0.03664, -0.05899, 0.01083, -0.00731],
        [-0.00746, 0.0026, -0.06581, 0.00728, 0.02012, -0.04328, -0.02379, 0.04945, -0.05188, 0.00871,
         0.01611, -0.02611, 0.04517, 0.06789],
    ],
    "spread of replays": [
        [0.1009, 0.06674, 0.1652, 0.07496, 0.08178, 0.09288, 0.08525, 0.1192, 0.09538, 0.07272, 0.06821,
         0.09847, 0.1027, 0.09694],
        [0.1011, 0.05536, 0.1088, 0.06599, 0.07386, 0.07637, 0.05749, 0.1057, 0.07408, 0.06116, 0.0573,
         0.09659, 0.0855, 0.07953],
    ],
    "chances": [
        [0.3024, 0.1177, 0.572, 0.1643, 0.1881, 0.00988, 0, 0.7196, 0.01877, 0.01285, 0.1128, 0.3871,
         0.996, 0.8565],
    ],
    "chances of some": [
        [0.8729, 0, 0.8654, 0, 0.8459, 0, 0.06748, 0, 0.08428, 0, 0.8025, 0, 1, 0],
    ],
    "losses": [
        [0.1049, 0.1967, 0.04116, 0.1706, 0.1519, 0.2051, 0.3899, 0.03171, 0.189, 0.2965, 0.2027,
         0.0958, 0.00026, 0.00628],
    ],
}  # fmt: skip


def evaluated(number, cost, gain, validation=None):
    def estimates(values):
        return {"cost": Estimate.of(values[0]), "gain": Estimate.of(values[1])}

    return Evaluation(
        number, {"x": number}, estimates((cost, gain)), {}, validation and estimates(validation)
    )


def test_runs_of_the_search_come_before_those_on_validation_seeds():
    study = [evaluated(0, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0), ((7.0,), (8.0,))), evaluated(1, (9.0,), (1.0,)),
             evaluated(2, (3.0,), (2.0,), ((5.0, 6.0), (7.0, 8.0)))]  # fmt: skip
    none = np.nan
    expected = [
        [[1, 2, 3, 7, none], [-4, -5, -6, -8, none]],
        [[9, none, none, none, none], [-1, none, none, none, none]],
        [[3, none, none, 5, 6], [-2, none, none, -7, -8]],
    ]
    np.testing.assert_array_equal(
        gaussian_process.runs_of(study, OBJECTIVES), np.array(expected, dtype=float)
    )


def layered():
    """Runs of configurations in three layers of two, and one further."""
    rows = [(5.0, 5.0), (0.0, 1.0), (1.0, 0.0), (2.0, 3.0), (3.0, 2.0), (4.0, 4.5), (4.5, 4.0)]
    return np.array(rows)[:, :, None] + np.array([0.0, 10.0])


@pytest.mark.parametrize(
    ("most", "always", "chosen"),
    [(800, (), range(7)), (4, (), [1, 2, 3, 4]), (5, (), range(1, 6)), (3, (0,), [0, 1, 2]),
     (4, (0, 5), [0, 1, 2, 5]), (1, (), [1])],
)  # fmt: skip
def test_the_model_is_about_the_best_layers_and_who_is_in_it_anyway(monkeypatch, most, always, chosen):
    monkeypatch.setattr(gaussian_process, "JOINT", most)
    assert gaussian_process.best_layers(layered(), always) == list(chosen)


def test_posterior_means_and_beyond_the_model_plain_ones_on_its_level(
    monkeypatch,
):
    rng = np.random.default_rng(5)
    values = layered() + rng.normal(0, 0.3, (7, 2, 2))
    study = [evaluated(k, tuple(row[0]), tuple(-row[1])) for k, row in enumerate(values)]
    monkeypatch.setattr(gaussian_process, "JOINT", 5)
    chosen = gaussian_process.best_layers(values)
    model = gaussian_process.fit(values[chosen], [study[k].values for k in chosen], draws=1).means
    found, plain = (
        gaussian_process.posterior_means(study, OBJECTIVES),
        gaussian_process._adjusted_means(values),
    )
    assert found[chosen] == pytest.approx(model)
    left = [k for k in range(7) if k not in chosen]
    assert found[left] - model[0] == pytest.approx(plain[left] - plain[chosen[0]])
    once = [evaluated(k, row[0][:1], -row[1][:1]) for k, row in enumerate(values)]
    assert gaussian_process.posterior_means(once, OBJECTIVES) == pytest.approx(
        gaussian_process._adjusted_means(values[:, :, :1])
    )


def test_nothing_is_fitted_to_configurations_without_a_run_or_without_two():
    values = layered()
    assert gaussian_process.fit(values[:0], []) is None
    empty = values.copy()
    empty[3] = np.nan
    assert gaussian_process.fit(empty, [{"x": k} for k in range(7)]) is None
    once = values.copy()
    once[:, 0, 1] = np.nan  # a run with one objective alone is none
    assert gaussian_process.fit(once, [{"x": k} for k in range(7)]) is None
    assert gaussian_process.fit(values, [{"x": k} for k in range(7)], draws=3).draws.shape == (3, 7, 2)


def test_objectives_that_do_not_vary_tie_and_shares_at_their_ends_stay():
    means = np.array([[1.0, 1.0, 0.0], [1.0 + 2e-9, 1.0 + 0.5e-9, 0.0]])
    assert gaussian_process._unit(means)[1:].tolist() == [np.inf, np.inf]
    assert gaussian_process._unit(means)[0] == pytest.approx(2e-14)
    shares = np.array([0.0, 0.001, 0.5, 1.0])
    assert posterior._log_odds(shares, 100) == pytest.approx([-np.log(199), -np.log(199), 0.0, np.log(199)])
