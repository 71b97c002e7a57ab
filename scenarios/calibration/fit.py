"""The search for settings under which a replay waits as its log did: one after the other, on even weeks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from gridtune.scenarios.calibration.waits import Floats, Likeness, LoggedWaits, persistence
from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.simulation.simulate import simulate
from gridtune.scenarios.trace_files.find import find_trace
from gridtune.scenarios.trace_files.reading import read_trace
from gridtune.scenarios.trace_files.records import Keep, TraceJob
from gridtune.scenarios.traces.columns import Columns

SITE = "site.cluster"
Values = dict[str, Any]
Said = Callable[[str], object]


def _priority(**parameters: Any) -> Values:
    return {"kind": "priority", **parameters}


FAMILIES: tuple[Any, ...] = (
    "fcfs",
    "easy",
    "conservative",
    "fair-share",
    _priority(weight_fairshare=100.0),
    _priority(weight_job_size=100.0),
    _priority(weight_job_size=100.0, favour="small"),
    _priority(weight_shortness=30.0, weight_job_size=10.0),
    _priority(rule="sjf"),
    _priority(rule="lxf"),
    _priority(rule="wfp3"),
)
SMALLER = (0.98, 0.95, 0.92, 0.88, 0.84, 0.8)  # of the nodes: some are down, drained or kept for others
KEPT = 3  # policies that are tried on smaller sites
FEWEST_WEEKS = 4


@dataclass(frozen=True)
class Tried:
    """Settings, and how alike their replay is to the log.

    Attributes:
        values: by path, on top of `batch/replay`.
        fitted: on the even weeks, by which settings are chosen.
        tested: on the odd weeks, which settings are not chosen by.
    """

    values: Values
    fitted: Likeness
    tested: Likeness


@dataclass(frozen=True)
class Calibration:
    """What calibration found.

    Attributes:
        trace: the file.
        jobs: with a wait.
        weeks: of the log, begun ones included.
        nodes: that the log names, or that are given.
        logged: mean wait of the log on the weeks for testing, s.
        best: the settings that are most alike on the weeks for fitting.
        plain: EASY on all nodes, without overheads.
        guessed: persistence.
        runs: replays.
    """

    trace: str
    jobs: int
    weeks: int
    nodes: int
    logged: float
    best: Tried
    plain: Tried
    guessed: Likeness
    runs: int

    @property
    def skill(self) -> float:
        """1 minus the error of starts over that of persistence; below 0 persistence is better."""
        return 1.0 - self.best.tested.error / self.guessed.error


class _Replays:
    """Replays of a log under settings, compared with its waits; equal settings are replayed once."""

    def __init__(self, scenario: Scenario, log: LoggedWaits, known: np.ndarray[Any, Any], say: Said) -> None:
        self._scenario, self._log, self._known, self._say = scenario, log, known, say
        self._done: dict[str, Tried] = {}

    @property
    def runs(self) -> int:
        """Replays so far."""
        return len(self._done)

    def tried(self, values: Values) -> Tried:
        """Settings replayed."""
        key = repr(sorted(values.items()))
        if key not in self._done:
            run = simulate(self._scenario.override(values))
            waits = np.array([job.start - job.submit for job in run.record.jobs])[self._known]
            if np.isnan(waits).any():
                # A job that is refused never starts: such settings are not those of the log.
                waits = np.where(np.isnan(waits), run.end, waits)
            parts = (Likeness.of(waits, self._log, self._log.part(parity)) for parity in (0, 1))
            self._done[key] = Tried(values, *parts)
            self._say(f"{self.runs}: loss {self._done[key].fitted.loss:.3f} {described(values)}")
        return self._done[key]

    def best(self, candidates: Iterable[Values]) -> list[Tried]:
        """The candidates, the most alike first; of equal ones the earlier."""
        return sorted(map(self.tried, candidates), key=lambda tried: tried.fitted.loss)


def described(values: Values) -> str:
    """Settings in a line."""

    def plain(value: Any) -> str:
        if isinstance(value, dict):
            return ", ".join(
                str(part) if name == "kind" else f"{name} {part}" for name, part in value.items()
            )
        return f"{value:g}" if isinstance(value, float) else str(value)

    return "; ".join(f"{path.removeprefix(SITE + '.')} {plain(value)}" for path, value in values.items())


def calibrate(
    trace: str, *, nodes: int | None = None, last: int | None = None, say: Said = lambda line: None
) -> Calibration:
    """Find settings of `batch/replay` under which the log's jobs wait as they did.

    First the policy, then how many nodes there really were, then how many jobs a user may run, then the time
    that each job takes to enter its queue and to start, then the policy again: each is chosen by the loss
    (`Likeness`) on even weeks.

    Args:
        trace: a log with waits.
        nodes: processors; if left out as many as the log says.
        last: number of the last job to use; all if left out.
        say: hears what each replay gave.

    Raises:
        ScenarioError: the log cannot be read, has no waits or too few weeks, or does not say how large the
            site was.
    """
    path = find_trace(trace)
    read = read_trace(path, keep=Keep(cancelled=True))
    jobs = [job for job in read.jobs[:last] if job.withdrawn is None]
    known = np.array([job.wait is not None for job in jobs])
    if known.mean() < 0.9:
        raise ScenarioError(
            f"{path}: {1 - known.mean():.0%} of the jobs have no wait; there is nothing to calibrate to"
        )
    columns = Columns.of([job for job in jobs if job.wait is not None])
    log = LoggedWaits.of(columns.submit, columns.wait, columns.runtime, columns.processors)
    weeks = int(log.week[-1]) + 1
    if weeks < FEWEST_WEEKS:
        raise ScenarioError(f"{path}: is {weeks} weeks long; calibration needs at least {FEWEST_WEEKS}")
    size = nodes or read.header.processors
    if size is None:
        raise ScenarioError(f"{path}: does not say how many processors there were; give --nodes")
    widest = max(job.processors for job in jobs)
    if widest > size:
        raise ScenarioError(f"{path}: a job has {widest} processors; --nodes {size} is too few")
    facts = {"workload.trace": trace, "workload.last": last, f"{SITE}.nodes": size}
    scenario = load("batch/replay").override(
        {key: value for key, value in facts.items() if value is not None}
        | {f"{SITE}.named_nodes": False, "workload.resample": "none"}
    )
    replays = _Replays(scenario, log, known, say)
    plain = replays.tried({f"{SITE}.policy": "easy"})
    easy = plain.values
    ranked = replays.best({f"{SITE}.policy": policy} for policy in FAMILIES)
    for lever, numbers in (
        ("nodes", [ceil(size * part) for part in SMALLER if size > ceil(size * part) >= widest]),
        ("quota.user_running", _most_running(jobs)),
    ):
        # EASY stays in the race: before all else is right a wrong policy may look better.
        bases = [*(tried.values for tried in ranked[:KEPT]), easy]
        changed = [base | {f"{SITE}.{lever}": number} for base in bases for number in dict.fromkeys(numbers)]
        ranked = replays.best([*bases, *changed])
    least = float(np.quantile(log.wait, 0.01))
    for name, times in (("mu_rec", (least,)), ("start_overhead", (10.0, 60.0, 180.0))):
        best = ranked[0].values
        ranked = replays.best([best, *(best | {f"{SITE}.{name}": time} for time in times if time > 0)])
    best = ranked[0].values
    ranked = replays.best([best, *(best | {f"{SITE}.policy": policy} for policy in FAMILIES)])
    guessed = Likeness.of(persistence(log), log, log.part(1))
    logged = float(log.wait[log.part(1)].mean())
    return Calibration(
        trace, len(log.wait), weeks, size, logged, ranked[0], plain, guessed, replays.runs
    )  # fmt: skip


def _most_running(jobs: Iterable[TraceJob]) -> list[float]:
    """Quotas to try: one to three jobs, what nine of ten users never exceeded, and what nobody exceeded."""
    changes: dict[str, list[tuple[float, int]]] = {}
    for job in jobs:
        start = job.submit + (job.wait or 0.0)
        changes.setdefault(job.user or "", []).extend([(start, 1), (start + job.runtime, -1)])
    peaks = []
    for theirs in changes.values():
        running = np.cumsum([change for _, change in sorted(theirs)])
        peaks.append(float(running.max()))
    return sorted({1.0, 2.0, 3.0, *(float(np.ceil(np.quantile(peaks, share))) for share in (0.9, 1.0))})


__all__ = ["Calibration", "Floats", "Tried", "calibrate", "described"]
