"""Where a search ends: after so many configurations, runs or seconds, or when nothing changes; any first."""

from __future__ import annotations

import time
from collections.abc import Callable

from gridtune import limits
from gridtune.optimize.config import CONFIGURATIONS, SearchConfig

SEARCH, VALIDATION = 0.85, 0.925  # shares of runs and time after which search and validation end
KEPT, KEPT_OF_TIME = 1 / 4, 1 / 3  # of all runs for recommendations, at most; the latter under a time limit
MOST_OF_TIME = 1 / 2  # where less confirms none


def expected(config: SearchConfig, replications: int, cases: int) -> int:
    """About how many configurations there will be: what suits a sampler depends on it."""
    if config.runs is None:
        return config.configurations if config.counted else CONFIGURATIONS
    return max(1, min(config.configurations, round(SEARCH * config.runs / (replications * cases))))


class Meter:
    """What is left of the limits of a search.

    Args:
        config: of the search, which begins now.
        reserve: runs that are left to validation in any case; 0 if the search may take all.
        confirming: runs that search and validation leave to recommendations, if that is at most `KEPT` (or
            `KEPT_OF_TIME`) of all; else that share.
        least: of these, without which none is confirmed. A limit of time that allows less in that share
            leaves them all the same, up to `MOST_OF_TIME`; beyond it, nothing.
    """

    def __init__(self, config: SearchConfig, reserve: int = 0, confirming: int = 0, least: int = 0) -> None:
        self.config, self._reserve, self._confirming, self._least = config, reserve, confirming, least
        self._began = time.monotonic()

    def left_to_search(self, spent: int) -> int:
        """Runs left of those that find configurations, once some are spent."""
        left = self.left(spent, SEARCH if self._reserve else 1.0)
        return min(left, max(0, self.left(spent) - self._reserve - self._kept(spent)))

    def late(self, spent: int) -> Callable[[], bool]:
        """Says if no time is left to find configurations: some may take far longer than those before."""
        seconds, kept = self.config.seconds, self._kept(spent)
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
        if self.config.seconds is None:
            return min(self._confirming, int(KEPT * runs))
        most = int(KEPT_OF_TIME * runs)
        if most < self._least:
            most = self._least if self._least <= MOST_OF_TIME * runs else 0
        return min(self._confirming, most)

    def left(self, spent: int, share: float = 1.0) -> int:
        """Runs left of a share of them, once some are spent; no more than the time allows at this pace."""
        runs, seconds = self.config.runs, self.config.seconds
        left = limits.WHOLE if runs is None else max(0, int(share * runs) - spent)
        if seconds is not None:
            now = self._now()
            time_left = share * seconds - now
            left = 0 if time_left <= 0 else min(left, int(spent * time_left / now) if spent and now else left)
        return left
