"""Priorities of the literature: functions of what a waiting job asks for and how long it has waited."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, log2, log10, sqrt
from typing import Literal

from gridtune.model.job import Job

LARGEST = "Tang, Lan, Desai and Buettner, CLUSTER 2009"
LEARNED = "Carastan-Santos and de Camargo, SC 2017"

Rule = Literal["multifactor", "sjf", "saf", "lxf", "wfp3", "unicef", "f1", "f2", "f3", "f4"]
Score = Callable[[Job, float], float]


def _run(job: Job) -> float:
    """The promised or predicted run time, at least 1 s: some rules divide by it or take its logarithm."""
    return max(1.0, job.expected)


def _wfp3(job: Job, now: float) -> float:
    return ((now - job.queued) / _run(job)) ** 3 * job.processors


def _unicef(job: Job, now: float) -> float:
    return (now - job.queued) / (log2(job.processors) * _run(job)) if job.processors > 1 else inf


def _came(job: Job) -> float:
    """log10 of the submission in s since the beginning of the run, of 1 s at least."""
    return log10(max(1.0, job.queued))


# The largest comes first; functions of the literature that put the smallest first have their sign changed.
RULES: Mapping[str, Score] = {
    "sjf": lambda job, now: -job.expected,
    "saf": lambda job, now: -job.expected * job.processors,
    "lxf": lambda job, now: (now - job.queued) / _run(job),
    "wfp3": _wfp3,
    "unicef": _unicef,
    "f1": lambda job, now: -(log10(_run(job)) * job.processors + 870.0 * _came(job)),
    "f2": lambda job, now: -(sqrt(_run(job)) * job.processors + 25_600.0 * _came(job)),
    "f3": lambda job, now: -(_run(job) * job.processors + 6_860_000.0 * _came(job)),
    "f4": lambda job, now: -(_run(job) * sqrt(job.processors) + 530_000.0 * _came(job)),
}
