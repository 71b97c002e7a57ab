"""What a study keeps beside its trials: further replications, replications on fresh seeds, single runs.

Finished trials do not change. So what a point was given later stands in user attributes of the study: in
`further:000000`, `further:000001` and so on the parts of several points that were written together, and in
`runs` the runs of points that an interruption left incomplete. Each part has a checksum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING, Any

from gridtune.model.metrics.registry import Metric
from gridtune.optimize.records.evaluations import Estimate, Evaluation, Failed
from gridtune.optimize.replication.compare import estimate_of
from gridtune.optimize.replication.run_cache import Run
from gridtune.optimize.study.serialization import entry_as_json, entry_of
from gridtune.optimize.study.stored import Runs, intact, signed
from gridtune.scenarios.execution.replicate import Metrics

if TYPE_CHECKING:
    from optuna import Study

FURTHER = "further:"
RUNS = "runs"


@dataclass(frozen=True)
class ExtraRuns:
    """Further replications of a point.

    Attributes:
        part: what they gave, under the number of the point's trial.
        fresh: whether they are on fresh seeds.
        first: how many of that kind the point had before; None if that is not known.
    """

    part: Evaluation | Failed
    fresh: bool = False
    first: int | None = None

    @property
    def number(self) -> int:
        """Of the trial."""
        return self.part.number


def joined(entry: Evaluation, further: ExtraRuns) -> Evaluation | Failed:
    """A point with further replications; failed if they did, except on fresh seeds."""
    part = further.part
    if further.fresh:
        if isinstance(part, Failed):
            return entry
        cases = _concatenated_cases(entry.validated_cases or {}, part.cases)
        return replace(
            entry,
            validated=_concatenated(entry.validated or {}, part.objectives),
            validated_cases=cases or None,
        )
    if isinstance(part, Failed):
        return Failed(entry.number, entry.values, part.reason, entry.objectives, entry.cases, entry.host)
    had, more = entry.replications, part.replications
    metrics = {
        name: (entry.metrics.get(name, nan) * had + part.metrics.get(name, nan) * more) / (had + more)
        for name in {**entry.metrics, **part.metrics}
    }
    return replace(
        entry,
        objectives=_concatenated(entry.objectives, part.objectives),
        metrics=metrics,
        cases=_concatenated_cases(entry.cases, part.cases),
    )


def keep_further(study: Study, further: Sequence[ExtraRuns], at: int, identity: str) -> None:
    """Write further replications as the attribute with that number, with checksums of the study."""
    parts = [_as_json(one) for one in further]
    study.set_user_attr(f"{FURTHER}{at:06}", [signed(identity, "part", part) for part in parts])


def number_of(attribute: str) -> int:
    """The number of an attribute with further replications; -1 if it has none."""
    number = attribute.removeprefix(FURTHER)
    return int(number) if number.isdecimal() else -1


def kept_further(study: Study) -> int:
    """How many such attributes there are."""
    return sum(name.startswith(FURTHER) for name in study.user_attrs)


def keep_runs(study: Study, runs: Mapping[Run, Metrics], identity: str) -> None:
    """Write the single runs that there are, in the place of those before."""
    stored = [
        [*run, {name: [metric.value, metric.unit] for name, metric in metrics.items()}]
        for run, metrics in runs.items()
    ]
    if stored or study.user_attrs.get(RUNS):
        study.set_user_attr(RUNS, signed(identity, RUNS, {RUNS: stored}))


def kept_runs(study: Study, identity: str) -> dict[Run, Metrics]:
    """The single runs that a study holds; none if they are not whole, as they can be done again."""
    stored = study.user_attrs.get(RUNS, ())
    if isinstance(stored, dict):
        stored = stored.get(RUNS) if intact(identity, RUNS, stored) else ()
    elif identity:
        return {}
    try:
        Runs.validate_python(stored)
    except ValueError:
        return {}
    return {
        (point, replication, which): {name: Metric(*metric) for name, metric in metrics.items()}
        for point, replication, which, metrics in stored
    }


def _concatenated(first: Mapping[str, Estimate], then: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Of metrics that both have; all there are where there is nothing yet."""
    return {
        name: estimate_of([*(first[name].values if name in first else ()), *estimate.values])
        for name, estimate in then.items()
        if not first or name in first
    }


def _concatenated_cases(
    first: Mapping[str, Mapping[str, Estimate]], then: Mapping[str, Mapping[str, Estimate]]
) -> dict[str, dict[str, Estimate]]:
    return {case: _concatenated(first.get(case, {}), estimates) for case, estimates in then.items()}


def _as_json(further: ExtraRuns) -> dict[str, Any]:
    part = further.part
    stored: dict[str, Any] = {"number": part.number, "fresh": further.fresh, "first": further.first}
    stored |= entry_as_json(part)
    return stored | {"metrics": {}} if further.fresh and isinstance(part, Evaluation) else stored


def part_of(entry: Evaluation, stored: Mapping[str, Any]) -> ExtraRuns:
    """What `keep_further` has stored for a point."""
    return ExtraRuns(entry_of(entry.number, entry.values, stored), stored["fresh"])
