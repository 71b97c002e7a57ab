"""What a study keeps beside its trials: further replications, replications on fresh seeds, single runs.

Finished trials do not change. So what a point was given later stands in user attributes of the study: in
`further:000000`, `further:000001` and so on the parts of several points that were written together, and in
`runs` the runs of points that an interruption left incomplete.
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
    """

    part: Evaluation | Failed
    fresh: bool = False

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
        return Failed(entry.number, entry.values, part.reason, entry.objectives, entry.cases)
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


def keep_further(study: Study, further: Sequence[ExtraRuns], at: int) -> None:
    """Write further replications as the attribute with that number."""
    study.set_user_attr(f"{FURTHER}{at:06}", [_as_json(one) for one in further])


def kept_further(study: Study) -> int:
    """How many such attributes there are."""
    return sum(name.startswith(FURTHER) for name in study.user_attrs)


def with_further(entries: Sequence[Evaluation | Failed], study: Study) -> list[Evaluation | Failed]:
    """Points with the further replications that a study holds."""
    found = {entry.number: entry for entry in entries}
    attributes = study.user_attrs
    for name in sorted(name for name in attributes if name.startswith(FURTHER)):
        for stored in attributes[name]:
            entry = found.get(stored["number"])
            if isinstance(entry, Evaluation):
                found[entry.number] = joined(entry, _further(entry, stored))
    return list(found.values())


def keep_runs(study: Study, runs: Mapping[Run, Metrics]) -> None:
    """Write the single runs that there are, in the place of those before."""
    stored = [
        [*run, {name: [metric.value, metric.unit] for name, metric in metrics.items()}]
        for run, metrics in runs.items()
    ]
    if stored or study.user_attrs.get(RUNS):
        study.set_user_attr(RUNS, stored)


def kept_runs(study: Study) -> dict[Run, Metrics]:
    """The single runs that a study holds."""
    return {
        (point, replication, which): {name: Metric(*metric) for name, metric in metrics.items()}
        for point, replication, which, metrics in study.user_attrs.get(RUNS, ())
    }


def _concatenated(first: Mapping[str, Estimate], then: Mapping[str, Estimate]) -> dict[str, Estimate]:
    return {
        name: estimate_of([*(first[name].values if name in first else ()), *estimate.values])
        for name, estimate in then.items()
    }


def _concatenated_cases(
    first: Mapping[str, Mapping[str, Estimate]], then: Mapping[str, Mapping[str, Estimate]]
) -> dict[str, dict[str, Estimate]]:
    return {case: _concatenated(first.get(case, {}), estimates) for case, estimates in then.items()}


def _as_json(further: ExtraRuns) -> dict[str, Any]:
    part = further.part
    stored = {"number": part.number, "fresh": further.fresh} | entry_as_json(part)
    return stored | {"metrics": {}} if further.fresh and isinstance(part, Evaluation) else stored


def _further(entry: Evaluation, stored: Mapping[str, Any]) -> ExtraRuns:
    return ExtraRuns(entry_of(entry.number, entry.values, stored), stored["fresh"])
