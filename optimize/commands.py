"""What `gridtune search` and `gridtune front` do: search, keep, draw and tell."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from gridtune.optimize.front.export import summary, to_csv, to_dict, to_latex, to_text
from gridtune.optimize.front.front import Front, front
from gridtune.optimize.front.number_format import cell
from gridtune.optimize.front.recommendations import recommend
from gridtune.optimize.progress import reporter
from gridtune.optimize.samplers import samplers
from gridtune.optimize.search import search
from gridtune.optimize.search_space.cases import other_scenario, seeds_of
from gridtune.optimize.study.study import load_archive
from gridtune.scenarios.document.paths import parse_assignment
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.execution.commands import prepare, workers
from gridtune.scenarios.results.files import replace, to_json, writable_folder, write_json


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
    out: Path | None,
    dask: str | None = None,
) -> Front:
    """Search a scenario; see `optimize.search.search`, for `dask` `scenarios.execution.commands.workers`.

    Further scenarios come as on the command line (see
    `optimize.search_space.cases.other_scenario`), with the assignments `PATH=VALUE` that the first has
    already. With `out`, the front is left there as `front.json`, `front.csv`, a page and pictures.

    Raises:
        ScenarioError: what was asked for cannot be done; found before anything is computed or written.
        KeyboardInterrupt: what was finished is kept.
    """
    values = dict(map(parse_assignment, assignments))
    further = [other_scenario(text, values) for text in others]
    for one in (scenario, *further):
        prepare(one)
    with ExitStack() as holding, workers(jobs, dask, scenario, *further) as pool:
        result = search(
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
            out=out,
            storage=storage,
            study=study,
            resume=resume,
            pool=pool,
            progress=reporter(),
            holding=holding,
        )
        found = front(result.archive)
        if out is not None:
            leave(found, writable_folder(out))
    return found


def leave(found: Front, out: Path) -> None:
    """Write a front to a folder in every form.

    Raises:
        ScenarioError: a file cannot be written.
    """
    write_json(out / "front.json", to_dict(found))
    replace(out / "front.csv", lambda path: path.write_text(to_csv(found), encoding="utf-8"))
    if found.members:
        from gridtune.optimize.visualization import PLOTS, save

        # Pictures go to files: no display is needed, and none must be looked for.
        os.environ.setdefault("MPLBACKEND", "Agg")
        save(found, out / "front.html")
        for kind in PLOTS:
            save(found, out / f"{kind}.png", kind)


def open_front(study: str, plot: Path | None) -> Front:
    """The front of a search that was kept.

    Args:
        study: a search's folder, a journal file, or the URL of a storage.
        plot: picture to draw.

    Raises:
        ScenarioError: there is no such study, or the picture cannot be drawn.
    """
    if plot is not None:
        from gridtune.scenarios.plots import picture_format

        picture_format(plot, also=("html",))
    found = front(load_archive(study))
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
