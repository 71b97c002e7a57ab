"""What the surrogate proposes first, what it learns, and that it neglects no kind."""

from collections import Counter

import pytest

from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.samplers import samplers, surrogate
from gridtune.optimize.search_space.parameter import Parameter
from gridtune.optimize.search_space.space import Space

OBJECTIVES = (Objective("cost", "minimize"), Objective("gain", "maximize"))
KINDS = Space(
    (
        Parameter("kind", choices=("a", "b", "c", "d")),
        Parameter("x", low=0.0, high=1.0),
        Parameter("u", low=0.0, high=1.0, when={"kind": ("d",)}),
        Parameter("mode", choices=(1, 2), when={"kind": ("d",)}),
    )
)


def play(value, batches, space=KINDS, seed=1):
    """All proposals of some batches of eight."""
    sampler = samplers()["surrogate"](space, OBJECTIVES, seed, 8)
    configurations = []
    for _ in range(batches):
        asked = sampler.ask()
        sampler.learn([value(one) for one in asked], [{}] * len(asked))
        configurations += asked
    return configurations


def far_worse_unless_right(configuration):
    """Kind d is far worse than all others, but in a corner that few configurations find.

    Costs are above and below 0, so that they are not modelled by their logarithms.
    """
    if configuration["kind"] != "d":
        return [configuration["x"] - 4.0, configuration["x"]]
    right = abs(configuration["x"] - 0.5) + configuration["u"] + (configuration["mode"] == 1)
    return [10.0 * right - 5.0, 1.0 - 10.0 * right]


@pytest.mark.long
def test_the_surrogate_learns_of_an_objective_that_is_equal_at_most_configurations():
    space = Space((Parameter("x", low=0.0, high=1.0), Parameter("y", low=0.0, high=1.0)))
    sampler = samplers()["surrogate"](space, OBJECTIVES, 1, 8)
    asked = []
    for _ in range(8):
        batch = sampler.ask()
        sampler.learn([[one["y"], max(0.0, one["x"] - 0.85)] for one in batch], [{}] * len(batch))
        asked += batch
    found = [one["x"] > 0.85 for one in asked[24:]]
    assert sum(found) / len(found) > 0.5  # at random 0.15


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_first_configurations_show_each_kind_and_each_part_of_a_range_equally_often(seed):
    configurations = play(lambda configuration: [configuration["x"], configuration["x"]], 2, seed=seed)
    assert Counter(one["kind"] for one in configurations) == dict.fromkeys("abcd", 4)
    assert sorted(int(16 * one["x"]) for one in configurations) == list(range(16))


def test_where_first_configurations_fail_others_are_tried():
    configurations = play(lambda configuration: None, 4)
    assert len(configurations) == 32
    assert len({one["x"] for one in configurations}) == 32


@pytest.mark.long
def test_no_category_stays_rare_however_bad_it_looks(monkeypatch):
    def share(kind, value, batches=20):
        configurations = play(value, batches)[16:]
        return sum(one["kind"] == kind for one in configurations) / len(configurations)

    def bad(configuration):
        return [9.0, -9.0] if configuration["kind"] == "b" else [1.0 + configuration["x"], configuration["x"]]

    least = surrogate.RARE / 4  # of its even share
    assert 0.6 * least < share("b", bad) < 2 * least
    monkeypatch.setattr(surrogate, "RARE", 0.0)
    assert share("b", bad) < 0.5 * least


@pytest.mark.long
@pytest.mark.parametrize("seed", [3, 4])
def test_a_kind_that_is_good_in_one_corner_alone_is_looked_at_until_that_is_near(monkeypatch, seed):
    def best():
        configurations = play(far_worse_unless_right, 20, seed=seed)
        return max(far_worse_unless_right(one)[1] for one in configurations if one["kind"] == "d")

    found = best()
    monkeypatch.setattr(surrogate, "RARE", 0.0)
    assert found > best() + 1.0


def test_distances_are_those_of_logarithms_where_the_space_says_so():
    plain = Space((Parameter("a", low=1.0, high=100.0, log=True), Parameter("b", low=1.0, high=100.0)))
    sampler = samplers()["surrogate"](plain, OBJECTIVES, 1, 8)
    squares = sampler._apart([{"a": one, "b": one} for one in (1.0, 10.0, 100.0)]).squares
    assert squares[0, 0, 1] == pytest.approx(squares[0, 1, 2])
    assert squares[1, 0, 1] < 0.1 * squares[1, 1, 2]


def test_a_front_of_more_than_the_model_takes_is_cut(monkeypatch):
    monkeypatch.setattr(surrogate, "KNOWN", 20)
    sampler = samplers()["surrogate"](KINDS, OBJECTIVES, 1, 8)
    known = [{"kind": "a", "x": at / 50} for at in range(50)]
    sampler.inform(known, [[one["x"], one["x"]] for one in known], [{}] * 50)  # all are on the front
    assert len(sampler.ask()) == 8
    assert len(sampler._known) == len(sampler._front) == 20


def test_what_fails_was_looked_at():
    sampler = samplers()["surrogate"](KINDS, OBJECTIVES, 1, 8)
    for _ in range(2):
        results = [None if one["kind"] == "b" else [1.0, 1.0] for one in sampler.ask()]
        sampler.learn(results, [{}] * len(results))
    assert sampler._rarest() is None
    for _ in range(8):
        sampler.inform([{"kind": "a", "x": 0.5}], [[1.0, 1.0]], [{}])
    assert sampler._rarest() is None
    for _ in range(40):
        sampler.inform([{"kind": "a", "x": 0.5}], [[1.0, 1.0]], [{}])
    assert sampler._rarest() == ("kind", "b")


def test_what_is_tried_of_a_rare_category_has_it_in_all_its_parts():
    sampler = samplers()["surrogate"](KINDS, OBJECTIVES, 1, 8)
    moved = sampler._with("kind", "d", {"kind": "a", "x": 0.25})
    assert set(moved) == {"kind", "x", "u", "mode"}
    assert (moved["kind"], moved["x"]) == ("d", 0.25)
    assert sampler._with("kind", "b", moved) == {"kind": "b", "x": 0.25}


def test_a_parameter_that_no_known_configuration_has_may_be_in_a_proposed_one():
    sampler = samplers()["surrogate"](KINDS, OBJECTIVES, 1, 8)
    known = [{"kind": "abc"[at % 3], "x": at / 30} for at in range(30)]
    sampler.inform(known, [[one["x"], one["x"]] for one in known], [{}] * len(known))
    configurations = sampler.ask()
    assert len(configurations) == 8
    assert any("u" in one for one in configurations)  # the category that was never tried


def test_an_objective_whose_sign_changes_is_modelled_anew():
    """Logarithms were likelier at first; later a value is negative."""
    space = Space((Parameter("x", low=0.0, high=1.0), Parameter("y", low=0.0, high=1.0)))
    sampler = samplers()["surrogate"](space, OBJECTIVES, 1, 8)

    def learn(value):
        batch = sampler.ask()
        sampler.learn([[value(one), one["y"]] for one in batch], [{}] * len(batch))

    for _ in range(3):
        learn(lambda one: 10.0 ** (6.0 * one["x"]))
    sampler.ask()
    assert sampler._models[0].sign == 1
    learn(lambda one: -1.0)
    sampler.ask()
    assert sampler._models[0].sign == 0
