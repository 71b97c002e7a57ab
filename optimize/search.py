"""Searching the parameters of a scenario: checks everything, then explores and validates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from gridtune.optimize.budget import Budget, Meter
from gridtune.optimize.evaluator import Evaluator
from gridtune.optimize.exploration import Exploration
from gridtune.optimize.held_out import PAIR, HeldOut
from gridtune.optimize.records.evaluations import Archive, Failed, Value
from gridtune.optimize.replication.listener import Progress
from gridtune.optimize.replication.loss import NO_MORE_LOSS
from gridtune.optimize.samplers import find, samplers
from gridtune.optimize.search_space.problem import problem_of
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Point, key
from gridtune.optimize.search_space.today import starting_points, today_of
from gridtune.optimize.storages.storage import JOURNAL, check_address, make_directory, shown
from gridtune.optimize.study.evaluation_store import Store, StudyStore, stored_choice
from gridtune.optimize.study.study import default_name
from gridtune.plain_text import hidden
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.log_luck import with_luck
from gridtune.scenarios.execution.replicate import Metrics, Task, metrics_of
from gridtune.scenarios.results.locks import FOLDER, holding_folder
from gridtune.scenarios.tables.search import SearchSpec
from gridtune.scenarios.workers.local_workers import sigterm_as_interrupt
from gridtune.scenarios.workers.pool import Pool
from gridtune.threads import one_thread

FRESH = 5  # runs of a member on fresh seeds
RACING = 2  # of them at first, where those that remain uncertain get more


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Attributes:
        archive: every evaluation, those of the front validated on fresh seeds.
        notes: what a user should know, a line each.
        evaluated: points evaluated now; the others were known from an earlier part of the search.
        settings: what was searched, and how.
    """

    archive: Archive
    notes: tuple[str, ...]
    evaluated: int
    settings: Settings

    @property
    def failures(self) -> tuple[Failed, ...]:
        """Points that could not be evaluated, and why."""
        return self.archive.failed


