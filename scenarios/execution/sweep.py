"""Sweeps: a scenario over a grid of values, and the words in which values are given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import exp, log, prod
from typing import Any

from gridtune import limits
from gridtune.scenarios.document.paths import parse_value
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.replicate import Metrics, Summary, Task, evaluate, metrics_of, summarise
from gridtune.scenarios.workers.pool import Failure, Pool

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"(?P<low>{_NUMBER}):(?P<high>{_NUMBER})(?::(?P<count>\d+))?(?P<log>:log)?")


@dataclass(frozen=True)
class Bounds:
    """Two numbers and how to go from one to the other.

    Attributes:
        low, high: whole numbers if both were written as such.
        count: of values; None if not given.
        log: whether on a logarithmic scale.
    """

    low: int | float
    high: int | float
    count: int | None = None
    log: bool = False

    @property
    def whole(self) -> bool:
        """Whether whole numbers are meant."""
        return isinstance(self.low, int) and isinstance(self.high, int)


@dataclass(frozen=True)
class SweepOutcome:
    """The results of one configuration of a sweep.

    Attributes:
        values: by path.
        metrics: by name; empty if it failed.
        failure: why it has no metrics.
    """

    values: dict[str, Any]
    metrics: dict[str, Summary]
    failure: Failure | None = None


def parse_variation(text: str) -> tuple[str, list[Any] | Bounds]:
    """`PATH=V1,V2,…` or `PATH=LOW:HIGH[:COUNT][:log]` as on the command line.

    Raises:
        ScenarioError: it is neither, a value is given twice, or bounds are the wrong way round.
    """
    path, equals, written = (part.strip() for part in text.partition("="))
    if not equals or not path or not written:
        raise ScenarioError(f"{text!r}: expected PATH=V1,V2,… or PATH=LOW:HIGH…, e.g. client.n_submit=10,100")
    match = _RANGE.fullmatch(written)
    if match is None:
        values = [parse_value(piece) for piece in pieces(written)]
        if any(value == "" for value in values):
            raise ScenarioError(f"{text!r}: a value is empty")
        if any(value in values[:at] for at, value in enumerate(values)):  # 1 and 1.0 are one
            raise ScenarioError(f"{text!r}: a value is given twice")
        return path, values
    if max(map(len, written.split(":"))) > 40:
        raise ScenarioError(f"{text!r:.80}: a number of more than 40 digits")
    low, high = _number(match["low"]), _number(match["high"])
    if not max(abs(low), abs(high)) <= limits.NUMBER:
        raise ScenarioError(f"{text!r}: no bound can be beyond {limits.NUMBER:g}")
    if not low < high:
        raise ScenarioError(f"{text!r}: {low} is not less than {high}")
    if match["log"] and low <= 0:
        raise ScenarioError(f"{text!r}: a logarithmic range must start above 0")
    return path, Bounds(low, high, int(match["count"]) if match["count"] else None, bool(match["log"]))


def parse_vary(text: str) -> tuple[str, list[Any]]:
    """`PATH=V1,V2,…` or `PATH=LOW:HIGH:COUNT[:log]` of a sweep, as the values meant.

    Between whole bounds values are rounded to whole numbers, each once.

    Raises:
        ScenarioError: it is neither.
    """
    path, values = parse_variation(text)
    if isinstance(values, list):
        return path, values
    if values.count is None or values.count < 2:
        raise ScenarioError(f"{text!r}: expected LOW:HIGH:COUNT with at least 2 values, e.g. 1:100:5")
    if values.count > limits.SWEEP_CONFIGURATIONS:
        raise ScenarioError(
            f"{text!r}: {values.count:,} values; the limit is {limits.SWEEP_CONFIGURATIONS:,}"
        )
    return path, _spaced(values, values.count)


def logarithmic_paths(texts: Sequence[str]) -> set[str]:
    """The paths that are varied over a logarithmic range."""
    parsed = map(parse_variation, texts)
    return {path for path, values in parsed if isinstance(values, Bounds) and values.log}


def grid(axes: Sequence[tuple[str, Sequence[Any]]]) -> list[dict[str, Any]]:
    """Every combination of the values of all axes, the last varying fastest.

    Raises:
        ScenarioError: nothing is varied, or a path is given twice.
    """
    if not axes:
        raise ScenarioError("sweep: nothing is varied; give --vary PATH=V1,V2,… or PATH=LOW:HIGH:COUNT")
    paths = [path for path, _ in axes]
    configurations = prod(len(values) for _, values in axes)
    if configurations > limits.SWEEP_CONFIGURATIONS:
        raise ScenarioError(
            f"--vary: {configurations:,} configurations; the limit is {limits.SWEEP_CONFIGURATIONS:,}"
        )
    for path in paths:
        if paths.count(path) > 1:
            raise ScenarioError(f"{path}: varied twice")
    return [dict(zip(paths, values, strict=True)) for values in product(*(values for _, values in axes))]


def sweep(
    scenario: Scenario,
    configurations: Sequence[Mapping[str, Any]],
    seed: int,
    replications: int,
    pool: Pool,
    work: Callable[[Task], Metrics] = metrics_of,
) -> Iterator[tuple[int, SweepOutcome]]:
    """Run a scenario at every configuration.

    Args:
        scenario: what to run.
        configurations: values to set, by path; see `grid`.
        seed: of the experiment; all configurations see the same workloads.
        replications: per configuration.
        pool: who runs them.
        work: gives the metrics of a run to be done.

    Yields:
        configurations with their index, each as soon as it is done.

    Raises:
        ScenarioError: a configuration does not fit the scenario; before anything is run.
    """
    faults: list[str] = []
    for configuration in configurations:
        try:
            scenario.override(configuration)
        except ScenarioError as error:
            faults += [fault for fault in error.faults if fault not in faults]
    if faults:
        raise ScenarioError(faults)
    return _run(scenario, configurations, seed, replications, pool, work)


def _run(
    scenario: Scenario,
    configurations: Sequence[Mapping[str, Any]],
    seed: int,
    replications: int,
    pool: Pool,
    work: Callable[[Task], Metrics],
) -> Iterator[tuple[int, SweepOutcome]]:
    for outcome in evaluate(scenario, configurations, seed, range(replications), pool, work):
        metrics = summarise(outcome.value) if outcome.failure is None else {}
        yield outcome.index, SweepOutcome(dict(configurations[outcome.index]), metrics, outcome.failure)


def _spaced(bounds: Bounds, count: int) -> list[int | float]:
    steps = [k / (count - 1) for k in range(count)]
    if bounds.log:
        low, high = log(bounds.low), log(bounds.high)
        values: list[int | float] = [exp(low + (high - low) * step) for step in steps]
    else:
        values = [bounds.low + (bounds.high - bounds.low) * step for step in steps]
    values[0], values[-1] = bounds.low, bounds.high  # exactly
    if bounds.whole:
        values = list(dict.fromkeys(round(value) for value in values))
    return values


def _number(text: str) -> int | float:
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)


def pieces(text: str) -> list[str]:
    """Split at commas outside quotes and brackets."""
    pieces, depth, quote, start = [], 0, "", 0
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{(":
            depth += 1
        elif letter in "]})":
            depth -= 1
        elif letter == "," and depth == 0:
            pieces.append(text[start:at].strip())
            start = at + 1
    return [*pieces, text[start:].strip()]
