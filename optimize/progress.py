"""How far a search is, on stderr: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from gridtune.optimize.front.number_format import plain
from gridtune.optimize.records.evaluations import Evaluation, Objective
from gridtune.optimize.replication.compare import signs
from gridtune.optimize.replication.listener import Progress
from gridtune.optimize.replication.shortlist import to_minimise

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

HEARTBEAT = 10.0  # s between two plain lines


class Heartbeat(Progress):
    """A plain line at the start and end of a phase, and every 10 s in between: for logs.

    Args:
        stream: where to.
        period: s between two lines.
    """

    def __init__(self, stream: TextIO, period: float = HEARTBEAT) -> None:
        self._stream = stream
        self._period = period
        self._phase = ""
        self._total = self._first = self._done = 0
        self._said = 0.0
        self._timed: tuple[float, int] | None = None  # when how much was done
        self._rest = ""

    def start(self, phase: str, total: int, done: int = 0) -> None:
        """Announce the phase."""
        self.finish()
        self._phase, self._total, self._first, self._done, self._rest = phase, total, done, done, ""
        self._timed = None  # a resumed search comes by what is known at first, which takes other times
        self._say()

    def update(self, done: int, hypervolume: float | None = None, failures: int = 0) -> None:
        """Say it if it is time."""
        self._done, self._rest = done, _details(hypervolume, failures)
        if self._timed is None:
            self._timed = time.monotonic(), done
        if time.monotonic() - self._said >= self._period:
            self._say()

    def note(self, text: str) -> None:
        """Say it."""
        print(text, file=self._stream, flush=True)

    def finish(self) -> None:
        """Say how far the phase came, unless that was said already."""
        if self._phase and self._done > self._first:
            self._say()
        self._phase = ""

    def _say(self) -> None:
        now = time.monotonic()
        left = ""
        if self._timed is not None and self._timed[1] < self._done < self._total:
            began, first = self._timed
            seconds = (now - began) / (self._done - first) * (self._total - self._done)
            left = f", {_duration(seconds)} left"
        part = f"{self._done}/{self._total}" if self._total else str(self._done)
        print(f"{self._phase}: {part}{self._rest}{left}", file=self._stream, flush=True)
        self._said = now


class Bar(Progress):
    """A bar with what is done, the current hypervolume and the time left.

    Args:
        stream: a terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None

    def start(self, phase: str, total: int, done: int = 0) -> None:
        """Show a bar for the phase."""
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        self.finish()
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[details]}"),
            TimeRemainingColumn(),
            console=Console(file=self._stream),
        )
        self._task = self._bar.add_task(phase, total=total or None, completed=done, details="")
        self._bar.start()

    def update(self, done: int, hypervolume: float | None = None, failures: int = 0) -> None:
        """Move the bar."""
        if self._bar is not None and self._task is not None:
            details = _details(hypervolume, failures).removeprefix(", ")
            self._bar.update(self._task, completed=done, details=details)

    def note(self, text: str) -> None:
        """Say it above the bar."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=self._stream, flush=True)

    def finish(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def reporter(stream: TextIO | None = None) -> Progress:
    """What suits a stream (stderr if left out): a bar on a terminal, else plain lines."""
    stream = stream or sys.stderr
    return Bar(stream) if stream.isatty() else Heartbeat(stream)


def progress_of(wanted: bool | None) -> Progress:
    """Who hears how it goes, as the Python API is told: yes, no, or on a terminal only."""
    return reporter() if wanted or (wanted is None and sys.stderr.isatty()) else Progress()


class Volume:
    """The hypervolume of what a search has found so far, as searched, in the units of the objectives.

    Its reference point is that of the front, which today's setting makes (see
    `optimize.front.front.reference_point`): so it can be compared with what is said of the front, and can
    only grow within a search.

    Args:
        objectives: what is traded off.
    """

    def __init__(self, objectives: Sequence[Objective]) -> None:
        self._objectives = tuple(objectives)
        self._points: list[list[float]] = []
        self._reference: list[float] | None = None

    def measure_from(self, reference: Sequence[float]) -> None:
        """Take this reference point, in the units of the objectives."""
        sides = signs(self._objectives).tolist()
        self._reference = [x * side for x, side in zip(reference, sides, strict=True)]

    def add(self, evaluation: Evaluation) -> None:
        """Take an evaluation into account."""
        self._points.append(to_minimise(evaluation, self._objectives))

    def value(self) -> float | None:
        """The hypervolume; None without a reference point, and before there is a point."""
        import moocore
        import numpy as np

        if self._reference is None or not self._points:
            return None
        # The front represents all points so far, so that a long search does not get slower.
        front = moocore.filter_dominated(np.array(self._points))
        self._points = front.tolist()
        return float(moocore.hypervolume(front, ref=self._reference))


def _details(hypervolume: float | None, failures: int) -> str:
    text = "" if hypervolume is None else f", hypervolume {plain(hypervolume)} as searched"
    return f"{text}, {failures} failed" if failures else text


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
