"""Why a configuration: what it sets, what that gains and costs, and which of its settings do it.

Configurations that the posterior has are compared by it, as on the front: with the baseline and with each
other. Everything else is on validation seeds, replication by replication under common random numbers: what
the model does not know, and the configuration after each of its settings is put back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gridtune import limits
from gridtune.optimize.explanation.ablation import Ablation, ablations, removals
from gridtune.optimize.explanation.known import denials, known_changes, modelled
from gridtune.optimize.explanation.neighbours import Neighbourhood, neighbourhood
from gridtune.optimize.explanation.validation_runs import ValidationRuns
from gridtune.optimize.front.against_baseline import baseline
from gridtune.optimize.front.changes import Change, changes, other_changes
from gridtune.optimize.front.front import Front, Member, comparable, front
from gridtune.optimize.records.evaluations import Constraint, Estimate, Evaluation, Value
from gridtune.optimize.records.recommendation import Recommendation
from gridtune.optimize.replication.compare import costs
from gridtune.optimize.replication.listener import Progress
from gridtune.optimize.runs.stored import StoredStudy
from gridtune.optimize.search_space.constraints import Bounded, tightest
from gridtune.scenarios.document.path_meaning import Meaning, meaning
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.replicate import Metrics, Task, metrics_of
from gridtune.scenarios.workers.pool import Pool

VALIDATED = 5  # validation runs per configuration where the front has none


@dataclass(frozen=True)
class Setting:
    """A parameter of a configuration.

    Attributes:
        path: of the parameter.
        value: that the configuration sets.
        before: what the baseline has; None if the configuration has made a place for it.
        meaning: of what the configuration sets.
    """

    path: str
    value: Value
    before: Value | None
    meaning: Meaning

    def __repr__(self) -> str:
        return f"Setting({self.path!r}, {self.value!r}, before {self.before!r})"

    def as_json(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "path": self.path,
            "value": self.value,
            "default": self.before,
            "unit": self.meaning.unit,
            "meaning": self.meaning.text,
        }


@dataclass(frozen=True)
class Bound:
    """Whether a constraint holds, on validation seeds, where the configuration comes closest to breaking it.

    Attributes:
        constraint: which.
        nearest: the case and the metric that come closest, and the value there.
    """

    constraint: Constraint
    nearest: Bounded

    @property
    def case(self) -> str:
        """Name of the case."""
        return self.nearest.case

    @property
    def value(self) -> Estimate:
        """Of the metric there, at the configuration."""
        return self.nearest.value

    def __repr__(self) -> str:
        return f"Bound({str(self.constraint)!r}, {self.case!r}: {self.value.mean:.6g})"

    @property
    def holds(self) -> bool:
        """Whether the mean keeps the bound."""
        return self.constraint.excess(self.value.mean) <= 0


@dataclass(frozen=True)
class Explanation:
    """Why a configuration.

    Attributes:
        front: of the search.
        evaluation: the configuration.
        member: the configuration, or the one that it equals, as a member of the front; None if there is none.
        advice: the recommendations that it is.
        bounds: constraints of the search, and whether the configuration keeps them.
        settings: what it sets.
        changes: from the baseline to the configuration, in each objective, by the posterior if `modelled`;
            empty if that fails.
        modelled: whether the posterior has the configuration and all of the front.
        other_changes: clear ones in other metrics, the largest first.
        neighbourhood: where it lies.
        ablations: what its settings do, that with the largest effect first; None if not asked for.
        replications: validation runs behind each configuration.
        runs: simulations that the explanation took.
        notes: what a user should know, a line each.
    """

    front: Front
    evaluation: Evaluation
    member: Member | None
    advice: tuple[Recommendation, ...]
    bounds: tuple[Bound, ...]
    settings: tuple[Setting, ...]
    changes: tuple[Change, ...]
    modelled: bool
    other_changes: tuple[Change, ...]
    neighbourhood: Neighbourhood
    ablations: tuple[Ablation, ...] | None
    replications: int
    runs: int
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Explanation(configuration {self.evaluation.number} of {self.front.archive.study!r})"

    @property
    def on_front(self) -> bool:
        """Whether no other configuration on the front dominates it."""
        return self.member is not None and self.member.non_dominated

    def to_dict(self) -> dict[str, Any]:
        """As data for JSON."""
        member, around = self.member, self.neighbourhood
        return {
            "study": self.front.archive.study,
            "scenario": self.front.archive.scenario,
            "number": self.evaluation.number,
            "recommended": [{"letter": one.letter, "name": one.title} for one in self.advice],
            "constraints": [
                {
                    "constraint": str(one.constraint),
                    "holds": one.holds,
                    "case": one.case,
                    "metric": one.nearest.metric,
                    "mean": one.value.mean,
                    "standard_error": one.value.standard_error,
                }
                for one in self.bounds
            ],
            "on_front": self.on_front,
            "probability_non_dominated": member.probability_non_dominated if member else None,
            "settings": [one.as_json() for one in self.settings],
            "against_default": [one.as_json() for one in self.changes],
            "other_metrics": [one.as_json() for one in self.other_changes],
            "dominated_by": list(around.dominated_by),
            "dominated_in_search": list(around.dominated_in_search),
            "dominators": [one.as_json() for one in around.dominators],
            "neighbours": [one.as_json() for one in around.neighbours],
            "ablations": None if self.ablations is None else [one.as_json() for one in self.ablations],
            "replications": self.replications,
            "runs": self.runs,
            "notes": list(self.notes),
        }


def explain(
    kept: StoredStudy,
    configuration: str,
    *,
    replications: int | None = None,
    ablate: bool = True,
    pool: Pool,
    progress: Progress | None = None,
    work: Callable[[Task], Metrics] = metrics_of,
) -> Explanation:
    """Explain a configuration of a search.

    Args:
        kept: what the search has left.
        configuration: its number, or the name of a recommendation.
        replications: validation runs per configuration; as many as the front has if left out.
        ablate: whether to put its settings back one by one.
        pool: who runs the simulations.
        progress: hears how it goes.
        work: gives the metrics of a run to be done.

    Raises:
        ScenarioError: there is no such configuration, or it fails on validation seeds.
    """
    found = front(kept.archive)
    evaluation, advice = find_configuration(found, configuration)
    settings, number = kept.settings, evaluation.number
    scenario = settings.scenario
    validation = ValidationRuns(settings, replications or _validation_count(found), pool, progress, work)
    removed = removals(scenario, settings.space, evaluation.values) if ablate else []
    asked = [evaluation.values, {}, *(one.left for one in removed if not one.refused)]
    here, base, *rest = validation.run(asked)
    if isinstance(here, str):
        study = found.archive.study
        raise ScenarioError(f"{study}: configuration {number} fails on validation seeds: {here}")
    around = neighbourhood(found, evaluation, here.values, validation)
    start = {} if isinstance(base, str) else base.values
    notes = [f"the baseline fails: {base}"] if isinstance(base, str) else []
    standing, seen = baseline(found), changes(found.objectives, start, here.values)
    known = known_changes(found, standing, evaluation) if standing and standing.number != number else ()
    notes += denials(known, seen, "against the baseline")
    changed = scenario.override(evaluation.values)
    return Explanation(
        found,
        evaluation,
        next((m for m in found.members if number in (m.evaluation.number, *m.equivalents)), None),
        advice,
        tuple(Bound(one, tightest(one, here.cases)) for one in settings.constraints),
        tuple(
            Setting(path, value, meaning(scenario, path).value, meaning(changed, path))
            for path, value in evaluation.values.items()
        ),
        known or seen,
        modelled(found, evaluation, *(member.evaluation for member in found.on_front)),
        other_changes(found.objectives, start, here.values, validation.units),
        around,
        ablations(found.objectives, here.values, removed, rest, _ranges(found)) if ablate else None,
        validation.replications,
        validation.count,
        (*notes, *around.notes),
    )


def find_configuration(found: Front, text: str) -> tuple[Evaluation, tuple[Recommendation, ...]]:
    """The evaluation that a number, `baseline`, or a recommendation's letter or title stands for.

    Returns:
        It, and the recommendations that it is.

    Raises:
        ScenarioError: there is none; names those that there are.
    """
    archive = found.archive
    evaluations = {one.number: one for one in archive.evaluations}
    names = {name: one.number for one in archive.recommendations for name in _names(one)}
    if archive.baseline is not None:
        names["baseline"] = archive.baseline
    spoken, number = _spoken(text), text.strip().strip("()")
    chosen = names.get(spoken)
    if chosen is None and number.isdecimal() and len(number) <= limits.DIGITS:
        chosen = int(number)
    if chosen is None or chosen not in evaluations:
        numbers = ", ".join(str(member.evaluation.number) for member in found.on_front) or "none"
        letters = [one.letter for one in archive.recommendations]
        also = ", ".join([*letters, *(["baseline"] if archive.baseline is not None else [])])
        raise ScenarioError(
            f"{archive.study}: no configuration {text[:60]}; the front has {numbers}"
            f"{f', also called {also}' if also else ''}"
        )
    return evaluations[chosen], tuple(one for one in archive.recommendations if one.number == chosen)


def _names(one: Recommendation) -> list[str]:
    return [one.letter.lower(), *(_spoken(part) for part in one.title.split(","))]


def _spoken(name: str) -> str:
    return name.strip().lower().replace("_", " ").replace("-", " ")


def _validation_count(found: Front) -> int:
    """As many replications as the front was validated by."""
    counts = [len(e.values) for member in found.members for e in (member.evaluation.validated or {}).values()]
    return max(VALIDATED, *(counts or [found.archive.replications]))


def _ranges(found: Front) -> dict[str, float]:
    """The range of each objective over the search; 1 where it is constant."""
    import numpy as np

    rows = costs([evaluation.objectives for evaluation in comparable(found.archive)], found.objectives)
    ranges = np.ptp(rows, axis=0).tolist() if len(rows) else [0.0] * len(found.objectives)
    return {o.name: width or 1.0 for o, width in zip(found.objectives, ranges, strict=True)}
