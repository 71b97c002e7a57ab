"""Metrics of a user's own: functions of a finished run that become metrics like all others.

A function decorated with `metric` is measured in every run, and may be an objective, a constraint, a column
and an axis. It stands in a file that a scenario names in `plugins` (then it belongs to the scenarios that
name the file), in an installed package that announces its module under the entry point group
`gridtune.metrics`, or in the program that runs the scenario.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from math import inf
from numbers import Real
from pathlib import Path
from typing import TypeVar, get_args

from gridtune import limits
from gridtune.model.job import Job
from gridtune.model.metrics.registry import METRICS, Definition, Direction, Metric
from gridtune.model.metrics.users import UserOutcome
from gridtune.model.policy import loading
from gridtune.model.record import Record

GROUP = "gridtune.metrics"
# Columns beside metrics in data frames, in CSV and in batch runs of Mesa, settings that are columns where
# they are varied, and what the names of columns that are made from metrics end in.
COLUMNS = frozenset(
    {
        *("name", "number", "state", "on_front", "probability_non_dominated", "equivalents", "feasible"),
        *("failure", "replications", "validation_replications", "confirmation_replications", "replication"),
        *("time", "running", "RunId", "iteration", "Step", "scenario", "seed", "rng"),
        *("horizon", "step_length"),
    }
)
ENDINGS = ("_difference", "_difference_low", "_difference_high", "_se", "_search", "_validated")


class MetricError(ValueError):
    """A metric of a user's own is not usable, or failed; the message names the metric and its file."""


@dataclass(frozen=True)
class FinishedRun:
    """A finished run is what a metric is computed from. A metric must not change anything of it.

    Attributes:
        record: everything that happened: jobs, stays, signals, messages, counters.
        users: the outcome of each user, by name; see `Result.users`.
        metrics: values of gridtune's own metrics in this run, by name, in the units of `gridtune run`.
        end: the simulated time at which the run ended, s.
        slots: the number of places where a job could run.
        capacity: the sum of the speeds of the slots: seconds of work at speed 1 that the grid can do in a
            second.

    Example:
        >>> import gridtune as gt
        >>> @gt.metric("waiting_longest", unit="s", direction="minimize")
        ... def waiting_longest(run: gt.FinishedRun) -> float:
        ...     "Longest wait of a job that was done."
        ...     return max((job.start - job.submit for job in run.jobs if job.state == "done"), default=0.0)
    """

    record: Record
    users: Mapping[str, UserOutcome]
    metrics: Mapping[str, float]
    end: float
    slots: int
    capacity: float

    @property
    def jobs(self) -> Sequence[Job]:
        """List the jobs in the order of their creation; times are in s, and nan where there is none.

        Example:
            >>> @gt.metric("widest", unit="processors", direction="minimize")
            ... def widest(run: gt.FinishedRun) -> float:
            ...     "Processors of the widest job."
            ...     return max(job.processors for job in run.jobs)
            >>> gt.load("diet/day-regular").run()["widest"]
            1.0
        """
        return self.record.jobs


Measure = Callable[[FinishedRun], float]
F = TypeVar("F", bound=Measure)


@dataclass(frozen=True)
class CustomMetric:
    """A metric of a user's own; called with a finished run it gives the value.

    Attributes:
        name: of the metric.
        definition: unit, direction and meaning.
        function: what computes it.
        file: plug-in file that it belongs to; "" where it was registered by the program or a package.
    """

    name: str
    definition: Definition
    function: Measure
    file: str

    def __call__(self, run: FinishedRun) -> float:
        """The value of a run.

        Raises:
            MetricError: the function failed, or returned something else than a number, or one that is too
                large.
        """
        try:
            value = self.function(run)
            number = float(value) if isinstance(value, Real) else None
        except Exception as error:
            line = _line(error, self.place)
            message = " ".join(f"{type(error).__name__}: {error}".split())
            raise MetricError(f"metric {self.name} ({self.place}{line}): {message}") from error
        if number is None:
            raise MetricError(f"metric {self.name} ({self.place}): returned {value!r:.60}, not a number")
        if limits.NUMBER < abs(number) < inf:  # their squares and sums would overflow
            limit = f"the limit is {limits.NUMBER:g}"
            raise MetricError(f"metric {self.name} ({self.place}): returned {number:g}; {limit}")
        return number

    @property
    def place(self) -> str:
        """The file in which its function stands."""
        code = getattr(inspect.unwrap(self.function), "__code__", None)
        return self.file or (code.co_filename if code else repr(self.function))


_known: dict[tuple[str, str], CustomMetric] = {}  # by file and name
_entered: dict[str, CustomMetric] = {}  # whose definition stands in METRICS, by name


