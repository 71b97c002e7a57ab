"""What `gridtune sensitivity` does: find out what is meant, analyse, write, draw."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gridtune.optimize.importance.sensitivity import METHODS, Sensitivity, study_sensitivity
from gridtune.optimize.importance.simulator_sensitivity import design, simulated_sensitivity
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.report.numbers import metric_label, setting, with_half
from gridtune.optimize.report.progress import progress_of
from gridtune.optimize.runs.stored import load
from gridtune.optimize.search_space.cases import Case
from gridtune.optimize.search_space.settings import check_measured, objectives_of
from gridtune.optimize.search_space.space import Space, check_not_set
from gridtune.optimize.studies.places import is_url, named
from gridtune.scenarios.document.paths import parse_assignments
from gridtune.scenarios.document.scenario import load as load_scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.prepare import prepare, workers
from gridtune.scenarios.plots.style import check_free, picture_format, save
from gridtune.scenarios.results.files import writable_folder, write_json
from gridtune.scenarios.results.locks import own_folder, results_folder
from gridtune.scenarios.results.text import text_table, wrapped
from gridtune.scenarios.whole_files import replace_text
from gridtune.scenarios.workers.local_workers import interruptible

FIRST = 3  # parameters that are named for each objective


@dataclass(frozen=True)
class SensitivityRequest:
    """What `gridtune sensitivity` is asked for, by its options; those from `method` on are of a scenario."""

    subject: str
    objectives: Sequence[str] = ()
    seed: int = 1
    plot: Path | None = None
    out: Path | None = None
    method: str | None = None
    samples: int | None = None
    replications: int | None = None
    jobs: int | None = None
    dask: str | None = None
    vary: Sequence[str] = ()
    set: Sequence[str] = ()


def run_sensitivity(asked: SensitivityRequest) -> Sensitivity:
    """Which parameters matter for which objective, in a search that was kept or in the simulator itself.

    Raises:
        ScenarioError: what was asked for cannot be done; found before anything is simulated or written.
    """
    if asked.plot is not None:
        picture_format(asked.plot)
        check_free(asked.plot)
    found = _of_study(asked) if is_study(asked.subject) else _of_scenario(asked)
    pictures = [asked.plot, asked.out and asked.out / "sensitivity.png"]
    if asked.out is not None:
        folder = own_folder(asked.out)
        write_json(folder / "sensitivity.json", found.to_dict())
        replace_text(folder / "sensitivity.csv", found.table().to_csv(index=False))
    for picture in filter(None, pictures):
        from gridtune.optimize.importance.picture import draw_sensitivity

        save(draw_sensitivity(found), picture)
    return found


def _of_scenario(asked: SensitivityRequest) -> Sensitivity:
    values = parse_assignments(asked.set)
    scenario = load_scenario(asked.subject).override(values)
    space = Space.of(scenario, asked.vary)
    check_not_set(space, scenario, values)
    wanted = asked.objectives or scenario.spec.searching.objectives
    check_measured(wanted, space, [Case(scenario.name, scenario, asked.seed)])
    plan = design(asked.method or "morris", space, asked.samples, asked.seed)
    progress = progress_of()
    for note in space.check(scenario):
        progress.note(f"note: {note}; such configurations will fail")
    prepare(scenario)
    if asked.plot is not None:  # before anything long is computed
        writable_folder(asked.plot.parent)
    pool_of = workers(asked.jobs or os.cpu_count() or 1, asked.dask, scenario)
    with interruptible(), pool_of as pool, results_folder(asked.out):
        return simulated_sensitivity(
            scenario, plan, objectives_of(wanted),
            replications=asked.replications or 1, pool=pool, progress=progress,
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
    cells = found.table().astype(object).map(setting, na_action="ignore").fillna("-")
    table = text_table(list(cells.columns), cells.to_numpy().tolist(), width, keep=2, left=(0, 1))
    legend = f"_conf: half of the 95 % interval; active: the {method.counted} in which a parameter exists"
    return "\n".join([*wrapped(said, width), "", table, *wrapped([legend], width)]) + "\n"


def is_study(subject: str) -> bool:
    """Whether this names a study (a URL, a search's folder, a journal) rather than a scenario."""
    path = Path(named(subject)[0])
    return is_url(subject) or path.is_dir() or (path.is_file() and path.suffix not in (".toml", ".json"))


def _of_study(asked: SensitivityRequest) -> Sensitivity:
    for option in ("method", "samples", "replications", "jobs", "dask", "vary", "set"):
        if getattr(asked, option):
            why = f"{asked.subject} is a study; its configurations are not simulated again"
            raise ScenarioError(f"--{option}: {why}")
    kept = load(asked.subject)
    known = {objective.name: objective for objective in kept.archive.objectives}
    if not known.keys() >= set(asked.objectives):
        check_measured(asked.objectives, kept.settings.space, kept.settings.run_in)
        known = {objective.name: objective for objective in objectives_of(asked.objectives)}
    names = dict.fromkeys(asked.objectives) or known
    return study_sensitivity(kept, [known[name] for name in names], asked.seed)
