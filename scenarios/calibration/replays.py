"""Replays of logs under settings, each compared with the waits that were logged."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from math import ceil
from time import monotonic
from typing import Any

import numpy as np

from gridtune.plain_text import counted
from gridtune.scenarios.calibration.logs import Log
from gridtune.scenarios.calibration.waits import Flags, Floats, GoodnessOfFit, LoggedWaits
from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.simulation.simulate import simulate

SITE = "site.cluster"
NODES = f"{SITE}.nodes"  # in settings as a share of those that a log has
OVERHEAD = f"{SITE}.start_overhead"
TOLD = 30.0  # s between two messages of how far it is
PRICE = 0.01  # of misfit, that each setting beyond the policy has to save
Values = dict[str, Any]

log = logging.getLogger("gridtune")


@dataclass(frozen=True)
class Tried:
    """Settings, and how alike their replay is to the log.

    Attributes:
        values: by path, on top of `batch/replay`.
        fitted: on the part by which settings are chosen.
        tested: on the part that is held back; None of a replay that ends before it.
        ratios: mean wait over that of the log, of each log.
        refused: places of the jobs that the site refuses, which no number counts.
    """

    values: Values
    fitted: GoodnessOfFit
    tested: GoodnessOfFit | None
    ratios: Sequence[float] = ()
    refused: Sequence[int] = ()


class Replays:
    """Replays of logs, or of their first part, under settings; equal settings are replayed once.

    Args:
        logs: which.
        known: what replays gave, by logs and settings; new ones are added.
        given: settings that all replays have, and that are none of those that are chosen.
        cut: weeks, or logs, that settings are chosen by; all if left out.
        expected: how many replays are to come, in words; "" to say nothing of it.

    Attributes:
        waits: of all the logs.
    """

    def __init__(
        self,
        logs: Sequence[Log],
        known: MutableMapping[str, Tried],
        given: Mapping[str, Any],
        cut: int | None = None,
        expected: str = "",
    ) -> None:
        self.logs, self._known, self._cut, self._expected = logs, known, cut, expected
        self._told = monotonic()
        which = [(one.digest, one.size, one.first, one.last) for one in logs]
        self._which = f"{version('gridtune')} {which} {cut} {dict(given)}"
        self.waits = LoggedWaits.join(
            [LoggedWaits.of(one.submit, one.wait, one.runtime, one.processors) for one in logs]
        )
        base = load("batch/replay").override({f"{SITE}.named_nodes": False, "workload.resample": "none"})
        self._scenarios = [base.override({NODES: one.size} | one.chosen | dict(given)) for one in logs]
        self._done: dict[str, Tried] = {}

    @property
    def runs(self) -> int:
        """Replays so far, known ones included."""
        return len(self._done)

    @property
    def held_back(self) -> Flags:
        """Jobs of the part that settings are not chosen by."""
        weeks = self.waits.week
        return weeks >= (self._cut if self._cut is not None else weeks[-1] + 1)

    def tried(self, values: Values) -> Tried:
        """Settings replayed."""
        settings = repr(sorted(values.items()))
        if settings not in self._done:
            key = f"{self._which} {settings}"
            begun = monotonic()
            if key not in self._known:
                self._known[key] = self._replayed(values)
            one = self._done[settings] = replace(self._known[key], values=values)
            took = monotonic() - begun
            if self.runs == 1 and self._expected and took > 1.0:
                log.info(
                    f"a replay of {len(self.waits.wait):,} jobs takes {took:.0f} s; {self._expected} follow"
                )
            elif monotonic() - self._told > TOLD:
                log.info(f"{counted(self.runs, 'replay')} so far")
                self._told = monotonic()
            log.debug(f"{self.runs}: misfit {one.fitted.misfit:.3f} {described(values)}")
        return self._done[settings]

    def _replayed(self, values: Values) -> Tried:
        made = [
            _waits(scenario, of_size(values, one.size), one)
            for scenario, one in zip(self._scenarios, self.logs, strict=True)
        ]
        waits, back = np.concatenate(made), self.held_back
        if any(np.isnan(waits[part]).all() for part in (~back, back) if part.any()):
            raise ScenarioError(f"{self.logs[0].path}: the simulated site refuses all jobs of a part of it")
        fitted = GoodnessOfFit.of(waits, self.waits, ~back)
        tested = GoodnessOfFit.of(waits, self.waits, back) if back.any() else None
        ratios = [
            float(np.nansum(ours) / (one.wait[~np.isnan(ours)].sum() or 1.0))
            for ours, one in zip(made, self.logs, strict=True)
        ]
        return Tried(values, fitted, tested, ratios, np.flatnonzero(np.isnan(waits)).tolist())

    def best(self, candidates: Iterable[Values]) -> list[Tried]:
        """The candidates, the most alike first; a setting that gains too little counts as none."""
        return sorted(
            map(self.tried, candidates), key=lambda one: one.fitted.misfit + PRICE * len(one.values)
        )


def _waits(scenario: Scenario, values: Values, log: Log) -> Floats:
    """How long the jobs of a log with a known wait do so in a replay under settings, s; nan if refused."""
    run = simulate(scenario.override(values))
    # A site counts a job as started when it takes the nodes, a log when the job itself begins.
    overhead = values.get(OVERHEAD, 0.0)
    waits: Floats = np.array([job.start + overhead - job.submit for job in run.record.jobs])[log.known]
    return waits


def of_size(values: Values, size: int) -> Values:
    """The settings, with the share of the nodes that there are as a number of them."""
    share = values.get(NODES)
    return values if share is None else values | {NODES: ceil(size * share - 1e-9)}


def described(values: Values) -> str:
    """Settings in a line."""
    return "; ".join(f"{path.removeprefix(SITE + '.')} {plain(value)}" for path, value in values.items())


def plain(value: Any) -> str:
    """A setting in words."""
    if isinstance(value, dict):
        return ", ".join(str(part) if name == "kind" else f"{name} {part}" for name, part in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)
