"""Pages, messages, comments and the search's identifiers use the field's words, in short sentences."""

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = sorted(
    path
    for place in ("model", "agents", "scenarios", "optimize", "src/gridtune", "cli.py")
    for path in ([ROOT / place] if place.endswith(".py") else (ROOT / place).rglob("*.py"))
    if "src/gridtune" not in str(path.parent) or path.parent.name == "gridtune"
)
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
# In the search no name may have these either; a point lies in a plane, a cube or a space of objectives.
OF_THE_SEARCH = {
    r"(?<!entry.)(?<!reference.)(?<!Sobol.)(?<!offset.)(?<!can.)(?<!'s.)(?<!independent.)"
    r"points?(?! (in|for|at) )": "configuration",
    r"fresh|neglected|likeness|spans?|worth|beaten": "validation, rare, range, mean, dominated",
}
# Where such a word is meant literally: a part of the path, and what the line has.
LITERAL = (
    ("optimize/explanation/known.py", "intervals are points"),
    ("optimize/report/answer.py", ":.2g} points"),
    ("optimize/report/numbers.py", "shares in points"),
    ("optimize/report/numbers.py", '} points"'),
    ("optimize/report/progress.py", "_points"),  # in the space of objectives
    ("optimize/report/progress.py", "point[at] for point in front"),
    ("optimize/search_space", "# its name before version 0.3"),
    (
        "scenarios/reproduction/diet/day.py",
        "in one metric and equals it in the two others",
    ),  # a paper's claim
    ("docs/federation.md", "#logs-have-luck-too"),
)
# Pages that are being rewritten.
LATER = ("docs/systems/", "docs/metrics.md", "docs/costs-and-faults.md")


def private(text, of_the_search=False):
    """Line numbers of private words, the words, and what to say instead."""
    spoken = text.replace("_", " ")
    for pattern, instead in (PRIVATE | (OF_THE_SEARCH if of_the_search else {})).items():
        pattern = pattern.replace(" ", r"\s+")
        for found in re.finditer(rf"(?<![a-z])({pattern})(?![a-z])", spoken, re.IGNORECASE):
            yield spoken.count("\n", 0, found.start()) + 1, " ".join(found[0].split()), instead


def said(path):
    """A module's comments and strings in their lines; all of it if it belongs to the search."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md" or path.is_relative_to(ROOT / "optimize"):
        return text
    lines = [""] * (text.count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
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


@pytest.mark.parametrize("room", sorted({"/".join(path.relative_to(ROOT).parts[:2]) for path in CODE}))
def test_code_has_no_private_words(room):
    found = [one for path in CODE if path.is_relative_to(ROOT / room) for one in faults(path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "page", [path for path in PAGES if not str(path.relative_to(ROOT)).startswith(LATER)]
)
def test_pages_have_no_private_words_and_short_sentences(page):
    found = list(faults(page))
    assert not found, "\n".join(found)
    words = [len(one.split()) for one in sentences(page.read_text(encoding="utf-8"))]
    mean = sum(words) / len(words)
    assert mean <= WORDS, f"{page.name}: sentences of {mean:.1f} words on average"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("what the point is worth", "worth"), ("beaten by luck", "luck"), ("on fresh\nseeds", "fresh seeds"),
        ("cannot tell the two apart", "tell the two apart"), ("as it stands", "as it stands"),
        ("dominated_today", "today"), ("the model of all runs", "model of all runs"),
    ],
)  # fmt: skip
def test_a_private_word_is_found(text, word):
    assert word in [found for _, found, _ in private(text, True)]


def test_literal_words_and_average_sentences_are_not_refused():
    assert not list(private("a lucid stand, worthy of the beaters; a reference point; an entry point", True))
    assert [len(one.split()) for one in sentences("# T\n\nA b c. D e f g.\n\n| x | y z w |\n")] == [3, 4]
