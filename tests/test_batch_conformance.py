"""A part of `tests/benchmarks/conformance.py`: policies against the slow reference, promises kept."""

import pytest

from gridtune.model.batch import policies
from tests.conformance import CONFIGURATIONS, broken_promises, differing_starts


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=lambda configuration: configuration[0])
def test_every_start_is_that_of_the_reference(configuration):
    assert differing_starts(configuration, 60, seed=0) == 0


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
