"""Who is worse off by a recommendation is told, whatever class of jobs it is and whatever a run lacks."""

from math import nan

import numpy as np
import pytest

from gridtune.model.metrics.registry import METRICS, Definition
from gridtune.optimize.recommend.harm import harms

NOISE = np.random.default_rng(1).normal(0, 1, 12)


def told(name, before, after):
    found = harms({name: before}, {name: after}, {}, ())
    return [one.metric for one in found]


@pytest.mark.parametrize(
    "name",
    [
        "waited_p95.length-short", "waited_max", "waiting_mean.optional", "waiting_mean.wide-long",
        "slowdown_mean.optional", "mandatory_failed.local", "shortfall_worst", "unfairness",
    ],
)  # fmt: skip
def test_what_gets_worse_is_told_of_every_class(name):
    before, after = (100 + NOISE).tolist(), (140 - NOISE).tolist()
    assert told(name, before, after) == [name]
    assert told(name, after, before) == []
    assert told(name, before, (105 - NOISE).tolist()) == [], "a twentieth is no harm"


@pytest.mark.parametrize("name", ["global_wait_mean", "campaign_unfairness", "refused", "meta_waiting_mean"])
def test_what_a_system_adds_is_told_too(name, monkeypatch):
    monkeypatch.setitem(METRICS, name, Definition("", "minimize", "", 0.0))
    assert told(name, (100 + NOISE).tolist(), (140 - NOISE).tolist()) == [name]


@pytest.mark.parametrize("name", ["messages", "lease_work", "events", "utilisation", "jobs.optional"])
def test_what_a_middleware_pays_is_no_harm_to_users(name, monkeypatch):
    monkeypatch.setitem(METRICS, name, Definition("", "minimize", "", 0.0))
    assert told(name, (100 + NOISE).tolist(), (140 - NOISE).tolist()) == []


def test_a_class_without_jobs_in_one_run_is_told_by_the_others():
    before, after = (100 + NOISE).tolist(), (140 - NOISE).tolist()
    name = "slowdown_mean.optional"
    assert told(name, [nan, *before[1:]], [*after[:-1], nan]) == [name]
    (one,) = harms({"waited_max": [nan, *before[1:]]}, {"waited_max": after}, {"waited_max": "s"}, ())
    assert one.baseline == pytest.approx(np.mean(before[1:]))
    assert told("waited_max", [nan] * 11 + before[:1], after) == []
