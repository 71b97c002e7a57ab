"""Which points of a front are chosen, grouped and compared: by rules that ties and bounds decide."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gridtune.optimize.front.against_today import between
from gridtune.optimize.front.dominant_choice import dominant_choices
from gridtune.optimize.front.front import (
    Member,
    _judged,
    _kept,
    _without_luck,
    comparable,
    front,
    history,
    hypervolume,
    reference_point,
)
from gridtune.optimize.front.number_format import amount, cell, measured, plain, with_unit
from gridtune.optimize.front.recommendations import (
    _unbeaten,
    compromise,
    grouped,
    ordered,
    recommend,
    reliabilities,
    silent,
)
from gridtune.optimize.front.worth import worth_of
from gridtune.optimize.inference.judgement import Loss
from gridtune.optimize.records.evaluations import Archive, Constraint, Failed, Objective
from gridtune.optimize.replication.reliability import Reliability
from gridtune.optimize.report.comparison import Row, _interval, compared, compared_fronts
from gridtune.optimize.report.preference import Preference
from tests.fronts import COMPLETED, THREE, UNFAIR, UNHAPPY, archive, evaluation, search

TWO = (UNFAIR, COMPLETED)
PUSH = {"kind": "push", "period": 30.0}
PULL = {"kind": "pull", "poll": 60.0}
PILOT = {"kind": "pilot", "mode": "filling"}


def noisy(centre, seed, size=0.01, count=6):
    return tuple(centre + size * np.random.default_rng(seed).normal(size=count))


# Kept and certain


def test_who_is_as_likely_on_the_front_as_not_is_kept():
    points = [evaluation(k, (UNFAIR,), (k,)) for k in range(4)]
    members = [Member(one, True, share) for one, share in zip(points, (0.2, 0.5, 0.49, None), strict=True)]
    worth = {k: np.array([float(k)]) for k in range(4)}
    made = _kept(members, worth, set)
    assert [(m.evaluation.number, m.non_dominated) for m in made] == [
        (0, True), (1, True), (2, False), (3, False),
    ]  # fmt: skip
    broken = replace(members[0], feasible=False, probability_non_dominated=1.0)
    made = _kept([broken, members[2]], worth, set)
    assert [(m.evaluation.number, m.non_dominated) for m in made] == [(2, True), (0, False)]
    made = _kept(members, worth, lambda numbers: {max(numbers)})
    assert [m.evaluation.number for m in made if m.non_dominated] == [1]


def test_runs_that_repeat_each_other_say_nothing_of_chance():
    repeated = front(archive(TWO, ((0.1, 0.1), (5, 5)), ((0.2, 0.2), (9, 9))))
    assert [member.probability_non_dominated for member in repeated.members] == [None, None]
    assert not repeated.chances
    for runs in (1, 2):  # of four runs nothing is said, either
        mixed = front(archive(TWO, ((0.1, 0.3) * runs, (5, 6) * runs), ((0.2, 0.2) * runs, (9, 9) * runs)))
        assert not mixed.chances
    five = front(archive(TWO, ((0.1, 0.3, 0.2, 0.3, 0.1), (5,) * 5), ((0.2,) * 5, (9,) * 5)))
    assert five.chances
    assert None not in [member.probability_non_dominated for member in five.members]
    same, once = (evaluation(0, TWO, one) for one in (((1, 1), (2, 2)), (1, 2)))
    assert _without_luck([same, once])
    assert not _without_luck([once])  # nothing was seen twice
    again = evaluation(0, TWO, (1, 2), fresh=((1, 1), (2, 2)))  # one run in the search, fresh ones like it
    assert _without_luck([again, once])
    for other in (((1, 2), (2, 2)), ((3, 3), (2, 2))):
        lucky = evaluation(0, TWO, ((1, 1), (2, 2)), fresh=other)
        assert not _without_luck([same, lucky])


def test_the_chance_on_the_front_is_that_of_the_model_times_that_of_keeping_the_constraints():
    points = [evaluation(k, (UNFAIR,), ((0.0, 1.0, 0.0, 1.0, 0.0),)) for k in range(3)]
    model = SimpleNamespace(chances={0: 0.5, 1: 0.5})
    members = [Member(points[0], True, 1.0), Member(points[1], True, 1.0, probability_feasible=0.5),
               Member(points[2], True, 1.0)]  # fmt: skip
    found = [one.probability_non_dominated for one in _judged(members, model, certain=False)]
    assert found == [0.5, 0.25, 0.0]
    assert _judged(members, None, certain=False) == tuple(members)
    assert {one.probability_non_dominated for one in _judged(members, model, certain=True)} == {None}


def test_a_point_evaluated_again_is_known_by_its_first_evaluation_or_its_first_on_fresh_seeds():
    def at(number, *, fresh=False, value=0.5):
        return evaluation(number, (UNFAIR,), (value,), values={"a": 1}, fresh=(value,) if fresh else None)

    def chosen(*points):
        return [one.number for one in comparable(Archive("s", "x", (UNFAIR,), points))]

    assert chosen(at(0), at(1)) == [0]
    assert chosen(at(0), at(1, fresh=True), at(2, fresh=True)) == [1]
    assert chosen(at(0, fresh=True), at(1)) == [0]
    assert chosen(at(0, value=float("inf")), at(1)) == [1]


def test_without_today_the_reference_lies_a_tenth_of_the_range_beyond_the_worst():
    assert reference_point(archive((UNFAIR,), (2.0,), (6.0,))) == pytest.approx((6.4,))
    assert reference_point(archive((COMPLETED,), (2.0,), (6.0,))) == pytest.approx((1.6,))
    assert reference_point(archive((UNFAIR,), (50.0,))) == pytest.approx((55.0,))
    assert reference_point(archive((UNFAIR,), (0.5,))) == pytest.approx((0.6,))
    assert reference_point(archive((UNFAIR,))) == (0.0,)
    assert reference_point(archive(TWO, (0.3, 7.0), (9.0, 9.0), today=0)) == (0.6, 0.0)


def test_the_volume_is_that_of_the_union_of_boxes():
    rows = np.array([[1.0, -4.0], [2.0, -8.0]])
    assert hypervolume(rows, TWO, (3.0, 2.0)) == 4 + 6 - 2
    assert hypervolume(rows[:0], TWO, (3.0, 2.0)) == 0.0


def test_the_history_has_a_step_where_the_volume_grows_and_at_the_end():
    study = archive((UNFAIR,), (5.0,), (6.0,), (4.0,), (4.0,), (7.0,))
    assert history(study, reference=(10.0,)) == [(1, 5.0), (3, 6.0), (5, 6.0)]
    assert history(archive((UNFAIR,), (5.0,)), reference=(10.0,)) == [(1, 5.0)]
    assert history(archive((UNFAIR,), (float("nan"),))) == []


def test_points_that_are_not_on_the_streams_of_the_members_keep_their_own_means():
    members = [evaluation(0, (UNFAIR,), (1.0,), fresh=((5.0, 7.0),))]
    others = [evaluation(1, (UNFAIR,), (2.0,)), evaluation(2, (UNFAIR,), (3.0,), fresh=((9.0,),))]
    found = worth_of(members, [*others, *members], [], (UNFAIR,), None)
    assert {number: row.tolist() for number, row in found.items()} == {0: [6.0], 1: [2.0], 2: [10.0]}


# Choices


def test_the_largest_loss_of_the_compromise_is_a_share_of_the_fronts_span():
    found = front(archive(TWO, (0.0, 0), (0.2, 90), (0.5, 95), (1.0, 100)))
    member, loss = compromise(found, found.kept, TWO)
    assert (member.evaluation.number, loss) == (1, pytest.approx(0.2))
    member, loss = compromise(found, [m for m in found.kept if m.evaluation.number != 1], TWO)
    assert (member.evaluation.number, loss) == (2, pytest.approx(0.5))


def test_of_equal_largest_losses_the_least_sum_decides():
    level = archive(THREE, (5, 5.0, 5), (5, 2.0, 6), (0, 10.0, 0), (10, 0.0, 0), (10, 10.0, 10))
    found = front(level)
    member, loss = compromise(found, found.kept, THREE)
    assert (member.evaluation.number, loss) == (1, 0.5)


def test_who_is_beaten_with_a_risk_of_more_than_a_twentieth_is_no_candidate_while_others_are():
    members = [Member(evaluation(k, (UNFAIR,), (k,)), True, None) for k in range(4)]
    losses = {0: Loss(0.0, 0.05), 1: Loss(0.0, 0.0501), 2: Loss(0.5, 0.0)}
    assert [m.evaluation.number for m in _unbeaten(members, losses)] == [0, 2]
    assert _unbeaten(members[1:2], losses) == members[1:2]
    assert _unbeaten(members, {}) == members


def test_objectives_not_named_follow_in_their_order():
    assert ordered(THREE, ["completed"]) == [COMPLETED, UNHAPPY, UNFAIR]
    assert ordered(THREE, ["completed", "completed", "unfairness"]) == [COMPLETED, UNFAIR, UNHAPPY]
    assert ordered(THREE, None) == list(THREE)


def test_recommendations_of_one_point_stand_together():
    advice = recommend(front(archive(THREE, (0, 0.1, 1842), (2, 0.75, 1890))))
    assert [[item.name for item in some] for some in grouped(advice)] == [
        ["lexicographic", "compromise", "best unhappy_users", "best unfairness"], ["best completed"],
    ]  # fmt: skip
    assert repr(advice[0]) == "Recommendation('lexicographic', point 0)"


def test_reasons_say_what_decided():
    points = (0, 0.5, 10), (0, 0.1, 5), (2, 0.0, 20)
    advice = {item.name: item.reason for item in recommend(front(archive(THREE, *points)))}
    decided = "First the lowest unhappy users (0, 2 of 3 points level with the best), then the"
    assert advice["lexicographic"].startswith(decided)
    none = "Every point gives up all of the front's span in some objective: none lies between."
    assert advice["compromise"].startswith(none)
    between = recommend(front(archive(TWO, (0.1, 5), (0.2, 9), (0.14, 7.5))))[1].reason
    assert "in any objective, less than every other point." in between
    level = recommend(front(archive(TWO, (0.0, 0), (0.25, 5), (0.5, 7.5), (1.0, 10))))[1].reason
    assert "at most 50% of the front's span in any objective, no more than any other point." in level
    assert (
        "Against number 2 (compromise): unhappy users lower by 2, at the price of" in advice["lexicographic"]
    )
    clear = recommend(front(archive(TWO, (0.1, 5), (0.2, 9))))[0].reason
    assert clear.startswith(
        "First the lowest unfairness (0.1). Against number 1 (best completed): unfairness lower by 0.1, "
    )
    assert clear.endswith("at the price of completed lower by 4 jobs.")


def test_where_all_rules_agree_they_say_so():
    found = front(archive(TWO, ((0.1, 0.1), (5, 5)), ((0.2, 0.2), (9, 9))))
    (one,) = [member for member in found.members if member.evaluation.number == 0]
    alone = replace(found, members=(one,))
    assert {item.reason for item in recommend(alone)} == {"The only point that is kept. "}
    single = recommend(front(archive((UNFAIR,), (0.1,), (0.2,))))
    assert [item.reason for item in single] == ["The only point that is kept. "]


def test_preferences_are_exact_at_their_bounds():
    found = front(archive(TWO, (0.0, 0.0), (0.1, 90.0), (0.5, 95.0), (1.0, 100.0)))

    def ranked(text):
        return [m.evaluation.number for m in Preference.of(text, TWO).ranked(found)]

    assert ranked("completed>=95") == [2, 3]
    assert ranked("unfairness<=0.1,completed>=90") == [1]
    assert ranked("unfairness~0.5,completed") == [2, 1, 0, 3]
    assert ranked("unfairness=0,completed=1") == [3, 2, 1, 0]
    assert ranked("unfairness~0") == ranked("unfairness") == [0, 1, 2, 3]
    made = Preference.of("unfairness<=0.5, completed>=3, unfairness=2", TWO)
    assert made == Preference((("unfairness", "<=", 0.5), ("completed", ">=", 3.0)), {"unfairness": 2.0}, ())


# Two fronts


def test_the_best_of_a_maximised_objective_is_the_highest():
    a = front(archive(TWO, ((0.1, 0.2), (5, 5)), ((0.4, 0.5), (9, 9))))
    b = front(archive(TWO, ((0.2, 0.3), (6, 6)), ((0.5, 0.6), (12, 12)), ((0.3, 0.35), (8, 8))))
    volume, count, unfair, completed = compared_fronts(a, b, common=True)
    assert (count.first, count.second) == (2.0, 3.0)
    assert (unfair.name, unfair.first, unfair.second, unfair.better) == (
        "best unfairness", pytest.approx(0.15), pytest.approx(0.25), False,
    )  # fmt: skip
    assert (completed.first, completed.second, completed.better, completed.paired) == (9, 12, True, True)
    assert volume.paired
    assert volume.low <= volume.difference <= volume.high
    same = compared_fronts(a, a, common=True)
    assert (same[0].better, same[0].low, same[0].high, same[2].better) == (None, 0.0, 0.0, None)
    apart = compared_fronts(a, a, common=False)[0]
    assert apart.low < 0 < apart.high


def test_a_front_that_gains_is_better():
    a, b = (front(archive((UNFAIR,), ((x, x),), today=0)) for x in (2.0, 1.0))
    assert (compared_fronts(a, b, common=True)[0].better, compared_fronts(b, a, common=True)[0].better) == (
        True,
        False,
    )


def test_the_interval_of_a_volume_is_that_of_means_over_streams():
    draw = np.random.default_rng(4)
    runs = [draw.normal(5, 1, (1, 1, 50)), draw.normal(3, 1, (1, 1, 50))]
    low, high = _interval(runs, (UNFAIR,), (10.0,), common=False)
    centre = runs[0].mean() - runs[1].mean()
    half = 1.96 * ((runs[0].var(ddof=1) + runs[1].var(ddof=1)) / 50) ** 0.5
    assert (low, high) == pytest.approx((centre - half, centre + half), abs=0.1)
    shifted = [runs[0], runs[0] - 2.0]
    assert _interval(shifted, (UNFAIR,), (10.0,), common=True) == pytest.approx((2.0, 2.0))
    assert _interval([part[:, :, :1] for part in runs], (UNFAIR,), (10.0,), common=True) == (None, None)
    assert None not in _interval([part[:, :, :2] for part in runs], (UNFAIR,), (10.0,), common=True)


def test_rows_of_a_comparison():
    found = compared(COMPLETED, (1.0, 2.0, 90.0), (4.0, 6.0), common=True)
    assert (found.first, found.second, found.difference, found.better, found.name) == (
        1.5,
        5.0,
        3.5,
        True,
        "completed",
    )
    apart = compared(UNFAIR, (1.0, 2.0, 90.0), (4.0, 6.0), common=False, name="mine")
    assert (apart.first, apart.second, apart.better, apart.paired, apart.name) == (
        31.0,
        5.0,
        True,
        False,
        "mine",
    )
    assert compared(UNFAIR, (1.0,), (1.0,), common=True).better is None
    assert (Row("x", "", None, 1.0).difference, Row("x", "", 1.0, None).difference) == (None, None)
    assert found.as_json()["difference"] == 3.5


# Kinds


def study(*points, **facts):
    made = [
        replace(evaluation(k, (UNHAPPY, COMPLETED), one, values=values, fresh=fresh), host=host)
        for k, (values, one, fresh, host) in enumerate((*p, None, None)[:4] for p in points)
    ]
    return Archive("study", "x", (UNHAPPY, COMPLETED), tuple(made), **facts)


def runs(unhappy, completed):
    return (noisy(unhappy, int(unhappy * 100), 0.1), noisy(completed, int(completed), 0.1))


def pull(poll, **more):
    return {"kind": "pull", "poll": poll, **more}


def test_only_what_is_in_the_place_of_the_fronts_kind_tests_a_kind():
    best, worse = runs(1, 50), runs(9, 20)
    push = PUSH | {"policy": "easy"}
    found = front(
        study(
            (push, best, best),
            (pull(60.0, policy="easy"), worse, worse, 0),
            (pull(61.0, policy="fcfs"), worse, worse),  # proposed, with another policy than the member
            (pull(62.0, policy="easy"), worse, None, 0),  # not run on fresh seeds
            (PILOT | {"policy": "easy"}, worse, worse, 1),  # in the place of another kind
            (push | {"policy": "fcfs"}, worse, worse, 0),  # of the front's own kind
            (pull(63.0, policy="easy"), worse, worse),  # proposed, as it would be put in place
            (pull(64.0, policy="fcfs"), worse, worse, 0),
        )
    )
    (choice,) = dominant_choices(found)
    tested = {one.value: one.tested for one in choice.alternatives}
    assert (choice.path, choice.value, list(tested)) == ("kind", "push", ["pilot", "pull"])
    assert tested["pilot"] is None
    assert [one.values["poll"] for one in tested["pull"].transplants] == [60.0, 63.0, 64.0]
    assert {(one.host, one.tests) for one in tested["pull"].transplants} == {(0, 6)}
    assert (tested["pull"].verdict, tested["pull"].runs) == ("worse", 6)
    assert str(choice) == (
        "Undecided: all points of the front have kind push. The search evaluated pilot (1) with settings of "
        "its own, but did not run it on fresh seeds in the place of push in a point of the front; "
        "`gridtune explain STUDY kinds` does. Put there were others (3 variants, 6 fresh runs each): pull "
        "worse in 3."
    )
    made = choice.as_json()["others"]
    assert [(one["value"], one["tested"], one["verdict"]) for one in made] == [
        ("pilot", False, "undecided"), ("pull", True, "worse"),
    ]  # fmt: skip
    assert len(made[1]["transplants"]) == 3


def put(kind, outcome, count=3):
    """Variants of a kind in the place of point 0's."""
    return [({**kind, "own": k}, outcome, outcome, 0) for k in range(count)]


