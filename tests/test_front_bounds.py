"""Fronts at the bounds of their rules: ties, spans of nothing, numbers below 1, nothing to choose from."""

from dataclasses import replace

import numpy as np
import pytest

from gridtune.optimize.front.against_today import in_words
from gridtune.optimize.front.changes import Change
from gridtune.optimize.front.dominant_choice import Alternative, DominantChoice, _nearest
from gridtune.optimize.front.front import front, reference_point
from gridtune.optimize.front.number_format import measured
from gridtune.optimize.front.recommendations import compromise, recommend
from gridtune.optimize.front.worth import worth_of
from gridtune.optimize.records.evaluations import Archive, Constraint
from gridtune.optimize.replication.compare import shares
from gridtune.optimize.replication.paired import Difference
from gridtune.optimize.report.preference import Preference
from tests.fronts import COMPLETED, THREE, UNFAIR, UNHAPPY, archive, estimate, evaluation

TWO = (UNFAIR, COMPLETED)


def numbers(members):
    return [member.evaluation.number for member in members]


def test_distances_are_shares_of_the_span_and_nothing_where_all_are_equal():
    among = np.array([[1.0, 5.0, 0.25], [3.0, 5.0, 0.75]])
    assert shares(among, among).tolist() == [[0, 0, 0], [1, 0, 1]]
    assert shares(np.array([[2.0, 5.5, 0.5], [0.0, 4.0, 1.0]]), among).tolist() == [
        [0.5, 0.5, 0.5],
        [-0.5, -1, 1.5],
    ]


@pytest.mark.parametrize(
    ("mean", "low", "high", "said"),
    [
        (0.5, 0.25, 0.75, "higher by 0.5 (0.25 to 0.75)"),
        (-0.5, -0.75, 0.25, "lower by 0.5 (-0.25 to 0.75)"),
        (0.0, -1.0, 2.0, "lower by 0 (-2 to 1)"),
    ],
)
def test_small_changes_in_words(mean, low, high, said):
    change = Change(UNFAIR, 1.0, 1.0 + mean, Difference(mean, 0.1, low, high, 0.9, 5))
    assert in_words(change) == f"unfairness {said}"


def test_errors_of_a_whole_unit_and_of_very_much():
    assert [measured(12345.0, error) for error in (2.0, 20.0, 200.0)] == [
        "12345.0 ± 2.0", "12345 ± 20", "12340 ± 200",
    ]  # fmt: skip
    assert measured(1e18, 2e16) == "1000000000000000000 ± 20000000000000000"
    assert measured(1e18, 2e17) == "1e+18 ± 2e+17"


# Nothing to choose from


def broken(*lost):
    """Points that lose that much, where no more than 3 may be lost; the nearest are 3, 1, 0, 2."""
    points = [evaluation(k, TWO, (0.1 * k, 5.0), values={"a": k}) for k in range(len(lost))]
    known = [replace(one, cases={"": {"lost": estimate(x)}}) for one, x in zip(points, lost, strict=True)]
    return Archive("s", "x", TWO, tuple(known), constraints=(Constraint("lost", "<=", 3.0, "jobs"),), today=0)


def test_an_alternative_that_nothing_beats_is_not_so_on_fresh_seeds():
    choice = DominantChoice("kind", "push", (Alternative("pull", 3),))
    assert choice.as_json()["others"] == [
        {
            "value": "pull", "evaluations": 3, "nearest": None, "beaten_by": None, "fresh": False,
            "tested": False, "verdict": "undecided", "transplants": [],
        }
    ]  # fmt: skip


# Choices


