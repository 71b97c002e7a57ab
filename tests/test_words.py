"""Pages, messages, comments and the search's names use the field's words, in short sentences."""

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = ("model", "agents", "scenarios", "optimize")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = [ROOT / "cli.py", *(ROOT / "src/gridtune").glob("*.py"), *(ROOT / "docs/gallery").glob("*.py")]
CODE += [path for floor in FLOORS for path in (ROOT / floor).rglob("*.py")]
WORDS = 17  # of a sentence, at most, in the mean over a page

# Private words, and what says the same in the field's.
PRIVATE = {
    r"today('s)?|as (it|they) stands?": "baseline",
    r"fresh (seeds?|runs?|streams?|replications?|ones)": "validation seeds",
    r"luck(y|ier|iest)?": "noise, optimism",
    r"worth": "estimated mean, hypervolume",
    r"beats?|beaten|beating": "dominates",
    r"(told|telling|tells?)( \S+){0,4} apart": "differs significantly, distinguishes",
    r"surely": "significantly, with probability p",
    r"as searched": "in the search",
    r"(?<!process.)(?<!surrogate.)model of all runs|judge?ments?": "Gaussian-process model, posterior",
    r"(response|noisy) surfaces?": "surrogate model",
    r"(same|common|own|new) (random )?streams|streams (do|did|have|share)": "common random numbers",
    r"steepness|louder|levelled|neglected": "heteroscedastic, mean-adjusted, rare",
    r"transplant\w*|graft\w*": "substitution test",
    r"knobs?": "parameter",
    r"spans? of (the|an|its) (front|objectives?)|(front|objective)'s span": "range",
    r"kinds of systems|(points|configurations|members) kept|kept (points|members)": "on the front",
    r"points? of (a|the) (front|search|study)|(evaluated|recommended|validated) points?": "configuration",
}
# In the search no name may have these either; a point lies in a plane, a cube or the space of objectives.
OF_THE_SEARCH = {
    r"(?<!entry.)(?<!percentage.)(?<!reference.)(?<!Sobol.)(?<!offset.)(?<!can.)(?<!'s.)(?<!independent.)"
    r"points?(?! (in|for|at) )": "configuration",
    r"fresh|neglected|likeness|spans?|beaten": "validation, rare, range, dominated",
}
LITERAL = (  # where such a word is meant as it is said: a place, and a part of the line
    ("optimize/report/answer.py", ":.2g} points"),
    ("optimize/report/numbers.py", '} points"'),
    ("optimize/explanation/words.py", "} points"),
    ("optimize/commands/compare.py", '" points"'),
    ("optimize/report/progress.py", "_points"),  # in the space of objectives
    (
        "scenarios/reproduction/diet/day.py",
        "in one metric and equals it in the two others",
    ),  # a paper's claim
)


def private(text, of_the_search=False):
    """Line numbers of private words, the words, and what to say instead."""
    spoken = text.replace("_", " ")
    for pattern, instead in (PRIVATE | (OF_THE_SEARCH if of_the_search else {})).items():
        pattern = pattern.replace(" ", r"\s+")
        for found in re.finditer(rf"(?<![a-z])({pattern})(?![a-z])", spoken, re.IGNORECASE):
            yield spoken.count("\n", 0, found.start()) + 1, " ".join(found[0].split()), instead


def said(path):
    """A page or a module of the search as it is; of other modules comments and strings, in their lines."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md" or path.is_relative_to(ROOT / "optimize"):
        return text
    lines = [""] * (text.count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1)):
            for number, line in enumerate(token.string.split("\n"), start=token.start[0]):
                lines[number - 1] += f" {line}"
    return "\n".join(lines)


def faults(path):
    """Each private word of a file, where it is and what to say instead."""
    name, text = str(path.relative_to(ROOT)), said(path)
    lines = text.split("\n")
    for number, word, instead in private(text, name.startswith("optimize/")):
        if not any(name.startswith(place) and part in lines[number - 1] for place, part in LITERAL):
            yield f"{name}:{number}: {word}: say {instead}"


def sentences(text):
    """The sentences of a page: neither code, tables, headings, comments nor pictures."""
    prose = re.sub(r"```.*?```|<!--.*?-->", "", text, flags=re.DOTALL)
    prose = re.sub(r"^(\||#|!\[).*$", "", prose, flags=re.MULTILINE)
    return [one for one in re.split(r"(?<=[.!?])\s+|\n\n+|\n\s*[-*\d.]+ ", prose) if len(one.split()) > 2]


@pytest.mark.parametrize("floor", [*FLOORS, "cli.py", "src/gridtune", "docs/gallery"])
def test_code_has_no_private_words(floor):
    assert not [one for path in CODE if path.is_relative_to(ROOT / floor) for one in faults(path)]


@pytest.mark.parametrize("page", PAGES)
def test_pages_have_no_private_words_and_short_sentences(page):
    assert not list(faults(page))
    words = [len(one.split()) for one in sentences(page.read_text(encoding="utf-8"))]
    assert sum(words) / len(words) <= WORDS, page.name


def test_private_words_are_found_and_others_are_not():
    text = "what a point is worth\nbeaten by luck, on fresh\n  seeds\ncannot tell the two apart\nby_today"
    found = {(number, word) for number, word, _ in private(text, True)}
    words = {
        (1, "point"),
        (1, "worth"),
        (2, "beaten"),
        (2, "luck"),
        (2, "fresh seeds"),
        (4, "tell the two apart"),
    }
    assert found >= words | {(5, "today")}
    assert not list(private("a lucid stand, worthy of the beaters; a reference point; an entry point", True))
    assert [len(one.split()) for one in sentences("# T\n\nA b c. D e f g.\n\n| x | y z w |\n")] == [3, 4]
