"""What `gridtune search` and `gridtune front` do: search, keep, draw and tell."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from gridtune.optimize import studies
from gridtune.optimize.front.export import summary, to_csv, to_dict, to_latex, to_text
from gridtune.optimize.front.front import Front
from gridtune.optimize.front.number_format import cell
from gridtune.optimize.front.recommendations import recommend
from gridtune.optimize.samplers import samplers
from gridtune.optimize.search_space.cases import other_scenario, seeds_of
from gridtune.optimize.search_space.space import Space, check_not_set
from gridtune.scenarios.document.paths import parse_assignments
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.execution.size import tell_size
from gridtune.scenarios.results.files import to_json


def run_search(
    scenario: Scenario,
    *,
    budget: int,
    sampler: str,
    replications: int | None,
    max_replications: int | None,
    jobs: int,
    seed: int,
    storage: str | None,
    study: str | None,
    resume: bool,
    objectives: Sequence[str],
    vary: Sequence[str],
    require: Sequence[str],
    others: Sequence[str],
    assignments: Sequence[str],
    seeds: str | None,
    robust: str | None,
    allow_loss: bool | None,
    out: Path | None,
    dask: str | None = None,
) -> Front:
    """Search a scenario as the command line asks for it; see `optimize.studies.search`.

    Further scenarios come as on the command line (see
    `optimize.search_space.cases.other_scenario`), with the assignments `PATH=VALUE` that the first has
    already.

    Raises:
        ScenarioError: what was asked for cannot be done; found before anything is computed or written.
        KeyboardInterrupt: what was finished is kept.
    """
    values = parse_assignments(assignments)
    check_not_set(Space.of(scenario, vary), scenario, values)
    further = [other_scenario(text, values) for text in others]
    tell_size(scenario, budget * (max_replications or replications or 1) * (1 + len(further)), jobs)
    made = studies.search(
        scenario,
        budget=budget,
        sampler=sampler,
        replications=replications,
        max_replications=max_replications,
        seed=seed,
        objectives=objectives,
        vary=vary,
        require=require,
        others=further,
        seeds=seeds_of(seeds),
        robust=robust,
        allow_loss=allow_loss,
        jobs=jobs,
        dask=dask,
        out=out,
        storage=storage,
        study=study,
        resume=resume,
        progress=True,
    )
    return made.details


def open_front(study: str, plot: Path | None, *, salvage: bool = False) -> Front:
    """The front of a search that was kept.

    Args:
        study: a search's folder, a journal file, or the URL of a storage.
        plot: picture to draw.
        salvage: whether to take what is whole of a damaged study.

    Raises:
        ScenarioError: there is no such study, it is damaged, or the picture cannot be drawn.
    """
    if plot is not None:
        from gridtune.scenarios.plots import picture_format

        picture_format(plot, also=("html",))
    opened = studies.open_study(study, salvage=salvage)
    for note in opened.notes:
        print(note, file=sys.stderr)
    found = opened.details
    if plot is not None:
        from gridtune.optimize.visualization import save

        os.environ.setdefault("MPLBACKEND", "Agg")
        save(found, plot)
    return found


def front_text(found: Front, format: str) -> str:
    """A front for standard output.

    Args:
        found: what to print.
        format: `table` (with what it means in words), `csv`, `json` or `latex`.
    """
    if format == "json":
        return to_json(to_dict(found)) + "\n"
    if format == "csv":
        return to_csv(found)
    if format == "latex":
        return to_latex(found)
    return "\n".join([to_text(found), *summary(found), *_advice(found)]) + "\n"


def sampler_rows() -> list[dict[str, str]]:
    """The samplers and what they are."""
    return [{"sampler": name, "meaning": kind.title} for name, kind in samplers().items()]


def _advice(found: Front) -> Iterator[str]:
    for item in recommend(found):
        evaluation = item.member.evaluation
        settings = ", ".join(f"{path}={cell(value)}" for path, value in evaluation.values.items())
        yield f"\n{item.name.replace('_', ' ')}: point {evaluation.number} ({settings})\n  {item.reason}"
