"""Settings of a search come back from every storage as they were, infinite numbers included."""

from dataclasses import replace
from math import inf

import pytest

from gridtune.model.metrics.registry import Metric
from gridtune.optimize.records.evaluations import Constraint
from gridtune.optimize.runs.stored import load as stored
from gridtune.optimize.runs.stored import settings_of
from gridtune.optimize.search import search
from gridtune.scenarios import load
from tests.facts import unstated

FACTOR = "workload.meta.response_bound.factor"


def work(task):
    return {"unfairness": Metric(task.values.get(FACTOR, 1.0), "")}


@pytest.mark.long
@pytest.mark.parametrize("place", ["study.journal", "sqlite:///{}/studies.db"])
def test_infinite_values_come_back_from_a_storage(place, tmp_path):
    scenario = load("dirac/afternoon").override({FACTOR: inf})
    where = place.format(tmp_path) if "://" in place else tmp_path / place
    options = {"vary": [f"{FACTOR}=1.5:4.0"], "objectives": ["unfairness"], "work": work, "sampler": "random"}
    made = search(scenario, budget=3, baseline=True, storage=where, **options)
    assert made.settings.baseline.values == {FACTOR: inf}
    found = stored(where).settings
    assert found == made.settings
    assert found.scenario.spec == scenario.spec
    assert search(scenario, budget=3, storage=where, resume=True, **options).simulated == 0


def test_bounds_and_starts_come_back_with_their_types():
    scenario = load("diet/day-regular")
    settings = search(
        scenario, budget=1, vary=["sed.count=1,2", "sed.speed=1.0:2.0"], work=work, objectives=["unfairness"]
    ).settings
    odd = replace(
        settings,
        constraints=(Constraint("unfairness", "<=", inf), Constraint("unfairness", ">=", -inf)),
        starts=({"a": True, "b": 1, "c": 1.0, "d": "1", "e": -inf},),
    )
    again = settings_of(odd.as_json(), "study")
    assert again == odd
    assert list(map(type, again.starts[0].values())) == [bool, int, float, str, float]
    assert again.differences(odd.as_json()) == []
    assert not unstated(settings.differences(odd.as_json()), ["constraints", "start from"])