def said_of(*points, **facts):
    return str(dominant_choices(front(study((PUSH, runs(1, 50), runs(1, 50)), *points, **facts)))[0])


def test_kinds_that_were_all_put_into_points_of_the_front_are_told_together():
    worse, slightly = runs(9, 20), runs(1.03, 49.9)
    assert said_of(*put(PULL, worse), *put(PILOT, worse)) == (
        "All points of the front have kind push: pilot and pull, put in its place in points of the front "
        "(6 variants, 6 fresh runs each), are worse beyond noise."
    )
    assert said_of(*put(PULL, worse)).endswith("is worse beyond noise.")
    open_ = said_of(*put(PULL, worse), *put(PILOT, slightly))
    assert "Undecided whether others" in open_
    assert open_.endswith("pilot undecided in 3. pull is worse.")


def test_of_a_kind_of_which_few_variants_ran_nothing_is_said_but_that():
    worse = runs(9, 20)
    assert said_of(*put(PULL, worse, 1)) == (
        "All points of the front have kind push. Undecided whether others, put in its place in points of the "
        "front (1 variant, 6 fresh runs each), are worse: pull worse in 1, which is less than 3 that ran."
    )
    broken = tuple(Failed(7 + k, PULL | {"poll": k}, "no nodes", host=0) for k in range(3))
    # Tried with settings of its own, it ran; in the place of the front's it never did.
    elsewhere = (PULL | {"poll": 9.0, "policy": "fcfs"}, worse, worse, 5)
    assert said_of(elsewhere, failed=broken) == (
        "All points of the front have kind push. Undecided whether others, put in its place in points of the "
        "front (3 variants, none of which could be run), are worse: pull failed in 3, which is less than 3 "
        "that ran."
    )
    assert said_of(*put(PULL, worse), failed=broken).endswith(
        "(6 variants, 6 fresh runs each), is worse beyond noise."
    )


