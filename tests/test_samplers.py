"""Samplers propose valid configurations, repeat themselves exactly, learn, and bear failures."""

from math import sqrt

import moocore
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.replication.compare import promising
from gridtune.optimize.samplers import find, samplers
from gridtune.optimize.samplers.pymoo_genetic import _value
from gridtune.optimize.samplers.surrogate import margins_of
from gridtune.optimize.search_space.parameter import Parameter
from gridtune.optimize.search_space.space import Space, key
from gridtune.scenarios import ScenarioError

SPACE = Space(
    (
        Parameter("kind", choices=("a", "b")),
        Parameter("x", low=0.0, high=1.0),
        Parameter("scale", low=0.01, high=100.0, log=True),
        Parameter("n", low=1, high=20, whole=True),
        Parameter("u", low=0.0, high=1.0, when={"kind": ("a",)}),
        Parameter("m", low=1, high=64, log=True, whole=True, when={"kind": ("b",)}),
        Parameter("flag", choices=(True, False), when={"kind": ("b",)}),
    )
)
FINITE = Space((Parameter("a", choices=(1, 2, 3)), Parameter("b", choices=("x", "y"), when={"a": (1,)})))
OBJECTIVES = (Objective("cost", "minimize"), Objective("gain", "maximize"))
GENETIC = ["nsga2", "nsga3", "pymoo-nsga2"]
LEARNING = ["tpe", "surrogate", *GENETIC]
ALL = ["random", *LEARNING]


def value(configuration):
    """A trade-off along x, spoilt by everything else."""
    spoilt = abs(np.log10(configuration["scale"])) + (configuration["n"] - 7) ** 2 / 40
    spoilt += configuration["u"] if configuration["kind"] == "a" else 0.3 + configuration["m"] / 64
    return [configuration["x"] + spoilt, sqrt(configuration["x"]) - spoilt]


def play(name, batches, *, seed=3, failing=(), space=SPACE):
    """All proposals of some batches, and the objectives of those that did not fail."""
    sampler = samplers()[name](space, OBJECTIVES, seed, 8)
    configurations, values = [], []
    for _ in range(batches):
        asked = sampler.ask()
        results = [
            None if len(configurations) + k in failing else value(configuration)
            for k, configuration in enumerate(asked)
        ]
        sampler.learn(results, [{}] * len(results))
        configurations += asked
        values += [result for result in results if result is not None]
    return configurations, values


def hypervolume(values):
    return moocore.hypervolume(np.array([[cost, -gain] for cost, gain in values]), ref=[3.0, 3.0])


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_proposals_are_configurations_of_the_space_and_repeat_with_the_seed(name):
    configurations, _ = play(name, 4)
    assert len(configurations) == 32
    for configuration in configurations:
        branch = {"u"} if configuration["kind"] == "a" else {"m", "flag"}
        assert set(configuration) == {"kind", "x", "scale", "n"} | branch
        assert 0.01 <= configuration["scale"] <= 100
        assert configuration["n"] in range(1, 21)
        assert isinstance(configuration["n"], int)
        assert type(configuration.get("flag", True)) is bool
    assert len({key(one) for one in configurations}) > 16
    assert list(map(key, play(name, 4)[0])) == list(map(key, configurations))
    assert list(map(key, play(name, 4, seed=4)[0])) != list(map(key, configurations))


@pytest.mark.parametrize("name", GENETIC)
def test_a_genetic_sampler_breeds_from_what_it_was_informed_of_though_another_failed(name):
    plain = Space((Parameter("x", low=0.0, high=1.0), Parameter("y", low=0.0, high=1.0)))
    best = {"x": 0.123456, "y": 0.987654}
    sampler = samplers()[name](plain, OBJECTIVES, 3, 8)
    asked = sampler.ask()
    sampler.inform([best], [[0.0, 9.0]], [{}])
    sampler.learn([None, None, *([1.0, 1.0] for _ in asked[2:])], [{}] * len(asked))
    bred = [min(abs(one["x"] - best["x"]), abs(one["y"] - best["y"])) for one in sampler.ask()]
    assert min(bred) < 0.005


def test_genes_of_a_configuration_give_it_back():
    sampler = samplers()["pymoo-nsga2"](SPACE, OBJECTIVES, 1, 8)
    for one in SPACE.random(20, np.random.default_rng(1)):
        genes = sampler._individual(one)
        made = SPACE.active({part.path: _value(part, genes[part.path]) for part in SPACE})
        assert made == pytest.approx(one)


@pytest.mark.parametrize("name", GENETIC)
def test_a_genetic_sampler_told_of_more_than_a_batch_breeds_from_its_own_first_batch_too(name):
    plain = Space((Parameter("x", low=0.0, high=1.0), Parameter("y", low=0.0, high=1.0)))
    sampler = samplers()[name](plain, OBJECTIVES, 3, 8)
    best, *others = sampler.ask()
    known = [{"x": 0.5, "y": at / 20} for at in range(20)]
    sampler.inform(known, [[2.0, 1.0]] * 20, [{}] * 20)
    sampler.learn([[0.0, 9.0], *([1.0, 1.0] for _ in others)], [{}] * 8)
    bred = [min(abs(one["x"] - best["x"]), abs(one["y"] - best["y"])) for one in sampler.ask()]
    assert min(bred) < 0.005


