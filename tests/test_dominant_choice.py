"""Why a front holds one kind of system only."""

from dataclasses import replace

from gridtune.optimize.front.dominant_choice import _nearest, dominant_choices
from gridtune.optimize.front.front import front
from gridtune.optimize.records.evaluations import Archive, Constraint
from tests.fronts import COMPLETED, UNFAIR, UNHAPPY, archive, evaluation

GOALS = (UNHAPPY, COMPLETED)
PUSH = {"middleware.kind": "push", "site.a.policy": "easy", "middleware.update_period": 30.0}
PULL = {"middleware.kind": "pull", "site.a.policy": "easy", "middleware.poll_period": 60.0}
PILOT = {"middleware.kind": "pilot", "site.a.policy": "fcfs", "middleware.pilot_mode": "filling"}


def study(*points, **facts):
    """Points as (values, as searched, on fresh seeds)."""
    made = [
        evaluation(k, GOALS, searched, values=values, fresh=fresh)
        for k, (values, searched, *rest) in enumerate(points)
        for fresh in [rest[0] if rest else None]
    ]
    return Archive("study", "dirac/search", GOALS, tuple(made), **facts)


def test_a_front_of_both_kinds_settles_nothing():
    assert dominant_choices(front(study((PUSH, (1, 10)), (PULL, (2, 20))))) == []


def test_a_kind_that_was_never_tried_is_not_said_to_have_lost():
    assert dominant_choices(front(study((PUSH, (1, 10)), (PUSH, (2, 20))))) == []


def test_only_parameters_that_bring_others_along_choose_between_kinds():
    pilot = PILOT | {"site.a.policy": "easy"}
    found = dominant_choices(front(study((PUSH, (1, 10)), (PILOT, (5, 5)), (pilot, (6, 5)), (PULL, (5, 5)))))
    assert [one.path for one in found] == ["middleware.kind"]


def test_the_nearest_loser_and_what_beats_it_are_named():
    searched = front(
        study(
            (PUSH, (1, 10)),
            (PUSH | {"middleware.update_period": 31.0}, (8, 40)),
            (PULL, (9, 12)),  # far off
            (PULL | {"middleware.poll_period": 61.0}, (2, 9)),
        )
    )
    [found] = dominant_choices(searched)
    [lost] = found.alternatives
    assert (found.value, lost.value, lost.evaluations) == ("push", "pull", 2)
    assert (lost.nearest.number, lost.winner.number, lost.fresh) == (3, 0, False)
    assert str(found) == (
        "Undecided: all points of the front have middleware.kind push. The search evaluated pull (2) with "
        "settings of its own, but did not run it on fresh seeds in the place of push in a point of the "
        "front; `gridtune explain STUDY kinds` does."
    )


def test_a_tie_in_one_objective_is_beaten_in_the_other():
    [found] = dominant_choices(
        front(study((PUSH, (1, 10)), (PULL, (1, 9)), (PULL | {"site.a.policy": "fcfs"}, (1, 7))))
    )
    assert found.alternatives[0].nearest.number == 1
    assert found.alternatives[0].text == "completed higher by 1 jobs"


def test_a_kind_that_fresh_seeds_took_off_the_front_is_compared_there():
    searched = front(
        study(
            (PUSH, (1, 10), ((2, 4), (10, 12))), (PULL, (0, 11), ((5, 5), (8, 8))), (PUSH | {"x": 1}, (9, 1))
        )
    )
    [found] = dominant_choices(searched)
    assert found.alternatives[0].fresh
    (lost,) = found.alternatives
    assert (lost.nearest.number, lost.winner.number) == (1, 0)
    assert lost.text == "unhappy users lower by 2 ± 13, completed higher by 3 ± 13 jobs"


def test_a_kind_without_fresh_seeds_is_not_said_to_be_beaten():
    searched = front(study((PUSH, (1, 10), ((1, 1), (10, 10))), (PULL, (0, 11))))
    (lost,) = dominant_choices(searched)[0].alternatives
    assert (lost.nearest.number, lost.winner) == (1, None)


def test_a_kind_that_breaks_constraints_is_said_to_do_so():
    rule = Constraint("unhappy_users", "<=", 3.0, "users")
    archive = study((PUSH, (1, 10)), (PULL, (4, 20)), constraints=(rule,))
    points = [replace(e, cases={"": dict(e.objectives)}) for e in archive.evaluations]
    found = dominant_choices(front(replace(archive, evaluations=tuple(points))))
    assert found[0].alternatives[0].nearest is None


def test_equal_points_of_another_kind_are_on_the_front():
    assert dominant_choices(front(study((PUSH, (1, 10)), (PULL, (1, 10))))) == []


def test_the_nearest_loser_is_so_as_a_share_of_each_objectives_span():
    costs = {1: (0.2, 0.1), 2: (0.9, 0.04), 3: (0.0, 0.0)}
    known = archive((UNFAIR, UNHAPPY), *costs.values())
    first, second, rival = known.evaluations
    # Of spans 0.9 and 0.1 the first is beaten by 2/9 and all, the second by all and 4/10.
    assert _nearest(front(known), [first, second], [rival], fresh=False) == (first, rival)
