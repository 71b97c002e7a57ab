"""What a search leaves behind: every evaluated point, its objectives and how sure they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Value = bool | int | float | str


@dataclass(frozen=True)
class Objective:
    """What is traded off.

    Attributes:
        name: of the metric.
        direction: which way is better.
        unit: of the metric.
    """

    name: str
    direction: Literal["minimize", "maximize"]
    unit: str = ""


@dataclass(frozen=True)
class Estimate:
    """A metric over the replications of a point.

    Attributes:
        mean: over the replications.
        standard_error: of the mean; None for a single replication.
        values: one per replication, in the order of the replications.
    """

    mean: float
    standard_error: float | None
    values: tuple[float, ...]


@dataclass(frozen=True)
class Evaluation:
    """One evaluated point.

    Attributes:
        number: of its trial in the study.
        values: what was set, by path; active parameters only.
        objectives: estimates by name, on the seeds of the search.
        metrics: means of all other metrics by name.
        validated: the objectives on fresh seeds that the search never used; front members only.
    """

    number: int
    values: dict[str, Value]
    objectives: dict[str, Estimate]
    metrics: dict[str, float]
    validated: dict[str, Estimate] | None = None

    @property
    def replications(self) -> int:
        """How many runs on the seeds of the search stand behind the objectives."""
        return _count(self.objectives)

    @property
    def fresh_replications(self) -> int:
        """How many runs on fresh seeds it was validated by."""
        return _count(self.validated or {})


@dataclass(frozen=True)
class Archive:
    """All of a search.

    Attributes:
        study: its name.
        scenario: name of the scenario that was searched.
        objectives: what was traded off.
        evaluations: successful ones, in the order of their numbers.
        failures: points that could not be evaluated.
        sampler: name of the sampler.
        seed: of workloads and sampler.
        replications: per evaluation, at least.
        budget: evaluations that were asked for.
        max_replications: per evaluation, at most; None if all have `replications`.
    """

    study: str
    scenario: str
    objectives: tuple[Objective, ...]
    evaluations: tuple[Evaluation, ...]
    failures: int = 0
    sampler: str = ""
    seed: int = 1
    replications: int = 1
    budget: int = 0
    max_replications: int | None = None

    @property
    def each(self) -> str:
        """Replications of an evaluation, in words."""
        most = self.max_replications or self.replications
        span = str(most) if most == self.replications else f"{self.replications} to {most}"
        return f"{span} replication{'s' if most > 1 else ''} each"

    @property
    def runs(self) -> int:
        """Runs on the seeds of the search behind all evaluations."""
        return sum(evaluation.replications for evaluation in self.evaluations)

    @property
    def fixed_runs(self) -> int:
        """Runs that as many evaluations take if each has the most replications."""
        return len(self.evaluations) * (self.max_replications or self.replications)


def _count(estimates: dict[str, Estimate]) -> int:
    return min((len(estimate.values) for estimate in estimates.values()), default=0)
