"""Estimates and means as a study stores them, in JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan, nan
from typing import Any

from optimize.archive import Estimate


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


def cases_as_json(cases: Mapping[str, Mapping[str, Estimate]]) -> dict[str, Any]:
    """For storing; see `Evaluation.cases`."""
    return {name: estimates_as_json(estimates) for name, estimates in cases.items()}


def cases_of_json(stored: Mapping[str, Any]) -> dict[str, dict[str, Estimate]]:
    """What `cases_as_json` has stored."""
    return {name: estimates_of(estimates) for name, estimates in stored.items()}


def means_as_json(means: Mapping[str, float]) -> dict[str, float | None]:
    """For storing: what is not a number becomes None."""
    return {name: None if isnan(mean) else mean for name, mean in means.items()}


def means_of(stored: Mapping[str, float | None]) -> dict[str, float]:
    """What `means_as_json` has stored."""
    return {name: nan if mean is None else mean for name, mean in stored.items()}
