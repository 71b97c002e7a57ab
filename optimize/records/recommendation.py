"""A recommended configuration: what to change in the baseline, what that gains, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass, field

from gridtune.optimize.records.difference import ROUNDING, Change
from gridtune.optimize.records.values import Value

LEAST_HARM = 0.1  # of the baseline's mean: what gets worse by less is not reported


@dataclass(frozen=True)
class ParameterChange:
    """One change to the baseline.

    Attributes:
        path: dotted path of the parameter.
        before: its value in the baseline; None where the parameter does not exist there.
        after: its recommended value.
        alone: difference of each objective to the baseline if only this is changed (with what depends on it),
            by name, 0 where it is not significant; empty where nobody ran that.
        share: of what the recommendation gains that this change alone gains, from 0 to 1; None if unknown.
    """

    path: str
    before: Value | None
    after: Value
    alone: dict[str, float] = field(default_factory=dict)
    share: float | None = None


@dataclass(frozen=True)
class Harm:
    """A metric that gets worse by more than a tenth: significantly, in a replay of logs, or in some runs.

    Of the last two, nothing says how certain the difference is.

    Attributes:
        metric: its name, with the class of jobs behind a dot where it is about one.
        unit: of the metric.
        baseline, mean: mean of the baseline and of the recommendation, over the same replications.
        low, high: 95 % interval of their difference; the difference itself where nothing says how certain.
        replay: whether it is of one run of each on the logs as they are.
        load: times the logs' load, of such a run.
        case: the one of several scenarios or seeds that it is found in; empty for the mean over all.
        part: share of the replications in which it gets worse, where it does not significantly in the mean of
            all; then `baseline` and `mean` are those of these replications. None of other harm.
    """

    metric: str
    unit: str
    baseline: float
    mean: float
    low: float
    high: float
    replay: bool = False
    load: float = 1.0
    case: str = ""
    part: float | None = None


def much(baseline: float, gap: float) -> bool:
    """Whether a metric differs by more than a tenth of the baseline's value."""
    return abs(gap) > max(LEAST_HARM * abs(baseline), ROUNDING)


@dataclass(frozen=True)
class Refusal:
    """Why a configuration was not recommended.

    Attributes:
        metrics: whose constraints it broke, or whose gain it lost; none if it was not significantly better.
        harm: the wait that was too long, or the lost gain; None where that is not known.
    """

    metrics: tuple[str, ...] = ()
    harm: Harm | None = None

    @property
    def lost(self) -> bool:
        """Whether it was for an objective, lost or much worse, not for a constraint."""
        return self.harm is not None and self.metrics[:1] == (self.harm.metric,)


@dataclass(frozen=True)
class Recommendation:
    """A recommended configuration.

    Attributes:
        letter: `A`, `B`, `C`, …; by which commands and pictures name it.
        title: why it is here, such as `lower slowdown`.
        origin: number of the configuration on the Pareto front that it was made from.
        number: number of the recommended configuration in the study; that of `origin` where nothing could be
            left out.
        values: the recommended configuration, by path.
        changes: to the baseline, the most effective first.
        without_effect: paths of changes of the origin that have no measurable effect and are left out.
        objectives: what happens to each objective from the baseline on, by name, paired over the seeds of the
            confirmation.
        harms: what gets worse beside the objectives; in a replay of whole logs the objectives, too.
        replications: runs of each of both on seeds that neither search nor elimination has used; 0 if there
            are none, then `objectives` holds what the validation seeds or the search say.
    """

    letter: str
    title: str
    origin: int
    number: int
    values: dict[str, Value]
    changes: tuple[ParameterChange, ...]
    without_effect: tuple[str, ...]
    objectives: dict[str, Change]
    harms: tuple[Harm, ...] = ()
    replications: int = 0
