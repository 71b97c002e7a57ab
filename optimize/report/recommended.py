"""The recommendations of a search as the report tells them, what they make worse, and why there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gridtune.model.metrics.labels import label
from gridtune.optimize.front.changes import bearable, gains
from gridtune.optimize.front.front import Front, keeps
from gridtune.optimize.records.difference import Objective
from gridtune.optimize.records.evaluations import EXCESS_LOSS, EXCESS_WAIT, Archive, Constraint, Evaluation
from gridtune.optimize.records.recommendation import Harm, ParameterChange, Recommendation, Value, much
from gridtune.optimize.replication.guards import DELAYED
from gridtune.optimize.report.numbers import MANY, amount, plain, relative
from gridtune.optimize.search_space.constraints import excesses, feasible, violation
from gridtune.optimize.search_space.parameter import same
from gridtune.plain_text import counted, escaped

# By its metric, what one configuration does against a guard, what several do, and the option that allows it.
GUARDS = {
    EXCESS_LOSS: ("loses more mandatory work", "lose more mandatory work", "--allow-loss"),
    EXCESS_WAIT: ("lets some jobs wait much longer", "let some jobs wait much longer", "--allow-starvation"),
}
FIRST = ("waited_max", "waited_mean.worst-users", "waited_p95.worst-size", "waited_week", "waited_day")
LONGER = "To try others, repeat the command with `--resume` and more `--budget`, `--runs` or `--time`"
MOST_OF_IT = 0.5  # share of a recommendation's effect, from which a change is most of it
COUNTED = {"jobs", "users", "kills", "tasks", "preemptions"}  # units: the more jobs there are, the more


def infeasible(front: Front, some: Sequence[Constraint] | None = None) -> list[Evaluation]:
    """Configurations that break a constraint (of `some`) in the search, the nearest to keeping all first."""
    constraints = front.archive.constraints if some is None else some
    amounts = [(violation(excesses(constraints, one.cases)), one) for one in front.archive.evaluations]
    return [one for amount, one in sorted(amounts, key=lambda pair: pair[0]) if amount > 0]


def changed_values(front: Front, values: Mapping[str, Value]) -> list[ParameterChange]:
    """What a configuration sets otherwise than the baseline."""
    before = front.archive.present
    return [
        ParameterChange(path, before.get(path), value)
        for path, value in values.items()
        if path not in before or not same(before[path], value)
    ]


def why_none(front: Front) -> str:
    """Why nothing is recommended, and what to do: one or two sentences."""
    archive = front.archive
    if not archive.evaluations:
        return "No configuration could be evaluated."
    if refused := {number: one.metrics[0] for number, one in archive.refusals.items() if one.metrics}:
        return _why_refused(archive, refused)
    if not front.on_front:
        broken = ", ".join(map(str, archive.constraints))
        return f"No configuration keeps the constraints ({broken}). Relax one or search longer."
    if archive.standing is None and archive.present:  # it was the first to run
        why = next((f" ({escaped(one.reason)})" for one in archive.failed if one.number == 0), "")
        return f"The baseline failed{why}, so nothing could be compared with it. Choose from the front."
    if archive.standing is None:
        return "The study has no baseline to compare with, so nothing is recommended. Choose from the front."
    if len(archive.evaluations) == 1:
        only = "Every configuration but the baseline failed, so nothing was compared: mend the search space."
        return (
            only if archive.failed else f"Only the baseline was evaluated before the search ended. {LONGER}."
        )
    if max(one.replications + one.validation_replications for one in archive.evaluations) == 1:
        return (
            "Every configuration was run once, so noise cannot be estimated. "
            "Rerun with `--replications 2` or more to get recommendations."
        )
    if archive.refusals:
        names = ", ".join(map(str, archive.refusals))
        some = f"{counted(len(archive.refusals), 'configuration')} ({names})"
        return f"{some} looked better in the search, but not significantly on further seeds. {LONGER}."
    better = [one for one in front.on_front if any(e.significant and e.better for e in gains(front, one))]
    if better and not any(bearable(front, one) for one in better):
        return (
            "Every configuration that is significantly better in one objective gets significantly worse in "
            "another, by more than half of the baseline, or lets a further tenth of the jobs of a class "
            "fail. None is recommended; choose from the front."
        )
    if better:
        return (
            "Some configurations are significantly better than the baseline, but the search ended before it "
            "confirmed a recommendation. The same command with `--resume` and more `--runs` or `--time` "
            "confirms it."
        )
    rules = archive.constraints
    if dropped := sum(feasible(one, rules) and not keeps(one, rules) for one in archive.evaluations):
        broke = f"{counted(dropped, 'configuration')} broke a constraint only in the checks"
        return (
            f"No configuration that keeps the constraints is significantly better than the baseline "
            f"({broke}: `gridtune front --all` shows by how much). {LONGER}."
        )
    return (
        "No configuration is significantly better than the baseline. Keep the baseline, or search longer: "
        "the same command with `--resume` and more `--budget`, `--runs` or `--time`."
    )


def _why_refused(archive: Archive, refused: Mapping[int, str]) -> str:
    """What the first of the configurations broke that were to be recommended, and how many did."""
    number, metric = next(iter(refused.items()))
    option = GUARDS[metric][2] if metric in GUARDS else ""
    allowed = f" (A new search with `{option}` accepts that.)" if option else ""
    others = counted(len(refused) - 1, "other was", "others were")
    also = f" {others} refused, too." if len(refused) > 1 else ""
    return (
        f"Configuration {number} was better in the search, but {refusal(archive, number)}. So nothing is "
        f"recommended.{also} {LONGER}.{allowed}"
    )


def refusal(archive: Archive, number: int) -> str:
    """What a configuration broke when it was to be recommended; empty if nothing."""
    refused = archive.refusals.get(number)
    if refused is None or not refused.metrics:
        return ""
    metric, worst = refused.metrics[0], refused.harm
    guard = GUARDS.get(metric, (f"has more {label(metric)}",))
    rules = [one for one in archive.constraints if one.metric == metric and metric not in GUARDS]
    does = f"breaks {rules[0]}" if rules else f"{guard[0]} than the baseline"
    if worst and refused.lost:
        does = "loses its gain" if worst.replay else "worsens an objective by over half"
    told = f": {harm_text(worst)}" if worst else ""
    return f"in later checks (further seeds, replays of logs) it {does}{told}"


def change_groups(changes: Sequence[ParameterChange]) -> dict[str, list[ParameterChange]]:
    """Changes in their order by path of the choice, the parameters of what is chosen behind the choice.

    `site.queue.reference` belongs to `site.queue`, and `middleware.latency` to `middleware.kind`.
    """
    chosen = [one.path for one in changes if isinstance(one.after, str) and "." in one.path]
    owners = {path.removesuffix(".kind"): path for path in chosen}
    found: dict[str, list[ParameterChange]] = {}
    for one in changes:
        path = owners.get(one.path.rpartition(".")[0], one.path)
        found.setdefault(path, []).insert(0 if one.path == path else len(changes), one)
    return found


def is_main(group: Sequence[ParameterChange]) -> bool:
    """Whether one of these changes carries most of the recommendation's effect."""
    return any((one.share or 0.0) >= MOST_OF_IT for one in group)


