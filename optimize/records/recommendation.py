"""A configuration that is recommended: what to change in the baseline, what that gains, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from gridtune.optimize.records.difference import ROUNDING, Change

LEAST_HARM = 0.1  # of the baseline's mean: what gets worse by less is not reported
Value = bool | int | float | str  # what a parameter may be set to


def key(configuration: Mapping[str, Value]) -> str:
    """What two configurations have in common exactly if they are the same configuration."""
    return json.dumps(sorted(configuration.items()))


@dataclass(frozen=True)
class ParameterChange:
    """One change to the baseline."""

    path: str  # dotted path of the parameter
    before: Value | None  # its value in the baseline; None where the parameter does not exist there
    after: Value
    # Difference of each objective to the baseline if only this is changed (with what depends on it), by name,
    # 0 where it is not significant; empty where nobody ran that.
    alone: dict[str, float] = field(default_factory=dict)
    share: float | None = None  # of the gain that this change alone gains, from 0 to 1; None if unknown


@dataclass(frozen=True)
class Harm:
    """A metric that gets worse by more than a tenth: significantly, in a replay of logs, or in some runs."""

    metric: str  # its name, with the class of jobs behind a dot where it is about one
    unit: str
    baseline: float  # mean of the baseline
    mean: float  # that of the recommendation, over the same replications
    replay: bool = False  # whether it is of one run of each on the logs as they are
    load: float = 1.0  # times the logs' load, of such a run
    case: str = ""  # the one of several scenarios or seeds that it is found in; empty for the mean over all
    # Share of the replications in which it gets worse, where it does not significantly in the mean of all;
    # then `baseline` and `mean` are those of these replications. None of other harm.
    part: float | None = None


def much(baseline: float, gap: float) -> bool:
    """Whether a metric differs by more than a tenth of the baseline's value."""
    return abs(gap) > max(LEAST_HARM * abs(baseline), ROUNDING)


@dataclass(frozen=True)
class Refusal:
    """Why a configuration was not recommended."""

    # Those whose constraints it broke, or whose gain it lost; none if it was not significantly better.
    metrics: tuple[str, ...] = ()
    harm: Harm | None = None  # the wait that was too long, or the lost gain; None where that is not known

    @property
    def lost(self) -> bool:
        """Whether it was for an objective, lost or much worse, not for a constraint."""
        return self.harm is not None and self.metrics[:1] == (self.harm.metric,)


@dataclass(frozen=True)
class Recommendation:
    """A recommended configuration."""

    letter: str  # `A`, `B`, `C`, …; by which commands and pictures name it
    title: str  # why it is here, such as `lower slowdown`
    origin: int  # number of the configuration on the Pareto front that it was made from
    number: int  # of it in the study; that of `origin` where nothing could be left out
    values: dict[str, Value]  # by path
    changes: tuple[ParameterChange, ...]  # to the baseline, the most effective first
    without_effect: tuple[str, ...]  # paths of changes of the origin without measurable effect, left out
    objectives: dict[str, Change]  # from the baseline, by name, paired over the seeds of the confirmation
    replications: int  # of each of both, on seeds that neither search nor elimination has used
    harms: tuple[Harm, ...] = ()  # beside the objectives; in a replay of whole logs these, too
