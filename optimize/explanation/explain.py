"""Why a configuration: what it sets, what that gains and costs, which settings do it, and what is near it.

Configurations of the front are compared as on the front, and so is one with the baseline where the posterior
knows both. All else, such as a configuration with a setting put back, is paired on validation seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from gridtune.optimize.front.changes import Change, between, changes, confirmed, modelled, other_changes
from gridtune.optimize.front.front import Front
from gridtune.optimize.records.evaluations import Evaluation, Value, side_by_side
from gridtune.optimize.replication.compare import Array, costs, ranges
from gridtune.optimize.report.frame import BASELINE, Row, rows
from gridtune.optimize.report.progress import Progress
from gridtune.optimize.runs.blocks import Block, Sample
from gridtune.optimize.runs.evaluator import Evaluator, with_users
from gridtune.optimize.search_space.constraints import Bounded, tightest
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Configuration, Space, key
from gridtune.plain_text import listed
from gridtune.scenarios.document.path_meaning import meaning
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.replicate import Metrics, Task
from gridtune.scenarios.workers.pool import Pool

DOMINATORS = 3  # shown at most, of the configurations that dominate one
NAMED = 5  # configurations of the front that an error names
VALIDATED = 5  # validation runs per configuration where the front has none


class Setting(NamedTuple):
    """A parameter of a configuration; `baseline` is what the baseline has, None if it has no place there."""

    path: str
    value: Value
    baseline: Value | None
    unit: str
    meaning: str


@dataclass(frozen=True)
class Ablation:
    """A configuration with one of its settings put back, and what that does."""

    path: str
    before: Value | None  # what the baseline has
    along: tuple[str, ...]  # settings that exist only under the value that the configuration sets
    left: Configuration = field(repr=False)  # what the configuration still sets
    failure: str = ""  # why that cannot be run
    changes: tuple[Change, ...] = field(default=(), repr=False)  # by objective, to what is left of it

    def effect(self, ranges: Mapping[str, float]) -> float:
        """The largest change that is significant, as a share of an objective's range."""
        sure = [one for one in self.changes if one.beyond_noise]
        return max((abs(one.difference.mean) / ranges[one.metric.name] for one in sure), default=0.0)

    def as_json(self) -> dict[str, Any]:
        """For JSON."""
        facts = {name: value for name, value in vars(self).items() if name != "left"}
        return facts | {"failure": self.failure or None, "changes": [one.as_json() for one in self.changes]}


@dataclass(frozen=True)
class Neighbour:
    """A configuration of the front, seen from another configuration."""

    number: int
    better_in: tuple[str, ...]  # objectives in which it is the nearest better one; none if it dominates
    worse_in: tuple[str, ...]
    changes: tuple[Change, ...] = field(repr=False)  # from the other to it, in each objective
    differs: tuple[tuple[str, Value | None, Value | None], ...]  # the same by path; None where inactive

    def as_json(self) -> dict[str, Any]:
        """For JSON."""
        return vars(self) | {
            "changes": [one.as_json() for one in self.changes],
            "differs": [{"path": path, "here": here, "there": there} for path, here, there in self.differs],
        }


