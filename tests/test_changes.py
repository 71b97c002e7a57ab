"""Changes from one configuration to another, with their probabilities."""

from dataclasses import replace
from math import exp, hypot, log

import pytest

from gridtune.optimize.explanation.report import told_changes
from gridtune.optimize.front.changes import Change, _informed, between, change, changes, gains, other_changes
from gridtune.optimize.front.front import Front, front
from gridtune.optimize.records.difference import Difference, difference
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.report.numbers import in_words
from gridtune.optimize.report.recommended import changed_values
from tests.facts import missing
from tests.fronts import COMPLETED, UNFAIR, Told, archive, search

BASE = (99.0, 101.0, 100.0, 102.0, 98.0)  # mean 100
LESS = Difference(-2.0, 0.5, -3.0, -1.0, 0.01, 5)
MORE = Difference(2.0, 0.5, 1.0, 3.0, 0.01, 5)
UNSURE = Difference(-2.0, 2.0, -6.0, 2.0, 0.4, 5)
SAME = Difference(0.0, 0.0, 0.0, 0.0, 1.0, 5)
ALWAYS = Difference(-2.0, 0.0, -2.0, -2.0, 0.0, 5)
ONCE = Difference(-2.0, None, None, None, None, 1)


def of(gap, metric=UNFAIR):
    return Change(metric, 10.0, 10.0 + gap.mean, gap)


def times(factor):
    return tuple(factor * value for value in BASE)


def test_other_metrics_that_change_significantly_are_told_the_relatively_largest_first():
    factors = {
        "a": 1.1,
        "c": 2.0,
        "lost_jobs": 0.5,
        "d": 1.3,
        "e": 1.2,
        "f": 1.05,
        "events": 9.0,
        "unfairness": 5.0,
    }
    start = dict.fromkeys((*factors, "gone", "noisy"), BASE)
    to = {name: times(factor) for name, factor in factors.items()} | {"noisy": BASE[::-1], "new": BASE}
    found = other_changes((UNFAIR,), start, to)
    assert [one.metric.name for one in found] == ["c", "lost_jobs", "d", "e", "a"], "f is the sixth"
    assert [one.relative for one in found[:3]] == pytest.approx([0.5, 0.5, 0.3 / 1.3])
    assert [one.metric.unit for one in found[:2]] == ["", "jobs"]
    assert [one.better for one in found[:2]] == [False, True], "of unknown metrics less is better"


def test_more_may_be_better_in_a_class_as_over_all():
    risen = tuple(value * 2 for value in BASE)
    for name, better in (("completed.local", True), ("waiting_mean.local", False)):
        (found,) = other_changes((), {name: BASE}, {name: risen})
        assert found.better is better


def test_the_more_metrics_are_looked_at_the_surer_each_must_be():
    zeros, risen = (0.0,) * 5, (1.0, 2.0, 1.5, 2.5, 0.9)
    p = difference(risen, zeros).p_value
    assert 0.01 / 2 < p <= 0.01
    assert len(other_changes((), {"a": zeros}, {"a": risen})) == 1
    assert other_changes((), {"a": zeros, "b": zeros}, {"a": risen, "b": zeros}) == ()


def test_means_are_over_the_replications_that_both_have():
    found = change(COMPLETED, (1.0, 2.0, 90.0), (4.0, 6.0))
    assert (found.start, found.to, found.difference.mean, found.better) == (1.5, 5.0, 3.5, True)
    assert found.as_json()["better"] is True
    assert found.as_json()["difference"]["pairs"] == 2
    level = change(COMPLETED, (1.0, 2.0), (1.0, 2.0))
    assert (level.better, level.as_json()["better"], level.relative) == (False, None, 0.0)
    assert change(COMPLETED, (0.0,), (0.0,)).relative == 0.0
    assert change(COMPLETED, (-4.0,), (-1.0,)).relative == 0.75


def test_only_objectives_that_both_configurations_have_change():
    both = {"unfairness": (1.0,), "completed": (5.0,)}
    assert [one.metric for one in changes((UNFAIR, COMPLETED), both, both)] == [UNFAIR, COMPLETED]
    assert [one.metric for one in changes((UNFAIR, COMPLETED), {"unfairness": (1.0,)}, both)] == [UNFAIR]
    assert [one.metric for one in changes((UNFAIR, COMPLETED), both, {"completed": (1.0,)})] == [COMPLETED]


