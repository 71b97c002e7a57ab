"""What the four parameters of the mission trade in the federation, and how the statements are made."""

import json
from pathlib import Path

import numpy as np
import pytest

from gridtune.scenarios import load
from tests.benchmarks.four_parameters import OBJECTIVES, SWEEPS, opposed, optima

DATA = Path(__file__).parents[1] / "docs" / "data"
FEDERATIONS = ("federation/small", "federation/lcg-week")
VALUES = (1.0, 2.0, 3.0, 4.0)
REPLICATIONS = 30


def runs_of(unhappy, unfair, work, noise=1.0):
    """Runs whose means are as given for each value, with noise of their own and noise that all share."""
    rng = np.random.default_rng(1)
    shared = rng.normal(0.0, 50.0, REPLICATIONS)
    means = dict(zip(OBJECTIVES, (unhappy, unfair, work), strict=True))
    return {
        value: {
            name: list(means[name][k] + shared + rng.normal(0.0, noise, REPLICATIONS)) for name in OBJECTIVES
        }
        for k, value in enumerate(VALUES)
    }


FLAT = (5.0, 5.0, 5.0, 5.0)


def test_an_optimum_lies_inside_the_range_and_is_better_than_both_ends():
    found = optima(VALUES, runs_of((9.0, 5.0, 6.0, 9.0), FLAT, (1.0, 2.0, 3.0, 4.0)))
    assert found.keys() == {"unhappy_users"}
    assert found["unhappy_users"]["value"] == 2.0
    assert found["unhappy_users"]["margin"] > 3.0


def test_what_is_better_than_one_end_alone_is_no_optimum():
    assert optima(VALUES, runs_of((9.0, 5.0, 5.0, 5.0), FLAT, FLAT)) == {}


def test_objectives_oppose_where_each_prefers_another_value():
    (pair,) = opposed(VALUES, runs_of((1.0, 2.0, 3.0, 4.0), FLAT, (1.0, 2.0, 3.0, 4.0)))
    assert pair["objectives"] == ["unhappy_users", "completed_work"]
    assert pair["values"] == [1.0, 4.0]  # fewer are unhappy at the first, more gets done at the last
    assert min(pair["margins"]) > 3.0


@pytest.mark.parametrize("work", [FLAT, (4.0, 3.0, 2.0, 1.0)], ids=["noise", "both better at the first"])
def test_what_moves_together_or_not_at_all_opposes_nothing(work):
    assert opposed(VALUES, runs_of((1.0, 2.0, 3.0, 4.0), FLAT, work)) == []


def test_each_parameter_has_a_trade_off_in_the_federation():
    data = json.loads((DATA / "four_parameters.json").read_text(encoding="utf-8"))
    measured = {name: row for name, row in data.items() if row["scenario"] == FEDERATIONS[0]}
    assert measured.keys() == {name for name, one in SWEEPS.items() if one.scenario == FEDERATIONS[0]}
    for name, row in measured.items():
        assert row["replications"] >= REPLICATIONS, name
        assert row["optima"] or row["opposed"], f"{name}: nothing is traded"


@pytest.mark.parametrize("name", FEDERATIONS)
def test_federations_search_the_mission_s_objectives_and_these_have_signal(name):
    spec = load(name).spec.search
    assert tuple(spec.objectives) == OBJECTIVES
    row = json.loads((DATA / "signal.json").read_text(encoding="utf-8"))[name]
    assert row["objectives"] == spec.objectives
    for objective in OBJECTIVES:
        assert row["metrics"][objective]["ratio"] >= 3.0
