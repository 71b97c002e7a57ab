"""An explanation in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gridtune.optimize.explanation.ablation import Ablation
from gridtune.optimize.explanation.explain import Explanation
from gridtune.optimize.explanation.words import in_words, told_changes
from gridtune.optimize.front.changes import Change, baseline_chance
from gridtune.optimize.records.difference import INTERVAL
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.report.numbers import metric_label, setting, with_half
from gridtune.scenarios.results.amounts import counted
from gridtune.scenarios.results.text import terminal_width, wrapped


def told(found: Explanation) -> str:
    """An explanation as text in lines as wide as the terminal, ending in a line break."""
    width = terminal_width()
    parts = [[*_where(found), *_in_short(found)], list(_against_baseline(found)), list(_ablations(found))]
    parts += [list(_settings(found)), list(_around(found)), list(_small_print(found))]
    return "\n\n".join("\n".join(wrapped(lines, width)) for lines in parts if lines) + "\n"


def _where(found: Explanation) -> Iterator[str]:
    archive, number = found.front.archive, found.evaluation.number
    also = "".join(f" ({item.letter}: {item.title})" for item in found.advice)
    yield f"Configuration {number}{also} of {archive.study}"
    for one in found.bounds:
        known = one.nearest
        metric = Objective(known.metric, "minimize", one.constraint.unit)
        where = f" in {known.case}" if len(archive.cases) > 1 else ""
        value = f"{with_half(known.value.mean, known.value.standard_error, metric)}{known.whose}"
        yield f"It {'keeps' if one.holds else 'breaks'} {one.constraint}: {value}{where}."
    member, around = found.member, found.neighbourhood
    if around.dominated_by:
        source = "by the posterior" if found.modelled else "on the same validation seeds"
        yield f"Not on the front: {source} it is dominated by {_configurations(around.dominated_by)}."
    elif member is None:
        rivals = around.dominated_in_search
        before = f"in the search it was dominated by {_configurations(rivals)}, " if rivals else ""
        source = "by all its runs" if found.modelled else "on validation seeds"
        mine = baseline_chance(found.front) if number == archive.baseline else None
        yield f"Not on the front: {before}{source} no configuration on the front dominates it{_of_all(mine)}."
    else:
        if member.evaluation.number != number:
            yield f"Gives the same as configuration {member.evaluation.number} in every replication."
        chance = member.probability_non_dominated
        likely = "" if chance is None else f", with probability {chance:.2f}"
        seeds = "on validation seeds" if found.front.validated else "in the search (not validated)"
        source = "by the posterior" if found.modelled else seeds
        if member.non_dominated:
            yield f"On the front: no other configuration dominates it {source}{likely}."
        else:
            yield f"Not on the front, though no configuration on it dominates it {source}{_of_all(chance)}."


def _configurations(numbers: Sequence[int]) -> str:
    several = f"{len(numbers)} configurations: " if len(numbers) > 1 else "configuration "
    return several + ", ".join(map(str, numbers))


def _of_all(chance: float | None) -> str:
    """How probably no other configuration dominates one."""
    return "" if chance is None else f"; that none at all does has probability {chance:.2f}"


def _in_short(found: Explanation) -> Iterator[str]:
    """What it gains and costs against the baseline, and the setting that matters most."""
    if not found.changes:
        return
    sure = [c for c in found.changes if c.beyond_noise]
    sides = [
        f"{verb} {', '.join(metric_label(c.metric) for c in some)}"
        for verb, some in (
            ("gains", [c for c in sure if c.better]),
            ("costs", [c for c in sure if not c.better]),
        )
        if some
    ]
    if not sides:
        yield "In short: no objective differs significantly from the baseline."
        return
    first = next((a.path for a in found.ablations or () if any(c.beyond_noise for c in a.changes)), None)
    most = f" Of its settings {first} matters most." if first else ""
    yield f"In short: against the baseline it {' and '.join(sides)}.{most}"


def _against_baseline(found: Explanation) -> Iterator[str]:
    if found.changes:
        yield "Against the baseline"
        yield from _indented(found.changes, 2)
        if found.other_changes:
            yield f"  also: {'; '.join(map(in_words, found.other_changes))}"


def _indented(changes: Sequence[Change], spaces: int) -> Iterator[str]:
    return (f"{' ' * spaces}{line}" for line in told_changes(changes))


def _ablations(found: Explanation) -> Iterator[str]:
    if found.ablations is None:
        return
    if not found.ablations:
        yield "Every setting is as in the scenario, so there is nothing to put back."
        return
    yield "What its settings do: each put back alone to the baseline"
    for one in found.ablations:
        yield from _ablation(one)
    if len(found.ablations) > 1:
        yield "  (settings act together, so these need not add up to the whole)"


def _ablation(one: Ablation) -> Iterator[str]:
    before = "what the baseline has" if one.before is None else setting(one.before)
    along = f", which takes {', '.join(one.along)} with it" if one.along else ""
    yield f"  {one.path} back to {before}{along}"
    if one.failure:
        yield f"    cannot be run: {one.failure}"
    elif not any(change.difference.mean for change in one.changes):
        yield "    changes nothing in any replication"
    else:
        yield from _indented(one.changes, 4)


def _settings(found: Explanation) -> Iterator[str]:
    if found.settings:
        yield "It sets"
    for one in found.settings:
        unit = f" {one.meaning.unit}" if one.meaning.unit else ""
        default = "as in the scenario" if one.value == one.before else f"scenario: {setting(one.before)}"
        text = f": {one.meaning.text}" if one.meaning.text else ""
        yield f"  {one.path} = {setting(one.value)}{unit} ({default}){text}"


def _around(found: Explanation) -> Iterator[str]:
    around = found.neighbourhood
    if around.dominators:
        yield "What dominates it, the nearest first" if len(around.dominators) > 1 else "What dominates it"
    elif around.neighbours:
        yield "Its neighbours on the front"
    for one in around.dominators or around.neighbours:
        sides = [
            f"{way} in {', '.join(_label(found, name) for name in names)}"
            for way, names in (("better", one.better_in), ("worse", one.worse_in))
            if names
        ]
        yield f"  no. {one.number}{', the nearest ' if sides else ''}{' and '.join(sides)}"
        yield from _indented(one.changes, 4)
        if one.differs:
            differs = (f"{path} ({setting(b)} instead of {setting(a)})" for path, a, b in one.differs)
            yield f"    differs in {', '.join(differs)}"


def _label(found: Explanation, name: str) -> str:
    return metric_label(next(one for one in found.front.objectives if one.name == name))


def _small_print(found: Explanation) -> Iterator[str]:
    runs = counted(found.replications, "replication")
    cases = len(found.front.archive.cases)
    where = f" in each of {cases} cases" if cases > 1 else ""
    yield (
        f"{found.runs} simulations: {runs} of each configuration{where} on validation seeds, the "
        f"same for all. In brackets the {INTERVAL:.0%} interval of the paired difference; where it "
        "holds 0, the difference is not significant."
    )
    confirmed = next((one.replications for one in found.advice if one.replications), 0)
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
