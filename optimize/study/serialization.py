"""What became of a point as a study stores it, in JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, nan
from typing import Any

from gridtune.optimize.records.evaluations import Estimate, Evaluation, Failed, Value


def entry_as_json(entry: Evaluation | Failed) -> dict[str, Any]:
    """For storing, beside number and values: what the replications gave, or why there are none."""
    host = {} if entry.host is None else {"host": entry.host}
    if isinstance(entry, Failed):
        return {"failure": entry.reason, **host}
    stored: dict[str, Any] = {
        "objectives": estimates_as_json(entry.objectives),
        "metrics": _means_as_json(entry.metrics),
    }
    if entry.cases:
        stored["cases"] = {name: estimates_as_json(estimates) for name, estimates in entry.cases.items()}
    return stored | host


def entry_of(number: int, values: dict[str, Value], stored: Mapping[str, Any]) -> Evaluation | Failed:
    """What `entry_as_json` has stored."""
    host = stored.get("host")
    if "failure" in stored:
        return Failed(number, values, stored["failure"], host=host)
    cases = {name: estimates_of(estimates) for name, estimates in stored.get("cases", {}).items()}
    estimates, metrics = estimates_of(stored["objectives"]), _means_of(stored["metrics"])
    return Evaluation(number, values, estimates, metrics, cases=cases, host=host)


def estimates_as_json(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    """For storing; see `Estimate`."""
    return {
        name: {
            "mean": estimate.mean,
            "standard_error": estimate.standard_error,
            "values": list(estimate.values),
        }
        for name, estimate in estimates.items()
    }


def estimates_of(stored: Mapping[str, Any]) -> dict[str, Estimate]:
    """What `estimates_as_json` has stored."""
    return {
        name: Estimate(value["mean"], value["standard_error"], tuple(value["values"]))
        for name, value in stored.items()
    }


def _means_as_json(means: Mapping[str, float]) -> dict[str, float | None]:
    """What is not finite becomes None."""
    return {name: mean if isfinite(mean) else None for name, mean in means.items()}


def _means_of(stored: Mapping[str, float | None]) -> dict[str, float]:
    """What `_means_as_json` has stored."""
    return {name: nan if mean is None else mean for name, mean in stored.items()}
