"""The front: the non-dominated configurations, their probabilities, and the volume that they cover."""

from dataclasses import replace
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.optimize.explanation.explain import find_configuration
from gridtune.optimize.front.changes import bearable, gains
from gridtune.optimize.front.front import (
    _anchored,
    front,
    hypervolume,
    keeps,
    reference_point,
    without_equals,
)
from gridtune.optimize.records.difference import Change, Difference, Objective, difference
from gridtune.optimize.records.evaluations import Constraint
from gridtune.optimize.records.recommendation import Recommendation
from gridtune.optimize.replication.compare import non_dominated
from gridtune.optimize.report.pictures.draw import growth
from gridtune.scenarios.errors import ScenarioError
from tests.facts import missing
from tests.fronts import (
    COMPLETED,
    THREE,
    UNFAIR,
    UNHAPPY,
    Told,
    archive,
    estimate,
    search,
    with_baseline,
)

TWO = (UNFAIR, COMPLETED)


def numbers(members):
    return [one.number for one in members]


def test_the_front_holds_what_no_other_configuration_dominates_with_maximised_objectives_turned():
    found = front(archive(TWO, (0.5, 100), (0.2, 90), (0.6, 90), (0.1, 10), (0.2, 80)))
    assert numbers(found.members) == [3, 1, 0]
    assert found.on_front == found.members
    assert not found.validated


def test_with_one_objective_the_front_is_the_best_configuration():
    assert numbers(front(archive((COMPLETED,), (5,), (9,), (7,))).members) == [1]


def test_configurations_that_differ_in_nothing_that_matters_are_one_member_that_names_the_others():
    found = front(archive(TWO, ((1, 2), (3, 4)), ((1, 2), (3, 4)), ((2, 1), (3, 4))))
    assert numbers(found.members) == [0, 2]
    assert [found.equals(one.number) for one in found.members] == [(1,), ()]


def test_of_no_configuration_there_is_no_front():
    nothing = front(archive(TWO))
    assert nothing.members == ()
    assert nothing.hypervolume == 0


def test_validation_seeds_overrule_the_search():
    study = archive(
        TWO,
        (0.1, 100), (0.2, 110), (0.9, 10), (0.15, 105),
        validation=[((0.3,) * 5, (100,) * 5), ((0.2,) * 5, (110,) * 5), None, None],
    )  # fmt: skip
    found = front(study)
    assert found.validated
    assert 1 in numbers(found.on_front)
    assert 0 not in numbers(found.on_front)


def test_sums_in_another_order_are_a_tie():
    first, second = (0.1, 0.2, 0.3), (0.3, 0.2, 0.1)
    assert reduce(add, first) != reduce(add, second)
    found = front(archive(TWO, (first, (1, 1, 1)), (second, (2, 2, 2))))
    assert numbers(found.members) == [1]


def chances_of(*runs):
    """The probabilities of configurations of one objective, by their runs."""
    found = front(archive((UNFAIR,), *((tuple(one),) for one in runs)))
    listed = numbers(found.members)
    return [found.chance(number) if number in listed else 0.0 for number in range(len(runs))]


def test_what_few_configurations_have_in_common_cancels_and_noise_alone_leaves_all_a_chance():
    draw = np.random.default_rng(4)
    shared, own = draw.normal(size=20) * 100, draw.normal(size=(3, 20)) * 0.01
    own -= own.mean(axis=1)[:, None]
    assert chances_of(*(shared + own + np.array([[0.0], [0.1], [0.2]]))) == pytest.approx([1, 0, 0], abs=0.01)
    assert chances_of(*(shared + own + np.array([[0.0], [1e-4], [2e-4]]))) == pytest.approx(
        [1 / 3] * 3, abs=0.2
    )


def test_further_replications_make_a_probability_surer():
    few = np.random.default_rng(5).normal(0, 1, size=(3, 4))
    few += np.array([[0.0], [0.6], [0.6]]) - few.mean(axis=1)[:, None]
    many = np.tile(few, 16)
    assert 0.2 < chances_of(*few)[0] < chances_of(*many)[0] - 0.1
    assert chances_of(*many)[0] > 0.95


def test_without_noise_all_configurations_count_validated_or_not():
    again = ((0.1, 0.1), (100.0, 100.0))
    study = archive(TWO, (0.1, 100), (0.2, 110), (0.9, 10), (0.15, 105), validation=[again, None, None, None])
    found = front(study)
    assert found.certain
    assert numbers(found.on_front) == [0, 3, 1]
    assert {found.chance(one.number) for one in found.members} == {None}


def test_of_no_configuration_the_reference_point_is_0():
    assert reference_point(archive(TWO)) == (0.0, 0.0)