@pytest.mark.parametrize("name", GENETIC)
def test_what_fails_is_worse_than_what_breaks_a_constraint(name):
    plain = Space((Parameter("x", low=0.0, high=1.0), Parameter("y", low=0.0, high=1.0)))
    sampler, failed, able = samplers()[name](plain, OBJECTIVES, 3, 16), 0, 0
    for _ in range(12):
        asked = sampler.ask()
        failed += sum(one["x"] < 0.5 for one in asked)
        able += sum(one["x"] >= 0.97 for one in asked)
        sampler.learn(
            [None if one["x"] < 0.5 else [one["y"], one["x"]] for one in asked],
            [{} if one["x"] < 0.5 else {"wide": 0.97 - one["x"]} for one in asked],
        )
    assert able > 2 * failed


@pytest.mark.long
@pytest.mark.parametrize("name", LEARNING)
def test_a_sampler_that_learns_is_better_than_random_configurations(name):
    found = np.mean([hypervolume(play(name, 20, seed=seed)[1]) for seed in (1, 2, 3)])
    random = np.mean([hypervolume(play("random", 20, seed=seed)[1]) for seed in (1, 2, 3)])
    assert found > random


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_failures_do_not_stop_a_sampler(name):
    everything_at_first = {*range(8), 11, 13}
    configurations, _ = play(name, 4, failing=everything_at_first)
    assert len(configurations) == 32


def test_every_configuration_of_a_finite_space_is_listed_once():
    sampler = samplers()["exhaustive"](FINITE, OBJECTIVES, 1, 3)
    configurations = []
    while batch := sampler.ask():
        assert len(batch) <= 3
        configurations += batch
        sampler.learn([[0.0, 0.0]] * len(batch), [{}] * len(batch))
    assert sorted(map(key, configurations)) == sorted(map(key, FINITE.configurations()))
    with pytest.raises(ScenarioError, match="choices and whole numbers only"):
        samplers()["exhaustive"](SPACE, OBJECTIVES, 1, 3)


def test_the_automatic_choice_follows_budget_and_space():
    assert find("auto", 200, SPACE).name == "surrogate"
    assert find("auto", 999, SPACE).name == "surrogate"
    assert find("auto", 1000, SPACE).name == "nsga2"
    assert find("auto", 5000, SPACE).name == "nsga2"
    assert find("auto", 4, FINITE).name == "exhaustive"
    assert find("auto", 3, FINITE).name == "surrogate"


def test_an_unknown_sampler_is_refused_with_a_hint():
    with pytest.raises(ScenarioError, match="nsga22: no such sampler; did you mean nsga2"):
        find("nsga22", 10, SPACE)
    with pytest.raises(ScenarioError, match="there are auto, "):
        find("zzz", 10, SPACE)


def test_a_generation_of_one_is_refused():
    for name in ("nsga3", "pymoo-nsga2"):
        with pytest.raises(ScenarioError, match=f"batch 1: the sampler {name} proposes at least 2"):
            samplers()[name](SPACE, OBJECTIVES, 1, 1)


def test_generations_grow_with_the_budget():
    sizes = [samplers()["nsga2"].batch_for(budget) for budget in (1, 50, 200, 1000, 100_000)]
    assert sizes == sorted(sizes)
    assert sizes[-1] == 100
    assert all(size % 2 == 0 for size in sizes)


@pytest.mark.long
@pytest.mark.parametrize("name", LEARNING)
def test_ties_in_every_objective_are_borne(name):
    sampler = samplers()[name](SPACE, OBJECTIVES, 1, 8)
    for _ in range(6):
        configurations = sampler.ask()
        assert len(configurations) == 8
        sampler.learn([[1.0, 0.0]] * 8, [{}] * 8)


def play_constrained(name, batches, seed=3):
    """As `play`, but half of all configurations break a constraint, most of them equally; some fail."""
    sampler = samplers()[name](SPACE, OBJECTIVES, seed, 8)
    configurations = []
    for _ in range(batches):
        asked = sampler.ask()
        results = [
            None if len(configurations) + k in {2, 19} else value(configuration)
            for k, configuration in enumerate(asked)
        ]
        broken = [1.0 if one["x"] < 0.5 else one["x"] - 0.9 for one in asked]
        excesses = [
            {} if result is None else {"a": excess, "b": -1.0}
            for result, excess in zip(results, broken, strict=True)
        ]
        sampler.learn(results, excesses)
        configurations += asked
    return configurations