def test_the_nearest_loser_and_its_rival_are_those_of_a_plain_count():
    draw = np.random.default_rng(6)
    for _ in range(30):
        outcomes = draw.integers(0, 4, (7, 3)) * np.array([0.125, 1.0, 0.0])
        known = archive(THREE, *(tuple(row) for row in outcomes.tolist()))
        points = known.evaluations
        rows = outcomes * [1, 1, -1] / np.where(np.ptp(outcomes, axis=0) > 0, np.ptp(outcomes, axis=0), 1.0)

        def margin(loser, rival):
            gaps = rows[loser] - rows[rival]  # noqa: B023
            return min(gaps) + 0.001 * sum(gaps) / 3 if all(gaps >= 0) and any(gaps > 0) else -np.inf

        most = [max(margin(loser, rival) for rival in range(3, 7)) for loser in range(3)]
        loser, rival = _nearest(front(known), points[:3], points[3:], fresh=False)
        assert most[loser.number] == pytest.approx(min(most))
        if np.isfinite(min(most)):
            assert margin(loser.number, rival.number) == pytest.approx(most[loser.number])
        else:
            assert rival is None


def test_weights_count_losses_as_shares_of_spans_below_one_and_of_none():
    found = front(archive(THREE, (3, 0.0, 0.5), (3, 0.1, 0.75), (3, 0.5, 1.0)))
    ranked = [numbers(Preference.of(text, THREE).ranked(found)) for text in (
        "unhappy_users=5,unfairness=1,completed=1",  # losses of 0 + 1, 0.2 + 0.5 and 1 + 0
        "unfairness=1,completed=3",  # 3, 0.2 + 1.5, 1
        "unfairness<=0.5",
    )]  # fmt: skip
    assert [one[0] for one in ranked] == [1, 2, 1]
    assert ranked[1] == [2, 1, 0]


def test_the_sum_of_losses_only_breaks_ties_of_the_compromise():
    corners = (0.0, 1.0, 1.0), (1.0, 0.0, 0.9), (0.0, 0.9, 0.0)
    found = front(archive(THREE, (0.5, 0.1, 0.9), (0.45, 0.45, 0.55), *corners))
    assert len(found.kept) == 5
    member, loss = compromise(found, [one for one in found.kept if one.evaluation.number < 2], THREE)
    assert (member.evaluation.number, loss) == (1, pytest.approx(0.45))


def test_the_best_of_an_objective_is_so_by_its_plain_mean():
    def chosen(second):
        study = archive((UNHAPPY, UNFAIR), ((0, 0, 0, 0), (0.9,) * 4), (second, (0.1,) * 4))
        return {item.name: item.member.evaluation.number for item in recommend(front(study))}

    told = {"lexicographic": 0, "compromise": 0, "best unhappy_users": 0, "best unfairness": 1}
    assert chosen((1, 1, 2, 1)) == told
    # Where one objective does not tell them apart, there is no best of it.
    assert chosen((0, 0, 1, 0)) == {"lexicographic": 1, "compromise": 0, "best unfairness": 1}


def test_where_all_rules_agree_on_one_of_two_they_say_so():
    found = front(archive(TWO, ((1.0, 2.0), (5.0, 6.0)), ((2.0, 1.0), (6.0, 5.0))))
    assert len(found.kept) == 2
    reasons = [item.reason for item in recommend(found)]
    assert len(reasons) == 2, "neither objective tells them apart"
    assert all(one.endswith(". All other choices agree with it.") for one in reasons)


def test_a_choice_that_is_no_worse_in_any_run_that_both_have_is_said_to_be_so():
    # What the third stream did to 0 and 2 moves the mean of 1, to (0.5, 3.5) against (2, 4) of 0.
    def said(unfair):
        far = (9.0, 9.0, 3.0), (103.0, 103.0, 97.0)
        runs = ((1.0, 1.0, 4.0), (5.0, 5.0, 2.0)), ((unfair, unfair), (5.0, 5.0)), far
        found = front(archive(TWO, *runs))
        two = tuple(one for one in found.members if one.evaluation.number < 2)
        advice = {item.name: item.reason for item in recommend(replace(found, members=two))}
        return [advice[name].partition("Against ")[2] for name in ("lexicographic", "best completed")]

    assert said(1.0) == ["number 0 (best completed) it is level.", "number 1 (lexicographic) it is level."]
    assert said(0.5) == [
        "number 0 (best completed): unfairness lower by 0.5, and nothing worse.",
        "number 1 (lexicographic): nothing better, at the price of unfairness higher by 0.5.",
    ]


