"""Settings under which replays wait as their logs did, and how well they do on what follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np

from gridtune.plain_text import counted, listed
from gridtune.scenarios.calibration.levers import KEPT, POLICY, search
from gridtune.scenarios.calibration.logs import Log, read_log
from gridtune.scenarios.calibration.replays import SITE, Replays, Tried, Values, of_size
from gridtune.scenarios.calibration.waits import WEEK, GoodnessOfFit, persistence
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.amounts import human

FEWEST = 4  # weeks of a log, or logs
FITTED = 2 / 3  # of the log by which settings are chosen; the rest judges them
USUAL, WITH_POLICY = "20 to 80 replays", "10 to 50 replays"  # seen with real logs; if the policy is given
NAMED = 3  # queues
ENOUGH = 30_000  # jobs by which settings are compared; of a longer log the busiest weeks are taken


@dataclass(frozen=True)
class Calibration:
    """What calibration found.

    Attributes:
        traces: the files.
        jobs: with a wait.
        parts: weeks of the log, begun ones included; the number of logs where there are several.
        cut: how many of them settings were chosen by; the others judge.
        nodes: that each log names, or that are given, or else the most that were in use at once.
        said: whether that is known, or the most that were in use at once.
        best: the settings that are most alike on the part for fitting.
        plain: EASY on all nodes, without overheads.
        guessed: persistence, on the part held back.
        runs: replays.
        given: settings of the site that were not looked for.
        denied: such settings that the log contradicts, which were left out, a line each.
        first: number of the first job of the first log that was used; None for all.
        since: when that one came, s since 1970; None where the log does not say.
        peak: processors of the first log that were in use at once, at most.
        promised: share of the jobs with a requested time, in the log that has fewest.
    """

    traces: Sequence[str]
    jobs: int
    parts: int
    cut: int
    nodes: Sequence[int]
    said: bool
    best: Tried
    plain: Tried
    guessed: GoodnessOfFit
    runs: int
    given: Mapping[str, Any]
    denied: Sequence[str] = ()
    first: int | None = None
    since: float | None = None
    peak: int = 0
    promised: float = 1.0

    @property
    def values(self) -> Values:
        """The best settings, with the nodes of the first log as a number."""
        return of_size(self.best.values, self.nodes[0])

    @property
    def tested(self) -> GoodnessOfFit:
        """The best settings on the part held back."""
        assert self.best.tested is not None
        return self.best.tested

    @property
    def skill(self) -> float:
        """1 minus the error of starts over that of persistence; below 0 persistence is better."""
        error = self.guessed.error
        if not error:
            return 0.0 if self.tested.error else 1.0
        return 1.0 - self.tested.error / error


def calibrate(
    *traces: str,
    nodes: int | None = None,
    last: int | None = None,
    known: MutableMapping[str, Tried] | None = None,
    given: Mapping[str, Any] | None = None,
    size: int | None = None,
) -> Calibration:
    """Find settings of `batch/replay` under which the jobs of logs wait as they did.

    Policy, times to enter the queue and to start, hours of the week in which long jobs did not start, the
    nodes that there really were, how many jobs a user may run, and the policy again: each is chosen by the
    misfit (see `GoodnessOfFit`) on the first two thirds of the weeks, or of several logs. The last third is
    looked at once, with what was chosen. Of a long log a part is replayed, and the three settings most like
    it are judged by the whole of the first two thirds.

    Args:
        traces: a log with waits, or several of one site, each shorter than a week.
        nodes: processors; if left out as many as each log says, or as were in use at once.
        last: number of the last job of each log to use; all if left out.
        known: what replays of an interrupted calibration gave, which are not done again; new ones are added.
        given: settings of the site that are known, by path; a policy among them is not looked for.
        size: processors where neither `nodes` nor a log says.

    Raises:
        ScenarioError: a log cannot be read, has no waits or is too long; there are too few weeks or logs.
    """
    logs = [read_log(trace, nodes, last, size=size) for trace in traces]
    if len(logs) > 1 and (long := [log.path for log in logs if np.ptp(log.submit) >= WEEK]):
        raise ScenarioError(f"{long[0]}: is longer than a week; of several logs each has to be shorter")
    if not any(log.wait.any() for log in logs):
        raise ScenarioError(f"{logs[0].path}: no job waited; there is nothing to calibrate to")
    known, given = {} if known is None else known, dict(given or {})
    denied = [*_unnamed(given, logs), *_denied(given, logs), *_longer_or_wider(given, logs)]
    parts = len(logs) if len(logs) > 1 else int(np.ptp(logs[0].submit) // WEEK) + 1
    if parts < FEWEST:
        weeks = "1 week" if parts == 1 else f"{parts} weeks"
        what = f"{parts} logs" if len(logs) > 1 else f"{logs[0].path}: is {weeks} long"
        raise ScenarioError(
            f"{what}; calibration needs at least {FEWEST}, or as many logs shorter than a week"
        )
    cut = round(parts * FITTED)
    early = logs[:cut] if len(logs) > 1 else [logs[0].until(cut)]
    least = max((log.widest - 1) / log.size for log in logs)  # of the nodes: the widest job has to fit
    ranked, runs = _fitted(early, least, known, given)
    whole = Replays(logs, known, given, cut)
    best, plain = whole.tried(ranked[0].values), whole.tried({POLICY: "easy"})
    waits, back = whole.waits, whole.held_back
    guessed = persistence(waits)
    guessed[list(best.refused)] = nan
    return Calibration(
        traces,
        len(waits.wait),
        parts,
        cut,
        [log.size for log in logs],
        all(log.said for log in logs),
        best,
        plain,
        GoodnessOfFit.of(guessed, waits, back),
        runs + whole.runs,
        given,
        denied,
        logs[0].first,
        logs[0].since,
        logs[0].peak,
        min(log.promised for log in logs),
    )


def _unnamed(given: Mapping[str, Any], logs: Sequence[Log]) -> Iterator[str]:
    """Queues of the logs that the site does not have."""
    names = {queue["name"] for queue in given.get(f"{SITE}.queue", ())}
    others = {name for log in logs for name in log.queues.tolist() if name and name not in names}
    if names and others:
        jobs = sum(int(np.isin(log.queues, [*others]).sum()) for log in logs)
        some = listed(sorted(others), NAMED)
        yield f"no partition {some}, to which {counted(jobs, 'job')} of the log were submitted"


def _denied(given: dict[str, Any], logs: Sequence[Log]) -> Iterator[str]:
    """Take away limits of each user that users exceeded in the logs, and say so."""
    for name, processors, what in (("user_running", False, "jobs"), ("user_slots", True, "processors")):
        path = f"{SITE}.quota.{name}"
        if path not in given:
            continue
        peaks = [peak for log in logs for peak in log.most_running(processors=processors)]
        over = sum(peak > given[path] for peak in peaks)
        if over:
            yield (
                f"{path} {given.pop(path):g}: left out, as {counted(over, 'user')} of the log had more "
                f"{what} running (at most {max(peaks):g})"
            )


def _longer_or_wider(given: dict[str, Any], logs: Sequence[Log]) -> Iterator[str]:
    """Take away limits of queues that their jobs exceeded in the logs, and say so."""
    path = f"{SITE}.queue"
    given |= {path: [dict(queue) for queue in given[path]]} if path in given else {}
    for queue in given.get(path, ()):
        for limit, others, asked, unit in (
            ("max_runtime", (), "estimate", "s"),
            ("max_processors", ("slots", "partition"), "processors", "processors"),
        ):
            amounts = np.concatenate([getattr(log, asked)[log.queues == queue["name"]] for log in logs])
            over = amounts[amounts > queue.get(limit, inf)]
            if len(over):
                said, most = human(queue.pop(limit), unit), human(over.max(), unit)
                jobs = counted(len(over), "job")
                yield (
                    f"{path}.{queue['name']}.{limit} {said}: left out, as {jobs} of the log there asked for "
                    f"more (at most {most})"
                )
                for other in others:
                    queue.pop(other, None)
    if path in given:  # a job enters the first that admits it: those for short jobs come first
        given[path].sort(key=lambda queue: queue.get("max_runtime", inf))


def _fitted(
    logs: Sequence[Log],
    least: float,
    known: MutableMapping[str, Tried],
    given: Mapping[str, Any],
) -> tuple[list[Tried], int]:
    """Settings by which logs are replayed, the most alike first, and the number of replays."""
    policy = POLICY in given
    usual = WITH_POLICY if policy else USUAL
    if len(logs) > 1 or len(logs[0].wait) <= ENOUGH:
        every = Replays(logs, known, given, expected=usual)
        return search(every, logs, least, known=policy), every.runs
    busiest = [logs[0].busiest(ENOUGH)]
    part = Replays(busiest, known, given, expected=f"{usual}, then {KEPT} of all jobs,")
    every = Replays(logs, known, given)
    # Those that are most like a part are judged by all of it.
    ranked = every.best([one.values for one in search(part, busiest, least, known=policy)[:KEPT]])
    return ranked, part.runs + every.runs


__all__ = ["Calibration", "Tried", "calibrate"]
