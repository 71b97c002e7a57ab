"""What `gridtune sensitivity` does: find out what is meant, analyse, write, draw."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gridtune.optimize.importance.sensitivity import METHODS, Sensitivity
from gridtune.optimize.importance.simulator_sensitivity import design, simulated_sensitivity
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.report.numbers import metric_label, setting, with_half
from gridtune.optimize.report.progress import progress_of
from gridtune.optimize.search_space.cases import Case
from gridtune.optimize.search_space.settings import check_measured, objectives_of
from gridtune.optimize.search_space.space import Space, check_not_set
from gridtune.scenarios.document.paths import parse_assignments
from gridtune.scenarios.document.scenario import load as load_scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.prepare import prepare, workers
from gridtune.scenarios.results.files import writable_folder, write_json
from gridtune.scenarios.results.locks import own_folder, results_folder
from gridtune.scenarios.results.text import text_table, wrapped
from gridtune.scenarios.whole_files import replace_text
from gridtune.scenarios.workers.local_workers import interruptible

FIRST = 3  # parameters that are named for each objective


def run_sensitivity(
    subject: str, *, objectives: Sequence[str], seed: int, plot: Path | None, out: Path | None, **asked: Any
) -> Sensitivity:
    """Which parameters matter for which objective, in a search that was kept or in the simulator itself.

    Args:
        asked: all other options of `gridtune sensitivity`, by name, which only scenarios have.

    Raises:
        ScenarioError: what was asked for cannot be done; found before anything is simulated or written.
    """
    from gridtune.scenarios.plots.style import check_free, picture_format, save

    if plot is not None:
        picture_format(plot)
        check_free(plot)
    if is_study(subject):
        found = _of_study(subject, objectives, seed, asked)
    else:
        found = _of_scenario(subject, objectives, seed, plot, out, asked)
    if out is not None:
        folder = own_folder(out)
        write_json(folder / "sensitivity.json", found.to_dict())
        replace_text(folder / "sensitivity.csv", found.table().to_csv(index=False))
    for picture in filter(None, (plot, out and out / "sensitivity.png")):
        from gridtune.optimize.importance.picture import draw_sensitivity

        save(draw_sensitivity(found), picture)
    return found


def _of_scenario(
    name: str, wanted: Sequence[str], seed: int, plot: Path | None, out: Path | None, asked: dict[str, Any]
) -> Sensitivity:
    values = parse_assignments(asked["set"])
    scenario = load_scenario(name).override(values)
    space = Space.of(scenario, asked["vary"])
    check_not_set(space, scenario, values)
    wanted = wanted or scenario.spec.searching.objectives
    check_measured(wanted, space, [Case(scenario.name, scenario, seed)])
    plan = design(asked["method"] or "morris", space, asked["samples"], seed)
    progress = progress_of()
    for note in space.check(scenario):
        progress.note(f"note: {note}; such configurations will fail")
    prepare(scenario)
    if plot is not None:  # before anything long is computed
        writable_folder(plot.parent)
    pool_of = workers(asked["jobs"] or os.cpu_count() or 1, asked["dask"], scenario)
    with interruptible(), pool_of as pool, results_folder(out):
        return simulated_sensitivity(
            scenario, plan, objectives_of(wanted),
            replications=asked["replications"] or 1, pool=pool, progress=progress,
        )  # fmt: skip


def sensitivity_text(found: Sensitivity, width: int, *, every: bool = False) -> str:
    """The parameters that matter most for each objective, or `every` number of all of them."""
    method = METHODS[found.method]
    said = [f"{found.subject}: {method.title}, the parameters that matter most first"]
    for ranking in found.rankings:
        unit = ranking.objective.unit if method.unit_of_objective else ""
        main, number = method.main, Objective(method.main, "minimize", unit)
        first = ranking.effects.head(FIRST).to_dict("records")
        told = [f"{e['path']} {with_half(e[main], e[f'{main}_conf'], number)}" for e in first if e["active"]]
        said.append(f"  {metric_label(ranking.objective)}: {ranking.reason or ', '.join(told)}")
    said += [f"±: half of the 95 % interval; {found.basis()}", *found.notes]
    if not every:
        return "\n".join(wrapped([*said, "All parameters and numbers: --all"], width)) + "\n"
    rows = found.table().astype(object)
    cells = rows.where(rows.notna(), None).map(setting)
    table = text_table(list(cells.columns), cells.to_numpy().tolist(), width, keep=2, left=(0, 1))
    legend = f"_conf: half of the 95 % interval; active: the {method.counted} in which a parameter exists"
    return "\n".join([*wrapped(said, width), "", table, *wrapped([legend], width)]) + "\n"


def is_study(subject: str) -> bool:
    """Whether this names a study (a URL, a search's folder, a journal) rather than a scenario."""
    from gridtune.optimize.studies.places import is_url, named

    path = Path(named(subject)[0])
    return is_url(subject) or path.is_dir() or (path.is_file() and path.suffix not in (".toml", ".json"))


def _of_study(subject: str, wanted: Sequence[str], seed: int, asked: dict[str, Any]) -> Sensitivity:
    from gridtune.optimize.importance.sensitivity import study_sensitivity
    from gridtune.optimize.runs.stored import load

    if option := next((name for name, given in asked.items() if given), None):
        raise ScenarioError(f"--{option}: {subject} is a study; its evaluations are not simulated again")
    kept = load(subject)
    known = {objective.name: objective for objective in kept.archive.objectives}
    if not known.keys() >= set(wanted):
        check_measured(wanted, kept.settings.space, kept.settings.run_in)
        known = {objective.name: objective for objective in objectives_of(wanted)}
    return study_sensitivity(kept, [known[name] for name in dict.fromkeys(wanted) or known], seed)
