"""Changes of a configuration: what a new policy brings along counts only where it is not its default."""

from math import ceil
from types import SimpleNamespace

import numpy as np
import pytest

from gridtune.optimize.recommend.elimination import Candidate, Elimination
from gridtune.optimize.recommend.plan import LEAST_RUNS, Plan, plan
from gridtune.optimize.recommend.subsets import Subsets
from gridtune.optimize.search_space.baseline import baseline_of
from gridtune.optimize.search_space.parameter import Parameter
from gridtune.optimize.search_space.space import Space
from gridtune.scenarios import load

POLICY, QUOTA = "site.cluster.policy", "site.cluster.quota.user_share"
EASY = {
    POLICY: "easy",
    "site.cluster.quota.user_running": "none",
    QUOTA: 1.0,
    "site.cluster.preemption.express": 0.0,
}
SJF = EASY | {
    POLICY: "priority",
    QUOTA: 0.5,
    f"{POLICY}.rule": "sjf",
    f"{POLICY}.reservations": 4,
    f"{POLICY}.queue_depth": 0,  # the policy's default, as are half_life and interval
    f"{POLICY}.half_life": 604800.0,
    f"{POLICY}.window": 86400.0,
    f"{POLICY}.interval": 0.0,
}


@pytest.fixture(scope="module")
def subsets():
    scenario = load("batch/replay")
    space = Space.of(scenario)
    settings = SimpleNamespace(
        space=space,
        seed=1,
        run_in=[SimpleNamespace(scenario=scenario)],
        baseline=baseline_of(scenario, space),
    )
    return Subsets(SimpleNamespace(), settings)


def test_defaults_of_a_new_policy_are_no_changes(subsets):
    changed = [POLICY, QUOTA, f"{POLICY}.rule", f"{POLICY}.reservations", f"{POLICY}.window"]
    assert sorted(subsets.changed(SJF)) == sorted(changed)
    assert subsets.kept(SJF) == SJF.keys() - set(changed)
    assert subsets.changed(EASY) == []


def test_what_is_left_out_falls_back_to_the_default_of_what_is_chosen(subsets):
    some = subsets.combined(SJF, [POLICY, f"{POLICY}.rule"])
    assert some == EASY | {
        POLICY: "priority",
        f"{POLICY}.rule": "sjf",
        f"{POLICY}.reservations": 1,
        f"{POLICY}.queue_depth": 0,
        f"{POLICY}.half_life": 604800.0,
        f"{POLICY}.window": 2592000.0,  # the default is none; the space has this as its longest
        f"{POLICY}.interval": 0.0,
    }
    assert subsets.combined(SJF, []) == EASY
    assert subsets.combined(SJF, subsets.changed(SJF)) == SJF
    # Without its rule, the policy is multifactor; weights of 0 are outside the space.
    other = subsets.combined(SJF, [POLICY])
    assert (other[f"{POLICY}.rule"], other[f"{POLICY}.weight_job_size"]) == ("multifactor", 1.0)


def test_what_exists_because_of_a_change_goes_with_it(subsets):
    groups = subsets.together(SJF)
    assert {first: set(group) for first, group in groups.items()} == {
        POLICY: {POLICY, f"{POLICY}.rule", f"{POLICY}.reservations", f"{POLICY}.window"},
        QUOTA: {QUOTA},
    }
    assert groups[POLICY][0] == POLICY


@pytest.mark.parametrize(
    ("first", "share", "count"),
    [(QUOTA, 0.7, 1), (QUOTA, 0.9, 2), (POLICY, 0.2, 1), (POLICY, 0.7, 2)],
)
def test_changes_are_enough_that_keep_a_share_of_what_all_gain(subsets, monkeypatch, first, share, count):
    """The quota gains three quarters, the policy the rest."""

    def predict(configurations):
        gains = [3 * (one.get(QUOTA) == 0.5) + (one.get(POLICY) == "priority") for one in configurations]
        return 20.0 - np.array(gains)[:, None]

    monkeypatch.setitem(vars(subsets), "_predict", predict)
    paths = [first, *({QUOTA, POLICY} - {first}), f"{POLICY}.rule"]
    assert subsets.enough(paths, SJF, share) == count