def test_what_choices_are_not_told_apart_in_is_neither_gained_nor_paid():
    # Unfairness differs from run to run by more than between the points; completed work does not.
    def said(unfair, completed):
        runs = ((1.0, 1.4, 0.6), (5.0, 5.1, 4.9)), (unfair, completed)
        found = front(archive(TWO, *runs))
        advice = {item.name: item.reason for item in recommend(found)}
        return advice["lexicographic"].partition("Against ")[2]

    told = "number 0 (compromise): completed higher by 4.00 ± 0.43 jobs; not told apart: unfairness."
    assert said((1.5, 0.9, 1.2), (9.1, 8.9, 9.0)) == told
    assert said((1.5, 0.9, 1.2), (4.0, 6.2, 5.4)) == "number 0 (compromise) it is not told apart."


# What points are worth


class Model:
    """A judgement of some points, by what it expects of them, and how much luck they have; 1 if left out."""

    def __init__(self, loud=(), **expected):
        self.loud = dict(loud)
        self.expected = {int(name[1:]): np.array(row) for name, row in expected.items()}

    def __contains__(self, number):
        return number in self.expected

    def means(self, number):
        return self.expected[number]

    def luck(self, number):
        return np.array(self.loud.get(number, (1.0, 1.0)))


def test_worth_is_what_the_model_expects_on_the_level_of_the_members():
    members = [evaluation(k, TWO, (one, (9.0, 9.5)), fresh=((a, b), (9.0, 8.0)))
               for k, one, a, b in ((0, 0.5, 5.0, 7.0), (1, 0.5, 1.0, 3.0), (2, 8.0, 8.0, 8.0))]  # fmt: skip
    today, beyond, unknown = (evaluation(k, TWO, ((4.0, 5.0), (7.0, 7.0))) for k in (9, 5, 6))
    found = worth_of(
        members, [today, members[0]], [beyond, unknown], TWO,
        Model(p0=[1.0, -2.0], p1=[3.5, -4.0], p9=[2.0, -1.0], p5=[7.0, -3.0]),
    )  # fmt: skip
    # The members that the model knows are worth (6, -8.5) and (2, -8.5): 1.75 and -5.5 more than it says.
    assert {number: row.tolist() for number, row in found.items()} == {
        0: [2.75, -7.5], 1: [5.25, -9.5], 9: [3.75, -7.0], 5: [8.75, -7.0], 2: [8.0, -8.5],
    }  # fmt: skip
    # What the model says of luck counts as a tenth of a run, beside one degree of freedom of a point's own
    # runs: variances are 2.1 and 2.9, and 0.6 and 1.4, by 1.1. The levels are 5 and -6.5, and -1.5 and -4.5.
    loud = Model({1: (3.0, 3.0)}, p0=[1.0, -2.0], p1=[3.5, -4.0])
    louder = worth_of(members, [], [], TWO, loud)
    expected = [(5.0 / 2.1 - 1.5 / 2.9) / (1 / 2.1 + 1 / 2.9), (-6.5 / 0.6 - 4.5 / 1.4) / (1 / 0.6 + 1 / 1.4)]
    assert louder[0] == pytest.approx([1 + expected[0], -2 + expected[1]])
    without = Model({0: (0.0, 0.0), 1: (0.0, 1.0)}, p0=[1.0, -2.0], p1=[3.5, -4.0])
    level = (-6.5 / 0.5 - 4.5 / 0.6) / (1 / 0.5 + 1 / 0.6)
    assert worth_of(members, [], [], TWO, without)[0] == pytest.approx([2.75, -2 + level])
    assert worth_of(members, [today], [], TWO, Model(p9=[0.0, 0.0]))[0].tolist() == [6.0, -8.5]
    assert worth_of(members, [today], [], TWO, None)[9].tolist() == [4.5, -7.0]
    alone = worth_of(members[:1], [], [], TWO, Model(p0=[1.0, -2.0]))
    assert [row.tolist() for row in alone.values()] == [[6.0, -8.5]]


