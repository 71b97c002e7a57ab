"""What users deserve: the equal share of RR-7959, and that of those who still want something."""

import itertools
from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridtune.model.metrics.fairness import (
    Want,
    deserved_areas,
    free_time,
    jain,
    shortfall,
    spread,
    unfairness,
)
from gridtune.model.metrics.lost import quantile
from gridtune.model.record import Stay


def test_the_regular_scenario_deserves_what_arithmetic_says():
    deserved = deserved_areas([Stay(f"u{i}", 10.0 * i, 10.0 * i + 100.0) for i in range(10)], 10)
    harmonic = sum(1 / k for k in range(1, 11))
    assert deserved["u0"] == pytest.approx(100 * harmonic)
    assert deserved["u9"] == pytest.approx(100 * harmonic)
    assert deserved["u4"] == pytest.approx(139.127, abs=0.001)
    assert sum(deserved.values()) == pytest.approx(1900)


def visits(demands):
    return st.lists(
        st.builds(
            lambda user, entry, length, demand: Stay(f"u{user}", entry / 4, (entry + length) / 4, demand),
            st.integers(0, 4),
            st.integers(0, 40),
            st.integers(0, 40),
            demands,
        ),
        max_size=12,
    )


greedy = visits(st.just(inf))
modest = visits(st.integers(0, 200).map(float))


def naive_deserved(stays, slots):
    """Cut the time at every entry and deadline and share each slot, as the formula is written."""
    cuts = sorted({time for stay in stays for time in (stay.entry, stay.deadline)})
    deserved = {stay.user: 0.0 for stay in stays}
    for start, end in itertools.pairwise(cuts):
        users = {stay.user for stay in stays if stay.entry <= start and end <= stay.deadline}
        for user in users:
            deserved[user] += slots * (end - start) / len(users)
    return deserved


def occupied(stays):
    """Quarters of a second in which anybody is there."""
    return len({k for stay in stays for k in range(int(stay.entry * 4), int(stay.deadline * 4))})


@given(greedy, st.integers(1, 50))
def test_without_limits_of_demand_the_areas_are_the_papers_and_sum_to_the_union_of_stays(stays, slots):
    deserved = deserved_areas(stays, slots)
    assert deserved == pytest.approx(naive_deserved(stays, slots))
    assert sum(deserved.values()) == pytest.approx(slots * occupied(stays) / 4)


@given(modest, st.integers(1, 50))
def test_nobody_deserves_more_than_demanded_nor_all_together_more_than_there_is(stays, slots):
    deserved = deserved_areas(stays, slots)
    demand = dict.fromkeys(deserved, 0.0)
    for stay in stays:
        demand[stay.user] += stay.demand
    assert all(0 <= deserved[user] <= demand[user] + 1e-6 for user in deserved)
    assert sum(deserved.values()) <= slots * occupied(stays) / 4 + 1e-6


@given(modest, st.integers(1, 50))
def test_who_comes_once_deserves_no_less_than_the_lesser_of_demand_and_equal_share(stays, slots):
    once = list({stay.user: stay for stay in stays}.values())
    deserved, equal = deserved_areas(once, slots), naive_deserved(once, slots)
    for stay in once:
        asked = stay.demand if stay.deadline > stay.entry else 0.0
        assert deserved[stay.user] >= min(asked, equal[stay.user]) - 1e-6


@given(greedy, st.integers(1, 50))
def test_where_all_demand_at_least_their_equal_share_it_is_the_papers(stays, slots):
    once = list({stay.user: stay for stay in stays}.values())
    equal = naive_deserved(once, slots)
    asked = [replace(stay, demand=equal[stay.user]) for stay in once]
    assert deserved_areas(asked, slots) == pytest.approx(equal)


@given(modest, st.integers(1, 50))
def test_it_makes_no_difference_whether_demand_comes_with_the_stay_or_is_asked_for_at_once(stays, slots):
    empty = [replace(stay, demand=0.0) for stay in stays]
    wants = [Want(stay.entry, stay.user, stay.demand) for stay in stays if stay.deadline > stay.entry]
    assert deserved_areas(empty, slots, wants) == pytest.approx(deserved_areas(stays, slots))


def test_what_the_satisfied_leave_goes_to_the_others():
    stays = [Stay("light", 0.0, 10.0, 2.0), Stay("heavy", 0.0, 10.0, 100.0)]
    assert deserved_areas(stays, 1) == pytest.approx({"light": 2.0, "heavy": 8.0})