@pytest.mark.parametrize(
    ("gap", "said"),
    [
        (LESS, ["lower by 2", "1 to 3"]),
        (MORE, ["higher by 2", "1 to 3"]),
        (UNSURE, ["lower by 2", "-2 to 6"]),
        (SAME, ["the same"]),
        (ALWAYS, ["lower by 2", "every run"]),
        (replace(ALWAYS, pairs=0), ["lower by 2", "no noise"]),
        (ONCE, ["lower by 2", "one run"]),
    ],
)
def test_a_change_in_words(gap, said):
    assert not missing(in_words(of(gap)), "unfairness", *said)


def test_shares_change_by_percentage_points():
    share = Objective("unhappy_fraction", "minimize")
    said = in_words(of(Difference(-0.2, 0.05, -0.3, -0.1, 0.01, 5), share))
    assert not missing(said, "lower by 20 points", "10 to 30")


def test_gains_costs_what_cannot_be_told_and_what_stays_have_a_line_each():
    told = list(told_changes([of(LESS), of(LESS, COMPLETED), of(UNSURE), of(SAME)]))
    assert [line.partition(":")[0] for line in told[:3]] == ["gains", "costs", "no significant difference"]
    assert [line.count("unfairness") for line in told[:3]] == [1, 0, 1]
    assert "unfairness" in told[3]
    assert [line.partition(":")[0] for line in told_changes([of(ONCE), of(ALWAYS), of(MORE)])] == [
        "gains", "costs",
    ]  # fmt: skip
    assert next(told_changes([of(ONCE), of(ALWAYS)])).count(";") == 1
    edge = replace(LESS, high=0.0)
    assert next(told_changes([of(edge)])).startswith("no significant difference"), "the interval holds 0"
    assert next(told_changes([of(replace(MORE, low=0.0))])).startswith("no significant difference")


def test_what_a_configuration_sets_otherwise_is_listed_in_its_order():
    study = archive((UNFAIR,), (1,), (2,), baseline=0, present={"a": 1, "b": 2, "gone": 3, "same": 4})
    configuration = replace(study.evaluations[1], values={"new": 5, "b": 7, "a": True, "same": 4})
    found = changed_values(front(study), configuration.values)
    assert [(one.path, one.before, one.after) for one in found] == [
        ("new", None, 5),
        ("b", 2, 7),
        ("a", 1, True),
    ]
    assert changed_values(front(study), study.present) == []
    assert gains(front(study), study.evaluations[0]) == ()
    assert gains(front(archive((UNFAIR,), (1,), (2,))), study.evaluations[1]) == ()


def test_configurations_are_compared_on_validation_seeds_only_where_both_have_them():
    study = archive((UNFAIR,), (1.0,), (3.0,), (4.0,), validation=[((10.0, 11.0),), ((15.0, 16.0),), None])
    found, (a, b, c) = replace(front(study), posterior=None), study.evaluations
    assert between(found, a, b)[0].difference.mean == 5.0
    assert between(found, a, c)[0].difference.mean == 3.0
    assert between(found, c, a)[0].difference.mean == -3.0


MEANS = {0: [2.0], 1: [0.0]}  # as far apart as `LESS`


@pytest.mark.parametrize(
    ("start", "to", "same"),
    [
        ((3, 4, 5, 3, 4), (3, 4, 5, 3, 4), True),
        ((3, 4, 5, 3), (3, 4, 5, 3), False),  # too few
        ((3, 4, 5, 3, 4), (3, 4, 5, 3, 4.5), False),
        ((0,) * 5, (0,) * 5, True),
        ((0,) * 5, (*(0,) * 5, 1), False),  # it is rare, not impossible
        ((*(0,) * 5, 1), (0,) * 5, False),
        ((3, 4, 3, 4, 3), (3, 4, 3, 4, 3, 9), True),
    ],
)
def test_what_was_equal_in_all_of_five_runs_is_the_same_whatever_the_posterior_expects(start, to, same):
    study = archive((UNFAIR,), (start,), (to,))
    found = Front(study, (), (), (), posterior=Told({0: 1.0, 1: 1.0}, {}, LESS), means=MEANS)
    assert between(found, *study.evaluations)[0].difference == (SAME if same else LESS)


def test_validation_runs_of_one_configuration_alone_tell_how_rare_a_thing_is():
    study = archive((UNFAIR,), ((0,) * 5,), ((0,) * 5,), validation=[None, ((0, 1),)])
    found = Front(study, (), (), (), posterior=Told({0: 1.0, 1: 1.0}, {}, LESS), means=MEANS)
    assert between(found, *study.evaluations)[0].difference == LESS


