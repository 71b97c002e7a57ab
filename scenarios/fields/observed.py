"""Values that were observed: a column of a CSV file, or an attribute of the jobs of a trace."""

from __future__ import annotations

import csv
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, ValidationInfo

from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.trace_files.find import beside, find_trace

ATTRIBUTES = ("runtime", "wait", "processors", "estimate", "interval")


def _beside_scenario(name: str, info: ValidationInfo) -> str:
    """Whether a file exists at all is found out when a run is built, so that a scenario whose trace is
    elsewhere can be loaded and given another one.
    """
    return beside(name, (info.context or {}).get("base", ""))


TraceFile = Annotated[str, AfterValidator(_beside_scenario)]


def observed_values(file: str, column: str) -> NDArray[np.float64]:
    """The values of a column, in the order of the file.

    Raises:
        ScenarioError: there is no such file or column, or it holds no numbers of 0 or more.
    """
    return _read(find_trace(file), column)


@lru_cache(maxsize=32)
def _read(path: Path, column: str) -> NDArray[np.float64]:
    values = np.array(_of_csv(path, column) if path.suffix == ".csv" else _of_trace(path, column))
    if not len(values):
        raise ScenarioError(f"{path}: column {column!r} holds no value")
    if not (np.isfinite(values).all() and values.min() >= 0):
        raise ScenarioError(f"{path}: column {column!r} holds values that are no numbers of 0 or more")
    return values


def _of_csv(path: Path, column: str) -> list[float]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            if column not in (rows.fieldnames or ()):
                known = ", ".join(rows.fieldnames or ()) or "none"
                raise ScenarioError(f"{path}: no column {column!r}; there are {known}")
            return [_number(path, number, row[column]) for number, row in enumerate(rows, 2)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ScenarioError(f"{path}: cannot be read as CSV: {error}") from None


def _number(path: Path, line: int, text: str | None) -> float:
    from gridtune.scenarios.trace_files.numbers import number

    try:
        return number(text or "")
    except ValueError:
        raise ScenarioError(f"{path}: line {line}: {text!r:.60} is no number") from None


def _of_trace(path: Path, attribute: str) -> list[float]:
    from gridtune.scenarios.trace_files.reading import read_trace

    if attribute not in ATTRIBUTES:
        raise ScenarioError(f"{path}: no column {attribute!r} of a trace; there are {', '.join(ATTRIBUTES)}")
    jobs = read_trace(path).jobs
    if attribute == "interval":
        return [later.submit - job.submit for job, later in pairwise(jobs)]
    return [float(value) for job in jobs if (value := getattr(job, attribute)) is not None]