def test_of_fewer_than_three_configurations_the_means_decide():
    found = front(archive(TWO, ((0.1, 0.3), (9, 8)), ((0.3, 0.4), (5, 6))))
    assert found.posterior is None
    assert numbers(found.members) == [0]
    assert found.chance(0) is None


def test_hypervolume_is_measured_from_the_worst_values_and_ten_percent_of_the_range():
    study = archive(TWO, (0.0, 100), (1.0, 200))
    assert reference_point(study) == (1.1, 90)
    assert front(study).hypervolume == pytest.approx(1.1 * 10 + 0.1 * 100)


def test_an_objective_that_never_varies_does_not_empty_the_volume():
    assert reference_point(archive(THREE, (0, 1, 1900), (0, 2, 1900))) == pytest.approx((0.1, 2.1, 1710))
    assert front(archive(THREE, (0, 1, 1900), (0, 2, 1900))).hypervolume > 0


def test_the_reference_lies_beyond_values_on_validation_seeds_too():
    study = archive((UNFAIR,), (1,), (3,), validation=[((8, 10),), None])
    assert reference_point(study) == pytest.approx((9 + 0.2,))


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=25))
def test_the_history_never_falls_and_ends_at_the_volume_of_the_front(outcomes):
    study = archive(TWO, *outcomes)
    steps = growth(front(study))
    assert steps[-1] == (len(outcomes), pytest.approx(front(study).hypervolume))
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(steps))


def test_a_study_without_objectives_is_refused():
    with pytest.raises(ValueError, match="without objectives"):
        front(archive(()))


def test_configurations_with_different_numbers_of_replications_are_compared_on_the_replications_they_share():
    # The third replication is bad for all; a configuration without it is no better for that.
    study = archive((UNFAIR,), ((1.0, 1.2),), ((0.9, 1.1, 7.0),), ((2.0, 2.2, 8.0),))
    found = front(study)
    assert numbers(found.members) == [1]
    assert growth(found)[-1] == (3, pytest.approx(found.hypervolume))
    assert found.chance(1) > 0.9


@pytest.mark.parametrize(
    ("scenario", "study", "heading"),
    [
        ("dirac/search", "dirac/search", "dirac/search"),
        ("mine.toml", "mine", "mine.toml"),
        ("dirac/search", "pull", "dirac/search, study pull"),
    ],
)
def test_a_heading_names_the_study_where_that_says_more(scenario, study, heading):
    assert replace(archive(TWO), scenario=scenario, study=study).heading == heading


def test_values_and_differences_agree_where_configurations_have_other_numbers_of_runs():
    draw = np.random.default_rng(3)
    shared = 10 + draw.normal(size=20) * 5
    outcomes, validation = [], []
    for k in range(30):
        means = (k, 30 - k)
        runs = 5 if k % 2 else 15
        validation.append([tuple(w + shared[j] + draw.normal() * 0.3 for j in range(runs)) for w in means])
        outcomes.append([(w + shared[19] + draw.normal() * 0.3,) for w in means])
    found = front(archive((UNHAPPY, UNFAIR), *outcomes, validation=validation, baseline=0))
    (baseline,) = (e for e in found.archive.evaluations if e.number == 0)
    for member in found.members:
        if member.number == baseline.number:
            continue
        ends = member.number, baseline.number
        values = [found.value(ends[0], o) - found.value(ends[1], o) for o in (UNHAPPY, UNFAIR)]
        for value, one in zip(values, gains(found, member), strict=True):
            assert one.difference.mean * value > 0
            if one.difference.mean != pytest.approx(value, rel=0.05):  # paired runs know better
                after, before = (e.validated[one.metric.name].values for e in (member, baseline))
                assert one.difference == difference(after, before)
        number = member.number
        assert values == pytest.approx([number, -number], abs=1.0)
        level = shared[[*range(15), 19]].mean()
        assert found.value(number, UNHAPPY) == pytest.approx(number + level, abs=0.5)


def test_the_front_has_what_is_non_dominated_by_its_means_or_more_likely_than_not():
    found = front(search(replications=2, validation=0))
    keep = sorted(found.means)
    best = {keep[k] for k in non_dominated(np.array([found.means[number] for number in keep]))}
    chances = [found.chance(one.number) or 0 for one in found.members]
    assert any(0.45 < p < 0.5 for p in chances)
    assert any(0.5 <= p < 0.55 for p in chances)
    for member, chance in zip(found.members, chances, strict=True):
        assert (member in found.on_front) == (chance >= 0.5 or member.number in best)


