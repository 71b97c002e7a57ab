"""The search for settings under which replays wait as their logs did: one after the other, on even weeks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from gridtune.scenarios.calibration.hours import prime_times
from gridtune.scenarios.calibration.logs import Log, read_log
from gridtune.scenarios.calibration.waits import WEEK, Floats, Likeness, LoggedWaits, persistence
from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.simulation.simulate import simulate

SITE = "site.cluster"
NODES = f"{SITE}.nodes"  # in settings as a share of those that a log has
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
ENTRY = f"{SITE}.mu_rec"
OVERHEAD = f"{SITE}.start_overhead"
OVERHEADS = (2.0, 10.0, 60.0, 180.0)  # s to start a job
KEPT = 3  # policies that are tried with what else may have been
FEWEST = 4  # weeks of a log, or logs
ENOUGH = 30_000  # jobs by which settings are told apart; of a longer log the busiest weeks are taken


@dataclass(frozen=True)
class Tried:
    """Settings, and how alike their replay is to the log.

    Attributes:
        values: by path, on top of `batch/replay`.
        fitted: on the even weeks, by which settings are chosen.
        tested: on the odd weeks, which settings are not chosen by.
        ratios: mean wait over that of the log, of each log.
    """

    values: Values
    fitted: Likeness
    tested: Likeness
    ratios: Sequence[float] = ()


@dataclass(frozen=True)
class Calibration:
    """What calibration found.

    Attributes:
        traces: the files.
        jobs: with a wait.
        parts: weeks of the log, begun ones included; the number of logs where there are several.
        nodes: that each log names, or that are given, or else the most that were in use at once.
        said: whether that is known, or the most that were in use at once.
        logged: mean wait of the log on the weeks for testing, s.
        best: the settings that are most alike on the weeks for fitting.
        plain: EASY on all nodes, without overheads.
        guessed: persistence.
        runs: replays.
    """

    traces: Sequence[str]
    jobs: int
    parts: int
    nodes: Sequence[int]
    said: bool
    logged: float
    best: Tried
    plain: Tried
    guessed: Likeness
    runs: int

    @property
    def values(self) -> Values:
        """The best settings, with the nodes of the first log as a number."""
        return _of_size(self.best.values, self.nodes[0])

    @property
    def skill(self) -> float:
        """1 minus the error of starts over that of persistence; below 0 persistence is better."""
        return 1.0 - self.best.tested.error / self.guessed.error


class _Replays:
    """Replays of logs under settings, compared with their waits; equal settings are replayed once.

    Args:
        logs: which.
        say: hears what each replay gave.
        known: what replays gave, by logs and settings; new ones are added.

    Attributes:
        waits: of all the logs.
    """

    def __init__(self, logs: Sequence[Log], say: Said, known: MutableMapping[str, Tried]) -> None:
        self.logs, self._say, self._known = logs, say, known
        self._which = [(log.trace, log.size, log.first, log.last) for log in logs]
        self.waits = LoggedWaits.join(
            [LoggedWaits.of(log.submit, log.wait, log.runtime, log.processors) for log in logs]
        )
        base = load("batch/replay").override({f"{SITE}.named_nodes": False, "workload.resample": "none"})
        self._scenarios = [base.override({NODES: log.size} | log.chosen) for log in logs]
        self._done: dict[str, Tried] = {}

    @property
    def runs(self) -> int:
        """Replays so far, known ones included."""
        return len(self._done)

    def tried(self, values: Values) -> Tried:
        """Settings replayed."""
        settings = repr(sorted(values.items()))
        if settings not in self._done:
            key = f"{self._which} {settings}"
            if key not in self._known:
                self._known[key] = self._replayed(values)
            self._done[settings] = self._known[key]
            self._say(f"{self.runs}: loss {self._done[settings].fitted.loss:.3f} {described(values)}")
        return self._done[settings]

    def _replayed(self, values: Values) -> Tried:
        replays = [
            _waits(scenario, _of_size(values, log.size), log)
            for scenario, log in zip(self._scenarios, self.logs, strict=True)
        ]
        waits = np.concatenate(replays)
        fitted, tested = (Likeness.of(waits, self.waits, self.waits.part(parity)) for parity in (0, 1))
        ratios = [float(made.sum() / log.wait.sum()) for made, log in zip(replays, self.logs, strict=True)]
        return Tried(values, fitted, tested, ratios)

    def best(self, candidates: Iterable[Values]) -> list[Tried]:
        """The candidates, the most alike first; of equal ones the earlier."""
        return sorted(map(self.tried, candidates), key=lambda tried: tried.fitted.loss)


def _waits(scenario: Scenario, values: Values, log: Log) -> Floats:
    """How long the jobs of a log with a known wait do so in a replay under settings, s."""
    run = simulate(scenario.override(values))
    # A site counts a job as started when it takes the nodes, a log when the job itself begins.
    overhead = values.get(OVERHEAD, 0.0)
    waits: Floats = np.array([job.start + overhead - job.submit for job in run.record.jobs])[log.known]
    # A job that is refused never starts: such settings are not those of the log.
    return np.where(np.isnan(waits), run.end, waits) if np.isnan(waits).any() else waits


def _of_size(values: Values, size: int) -> Values:
    """The settings, with the share of the nodes that there are as a number of them."""
    share = values.get(NODES)
    return values if share is None else values | {NODES: ceil(size * share)}


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
    *traces: str,
    nodes: int | None = None,
    last: int | None = None,
    say: Said = lambda line: None,
    known: MutableMapping[str, Tried] | None = None,
) -> Calibration:
    """Find settings of `batch/replay` under which the jobs of logs wait as they did.

    First the policy, then the hours of the week in which long jobs did not start, how many nodes there really
    were, how many jobs a user may run, the time that each job takes to enter its queue and to start, and then
    the policy again: each is chosen by the loss (`Likeness`) on even weeks, or on every other one of several
    logs. Of a long log a part is replayed, and the three settings most like it are judged by the whole.

    Args:
        traces: a log with waits, or several of one site, each shorter than a week.
        nodes: processors; if left out as many as each log says, or as were in use at once.
        last: number of the last job of each log to use; all if left out.
        say: hears what each replay gave.
        known: what replays of an interrupted calibration gave, which are not done again; new ones are added.

    Raises:
        ScenarioError: a log cannot be read, has no waits or is too long; there are too few weeks or logs.
    """
    logs = [read_log(trace, nodes, last) for trace in traces]
    if len(logs) > 1 and (long := [log.path for log in logs if np.ptp(log.submit) >= WEEK]):
        raise ScenarioError(f"{long[0]}: is longer than a week; of several logs each has to be shorter")
    known = {} if known is None else known
    whole = _Replays(logs, say, known)
    waits, parts = whole.waits, int(whole.waits.week[-1]) + 1
    if parts < FEWEST:
        weeks = "1 week" if parts == 1 else f"{parts} weeks"
        what = f"{parts} logs" if len(logs) > 1 else f"{logs[0].path}: is {weeks} long"
        raise ScenarioError(
            f"{what}; calibration needs at least {FEWEST}, or as many logs shorter than a week"
        )
    plain = whole.tried({f"{SITE}.policy": "easy"})
    if len(logs) == 1 and len(waits.wait) > ENOUGH:
        part = _Replays([logs[0].busiest(ENOUGH)], say, known)
        # Those that are most like a part are judged by the whole.
        ranked = whole.best([tried.values for tried in _search(part)[:KEPT]])
        runs = part.runs + whole.runs
    else:
        ranked = _search(whole)
        runs = whole.runs
    guessed = Likeness.of(persistence(waits), waits, waits.part(1))
    return Calibration(
        traces,
        len(waits.wait),
        parts,
        [log.size for log in logs],
        all(log.said for log in logs),
        float(waits.wait[waits.part(1)].mean()),
        ranked[0],
        plain,
        guessed,
        runs,
    )


def _search(replays: _Replays) -> list[Tried]:
    """Settings one after the other, the most alike first."""
    easy = {f"{SITE}.policy": "easy"}
    ranked = replays.best([{f"{SITE}.policy": policy} for policy in FAMILIES])
    for lever, numbers in _levers(replays.logs):
        # EASY stays in the race: before all else is right a wrong policy may look better.
        bases = [*(tried.values for tried in ranked[:KEPT]), easy]
        changed = [base | {f"{SITE}.{lever}": number} for base in bases for number in numbers]
        ranked = replays.best([*bases, *changed])
    least = float(np.quantile(replays.waits.wait, 0.01))
    best = ranked[0].values
    services = [
        {path: time for path, time in ((ENTRY, entry), (OVERHEAD, overhead)) if time > 0}
        for entry in dict.fromkeys((0.0, least))
        for overhead in (0.0, *OVERHEADS)
    ]
    ranked = replays.best([best | times for times in services])
    best = ranked[0].values
    return replays.best([best, *(best | {f"{SITE}.policy": policy} for policy in FAMILIES)])


def _levers(logs: Sequence[Log]) -> Iterable[tuple[str, Sequence[Any]]]:
    """What else may have been so, by key of the site, and the values to try."""
    if len(logs) == 1:
        found = prime_times(logs[0].submit, logs[0].wait, logs[0].estimate)
        yield "prime_time", [found[: count + 1] for count in range(len(found))]
    sizes = {tuple(ceil(log.size * share) for log in logs): share for share in reversed(SMALLER)}
    sizes.pop(tuple(log.size for log in logs), None)
    yield (
        "nodes",
        [
            share
            for made, share in sizes.items()
            if all(size >= log.widest for size, log in zip(made, logs, strict=True))
        ],
    )
    yield "quota.user_running", _most_running(logs)


def _most_running(logs: Sequence[Log]) -> list[float]:
    """The quota to try: what no user ever exceeded; a log denies smaller ones. None for one user."""
    peaks = [peak for log in logs for peak in log.most_running()]
    return [max(peaks)] if len(peaks) > len(logs) else []


__all__ = ["Calibration", "Floats", "Tried", "calibrate", "described"]
