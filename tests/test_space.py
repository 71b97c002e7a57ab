"""A search space gives valid configurations, knows which parameters exist, and refuses nonsense early."""

import re
from collections import Counter
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridtune.optimize.search_space.parameter import Parameter
from gridtune.optimize.search_space.space import Space, key
from gridtune.scenarios import ScenarioError, load
from gridtune.scenarios.api.sweep_result import sweep
from tests.facts import unstated

NESTED = Space(
    (
        Parameter("a", choices=("x", "y")),
        Parameter("b", low=1, high=3, whole=True, when={"a": ("x",)}),
        Parameter("c", choices=(True, False), when={"b": (2, 3)}),
        Parameter("d", low=0.5, high=8.0, log=True, when={"a": ("y",), "c": (True,)}),
    )
)


@pytest.fixture(scope="module")
def scenario():
    return load("diet/day-regular")


def with_space(scenario, space):
    return scenario.override({"search.space": space})


def test_the_space_of_a_scenario(scenario):
    submit = ["client.n_submit", "3 to 1000", "logarithmic", "client.dispatch is legacy"]
    window = ["client.dispatch.window", "1 to 8", "client.dispatch is ethic"]
    assert not unstated(map(str, Space.of(scenario)), ["client.dispatch", "ethic, legacy"], submit, window)
    assert Space.of(scenario).check(scenario) == []
    assert Space.of(scenario).size() == 998 + 8


def test_only_active_parameters_count():
    flat = {"a": "x", "b": 2, "c": False, "d": 1.0}
    assert NESTED.active(flat) == {"a": "x", "b": 2, "c": False}
    assert NESTED.active({**flat, "b": 1}) == {"a": "x", "b": 1}
    assert NESTED.active({**flat, "a": "y"}) == {"a": "y"}


def test_the_configurations_of_a_finite_space_are_listed_once():
    configurations = list(Space(NESTED.parameters[:3]).configurations())
    assert [tuple(one.values()) for one in configurations] == [
        ("x", 1),
        ("x", 2, True),
        ("x", 2, False),
        ("x", 3, True),
        ("x", 3, False),
        ("y",),
    ]
    assert Space(NESTED.parameters[:3]).size() == 6
    assert NESTED.size() is None


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_every_place_of_the_unit_cube_is_a_configuration_within_bounds(shares):
    configuration = NESTED.at(shares)
    assert list(configuration) == [p.path for p in NESTED if p.path in configuration]
    for parameter in NESTED:
        if parameter.path not in configuration:
            continue
        value = configuration[parameter.path]
        if parameter.choices:
            assert value in parameter.choices
        else:
            assert parameter.low <= value <= parameter.high
            assert isinstance(value, int) == parameter.whole


def test_scales():
    log = Parameter("p", low=1.0, high=100.0, log=True)
    assert [log.at(share) for share in (0, 0.5, 1)] == pytest.approx([1, 10, 100])
    whole = Parameter("p", low=1, high=4, whole=True)
    counts = Counter(whole.at(share) for share in np.linspace(0, 1, 4001))
    assert set(counts) == {1, 2, 3, 4}
    assert max(counts.values()) - min(counts.values()) <= 2


def test_logarithms_count_in_ranges_that_say_so_and_in_wide_lists():
    parts = {
        "a": Parameter("a", low=1.0, high=4.0, log=True),
        "b": Parameter("b", low=1.0, high=4000.0),
        "c": Parameter("c", (1, 10, 30, inf)),
        "d": Parameter("d", (1, 10, 20, inf)),
        "e": Parameter("e", (0, 10, 30)),
        "f": Parameter("f", ("x", 1)),
    }
    assert Space(tuple(parts.values())).logarithmic == {"a", "c"}


def test_true_and_one_are_two_choices():
    mixed = Parameter("p", (1, True))
    assert [mixed.at(mixed.share(one)) is one for one in (1, True)] == [True, True]


def test_keys_distinguish_configurations_and_ignore_order():
    assert key({"a": 1, "b": 2}) == key({"b": 2, "a": 1})
    assert len({key({"a": value}) for value in (1, True, "1", 1.5)}) == 4


TWICE = [
    ("sed.speed", "sed.*.speed"),
    ("sed.sed.speed", "sed.speed"),
    ("client.dispatch", "client.*.dispatch.kind"),
    ("client.dispatch.kind", "client.client.dispatch"),
]


@pytest.mark.parametrize(("first", "second"), TWICE)
def test_one_value_by_two_paths_is_refused(scenario, first, second):
    values = ["ethic", "legacy"] if "dispatch" in first else [1, 2]
    text = ",".join(map(str, values))
    bare = scenario.override({"search.space": {first: values}})
    both = scenario.override({"search.space": {first: values, second: values}})
    message = re.escape(f"{first} and {second} lead to one value; vary one of them")
    for searched, vary in ((both, []), (bare, [f"{second}={text}"])):
        with pytest.raises(ScenarioError, match=message):
            Space.of(searched, vary)
    with pytest.raises(ScenarioError, match=message):
        sweep(scenario, {first: values, second: values})


def test_two_paths_may_lead_to_one_value_where_only_one_of_them_exists(scenario):
    space = {
        "client.dispatch": ["ethic", "legacy"],
        "sed.speed": {"choices": [1, 2], "when": {"client.dispatch": "ethic"}},
        "sed.*.speed": {"choices": [3, 4], "when": {"client.dispatch": "legacy"}},
        "sed.count": [5, 10],
    }
    assert len(Space.of(with_space(scenario, space))) == 4


