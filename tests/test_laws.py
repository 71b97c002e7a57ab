"""Laws that generated numbers follow: Gamma, Gaussian and observed values."""

import numpy as np
import pytest
from pydantic import TypeAdapter

from gridtune.scenarios import ScenarioError, load, simulate
from gridtune.scenarios.fields.laws import Law, draws

READ = TypeAdapter(Law)


def drawn(count=20_000, seed=1, **law):
    return READ.validate_python(law).draw(np.random.default_rng(seed), count)


def test_gamma_has_the_mean_and_the_spread_of_its_shape():
    values = drawn(law="gamma", shape=4.0, mean=10.0)
    assert values.mean() == pytest.approx(10.0, rel=0.02)
    assert values.std() == pytest.approx(10.0 / 4.0**0.5, rel=0.03)


def test_a_gaussian_is_cut_without_heaps_at_its_ends():
    whole = drawn(law="gaussian", mean=100.0, deviation=10.0)
    assert (whole.mean(), whole.std()) == (pytest.approx(100.0, rel=0.01), pytest.approx(10.0, rel=0.03))
    cut = drawn(law="gaussian", mean=1.0, deviation=2.0, high=4.0)
    assert 0.0 <= cut.min() < 0.01
    assert 3.95 < cut.max() <= 4.0
    assert (cut == 0.0).mean() < 0.001
    with pytest.raises(ValueError, match="nothing of the law"):
        READ.validate_python({"law": "gaussian", "mean": 1.0, "deviation": 0.1, "low": 50.0})


def test_observed_values_are_drawn_or_taken_in_turn(tmp_path):
    file = tmp_path / "times.csv"
    file.write_text("mu_rec,other\n3.5,1\n4,2\n3.75,3\n")
    law = {"law": "empirical", "file": str(file), "column": "mu_rec"}
    assert set(drawn(**law).tolist()) == {3.5, 4.0, 3.75}
    assert drawn(count=5, order="in-turn", scale=2.0, **law).tolist() == [7.0, 8.0, 7.5, 7.0, 8.0]
    turn = draws(READ.validate_python({**law, "order": "in-turn"}), np.random.default_rng(1))
    assert [next(turn) for _ in range(4)] == [3.5, 4.0, 3.75, 3.5]
    cluster = load("dirac/validation-cluster").override(
        {"site.cluster.mu_rec": {**law, "order": "in-turn"}, "workload.count": 3}
    )
    assert [job.queued - job.submit for job in simulate(cluster).record.jobs] == pytest.approx(
        [3.5, 4.0, 3.75]
    )


def test_a_trace_gives_its_run_times_and_intervals(tmp_path):
    file = tmp_path / "t.swf"
    file.write_text(
        "; MaxProcs: 4\n"
        "1 100 0 60 1 -1 -1 1 90 -1 1 7 1 1 1 1 -1 -1\n"
        "2 130 0 10 2 -1 -1 2 90 -1 1 8 1 1 1 1 -1 -1\n"
    )
    law = {"law": "empirical", "file": str(file), "order": "in-turn"}
    assert drawn(count=2, column="runtime", **law).tolist() == [60.0, 10.0]
    assert drawn(count=2, column="interval", **law).tolist() == [30.0, 30.0]


@pytest.mark.parametrize(
    ("content", "column", "message"),
    [
        ("a,b\n1,2\n", "c", "no column 'c'; there are a, b"),
        ("a\nx\n", "a", "line 2: 'x' is no number"),
        ("a\n-1\n", "a", "no numbers of 0 or more"),
        ("a\n", "a", "holds no value"),
    ],
)
def test_what_was_not_observed_is_refused(content, column, message, tmp_path):
    (tmp_path / "x.csv").write_text(content)
    with pytest.raises(ScenarioError, match=message):
        drawn(law="empirical", file=str(tmp_path / "x.csv"), column=column)
    with pytest.raises(ScenarioError, match="not found"):
        drawn(law="empirical", file="nowhere.csv", column=column)
