"""What `gridtune explain STUDY kinds` does: test whether the kind that all of a front has is better."""

from __future__ import annotations

import os
from typing import Any

from gridtune.optimize import api
from gridtune.optimize.explanation.transplants import Tested, streams_of, tested
from gridtune.optimize.front.dominant_choice import dominant_choices
from gridtune.optimize.progress import progress_of
from gridtune.optimize.replication.validation import FreshRuns
from gridtune.scenarios.execution.prepare import prepare, workers
from gridtune.scenarios.results.json_text import to_json
from gridtune.scenarios.results.text import terminal_width, wrapped
from gridtune.scenarios.workers.local_workers import sigterm_as_interrupt

KINDS = "kinds"


def kinds_text(
    study: str, *, replications: int | None, jobs: int | None, dask: str | None, json: bool
) -> str:
    """The test of each kind of system that all points of a front share, for standard output.

    Args:
        study: a search's folder, a journal file, or the URL of a storage.
        replications: paired runs of each point, on streams that nothing was chosen by; 10 or as many as the
            front has if left out.
        jobs: worker processes; all cores if left out.
        dask: address of the scheduler of a Dask cluster to run on instead.
        json: whether as JSON.

    Raises:
        ScenarioError: there is no such study.
    """
    opened = api.open_study(study)
    front = opened.details
    choices = dominant_choices(front)
    found: list[Tested] = []
    if choices:
        cases = [case.scenario for case in opened.settings.run_in]
        for case in cases:
            prepare(case)
        first, count = streams_of(front)
        heard = progress_of(True)
        try:
            with sigterm_as_interrupt(), workers(jobs or os.cpu_count() or 1, dask, *cases) as pool:
                fresh = FreshRuns(opened.settings, replications or count, pool, heard, first=first)
                found = tested(front, opened.settings.space, choices, fresh)
        finally:
            heard.finish()
    if json:
        made: dict[str, Any] = {"study": opened.name, "kinds": [one.as_json() for one in found]}
        return to_json(made) + "\n"
    if not found:
        return "The front holds several kinds of systems, or the search tried only one: nothing to test.\n"
    return "\n".join(wrapped(map(str, found), terminal_width())) + "\n"