@dataclass(frozen=True, repr=False)
class Explanation:
    """The explanation says what a configuration changes, and which settings do that."""

    row: Row
    bounds: tuple[Bounded, ...]  # what comes closest to breaking each constraint, on validation seeds
    settings: tuple[Setting, ...]
    changes: tuple[Change, ...]  # from the baseline, by the posterior if `modelled`; empty if that fails
    other_changes: tuple[Change, ...]  # clear ones in other metrics, the largest first
    ablations: tuple[Ablation, ...] | None  # that with the largest effect first; None if not asked for
    replications: int  # on validation seeds, of each configuration
    runs: int  # simulations that were done
    notes: tuple[str, ...]
    # At most `DOMINATORS` of those on the front that dominate it, the nearest first; if none does, in each
    # objective the nearest better and the nearest worse one. Then all that do, or did in the search: numbers.
    around: tuple[Neighbour, ...]
    dominated_by: tuple[int, ...]
    dominated_in_search: tuple[int, ...]

    @property
    def member(self) -> bool:
        """Whether the configuration, or the one that it equals, is among the members of the front."""
        return self.row.stand in {one.number for one in self.row.front.members}

    @property
    def modelled(self) -> bool:
        """True if the posterior has the configuration and all of the front."""
        return modelled(self.row.front, self.row.entry, *self.row.front.on_front)

    def to_dict(self) -> dict[str, Any]:
        """As data for JSON."""
        row, around = self.row, [one.as_json() for one in self.around]
        return {
            "study": row.front.archive.study,
            "scenario": row.front.archive.scenario,
            "number": row.number,
            "recommended": [{"letter": row.name, "name": row.advice.title}] if row.advice else [],
            "constraints": [
                {"constraint": str(one.constraint), "holds": one.excess <= 0, "case": one.case}
                | one.as_json()
                for one in self.bounds
            ],
            "on_front": row.on_front,
            "probability_non_dominated": row.front.chance(row.stand) if self.member else None,
            "settings": [one._asdict() for one in self.settings],
            "against_baseline": [one.as_json() for one in self.changes],
            "other_metrics": [one.as_json() for one in self.other_changes],
            "dominated_by": self.dominated_by,
            "dominated_in_search": self.dominated_in_search,
            "dominators": around if self.dominated_by else [],
            "neighbours": [] if self.dominated_by else around,
            "ablations": None if self.ablations is None else [one.as_json() for one in self.ablations],
            "replications": self.replications,
            "runs": self.runs,
            "notes": self.notes,
        }


def explain(
    row: Row,
    settings: Settings,
    *,
    replications: int | None = None,
    ablate: bool = True,
    pool: Pool,
    progress: Progress | None = None,
    work: Callable[[Task], Metrics] = with_users,
) -> Explanation:
    """Explain a configuration of a search; a `ScenarioError` if it fails on validation seeds.

    `replications` are the validation runs per configuration, as many as the front has if left out.
    """
    found, evaluation = row.front, row.evaluation
    assert evaluation is not None
    scenario, values = settings.scenario, evaluation.values
    validated = [one.validation_replications for one in found.members if one.validated]
    wanted = replications or max(VALIDATED, *(validated or [found.archive.replications]))
    validation = Block.apart(settings, Evaluator.validation(wanted), pool, progress, work)
    removed = removals(scenario, settings.space, values) if ablate else []
    needed = [values, {}, *(one.left for one in removed if not one.failure)]
    here, base, *_ = validation.run_all(needed)
    if here is None:
        study, why = found.archive.study, validation.failures[key(values)]
        raise ScenarioError(f"{study}: configuration {evaluation.number} fails on validation seeds: {why}")
    start = {} if base is None else base.values
    known = changes(found.objectives, start, here.values)
    standing = None if row.is_baseline else found.archive.standing
    if standing and (modelled(found, standing, evaluation) or confirmed(found, standing, evaluation)):
        known = compared(found, standing, evaluation)
    changed = scenario.override(values)
    meanings = [(path, meaning(scenario, path).value, meaning(changed, path)) for path in values]
    return Explanation(
        row,
        tuple(tightest(one, here.evaluation.cases) for one in settings.constraints),
        tuple(Setting(path, values[path], was, one.unit, one.text) for path, was, one in meanings),
        known,
        other_changes(found.objectives, start, here.values),
        ablated(found, here, removed, validation) if ablate else None,
        len(validation.replications),
        validation.evaluator.simulated,
        () if base else (f"the baseline fails: {validation.failures[key({})]}",),
        *neighbourhood(found, evaluation),
    )


def removals(scenario: Scenario, space: Space, configuration: Configuration) -> list[Ablation]:
    """Every setting of a configuration that is not what the baseline has, put back alone; not yet run."""
    whole = scenario.override(configuration).spec
    found = []
    for path in configuration:
        before = meaning(scenario, path).value
        left: Configuration = {}
        for parameter in space:
            value = before if parameter.path == path else configuration.get(parameter.path)
            if value is not None and parameter.exists(left):
                left[parameter.path] = value
        left.pop(path, None)  # it was there for the parameters that exist under it
        along, refused = tuple(other for other in configuration if other not in {path, *left}), ""
        try:
            if scenario.override(left).spec == whole:
                continue
        except ScenarioError as error:
            refused = error.faults[0]
        found.append(Ablation(path, before, along, left, refused))
    return found