@pytest.mark.long
@pytest.mark.parametrize("name", LEARNING)
def test_constraints_leave_proposals_repeatable_and_draw_them_to_what_is_feasible(name):
    configurations = play_constrained(name, 12)
    assert list(map(key, play_constrained(name, 12))) == list(map(key, configurations))

    def feasible(proposed):
        return sum(0.5 <= one["x"] <= 0.9 for one in proposed)

    late = sum(feasible(play_constrained(name, 12, seed)[48:]) for seed in (3, 4))
    free = sum(feasible(play(name, 12, seed=seed)[0][48:]) for seed in (3, 4))
    assert late > free


@pytest.mark.long
@pytest.mark.parametrize("name", LEARNING)
def test_a_search_where_nothing_is_feasible_is_borne(name):
    sampler = samplers()[name](SPACE, OBJECTIVES, 3, 8)
    for _ in range(6):
        configurations = sampler.ask()
        assert len(configurations) == 8
        sampler.learn([value(one) for one in configurations], [{"a": 1.0}] * 8)


@pytest.mark.long
@pytest.mark.parametrize("objectives", [1, 2])
def test_the_surrogate_finds_what_keeps_a_constraint_where_nothing_known_does(objectives):
    """The constraint asks for the corner that is worst in the first objective."""
    space = Space(tuple(Parameter(f"p{k}", low=0.0, high=1.0) for k in range(4)))
    sampler = samplers()["surrogate"](space, OBJECTIVES[:objectives], 1, 8)
    found = 0
    for _ in range(6):
        asked = [list(one.values()) for one in sampler.ask()]
        found += sum(sum(one) >= 3.4 for one in asked)
        results = [[sum(one), one[0] - one[1]][:objectives] for one in asked]
        sampler.learn(results, [{"a": 3.4 - sum(one), "b": -1.0} for one in asked])
    assert found > 3


@pytest.mark.parametrize("objectives", [1, 2, 3])
@pytest.mark.parametrize("base", [0, 1, 6])
def test_what_configurations_promise_is_the_mean_volume_that_each_adds_in_turn(objectives, base):
    rng = np.random.default_rng(objectives)
    means = rng.normal(size=(base + 12, objectives))
    means[base + 1] = means[base] + 5.0  # worse than the corner
    draws = means + 0.5 * rng.normal(size=(9, *means.shape))
    means = draws[:, list(range(base)) if base > 1 else list(range(base + 12))].mean(axis=0)
    corner = means.max(axis=0) + 0.1 * np.ptp(means, axis=0)
    taken = list(range(base))
    for _ in range(4):
        left = [at for at in range(base, base + 12) if at not in taken]
        volumes = {
            at: np.mean([moocore.hypervolume(draw[[*taken, at]], ref=corner) for draw in draws])
            for at in left
        }
        taken.append(max(left, key=lambda at: (volumes[at], -at)))
    assert promising(draws, range(base, base + 12), 4, range(base)) == taken[base:]


def test_the_most_promising_configurations_are_those_that_add_most():
    means = np.array([[0.0, 4.0], [1.0, 1.0], [4.0, 0.0], [1.1, 1.1], [5.0, 5.0]])
    draws = means + np.random.default_rng(1).normal(0, 0.01, (20, 5, 2))
    assert promising(draws, range(5), 1) == [1]
    assert set(promising(draws, range(5), 3)) == {0, 1, 2}
    assert set(promising(draws, [0, 2, 3], 2, base=[1, 4])) == {0, 2}


@pytest.mark.parametrize("base", [[], [3], [1, 2]])
def test_what_is_of_no_use_in_most_draws_is_taken_after_what_adds_less(base):
    means = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 1.0], [2.0, 2.0], [1.4, 1.4]])
    draws = np.tile(means, (400, 1, 1))
    assert promising(draws, [0, 4], 1, base) == [0]
    draws[1:, 0] = np.inf
    assert promising(draws, [0, 4], 2, base) == [4, 0]


def test_a_margin_is_positive_where_a_constraint_is_broken_and_grows_with_the_excess():
    excess = np.array([-np.inf, -5.0, -1.0, 0.0, 1e-9, 2.0, 400.0, np.inf])
    margins = margins_of(excess)
    assert list(margins > 0) == list(excess > 0)
    assert abs(margins).min() >= 0.5
    assert list(margins) == sorted(margins)
    assert abs(margins).max() <= 1
    assert list(margins_of(np.zeros(2))) == [-0.5, -0.5]


@given(st.floats(0, 1))
def test_a_share_of_a_range_is_where_its_value_stands(share):
    for one in (Parameter("a", low=0.1, high=10.0, log=True), Parameter("a", low=-2.0, high=3.0)):
        assert one.share(one.at(share)) == pytest.approx(share, abs=1e-9)
    whole = Parameter("a", low=1, high=8, whole=True)
    assert whole.at(whole.share(whole.at(share))) == whole.at(share)
    kinds = Parameter("a", choices=("x", "y", "z"))
    assert kinds.at(kinds.share(kinds.at(share))) == kinds.at(share)
