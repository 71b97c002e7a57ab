"""Runs of configurations beside a search, which no study keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gridtune.optimize.report.progress import Progress
from gridtune.optimize.runs.blocks import Block, Sample
from gridtune.optimize.runs.evaluator import Evaluator
from gridtune.optimize.runs.table import RunTable
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Configuration
from gridtune.optimize.studies.study import open_study
from gridtune.scenarios.execution.replicate import Metrics, Task, metrics_of
from gridtune.scenarios.workers.pool import Pool


class SeparateRuns(Block):
    """Runs configurations in every case under the same replications, each once, and keeps nothing on disk."""

    def __init__(
        self,
        settings: Settings,
        replications: Sequence[int],
        pool: Pool,
        progress: Progress | None = None,
        work: Callable[[Task], Metrics] = metrics_of,
    ) -> None:
        directions = {one.name: one.direction for one in settings.objectives}
        study = open_study(None, "separate", {}, directions, {})
        evaluator = Evaluator(settings, RunTable(settings), study, pool, progress or Progress(), work)
        super().__init__(evaluator, replications)

    def run(self, configurations: Sequence[Configuration]) -> list[Sample | None]:
        """What configurations give; None for one that fails, see `failures`."""
        if new := self.new(configurations):
            done = len(self.evaluator.table)
            self.evaluator.progress.start("runs", done + self.cost(new), done)
        return super().run(configurations)
