"""What `gridtune search` does: understand what is asked, search, and name the samplers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from gridtune.optimize import api
from gridtune.optimize.api.search_result import PAGE
from gridtune.optimize.commands.front import printed
from gridtune.optimize.commands.sensitivity import is_study
from gridtune.optimize.config import CONFIGURATIONS
from gridtune.optimize.report.answer import answer
from gridtune.optimize.samplers import samplers
from gridtune.optimize.search_space.baseline import baseline_of
from gridtune.optimize.search_space.cases import other_scenario, seeds_of
from gridtune.optimize.search_space.space import Configuration, Space, check_not_set
from gridtune.scenarios.document.paths import parse_assignments
from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.size import tell_size
from gridtune.scenarios.results.text import terminal_width


def run_search(
    scenario: Scenario,
    *,
    others: Sequence[str],
    assignments: Sequence[str],
    seeds: str | None,
    start_from: Sequence[str],
    vary: Sequence[str],
    jobs: int,
    format: str,
    **asked: Any,
) -> str:
    """Search a scenario as the command line asks for it (see its options), and say what was found.

    Args:
        assignments: `PATH=VALUE` for `others`; the first scenario has them already.
        asked: see `optimize.api.search.search`.

    Raises:
        ScenarioError: what was asked for cannot be done; found before anything is computed or written.
        KeyboardInterrupt: what was finished is kept.
    """
    values = parse_assignments(assignments)
    space = Space.of(scenario, vary)
    check_not_set(space, scenario, values)
    start = [one for text in start_from for one in settings_of(text, space)]
    further = [other_scenario(text, values, space) for text in others]
    each = (asked["replications"] or 1) * (1 + len(further))
    tell_size(scenario, asked["runs"] or (asked["budget"] or CONFIGURATIONS) * each, jobs)
    began = time.monotonic()
    made = api.search(
        scenario, others=further, seeds=seeds_of(seeds), start=start, vary=vary, jobs=jobs,
        progress=True, **asked,
    )  # fmt: skip
    if format != "table":
        return printed(made.details, format)
    out, place = asked["out"], str(asked["storage"] or asked["out"] or "")
    return answer(
        made.details,
        terminal_width(),
        study=f"{place}#{asked['study']}" if place and asked["study"] else place,
        page=out / PAGE if out and made.details.members else None,
        seconds=time.monotonic() - began,
    )


def settings_of(subject: str, space: Space) -> list[Configuration]:
    """What is searched as a scenario has it, or each on a study's front; a `ScenarioError` if it has none."""
    if is_study(subject):
        configurations = [one.values for one in api.open_study(subject).details.on_front]
    else:
        configurations = [baseline_of(load(subject), space).values]
    paths = {parameter.path for parameter in space}
    found = [{path: value for path, value in one.items() if path in paths} for one in configurations]
    if not any(found):
        raise ScenarioError(f"--start-from {subject}: has no value for anything that is searched")
    return found


def sampler_rows() -> list[dict[str, str]]:
    """The samplers and what they are."""
    return [{"sampler": name, "meaning": kind.title} for name, kind in samplers().items()]
