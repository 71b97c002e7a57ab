"""Probabilities from few replications, worked out by hand: two of them have four equally likely samples."""

import pytest

from fronts import estimate
from gridtune.optimize.records.evaluations import Constraint, Objective
from gridtune.optimize.replication.chances import chances, probability_non_dominated

COST = Objective("cost", "minimize")
GAIN = Objective("gain", "maximize")
ABOUT = 0.05  # more than four standard errors of a share of 2,000 samples


def feasibility(relation, bound, cases, metric="wait"):
    """How surely one point keeps a constraint, from its replications in each case."""
    known = {case: {metric: estimate(*values)} for case, values in cases.items()}
    (found,) = chances([{"cost": estimate(1.0, 1.0)}], [COST], [Constraint(metric, relation, bound)], [known])
    return found.feasible


@pytest.mark.parametrize(
    ("relation", "bound", "expected"),
    [
        ("<=", 2.0, 0.75),
        ("<", 2.0, 0.25),
        (">=", 2.0, 0.75),
        (">", 2.0, 0.25),
        ("<=", -1.0, 0.0),
        (">=", -1.0, 1.0),
        (">=", 4.0, 0.25),
        ("<", 4.0, 0.75),
    ],
)
def test_a_constraint_is_kept_as_often_as_the_mean_of_a_sample_keeps_it(relation, bound, expected):
    # The mean of two draws from 0 and 4 is 0, 2, 2 or 4.
    assert feasibility(relation, bound, {"a": (0.0, 4.0)}) == pytest.approx(expected, abs=ABOUT)


def test_a_constraint_is_to_be_kept_in_every_case_of_the_same_sample():
    # Where one case has 0 the other has 4: both are at most 2 only when each replication is drawn once.
    assert feasibility("<=", 2.0, {"a": (0.0, 4.0), "b": (4.0, 0.0)}) == pytest.approx(0.5, abs=ABOUT)
    assert feasibility("<=", 2.0, {"a": (0.0, 4.0), "b": (0.0, 4.0)}) == pytest.approx(0.75, abs=ABOUT)


def test_several_constraints_are_all_to_be_kept():
    rows = {"a": {"wait": estimate(0.0, 4.0), "lost": estimate(4.0, 0.0)}}
    both = [Constraint("wait", "<=", 2.0), Constraint("lost", ">=", 2.0)]
    (found,) = chances([{"cost": estimate(1.0, 1.0)}], [COST], both, [rows])
    # lost is 4 where wait is 0: both hold unless the second replication is drawn twice.
    assert found.feasible == pytest.approx(0.75, abs=ABOUT)


def test_who_breaks_a_constraint_beats_nobody():
    rows = [{"cost": estimate(1.0, 1.0)}, {"cost": estimate(2.0, 2.0)}]
    cases = [{"a": {"wait": estimate(0.0, 4.0)}}, {"a": {"wait": estimate(0.0, 0.0)}}]
    cheap, dear = chances(rows, [COST], [Constraint("wait", "<=", 1.0)], cases)
    assert cheap.feasible == pytest.approx(0.25, abs=ABOUT)
    assert cheap.non_dominated == cheap.feasible
    assert dear.feasible == 1.0
    assert dear.non_dominated == pytest.approx(1 - cheap.feasible)


def test_what_points_have_in_common_cancels():
    rows = [{"cost": estimate(0.0, 4.0)}, {"cost": estimate(1.0, 5.0)}, {"cost": estimate(2.0, 1.0)}]
    best, worse, other = probability_non_dominated(rows, [COST])
    assert worse == 0.0, "worse by 1 in every replication"
    # 0, 2, 2, 4 against 2, 1.5, 1.5, 1.
    assert best == pytest.approx(0.25, abs=ABOUT)
    assert other == pytest.approx(0.75, abs=ABOUT)


def test_directions_count_and_equals_do_not_beat_each_other():
    rows = [{"cost": estimate(1.0, 1.0), "gain": estimate(gain, gain)} for gain in (3.0, 3.0, 2.0)]
    assert probability_non_dominated(rows, [COST, GAIN]) == [1.0, 1.0, 0.0]
    rows[2] = {"gain": estimate(2.6, 2.6)}
    apart = [Objective("gain", "maximize", resolution=5.0)]
    assert probability_non_dominated(rows, apart) == [1.0, 1.0, 1.0], "no difference that means anything"


def test_points_are_compared_on_the_replications_that_they_share():
    rows = [{"cost": estimate(1.0, 3.0)}, {"cost": estimate(2.0, 4.0, 0.0, 0.0)}]
    first, second = probability_non_dominated(rows, [COST])
    assert (first, second) == (1.0, 0.0), "later replications of one alone say nothing of the other"


def test_one_replication_says_nothing_of_chance():
    rows = [{"cost": estimate(1.0)}, {"cost": estimate(2.0, 2.0)}]
    assert probability_non_dominated(rows, [COST]) == [None, None]
    assert probability_non_dominated([], [COST]) == []


def test_equal_seeds_draw_equal_samples():
    rows = [{"cost": estimate(0.0, 4.0, 1.0)}, {"cost": estimate(2.0, 1.0, 1.5)}]
    assert probability_non_dominated(rows, [COST]) == probability_non_dominated(rows, [COST])
    assert probability_non_dominated(rows, [COST]) != probability_non_dominated(rows, [COST], seed=2)
