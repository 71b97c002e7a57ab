"""Numbers as people read them: as many digits as the noise leaves."""

from __future__ import annotations

from math import floor, isfinite, log10

from gridtune.optimize.records.evaluations import Estimate, Objective, Value
from gridtune.scenarios.results.amounts import human


def plain(value: float) -> str:
    """A number to four significant digits, whole numbers and thousands in full."""
    if not isfinite(value):
        return str(value)
    if value == round(value) and abs(value) < 1e15:
        return str(round(value))
    if 1000 <= abs(value) < 1e15:
        return f"{value:.0f}"
    return f"{value:.4g}"


def cell(value: Value | None) -> str:
    """The value of a parameter as text; `-` where it is inactive."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    return plain(value) if isinstance(value, int | float) else value


def measured(mean: float, error: float | None) -> str:
    """`mean ± error`, both to the second digit of the error; the mean alone without an error.

    Args:
        mean: of the replications.
        error: standard error of the mean, or half of an interval; None or nan for one replication, 0 where
            all are equal.
    """
    if not error or not isfinite(error) or not isfinite(mean):
        return plain(mean)
    decimals = 1 - floor(log10(error))
    if not -15 <= decimals <= 9:
        return f"{mean:.4g} ± {error:.2g}"
    shown = max(decimals, 0)
    return f"{round(mean, decimals):.{shown}f} ± {round(error, decimals):.{shown}f}"


def estimated(estimate: Estimate) -> str:
    """An estimate as `mean ± standard error`."""
    return measured(estimate.mean, estimate.standard_error)


def spoken(objective: Objective) -> str:
    """An objective's name in words."""
    return objective.name.replace("_", " ")


def with_unit(text: str, objective: Objective) -> str:
    """A number followed by the unit of its objective, unless the name says it already."""
    unit = objective.unit
    return f"{text} {unit}" if unit and unit not in spoken(objective).split() else text


def amount(value: float, objective: Objective) -> str:
    """A value of an objective as people say it, with its unit."""
    text = human(value, objective.unit)
    return text if objective.unit == "s" else with_unit(text, objective)
