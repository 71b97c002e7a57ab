"""What a search leaves behind: every evaluated configuration, its objectives and how sure they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gridtune.optimize.records.difference import Objective
from gridtune.optimize.records.recommendation import Recommendation, Refusal, Value
from gridtune.scenarios.execution.replicate import Summary as Estimate
from gridtune.scenarios.fields.requirements import Relation

EXCESS_LOSS = "excess_loss"  # what is lost beyond the baseline's, see `optimize.replication.guards`
EXCESS_WAIT = "excess_wait"  # waits beyond the baseline's, see `optimize.replication.guards`
GUARDS = (EXCESS_LOSS, EXCESS_WAIT)  # metrics that compare with the baseline, in all and by class
LEAST = 1e-12  # excess of a value that equals a bound which it must not reach


def of_class(metric: str) -> str:
    """The class of jobs whose excess over the baseline a metric is; empty if it is anything else."""
    guard, _, name = metric.partition(".")
    return name if guard in GUARDS else ""


@dataclass(frozen=True)
class Constraint:
    """What a configuration must keep to be on the front."""

    metric: str
    relation: Relation  # between its mean and the bound
    bound: float  # in the unit of the metric
    unit: str = ""

    @property
    def upper(self) -> bool:
        """True if the metric must stay below the bound."""
        return self.relation in ("<=", "<")

    def parts(self, metrics: Collection[str]) -> list[str]:
        """Of these metrics those that must keep it: its own, and that of each class where it is a guard's.

        Of waits only the classes count, if there are any: in each run another one is the worst by chance.
        """
        own = [self.metric] if self.metric in metrics else []
        by_class = self.metric in GUARDS
        classes = [name for name in metrics if by_class and name.startswith(f"{self.metric}.")]
        return classes if classes and self.metric == EXCESS_WAIT else own + classes

    def excess(self, value: float) -> float:
        """By how much a value breaks it, as a share of the bound's size (in units if that is 0).

        At most 0 exactly where the constraint holds; then its size is what is left to the bound.
        """
        over = (value - self.bound if self.upper else self.bound - value) / (abs(self.bound) or 1.0)
        return LEAST if over == 0 and self.relation in ("<", ">") else over

    def __str__(self) -> str:
        return f"{self.metric}{self.relation}{self.bound:.12g}"


@dataclass(frozen=True)
class Evaluation:
    """One evaluated configuration."""

    number: int  # of its trial in the study
    values: dict[str, Value]  # what was set, by path; active parameters only
    objectives: dict[str, Estimate]  # by name, on the seeds of the search
    metrics: dict[str, float]  # means of all other metrics by name
    validated: dict[str, Estimate] | None = None  # on validation seeds, which the search never used
    # By name of the case, then by metric: the objectives and what is constrained. Empty where there is one
    # case and no constraint.
    cases: dict[str, dict[str, Estimate]] = field(default_factory=dict)
    validated_cases: dict[str, dict[str, Estimate]] | None = None  # the same on validation seeds
    confirmed: dict[str, Estimate] | None = None  # on the seeds on which recommendations are confirmed

    @property
    def replications(self) -> int:
        """Its number of runs on the seeds of the search."""
        return replications(self.objectives)

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The objectives on validation seeds, else on those of the search."""
        return self.validated or self.objectives

    @property
    def checked_cases(self) -> Mapping[str, Mapping[str, Estimate]]:
        """Estimates by case, then by metric, on the same seeds as `estimates`; see `cases`."""
        return self.cases if self.validated is None else self.validated_cases or {}

    @property
    def validation_replications(self) -> int:
        """Its number of validation runs."""
        return replications(self.validated or {})

    def __repr__(self) -> str:
        means = ", ".join(f"{name} {estimate.mean:.6g}" for name, estimate in self.objectives.items())
        return f"Evaluation({self.number}, {len(self.values)} values: {means})"


def replications(estimates: Mapping[str, Estimate]) -> int:
    """How many replications stand behind the estimates of a configuration."""
    return min((len(estimate.values) for estimate in estimates.values()), default=0)


def side_by_side(evaluations: Sequence[Evaluation]) -> list[dict[str, Estimate]]:
    """Their objectives under common random numbers: validation seeds if all have them, else the search's."""
    validated = all(one.validated for one in evaluations)
    return [one.estimates if validated else one.objectives for one in evaluations]


@dataclass(frozen=True)
class Failed:
    """This configuration could not be evaluated."""

    number: int  # of its trial
    values: dict[str, Value]  # what was set, by path
    reason: str  # in one line

    def __repr__(self) -> str:
        return f"Failed({self.number}, {len(self.values)} values: {self.reason})"


@dataclass(frozen=True)
class Archive:
    """The archive of a search holds all configurations, their runs and its recommendations."""

    study: str  # its name
    scenario: str  # name of the scenario that was searched
    objectives: tuple[Objective, ...]
    evaluations: tuple[Evaluation, ...]  # successful ones, in the order of their numbers
    failed: tuple[Failed, ...] = ()
    seed: int = 1  # of workloads and sampler
    replications: int = 1  # of each configuration in the search
    cases: tuple[str, ...] = ()  # names of those that all were evaluated in; empty if there was one
    robust: str = "mean"  # how an objective sums up the cases: `mean`, `worst` or `quantile:SHARE`
    constraints: tuple[Constraint, ...] = ()  # what a configuration must keep, in every case
    baseline: int | None = None  # number of the baseline's evaluation
    logarithmic: frozenset[str] = frozenset()  # paths of what is varied, where equal ratios count the same
    present: Mapping[str, Value] = field(default_factory=dict)  # in the scenario, by path of what is varied
    recommendations: tuple[Recommendation, ...] = ()  # empty if the search has not come so far, too
    refusals: Mapping[int, Refusal] = field(default_factory=dict)  # by number of the configuration
    simulated: int = 0  # runs of the search, validation and confirmation included
    remarks: tuple[str, ...] = ()  # why harm may have been missed, a line each

    def __repr__(self) -> str:
        names = ", ".join(one.name for one in self.objectives)
        return f"Archive({self.study!r}, {len(self.evaluations)} evaluations for {names})"

    @property
    def standing(self) -> Evaluation | None:
        """The evaluation of the baseline; None if there is none."""
        return next((one for one in self.evaluations if one.number == self.baseline), None)

    @property
    def broken(self) -> set[int]:
        """Numbers of the configurations that broke a constraint when they were to be recommended."""
        bounded = {one.metric for one in self.constraints}
        return {at for at, one in self.refusals.items() if not one.lost and bounded.intersection(one.metrics)}

    @property
    def heading(self) -> str:
        """The scenario, and the study where its name says more."""
        said = self.study in (self.scenario, Path(self.scenario).stem)
        return self.scenario if said else f"{self.scenario}, study {self.study}"

    @property
    def runs(self) -> int:
        """Runs on the seeds of the search behind all evaluations."""
        return sum(evaluation.replications for evaluation in self.evaluations)