# Texts


def test_numbers_at_the_bounds_of_their_forms():
    assert [plain(x) for x in (999.96, 1000.4, -1234.5, 1e15, 2.5, float("inf"))] == [
        "1000", "1000", "-1234", "1e+15", "2.5", "inf",
    ]  # fmt: skip
    assert [cell(x) for x in (None, True, False, 3, 0.123456, "easy")] == [
        "-",
        "true",
        "false",
        "3",
        "0.1235",
        "easy",
    ]
    assert measured(5.0, float("nan")) == measured(5.0, 0.0) == measured(5.0, None) == "5"
    assert measured(float("inf"), 1.0) == "inf"
    assert [measured(1234.0, e) for e in (1.0, 9.96, 10.0, 123.0)] == [
        "1234.0 ± 1.0", "1234.0 ± 10.0", "1234 ± 10", "1230 ± 120",
    ]  # fmt: skip
    assert measured(1.0, 1e-8) == "1.000000000 ± 0.000000010"
    assert measured(1.0, 1e-9) == "1 ± 1e-09"
    assert measured(1e20, 1e17) == "1e+20 ± 1e+17"
    assert (with_unit("3", COMPLETED), with_unit("3", UNHAPPY), with_unit("3", UNFAIR)) == (
        "3 jobs",
        "3",
        "3",
    )
    waiting = Objective("waiting_mean", "minimize", "s")
    assert (amount(7200.0, waiting), amount(5.0, COMPLETED)) == ("2 h", "5 jobs")


