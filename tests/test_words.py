"""Pages, messages, comments and names use the field's words, in short sentences."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = (
    "model",
    "agents",
    "scenarios",
    "optimize",
    "docs/gallery",
    "docs/making",
    "docs/notebooks",
    "tests",
)
FILES = ("cli.py", "pyproject.toml", "src/gridtune")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = [ROOT / "cli.py", ROOT / "pyproject.toml", *(ROOT / "src/gridtune").glob("*.py")]
CODE += [
    path
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".py", ".toml", ".ipynb", ".js", ".html") and path != Path(__file__)
]
WORDS = 17  # of a sentence, at most, in the mean over a page
LONGEST = 25  # words of a sentence, at most

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
    r"points? of (a|the) (front|search|study|sweep)|(evaluated|recommended|validated) points?": "trial",
    r"(does?|to do) well in": "additional scenario",
    r"expected loss(es)?": "expected regret",
    r"parts? that (is|are|was|were) (switched )?(on|off)": "component",
}
# No file but a page may have these either; a point lies in a plane, a cube or the space of objectives.
OF_CODE = {
    r"(?<!entry.)(?<!percentage.)(?<!reference.)(?<!Sobol.)(?<!offset.)(?<!can.)(?<!'s.)"
    r"(?<!independent.)(?<!fixed.)(?<!floating.)points?(?! (in|for|at) )": "configuration",
    r"fresh": "new, validation",
}
OF_THE_SEARCH = {
    r"neglected|likeness|spans?|beaten": "rare, range, dominated",
    r"in brackets(?! the)|fell": "dominated, statistically equivalent",
}
LITERAL = (  # where such a word is meant as it is said: a place, and a piece of the line
    ("scenarios/api/sweep_result.py", "points"),  # a key of the contract and a deprecated name
    ("tests/test_api.py", ".points is"),
    ("tests/test_wheel.py", '["points"]'),
    ("scenarios/reproduction/figures.py", "point"),  # of a curve, here and in the next five
    ("scenarios/reproduction/egee/figures.py", "oint"),
    ("scenarios/plots/", "oint"),  # that are drawn
    ("scenarios/plots/time_series.py", "POINTS"),
    ("tests/test_figures_data.py", '"points"'),
    ("docs/gallery/mesa_batch_run.py", 'kind="point"'),
    ("optimize/samplers/space_filling.py", "Points"),
    ("tests/benchmarks/bench_signal.py", "RandomPoints"),
    ("tests/test_changes.py", "20 points"),  # percentage points, here and in the next two
    ("tests/test_compare.py", "+20 points"),
    ("tests/test_report.py", "points"),
    ("optimize/report/page.html", "<span"),
    ("optimize/report/numbers.py", '" points"'),
    ("optimize/commands/compare.py", '" points"'),
    ("optimize/report/numbers.py", '} points"'),
)


def private(text, patterns):
    """Line numbers of private words, also within names, the words, and what to say instead."""
    spoken = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", text)
    for pattern, instead in patterns.items():
        pattern = pattern.replace(" ", r"\s+")
        for found in re.finditer(rf"(?<![a-z])({pattern})(?![a-z])", spoken, re.IGNORECASE):
            yield spoken.count("\n", 0, found.start()) + 1, " ".join(found[0].split()), instead


def patterns_for(path):
    """What a file may not say: a page, one of the search, or another one."""
    name = str(path.relative_to(ROOT))
    return (
        PRIVATE
        | (OF_CODE if path.suffix != ".md" else {})
        | (OF_THE_SEARCH if name.startswith("optimize/") else {})
    )


def faults(path, excused=None):
    """Each private word of a file, where it is and what to say instead; entries that excuse one are added."""
    name, text = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    lines = text.split("\n")
    for number, word, instead in private(text, patterns_for(path)):
        by = {one for one in LITERAL if name.startswith(one[0]) and one[1] in lines[number - 1]}
        if not by:
            yield f"{name}:{number}: {word}: say {instead}"
        (set() if excused is None else excused).update(by)


def sentences(text):
    """The sentences of a page: neither code, tables, headings, comments nor pictures."""
    prose = re.sub(r"```.*?```|<!--.*?-->", "", text, flags=re.DOTALL)
    prose = re.sub(r"^(\||#|!\[).*$", "", prose, flags=re.MULTILINE)
    return [one for one in re.split(r"(?<=[.!?])\s+|\n\n+|\n\s*[-*\d.]+ ", prose) if len(one.split()) > 2]


@pytest.mark.long
@pytest.mark.parametrize("place", [*FOLDERS, *FILES])
def test_code_has_no_private_words(place):
    files = [path for path in CODE if path.is_relative_to(ROOT / place)]
    assert files
    assert not [one for path in files for one in faults(path)]


@pytest.mark.long
def test_every_literal_word_is_there():
    excused = set()
    assert not [one for path in (*CODE, *PAGES) for one in faults(path, excused)]
    assert excused == set(LITERAL)


@pytest.mark.parametrize("page", PAGES)
def test_pages_have_no_private_words_and_short_sentences(page):
    assert not list(faults(page))
    found = sentences(page.read_text(encoding="utf-8"))
    words = [len(one.split()) for one in found]
    assert sum(words) / len(words) <= WORDS, page.name
    assert not [one for one in found if len(one.split()) > LONGEST]


def test_private_words_are_found_and_others_are_not():
    text = "what a point is worth\nbeaten by luck, on fresh\n  seeds\ncannot tell the two apart\n"
    text += "by_today SweepPoint"
    every = PRIVATE | OF_CODE | OF_THE_SEARCH
    found = {(number, word) for number, word, _ in private(text, every)}
    words = {
        (1, "point"),
        (1, "worth"),
        (2, "beaten"),
        (2, "luck"),
        (2, "fresh seeds"),
        (4, "tell the two apart"),
    }
    assert found >= words | {(5, "today"), (5, "Point")}
    assert not list(private("a lucid stand, worthy of the beaters; a reference point; an entry point", every))
    assert [len(one.split()) for one in sentences("# T\n\nA b c. D e f g.\n\n| x | y z w |\n")] == [3, 4]
