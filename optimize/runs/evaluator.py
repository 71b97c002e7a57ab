"""Who has configurations run, keeps what they gave, and counts what it costs."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b

from gridtune.model.metrics.harm import waited, waits_of_users
from gridtune.model.metrics.registry import Metric
from gridtune.optimize.records.evaluations import Archive, Evaluation, Failed
from gridtune.optimize.replication.guards import OF_USER
from gridtune.optimize.report.progress import Best, Progress
from gridtune.optimize.runs.stored import archive_of
from gridtune.optimize.runs.table import FIRST_VALIDATION, Entry, Place, RunTable
from gridtune.optimize.search_space.constraints import feasible
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Configuration, key
from gridtune.optimize.studies.study import OpenStudy
from gridtune.scenarios.execution.replicate import Metrics, Task, run_groups
from gridtune.scenarios.simulation.simulate import simulate
from gridtune.scenarios.workers.pool import Failure, Outcome, Pool

Configurations = Sequence[Configuration]
Numbers = Sequence[Sequence[int]]  # replications of each of several configurations
Outcomes = Iterator[Outcome[list[Metrics]]]
Stop = Callable[[], bool]  # see `Pool.run`
Work = Callable[[Task], Metrics]  # gives the metrics of a run


def with_users(task: Task) -> Metrics:
    """What workers of a search do by default: simulate, and with batch sites also measure each user's wait.

    Waits are whole seconds. The folder of a search does not name users: digests stand for their names.
    """
    run = simulate(task.resolved(), task.seed, task.replication, patience=task.patience)
    owed = [job for job in run.record.jobs if job.mandatory] if run.record.sites else []
    waits = waits_of_users(owed, [waited(job, run.end) for job in owed])
    users = {user: blake2b(user.encode(), digest_size=5).hexdigest() for user in waits}
    return run.metrics | {
        f"{OF_USER}{users[user]}": Metric(float(round(wait)), "s") for user, wait in waits.items()
    }


class Evaluator:
    """Runs configurations for all parts of a search; what the table of runs knows is not run again."""

    def __init__(
        self, settings: Settings, study: OpenStudy, pool: Pool, progress: Progress, work: Work
    ) -> None:
        self.settings, self.table, self.progress = settings, RunTable(settings, study.rows), progress
        self.known: dict[str, Entry] = {}  # what became of each configuration, by its key
        self.notes: list[str] = []  # what a user should know, a line each
        self.simulated = 0  # runs that were done, rather than looked up
        self._study, self._pool, self._work = study, pool, work
        self._used: set[Place] = set()
        self._failed: set[str] = set()  # keys of configurations that failed on a validation seed
        self._earlier: set[Place] = set()
        self._numbers = {key(trial.params): number for number, trial in study.trials.items()}
        self._best = Best(settings.objectives)

    def note(self, text: str) -> None:
        """Tell the user something."""
        self.notes.append(text)
        self.progress.note(text)

    @property
    def spent(self) -> int:
        """Runs of this search so far, looked up or done, and those that count from its start."""
        return len(self._used | self._earlier)

    def count(self, places: Iterable[Place]) -> None:
        """Let runs count as spent from the start, whether this search comes to need them or not."""
        self._earlier.update(places)

    @property
    def repeating(self) -> bool:
        """Whether runs that count from the start are still to be looked up, and cost nothing."""
        return not self._earlier <= self._used

    @property
    def archive(self) -> Archive:
        """All there is, as plain data."""
        entries = sorted(self.known.values(), key=lambda entry: entry.number)
        return archive_of(self._study.name, self.table, entries)

    def cost(self, configurations: Configurations, replications: Numbers) -> int:
        """Runs that configurations would take under these replications, those of the baseline included."""
        return len(self._needed(configurations, replications) - self._used - self._earlier)

    def evaluate(self, configurations: Configurations, stop: Stop = lambda: False) -> None:
        """Evaluate new configurations and keep them in their order, but for those that `stop` comes before.

        One that the study has keeps its number; others get consecutive ones behind these.
        """
        first, began, ended = len(self.known), datetime.now(), list[datetime]()
        finished: dict[int, tuple[Configuration, Failure | None, datetime, datetime]] = {}
        replications = range(self.settings.replications)
        for outcome in self._run(configurations, [replications] * len(configurations), stop):
            free = min(outcome.index - self._pool.jobs, len(ended) - 1)  # whose worker it took over
            start, end = began if free < 0 else ended[free], datetime.now()
            ended.append(end)
            finished[outcome.index] = configurations[outcome.index], outcome.failure, start, end
            while (at := len(self.known) - first) in finished:
                self._keep(*finished.pop(at))
        for at in sorted(finished):
            self._keep(*finished[at])
        for one in configurations:
            if key(one) not in self.known:
                self._used -= {at for at in self.table.places(one, replications) if at not in self.table}

    def number(self, configuration: Configuration) -> int:
        """The number of a configuration, which is evaluated if it was not."""
        if key(configuration) not in self.known:
            self.evaluate([configuration])
        return self.known[key(configuration)].number

    def extend(self, wanted: Mapping[str, int]) -> None:
        """Give configurations more validation runs: so many replications in all, by key."""
        lacking = [
            (one, count)
            for name, count in wanted.items()
            if isinstance(one := self.known[name], Evaluation)
            and one.validation_replications < count
            and name not in self._failed
        ]
        numbers = [self.validation(count) for _, count in lacking]
        for outcome in self._run([one.values for one, _ in lacking], numbers):
            one, _ = lacking[outcome.index]
            if outcome.failure is not None:
                self._failed.add(key(one.values))
                self.note(f"note: configuration {one.number} failed on a validation seed: {outcome.failure}")
            elif isinstance(entry := self.table.entry(one.number, one.values, self._used), Evaluation):
                self.known[key(one.values)] = entry

    def recall(self, had: Container[Place]) -> None:
        """Take in configurations and validation runs of a search that was asked for otherwise."""
        least = self.settings.replications
        new = [trial.params for trial in self._study.trials.values() if key(trial.params) not in self.known]
        self.evaluate([one for one in new if self.table.had(one, 0, had) >= least])
        counts = {name: self.table.had(one.values, FIRST_VALIDATION, had) for name, one in self.known.items()}
        self.extend({name: count for name, count in counts.items() if count})

    @staticmethod
    def validation(count: int) -> range:
        """The first so many validation replications."""
        return range(FIRST_VALIDATION, FIRST_VALIDATION + count)

    def run(self, configurations: Configurations, replications: Sequence[int]) -> dict[int, str]:
        """Run configurations without keeping evaluations of them; why some fail, by their positions."""
        outcomes = self._run(configurations, [replications] * len(configurations))
        return {one.index: str(one.failure) for one in outcomes if one.failure is not None}

    def _needed(self, configurations: Configurations, replications: Numbers) -> set[Place]:
        baseline = self.table.places({}, self._beside(replications))
        return set(baseline).union(*map(self.table.places, configurations, replications))

    def _beside(self, replications: Numbers) -> list[int]:
        """Replications of the baseline with which these are compared."""
        return sorted(set().union(*replications)) if self.table.guarded else []

    def _run(
        self, configurations: Configurations, replications: Numbers, stop: Stop = lambda: False
    ) -> Outcomes:
        """Run configurations, each under its replications in every case; the baseline first."""
        if not configurations:
            return
        self._used |= self._needed(configurations, replications)
        if beside := self._beside(replications):
            list(self._groups([{}], [beside], lambda: False))  # where it fails, nobody can lose more
        yield from self._groups(configurations, replications, stop)

    def _groups(self, configurations: Configurations, replications: Numbers, stop: Stop) -> Outcomes:
        places = list(map(self.table.places, configurations, replications))
        groups = [
            [self.table.task(one, configuration) for one in some]
            for configuration, some in zip(configurations, places, strict=True)
        ]
        # What they gave is in the table; to know that they are there is enough.
        known = [{at: Metrics() for at, one in enumerate(some) if one in self.table} for some in places]

        def heard(group: int, at: int, result: Metrics) -> None:
            self.simulated += 1
            self._study.append(self.table.add(places[group][at], groups[group][at].values, result))
            failures = sum(isinstance(one, Failed) for one in self.known.values())
            self.progress.update(len(self.table), failures, self._best.text())

        yield from run_groups(groups, self._pool, self._work, known=known, heard=heard, stop=stop)

    def _keep(self, one: Configuration, failure: Failure | None, began: datetime, ended: datetime) -> None:
        number = self._numbers.setdefault(key(one), max(self._numbers.values(), default=-1) + 1)
        # Of the runs that are known from before only those that this search came to need.
        entry = self.table.entry(number, one, self._used) if failure is None else None
        entry = entry or Failed(number, one, str(failure))
        self.known[key(entry.values)] = entry
        self._study.add_trial(entry, began, ended)
        if isinstance(entry, Evaluation):
            if key(entry.values) == self.table.baseline:
                self._best.baseline = entry
                cases = self.table.runs(one, range(entry.replications))
                if entry.replications > 1 and all(len({str(run) for run in runs}) == 1 for runs in cases):
                    self.note("note: all runs of the baseline are equal; `--replications 1` needs fewer runs")
            if feasible(entry, self.settings.constraints):
                self._best.add(entry)
