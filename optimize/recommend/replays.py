"""Replays of whole logs: what a configuration does to the log as it is, and under a higher load."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from gridtune.model.streams import AS_LOGGED, BUSIER, LOAD
from gridtune.optimize.recommend.harm import MUCH, beyond, blamed, by_case, harms_of_replay, ratio
from gridtune.optimize.records.difference import Objective
from gridtune.optimize.records.recommendation import Harm
from gridtune.optimize.report.numbers import plain
from gridtune.optimize.runs.blocks import Block, Sample
from gridtune.optimize.runs.evaluator import Evaluator
from gridtune.optimize.search_space.space import Configuration, key


class Replay(NamedTuple):
    """What replays of the log say of a configuration."""

    # Metrics whose constraints it breaks, or all its gains where each gets worse in a replay; none where a
    # replay failed, None if it keeps all.
    broken: tuple[str, ...] | None
    # Metrics that get worse: of a broken guard the wait farthest beyond its bound, of lost gains these.
    harmed: tuple[Harm, ...] = ()
    remarks: tuple[str, ...] = ()  # why harm may have been missed


class Replays:
    """Replays whole logs, each once, which counts as `weight` runs; 0 if there is nothing to replay.

    `left` gives the runs that may still be done. Replays with more jobs may take a share of all runs
    (`overtime`) in any case.
    """

    def __init__(self, evaluator: Evaluator, left: Callable[[], int], weight: float, overtime: float) -> None:
        self.weight, self.as_logged = weight, Block(evaluator, [AS_LOGGED])
        self._evaluator, self._left, self._overtime = evaluator, left, overtime
        self._busier = Block(evaluator, [BUSIER])

    def cost(self, configuration: Configuration) -> float:
        """Runs that the replays of a configuration and of the baseline still count as."""
        blocks = (self.as_logged, self._busier)
        return self.weight * sum(len(block.new([{}, configuration])) for block in blocks)

    def of(self, configuration: Configuration, gained: Collection[Objective]) -> Replay:
        """Of the log as it is, and with more jobs as far as runs allow; `gained` is better on drawn jobs."""
        found, names = self._replayed(configuration), {plain(one).name for one in gained}
        lost = [one for one in found.harmed if one.metric in names and not one.case]
        if found.broken is None and names and {one.metric for one in lost} == names:
            return Replay(tuple(dict.fromkeys(one.metric for one in lost)), tuple(lost))
        return found

    def _replayed(self, configuration: Configuration) -> Replay:
        """The same, whatever it gained."""
        evaluator, logged, busier = self._evaluator, self.as_logged, self._busier
        before, after = logged.run([{}, configuration])
        if before is None or after is None:
            why = logged.failures.get(key({})) or logged.failures[key(configuration)]
            evaluator.note(f"note: the log could not be replayed: {why}")
            return Replay(())
        if broken := after.breaks(before):
            return Replay(broken, blamed(before, after, replay=True))
        harmed = harms_of_replay(before.means, after.means)
        harmed += tuple(replace(one, replay=True) for one in by_case(before, after))
        before, after = self._under_load([{}, configuration])
        if before is None or after is None:
            little = "too little is left; more --runs or --time allow it"
            why = busier.failures.get(key({})) or busier.failures.get(key(configuration), little)
            return Replay(None, harmed, (f"The log was not replayed with more jobs: {why}",))
        if broken := tuple(one for one in after.breaks(before) if one not in before.broken):
            return Replay(broken, blamed(before, after, replay=True, load=LOAD))
        return Replay(None, harmed + harms_of_replay(before.means, after.means, LOAD))

    def worse(self, sparse: Configuration, whole: Configuration) -> bool:
        """Whether a sparse configuration harms much more than the whole one on the logs, or fails there."""
        if not self.weight or sparse == whole:
            return False
        for replayed in (self.as_logged.run, self._under_load):
            start, before, after = replayed([{}, whole, sparse])
            if start is None or before is None or after is None:
                return before is not None
            harmed = harms_of_replay(before.means, after.means)
            if any(ratio(one) > MUCH for one in beyond(harmed, start.means)):
                return True
        return False

    def _under_load(self, configurations: Sequence[Configuration]) -> list[Sample | None]:
        """Replays of the logs with more jobs; None if these would take more than the runs that are left."""
        settings, new = self._evaluator.settings, len(self._busier.new(configurations))
        cost = (new * self.weight + settings.replications) * len(settings.run_in)
        if new and cost > max(self._left(), self._overtime * len(self._evaluator.table)):
            return [None] * len(configurations)
        return self._busier.run(configurations)
