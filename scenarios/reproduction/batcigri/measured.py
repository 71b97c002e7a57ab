"""What is read off a harvested run: executions, signals and how well a controller did."""

from __future__ import annotations

from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridtune.agents.harvest.harvester import SIGNALS
from gridtune.scenarios.results.run import Run

Series = NDArray[np.float64]


class Execution(NamedTuple):
    """A job on its nodes, over the half-open interval [start, end) in s."""

    job: int
    kind: str
    nodes: str
    start: float
    end: float
    killed: bool


def executions(run: Run) -> list[Execution]:
    """All executions of a run that kept its events, lost ones included, by start.

    Raises:
        ValueError: the run did not keep its events.
    """
    record = run.record
    if record.journal is None:
        raise ValueError("executions are read from events, which the run did not keep")
    kinds = {job.id: job.kind for job in record.jobs}
    begun: dict[int, tuple[float, str]] = {}
    made: list[Execution] = []
    for time, event, job, _, node in record.journal:
        if event == "started":
            begun[job] = (time, node)
        elif event in ("done", "killed"):
            start, nodes = begun.pop(job)
            made.append(Execution(job, kinds[job], nodes, start, time, event == "killed"))
    return sorted(made, key=lambda execution: execution.start)


def signals(run: Run, harvester: str) -> dict[str, Series]:
    """The signals of a harvester by name, and `time` in s, one value per cycle."""
    made: dict[str, list[float]] = {}
    times: list[float] = []
    first = f"{harvester}.{SIGNALS[0]}"
    for time, signal, value in run.record.signals:
        owner, _, name = signal.rpartition(".")
        if owner == harvester and name in SIGNALS:
            made.setdefault(name, []).append(value)
            if signal == first:
                times.append(time)
    return {"time": np.array(times), **{name: np.array(values) for name, values in made.items()}}


class Quality(NamedTuple):
    """How well a controller harvested.

    Attributes:
        end: of the last job, s.
        mean, rmse, peak: of waiting plus used resources against the reference, from 600 to 3500 s; the peak
            over the whole run.
        full: share of the cycles from the first start to the last submission in which all resources are used.
        utilisation: of all resources up to the end.
        wasted: slot-seconds of killed executions.
    """

    end: float
    mean: float
    rmse: float
    peak: float
    full: float
    utilisation: float
    wasted: float


def quality(run: Run, harvester: str, reference: float = 64.0, start: float = 90.0) -> Quality:
    """The quality of the run of a harvester that starts its first job at `start` (s)."""
    made = signals(run, harvester)
    time, occupied = made["time"], made["waiting"] + made["used"]
    settled = occupied[(time >= 600) & (time <= 3500)]
    # Once nothing is left to submit, empty resources are nobody's fault.
    last = float(max((job.queued for job in run.record.jobs if not job.mandatory), default=nan))
    kept_full = made["used"][(time > start) & (time <= last)] >= run.slots
    metrics = run.metrics
    return Quality(
        metrics["makespan"].value,
        float(settled.mean()),
        float(np.sqrt(((settled - reference) ** 2).mean())),
        float(occupied.max()),
        float(kept_full.mean()),
        metrics["utilisation"].value,
        metrics["wasted_work"].value,
    )