def metric(
    name: str, *, unit: str, direction: Direction, meaning: str = "", resolution: float = 0.0
) -> Callable[[F], F]:
    """Make a function of a finished run a metric, usable like those of gridtune.

    Args:
        name: the name, of letters, digits and underscores; neither a metric of gridtune nor another column
            of its tables may have that name.
        unit: the unit of the values, e.g. `s` or `jobs`; "" for a pure number.
        direction: which way is better: `minimize` or `maximize`.
        meaning: the meaning in one line; the first line of the function's docstring if left out.
        resolution: the least difference between two values that means anything, in the unit; 0 if any does.

    Returns:
        A decorator that returns the function unchanged. The function gets a `FinishedRun` and returns a
        number in the unit, or nan where there is none. Equal runs must give equal numbers.

    Raises:
        MetricError: the name is taken, or name or direction are not possible.

    Example:
        >>> import gridtune as gt
        >>> @gt.metric("late_share", unit="", direction="minimize")
        ... def late_share(run):
        ...     "Share of the jobs that ended after their deadline."
        ...     return sum(job.end > job.deadline for job in run.jobs) / len(run.jobs)
        >>> result = gt.load("diet/day-regular").run()
        >>> 0 <= result["late_share"] < 0.1
        True
    """
    if not (isinstance(name, str) and name.isascii() and name.isidentifier()):
        raise MetricError(f"metric {name!r}: a name has letters, digits and underscores only")
    if name in COLUMNS or name.endswith(ENDINGS):
        raise MetricError(f"metric {name}: another column of tables has that name; choose another")
    _free(name, "")
    if direction not in get_args(Direction):
        raise MetricError(f"metric {name}: direction {direction!r}: expected minimize or maximize")
    if not isinstance(unit, str):
        raise MetricError(f"metric {name}: unit {unit!r}: expected a text, such as s")
    if not (isinstance(resolution, int | float) and 0 <= resolution < inf):
        raise MetricError(f"metric {name}: resolution {resolution!r}: expected a number from 0")

    def enter(function: F) -> F:
        text = meaning or (inspect.getdoc(function) or "").partition("\n")[0].rstrip(".")
        made = CustomMetric(name, Definition(unit, direction, text, resolution), function, loading.get())
        _known[made.file, name] = made
        return function

    return enter


def custom_metrics(plugins: Collection[str]) -> dict[str, CustomMetric]:
    """The metrics of users' own that a scenario measures, by name, known from now on as objectives.

    To be called when all metrics of gridtune are defined.

    Args:
        plugins: files that the scenario names, as full paths.

    Raises:
        MetricError: a name is taken, by a metric of gridtune or by one of another file that means something
            else.
    """
    load_installed()
    found: dict[str, CustomMetric] = {}
    for (file, name), made in _known.items():
        if file and file not in plugins:
            continue
        if name in found:
            raise MetricError(f"metric {name}: registered twice, in {found[name].place} and in {made.place}")
        _enter(made)
        found[name] = made
    return found


def _enter(made: CustomMetric) -> None:
    """Let a name have the meaning of a metric."""
    name, earlier = made.name, _entered.get(made.name)
    _free(name, f" ({made.place})")
    if earlier is not None and earlier.file != made.file and earlier.definition != made.definition:
        raise MetricError(f"metric {name} ({made.place}): {earlier.place} defines it in another way")
    METRICS[name] = made.definition
    _entered[name] = made


def _free(name: str, where: str) -> None:
    """Refuse a name that a metric of gridtune has, as far as these are known by now."""
    if name in METRICS and name not in _entered:
        problem = f"the name is taken by a metric of gridtune: {METRICS[name].meaning}"
        raise MetricError(f"metric {name}{where}: {problem}; choose another")


def measure(custom: Mapping[str, Measure], run: FinishedRun) -> dict[str, Metric]:
    """The values of metrics of users' own in a run, by name.

    Raises:
        MetricError: one of them fails.
    """
    return {name: Metric(function(run), METRICS[name].unit) for name, function in custom.items()}


def in_process() -> list[CustomMetric]:
    """Those that belong to no plug-in file: another process does not know them by itself."""
    return [made for (file, _), made in _known.items() if not file]


@contextmanager
def exactly(metrics: Collection[CustomMetric]) -> Iterator[None]:
    """Let these, and no others, be the metrics of no plug-in file within the block."""
    load_installed()
    before = dict(_known)
    try:
        for made in in_process():
            del _known[made.file, made.name]
        _known.update({(made.file, made.name): made for made in metrics})
        yield
    finally:
        _known.clear()
        _known.update(before)


@cache
def load_installed() -> None:
    """Import the modules that installed packages announce as `gridtune.metrics`.

    Raises:
        MetricError: one of them cannot be imported.
    """
    for entry in entry_points(group=GROUP):
        try:
            entry.load()
        except Exception as error:
            message = " ".join(f"{type(error).__name__}: {error}".split())
            raise MetricError(f"entry point {entry.name} of {GROUP} ({entry.value}): {message}") from error


def _line(error: BaseException, file: str) -> str:
    """Where in a file an exception arose, for a message; "" if not there."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == Path(file).resolve()]
    return f", line {lines[-1]}" if lines else ""
