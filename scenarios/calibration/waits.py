"""How alike two sets of waiting times of the same jobs are, and what is guessed without any model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

HOUR, WEEK = 3600.0, 7 * 86400.0
UNNOTICED = 60.0  # s added to waits before ratios are taken: 1 s against 5 s is no error by a factor of 5
QUANTILES = {"median": 0.5, "75 %": 0.75, "95 %": 0.95}
LEAST = 30  # jobs of a class that counts
SHORT, NARROW = 3600.0, 8  # s, processors


@dataclass(frozen=True)
class LoggedWaits:
    """The jobs of a log whose wait is known, by submission.

    Attributes:
        submit, wait: s.
        classes: which jobs are narrow or wide (more than 8 processors) and short or long (more than 1 h).
    """

    submit: Floats
    wait: Floats
    classes: dict[str, Flags]

    @classmethod
    def of(cls, submit: Floats, wait: Floats, runtime: Floats, processors: Floats) -> LoggedWaits:
        """Of jobs as the log has them."""
        narrow, short = processors <= NARROW, runtime <= SHORT
        classes = {
            "narrow-short": narrow & short,
            "narrow-long": narrow & ~short,
            "wide-short": ~narrow & short,
            "wide-long": ~narrow & ~short,
        }
        return cls(submit, wait, classes)

    @classmethod
    def join(cls, logs: Sequence[LoggedWaits]) -> LoggedWaits:
        """Several logs as one, in which each takes the place of a week."""
        if len(logs) == 1:
            return logs[0]
        return cls(
            np.concatenate([log.submit - log.submit[0] + k * WEEK for k, log in enumerate(logs)]),
            np.concatenate([log.wait for log in logs]),
            {name: np.concatenate([log.classes[name] for log in logs]) for name in logs[0].classes},
        )

    @property
    def week(self) -> NDArray[np.int64]:
        """Week of the log in which each job was submitted, from 0."""
        weeks: NDArray[np.int64] = ((self.submit - self.submit[0]) // WEEK).astype(np.int64)
        return weeks


@dataclass(frozen=True)
class GoodnessOfFit:
    """Goodness of fit of modelled waits to logged ones, on some of the jobs.

    Attributes:
        mean: of the modelled waits, s.
        ratio: of the means, modelled over logged.
        ratios: the same of quantiles and of the means of classes, with a minute added to either side.
        error: mean absolute difference of starts, s.
        misfit: mean of the absolute natural logarithms of these ratios and that of the means, plus the error
            over the mean of the logged waits; 0 is a perfect fit.
        logged: mean of the logged waits, s.
    """

    mean: float
    ratio: float
    ratios: dict[str, float]
    error: float
    misfit: float
    logged: float

    @classmethod
    def of(cls, modelled: Floats, log: LoggedWaits, part: Flags) -> GoodnessOfFit:
        """Of the modelled waits (s) of all jobs, looked at in a part of them; those without are no part."""
        part = part & ~np.isnan(modelled)
        ours, theirs = modelled[part], log.wait[part]
        ratios = {
            name: _ratio(float(np.quantile(ours, share)), float(np.quantile(theirs, share)))
            for name, share in QUANTILES.items()
        }
        for name, members in log.classes.items():
            inside = part & members
            if inside.sum() >= LEAST:
                ratios[name] = _ratio(float(modelled[inside].mean()), float(log.wait[inside].mean()))
        mean, logged = float(ours.mean()), float(theirs.mean())
        every = [_ratio(mean, logged), *ratios.values()]
        plain = mean / logged if theirs.any() else float("nan")
        error = float(np.abs(ours - theirs).mean())
        misfit = float(np.mean(np.abs(np.log(every)))) + error / max(logged, UNNOTICED)
        return cls(mean, plain, ratios, error, misfit, logged)


def _ratio(ours: float, theirs: float) -> float:
    return (ours + UNNOTICED) / (theirs + UNNOTICED)


def persistence(log: LoggedWaits) -> Floats:
    """What is guessed without a model, s: who comes waits as those did who came in that hour a week before.

    Where nobody came in that hour, as all of that week did on average; in the first week, as all before.
    """
    hours = ((log.submit - log.submit[0]) // HOUR).astype(np.int64)
    weeks = log.week
    by_hour = _means(hours, log.wait)
    by_week = _means(weeks, log.wait)
    so_far = np.cumsum(log.wait) / np.arange(1, len(log.wait) + 1)
    guessed = np.concatenate(([0.0], so_far[:-1]))
    for job, (hour, week) in enumerate(zip(hours.tolist(), weeks.tolist(), strict=True)):
        known = by_hour.get(hour - 168)
        if known is None:
            known = by_week.get(week - 1)
        if known is not None:
            guessed[job] = known
    return guessed


def _means(keys: NDArray[np.int64], values: Floats) -> dict[int, float]:
    sums: dict[int, list[float]] = {}
    for key, value in zip(keys.tolist(), values.tolist(), strict=True):
        entry = sums.setdefault(key, [0.0, 0.0])
        entry[0] += value
        entry[1] += 1.0
    return {key: total / count for key, (total, count) in sums.items()}