@pytest.mark.parametrize("pairs", [4, 5])
def test_five_validation_runs_that_were_equal_overrule_the_posterior(pairs):
    study = archive((UNFAIR,), (1.0,), (2.0,), validation=[((0,) * pairs,)] * 2)
    found = Front(study, (), (), (), posterior=Told({0: 1.0, 1: 1.0}, {}, LESS), means=MEANS)
    assert between(found, *study.evaluations)[0].difference == (SAME if pairs == 5 else LESS)


def test_a_factor_widens_what_the_posterior_says_and_not_who_is_asked():
    runs = [(0.0,) * 5, tuple(-2.0 + off for off in (-0.8, -0.4, 0.0, 0.4, 0.8))]  # -2 +- 0.79
    study = archive((UNFAIR,), (0.0,), (-2.0,), validation=[(one,) for one in runs])
    for half, paired in ((0.8, False), (0.9, True)):
        gap = replace(LESS, low=-2 - half, high=-2 + half)
        found = Front(
            study, (), (), (), posterior=Told({0: 1.0, 1: 1.0}, {}, gap, uncertain=2.0), means=MEANS
        )
        told = between(found, *study.evaluations)[0].difference
        assert told == (difference(runs[1], runs[0]) if paired else gap.times(2.0))


@pytest.mark.parametrize(("before", "after"), [(2.0, 1.5), (0.0, 0.0), (9.0, 7.0), (1.0, 2.0)])
def test_what_the_posterior_says_is_what_lies_between_the_means_that_are_shown(before, after):
    found = front(search(30, objectives=1, validation=0))
    a, b = [one for one in found.archive.evaluations if one.number in found.posterior][:2]
    one = between(replace(found, means={a.number: [before], b.number: [after]}), a, b)[0].difference
    model = found.posterior.difference(b.number, a.number, found.objectives[0])
    assert one.mean == pytest.approx(after - before)
    assert one.high - one.mean == pytest.approx(model.high - model.mean)
    assert model.high > model.mean


def test_a_factor_of_the_mean_widens_an_interval_and_leaves_its_signs():
    gap = Difference(10.0, 1.0, 8.0, 12.5, 0.001, 5)
    wide = gap.times(0.3)
    assert log(wide.low / 10) == pytest.approx(-hypot(log(0.8), 0.3))
    assert log(wide.high / 10) == pytest.approx(hypot(log(1.25), 0.3))
    assert replace(wide, low=8.0, high=12.5) == gap, "nothing else changes"
    less = Difference(-10.0, 1.0, -12.5, -8.0, 0.001, 5).times(0.3)
    assert (less.low, less.high) == pytest.approx((-wide.high, -wide.low))
    unsure = Difference(1.0, 1.0, -1.0, 3.0, 0.6, 5).times(0.3)
    assert (unsure.low, unsure.high) == pytest.approx((-exp(0.3), exp(hypot(log(3.0), 0.3))))
    exact = Difference(2.0, 0.0, 2.0, 2.0, 1.0, 5).times(0.3)
    assert (exact.low, exact.high) == pytest.approx((2 * exp(-0.3), 2 * exp(0.3)))
    assert Difference(0.0, 1.0, -2.0, 2.0, 0.0, 5).times(0.3).high == pytest.approx(2 * exp(0.3))
    assert gap.times(0.0) is gap
    assert wide.half == (wide.high - wide.low) / 2
    assert gap.times(3.0).half == 10.0, "significance is to be seen"
    assert unsure.half == (unsure.high - unsure.low) / 2
    assert ONCE.times(0.3) is ONCE


@pytest.mark.parametrize(
    ("mean", "half", "paired"),
    [
        (-2.0, 1.05, False),  # as good within a tenth
        (-2.0, 1.15, True),
        (-2.5, 0.5, False),
        (-3.0, 0.5, False),  # at the end of the interval of the pairs
        (-3.01, 0.5, True),
    ],
)
def test_paired_validation_runs_are_told_where_they_are_surer_by_a_tenth_or_deny_the_posterior(
    mean, half, paired
):
    model = Difference(mean, 0.5, mean - half, mean + half, 0.01, 5)
    assert _informed(model, LESS) == (LESS if paired else model)
    assert _informed(model, replace(LESS, pairs=4)) == model, "too few pairs"
    assert _informed(model, replace(ONCE, pairs=5)) == model, "pairs without an interval"
