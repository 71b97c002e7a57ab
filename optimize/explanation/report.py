"""An explanation in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gridtune.model.metrics.labels import label
from gridtune.optimize.explanation.explain import Explanation
from gridtune.optimize.records.difference import INTERVAL, Change
from gridtune.optimize.report.numbers import as_objective, in_words, metric_label, setting, with_half
from gridtune.optimize.report.recommended import harms_text, refusal
from gridtune.plain_text import counted
from gridtune.scenarios.results.text import terminal_width, wrapped

HARMS = 3  # that are named; `gridtune front` names all


def told(found: Explanation) -> str:
    """An explanation as text in lines as wide as the terminal, ending in a line break."""
    width = terminal_width()
    parts = (_in_short, _against_baseline, _ablations, _settings, _around, _small_print)
    texts = ("\n".join(wrapped(part(found), width)) for part in parts)
    return "\n\n".join(filter(None, texts)) + "\n"


def _in_short(found: Explanation) -> Iterator[str]:
    advice = found.row.advice
    also = f" ({advice.letter}: {advice.title})" if advice else ""
    yield f"Configuration {found.row.number}{also} of {found.row.front.archive.study}"
    yield from harms_text(advice, HARMS) if advice else ()
    for one in found.bounds:
        rule = one.constraint
        value = with_half(one.value.mean, one.value.standard_error, as_objective(rule))
        where = f" in {one.case}" if len(found.row.front.archive.cases) > 1 else ""
        does = "meets" if one.excess <= 0 else "breaks"
        yield f"It {does} {rule} ({label(rule.metric).name}): {value}{one.whose}{where}."
    yield from _place(found)
    if said := refusal(found.row.front.archive, found.row.number):
        yield f"Not recommended: {said}."
    sure = [c for c in found.changes if c.beyond_noise]
    sides = (("improves", [c for c in sure if c.better]), ("worsens", [c for c in sure if not c.better]))
    told = [f"{verb} {', '.join(metric_label(c.metric) for c in some)}" for verb, some in sides if some]
    if told:
        first = next((a.path for a in found.ablations or () if any(c.beyond_noise for c in a.changes)), "")
        most = f" Of its changes, {first} matters most." if first else ""
        yield f"In short: against the baseline it {' and '.join(told)}.{most}"
    elif found.changes:
        yield "In short: no objective differs significantly from the baseline."


def _place(found: Explanation) -> Iterator[str]:
    row, source = found.row, "by the posterior" if found.modelled else "by its runs"
    rivals = found.dominated_by or found.dominated_in_search
    several = f"{len(rivals)} configurations:" if len(rivals) > 1 else "configuration"
    dominated = f"dominated by {several} {', '.join(map(str, rivals))}"
    if found.dominated_by and not row.on_front:
        yield f"Not on the front: {source} it is {dominated}."
        return
    judged = found.member or (row.is_baseline and row.feasible)
    chance = row.front.chance(row.stand) if judged else None
    if row.stand != row.number:
        yield f"Gives the same as configuration {row.stand} in every replication."
    if row.on_front:
        likely = "" if chance is None else f"; P(none truly does) = {chance:.2f}"
        by = f"{source} it is {dominated}" if found.dominated_by else f"no other dominates it {source}"
        yield f"On the front: {by}{likely}."
        return
    before = f"in the search it was {dominated}, " if rivals else ""
    at_all = "" if chance is None else f"; P(none at all does) = {chance:.2f}"
    yield f"Not on the front: {before}{source} no configuration on the front dominates it{at_all}."


def _against_baseline(found: Explanation) -> Iterator[str]:
    if found.changes:
        yield from ("Against the baseline", *told_changes(found.changes, 2))
        if found.other_changes:
            yield f"  also: {'; '.join(map(in_words, found.other_changes))}"


def told_changes(changes: Sequence[Change], spaces: int = 0) -> Iterator[str]:
    """What a configuration gains, what it costs, and what cannot be told, a line each, indented."""
    told = [one for one in changes if not one.difference.equal]
    groups = {
        "gains": [one for one in told if one.significant and one.better],
        "costs": [one for one in told if one.significant and not one.better],
        "no significant difference": [one for one in told if not one.significant],
    }
    for kind, some in groups.items():
        if some:
            yield f"{' ' * spaces}{kind}: {'; '.join(map(in_words, some))}"
    if same := [metric_label(one.metric) for one in changes if one not in told]:
        yield f"{' ' * spaces}the same in every run: {', '.join(same)}"


def _ablations(found: Explanation) -> Iterator[str]:
    if found.ablations is None:
        return
    if not found.ablations:
        yield "Every setting is as in the baseline, so there is nothing to reset."
        return
    yield "What its settings do: each reset alone to the baseline"
    for one in found.ablations:
        before = "what the baseline has" if one.before is None else setting(one.before)
        along = f", which takes {', '.join(one.along)} with it" if one.along else ""
        yield f"  {one.path} back to {before}{along}"
        if one.failure:
            yield f"    cannot be run: {one.failure}"
        elif not any(change.difference.mean for change in one.changes):
            yield "    changes nothing in any replication"
        else:
            yield from told_changes(one.changes, 4)
    if len(found.ablations) > 1:
        yield "  (settings act together, so these need not add up to the whole)"


def _settings(found: Explanation) -> Iterator[str]:
    if found.settings:
        yield "It sets"
    for one in found.settings:
        unit = f" {one.unit}" if one.unit else ""
        before = "as in the baseline" if one.value == one.baseline else f"baseline: {setting(one.baseline)}"
        text = f": {one.meaning}" if one.meaning else ""
        yield f"  {one.path} = {setting(one.value)}{unit} ({before}){text}"


def _around(found: Explanation) -> Iterator[str]:
    labels = {one.name: metric_label(one) for one in found.row.front.objectives}
    dominating = "What dominates it, the nearest first" if len(found.around) > 1 else "What dominates it"
    if found.around:
        yield dominating if found.dominated_by else "Its neighbours on the front"
    for one in found.around:
        sides = [
            f"the nearest that is {way} in {', '.join(labels[name] for name in names)}"
            for way, names in (("better", one.better_in), ("worse", one.worse_in))
            if names
        ]
        yield f"  no. {one.number}{', ' if sides else ''}{'; '.join(sides)}"
        yield from told_changes(one.changes, 4)
        if one.differs:
            differs = (f"{path} ({setting(b)} instead of {setting(a)})" for path, a, b in one.differs)
            yield f"    differs in {', '.join(differs)}"


def _small_print(found: Explanation) -> Iterator[str]:
    runs = counted(found.replications, "replication")
    cases = len(found.row.front.archive.cases)
    where = f" in each of {cases} cases" if cases > 1 else ""
    yield (
        f"{found.runs} simulations: {runs} of each configuration{where} on validation seeds, the "
        f"same for all. In parentheses: the {INTERVAL:.0%} interval of the paired difference; where it "
        "holds 0, the difference is not significant."
    )
    confirmed = found.row.advice.replications if found.row.advice else 0
    if confirmed:
        yield f"The comparison with the baseline is that of the {confirmed} runs that confirmed it."
    if found.modelled:
        whole = "" if confirmed else "with the baseline and "
        yield (
            f"Comparisons {whole}between configurations on the front are those of the Gaussian-process model "
            "of all runs, as in `gridtune front`."
        )
    if found.replications == 1:
        yield "One replication says nothing about confidence; --replications asks for more."
    yield from (f"note: {note}" for note in found.notes)