@one_thread()
def search(
    scenario: Scenario,
    *,
    budget: Budget | int | None = None,
    sampler: str = "auto",
    replications: int | None = None,
    max_replications: int | None = None,
    seed: int = 1,
    objectives: Sequence[str] = (),
    require: Sequence[str] = (),
    others: Sequence[Scenario] = (),
    seeds: Sequence[int] = (),
    robust: str | None = None,
    vary: Sequence[str] = (),
    out: Path | None = None,
    storage: str | Path | None = None,
    study: str | None = None,
    resume: bool = False,
    batch: int | None = None,
    validation_replications: int | None = None,
    jobs: int = 1,
    pool: Pool | None = None,
    progress: Progress | None = None,
    work: Callable[[Task], Metrics] = metrics_of,
    holding: ExitStack | None = None,
    allow_loss: bool | None = None,
    start: Sequence[Mapping[str, Value]] = (),
    today: bool | None = None,
) -> SearchResult:
    """Search the parameters of a scenario for the best trade-offs.

    Args:
        scenario: what to search.
        budget: what it may take in all; a number is one of points to evaluate, today's setting and earlier
            parts of a resumed search included.
        sampler: `auto` or a name of `optimize.samplers.samplers`.
        replications: runs of every point at first, with the same random streams for all points; if left out
            what the scenario says, else 1.
        max_replications: runs that a point may have while its membership of the front is uncertain; if left
            out what the scenario says unless `replications` is given, else as many as `replications`.
        seed: of workloads and sampler.
        objectives: metrics to trade off; those of the scenario if left out.
        require: constraints, `METRIC<=NUMBER` or with `>=`, `<` or `>`; those of the scenario if left out. A
            point that breaks one in any case is never on the front.
        others: further scenarios in which every point is evaluated, too.
        seeds: of workloads: every point is evaluated in every scenario under each; `seed` alone if left out.
        robust: how an objective sums up these cases: `mean` (if left out), `worst` or `quantile:SHARE`, the
            value that this share of the cases reach; replication by replication.
        vary: `PATH=LOW:HIGH[:log]` or `PATH=V1,V2,…`, added to the scenario's space or put in its place.
        out: directory that gets the study as a journal file, unless `storage` is given.
        storage: URL of a database or path of a journal file. Without `out` and `storage` nothing is kept.
        study: name of it; that of the scenario if left out.
        resume: whether to go on with a study that exists.
        batch: points proposed at once; what suits the sampler if left out.
        validation_replications: fresh runs per front member, 0 for none; if left out as many as
            `replications`, but at least 5. Where `max_replications` is more than `replications`, members that
            remain uncertain get up to twice as many, or `max_replications` if that is more; if it is left
            out, members have 2 at first where a model of all runs helps to judge them.
        jobs: worker processes.
        pool: who runs the simulations, instead of `jobs` processes.
        progress: hears how it goes.
        work: gives the metrics of a run to be done.
        holding: keeps other searches out of `out` for longer than this one, until it is closed.
        allow_loss: whether points may lose more mandatory work than the scenario as it stands; if left out
            what the scenario says, and with other `work` than simulating they may. Else they break a
            constraint, see `optimize.replication.loss`.
        start: settings to evaluate after today's and before the sampler's own, values by path, beside those
            that the scenario names; what one leaves out is as today. Those outside the space are left out.
        today: whether the scenario as it stands is evaluated first; if left out it is, unless other `work`
            than simulating may know nothing of it.

    Raises:
        ScenarioError: what was asked for cannot be done; found before anything is evaluated, except that a
            storage stops working.
        KeyboardInterrupt: by Ctrl-C or SIGTERM; what was finished is kept.
    """
    least, most = _replications(scenario, replications, max_replications)
    budget = budget if isinstance(budget, Budget) else Budget.of(budget)
    _check_counts(replications=least, jobs=jobs, batch=batch or 1)
    if most < least:
        raise ScenarioError(f"max_replications {most}: at least the {least} replications of every point")
    if not 0 <= seed < 2**32:
        raise ScenarioError(f"seed {seed}: expected a whole number from 0 to 2**32 - 1")
    scenario, lucky = with_luck(scenario)
    others = [with_luck(other)[0] for other in others]
    problem = problem_of(
        scenario, seed, objectives=objectives, require=require, vary=vary, others=others, seeds=seeds,
        robust=robust,
    )  # fmt: skip
    space, chosen = problem.space, problem.objectives
    spec = scenario.spec.search or SearchSpec()
    if allow_loss is None:
        # What other work measures as lost, only its author knows.
        allow_loss = spec.allow_loss or work is not metrics_of
    guarded = not allow_loss
    constraints = (*problem.constraints, NO_MORE_LOSS) if guarded else problem.constraints
    if storage is not None:
        check_address(storage)
    where = storage or (out and out / JOURNAL)
    name = study or default_name(scenario)
    if fault := hidden(name):
        raise ScenarioError(f"study {fault}")
    earlier = stored_choice(where, name, resume=resume) if where is not None else None
    raced = (work is metrics_of if today is None else today) if earlier is None else earlier.today
    standing = today_of(scenario, space, problem.cases)
    expected = budget.expected(least, most, len(problem.cases) or 1)
    kind = find(sampler, expected - (raced and not standing.point), space)
    notes = list(problem.notes)
    if resume and earlier is None:
        notes.append(f"{name}: there is no study of that name to resume; it begins")
    if raced and standing.notes:
        notes.append(f"today's setting is no point of the space: {'; '.join(standing.notes)}")
    starts = dict[str, Point]()
    for one in starting_points([*spec.start, *start], space, standing, scenario.name):
        notes += [one] if isinstance(one, str) else []
        starts |= {} if isinstance(one, str) else {key(one): one}
    if earlier is not None:
        kind = samplers().get(earlier.sampler, kind) if sampler == "auto" else kind
        batch = batch or earlier.batch
        starts = starts or {key(point): point for point in earlier.starts}
    batch = batch or kind.batch_for(expected)
    settings = Settings(
        scenario, space, chosen, kind.name, batch, seed, least,
        problem.cases, problem.robust, constraints, most,
        standing if raced else None, tuple(starts.values()),
    )  # fmt: skip
    proposer = kind(space, chosen, seed, batch)
    fresh = max(FRESH, least) if validation_replications is None else validation_replications
    fresh_most = max(2 * fresh, most) if settings.adaptive else fresh
    racing = settings.adaptive and validation_replications is None
    fresh_least = max(RACING, least) if racing else fresh
    reserve = 2 * min(PAIR, fresh_least) * len(settings.run_in)  # a point and today's setting
    least_runs = 2 * least * len(settings.run_in) + reserve
    if budget.runs is not None and budget.runs < least_runs:
        raise ScenarioError(
            f"runs {budget.runs}: too few to search and to judge what is found; {least_runs} at least"
        )
    store = Store(settings, name, budget.points)
    held = holding or ExitStack()
    if where is not None:
        with _directory(out, held):
            store = StudyStore(settings, name, budget.points, where, resume=resume)
    workers = pool or Pool(jobs)
    progress = progress or Progress()
    meter = Meter(budget, reserve=reserve)
    running = Evaluator(settings, store, workers, progress, work)
    for note in (*lucky, *notes):
        running.note(f"note: {note}")
    interrupted = False
    try:
        with sigterm_as_interrupt():
            exploration = Exploration(running, proposer, meter)
            exploration.explore()
            spent = running.spent(exploration.race.counts)
            held_out = HeldOut(running, meter, spent, fresh_least, fresh, fresh_most)
            held_out.validate()
            held_out.transplant()
            held_out.look_again()
            held_out.level()
    except BaseException as error:
        workers.abort()
        interrupted = isinstance(error, KeyboardInterrupt)
        raise
    finally:
        progress.finish()
        if pool is None:
            workers.close()
        try:
            store.close()
        finally:
            if holding is None:
                held.close()
        if interrupted:
            running.note(_going_on(len(store.known), str(budget), out or storage))
    return SearchResult(store.archive(), tuple(running.notes), running.evaluated, settings)


def _going_on(count: int, budget: str, where: Path | str | None) -> str:
    """Where the results of an interrupted search are, and how to go on."""
    if where is None:
        return "note: nothing is kept of a search without --out or --storage"
    kept = f"note: {count} of {budget} are kept in {shown(where)}"
    return f"{kept}; the same command with --resume goes on"


@contextmanager
def _directory(out: Path | None, held: ExitStack) -> Iterator[None]:
    """Make and hold a directory for what the block is about to open; if that fails, nothing is left."""
    new = [] if out is None else [folder for folder in (out, *out.parents) if not folder.exists()]
    fresh = out is not None and not (out / FOLDER).exists()
    try:
        if out is not None:
            make_directory(out)
            held.enter_context(holding_folder(out))
        yield
    except BaseException:
        held.close()
        with suppress(OSError):
            if fresh and out is not None:
                (out / FOLDER).unlink()
            for folder in new:
                folder.rmdir()
        raise


def _replications(scenario: Scenario, least: int | None, most: int | None) -> tuple[int, int]:
    """Replications of every point and of an uncertain one: as asked for, as the scenario says, or one."""
    spec = scenario.spec.search or SearchSpec()
    if most is None:
        most = spec.max_replications if least is None else least
    least = spec.replications if least is None else least
    return least, least if most is None else most


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise ScenarioError(f"{name} {count}: at least 1 is needed")
