"""The recommendations of a search as the report tells them, and why there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gridtune.model.metrics.labels import label
from gridtune.optimize.front.changes import bearable, gains
from gridtune.optimize.front.front import Front, keeps
from gridtune.optimize.records.evaluations import EXCESS_LOSS, EXCESS_WAIT, Archive, Constraint, Evaluation
from gridtune.optimize.records.recommendation import ParameterChange, Refusal, Value
from gridtune.optimize.report.harms import harm_text
from gridtune.optimize.search_space.constraints import excesses, feasible, violation
from gridtune.plain_text import counted

# By its metric, what one configuration does against a guard, what several do, and the option that allows it.
GUARDS = {
    EXCESS_LOSS: ("loses more mandatory work", "lose more mandatory work", "--allow-loss"),
    EXCESS_WAIT: ("lets some jobs wait much longer", "let some jobs wait much longer", "--allow-starvation"),
}
LONGER = "To try others, repeat the command with `--resume` and more `--budget`, `--runs` or `--time`"
MOST_OF_IT = 0.5  # share of a recommendation's effect, from which a change is most of it


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
        if path not in before or (before[path], type(before[path]) is bool) != (value, type(value) is bool)
    ]


def why_none(front: Front) -> str:
    """Why nothing is recommended, and what to do: one or two sentences."""
    archive = front.archive
    if not archive.evaluations:
        return "No configuration could be evaluated."
    refused = {number: one.metrics[0] for number, one in archive.refusals.items() if one.metrics}
    if refused:
        number, metric = next(iter(refused.items()))
        option = GUARDS[metric][2] if metric in GUARDS else ""
        allowed = f" (A new search with `{option}` accepts that.)" if option else ""
        others = counted(len(refused) - 1, "other was", "others were")
        also = f" {others} refused, too." if len(refused) > 1 else ""
        return (
            f"Configuration {number} was better in the search, but {refusal(archive, number)}. So nothing is "
            f"recommended.{also} {LONGER}.{allowed}"
        )
    if not front.on_front:
        if archive.constraints:
            broken = ", ".join(map(str, archive.constraints))
            return f"No configuration keeps the constraints ({broken}). Relax one or search longer."
        return "No configuration has finite values of all objectives. Choose other objectives."
    if archive.standing is None:
        return "The study has no baseline to compare with, so nothing is recommended. Choose from the front."
    if len(archive.evaluations) == 1 and archive.failed:
        return "Every configuration but the baseline failed, so nothing was compared: mend the search space."
    if len(archive.evaluations) == 1:
        return f"Only the baseline was evaluated before the search ended. {LONGER}."
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


def refusal(archive: Archive, number: int) -> str:
    """What a configuration broke when it was to be recommended; empty if nothing."""
    refused = archive.refusals.get(number, Refusal())
    if not refused.metrics:
        return ""
    metric, worst = refused.metrics[0], refused.harm
    does, _, option = GUARDS.get(metric, (f"has more {label(metric)}", "", ""))
    rule = next((one for one in archive.constraints if one.metric == metric and not option), None)
    told = f": {harm_text(worst)}" if worst else ""
    if worst and refused.lost:
        does = "loses its gain" if worst.replay else "worsens an objective by over half"
    else:
        does = f"{does} than the baseline" if rule is None else f"breaks {rule}"
    return f"in later checks (further seeds, replays of logs) it {does}{told}"


def change_groups(changes: Sequence[ParameterChange]) -> dict[str, list[ParameterChange]]:
    """Changes in their order by path of the choice, the parameters of what is chosen behind the choice.

    `harvester.controller.reference` belongs to `harvester.controller`, and `middleware.latency` to
    `middleware.kind`.
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
