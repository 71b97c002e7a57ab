"""A front that holds one kind of system only: what else was tried, how near it came, and what beats it there.

That all points agree on a kind does not show that the others are worse: they were tried with other settings,
and the luck of a few runs decides who is near. Only runs of the others in the place of the kind, in points of
the front, can show that. A search makes them as far as its runs allow (`optimize.held_out`); without them, or
where they leave it open, it is undecided, and said to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gridtune.optimize.front.against_today import between
from gridtune.optimize.front.changes import Change, change
from gridtune.optimize.front.front import Front, comparable
from gridtune.optimize.front.kind_test import Tested, Transplant
from gridtune.optimize.front.recommendations import balance
from gridtune.optimize.records.evaluations import Estimate, Evaluation, Failed, Value
from gridtune.optimize.replication.compare import costs, shares
from gridtune.optimize.search_space.constraints import feasible
from gridtune.scenarios.results.amounts import counted


@dataclass(frozen=True)
class Alternative:
    """A kind of system that the search tried and no point of the front has.

    Attributes:
        value: of the parameter.
        evaluations: different points that have it.
        nearest: of them, that which has the least to gain to be on the front; None if none keeps the
            constraints.
        winner: what beats it; None if nothing does, as searched, and there are no fresh seeds to tell.
        fresh: whether that is so on fresh seeds; else both are as searched.
        text: what the winner gains, in words.
        tested: what became of it in the place of the front's value, in points of the front; None if it was
            never put there.
    """

    value: Value
    evaluations: int
    nearest: Evaluation | None = None
    winner: Evaluation | None = None
    fresh: bool = False
    text: str = ""
    tested: Tested | None = None


@dataclass(frozen=True)
class DominantChoice:
    """A choice that all points of the front share although the search tried others.

    Attributes:
        path: of the parameter.
        value: that the front has.
        alternatives: the other values, by name.
    """

    path: str
    value: Value
    alternatives: tuple[Alternative, ...]

    def as_json(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "path": self.path,
            "value": self.value,
            "others": [
                {
                    "value": one.value,
                    "evaluations": one.evaluations,
                    "nearest": one.nearest.number if one.nearest else None,
                    "beaten_by": one.winner.number if one.winner else None,
                    "fresh": one.fresh,
                    "tested": one.tested is not None,
                    "verdict": one.tested.verdict if one.tested else "undecided",
                    "transplants": one.tested.as_json()["transplants"] if one.tested else [],
                }
                for one in self.alternatives
            ],
        }

    def __str__(self) -> str:
        base = f"points of the front have {self.path} {self.value}"
        tested = [one.tested for one in self.alternatives if one.tested]
        untested = [one for one in self.alternatives if not one.tested]
        if not untested:
            return f"All {base}{self._told(tested)}"
        tried = ", ".join(f"{one.value} ({one.evaluations})" for one in untested)
        its, it = ("their", "them") if len(untested) > 1 else ("its", "it")
        first = (
            f"Undecided: all {base}. The search evaluated {tried} with settings of {its} "
            f"own, but did not run {it} on fresh seeds in the place of {self.value} in a point of the front; "
            "`gridtune explain STUDY kinds` does."
        )
        told = "; ".join(f"{one.value} {one.counts}" for one in tested)
        return f"{first} Put there were others ({_variants(tested)}): {told}." if tested else first

    def _told(self, tested: Sequence[Tested]) -> str:
        """What is to be said where all alternatives were put into points of the front."""
        worse = [one.value for one in tested if one.verdict == "worse"]
        others = [one for one in tested if one.verdict != "worse"]
        how = f"put in its place in points of the front ({_variants(tested)})"
        if not others:
            return f": {_listed(worse)}, {how}, {'are' if len(worse) > 1 else 'is'} worse beyond noise."
        open_ = "; ".join(f"{one.value} {one.counts}" for one in others)
        lost = f" {_listed(worse)} {'are' if len(worse) > 1 else 'is'} worse." if worse else ""
        return f". Undecided whether others, {how}, are worse: {open_}.{lost}"


def _variants(tested: Sequence[Tested]) -> str:
    """How many variants there were, and how often each was run."""
    variants = counted(sum(len(one.transplants) for one in tested), "variant")
    runs = min((one.runs for one in tested if one.runs), default=0)
    return (
        f"{variants}, {counted(runs, 'fresh run')} each"
        if runs
        else f"{variants}, none of which could be run"
    )


def dominant_choices(front: Front) -> list[DominantChoice]:
    """Choices between kinds of systems in which all points agree that stay on the front.

    A parameter chooses between kinds if its values bring different parameters along. Where fresh seeds
    have taken a kind off the front, its points are compared there, else as searched.
    """
    tried = comparable(front.archive)
    on_it = {number for m in front.kept for number in (m.evaluation.number, *m.equivalents)}
    found = []
    for path in kinds(tried):
        values = {e.values.get(path) for e in tried if e.number in on_it}
        others = {e.values[path] for e in tried if path in e.values} - values
        if len(values) == 1 and None not in values and others:
            (value,) = values
            assert value is not None
            members = [e for e in tried if e.number in on_it]
            losers = [
                replace(
                    _alternative(front, tried, path, other),
                    tested=_tested(front, tried, members, path, value, other),
                )
                for other in sorted(others, key=str)
            ]
            found.append(DominantChoice(path, value, tuple(losers)))
    return found


def _tested(
    front: Front,
    tried: Sequence[Evaluation],
    members: Sequence[Evaluation],
    path: str,
    kind: Value,
    value: Value,
) -> Tested | None:
    """What became of an alternative in points of the front: put there by the search, or proposed so."""
    known = {one.number: one for one in members}

    def host_of(one: Evaluation | Failed) -> Evaluation | None:
        host = _like(one, members, path) if one.host is None else known.get(one.host)
        return host if host and host.validated and host.values.get(path) == kind else None

    having = [one for one in tried if one.validated and one.values.get(path) == value]
    pairs = [(host, one) for one in having if (host := host_of(one))]
    failed = [one for one in front.archive.failed if one.values.get(path) == value]
    tests = len(pairs) * len(front.objectives)
    made = (
        *(Transplant(host.number, one.values, between(front, host, one), "", tests) for host, one in pairs),
        *(Transplant(host.number, one.values, (), one.reason) for one in failed if (host := host_of(one))),
    )
    runs = min((one.fresh_replications for _, one in pairs), default=0)
    return Tested(path, kind, value, made, runs, _together(front, pairs)) if made else None


def _together(front: Front, pairs: Sequence[tuple[Evaluation, Evaluation]]) -> tuple[Change, ...]:
    """What the second of each pair changes in each objective, in the mean over the pairs, by fresh stream."""
    import numpy as np

    made = []
    for objective in front.objectives if pairs else ():
        rows = [[(one.validated or {})[objective.name].values for one in pair] for pair in pairs]
        count = min(len(values) for row in rows for values in row)
        start, to = np.array([[values[:count] for values in row] for row in rows]).mean(axis=0).tolist()
        made.append(change(objective, start, to))
    return tuple(made)


def _like(one: Evaluation | Failed, members: Sequence[Evaluation], path: str) -> Evaluation | None:
    """The member that a point differs from in a choice alone, and in what this brings along."""
    for host in members:
        both = one.values.keys() & host.values.keys() - {path}
        if all(one.values[name] == host.values[name] for name in both):
            return host
    return None


def _listed(values: Sequence[Value]) -> str:
    texts = [str(value) for value in values]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def kinds(tried: Sequence[Evaluation]) -> list[str]:
    """Paths of choices between kinds: their values bring different parameters along."""
    with_value: dict[tuple[str, Value], list[set[str]]] = {}
    for evaluation in tried:
        for path, value in evaluation.values.items():
            if isinstance(value, str | bool):
                with_value.setdefault((path, value), []).append(set(evaluation.values))
    always = {one: set.intersection(*sets) for one, sets in with_value.items()}
    ever = {one: set.union(*sets) for one, sets in with_value.items()}
    return list(
        dict.fromkeys(
            path
            for path, value in with_value
            for other in with_value
            if other[0] == path and always[path, value] - ever[other]
        )
    )


def _alternative(front: Front, tried: Sequence[Evaluation], path: str, value: Value) -> Alternative:
    """Why no point of the front has a value."""
    having = [e for e in tried if e.values.get(path) == value]
    members = {member.evaluation.number: member for member in front.members}
    fell = [e for e in having if e.number in members and members[e.number].feasible]
    fresh = front.validated and bool(fell)
    if fresh:
        losers, rivals = fell, [member.evaluation for member in front.kept]
    else:
        allowed = [e for e in tried if feasible(e, front.archive.constraints)]
        losers = [e for e in allowed if e.values.get(path) == value and e.number not in members]
        rivals = [e for e in allowed if e.values.get(path) != value]
    if not losers:
        return Alternative(value, len(having))
    nearest, winner = _nearest(front, losers, rivals, fresh=fresh)
    if winner is None:
        return Alternative(value, len(having), nearest)
    start, to = _seen(nearest, fresh), _seen(winner, fresh)
    ahead = [change(o, start[o.name].values, to[o.name].values) for o in front.objectives]
    text = balance([one for one in ahead if one.better])
    return Alternative(value, len(having), nearest, winner, fresh, text)


def _nearest(
    front: Front, losers: Sequence[Evaluation], rivals: Sequence[Evaluation], *, fresh: bool
) -> tuple[Evaluation, Evaluation | None]:
    """The loser that is beaten by the least, and the rival that beats it by most, if any does.

    By how much one beats another is the least of its advantages over the objectives, each as a share of
    the span (the additive epsilon indicator); a small share of their mean breaks ties.

    Source: E. Zitzler et al., Performance Assessment of Multiobjective Optimizers, 2003.
    """
    import numpy as np

    values = costs([_seen(e, fresh) for e in (*losers, *rivals)], front.objectives)
    scaled = shares(values, values)
    ahead = scaled[: len(losers), None, :] - scaled[None, len(losers) :, :]
    beats = np.all(ahead >= 0, axis=2) & np.any(ahead > 0, axis=2)
    margin = np.where(beats, ahead.min(axis=2) + 1e-3 * ahead.mean(axis=2), -np.inf)
    loser = int(np.argmin(margin.max(axis=1)))
    rival = int(np.argmax(margin[loser]))
    return losers[loser], rivals[rival] if beats[loser, rival] else None


def _seen(evaluation: Evaluation, fresh: bool) -> dict[str, Estimate]:
    return (fresh and evaluation.validated) or evaluation.objectives
