"""Several scenarios and seeds as the cases of a search, and what sums them up."""

import pytest

from gridtune import limits
from gridtune.optimize.config import SearchConfig
from gridtune.optimize.search_space.cases import (
    cases_of,
    check_paths,
    other_scenario,
    seeds_of,
    share_of,
    summed_up,
)
from gridtune.optimize.search_space.parameter import Parameter
from gridtune.optimize.search_space.space import Space
from gridtune.scenarios import ScenarioError, load

DAY = "diet/day-regular"
SPACE = Space((Parameter("sed.speed", (1.0, 2.0)),))


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("mean", 4.0, 4.0),
        ("worst", 10.0, 1.0),
        ("quantile:1", 10.0, 1.0),
        ("quantile:0.5", 2.0, 3.0),
        ("quantile:0.75", 3.0, 2.0),
        ("quantile:0.76", 10.0, 1.0),
        ("quantile:0.01", 1.0, 10.0),
    ],
)
def test_cases_are_summed_up_towards_what_is_worse(text, least, most):
    assert summed_up([3.0, 1.0, 10.0, 2.0], "minimize", text) == least
    assert summed_up([3.0, 1.0, 10.0, 2.0], "maximize", text) == most


def test_rounding_does_not_move_a_quantile_to_the_next_case():
    assert 0.55 * 100 > 55  # in floating point
    assert summed_up(list(range(1, 101)), "minimize", "quantile:0.55") == 55


@pytest.mark.parametrize("text", ["best", "quantile:", "quantile:0", "quantile:1.5", "quantile:nan", "0.9"])
def test_another_way_to_sum_up_is_refused(text):
    with pytest.raises(ScenarioError, match=rf"--robust {text}: expected mean, worst or quantile:SHARE"):
        share_of(text)


def test_a_scenario_may_come_with_values_of_its_own():
    plain = other_scenario(DAY, {}, SPACE)
    assert (plain.name, plain.document) == (DAY, load(DAY).document)
    text = f"{DAY}:workload.interval=3,client.dispatch=legacy,client.n_submit=20"
    busy = other_scenario(text, {"workload.count": 4, "workload.interval": 5}, SPACE)
    assert busy.name == text
    assert busy.spec.workload[0].count == 4
    assert busy.spec.workload[0].interval == 3
    assert busy.spec.client[0].n_submit == 20
    law = other_scenario(f'{DAY}:workload.runtime={{law="uniform",low=0.5,high=2.0}}', {}, SPACE)
    assert law.spec.workload[0].runtime.high == 2.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("diet/day-regulr", "did you mean diet/day-regular"),
        ("nothing:workload.count=3", "nothing: no such scenario"),
        (f"{DAY}:workload.cont=3", "did you mean count"),
        (f"{DAY}:workload", "expected PATH=VALUE"),
        (f"{DAY}:sed.speed=2", "--scenario diet/day-regular: sed.speed: is varied"),
    ],
)
def test_a_scenario_that_is_none_is_refused(text, message):
    with pytest.raises(ScenarioError, match=message):
        other_scenario(text, {}, SPACE)


def test_every_scenario_is_a_case_under_every_seed():
    day, night = load(DAY), load("diet/night-consecutive")
    assert [(case.name, case.seed) for case in cases_of([day, night], [], 7)] == [(DAY, 7), (night.name, 7)]
    cases = cases_of([day, night], [3, 4], 7)
    assert [case.seed for case in cases] == [3, 4, 3, 4]
    assert [case.name for case in cases][:2] == [f"{DAY}, seed 3", f"{DAY}, seed 4"]
    for scenarios, seeds in (([day, day], []), ([day], [2, 2])):
        with pytest.raises(ScenarioError, match="named 2 times"):
            cases_of(scenarios, seeds, 1)


def test_scenarios_of_one_name_and_other_values_are_named_as_on_the_command_line():
    there = {"client.dispatch": "legacy", "client.n_submit": 20, "workload.interval": 3}
    day, busy = load(DAY), load(DAY).override(there)
    cases = cases_of([day, busy, day.override({"client.n_submit": 30})], [], 1)
    text = cases[1].name
    assert text == f"{DAY}:{','.join(f'{path}={value}' for path, value in there.items())}"
    assert cases[2].name == f"{DAY}:client.n_submit=30"
    assert other_scenario(text, {}, SPACE) == cases[1].scenario
    meta = load("dirac/search")
    slow = meta.override({"workload.meta.interval.mean": 15})
    assert cases_of([meta, slow], [2], 1)[1].name == f"{meta.name}:workload.meta.interval.mean=15, seed 2"
    more = day.override({"sed": [{"count": 3}, {"name": "b", "count": 2}]})
    assert cases_of([day, more], [], 1)[1].name.startswith(f'{DAY}:sed=[{{"count": 3')
    for same in (busy, day.override({"title": "The same"})):
        with pytest.raises(ScenarioError, match="named 2 times"):
            cases_of([day, busy, same], [], 1)


def test_seeds_are_whole_numbers():
    assert seeds_of(None) == []
    assert seeds_of("3,1, 2") == [3, 1, 2]
    assert seeds_of(f"0,{limits.SEED}") == [0, limits.SEED]
    for wrong in ("1,x", f"1,{limits.SEED + 1}"):
        with pytest.raises(ScenarioError, match=f"--seeds {wrong}: expected whole numbers"):
            seeds_of(wrong)
    with pytest.raises(ScenarioError, match=r"^seeds -1: "):
        SearchConfig.of(seeds=(1, -1))


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("queue/mmc", r"queue/mmc: client.dispatch, .* no \[\[client\]\]"),
        ("dirac/dedicated", r"dirac/dedicated: client.dispatch, .* no \[\[client\]\]"),
    ],
)
def test_a_scenario_that_lacks_what_is_searched_is_refused(other, message):
    space = Space.of(load(DAY))
    assert check_paths(space, load("diet/night-consecutive")) == []
    with pytest.raises(ScenarioError, match=message):
        check_paths(space, load(other))