@pytest.mark.parametrize(
    ("parameter", "value", "nearest"),
    [
        (Parameter("p", low=1.0, high=9.0), 0.0, 1.0),
        (Parameter("p", low=1, high=9, whole=True), 4.4, 4),
        (Parameter("p", low=1.0, high=9.0), "none", 1.0),
        (Parameter("p", (10, 30, "all")), 28, 30),
        (Parameter("p", (10, 30, "all")), float("inf"), 30),
        (Parameter("p", (10, 30, "all")), "all", "all"),
        (Parameter("p", (10, 30, "all")), None, 10),
        (Parameter("p", (False, True)), True, True),
    ],
)
def test_the_nearest_value_of_a_space(parameter, value, nearest):
    found = parameter.nearest(value)
    assert found == nearest
    assert type(found) is type(nearest)


@pytest.mark.parametrize(
    ("needed", "expected", "sizes"),
    [
        (6, 6, [6, 3, 5, 5]),
        (1, 14, [14, 7, 3, 1]),
        (9, 14, [14, 7, 11, 9]),
        (16, 14, [14, 15, 15, 15]),
        (9, 6, [6, 11, 8, 10]),
    ],
)
def test_elimination_begins_with_the_changes_that_the_model_expects_to_suffice(needed, expected, sizes):
    tried = []

    def kept(sample, *_):
        tried.append(len(sample))
        return float(len(sample) >= needed)

    found = thinned([f"p{k}" for k in range(16)], kept, expected)
    assert tried == sizes
    assert len(found.changed) == min((one for one in sizes if one >= needed), default=16)


def test_where_tries_are_left_each_change_but_the_last_is_tried_without():
    found = thinned(["a", "b", "c"], lambda sample, *_: float(sample.keys() >= {"a", "c"}), 3)
    assert found.changed == ["a", "c"]


def thinned(changed, kept, expected):
    """What is left of a candidate with some changes, of which the model expects so many to suffice."""
    elimination = object.__new__(Elimination)
    elimination.kept = kept
    elimination._subsets = SimpleNamespace(
        enough=lambda *_: expected,
        combined=lambda values, paths: {path: values[path] for path in paths},
        rounded=dict,
    )
    candidate = Candidate([], False, SimpleNamespace(values=dict.fromkeys(changed, 1)), {}, changed)

    class Unbroken(dict):
        def breaks(self, _):
            return ()

    block = SimpleNamespace(run=lambda some: [Unbroken(one or {"": 0}) for one in some])
    return elimination.thinned(candidate, block, Plan(1, elimination=3))


@pytest.mark.parametrize(
    ("left", "candidates", "expected"),
    [
        (1000, 3, Plan(3, elimination=6, confirmation=12, tries=4)),
        (150, 3, Plan(3, 3, 12)),
        (120, 3, Plan(3, 3, 12, tries=2)),
        (100, 3, Plan(2, 3, 12)),
        (40, 3, Plan(1, 3, 7)),
        (37, 3, Plan(1, 3, 6)),
        (35, 1, Plan(1, 3, 6, tries=3)),
        (20, 3, Plan(1, 0, 6)),
        (19, 3, Plan(1, 0, 6)),
        (18, 3, Plan()),
        (1000, 0, Plan()),
    ],
)
def test_few_runs_are_left_for_fewer_candidates_then_tries_then_replications(left, candidates, expected):
    assert plan(left, candidates, 1, 0.0, certain=False) == expected


@pytest.mark.parametrize(("left", "tries"), [(7, 4), (6, 3)])
def test_without_noise_one_run_of_each_configuration_is_planned(left, tries):
    found = plan(left, 1, 1, 0.0, certain=True)
    assert found == Plan(1, elimination=1, confirmation=1, tries=tries)


def test_the_least_runs_suffice_for_all_tries_of_one_candidate():
    assert plan(LEAST_RUNS + 2, 1, 2, 0.0, certain=False) == Plan(1, 3, 6)
    assert plan(LEAST_RUNS + 1, 1, 2, 0.0, certain=False) == Plan(1, 3, 6, tries=3)


@pytest.mark.parametrize("certain", [False, True])
@pytest.mark.parametrize("replay", [0.0, 3.5])
@pytest.mark.parametrize("candidates", [1, 2, 3])
def test_a_plan_never_takes_more_runs_than_are_left(certain, replay, candidates):
    for left in range(0, 400, 7):
        found = plan(left, candidates, 2, replay, certain=certain)
        count = found.candidates
        repeated = certain * (1 + 2 * count)
        taken = found.runs - repeated + 2 * count + ceil(count * replay)
        assert not count or taken <= left
        assert count <= candidates
        if not certain and count:
            assert found.confirmation >= 6