def test_objectives_that_do_not_tell_points_apart_are_named():
    draw = np.random.default_rng(2)
    luck = [tuple(draw.normal(5, 1, 6)) for _ in range(3)]
    points = [(luck[k], tuple(10.0 * k + draw.normal(0, 1, 6))) for k in range(3)]
    found = replace(front(archive((UNFAIR, COMPLETED), *points)))
    everyone = tuple(replace(member, non_dominated=True) for member in found.members)
    extra = tuple(Member(e, True, None) for e in found.archive.evaluations
                  if e.number not in [m.evaluation.number for m in everyone])  # fmt: skip
    full = replace(found, members=everyone + extra)
    known = reliabilities(full)
    assert known["unfairness"].doubt > 0.05
    assert known["completed"].doubt < 0.01


def test_there_is_no_best_of_an_objective_that_tells_nothing(monkeypatch):
    whole = front(search(30, objectives=2))
    assert not silent(whole)
    names = [choice.name for choice in recommend(whole)]
    assert names == ["lexicographic", "compromise", "best unhappy_users", "best unfairness"]
    unsure = Reliability(0.0, 0.5)
    monkeypatch.setattr(f"{recommend.__module__}.reliability", lambda values: unsure)
    monkeypatch.setattr(f"{recommend.__module__}.between", _untold(between))
    assert silent(whole) == {"unhappy_users": 0.5, "unfairness": 0.5}
    assert [choice.name for choice in recommend(whole)] == names[:2]
    one = front(search(30, objectives=1))
    assert [choice.name for choice in recommend(one)] == ["best unhappy_users"]