def all_harms(one: Recommendation) -> list[Harm]:
    """What a recommendation makes worse by more than a tenth: its `harms`, then objectives."""
    told = {harm.metric for harm in one.harms if harm.load == 1 and harm.part is None and not harm.case}
    found = []
    for change in one.objectives.values():
        start, to, metric = change.start, change.to, change.metric
        if metric.logarithm:
            start, to, metric = 10**start, 10**to, plain(metric)
        worse = change.significant and not change.better and much(start, to - start)
        if worse and metric.name not in told:
            found.append(Harm(metric.name, metric.unit, start, to))
    return [*one.harms, *found]


def harms_text(one: Recommendation, most: int | None = None) -> list[str]:
    """All harm of a recommendation, a line each: the usual, that of some runs, that under a higher load.

    Of more than `most` the others are counted. First come the longest waits (`FIRST`), then those of which
    nothing like them was named: of the same line, and the same class of jobs or quantity.
    """
    found = all_harms(one)
    if not found:
        return [f"Worse by over 10 % with {one.letter}: nothing found"]
    busier = [harm for harm in found if harm.load > 1]
    groups = {
        "by over 10 %": [harm for harm in found if harm.load == 1 and harm.part is None],
        "in some runs": [harm for harm in found if harm.part is not None],
        more_load(busier): [replace(harm, replay=False, load=1.0) for harm in busier],
    }
    every = [(where, harm) for where, some in groups.items() for harm in some]
    kinds: dict[tuple[str, str], Harm] = {}
    for where, harm in every:
        kinds.setdefault((where, harm.metric.partition(".")[2] or harm.metric.partition("_")[0]), harm)
    usual = groups["by over 10 %"]
    longest = [harm for name in FIRST for harm in usual if harm.metric == name]
    heads = [some[0] for some in groups.values() if some]
    order = [*longest, *heads, *kinds.values(), *(harm for _, harm in every)]
    named = set(list(dict.fromkeys(map(id, order)))[:most])
    shown = {where: [harm for harm in some if id(harm) in named] for where, some in groups.items()}
    # What no line is about is counted by the first.
    unseen, lines = sum(len(groups[where]) for where, some in shown.items() if not some), []
    for where, some in shown.items():
        if some:
            others, unseen = len(groups[where]) - len(some) + unseen, 0
            more = [f"and {counted(others, 'other')}"] * (others > 0)
            lines.append(f"Worse {where} with {one.letter}: {'; '.join([*map(harm_text, some), *more])}")
    return lines


def more_load(some: Sequence[Harm]) -> str:
    """Of which jobs, of a replay with more; empty for no harm."""
    return f"at {100 * (some[0].load - 1):.0f} % more load" if some else ""


def harm_text(one: Harm) -> str:
    """What gets worse: `completed best-effort work 30 % lower`."""
    name, gap = label(escaped(one.metric)), one.mean - one.baseline
    metric = Objective(one.metric, "minimize", one.unit)
    way = "lower" if gap < 0 else "higher"
    where = " (log as it is)" if one.replay else ""
    where = f" ({more_load([one])})" if one.load > 1 else where
    where = f" (in {one.case}{', log as it is' * one.replay})" if one.case else where
    where += f" ({100 * one.part:.0f} % of runs)" if one.part is not None else ""
    if one.metric == DELAYED:
        share = f"{100 * one.mean:.0f} %" if one.mean >= 0.005 else "under 1 %"
        return f"{share} of the users wait much longer than before{where}"
    if name.percent:
        return f"{name} {relative(abs(gap), one.baseline, metric).removeprefix('+')} {way}{where}"
    if one.baseline <= 0 or one.mean / one.baseline >= MANY:
        return f"{name} {amount(one.baseline, metric)} -> {amount(one.mean, metric)}{where}"
    size = f"{abs(100 * gap / one.baseline):.0f} %"
    if one.unit in COUNTED:
        return f"{size} {'fewer' if gap < 0 else 'more'} {name}{where}"
    return f"{name} {size} {way}{where}"
