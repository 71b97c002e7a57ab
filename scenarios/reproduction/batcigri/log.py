"""A log of a real CiGri: the law of its controller, ours fed with its load, and our plant beside it."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridtune.model.harvest.antiwindup import Sums
from gridtune.model.harvest.control import Memory, Reading
from gridtune.model.harvest.feedback import PI
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.run import Run
from gridtune.scenarios.trace_files.find import find_trace
from gridtune.scenarios.trace_files.records import TraceError

FILE = "cigri_log_pi_10r.txt"
CYCLE = 30.0  # s, about

Floats = NDArray[np.float64]


class Log(NamedTuple):
    """What the log says of each cycle.

    Attributes:
        time: s from the first cycle.
        input: value of the actuator.
        load: load average of the file server over a minute.
    """

    time: Floats
    input: Floats
    load: Floats


class IntegralLaw(NamedTuple):
    """u(k+1) = u(k) + ki (reference - y(k)).

    Attributes:
        ki: gain, per unit of load and cycle.
        reference: load that is aimed at.
    """

    ki: float
    reference: float


def read_log() -> Log | None:
    """The log; None if it is in none of the places where traces are kept.

    Raises:
        ScenarioError: it is there and holds something else.
    """
    try:
        path = find_trace(FILE)
    except TraceError:
        return None
    return Log(*_columns(path).T)


def _columns(path: Path) -> Floats:
    with path.open(newline="", encoding="utf-8") as file:
        try:
            rows = [[float(value) for value in row[:3]] for row in csv.reader(file)]
            made: Floats = np.array(rows)
            made[:, 0] -= made[0, 0]
        except (ValueError, IndexError) as error:
            raise ScenarioError(f"{path}: is no log of CiGri: {error}") from None
    return made


def fit_law(log: Log) -> IntegralLaw:
    """The integral law that explains the steps of the actuator best, in the sense of least squares."""
    steps = np.diff(log.input)
    known = np.column_stack([np.ones(len(steps)), log.load[:-1]])
    (constant, slope), *_ = np.linalg.lstsq(known, steps, rcond=None)
    return IntegralLaw(float(-slope), float(-constant / slope))


def half(log: Log, which: int) -> Log:
    """The first or the second half of a log."""
    middle = len(log.time) // 2
    part = slice(0, middle) if which == 0 else slice(middle, None)
    return Log(*(values[part] for values in log))


def unexplained_steps(log: Log, law: IntegralLaw) -> float:
    """Root mean square error of the law's steps of the actuator, over the steps' standard deviation."""
    steps = np.diff(log.input)
    error = steps - law.ki * (law.reference - log.load[:-1])
    return float(np.sqrt((error**2).mean()) / steps.std())


def fed(log: Log, law: IntegralLaw) -> Floats:
    """What our PI controller wants after each cycle if it starts as the log does and gets its load."""
    controller = PI(reference=law.reference, sensor="load", kp=0.0, ki=law.ki)
    memory: Memory = Sums(log.input[0] / law.ki, 0.0)  # as it must have been before the first cycle
    made = []
    for time, load in zip(log.time, log.load, strict=True):
        reading = Reading(float(time), CYCLE, load=float(load), left=10**9)
        decision = controller.decide(reading, memory)
        memory = decision.memory
        made.append(decision.jobs)
    return np.array(made)


def prediction(log: Log, fitted: Log) -> float:
    """Error of predicting the load a cycle ahead by y(k+1) = a y(k) + b u(k), over that of persistence.

    Args:
        log: in which the load is predicted.
        fitted: from which a and b are taken.
    """
    from gridtune.model.harvest.plant import fit_first_order

    plant = fit_first_order(fitted.load.tolist(), fitted.input.tolist())
    after = log.load[1:]
    error = after - plant.a * log.load[:-1] - plant.b * log.input[:-1]
    return float(np.sqrt((error**2).mean() / ((after - log.load[:-1]) ** 2).mean()))


def loads(run: Run, first: int, last: int) -> dict[str, float]:
    """Mean, standard deviation and autocorrelation of the load in some cycles of a simulated run."""
    series = [value for _, name, value in run.record.signals if name.endswith(".load")]
    return moments(series[first:last])


def moments(series: Sequence[float]) -> dict[str, float]:
    """Mean, standard deviation, and correlation of each value with the next."""
    values = np.asarray(series)
    return {
        "mean": float(values.mean()),
        "deviation": float(values.std()),
        "autocorrelation": float(np.corrcoef(values[:-1], values[1:])[0, 1]),
    }
