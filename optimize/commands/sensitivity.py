"""What `gridtune sensitivity` does: find out what is meant, analyse, write, draw."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gridtune.optimize.importance.designs import design
from gridtune.optimize.importance.sensitivity import METHODS, Sensitivity
from gridtune.optimize.importance.simulator_sensitivity import simulated_sensitivity
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.report.numbers import metric_label, setting, with_half
from gridtune.optimize.report.progress import reporter
from gridtune.optimize.search_space.cases import Case
from gridtune.optimize.search_space.objectives import check_measured, objectives_of
from gridtune.optimize.search_space.space import Space, check_not_set
from gridtune.scenarios.document.paths import parse_assignments
from gridtune.scenarios.document.scenario import load as load_scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.prepare import prepare, workers
from gridtune.scenarios.results.files import writable_folder, write_json
from gridtune.scenarios.results.locks import own_folder, results_folder
from gridtune.scenarios.results.text import text_table, wrapped
from gridtune.scenarios.tables.search import SearchSpec
from gridtune.scenarios.whole_files import replace_text
from gridtune.scenarios.workers.local_workers import sigterm_as_interrupt

FIRST = 3  # parameters that are named for each objective


@dataclass(frozen=True)
class SimulatorOptions:
    """What is asked for of a scenario; a study has no use for any of it.

    Attributes:
        method: `morris` or `sobol`; Morris if left out.
        samples: trajectories or base samples; 20 or 128 if left out.
        replications: runs per configuration; 1 if left out.
        jobs: worker processes; all cores if left out.
        dask: scheduler of a cluster to run on instead.
        vary: `PATH=LOW:HIGH[:log]` or `PATH=V1,V2,…`.
        set: `PATH=VALUE`.
    """

    method: str | None = None
    samples: int | None = None
    replications: int | None = None
    jobs: int | None = None
    dask: str | None = None
    vary: Sequence[str] = ()
    set: Sequence[str] = ()


def run_sensitivity(
    subject: str,
    asked: SimulatorOptions,
    *,
    objectives: Sequence[str],
    seed: int,
    plot: Path | None,
    out: Path | None,
) -> Sensitivity:
    """Which parameters matter for which objective, in a search that was kept or in the simulator itself.

    Args:
        subject: a study (folder, journal file, storage URL) or a scenario (name, file).
        asked: for scenarios only.
        objectives: metrics; those of the search or scenario if left out.
        seed: of workloads and sample, or of the bootstrap.
        out: folder for `sensitivity.json`, `sensitivity.csv` and `sensitivity.png`.

    Raises:
        ScenarioError: what was asked for cannot be done; found before anything is simulated or written.
    """
    if plot is not None:
        from gridtune.scenarios.plots import picture_format

        picture_format(plot)
    if is_study(subject):
        for option, value in vars(asked).items():
            if value:
                raise ScenarioError(
                    f"--{option}: {subject} is a study; its evaluations are not simulated again"
                )
        found = _of_study(subject, objectives, seed)
    else:
        found = _of_scenario(subject, asked, objectives, seed, plot=plot, out=out)
    _leave(found, plot, out)
    return found


def _of_scenario(
    subject: str,
    asked: SimulatorOptions,
    objectives: Sequence[str],
    seed: int,
    *,
    plot: Path | None,
    out: Path | None,
) -> Sensitivity:
    values = parse_assignments(asked.set)
    scenario = load_scenario(subject).override(values)
    space = Space.of(scenario, asked.vary)
    check_not_set(space, scenario, values)
    wanted = objectives or (scenario.spec.search or SearchSpec()).objectives
    check_measured(wanted, space, [Case(scenario.name, scenario, seed)])
    plan = design(asked.method or "morris", space, asked.samples, seed)
    progress = reporter()
    for note in space.check(scenario):
        progress.note(f"note: {note}; such configurations will fail")
    prepare(scenario)
    if plot is not None:  # before anything long is computed
        writable_folder(plot.parent)
    pool_of = workers(asked.jobs or os.cpu_count() or 1, asked.dask, scenario)
    with sigterm_as_interrupt(), pool_of as pool, results_folder(out):
        return simulated_sensitivity(
            scenario, plan, objectives_of(wanted),
            replications=asked.replications or 1, seed=seed, pool=pool, progress=progress,
        )  # fmt: skip


def sensitivity_text(found: Sensitivity, width: int, *, every: bool = False) -> str:
    """The parameters that matter most for each objective, or all of them.

    Args:
        every: whether to print every number of every parameter.
    """
    method = METHODS[found.method]
    said = [f"{found.subject}: {method.title}, the parameters that matter most first"]
    for ranking in found.rankings:
        metric = Objective(
            method.main, "minimize", ranking.objective.unit if method.unit_of_objective else ""
        )
        told = []
        for one in ranking.effects[:FIRST]:
            value, half = one.numbers[method.main], one.numbers[f"{method.main}_conf"]
            told += [] if value is None else [f"{one.path} {with_half(value, half, metric)}"]
        said.append(f"  {metric_label(ranking.objective)}: {ranking.reason or ', '.join(told)}")
    said += [f"±: half of the 95 % interval; {found.basis()}"]
    if not every:
        return "\n".join(wrapped([*said, "All parameters and numbers: --all"], width)) + "\n"
    rows = found.table().astype(object)
    cells = rows.where(rows.notna(), None).map(setting)
    table = text_table(list(cells.columns), cells.to_numpy().tolist(), width, keep=2, left=(0, 1))
    return "\n".join([*wrapped(said, width), "", table, *wrapped(found.summary(), width)]) + "\n"


def is_study(subject: str) -> bool:
    """Whether this names a study (a URL, a search's folder, a journal) rather than a scenario."""
    from gridtune.optimize.studies.places import is_url

    path = Path(subject)
    return is_url(subject) or path.is_dir() or (path.is_file() and path.suffix not in (".toml", ".json"))


def _of_study(subject: str, objectives: Sequence[str], seed: int) -> Sensitivity:
    from gridtune.optimize.importance.importance import study_sensitivity
    from gridtune.optimize.runs.stored import load

    kept = load(subject)
    known = {objective.name: objective for objective in kept.archive.objectives}
    if not known.keys() >= set(objectives):
        check_measured(objectives, kept.settings.space, kept.settings.run_in)
        known = {objective.name: objective for objective in objectives_of(objectives)}
    return study_sensitivity(kept, [known[name] for name in dict.fromkeys(objectives) or known], seed)


def _leave(found: Sensitivity, plot: Path | None, out: Path | None) -> None:
    pictures = [] if plot is None else [plot]
    if out is not None:
        folder = own_folder(out)
        write_json(folder / "sensitivity.json", found.to_dict())
        replace_text(folder / "sensitivity.csv", found.to_csv())
        pictures.append(folder / "sensitivity.png")
    if pictures:
        os.environ.setdefault("MPLBACKEND", "Agg")
        from gridtune.optimize.importance.picture import draw_sensitivity
        from gridtune.scenarios.plots import save

        for picture in pictures:
            save(draw_sensitivity(found), picture)
