"""Where a configuration lies in a front: what dominates it, and what moving to its neighbours changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gridtune.optimize.explanation.known import denials, known_changes, modelled
from gridtune.optimize.explanation.validation_runs import ValidationRuns
from gridtune.optimize.front.changes import Change, Runs, changes
from gridtune.optimize.front.front import Front, Member
from gridtune.optimize.records.evaluations import Evaluation, Objective, Value
from gridtune.optimize.replication.compare import costs

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

DOMINATORS = 3  # shown at most, of the configurations that dominate one


@dataclass(frozen=True)
class Neighbour:
    """A configuration of the front, seen from another configuration.

    Attributes:
        number: of its trial.
        better_in: objectives in which it is the nearest that is better; empty if it dominates the
            other configuration.
        worse_in: objectives in which it is the nearest that is worse; likewise.
        changes: from the other configuration to it, in each objective.
        differs: path, value at the other configuration and value here; None where inactive.
    """

    number: int
    better_in: tuple[str, ...]
    worse_in: tuple[str, ...]
    changes: tuple[Change, ...]
    differs: tuple[tuple[str, Value | None, Value | None], ...]

    def __repr__(self) -> str:
        return f"Neighbour({self.number}, better in {self.better_in}, worse in {self.worse_in})"

    def as_json(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "number": self.number,
            "better_in": list(self.better_in),
            "worse_in": list(self.worse_in),
            "changes": [one.as_json() for one in self.changes],
            "differs": [{"path": path, "here": here, "there": there} for path, here, there in self.differs],
        }


@dataclass(frozen=True)
class Neighbourhood:
    """Where a configuration lies.

    Attributes:
        dominators: configurations on the front that dominate it, the nearest first, at most `DOMINATORS`.
        dominated_by: numbers of all configurations on the front that dominate it, the nearest first.
        dominated_in_search: numbers of those that did in the search.
        neighbours: if none dominates it, in each objective the nearest better and the nearest worse
            configuration.
        notes: configurations that could not be run again, and where validation runs deny the model, a line
            each.
    """

    dominators: tuple[Neighbour, ...]
    dominated_by: tuple[int, ...]
    dominated_in_search: tuple[int, ...]
    neighbours: tuple[Neighbour, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Neighbourhood({len(self.neighbours)} neighbours, dominated by {len(self.dominated_by)})"


def neighbourhood(
    found: Front, evaluation: Evaluation, here: Runs, validation: ValidationRuns
) -> Neighbourhood:
    """Where a configuration lies in the front.

    Distances are Euclidean, each objective in shares of its range over the front. Configurations are at their
    posterior means if the Gaussian process has all of them, else at their means on validation seeds.
    Those of the front that the search has not validated are run on validation seeds now.

    Args:
        found: the front.
        evaluation: the configuration.
        here: the configuration on validation seeds.
        validation: runs configurations.
    """
    import numpy as np

    others = [m for m in found.on_front if evaluation.number not in (m.evaluation.number, *m.equivalents)]
    if not others:
        return Neighbourhood((), (), (), (), ())
    places, place = _places(found, others, evaluation, here)
    ranges = np.ptp(np.vstack([places, place]), axis=0)
    gaps = (places - place) / np.where(ranges > 0, ranges, 1.0)
    near = np.argsort(np.sqrt((gaps**2).sum(axis=1)), kind="stable").tolist()
    dominating = [k for k in near if _dominates(gaps[k])]
    before = costs([*(m.evaluation.objectives for m in others), evaluation.objectives], found.objectives)
    better: dict[int, list[str]] = {}
    worse: dict[int, list[str]] = {}
    for column, objective in enumerate(found.objectives):
        for side, sign in ((better, -1), (worse, 1)):
            first = next((k for k in near if sign * gaps[k, column] > 0), None)
            if first is not None:
                side.setdefault(first, []).append(objective.name)
    shown = dominating[:DOMINATORS] or [k for k in near if k in better or k in worse]
    runs = _runs([others[k] for k in shown], found.objectives, validation)
    configurations, notes = [], []
    for k, there in zip(shown, runs, strict=True):
        other = others[k].evaluation
        if isinstance(there, str):
            notes.append(f"configuration {other.number} fails on validation seeds: {there}")
            continue
        known, seen = known_changes(found, evaluation, other), changes(found.objectives, here, there)
        notes += denials(known, seen, f"on the way to configuration {other.number}")
        configurations.append(
            Neighbour(
                other.number,
                () if dominating else tuple(better.get(k, ())),
                () if dominating else tuple(worse.get(k, ())),
                known or seen,
                _differs(evaluation, other),
            )
        )
    return Neighbourhood(
        tuple(configurations) if dominating else (),
        tuple(others[k].evaluation.number for k in dominating),
        tuple(others[k].evaluation.number for k in near if _dominates(before[k] - before[-1])),
        () if dominating else tuple(configurations),
        tuple(notes),
    )


def _dominates(gaps: Array) -> bool:
    """Whether a configuration is nowhere worse and somewhere better, by its differences to another."""
    return bool((gaps <= 0).all() and (gaps < 0).any())


def _places(
    found: Front, others: Sequence[Member], evaluation: Evaluation, here: Runs
) -> tuple[Array, Array]:
    """The other configurations and this one, to be minimised: posterior means if all have one.

    Else on validation seeds if the front is validated.
    """
    import numpy as np

    from gridtune.scenarios.execution.replicate import Summary

    if modelled(found, evaluation, *(member.evaluation for member in others)):
        return found.costs(others), found.means[evaluation.number]
    if not found.validated:
        rows = costs([*(m.evaluation.objectives for m in others), evaluation.objectives], found.objectives)
        return rows[:-1], rows[-1]
    count = min(len(e.values) for m in others for e in m.estimates.values())
    count = min(count, *(len(here[o.name]) for o in found.objectives))

    def means(values: Runs) -> dict[str, Any]:
        return {o.name: Summary.of(values[o.name][:count]) for o in found.objectives}

    known = [means({name: e.values for name, e in m.estimates.items()}) for m in others]
    rows = costs([*known, means(here)], found.objectives)
    return np.asarray(rows[:-1]), np.asarray(rows[-1])


def _runs(
    members: Sequence[Member], objectives: Sequence[Objective], validation: ValidationRuns
) -> list[Runs | str]:
    """Members on validation seeds: as the search has kept them, or run now."""
    missing = [m for m in members if m.evaluation.validated is None]
    made = iter(validation.run([m.evaluation.values for m in missing]))
    found: list[Runs | str] = []
    for member in members:
        known = member.evaluation.validated
        if known is not None:
            found.append({o.name: known[o.name].values for o in objectives})
        else:
            new = next(made)
            found.append(new if isinstance(new, str) else new.values)
    return found


def _differs(here: Evaluation, there: Evaluation) -> tuple[tuple[str, Value | None, Value | None], ...]:
    paths = dict.fromkeys([*here.values, *there.values])
    return tuple(
        (path, here.values.get(path), there.values.get(path))
        for path in paths
        if here.values.get(path) != there.values.get(path)
    )
