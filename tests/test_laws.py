"""Laws that generated numbers follow: Gamma, Gaussian and observed values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from gridtune import limits
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


REFUSED = [
    float("inf"),
    1e-300,
    {"law": "exponential", "mean": 1e17},
    {"law": "weibull", "scale": 10.0, "shape": 1e-9},
    {"law": "weibull", "scale": 10.0, "shape": 1.0, "low": 1e5},
    {"law": "weibull", "scale": 1e-18, "shape": 1e9, "low": 1e18},
    {"law": "lognormal", "median": 1.0, "sigma": 10.0},
    {"law": "gamma", "shape": 1e-20, "mean": 1.0},
    {"law": "gaussian", "mean": 1e18, "deviation": 1e18},
]


@pytest.mark.parametrize("law", REFUSED, ids=str)
@pytest.mark.parametrize("key", ["runtime", "interval", "processors", "data.input"])
def test_what_no_run_could_draw_is_refused_at_the_door(key, law):
    scenario = load("federation/small")
    with pytest.raises(ScenarioError, match=rf"^federation/small: workload\.meta\.{key}:? "):
        scenario.override({f"workload.meta.{key}": law})


SIZES = st.sampled_from([1e-30, 1e-9, 0.01, 0.3, 1.0, 3.0, 40.0, 1e9, 1e17, 1e18])


@pytest.mark.long
@given(
    st.sampled_from(["exponential", "weibull", "lognormal", "gamma", "gaussian", "uniform", "loguniform"]),
    st.tuples(SIZES, SIZES, SIZES, SIZES),
)
def test_a_law_that_is_accepted_can_be_drawn_from(law, sizes):
    names = {
        "exponential": ("mean",),
        "weibull": ("scale", "shape", "low", "high"),
        "lognormal": ("median", "sigma", "maximum"),
        "gamma": ("shape", "mean"),
        "gaussian": ("mean", "deviation", "low", "high"),
        "uniform": ("low", "high"),
        "loguniform": ("low", "high"),
    }[law]
    for left_out in (0, 1):  # the last one has a default
        given_ = dict(zip(names[: len(names) - left_out], sizes, strict=False))
        try:
            accepted = READ.validate_python({"law": law, **given_})
        except ValidationError:
            continue
        values = accepted.draw(np.random.default_rng(1), 2000)
        assert 0 <= values.min() <= values.max() <= limits.NUMBER


def test_the_upper_tail_of_a_gaussian_is_drawn_as_finely_as_the_lower():
    tail = drawn(law="gaussian", mean=0.0, deviation=1.0, low=8.0)
    assert len(set(tail.tolist())) == len(tail)
    assert tail.min() >= 8.0
    assert tail.mean() == pytest.approx(8.1213, abs=0.005)  # 8 + 1/8 - 2/8^3 + 10/8^5