def ablated(
    found: Front, here: Sample, removed: Sequence[Ablation], validation: Block
) -> tuple[Ablation, ...]:
    """What each removal does, that with the largest effect first, in shares of the range over the search."""
    made = []
    for one in removed:
        if not one.failure and (result := validation.run([one.left])[0]):
            made.append(replace(one, changes=changes(found.objectives, here.values, result.values)))
        else:
            made.append(replace(one, failure=one.failure or validation.failures[key(one.left)]))
    seen = costs([evaluation.objectives for evaluation in found.archive.evaluations], found.objectives)
    widths = dict(zip((o.name for o in found.objectives), ranges(seen).tolist(), strict=True))
    return tuple(sorted(made, key=lambda one: -one.effect(widths)))


def compared(front: Front, start: Evaluation, to: Evaluation) -> tuple[Change, ...]:
    """What happens to each objective from one configuration to another, between the means of the front."""
    found, value = between(front, start, to), front.value
    if not {start.number, to.number} <= front.means.keys():
        return found
    return tuple(
        replace(c, start=value(start.number, c.metric), to=value(to.number, c.metric)) for c in found
    )


def neighbourhood(
    found: Front, evaluation: Evaluation
) -> tuple[tuple[Neighbour, ...], tuple[int, ...], tuple[int, ...]]:
    """What is around it, dominates it on the front, did in the search; by shares of objectives' ranges."""
    others = [one for one in found.on_front if one.number != found.stand(evaluation.number)]
    every = [*others, evaluation]
    places = found.costs(every) if modelled(found, *every) else costs(side_by_side(every), found.objectives)
    gaps = (places[:-1] - places[-1]) / ranges(places)
    near = np.argsort(np.sqrt((gaps**2).sum(axis=1)), kind="stable").tolist()
    dominating = [k for k in near if _dominates(gaps[k])]
    names = [objective.name for objective in found.objectives]
    sides = [  # the nearest by objective: of what is better there, and of what is worse
        {name: next((k for k in near if sign * gaps[k, at] > 0), -1) for at, name in enumerate(names)}
        for sign in (-1, 1)
    ]
    made = []
    for k in dominating[:DOMINATORS] or [k for k in near if any(k in side.values() for side in sides)]:
        better, worse = (tuple(n for n in names if side[n] == k and not dominating) for side in sides)
        here, there = evaluation.values, others[k].values
        each = ((path, here.get(path), there.get(path)) for path in here | there)
        differs = tuple(one for one in each if one[1] != one[2])
        changed = compared(found, evaluation, others[k])
        made.append(Neighbour(others[k].number, better, worse, changed, differs))
    before = costs([one.objectives for one in every], found.objectives)
    then = tuple(others[k].number for k in near if _dominates(before[k] - before[-1]))
    return tuple(made), tuple(others[k].number for k in dominating), then


def _dominates(gaps: Array) -> bool:
    return bool((gaps <= 0).all() and (gaps < 0).any())


def find_configuration(found: Front, text: str) -> Row:
    """What a number, `baseline`, or a letter stands for; a `ScenarioError` if there is none, or it failed."""
    archive, able = found.archive, [row for row in rows(found) if row.evaluation]
    known = {str(row.number): row for row in able} | {row.name.lower(): row for row in able}
    row = known.get(text.strip().lower())
    if row is None:
        some = [BASELINE if one.number == archive.baseline else str(one.number) for one in found.on_front]
        front = f"the front has {listed(some, NAMED)}" if some else "the front is empty"
        called = [one.letter for one in archive.recommendations]
        called += [BASELINE] if archive.baseline is not None and BASELINE not in some[:NAMED] else []
        also = f"; names: {', '.join(called)}" if called else ""
        also += "; nothing is recommended" * (not archive.recommendations and text.strip().isalpha())
        raise ScenarioError(f"{archive.study}: no configuration {text[:60]}; {front}{also}")
    return row