def test_a_value_is_one_that_the_runs_of_the_point_allow():
    def shown(model, *outcomes, objectives=TWO):
        points = [evaluation(k, objectives, row, fresh=row) for k, row in enumerate(outcomes)]
        return [row.tolist() for row in worth_of(points, [], [], objectives, model).values()]

    wild, calm = ((900.0, 1100.0, 1300.0), (50.0,) * 3), ((9.99, 10.0, 10.01), (40.0,) * 3)
    model = Model(p0=[1000.0, -45.0], p1=[60.0, -45.0])
    (first, _), (second, done) = shown(model, wild, calm)
    # The calm one sets the level: its runs differ little, and the model's word counts a tenth of a run.
    assert (first, second) == (pytest.approx(950.0, abs=1), pytest.approx(10.0, abs=0.1))
    assert done == -40.0, "the same in all runs"
    # Two calm ones that the model holds for unlike: either is moved to what its own runs allow.
    low, high = ((9.9, 10.0, 10.1), (5.0, 6.0, 7.0)), ((9.9, 10.0, 10.1), (5.0, 6.0, 7.0))
    far = Model(p0=[-300.0, 0.0], p1=[300.0, 0.0])
    half = 0.1 / 3**0.5 * 9.925  # Student's t of two degrees of freedom, 99 %
    assert [row[0] for row in shown(far, low, high)] == pytest.approx([10 - half, 10 + half], abs=1e-3)
    # Nothing is on the side of 0 where none of its runs is.
    near = ((0.0, 1.0, 5.0), (5.0, 6.0, 7.0))
    (lowest, _), _ = shown(far, near, near)
    assert lowest == 0.0
    below = ((0.0, -1.0, -5.0), (5.0, 6.0, 7.0))
    _, (highest, _) = shown(far, below, below)
    assert highest == 0.0


def test_runs_on_other_streams_say_nothing_of_a_value_on_the_level_of_the_members():
    member = evaluation(0, TWO, ((1.0, 1.1), (5.0, 5.1)), fresh=((7.0, 7.1), (5.0, 5.1)))
    rival = evaluation(1, TWO, ((1.6, 1.7), (5.0, 5.1)))
    found = worth_of([member], [], [rival], TWO, Model(p0=[1.0, -5.0], p1=[1.6, -5.0]))
    assert found[1][0] == pytest.approx(7.65), "fresh streams give 6 more"


# The terminal


def test_points_that_break_constraints_do_not_move_the_reference_unless_there_are_no_others():
    def reference(*lost):
        study = broken(*lost)
        return reference_point(replace(study, objectives=(UNFAIR,), today=None))

    assert reference(1.0, 2.0, 3.0, 9.0) == pytest.approx((0.22,))
    assert reference(9.0, 9.0, 9.0, 9.0) == pytest.approx((0.33,))


def test_a_lead_of_more_than_a_standard_error_is_no_tie():
    study = archive((UNHAPPY, UNFAIR), ((0, 0, 0, 0), (0.9,) * 4), ((1, 1, 0, 0), (0.1,) * 4))
    chosen = {item.name: item.member.evaluation.number for item in recommend(front(study))}
    assert chosen["lexicographic"] == 0, "ahead by 1.7 standard errors"


def test_the_lexicographic_reason_names_each_step_until_one_is_left():
    same = (0.0, 1.0)
    points = (same, (3.0, 3.0), (5.0, 5.0)), (same, (3.0, 3.0), (6.0, 6.0)), (same, (4.0, 4.0), (7.0, 7.0))
    advice = recommend(front(archive(THREE, *points)))
    assert advice[0].reason == (
        "First the lowest unhappy users (0.5, 2 of 2 points level with the best), then the lowest unfairness "
        "(3). Against number 2 (best completed): unfairness lower by 1, "
        "at the price of completed lower by 1 jobs."
    )
