"""Probabilities from few replications, worked out by hand: two of them have four equally likely samples."""

from math import inf
from types import SimpleNamespace

import numpy as np
import pytest

from fronts import estimate, probability_non_dominated
from gridtune.optimize.records.evaluations import Constraint, Failed, Objective
from gridtune.optimize.replication.chances import chances
from gridtune.optimize.replication.compare import common_scale, padded
from gridtune.optimize.runs.table import evaluated

COST = Objective("cost", "minimize")
GAIN = Objective("gain", "maximize")
ABOUT = 0.05  # more than four standard errors of a share of 2,000 samples


def feasibility(relation, bound, cases, metric="wait"):
    """The probability that one configuration keeps a constraint, from its replications in each case."""
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


def test_who_breaks_a_constraint_dominates_nobody():
    rows = [{"cost": estimate(1.0, 1.0)}, {"cost": estimate(2.0, 2.0)}]
    cases = [{"a": {"wait": estimate(0.0, 4.0)}}, {"a": {"wait": estimate(0.0, 0.0)}}]
    cheap, dear = chances(rows, [COST], [Constraint("wait", "<=", 1.0)], cases)
    assert cheap.feasible == pytest.approx(0.25, abs=ABOUT)
    assert cheap.non_dominated == cheap.feasible
    assert dear.feasible == 1.0
    assert dear.non_dominated == pytest.approx(1 - cheap.feasible)


def test_what_configurations_have_in_common_cancels():
    rows = [{"cost": estimate(0.0, 4.0)}, {"cost": estimate(1.0, 5.0)}, {"cost": estimate(2.0, 1.0)}]
    best, worse, other = probability_non_dominated(rows, [COST])
    assert worse == 0.0, "worse by 1 in every replication"
    # 0, 2, 2, 4 against 2, 1.5, 1.5, 1.
    assert best == pytest.approx(0.25, abs=ABOUT)
    assert other == pytest.approx(0.75, abs=ABOUT)


def test_directions_count_and_equals_do_not_dominate_each_other():
    rows = [{"cost": estimate(1.0, 1.0), "gain": estimate(gain, gain)} for gain in (3.0, 3.0, 2.0)]
    assert probability_non_dominated(rows, [COST, GAIN]) == [1.0, 1.0, 0.0]
    rows[2] = {"gain": estimate(2.6, 2.6)}
    apart = [Objective("gain", "maximize", resolution=5.0)]
    assert probability_non_dominated(rows, apart) == [1.0, 1.0, 1.0], "no difference that means anything"


def test_configurations_are_compared_on_the_replications_that_they_share():
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


def test_the_same_samples_are_drawn_whether_or_not_anything_is_constrained():
    draw = np.random.default_rng(4)
    rows = [{"cost": estimate(*draw.normal(0, 1, 5))} for _ in range(4)]
    free = [one.non_dominated for one in chances(rows, [COST], (), [{}] * 4)]
    assert probability_non_dominated(rows, [COST]) == free
    assert probability_non_dominated(rows, [COST], seed=2) != free


def test_means_of_fewer_replications_are_moved_by_what_the_further_replications_did_to_each_objective():
    values = np.array([[[1.0, 2.0, 6.0], [0.0, 0.0, 0.0]], [[3.0, 4.0, 80.0], [5.0, 7.0, 90.0]]])
    # The third replication moved the first one's mean from 1.5 to 3, and its other objective not at all.
    assert common_scale(values, np.array([3, 2])) == pytest.approx(np.array([[3.0, 0.0], [3.5 + 1.5, 6.0]]))


def test_without_a_configuration_there_is_no_value():
    assert padded([], 2).shape == (0, 2, 0)
    assert padded([[(1.0,), (2.0, 3.0)]], 2).tolist() == [[[1.0, 0.0], [2.0, 3.0]]]


def test_the_replication_that_gives_no_finite_value_is_named_by_its_number():
    settings = SimpleNamespace(run_in=[SimpleNamespace(name="a")], watched=lambda measured: ("cost",))
    runs = [[{"cost": 1.0}, {"cost": inf}]]
    reason = "cost is infinite in replication 1: work was lost or left over"
    assert evaluated(5, {}, runs, settings) == Failed(5, {}, reason)
    assert "replication 8" in evaluated(5, {}, runs, settings, first=7).reason
