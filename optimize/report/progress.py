"""How far a search is, on stderr: one live line on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, TextIO

from gridtune.model.metrics.labels import label
from gridtune.optimize.records.evaluations import Evaluation, Objective
from gridtune.optimize.report.numbers import amount, duration, relative

if TYPE_CHECKING:
    from rich.live import Live


class Progress:
    """Hears how a search goes: a plain line every `period` seconds at most; nothing without a stream."""

    _stream: TextIO | None = None  # for those who subclass it without a call of `__init__`
    _total, _bound = 0, ""
    _said, _ends = -inf, inf
    _timed: tuple[float, int] | None = None  # when how much was done
    _pace: float | None = None  # s for each

    def __init__(self, stream: TextIO | None = None, period: float = 10.0) -> None:
        self._stream, self._period = stream, period

    def start(self, phase: str, total: int, done: int = 0, seconds: float | None = None) -> None:
        """A phase begins, which ends after so many seconds at the latest; a total of 0 is not known."""
        self.finish()
        self._phase, self._total = phase, total
        self._ends = inf if seconds is None else time.monotonic() + seconds
        self._timed, self._pace, self._bound = None, None, ""
        self._show(done, "")

    def expect(self, total: int) -> None:
        """At most this will be done in all, as is known by now; what is to come takes other times."""
        self._total = total if self._total else 0
        self._timed, self._bound = None, "at most "

    def update(self, done: int, failures: int = 0, best: str = "") -> None:
        """So much of the phase is done, and this was found so far; see `Best.text`."""
        if self._timed is None:  # a resumed search comes by what is known at first, which takes other times
            self._timed = time.monotonic(), done
        began, first = self._timed
        if first < done:
            self._pace = (time.monotonic() - began) / (done - first)
        left = self._ends - time.monotonic() if self._ends < inf else inf
        if self._pace is not None and done < self._total:
            left = min(left, self._pace * (self._total - done))
        rest = f"{self._bound}{duration(max(left, 0.0))} left" if left < inf else ""
        failed = f"{failures} failed" if failures else ""
        self._show(done, ", ".join(filter(None, (rest, failed, best))))

    def note(self, text: str) -> None:
        """A note in one line."""
        if self._stream is not None:
            print(text, file=self._stream, flush=True)

    def finish(self) -> None:
        """The last phase is over."""

    def _show(self, done: int, details: str) -> None:
        now = time.monotonic()
        if self._stream is not None and now - self._said >= self._period:
            self._said = now
            self.note(self._line(done, details))

    def _line(self, done: int, details: str) -> str:
        total = f"/{max(self._total, done)}" if self._total else ""
        return f"{self._phase}: {done}{total}{', ' if details else ''}{details}"


class LiveLine(Progress):
    """The same in one line that is overwritten; a narrow terminal breaks it."""

    _live: Live | None = None

    def note(self, text: str) -> None:
        """Say it above the line."""
        if self._live is None:
            super().note(text)
        else:
            self._live.console.print(text, markup=False, highlight=False)

    def finish(self) -> None:
        """Take the line away."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _show(self, done: int, details: str) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        if self._live is None:
            self._live = Live(console=Console(file=self._stream), transient=True)
            self._live.start()
        self._live.update(Text(self._line(done, details)))


def progress_of(wanted: bool | None = True, stream: TextIO | None = None) -> Progress:
    """A live line on a terminal, else plain lines: if `wanted` is None, in a notebook; if False, nothing."""
    stream = stream or sys.stderr
    if stream.isatty():
        return LiveLine(stream) if wanted is not False else Progress()
    notebook = type(stream).__module__.startswith("ipykernel.")
    return Progress(stream if wanted or (wanted is None and notebook) else None)


class Best:
    """The best of each objective that a search has found so far, against the baseline if there is one."""

    def __init__(self, objectives: Sequence[Objective]) -> None:
        self._objectives, self._means = tuple(objectives), dict[str, float]()
        self.baseline: Evaluation | None = None

    def add(self, evaluation: Evaluation) -> None:
        """Take an evaluation into account."""
        for one in self._objectives:
            mean, better = evaluation.objectives[one.name].mean, max if one.direction == "maximize" else min
            self._means[one.name] = better(mean, self._means.get(one.name, mean))

    def text(self) -> str:
        """Of each objective the best and its change against the baseline where that is known."""
        told = []
        for one in self._objectives if self._means else ():
            mean = self._means[one.name]
            text = f"{label(one.name).name} {amount(mean, one)}"
            if self.baseline is not None:
                start = self.baseline.objectives[one.name].mean
                text += f" ({'=' if mean == start else relative(mean - start, start, one)})"
            told.append(text)
        return f"best of each so far: {', '.join(told)}" if told else ""
