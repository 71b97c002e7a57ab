"""Recommendations follow their rules and say why."""

import pytest

from gridtune.optimize.front.changes import change
from gridtune.optimize.front.front import front
from gridtune.optimize.front.recommendations import balance, lexicographic, recommend
from gridtune.optimize.records.evaluations import Objective
from tests.fronts import COMPLETED, THREE, UNFAIR, UNHAPPY, archive, search


def chosen(study, **options):
    return {item.name: item.member.evaluation.number for item in recommend(front(study), **options)}


def test_without_noise_the_choice_is_the_papers_fewest_unhappy_then_fairest_then_most_completed():
    study = archive(THREE, (0, 0.7, 1890), (0, 0.1, 1842), (1, 0.0, 1900), (0, 0.4, 1850))
    assert chosen(study)["lexicographic"] == 1


def test_the_order_of_the_objectives_can_be_changed():
    study = archive(THREE, (0, 0.7, 1890), (0, 0.1, 1842), (1, 0.05, 1900))
    assert chosen(study, order=["completed"])["lexicographic"] == 2
    assert chosen(study, order=["unfairness"])["lexicographic"] == 2
    with pytest.raises(ValueError, match="makespan: not an objective"):
        recommend(front(study), order=["makespan"])


def test_a_difference_within_the_noise_is_a_tie_and_the_next_objective_decides():
    noisy = (0, 0, 1, 0)  # 0.25 +- 0.25 behind
    study = archive((UNHAPPY, UNFAIR), (((0, 0, 0, 0)), (0.9,) * 4), (noisy, (0.1,) * 4))
    assert chosen(study)["lexicographic"] == 1
    assert chosen(study, tolerance=0)["lexicographic"] == 0
    assert "2 of 2 points level with the best" in recommend(front(study))[0].reason


def test_noise_that_points_share_is_no_excuse():
    study = archive((UNHAPPY, UNFAIR), ((0, 5, 10), (0.9,) * 3), ((1, 6, 11), (0.1,) * 3))
    assert chosen(study)["lexicographic"] == 0


def test_the_last_objective_decides_by_its_mean():
    study = archive((UNFAIR,), ((1, 2, 3),), ((1, 2, 2.9),))
    found = front(study)
    member, remaining = lexicographic(found, found.members, [UNFAIR])
    assert member.evaluation.number == 1
    assert remaining == [1]


def test_the_compromise_is_the_knee():
    corner = archive((UNFAIR, COMPLETED), (0.0, 0), (0.1, 90), (0.5, 95), (1.0, 100))
    assert chosen(corner)["compromise"] == 1
    assert "at most 10%" in recommend(front(corner))[1].reason


def test_the_compromise_does_not_depend_on_units():
    small = archive((UNFAIR, COMPLETED), (0.0, 0), (0.1, 90), (0.5, 95), (1.0, 100))
    large = archive((UNFAIR, COMPLETED), (0.0, 0), (100, 90), (500, 95), (1000, 100))
    assert chosen(small) == chosen(large)


def test_the_best_of_each_objective_is_named_with_its_value_gains_and_losses():
    advice = {item.name: item for item in recommend(front(archive(THREE, (0, 0.1, 1842), (2, 0.75, 1890))))}
    best = advice["best completed"]
    assert best.member.evaluation.number == 1
    assert best.reason == (
        "The highest completed of the front: 1890 jobs. Against number 0 (lexicographic): completed higher by"
        " 48 jobs, at the price of unhappy users higher by 2, unfairness higher by 0.65."
    )


def test_points_that_fresh_seeds_beat_are_not_recommended():
    study = archive(
        (UNFAIR, COMPLETED),
        (0.1, 100), (0.2, 110),
        fresh=[((0.3, 0.3), (100, 100)), ((0.2, 0.2), (110, 110))],
    )  # fmt: skip
    advice = recommend(front(study))
    assert {item.member.evaluation.number for item in advice} == {1}
    assert all(item.reason.startswith("The only point that is kept.") for item in advice)


def test_one_objective_needs_one_recommendation_and_an_empty_front_none():
    assert list(chosen(archive((COMPLETED,), (5,), (9,)))) == ["best completed"]
    assert chosen(archive(THREE)) == {}


def test_every_recommendation_of_a_noisy_search_is_a_kept_member_with_a_reason():
    found = front(search())
    for item in recommend(found):
        assert item.member in found.kept
        assert 20 < len(item.reason) < 600


def test_times_of_a_balance_are_in_the_unit_of_people():
    waits = Objective("waiting_mean", "minimize", "s")
    some = [
        change(waits, (9000.0, 9100.0, 9000.0), (5400.0, 5600.0, 5500.0)),
        change(UNFAIR, (0.5,), (0.75,)),
    ]
    assert balance(some) == "waiting mean lower by 58.9 ± 2.4 min, unfairness higher by 0.25"
