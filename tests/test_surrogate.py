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
    points = []
    for _ in range(batches):
        asked = sampler.ask()
        sampler.tell([value(point) for point in asked])
        points += asked
    return points


def far_worse_unless_right(point):
    """Kind d is far worse than all others, but in a corner that few points find."""
    if point["kind"] != "d":
        return [1.0 + point["x"], point["x"]]
    right = abs(point["x"] - 0.5) + point["u"] + (point["mode"] == 1)
    return [10.0 * right, 1.0 - 10.0 * right]


@pytest.mark.long
def test_the_surrogate_learns_of_an_objective_that_is_equal_at_most_points():
    space = Space((Parameter("x", low=0.0, high=1.0), Parameter("y", low=0.0, high=1.0)))
    sampler = samplers()["surrogate"](space, OBJECTIVES, 1, 8)
    asked = []
    for _ in range(8):
        batch = sampler.ask()
        sampler.tell([[point["y"], max(0.0, point["x"] - 0.85)] for point in batch])
        asked += batch
    found = [point["x"] > 0.85 for point in asked[24:]]
    assert sum(found) / len(found) > 0.5  # at random 0.15


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_first_points_show_each_kind_and_each_part_of_a_range_equally_often(seed):
    points = play(lambda point: [point["x"], point["x"]], 2, seed=seed)
    assert Counter(point["kind"] for point in points) == dict.fromkeys("abcd", 4)
    assert sorted(int(16 * point["x"]) for point in points) == list(range(16))


def test_where_first_points_fail_others_are_tried():
    points = play(lambda point: None, 4)
    assert len(points) == 32
    assert len({point["x"] for point in points}) == 32


@pytest.mark.long
def test_no_kind_is_neglected_however_bad_it_looks(monkeypatch):
    def share(kind, value, batches=20):
        points = play(value, batches)[16:]
        return sum(point["kind"] == kind for point in points) / len(points)

    def bad(point):
        return [9.0, -9.0] if point["kind"] == "b" else [1.0 + point["x"], point["x"]]

    least = surrogate.NEGLECTED / 4  # of its even share
    assert 0.6 * least < share("b", bad) < 2 * least
    monkeypatch.setattr(surrogate, "NEGLECTED", 0.0)
    assert share("b", bad) < 0.5 * least


@pytest.mark.long
@pytest.mark.parametrize("seed", [2])
def test_a_kind_that_is_good_in_one_corner_alone_is_looked_at_until_that_is_near(monkeypatch, seed):
    def best():
        points = play(far_worse_unless_right, 20, seed=seed)
        return max(far_worse_unless_right(point)[1] for point in points if point["kind"] == "d")

    assert best() > -1.0
    monkeypatch.setattr(surrogate, "NEGLECTED", 0.0)
    assert best() < -2.0


def test_what_fails_was_looked_at():
    sampler = samplers()["surrogate"](KINDS, OBJECTIVES, 1, 8)
    for _ in range(2):
        sampler.tell([None if point["kind"] == "b" else [1.0, 1.0] for point in sampler.ask()])
    assert sampler._neglected() is None
    for _ in range(8):
        sampler.inform([{"kind": "a", "x": 0.5}], [[1.0, 1.0]], [{}])
    assert sampler._neglected() is None
    for _ in range(40):
        sampler.inform([{"kind": "a", "x": 0.5}], [[1.0, 1.0]], [{}])
    assert sampler._neglected() == ("kind", "b")


def test_what_is_tried_of_a_neglected_kind_is_of_it_in_all_its_parts():
    sampler = samplers()["surrogate"](KINDS, OBJECTIVES, 1, 8)
    moved = sampler._with("kind", "d", {"kind": "a", "x": 0.25})
    assert set(moved) == {"kind", "x", "u", "mode"}
    assert (moved["kind"], moved["x"]) == ("d", 0.25)
    assert sampler._with("kind", "b", moved) == {"kind": "b", "x": 0.25}
