"""What points change against today's setting, how surely, and which of them are worth a change.

By all runs of the search together where these are enough to learn from. Else everything is paired over the
streams that a point and today's setting have in common: on fresh seeds where both have them, else on those of
the search, which flatter the points of the front.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from gridtune.optimize.front.changes import Change, change
from gridtune.optimize.front.front import Front, Member
from gridtune.optimize.front.number_format import amount, cell, spoken
from gridtune.optimize.records.evaluations import Evaluation, Objective, Value
from gridtune.optimize.replication.paired import INTERVAL, difference
from gridtune.optimize.search_space.constraints import feasible
from gridtune.scenarios.results.amounts import human

ENOUGH = 5  # runs of two points, after which what was equal in all of them is called the same
KEEP = "keep today's setting"
NOTHING = "Nothing was found that is better than today's setting beyond noise."
UNKNOWN = (
    "No point was run twice, so nobody knows what is luck, and none is recommended: the search with --resume "
    "runs the front again, if it was interrupted; else more --runs, or two --replications, tell."
)


@dataclass(frozen=True)
class Setting:
    """What a point has in the place of what stands in the scenario.

    Attributes:
        path: of the parameter.
        before: what stands there today; None where the parameter does not exist today.
        after: what the point sets; None where the parameter does not exist at the point.
    """

    path: str
    before: Value | None
    after: Value | None

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.path} = {cell(self.after)}"
        return f"{self.path} from {cell(self.before)} to {cell(self.after)}"


def todays(front: Front) -> Evaluation | None:
    """The evaluation of the scenario as it stands; None if the search has none."""
    number = front.archive.today
    return next((one for one in front.archive.evaluations if one.number == number), None)


def todays_chance(front: Front) -> float | None:
    """How probably no other evaluated point beats today's setting, kept or not; None where nobody knows."""
    number = front.archive.today
    for member in front.members:
        if member.evaluation.number == number:
            return member.probability_non_dominated
    today = todays(front)
    if today is None or front.judgement is None or not feasible(today, front.archive.constraints):
        return None
    return front.judgement.chances.get(today.number)


def settings_changed(front: Front, evaluation: Evaluation) -> list[Setting]:
    """What a point sets otherwise than today's setting, in the order of the point."""
    if evaluation.number == front.archive.today:
        return []
    before, after = front.archive.present, evaluation.values
    paths = dict.fromkeys([*after, *(path for path in before if path not in after)])
    return [
        Setting(path, before.get(path), after.get(path))
        for path in paths
        if not _same(before.get(path), after.get(path)) and path in after
    ]


def gains(front: Front, evaluation: Evaluation) -> tuple[Change, ...]:
    """What happens to each objective from today's setting to a point; empty if the search has no today."""
    today = todays(front)
    if today is None or today.number == evaluation.number:
        return ()
    return between(front, today, evaluation)


def between(front: Front, start: Evaluation, to: Evaluation) -> tuple[Change, ...]:
    """What happens to each objective from one point to another.

    By all runs of the search together where these can tell (`optimize.inference.judgement`), except for
    what is equal in all runs, `ENOUGH` at least; else paired over the streams that both have.
    """
    before, after = start.objectives, to.objectives
    if start.validated and to.validated:
        before, after = start.validated, to.validated
    paired = [change(o, before[o.name].values, after[o.name].values) for o in front.objectives]
    judged = front.judgement
    if judged is None or start.number not in judged or to.number not in judged:
        return tuple(paired)
    return tuple(
        one
        if one.difference.verdict == "equal"
        and one.difference.pairs >= ENOUGH
        and _same_in_all_runs(start, to, one.metric)
        else replace(
            one, difference=judged.difference(to.number, start.number, one.metric, one.difference.pairs)
        )
        for one in paired
    )


