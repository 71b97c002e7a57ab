"""Where a search ends: after so many configurations, runs or seconds, or when nothing changes; any first."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from gridtune import limits
from gridtune.scenarios.errors import ScenarioError

CONFIGURATIONS = 100  # evaluations of a search of which nothing is said
SEARCH, VALIDATION = 0.85, 0.925  # shares of runs and time after which search and validation end
KEPT, KEPT_OF_TIME = 1 / 4, 1 / 3  # of all runs for recommendations, at most; the latter under a time limit
MOST_OF_TIME = 1 / 2  # where less confirms none
UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True)
class Budget:
    """What a search may take.

    Attributes:
        configurations: to evaluate, the baseline included.
        runs: simulations in all, validation included; None for any number.
        seconds: that it may take, from its start; None for any number.
        converged: whether it ends when nothing changes, see `optimize.exploration`.
    """

    configurations: int = CONFIGURATIONS
    runs: int | None = None
    seconds: float | None = None
    converged: bool = False

    @property
    def counted(self) -> bool:
        """Whether the number of configurations is limited."""
        return self.configurations < limits.BUDGET

    def expected(self, replications: int, cases: int) -> int:
        """About how many configurations there will be: what suits a sampler depends on it."""
        if self.runs is None:
            return self.configurations if self.counted else CONFIGURATIONS
        return max(1, min(self.configurations, round(SEARCH * self.runs / (replications * cases))))

    def __str__(self) -> str:
        parts = [f"{self.configurations} evaluations"] if self.counted else []
        parts += [] if self.runs is None else [f"{self.runs} runs"]
        parts += [] if self.seconds is None else [f"{self.seconds:g} s"]
        return " or ".join([*parts, *(["until nothing changes"] if self.converged else [])])


class Meter:
    """What is left of a budget.

    Args:
        budget: of the search, which begins now.
        reserve: runs that are left to validation in any case; 0 if the search may take all.
        confirming: runs that search and validation leave to recommendations, if that is at most `KEPT` (or
            `KEPT_OF_TIME`) of all; else that share.
        least: of these, without which none is confirmed. A limit of time that allows less in that share
            leaves them all the same, up to `MOST_OF_TIME`; beyond it, nothing.
    """

    def __init__(self, budget: Budget, reserve: int = 0, confirming: int = 0, least: int = 0) -> None:
        self.budget, self._reserve, self._confirming, self._least = budget, reserve, confirming, least
        self._began = time.monotonic()

    def left_to_search(self, spent: int) -> int:
        """Runs left of those that find configurations, once some are spent."""
        left = self.left(spent, SEARCH if self._reserve else 1.0)
        return min(left, max(0, self.left(spent) - self._reserve - self._kept(spent)))

    def late(self, spent: int) -> Callable[[], bool]:
        """Says if no time is left to find configurations: some may take far longer than those before."""
        seconds, kept = self.budget.seconds, self._kept(spent)
        if seconds is None:
            return lambda: False
        # Validation takes what recommendations leave of their share.
        ends = 1 - max(kept / (spent + self.left(spent)), KEPT_OF_TIME) if kept else SEARCH
        return lambda: self._now() >= ends * seconds

    def left_to_validate(self, spent: int) -> int:
        """Runs left of those that find and validate configurations, once some are spent."""
        return min(self.left(spent, VALIDATION), max(0, self.left(spent) - self._kept(spent)))

    def _now(self) -> float:
        """Seconds since the search began."""
        return time.monotonic() - self._began

    def _kept(self, spent: int) -> int:
        """Runs for confirming recommendations."""
        runs = spent + self.left(spent)
        if self.budget.seconds is None:
            return min(self._confirming, int(KEPT * runs))
        most = int(KEPT_OF_TIME * runs)
        if most < self._least:
            most = self._least if self._least <= MOST_OF_TIME * runs else 0
        return min(self._confirming, most)

    def left(self, spent: int, share: float = 1.0) -> int:
        """Runs left of a share of them, once some are spent; no more than the time allows at this pace."""
        runs, seconds = self.budget.runs, self.budget.seconds
        left = limits.WHOLE if runs is None else max(0, int(share * runs) - spent)
        if seconds is not None:
            now = self._now()
            time_left = share * seconds - now
            left = 0 if time_left <= 0 else min(left, int(spent * time_left / now) if spent and now else left)
        return left


def seconds_of(text: str) -> float:
    """A duration as it is written, e.g. `90`, `90s`, `10m`, `1.5h` or `1h30m`, in seconds.

    Raises:
        ScenarioError: it is none.
    """
    parts = re.findall(r"([0-9]+\.?[0-9]*)\s*([a-z]*)\s*", text.strip().lower())
    whole = re.sub(r"\s", "", text.lower()) == "".join(number + unit for number, unit in parts)
    if not parts or not whole or any(unit not in UNITS for _, unit in parts):
        raise ScenarioError(f"--time {text[:60]}: expected a duration such as 90s, 10m or 1.5h")
    return sum(float(number) * UNITS[unit] for number, unit in parts)
