"""Searching the parameters of a scenario: check everything, then propose, run, validate and recommend."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, replace
from math import ceil
from pathlib import Path
from typing import Any

from gridtune.optimize.config import SearchConfig
from gridtune.optimize.exploration import Exploration, Meter, expected
from gridtune.optimize.front.front import front
from gridtune.optimize.recommend.plan import LEAST, LEAST_RUNS
from gridtune.optimize.recommend.recommender import Recommender
from gridtune.optimize.records.evaluations import Archive, Constraint
from gridtune.optimize.records.recommendation import Recommendation
from gridtune.optimize.replication.guards import LONGEST, NO_MORE_LOSS, NO_STARVATION
from gridtune.optimize.report.progress import Progress
from gridtune.optimize.runs import stored
from gridtune.optimize.runs.evaluator import Evaluator, with_users
from gridtune.optimize.samplers import find, samplers
from gridtune.optimize.search_space.baseline import baseline_of, starting_configurations
from gridtune.optimize.search_space.cases import MEAN, cases_of, check_paths, share_of
from gridtune.optimize.search_space.constraints import constraints_of
from gridtune.optimize.search_space.settings import Settings, check_measured, objectives_of
from gridtune.optimize.search_space.space import Space, key
from gridtune.optimize.studies.databases import shown
from gridtune.optimize.studies.places import JOURNAL
from gridtune.optimize.studies.stored_study import stored_settings
from gridtune.optimize.studies.study import OpenStudy, open_study
from gridtune.optimize.validation import PAIR, Validation
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.log_noise import doubts, replay_weight, resampled, with_noise
from gridtune.scenarios.execution.replicate import Metrics, Task
from gridtune.scenarios.results.locks import begun_folder
from gridtune.scenarios.workers.local_workers import interruptible
from gridtune.scenarios.workers.pool import Pool
from gridtune.threads import one_thread

EACH = 50  # runs of a search for each configuration that is validated, where runs are limited
VALIDATED = 1 / 2  # validation runs for each run of the search, at most, where runs are not limited
FLOOR = 120  # validation runs that a search of few configurations may take in any case
OVERTIME = 0.15  # of all runs, that replays with more jobs may take where time has run out
CHECKED = 0.3  # of these, for the front; the others find and confirm recommendations
ONCE = "of a log, one run of each configuration makes estimates unreliable: use `--replications 2` or more"


@one_thread()
def search(
    scenario: Scenario,
    config: SearchConfig | None = None,
    *,
    jobs: int = 1,
    pool: Pool | None = None,
    progress: Progress | None = None,
    work: Callable[[Task], Metrics] = with_users,
    holding: ExitStack | None = None,
    **fields: Any,
) -> stored.SearchResult:
    """Search the parameters of a scenario for the best trade-offs.

    Args:
        config: what is asked for; made of `fields`, which are its own, if left out.
        jobs, pool: number of worker processes, or who runs the simulations instead.
        progress, work: hears how it goes, and gives the metrics of a run.
        holding: keeps other searches out of the folder until it is closed.

    Raises:
        ScenarioError: what was asked for cannot be done: before anything is evaluated, or a storage fails.
        KeyboardInterrupt: by Ctrl-C or SIGTERM; finished runs are kept.
    """
    config = config or SearchConfig.of(**fields)
    if jobs < 1:
        raise ScenarioError(f"jobs {jobs}: at least 1 is needed")
    where = config.storage or (config.out and config.out / JOURNAL)
    named = Path(scenario.name)
    name = config.study or (named.stem if named.suffix == ".toml" else scenario.name)
    settings, notes = _settings(scenario, config, where, name, simulated=work is with_users)
    progress = progress or Progress()
    with ExitStack() as own:
        if config.out is not None:
            (holding or own).enter_context(begun_folder(config.out))
        study = own.enter_context(open_study(where, name, settings, resume=config.resume))
        workers = pool or own.enter_context(Pool(jobs))
        running = Evaluator(settings, study, workers, progress, work)
        for note in notes:
            running.note(f"note: {note}")
        try:
            with interruptible():
                archive = _searched(config, running, study)
        except BaseException as error:
            workers.abort()
            if isinstance(error, KeyboardInterrupt):
                progress.finish()
                running.note(_going_on(running, config))
            raise
        finally:
            progress.finish()
    return stored.SearchResult(settings, archive, tuple(running.notes), running.simulated, study.trials)


def _settings(
    scenario: Scenario, config: SearchConfig, where: str | Path | None, name: str, *, simulated: bool
) -> tuple[Settings, list[str]]:
    """What is searched, and how, with what a user should know; all is checked before anything runs."""
    spec = scenario.spec.searching
    each = spec.replications if config.replications is None else config.replications
    scenario, notes = with_noise(scenario)
    notes += [ONCE] if each == 1 and resampled(scenario) else []
    others = [with_noise(other)[0] for other in config.others]
    space = Space.of(scenario, config.vary)
    refused = [*space.check(scenario), *(note for other in others for note in check_paths(space, other))]
    cases = cases_of([scenario, *others], config.seeds, config.seed)
    robust = config.robust or MEAN
    if config.robust is not None and len(cases) == 1:
        why = "there is one case only; --scenario or --seeds adds others"
        raise ScenarioError(f"--robust {config.robust}: {why}")
    share_of(robust)
    wanted, required = config.objectives or spec.objectives, config.require or spec.require
    check_measured([*wanted, *(one.metric for one in constraints_of(required))], space, cases)
    objectives = objectives_of(wanted)
    # Constraints are read again: the units of some metrics are known only now.
    constraints = (*constraints_of(required), *_guards(scenario, config, simulated))
    # Refuses a place that holds something else before it is touched.
    kept = stored_settings(where, name, alone=config.storage is None)
    before = kept if config.resume else None
    earlier = None if before is None else stored.settings_of(before, where or name)
    raced = simulated if config.baseline is None else config.baseline
    raced = raced if earlier is None else earlier.baseline is not None
    standing = baseline_of(scenario, space, cases)
    notes = [*notes, *(f"{note}; such configurations will fail" for note in refused)]
    if config.resume and before is None:
        notes.append(f"{name}: there is no study of that name to resume; it begins")
    if raced and standing.notes:
        notes.append(f"the baseline is no configuration of the space: {'; '.join(standing.notes)}")
    found = list(starting_configurations([*spec.start, *config.start], space, standing, scenario.name))
    notes += [one for one in found if isinstance(one, str)]
    starts = {key(one): one for one in found if not isinstance(one, str)}
    tried = expected(config, each, len(cases))
    kind = find(config.sampler, tried - (raced and not standing.configuration), space)
    batch = config.batch
    if earlier is not None:
        kind = samplers().get(earlier.sampler, kind) if config.sampler == "auto" else kind
        batch = batch or earlier.batch
        starts = starts or {key(one): one for one in earlier.starts}
    settings = Settings(
        scenario, space, objectives, kind.name, batch or kind.batch_for(tried), config.seed, each,
        cases if others or config.seeds else (), robust, constraints,
        standing if raced else None, tuple(starts.values()),
    )  # fmt: skip
    if before is not None and (differences := "; ".join(settings.differences(before))):
        raise ScenarioError(f"{shown(where or '')}: the study {name} cannot be resumed: {differences}")
    least = 2 * len(settings.run_in) * each + _reserve(settings, config)
    if config.runs is not None and config.runs < least:
        raise ScenarioError(f"runs {config.runs}: too few to search and to validate; {least} at least")
    return settings, notes


def _guards(scenario: Scenario, config: SearchConfig, simulated: bool) -> tuple[Constraint, ...]:
    """What no configuration may do to jobs unless it is allowed; other work than simulating has none."""
    spec = scenario.spec.searching
    lose, starve = (spec.allow_loss, spec.allow_starvation) if simulated else (True, True)
    lose = lose if config.allow_loss is None else config.allow_loss
    starve = starve if config.allow_starvation is None else config.allow_starvation
    found = () if lose else (NO_MORE_LOSS,)
    return found if starve or not scenario.spec.site else (*found, NO_STARVATION)


def _searched(config: SearchConfig, running: Evaluator, study: OpenStudy) -> Archive:
    """Explore, validate, recommend."""
    settings, fixed = running.settings, config.validation_replications
    replay = max(replay_weight(case.scenario) for case in settings.run_in)
    if config.time is None:
        replay = float(replay > 0)  # a run is a run, unless time counts
    reserve = _reserve(settings, config)
    least = _least(settings, replay)
    meter = Meter(config, reserve, _confirming(settings, config, replay), least)
    kind = samplers()[settings.sampler]
    sampler = kind(settings.space, settings.objectives, settings.seed, settings.batch)
    earlier = running.table.given(study.rows[: _earlier(study, config)])
    running.count(earlier if config.runs else ())
    total = _expected(settings, config)
    running.progress.start("runs", total, len(running.table), config.seconds)
    Exploration(running, sampler, meter).explore()
    allowed = _allowed(running.spent, settings)
    running.recall(earlier)
    running.progress.expect(total)
    searched = running.spent

    def left(rest: Callable[[int], int], of: float = 1.0) -> int:
        free = max(0, searched + int(of * allowed) - running.spent)
        limited = config.runs or fixed is not None
        return rest(running.spent) if limited else min(rest(running.spent), free)

    checking = meter.left_to_validate(searched)
    enough = not config.runs or (checking >= reserve and meter.left(searched) - checking >= LEAST)
    checks = meter.left_to_validate if enough else meter.left
    Validation(running, lambda: left(checks, CHECKED), fixed, lambda: left(meter.left) - least).validate()
    found, told = tuple[Recommendation, ...](), tuple[str, ...]()
    # Those of an earlier search that is continued.
    refusals = stored.REFUSED.validate_python(study.attributes.get(stored.REFUSALS, {}))
    if fixed != 0:
        recommender = Recommender(
            running, front(running.archive), lambda: left(meter.left), replay,
            OVERTIME if config.runs is None else 0.0,
        )  # fmt: skip
        found, told = recommender.recommend(), recommender.remarks
        recommended = {one.number for one in found}
        kept = replace(running.archive, refusals=refusals).broken - recommended
        refusals = {number: refusals[number] for number in kept} | recommender.refusals
    baseline = running.archive.standing
    longest = None if baseline is None else baseline.metrics.get(LONGEST)
    doubtful = (one for case in settings.run_in for one in doubts(case.scenario, longest))
    caveat = settings.scenario.spec.searching.caveat
    remarks = tuple(dict.fromkeys([*told, *doubtful, *filter(None, [caveat])]))
    study.set_attribute(stored.RECOMMENDATIONS, [asdict(one) for one in found])
    study.set_attribute(stored.REFUSALS, {number: asdict(one) for number, one in refusals.items()})
    study.set_attribute(stored.REMARKS, remarks)
    study.set_attribute(stored.ENDED, True)
    return stored.result_of(study, running.table)


def _expected(settings: Settings, config: SearchConfig) -> int:
    """About how many runs there will be in all; 0 if that cannot be known."""
    if config.runs is not None:
        return config.runs
    if not config.counted or config.converged:
        return 0
    explored = config.configurations * settings.replications * len(settings.run_in)
    return explored if config.validation_replications == 0 else explored + _allowed(explored, settings)


def _reserve(settings: Settings, config: SearchConfig) -> int:
    """Runs by which the baseline and others are validated: one, and another for each `EACH` runs."""
    fixed = config.validation_replications
    count = 2 + (config.runs or 0) // EACH
    return count * len(settings.run_in) * (PAIR if fixed is None else fixed)


def _allowed(explored: int, settings: Settings) -> int:
    """Runs that validation and recommendations may take after so many of the exploration."""
    return max(int(VALIDATED * explored), FLOOR * len(settings.run_in))


def _confirming(settings: Settings, config: SearchConfig, replay: float) -> int:
    """Runs that a search of limited runs or time keeps for one recommendation.

    Where time counts, replays are dear: it keeps those of several candidates that fail in them, too.
    """
    limited = config.runs is not None or config.time is not None
    if not limited or settings.baseline is None or config.validation_replications == 0:
        return 0
    if config.runs is not None and config.runs < 4 * _least(settings, replay):
        return 0  # a quarter confirms nothing
    replays = 6 if config.time is None else 20
    return (LEAST_RUNS + settings.replications + ceil(replays * replay)) * len(settings.run_in)


def _least(settings: Settings, replay: float) -> int:
    """Runs without which no recommendation can be confirmed: see `recommend.plan`."""
    return (LEAST + settings.replications + ceil(3 * replay)) * len(settings.run_in)


def _earlier(study: OpenStudy, config: SearchConfig) -> int:
    """How many of the known runs are of a search that was asked for otherwise.

    Where the same is asked for, a resumed search needs them again one by one, unless time ends it.
    """
    asked = [config.ends, config.validation_replications]
    before, count = study.attributes.get(stored.ASKED, (asked, 0))
    if before != asked or config.seconds is not None:
        count = len(study.rows)
    study.set_attribute(stored.ASKED, [asked, count])
    return int(count)


def _going_on(running: Evaluator, config: SearchConfig) -> str:
    """Where the results of an interrupted search are, and how to go on."""
    where = config.storage or config.out
    if where is None:
        return "note: nothing is saved of a search without --out or --storage"
    kept = f"note: {len(running.known)} configurations of {config.ends} are saved in {shown(where)}"
    return f"{kept}; the same command with --resume continues"
