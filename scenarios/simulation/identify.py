"""Identification: what plant a harvester has in front of it, from a step of its submissions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gridtune.agents.harvest.harvester import PATIENCE
from gridtune.model.harvest.control import Sensor
from gridtune.model.harvest.plant import FirstOrder, Gains, fit_first_order, pole_placement
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.simulation.simulate import simulate
from gridtune.scenarios.workloads.jobs import EVERY

LEAST_FIT = 0.5  # share of the variance that has to be explained
LARGEST_A = 1.1  # an integrator has 1; noise may add a little
# The numbers of an identification.
MEANINGS = {
    "a": "of the model: share of the measured value that is left a cycle later",
    "b": "of the model: rise of the measured value for each job submitted in a cycle",
    "fit": "share of the variance that one-step predictions explain, at most 1",
    "kp": "proportional gain, jobs per cycle for an error of 1",
    "ki": "integral gain, jobs per cycle for a sum of errors of 1",
}
# What a sensor measures, as the sum of recorded signals.
PARTS: dict[str, tuple[str, ...]] = {
    "load": ("load",),
    "waiting": ("waiting",),
    "waiting+running": ("waiting", "used"),
}


@dataclass(frozen=True)
class Identification:
    """The answer of a plant to a step, and the first-order plant that explains it.

    Attributes:
        scenario: name.
        harvester: whose input was stepped.
        sensor: what was measured.
        plant: a and b of y(k+1) = a y(k) + b u(k), per cycle.
        fit: share of the variance of the measured values that one-step predictions explain, at most 1.
        times: of the cycles, s.
        inputs: jobs submitted in each cycle.
        measured: sensor values at the beginning of each cycle.
    """

    scenario: str
    harvester: str
    sensor: Sensor
    plant: FirstOrder
    fit: float
    times: list[float]
    inputs: list[float]
    measured: list[float]

    def gains(self, settling: float = 10.0, overshoot: float = 0.05) -> Gains:
        """Gains of a PI controller for this plant; see `model.harvest.plant.pole_placement`."""
        return pole_placement(self.plant.a, self.plant.b, settling, overshoot)

    def as_json(self, settling: float, overshoot: float) -> dict[str, Any]:
        """As the command line prints it, with the gains of `gains`.

        Raises:
            ScenarioError: no gains can be placed for these wishes or this plant.
        """
        try:
            placed = self.gains(settling, overshoot)
        except ValueError as error:
            raise ScenarioError(f"{self.scenario}: harvester.{self.harvester}: {error}") from error
        return {
            "scenario": self.scenario,
            "harvester": self.harvester,
            "sensor": self.sensor,
            "a": self.plant.a,
            "b": self.plant.b,
            "fit": self.fit,
            "kp": placed.kp,
            "ki": placed.ki,
            "times": self.times,
            "inputs": self.inputs,
            "measured": self.measured,
        }


def identify(
    scenario: Scenario,
    seed: int = 1,
    *,
    harvester: str | None = None,
    sensor: Sensor | None = None,
    low: float = 0.0,
    high: float = 10.0,
    before: int = 10,
    after: int = 50,
) -> Identification:
    """Step the submissions of a harvester in open loop and fit a first-order plant to what its sensor shows.

    Args:
        scenario: with a harvester; its controller is replaced.
        seed: of the run.
        harvester: name; not needed where there is only one.
        sensor: what to measure; if left out, what the controller measures, or else the load.
        low, high: jobs submitted in each cycle before and after the step, from 0 up.
        before, after: cycles before and after the step; `before` from 0 to 99, `after` at least 3.

    Raises:
        ScenarioError: no such harvester, no step up, or a run that tells nothing (too few jobs, nothing
            measured, an answer that no first-order plant gives).
    """
    named = {part.name: part for part in scenario.active.harvester}
    name = harvester or next(iter(named), "")
    if name not in named or (harvester is None and len(named) > 1):
        known = ", ".join(named) or "none"
        raise ScenarioError(f"{scenario.name}: identify needs one harvester by name; there are {known}")
    if not 0 <= before < PATIENCE or after < 3:
        raise ScenarioError(
            f"identify: {before} cycles before the step and {after} after it; "
            f"0 to {PATIENCE - 1} before and 3 or more after would be right"
        )
    if not 0 <= low < high:
        raise ScenarioError(f"identify: --low {low:g} --high {high:g}: expected 0 <= low < high")
    measure: Sensor = getattr(named[name].controller, "sensor", "load") if sensor is None else sensor
    if named[name].site == EVERY and len(scenario.active.site) > 1:
        raise ScenarioError(f"{scenario.name}: which site? --set harvester.{name}.site=NAME chooses one")
    cycle = named[name].cycle
    step = {"kind": "step", "low": low, "high": high, "at": before * cycle}
    horizon = (before + after) * cycle
    where = f"{scenario.name}: harvester.{name}"
    try:
        stepped = scenario.override({f"harvester.{name}.controller": step, "horizon": horizon})
        times, inputs, measured = _signals(stepped, seed, name, measure)
        if not measured:
            raise ScenarioError(f"{where}: the site has no file system, whose load --sensor load measures")
        plant = fit_first_order(measured, inputs)
    except ScenarioError:
        raise
    except ValueError as error:
        raise ScenarioError(f"{where}: {error}") from error
    if min(inputs[before:-1], default=0.0) < int(high):
        raise ScenarioError(f"{where}: there are too few jobs for a step of {high:g} per cycle; lower --high")
    fit = _fit(plant, inputs, measured)
    if not (0.0 < plant.a <= LARGEST_A and plant.b > 0.0 and fit >= LEAST_FIT):
        raise ScenarioError(
            f"{where}: the step has no answer of first order (a {plant.a:.3g}, b {plant.b:.3g}, share of the "
            f"variance explained {fit:.2g}); try another --low, --high or --sensor, or a shorter cycle"
        )
    return Identification(scenario.name, name, measure, plant, fit, times, inputs, measured)


def _signals(
    scenario: Scenario, seed: int, name: str, sensor: Sensor
) -> tuple[list[float], list[float], list[float]]:
    """Times, inputs and measured values of a run, one per cycle."""
    inputs: dict[float, float] = {}
    measured: dict[float, float] = {}
    wanted = {f"{name}.{part}" for part in PARTS[sensor]}
    for time, signal, value in simulate(scenario, seed).record.signals:
        if signal == f"{name}.input":
            inputs[time] = value
        elif signal in wanted:
            measured[time] = measured.get(time, 0.0) + value
    return list(inputs), list(inputs.values()), list(measured.values())


def _fit(plant: FirstOrder, inputs: list[float], measured: list[float]) -> float:
    after = measured[1:]
    mean = sum(after) / len(after)
    pairs = zip(measured, inputs, after, strict=False)
    left = sum((plant.a * y + plant.b * u - y_next) ** 2 for y, u, y_next in pairs)
    total = sum((y - mean) ** 2 for y in after)
    return 1.0 - left / total if total > 0 else 0.0
