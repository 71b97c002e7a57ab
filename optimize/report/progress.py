"""How far a search is, on stderr: one live line on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from gridtune.model.metrics.labels import label
from gridtune.optimize.front.hypervolume import hypervolume
from gridtune.optimize.records.evaluations import Evaluation, Objective
from gridtune.optimize.replication.compare import signs
from gridtune.optimize.replication.listener import Progress
from gridtune.optimize.report.numbers import SAME, amount, duration, relative

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

Array = np.ndarray[Any, np.dtype[np.float64]]

HEARTBEAT = 10.0  # s between two plain lines, at least


class _Paced(Progress):
    """Knows how far a phase is, and how long what is left of it takes at the pace so far."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._phase, self._best = "", ""
        self._total = self._done = self._failures = 0
        self._timed: tuple[float, int] | None = None  # when how much was done

    def start(self, phase: str, total: int, done: int = 0) -> None:
        """Begin a phase."""
        self.finish()
        self._phase, self._total, self._done, self._failures, self._best = phase, total, done, 0, ""
        self._timed = None  # a resumed search comes by what is known at first, which takes other times

    def update(self, done: int, hypervolume: float | None = None, failures: int = 0, best: str = "") -> None:
        """Know how far it is, and what was found so far (see `Volume.best`)."""
        self._done, self._failures, self._best = done, failures, best
        if self._timed is None:
            self._timed = time.monotonic(), done

    def note(self, text: str) -> None:
        """Say it."""
        print(text, file=self._stream, flush=True)

    def _details(self) -> str:
        """How long it takes, what failed and what was found, as far as that is known."""
        parts = []
        if self._timed is not None and self._timed[1] < self._done < self._total:
            began, first = self._timed
            seconds = (time.monotonic() - began) / (self._done - first) * (self._total - self._done)
            parts.append(f"{duration(seconds)} left")
        parts += [f"{self._failures} failed"] if self._failures else []
        return ", ".join([*parts, self._best] if self._best else parts)


class Heartbeat(_Paced):
    """A plain line every 10 s at most: for logs and pipes.

    Args:
        period: s between two lines, at least.
    """

    def __init__(self, stream: TextIO, period: float = HEARTBEAT) -> None:
        super().__init__(stream)
        self._period = period
        self._said: float | None = None

    def start(self, phase: str, total: int, done: int = 0) -> None:
        """Announce the phase, if it is time."""
        super().start(phase, total, done)
        self._say()

    def update(self, done: int, hypervolume: float | None = None, failures: int = 0, best: str = "") -> None:
        """Say it if it is time."""
        super().update(done, hypervolume, failures, best)
        self._say()

    def _say(self) -> None:
        now = time.monotonic()
        if self._said is not None and now - self._said < self._period:
            return
        self._said = now
        part = f"{self._done}/{self._total}" if self._total else str(self._done)
        self.note(", ".join(filter(None, (f"{self._phase}: {part}", self._details()))))


class Bar(_Paced):
    """One live line: what is done, the time left, the best so far."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None

    def start(self, phase: str, total: int, done: int = 0) -> None:
        """Show a line for the phase."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.table import Column

        super().start(phase, total, done)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=12),
            MofNCompleteColumn(),
            TextColumn("{task.fields[details]}", table_column=Column(no_wrap=True, overflow="ellipsis")),
            console=Console(file=self._stream),
            transient=True,
        )
        self._task = self._bar.add_task(phase, total=total or None, completed=done, details="")
        self._bar.start()

    def update(self, done: int, hypervolume: float | None = None, failures: int = 0, best: str = "") -> None:
        """Move the bar."""
        super().update(done, hypervolume, failures, best)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, details=self._details())

    def note(self, text: str) -> None:
        """Say it above the line."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            super().note(text)

    def finish(self) -> None:
        """Take the line away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def reporter(stream: TextIO | None = None) -> Progress:
    """What suits a stream (stderr if left out): a live line on a terminal, else plain lines."""
    stream = stream or sys.stderr
    return Bar(stream) if stream.isatty() else Heartbeat(stream)


def progress_of(wanted: bool | None) -> Progress:
    """Who hears how it goes, as the Python API is told: yes, no, or on a terminal only."""
    return reporter() if wanted or (wanted is None and sys.stderr.isatty()) else Progress()


class Volume:
    """What a search has found so far: its hypervolume in the search, and the best of each objective.

    The reference point of the hypervolume is that of the front, which the baseline makes: so it can be
    compared with what is said of the front, and can only grow within a search.
    """

    def __init__(self, objectives: Sequence[Objective]) -> None:
        self._objectives, self._signs = tuple(objectives), signs(objectives)
        self._points: list[Array] = []  # to be minimised
        self._reference: Sequence[float] | None = None
        self._baseline: Evaluation | None = None

    def measure_from(self, reference: Sequence[float]) -> None:
        """Take this reference point, in the units of the objectives."""
        self._reference = reference

    def compare_with(self, baseline: Evaluation) -> None:
        """Tell the best so far against this baseline."""
        self._baseline = baseline

    def add(self, evaluation: Evaluation) -> None:
        """Take an evaluation into account."""
        self._points.append(self._signs * [evaluation.objectives[one.name].mean for one in self._objectives])

    def value(self) -> float | None:
        """The hypervolume; None without a reference point, and before there is a configuration."""
        if self._reference is None or not self._points:
            return None
        return hypervolume(self._front(), self._objectives, self._reference)

    def best(self) -> str:
        """The best of each objective so far, and its change against the baseline where that is known."""
        if not self._points:
            return ""
        told = []
        for one, mean in zip(self._objectives, self._signs * self._front().min(axis=0), strict=True):
            text = f"{label(one.name).name} {amount(mean, one)}"
            if self._baseline is not None:
                start = self._baseline.objectives[one.name].mean
                text += f" ({SAME if mean == start else relative(mean - start, start, one)})"
            told.append(text)
        return f"best so far: {', '.join(told)}"

    def _front(self) -> Array:
        """What represents all configurations so far, so that a long search does not get slower."""
        import moocore

        front: Array = moocore.filter_dominated(np.array(self._points))
        self._points = list(front)
        return front
