"""A part of `tests/benchmarks/conformance.py`: policies against the slow reference, promises kept."""

from math import inf

import pytest

from gridtune.model.batch import policies
from gridtune.model.batch.planning import plan
from gridtune.model.batch.planning.profile import Profile
from tests.conformance import CONFIGURATIONS, broken_promises, differing_starts


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=lambda configuration: configuration[0])
def test_every_start_is_that_of_the_reference(configuration):
    assert differing_starts(configuration, 60, seed=0) == 0


@pytest.mark.parametrize(
    ("short", "stride", "few", "deep"), [(0, 1, 0, 1), (0, 1, 0, 50), (0, 3, 2, 2), (3, 8, 16, 20)]
)
def test_it_does_not_matter_how_much_is_planned_at_once(monkeypatch, short, stride, few, deep):
    for name, value in {"SHORT": short, "STRIDE": stride, "FEW": few, "DEEP": deep}.items():
        monkeypatch.setattr(plan, name, value)
    assert differing_starts(CONFIGURATIONS[2], 150, seed=stride + deep) == 0


def test_how_long_processors_stay_free_by_hand():
    # 10-12 s: 3 free; 12-13: 5; 13-17: 1; 17-19: 4; from 19 on: 6
    profile = Profile(10.0, 3, [(12.0, 2), (13.0, -4), (17.0, 3), (19.0, 2)])
    made = {limit: profile.runs(limit) for limit in (100.0, 17.0, 12.0)}
    assert made[100.0] == ([1, 3, 4, 5, 6], [inf] * 5)
    assert made[17.0] == ([1, 3, 5], pytest.approx([inf, 3, 1]))
    assert made[12.0] == ([1, 3], pytest.approx([inf, 3]))
    assert profile.kept(6).tolist() == [inf, inf, 13, 13, -inf, -inf, -inf]
    assert profile.kept(2).tolist() == [inf, inf, 13]


def test_a_gap_that_fits_to_the_last_bit_is_used():
    # 0.1 + 0.2 is more than 0.3, and 0.3 - 0.1 less than 0.2
    profile = Profile(0.1, 1, [(0.1 + 0.2, -1)])
    numbers, longest = profile.runs(1.0)
    assert numbers == [0, 1]
    assert longest[1] >= 0.2
    assert profile.kept(1).tolist() == [inf, 0.1 + 0.2]
    assert profile.place(1, 0.2, 1.0) == 0.1


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_the_head_starts_when_it_was_promised_or_earlier(policy):
    broken, made = broken_promises(policy, 300, seed=1)
    assert broken == 0
    assert made > 50


def test_a_policy_that_delays_the_head_is_found(monkeypatch):
    true = policies.reservation

    def generous(head, free, cluster, starting, now):
        shadow, extra = true(head, free, cluster, starting, now)
        return shadow + 2.0, extra

    monkeypatch.setattr(policies, "reservation", generous)
    assert broken_promises("easy", 300, seed=1)[0] > 0
    assert differing_starts(CONFIGURATIONS[1], 200, seed=0) > 0
