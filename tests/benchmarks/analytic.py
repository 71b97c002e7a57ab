"""An analytic stand-in for a federation: the space of `scenarios/federation.toml`, exact truths, noise.

A replication moves all configurations together (the workload's noise), and each configuration has noise of
its own beside it, more of it where pilots are used. Because the truth is known, statements of a search can
be counted right or wrong.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import cache
from math import log
from pathlib import Path

import numpy as np

from gridtune.model.metrics.registry import Metric
from gridtune.optimize.search_space.baseline import baseline_of
from gridtune.optimize.search_space.space import Space, key
from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.execution.replicate import Task

SCENARIO = Path(__file__).parent / "scenarios" / "federation.toml"
OBJECTIVES = ("unhappy_users", "unfairness", "completed_work")
UNITS = ("users", "", "s")
SHARED = np.array([3.8, 0.13, 18_500.0])  # sd per run of what all configurations share
OWN = np.array([1.0, 0.035, 6_600.0])  # sd per run of a configuration's own noise


def _on(value: float, low: float, high: float) -> float:
    """Where a value stands on the logarithmic way from low to high, in [0, 1]."""
    return log(value / low) / log(high / low)


def truth(values: Mapping[str, object]) -> np.ndarray:
    """Expected unhappy users, unfairness and completed work (s) of a configuration of that space."""

    def number(path: str) -> float:
        return float(values[path])  # type: ignore[arg-type]

    kind = values["middleware.kind"]
    unhappy, unfair, work = 14.0, 0.95, 760_000.0
    if kind == "push":
        stale = _on(number("middleware.update_period"), 10, 3600)
        unhappy += 2 + 8 * stale**2
        unfair += -0.06 + 0.1 * stale
        work -= 10_000 + 22_000 * stale
    else:
        room = _on(number("middleware.availability_epsilon"), 0.05, 2.0)
        poll = _on(number("middleware.poll_period"), 10, 900)
        unhappy += 4 * (room - 0.35) ** 2 + 3 * poll**2
        work += 30_000 * room - 18_000 * poll
        if kind == "pilot":
            filling = values["middleware.pilot_mode"] == "filling"
            unhappy += -3 if filling else -1
            unfair += 0.08 if filling else 0.03
            work -= 26_000 if filling else 12_000
    for site, weight in (("lyon", 1.0), ("nancy", 0.7)):
        policy = values[f"site.{site}.policy"]
        unhappy += weight * {"fcfs": 3.0, "easy": 0.3, "conservative": 0.0}[str(policy)]
        unfair += weight * {"fcfs": -0.03, "easy": 0.02, "conservative": 0.0}[str(policy)]
        work += weight * {"fcfs": -16_000, "easy": 6_000, "conservative": 2_500}[str(policy)]
    share = number("site.orsay.vres.sdj")
    unhappy += 22 * max(0.0, 0.5 - share) ** 1.5 + 6 * max(0.0, share - 0.55)
    work -= 30_000 * share
    wall = _on(600, 120, 1200)
    unhappy += 3 * (1 - wall) ** 2
    unfair += 0.05 * wall
    controller = values["harvester.controller"]
    if controller == "tap":
        most = _on(number("harvester.controller.maximum"), 10, 100)
        harvest = 0.55 + 0.4 * most
    elif controller == "pole-placement":
        reference = _on(number("harvester.controller.reference"), 1, 64)
        settling = _on(number("harvester.controller.settling"), 4, 40)
        harvest = 0.96 * reference - 0.12 * settling**2
    else:
        reference = _on(number("harvester.controller.reference"), 1, 64)
        gain = _on(number("harvester.controller.kp"), 0.01, 2.0)
        harvest = reference * (0.98 - 0.5 * (gain - 0.65) ** 2)
        if controller == "pi":
            harvest += 0.05 - 0.2 * (_on(number("harvester.controller.ki"), 0.001, 1.0) - 0.6) ** 2
    work += 150_000 * harvest
    unfair += 0.25 * max(0.0, harvest) ** 2
    unhappy += 3.5 * max(0.0, harvest - 0.5) ** 2
    if values["client.dispatch"] == "ethic":
        window = number("client.dispatch.window")
        unfair += -0.15 + 0.012 * (window - 3) ** 2 / 4
        unhappy += 0.15 * window
    else:
        most = _on(number("client.n_submit"), 10, 150)
        unhappy += 5 * most**2
        work += 12_000 * most
    fallback = values["agent.routing.fallback"]
    unhappy += {"none": 1.2, "displaced": 0.0, "slipped": 0.4}[str(fallback)]
    unfair += {"none": 0.0, "displaced": 0.02, "slipped": -0.01}[str(fallback)]
    return np.array([unhappy, unfair, work])


@cache
def scenario() -> Scenario:
    """Whose space is searched; its reference is the one with which stand-ins have been measured."""
    return load(str(SCENARIO)).override({"harvester.controller.reference": 24.0})


@cache
def baseline() -> dict[str, object]:
    """The settings that stand in the scenario."""
    return dict(baseline_of(scenario(), Space.of(scenario())).configuration)


def run(task: Task) -> dict[str, Metric]:
    """One run: the truth, the replication effect on all configurations, and each one's own noise.

    Args:
        task: the configuration and the replication.
    """
    configuration = task.values or baseline()
    shared = np.random.default_rng([task.seed, task.replication]).normal(size=3) * SHARED
    own = np.random.default_rng([zlib.crc32(key(configuration).encode()), task.seed, task.replication])
    scale = 1.4 if configuration["middleware.kind"] == "pilot" else 0.9
    values = truth(configuration) + shared + scale * OWN * own.normal(size=3)
    return {
        name: Metric(float(value), unit) for name, unit, value in zip(OBJECTIVES, UNITS, values, strict=True)
    }
