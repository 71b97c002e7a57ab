"""Deserved areas, satisfaction and unhappiness as RR-7959 defines them."""

import itertools
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.fairness import deserved_areas, outcomes, unfairness
from model.job import Job
from model.record import Stay


def test_the_regular_scenario_deserves_what_arithmetic_says():
    deserved = deserved_areas([Stay(f"u{i}", 10.0 * i, 10.0 * i + 100.0) for i in range(10)], 10)
    harmonic = sum(1 / k for k in range(1, 11))
    assert deserved["u0"] == pytest.approx(100 * harmonic)
    assert deserved["u9"] == pytest.approx(100 * harmonic)
    assert deserved["u4"] == pytest.approx(139.127, abs=0.001)
    assert sum(deserved.values()) == pytest.approx(1900)


stays = st.lists(
    st.builds(
        lambda user, entry, length: Stay(f"u{user}", entry / 4, (entry + length) / 4),
        st.integers(0, 4),
        st.integers(0, 40),
        st.integers(0, 40),
    ),
    max_size=12,
)


def naive_deserved(stays, slots):
    """Cut the time at every entry and deadline and share each slot, as the formula is written."""
    cuts = sorted({time for stay in stays for time in (stay.entry, stay.deadline)})
    deserved = {stay.user: 0.0 for stay in stays}
    for start, end in itertools.pairwise(cuts):
        users = {stay.user for stay in stays if stay.entry <= start and end <= stay.deadline}
        for user in users:
            deserved[user] += slots * (end - start) / len(users)
    return deserved


@given(stays, st.integers(1, 50))
def test_deserved_areas_equal_the_formula_and_sum_to_the_union_of_stays(stays, slots):
    deserved = deserved_areas(stays, slots)
    assert deserved == pytest.approx(naive_deserved(stays, slots))
    quarters = {k for stay in stays for k in range(int(stay.entry * 4), int(stay.deadline * 4))}
    assert sum(deserved.values()) == pytest.approx(slots * len(quarters) / 4)


def done(number, user, start, end, deadline=inf, mandatory=True):
    job = Job(number, user, 0.0, end - start, deadline=deadline, mandatory=mandatory)
    job.queue(0.0)
    job.begin(start)
    job.finish(end)
    return job


def test_only_late_mandatory_work_makes_unhappy_and_the_deadline_itself_is_in_time():
    jobs = [
        done(1, "punctual", 0, 10, deadline=10),
        done(2, "late", 0, 11, deadline=10),
        done(3, "relaxed", 0, 11, deadline=10, mandatory=False),
        Job(4, "forgotten", 0.0, 1.0, deadline=10),
        Job(5, "patient", 0.0, 1.0, deadline=100),
    ]
    users = outcomes(jobs, [], 1, now=20.0)
    assert {name for name, user in users.items() if user.unhappy} == {"late", "forgotten"}


def test_satisfaction_is_allocated_over_deserved():
    stays = [Stay("a", 0.0, 10.0), Stay("b", 0.0, 10.0, demand=2.0)]
    jobs = [done(1, "a", 0, 6), done(2, "b", 0, 2)]
    users = outcomes(jobs, stays, 1, now=10.0)
    assert users["a"].satisfaction == pytest.approx(6 / 5)
    assert unfairness(users.values()) == pytest.approx(6 / 5 - 2 / 5)
    capped = outcomes(jobs, stays, 1, now=10.0, deserved="capped")
    assert capped["b"].satisfaction == pytest.approx(1.0)
