"""Write what became of the papers' claims (docs/data/claims) into the pages that show it.

    python docs/making/claims.py

The verdicts on a paper stand between the lines `<!-- claims PAPER -->` and `<!-- end of claims -->` of some
page; the counts of all papers between `<!-- counts of claims -->` and `<!-- end of counts -->`. The page of
reference with all numbers, what loses each claim and what other seeds say is made when the site is built
(`full`).
`python -m tests.benchmarks.claims` makes the data.

A verdict that hangs on the seed is none: a claim that was met, or not, but would not be with many other
seeds, stands in the pages as undecided (`stated`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from math import inf
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from gridtune.scenarios.reproduction.catalogue import load_paper

DOCS = Path(__file__).parents[1]
DATA = DOCS / "data" / "claims"
SOURCES = {
    "diet": ("RR-7959", "systems/diet.md"),
    "dirac": ("RR-5576", "systems/dirac.md"),
    "egee": ("Responsive Grids", "systems/egee.md"),
    "batcigri": ("hal-04101015", "systems/cigri.md"),
    "deadline": ("RR-5335", "systems/deadline.md"),
    "oar": ("OAR on Grid'5000", "systems/batch.md"),
}
FULL = "../reference/claims.md"  # from the page of a system
VERDICT = "../method.md#claims-of-papers"
DISSENT, MANY = 0.05, 20  # share of seeds that may say otherwise; seeds that say enough by themselves
# Half-widths (2.1 standard errors) from an estimate to a bound from which 19 of 20 other samples as large
# have their intervals on its side: 19 of 20 differ from it by less than 1.645 sqrt(2) standard errors.
SURE = 1 + 1.645 * 2**0.5 / 2.1
VERDICTS = ("met", "not met", "undecided", "by definition", "contradicted by the source")


def outcome(paper: str) -> dict[str, Any]:
    """What is kept of a paper, each claim with the verdict that is stated of it."""
    made: dict[str, Any] = json.loads((DATA / f"{paper}.json").read_text(encoding="utf-8"))
    seeds = trials("claim_seeds.json")
    return made | {
        "claims": [
            stated(claim, Counter(seeds.get(f"{paper}/{claim['experiment']}", {}).get(claim["id"], ())))
            for claim in made["claims"]
        ]
    }


def stated(claim: dict[str, Any], seeds: Counter[str]) -> dict[str, Any]:
    """A claim, undecided where it was met, or not, but other seeds would say otherwise too often.

    The verdict stands if 20 seeds or more, but for one in twenty, say the same at reduced size, or if the
    interval is far enough from what was expected (`reach`).

    Args:
        claim: as it is kept.
        seeds: how many seeds gave which verdict.
    """
    verdict, number = claim["verdict"], sum(seeds.values())
    if verdict not in ("met", "not met"):
        return claim
    agreed = number - seeds[verdict] <= DISSENT * number
    far = reach(claim)
    if (agreed and number >= MANY) or (far >= SURE and (agreed or bounded(claim))):
        return claim
    note = (
        f"{verdict} with seed 1 in full, by {far:.1f} half-widths of the interval: too near for other seeds"
    )
    if number:
        counts = ", ".join(f"{seeds[one]} {one}" for one in VERDICTS if seeds[one])
        note += f" (at reduced size {counts})"
    brief = "other seeds give other verdicts"
    if said := claim["reason"]:
        note, brief = f"{said}; {note}", f"{said}. {brief.capitalize()}"
    return claim | {"verdict": "undecided", "reason": note, "brief": brief}


def bounded(claim: dict[str, Any]) -> bool:
    """Whether every finding has a bound; what is expected of every run has none."""
    ends = ((finding["at_least"], finding["at_most"]) for finding in claim["findings"])
    return all(either != (None, None) for either in ends)


def reach(claim: dict[str, Any]) -> float:
    """How far a claim is from another verdict, in half-widths of intervals; infinite if nothing varies."""
    inside = claim["verdict"] == "met"
    far = [_reach(finding, inside) for finding in claim["findings"]]
    return (min if inside else max)(far, default=inf)


def _reach(finding: dict[str, Any], inside: bool) -> float:
    """How far an estimate is inside, or outside, of what was expected, in half-widths."""
    value, low, high = (finding[name] for name in ("value", "low", "high"))
    least, most = finding["at_least"], finding["at_most"]
    if None in (value, low, high) or low == high or (least, most) == (None, None):
        return inf if (finding["outcome"] == "met") == inside else -inf
    below = inf if least is None else value - least
    above = inf if most is None else most - value
    way = min(below, above) if inside else -min(below, above)
    towards_low = (below <= above) == inside
    half = value - low if towards_low else high - value
    return way / half if half else inf


def claims(made: dict[str, Any]) -> str:
    """A table of claims for the page of a system: each with its verdict, and why where it is not met.

    Claims of one verdict that differ only in a remark in parentheses, or in their source, are one row. The
    page of reference says where in the paper a claim stands; here a source is named if it is not the paper.
    """
    merged: dict[tuple[str, str, str], list[tuple[str, str, str]]] = {}
    for claim in made["claims"]:
        before, remark, after = _parted(claim["claim"])
        row = (claim["id"], remark, claim["source"])
        merged.setdefault((before, after, _said(claim)), []).append(row)
    rows = ["", f"{_how(made)} [All values and sources]({FULL}#{made['paper']}).", ""]
    several = len({claim["source"] for claim in made["claims"]}) > 1
    rows += [f"| id | claim | [verdict]({VERDICT}) |", "|---|---|---|"]
    for (before, after, said), same in merged.items():
        names, remarks, sources = (list(dict.fromkeys(filter(None, one))) for one in zip(*same, strict=True))
        if len(names) == len(remarks) > 1:
            remarks = [f"{name}: {remark}" for name, remark, _ in same]
        text = f"{before}({'; '.join(remarks)}){after}" if remarks else before
        others = [source for source in sources if several and not _in_paper(source)]
        source = f"*{'; '.join(others)}*: " if others else ""
        rows.append(_row(", ".join(names), source + text, said))
    return "\n".join([*rows, ""]) + "\n"


def _parted(text: str) -> tuple[str, str, str]:
    """What comes before the last remark in parentheses, the remark, and what comes after it."""
    found = re.fullmatch(r"(.* )\(([^()]+)\)(.*)", text)
    return (found[1], found[2], found[3]) if found else (text, "", "")


def _in_paper(source: str) -> bool:
    """Whether a source is a place in the paper, which has a number: a figure, a table or a section."""
    return re.search(r"\d", source) is not None


def _said(claim: dict[str, Any]) -> str:
    """The verdict on a claim; if it is not met, with the reason and a single measured value."""
    verdict: str = claim["verdict"]
    if verdict == "met":
        return verdict
    single = verdict == "not met" and len(claim["findings"]) == 1
    what = (single and claim["findings"][0]["statistic"]) or "measured"
    value = f" ({what}: {claim['measured']})" if single else ""
    reason = _unmeasured(claim.get("brief", claim["reason"]), claim["findings"])
    return f"**{verdict}**{value}" + (reason and f": {reason}")


def _unmeasured(reason: str, findings: list[dict[str, Any]]) -> str:
    """A reason without the sentences that repeat a finding: the reference has all values."""
    measured = [found["what"] for found in findings if " " in found["what"]]
    sentences = re.split(r"(?<=\.) (?=[A-Z])", reason)
    left = " ".join(one for one in sentences if not any(what in one for what in measured))
    return left if left == reason else left[:1].lower() + left[1:]


def full() -> Iterator[str]:
    """A page with all claims: what was expected and measured, and notes."""
    yield "# Claims of the papers\n"
    yield "Every claim that `gridtune reproduce` judges, with what was expected and measured (95 % intervals"
    yield "in brackets). How verdicts are found: [validation](../validation.md)."
    for paper, (source, page) in SOURCES.items():
        made = outcome(paper)
        yield f"\n## {source} {{#{paper}}}\n"
        yield f"{_how(made)} System: [{Path(page).stem}](../{page}).\n"
        yield "| id | claim | source | expected | measured | verdict |\n|---|---|---|---|---|---|"
        for claim in made["claims"]:
            verdict = claim["verdict"] if claim["verdict"] == "met" else f"**{claim['verdict']}**"
            yield _row(*(claim[key] for key in ("id", "claim", "source", "expected", "measured")), verdict)
        if any(claim["reason"] for claim in made["claims"]):
            yield "\nNotes:\n"
        for claim in made["claims"]:
            if claim["reason"]:
                yield f"- {claim['id']}, {claim['claim']}: *{claim['verdict']}*: {claim['reason']}."
    yield "\n## What loses a claim {#changes}"
    yield lost()
    yield "## Other seeds {#seeds}"
    yield other_seeds()


def _row(*cells: Any) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def _how(made: dict[str, Any]) -> str:
    """With how many replications, and what of it at reduced size, in words."""
    quick = dict.fromkeys(claim["experiment"] for claim in made["claims"] if claim["quick"])
    if made["paper"] == "oar":
        text = "Verdicts rest on ten schedules."
    else:
        text = f"Verdicts rest on {_replications(made['claims'])} with seed 1."
    missing = [one.name for one in load_paper(made["paper"]).experiments if one.name not in _known(made)]
    if missing:
        text += f" Not kept yet: {', '.join(missing)}."
    if quick:
        text += f" At reduced size (`--quick`): {', '.join(quick)}."
    return text


def _replications(claims: list[dict[str, Any]]) -> str:
    """What most claims have, and in parentheses which others have what: `20 replications (claims P9: 100)`.

    The word is a link, from the page of a system or from the reference.
    """
    usual = Counter(claim["replications"] for claim in claims).most_common(1)[0][0]
    numbers, families = dict[str, set[int]](), dict[str, list[str]]()
    for claim in claims:
        name: str = claim["id"]
        if name not in numbers:
            families.setdefault(name.rstrip(ascii_lowercase), []).append(name)
        numbers.setdefault(name, set()).add(claim["replications"])
    others: dict[str, list[str]] = {}
    for family, names in families.items():
        alike = all(numbers[name] == numbers[names[0]] for name in names)
        for name in names[:1] if alike else names:
            if numbers[name] != {usual}:
                several = ", by scenario" if len(numbers[name]) > 1 else ""
                said = " or ".join(map(str, sorted(numbers[name]))) + several
                others.setdefault(said, []).append(family if alike else name)
    rest = "; ".join(f"{', '.join(names)}: {said}" for said, names in others.items())
    return f"{usual} [replications](../glossary.md){rest and f' (claims {rest})'}"


def _known(made: dict[str, Any]) -> set[str]:
    return {claim["experiment"] for claim in made["claims"]}


def counts() -> str:
    """A row for each paper: how many of its claims have which verdict."""
    rows = ["", f"| source | {' | '.join(VERDICTS)} | table |", f"|---|{'---|' * len(VERDICTS)}---|"]
    for paper, (source, page) in SOURCES.items():
        verdicts = [claim["verdict"] for claim in outcome(paper)["claims"]]
        numbers = " | ".join(str(verdicts.count(verdict)) for verdict in VERDICTS)
        rows.append(f"| {source} | {numbers} | [{Path(page).stem}]({page}) |")
    return "\n".join([*rows, ""]) + "\n"


def trials(name: str) -> dict[str, Any]:
    """What is kept of trials of claims, by the name of their file; nothing if there is none."""
    path = DATA.parent / name
    made: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return made


def met() -> list[str]:
    """The claims that are met, as PAPER/EXPERIMENT/ID."""
    return [
        f"{paper}/{claim['experiment']}/{claim['id']}"
        for paper in SOURCES
        for claim in outcome(paper)["claims"]
        if claim["verdict"] == "met"
    ]


def lost() -> str:
    """A row for each change of the model that was tried: claims that it loses, and claims that stay met."""
    made = trials("claim_mutants.json")
    rows = [
        "",
        "| change of the model | claims lost | no longer met | still met | not met before, at that size |",
        "|---|---|---|---|---|",
    ]
    tried = set()
    for change, claims in made.items():
        cells: dict[str, list[str]] = {"lost": [], "open": [], "met": [], "none": []}
        for claim, (before, after, *size) in claims.items():
            kind = {"met": "met", "not met": "lost"}.get(after, "open") if before == "met" else "none"
            cells[kind].append(" ".join([claim, *(f"({words})" for words in size)]))
            tried.add(claim)
        if any(cells.values()):
            rows.append(f"| {change} | {' | '.join(', '.join(names) or '–' for names in cells.values())} |")
    if left := [claim for claim in met() if claim not in tried]:
        rows += ["", f"Not tried yet: {', '.join(left)}."]
    return "\n".join([*rows, ""]) + "\n"


def other_seeds() -> str:
    """How many claims get one verdict under all seeds, and a row for each that gets several."""
    made = {name: claims for name, claims in trials("claim_seeds.json").items() if claims}
    seeds = {name: len(next(iter(claims.values()))) for name, claims in made.items()}
    most = max(seeds.values(), default=0)
    full = {
        f"{paper}/{claim['experiment']}/{claim['id']}": claim["verdict"]
        for paper in SOURCES
        for claim in outcome(paper)["claims"]
    }
    several, same, larger = [], 0, []
    for name, claims in made.items():
        for claim, verdicts in claims.items():
            counts = Counter(verdicts)
            said = full.get(f"{name}/{claim}", "unknown")
            same += len(counts) == 1
            if len(counts) > 1:
                numbers = counts["met"], counts["undecided"], counts["not met"]
                several.append(f"| {name}/{claim} | {' | '.join(map(str, numbers))} | {said} |")
            elif said not in counts:
                larger.append(f"{name}/{claim} ({said}; at reduced size {verdicts[0]})")
    fewer = ", ".join(f"{name} {number}" for name, number in seeds.items() if number < most)
    rows = [
        "",
        f"Under {most} seeds{fewer and f' (fewer: {fewer})'} {same} of {same + len(several)} claims get "
        "one verdict each; the others, by number of seeds:",
        "",
        "| claim | met | undecided | not met | stated |",
        "|---|---|---|---|---|",
        *several,
    ]
    if larger:
        rows += ["", f"Stated otherwise than all seeds say at reduced size: {', '.join(larger)}."]
    known = [f"{paper}/{one.name}" for paper in SOURCES for one in load_paper(paper).experiments]
    if left := [name for name in known if name not in made]:
        rows += ["", f"Not tried yet: {', '.join(left)}."]
    return "\n".join([*rows, ""]) + "\n"


def written(page: str) -> str:
    """A page with its tables as the data say."""

    def table(found: re.Match[str]) -> str:
        return f"<!-- claims {found[1]} -->\n{claims(outcome(found[1]))}<!-- end of claims -->"

    start, end = "<!-- counts of claims -->\n", "<!-- end of counts -->"
    page = re.sub(f"{start}.*?{end}", lambda _: f"{start}{counts()}{end}", page, flags=re.DOTALL)
    return re.sub(r"<!-- claims (\w+) -->\n.*?<!-- end of claims -->", table, page, flags=re.DOTALL)


def pages() -> list[Path]:
    """The pages that show what became of claims."""
    return [DOCS / "validation.md", *(DOCS / page for _, page in SOURCES.values())]


if __name__ == "__main__":
    for path in pages():
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