def _same_in_all_runs(start: Evaluation, to: Evaluation, objective: Objective) -> bool:
    """Whether two points gave the same under every stream that both had; see `between`.

    What was always the same number, as of rare events, must have been so in runs of one point alone, too.
    """
    name, step = objective.name, objective.resolution
    parts = ([one.objectives, one.validated or {}] for one in (start, to))
    values = [tuple(part[name].values if part else () for part in both) for both in zip(*parts, strict=True)]
    equal = all(difference(after, before, step).mean == 0 for before, after in values if before and after)
    common = {value for before, after in values for value, _ in zip(before, after, strict=False)}
    return equal and (
        len(common) > 1 or common == {value for rows in values for row in rows for value in row}
    )


def worth_it(front: Front, members: Sequence[Member]) -> list[Member]:
    """Members that are better than today's setting in some objective, beyond noise.

    Many are looked at, in several objectives, and the luckiest stand out. So the false ones among what is
    called better are kept to a fortieth (one side of a 95 % interval) by the step-up procedure of Benjamini
    and Hochberg; if nothing is truly better, anything is called so in a fortieth of all searches. A
    single run tells nothing of noise, unless runs were seen to repeat each other: then it tells all.

    Args:
        front: of a search; all members pass where it has no today.
        members: to choose from.

    Source: Y. Benjamini and Y. Hochberg, Controlling the False Discovery Rate, JRSS B 57(1), 1995.
    """
    if todays(front) is None:
        return list(members)
    doubts = [
        (_doubt(one, front.certain), member)
        for member in members
        for one in gains(front, member.evaluation)
        if one.difference.mean
    ]
    # Those that fell from the front were looked at, too: the others are there because they were luckier.
    tests = max(len(front.members), len(members)) * len(front.objectives)
    ranked = sorted(doubt for doubt, _ in doubts)
    rate = (1 - INTERVAL) / 2
    passed = [doubt for rank, doubt in enumerate(ranked, start=1) if doubt <= rate * rank / tests]
    least = max(passed, default=-1.0)
    sure = {member.evaluation.number for doubt, member in doubts if doubt <= least}
    return [member for member in members if member.evaluation.number in sure]


def no_advice(front: Front) -> str:
    """Why no point is recommended, where the search has today's setting and none is."""
    once = [one.replications + one.fresh_replications for one in front.archive.evaluations]
    return UNKNOWN if max(once, default=0) == 1 else NOTHING


def _doubt(one: Change, certain: bool) -> float:
    """One-sided probability of a change at least as good, if there were none."""
    if not one.better:
        return 1.0
    confidence = one.difference.confidence
    if confidence is None:
        return 0.0 if certain else 1.0
    return (1 - confidence) / 2


def in_words(one: Change) -> str:
    """A change of an objective with its interval, e.g. `unfairness lower by 0.12 (0.08 to 0.16)`."""
    gap = one.difference
    if gap.verdict == "equal":
        return f"{spoken(one.metric)} the same"
    way, sign = ("higher", 1) if gap.mean > 0 else ("lower", -1)
    text = f"{spoken(one.metric)} {way} by {amount(abs(gap.mean), one.metric)}"
    if gap.low is None or gap.high is None:
        return f"{text} (one run: how surely is unknown)"
    if gap.low == gap.high:
        return f"{text} in every run"
    low, high = sorted((sign * gap.low, sign * gap.high))
    return f"{text} ({human(low, one.metric.unit)} to {human(high, one.metric.unit)})"


def told_changes(changes: Sequence[Change]) -> Iterator[str]:
    """What a point gains, what it costs, and what cannot be told, a line each."""
    kinds = {
        "gains": [one for one in changes if one.told and one.better],
        "costs": [one for one in changes if one.told and not one.better],
        "not told apart": [one for one in changes if not one.told and one.difference.verdict != "equal"],
    }
    for kind, some in kinds.items():
        if some:
            yield f"{kind}: {'; '.join(map(in_words, some))}"
    same = [spoken(one.metric) for one in changes if one.difference.verdict == "equal"]
    if same:
        yield f"the same in every run: {', '.join(same)}"


def _same(before: Value | None, after: Value | None) -> bool:
    return before == after and isinstance(before, bool) == isinstance(after, bool)