@pytest.mark.long
def test_no_mean_is_below_0_where_no_run_is():
    found = front(search())
    assert found.posterior is not None
    runs = [x for e in found.archive.evaluations for x in e.objectives["unhappy_users"].values]
    assert min(runs) == 0
    for member in found.members:
        both = member.objectives, member.estimates
        if {x for some in both for x in some["unhappy_users"].values} == {0.0}:
            assert 0 <= found.value(member.number, UNHAPPY) < 0.2


def test_chances_are_drawn_with_the_seed_of_the_search():
    study = search(15, validation=0, replications=5)
    found = front(replace(study, seed=5)).posterior.chances
    other = front(replace(study, seed=6)).posterior.chances
    assert found != other


def test_a_front_says_what_it_is():
    found = front(archive(TWO, (0.5, 100), (0.1, 10)))
    assert not missing(repr(found), "'study'", "2 configurations", "unfairness, completed")


def test_who_is_refused_a_configuration_reads_of_the_baseline_once_and_by_its_name():
    beside = front(with_baseline(archive((UNFAIR, COMPLETED), (0.2, 5), (0.3, 6), (0.1, 4))))
    with pytest.raises(ScenarioError, match=r"configuration A; .* 2, baseline, 1; "):
        find_configuration(beside, "A")
    beyond = front(with_baseline(archive((UNFAIR,), (0.2,), (0.1,))))
    with pytest.raises(ScenarioError, match=r"configuration 7; .* 1; .*baseline$"):
        find_configuration(beyond, "7")


@pytest.mark.long
def test_a_recommendation_differs_from_the_baseline_by_the_runs_that_confirmed_it():
    study = with_baseline(search())
    number = study.evaluations[7].number
    objectives = {
        one.name: Change(one, 10.0, 7.0, Difference.of(-3.0, 0.1, 11, 12)) for one in study.objectives
    }
    made = Recommendation("A", "", number, number, {}, (), (), objectives, 12)
    found = front(replace(study, recommendations=(made,)))
    assert gains(found, study.evaluations[7]) == tuple(objectives.values())


def test_half_a_chance_is_enough_and_who_is_on_the_front_comes_first_by_what_is_expected(monkeypatch):
    study = archive(TWO, (0.6, 3), (0.2, 5), (0.3, 6), (0.4, 9), (0.5, 2), (0.1, 1), (0.7, 0), (0.8, 0))
    chances = {5: 0.9, 1: 0.49, 2: 0.5, 3: 0.06, 4: 0.5, 0: 0.49, 6: 0.05, 7: 0.04}
    means = {one.number: (one.objectives["unfairness"].mean, -one.objectives["completed"].mean)
             for one in study.evaluations}  # fmt: skip
    told = Told(chances, means)
    monkeypatch.setattr("gridtune.optimize.front.front.posterior_of", lambda *_, **__: told)
    found = front(study)
    assert numbers(found.on_front) == [5, 1, 2, 3, 4], "no mean dominates 1 and 3; 4 has half a chance"
    assert numbers(found.members) == [5, 1, 2, 3, 4, 0, 6], "a chance of a twentieth is listed"
    assert [found.chance(one.number) for one in found.members] == [0.9, 0.49, 0.5, 0.06, 0.5, 0.49, 0.05]


def test_up_to_half_of_the_baselines_value_more_is_bearable():
    found = front(archive(TWO, (10, 100), (15, 200), (15.1, 300), (8, 50), (7, 49), baseline=0))
    assert numbers(found.members) == [4, 3, 0, 1, 2]
    assert [one.number for one in found.members if bearable(found, one)] == [3, 0, 1]
    assert not any(bearable(front(archive(TWO, (10, 100))), one) for one in found.members), (
        "nothing to compare"
    )


def test_of_a_logarithm_half_of_what_it_is_of_is_bearable():
    slow = Objective("slowdown_mean_log", "minimize")
    found = front(archive((slow, UNFAIR), (2.0, 9), (2.17, 8), (2.18, 7), (0.1, 10), baseline=0))
    assert [one.number for one in found.members if bearable(found, one)] == [3, 0, 1], "1.48 and 1.51 times"
    found = front(archive((slow, UNFAIR), (0.01, 9), (0.1, 8), baseline=0))
    assert all(bearable(found, one) for one in found.members), "a fifth more"


def test_what_may_be_chance_is_bearable():
    runs = [
        ((10.0,) * 4, (0.0, 1.0, 0.0, 0.0)),
        ((9.0,) * 4, (1.0, 0.0, 1.0, 0.0)),
        ((9.0,) * 4, (4.0, 5.0, 4.0, 5.0)),
    ]
    study = archive((UNFAIR, UNHAPPY), *runs, validation=runs, baseline=0)
    found = front(study)
    assert [bearable(found, one) for one in study.evaluations] == [True, True, False]