def _untold(between):
    """Changes from one point to another of which none is told from chance."""

    def unsure(*given):
        return tuple(replace(one, difference=replace(one.difference, low=-1e9, high=1e9))
                     for one in between(*given))  # fmt: skip

    return unsure


# Bounds and rare cases


def test_chances_follow_the_seed_and_a_setting_outside_of_the_space_is_known_by_what_stands_there(
    monkeypatch,
):
    draw = np.random.default_rng(9)
    points = [(tuple(draw.normal(5, 1, 5)), tuple(draw.normal(5, 1, 5))) for _ in range(5)]
    made = [
        [m.probability_non_dominated for m in front(archive(TWO, *points, seed=k)).members] for k in (5, 6)
    ]
    assert made[0] != made[1]
    asked = []

    def noted(evaluations, objectives, seed, **facts):
        asked.append((seed, facts))

    monkeypatch.setattr("gridtune.optimize.front.front.judgement_of", noted)
    study = archive(TWO, *points, seed=5, today=1, present={"a": 7})
    front(study)
    outside = [replace(one, values={}) if one.number == 1 else one for one in study.evaluations]
    front(replace(study, evaluations=tuple(outside)))
    front(study, resamples=0)
    assert asked == [
        (5, {"rivals": set(range(5)), "values": {}}), (5, {"rivals": set(range(5)), "values": {1: {"a": 7}}}),
    ]  # fmt: skip