def test_a_value_is_a_choice_once(scenario):
    for values in (["ethic", "legacy", "ethic"], {"choices": [1, 1.0]}):
        with pytest.raises(ScenarioError, match=r"client\.dispatch.*: .* twice"):
            with_space(scenario, {"client.dispatch": values})


def test_variations_replace_and_add(scenario):
    space = Space.of(scenario, ["client.n_submit=10,20", "sed.count=2:20", "sed.speed=0.5:2.0:log"])
    added = ["sed.count", "whole", "2 to 20"], ["sed.speed", "0.5 to 2", "logarithmic"]
    replaced = ["client.n_submit", "10, 20", "client.dispatch is legacy"]
    assert not unstated(list(map(str, space))[1:-1], *added, replaced)


def test_a_variation_may_rule_a_branch_out(scenario):
    space = Space.of(scenario, ["client.dispatch=ethic"])
    assert [parameter.path for parameter in space] == ["client.dispatch", "client.dispatch.window"]


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({"client.n_submit": {"low": 1, "high": 9, "when": {"client.x": 1}}}, "names client.x, which is not"),
        (
            {
                "sed.speed": {"low": 0.5, "high": 2.0},
                "client.n_submit": {"low": 1, "high": 9, "when": {"sed.speed": 1}},
            },
            "names sed.speed, a continuous range",
        ),
        (
            {
                "client.dispatch": ["ethic", "legacy"],
                "client.n_submit": {"low": 1, "high": 9, "when": {"client.dispatch": "legcy"}},
            },
            "client.dispatch is legcy, .* ethic, legacy",
        ),
        (
            {
                "sed.count": {"choices": [1, 2], "when": {"client.n_submit": 1}},
                "client.n_submit": {"choices": [1, 2], "when": {"sed.count": 1}},
            },
            "circle: client.n_submit, sed.count",
        ),
    ],
)
def test_impossible_conditions_are_refused(scenario, space, message):
    with pytest.raises(ScenarioError, match=message):
        Space.of(with_space(scenario, space))


def test_an_empty_space_is_refused(scenario):
    with pytest.raises(ScenarioError, match=r"nothing to search: .*--vary PATH=LOW:HIGH"):
        Space.of(with_space(scenario, {}))


@pytest.mark.parametrize(
    ("vary", "message"),
    [
        ("client.n_submitt=1,2", "did you mean n_submit"),
        ("client.dispatch.windw=1:5", "windw"),
        ("client.dispatch=ethic,greedy", "client.dispatch = greedy: .*ethic, legacy"),
        ("client.dispatch.window=1,2,many", "window = many is refused"),
        ("nowhere.at=1,2", "nowhere"),
        ("sed.count=5.0:10.0", "sed.count = 6.9.*: .*whole .*1:9"),
        ("sed.count=5.0:105.0", "sed.count = 43.1.*: .*whole .*1:9"),
        ("sed.count=5.5:10.0", "sed.count = 5.5 .*: .*whole .*1:9"),
    ],
)
def test_what_the_scenario_refuses_is_found_before_a_search(scenario, vary, message):
    with pytest.raises(ScenarioError, match=message):
        Space.of(scenario, [vary]).check(scenario)


def test_refused_bounds_are_noted(scenario):
    notes = Space.of(scenario, ["sed.count=-3:20"]).check(scenario)
    assert len(notes) == 1
    assert notes[0].startswith("sed.count = -3 is refused: ")


def test_a_search_takes_no_number_of_values(scenario):
    with pytest.raises(ScenarioError, match="without a number of values"):
        Space.of(scenario, ["sed.count=1:20:4"])


SWITCHED = {
    "parts.harvest": [True, False],
    "parts.deadline": [True, False],
    "harvester.controller.reference": {"low": 1, "high": 3},
    "harvester.cycle": [30.0, 60.0],
    "agent.routing.fallback": ["none", "displaced"],
    "site.lyon.policy": ["fcfs", "easy"],
}


def test_configurations_that_set_the_same_scenario_are_the_same_configuration():
    scenario = with_space(load("federation/small"), SWITCHED)
    space = Space.of(scenario)
    assert space.size() == (3 * 2 + 1) * (2 + 1) * 2
    resolved = [scenario.override(one).active.model_dump_json() for one in space.configurations()]
    assert len(set(resolved)) == len(resolved)
    assert Space.of(scenario, ["parts.harvest=false"]).size() == (2 + 1) * 2


def test_what_is_off_is_not_searched_unless_it_is_asked_for_in_vain():
    scenario = with_space(load("federation/small"), SWITCHED)
    scenario = scenario.override({"parts.harvest": False, "search.space": SWITCHED})
    space = {path: part for path, part in SWITCHED.items() if path != "parts.harvest"}
    left = Space.of(with_space(scenario, space))
    assert [one.path for one in left] == ["parts.deadline", "site.lyon.policy", "agent.routing.fallback"]
    with pytest.raises(ScenarioError, match=r"harvester.cycle: parts.harvest is off"):
        Space.of(with_space(scenario, space), ["harvester.cycle=30.0,90.0"])
    with pytest.raises(ScenarioError, match=r"nothing to search: .* off"):
        Space.of(with_space(scenario, {"harvester.cycle": [30.0, 60.0]}))