def test_who_asks_late_was_not_owed_anything_before():
    stays = [Stay("early", 0.0, 10.0, inf), Stay("late", 0.0, 10.0, 0.0)]
    assert deserved_areas(stays, 1, [Want(8.0, "late", 5.0)]) == pytest.approx({"early": 9.0, "late": 1.0})


def test_who_is_satisfied_may_ask_again_and_who_has_left_asks_in_vain():
    stays = [Stay("a", 0.0, 10.0, 1.0), Stay("b", 0.0, 20.0, inf)]
    wants = [Want(5.0, "a", 1.0), Want(15.0, "a", 1.0)]
    assert deserved_areas(stays, 1, wants) == pytest.approx({"a": 2.0, "b": 18.0})


def test_what_is_still_wanted_when_a_user_leaves_is_forgotten():
    stays = [Stay("a", 0.0, 2.0, 9.0), Stay("a", 5.0, 9.0, 1.0)]
    assert deserved_areas(stays, 1) == pytest.approx({"a": 3.0})


def test_a_grid_without_slots_owes_nobody_anything():
    assert deserved_areas([Stay("a", 0.0, 10.0, 1.0), Stay("b", 0.0, 9.0)], 0) == {"a": 0.0, "b": 0.0}


def test_unfairness_leaves_out_who_deserved_nothing():
    assert unfairness([0.5, nan, 1.25]) == 0.75
    assert unfairness([nan]) == unfairness([]) == 0.0


@pytest.mark.parametrize(
    ("stays", "wants", "slots", "free"),
    [
        ([], [], 1, {-1.0: 0.0, 0.0: 0.0, 3.0: 3.0}),
        ([Stay("a", 2.0, 5.0, inf)], [], 1, {1.0: 1.0, 2.0: 2.0, 4.0: 2.0, 5.0: 2.0, 8.0: 5.0}),
        ([Stay("a", 2.0, 5.0, 2.0)], [], 1, {3.0: 2.0, 4.0: 2.0, 4.5: 2.5, 8.0: 6.0}),
        ([Stay("a", 2.0, 5.0, 2.0)], [], 2, {3.0: 2.0, 4.0: 3.0}),
        ([Stay("a", 0.0, 9.0, 2.0)], [Want(6.0, "a", 1.0)], 1, {2.0: 0.0, 6.0: 4.0, 6.5: 4.0, 9.0: 6.0}),
        ([Stay("a", 0.0, 9.0, 2.0), Stay("b", 1.0, 3.0, inf)], [], 1, {3.0: 0.0, 4.0: 1.0}),
    ],
)
def test_slots_are_free_while_nobody_wants_anything(stays, wants, slots, free):
    known = free_time(stays, slots, wants)
    assert {time: known(time) for time in free} == pytest.approx(free)


def test_jains_index_is_that_of_the_report_and_serving_nobody_is_not_fair():
    assert jain([2.0, 2.0, nan]) == 0.0
    assert jain([1.0, 0.0]) == 0.5
    assert jain([2.0, 1.0, 0.0]) == pytest.approx(0.4)  # 1 - 3^2 / (3 * 5)
    assert jain([0.0, 0.0]) == 1.0
    assert jain([nan]) == jain([]) == 0.0


def test_the_spread_is_between_the_deciles_and_the_shortfall_what_is_missing_to_one():
    assert spread([10.0, nan, *range(10)]) == pytest.approx(8.0)
    assert spread([3.0]) == spread([nan]) == 0.0
    assert shortfall([0.5, 1.5, nan, 0.75]) == pytest.approx(0.25)
    assert shortfall([nan]) == 0.0


@pytest.mark.parametrize("count", range(1, 8))
def test_quantiles_are_numpys(count):
    ordered = sorted(np.random.default_rng(count).normal(size=count).tolist())
    for share in (0.0, 0.1, 0.5, 0.9, 0.95, 1.0):
        assert quantile(ordered, share) == pytest.approx(np.quantile(ordered, share))


def test_what_only_rounding_leaves_between_users_is_no_unfairness():
    nearly = [0.1 + 0.2, 0.3] * 3
    assert unfairness(nearly) == spread(nearly) == 0.0
    assert unfairness([1.0, 1.0 - 1e-9]) == pytest.approx(1e-9)
    assert unfairness([inf, 1.0]) == inf