def test_a_validated_point_is_listed_even_if_nothing_kept_the_constraints_as_searched():
    limit = Constraint("unfairness", "<=", 0.3)
    point = evaluation(0, TWO, (0.5, 5), fresh=(0.2, 5))
    known, again = ({"": row} for row in (point.objectives, point.validated))
    point = replace(point, cases=known, validated_cases=again)
    found = front(Archive("s", "x", TWO, (point,), constraints=(limit,)))
    assert [(m.evaluation.number, m.feasible, m.non_dominated) for m in found.members] == [(0, True, True)]
    assert (found.validated, found.unvalidated) == (True, 0)
    fallen = replace(point, cases=again, validated_cases=known)
    found = front(Archive("s", "x", TWO, (fallen,), constraints=(limit,)))
    assert [(m.feasible, m.non_dominated) for m in found.members] == [(False, False)]
    assert (found.hypervolume, found.hypervolume_searched, found.hypervolume_levelled) == (0, 0, 0)


def test_what_an_order_does_not_name_breaks_ties_strictly():
    found = front(archive(THREE, (0, 0.5, 9), (0, 0.0, 5), (0, 0.25, 7)))
    ranked = Preference.of("unhappy_users", THREE).ranked(found)
    assert [m.evaluation.number for m in ranked] == [1, 2, 0]


def test_a_reason_contrasts_with_the_most_different_choice_by_shares_of_the_spans():
    points = (0, 0.0, 5000), (0, 0.9, 9000), (0, 1.0, 9100), (0, 0.35, 8000)
    advice = {item.name: item for item in recommend(front(archive(THREE, *points)))}
    assert advice["compromise"].member.evaluation.number == 3
    assert "Against number 0 (lexicographic): completed higher by 3000 jobs" in advice["compromise"].reason
    assert "Against number 2 (best completed)" in advice["lexicographic"].reason


def test_equal_means_in_the_only_objective_need_no_contrast():
    found = front(archive((UNFAIR,), ((1.0, 2.0),), ((2.0, 1.0),)))
    assert len(found.kept) == 2
    (only,) = recommend(found)
    assert only.reason == "The lowest unfairness of the front: 1.5. "