def test_equal_configurations_stand_as_one_whatever_their_number_of_runs():
    low, high = ((1.0, 2.0),), ((3.0, 5.0),)
    study = archive(
        (UNFAIR,), low, low, high, low, low, validation=[None, ((4.0,),), None, ((4.0, 5.0),), ((9.0,),)]
    )
    found = front(study)
    assert found.same == {0: 3, 1: 3}, "but for 4, whose checks gave something else"
    assert without_equals(study.evaluations, study) == {3: (0, 1), 2: (), 4: ()}
    other = replace(study.evaluations[1], metrics={"waiting_mean": 2.0})
    assert 1 in without_equals([study.evaluations[0], other], study), "equal by chance"
    based = without_equals(study.evaluations, replace(study, baseline=0))
    assert 0 in based, "the baseline stands for its equals"


def test_where_the_baseline_has_nothing_up_to_half_of_the_range_is_bearable():
    found = front(archive((UNHAPPY, COMPLETED), (0, 100), (2, 200), (3, 250), (4, 300), baseline=0))
    assert [one.number for one in found.members if bearable(found, one)] == [0, 1]


def test_where_nothing_keeps_the_constraints_nothing_is_on_the_front_and_the_means_are_known():
    study = archive((UNFAIR,), (0.5,), (0.7,), constraints=(Constraint("unfairness", "<=", 0.1),))
    tried = tuple(replace(one, cases={"": one.objectives}) for one in study.evaluations)
    found = front(replace(study, evaluations=tried))
    assert (found.members, found.hypervolume, found.certain) == ((), 0.0, False)
    assert [found.value(number, UNFAIR) for number in (0, 1)] == pytest.approx([0.5, 0.7])
    # The same where it is validation runs that break them.
    tried = tuple(
        replace(one, cases={"": {"unfairness": estimate(0.1)}}, validated=one.objectives,
                validated_cases={"": one.objectives}) for one in tried
    )  # fmt: skip
    found = front(replace(study, evaluations=tried))
    assert [keeps(one, study.constraints) for one in found.members] == [False, False]
    assert found.on_front == ()
    assert found.hypervolume == 0.0
    assert hypervolume([], (UNFAIR,), (1.0,)) == 0.0


@pytest.mark.long
def test_the_baselines_mean_is_that_of_all_its_runs_and_its_settings_are_those_in_the_scenario():
    study = with_baseline(search(25))
    found = front(study)
    baseline, *rest = study.evaluations
    assert baseline.validated
    for one in study.objectives:
        runs = baseline.objectives[one.name].values + baseline.validated[one.name].values
        assert found.value(0, one) == pytest.approx(np.mean(runs))
    # Its evaluation holds no settings where the scenario itself was run.
    bare = front(replace(study, evaluations=(replace(baseline, values={}), *rest)))
    assert bare.posterior.chances == found.posterior.chances


@pytest.mark.parametrize(("runs", "certain"), [((1.0, 1.0), True), ((1.0, 1.1), False), ((1.0,), False)])
def test_runs_that_repeat_each_other_are_certain(runs, certain):
    assert front(archive((UNFAIR,), ((3.0,),), (runs,))).certain == certain


def test_a_baseline_that_is_nothing_but_rounding_counts_as_nothing():
    share = replace(UNFAIR, resolution=1e-4)
    found = front(archive((share, COMPLETED), (1e-16, 100), (0.01, 200), (0.2, 250), baseline=0))
    assert [one.number for one in found.members if bearable(found, one)] == [0, 1]
    assert found.reference == (1.0, 0.0)


def test_what_is_below_the_confirmed_baseline_moves_in_proportion_and_what_is_above_by_as_much():
    gap = Difference(-0.25, 0.01, -0.3, -0.2, 0.99, 9)
    made = Recommendation("A", "", 3, 3, {}, (), (), {"unfairness": Change(UNFAIR, 0.4, 0.15, gap)}, 9)
    means = (0.5, 0.25, 0.6, 0.2)
    known = archive((UNFAIR,), *[(mean,) for mean in means], baseline=0, recommendations=(made,))
    plain = {number: np.array([mean]) for number, mean in enumerate(means)}
    found = {number: float(mean[0]) for number, mean in _anchored(known, None, plain).items()}
    assert found == pytest.approx({0: 0.4, 1: 0.2, 2: 0.5, 3: 0.15})


def test_a_metric_that_one_of_two_lacks_distinguishes_them():
    known = archive((UNFAIR,), (1.0,), (1.0,), (1.0,))
    some = [
        replace(one, metrics={"makespan": value})
        for one, value in zip(known.evaluations, (np.nan, 100.0, np.nan), strict=True)
    ]
    assert without_equals(some, known) == {0: (2,), 1: ()}
