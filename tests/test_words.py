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
    r"(?<!process )(?<!surrogate )model of all runs|judge?ments?": "Gaussian-process model, posterior",
    r"(response|noisy) surfaces?": "surrogate model",
    r"(same|common|own|new) (random )?streams|streams (do|did|have|share)": "common random numbers, replications",
    r"steepness|louder|levelled|neglected": "heteroscedastic, mean-adjusted, rare",
    r"transplant\w*|graft\w*": "substitution test",
    r"knobs?": "parameter",
    r"spans? of (the|an|its) (front|objectives?)|(front|objective)'s span": "range",
    r"kinds of systems|(points|configurations|members) kept|kept (points|members)": "categories, on the front",
    r"points? of (a|the) (front|search|study)|(evaluated|recommended|validated|every|each) points?": "configuration",
}
# In the search no name may have these either; a point lies in a plane, a cube or a space of objectives.
OF_THE_SEARCH = {
    r"(?<!entry )(?<!reference )(?<!Sobol )(?<!offset )(?<!can )(?<!'s )(?<!independent )"
    r"points?(?! (in|for|at) )": "configuration",
    r"fresh|neglected|likeness|spans?|worth|beaten": "validation, rare, range, mean, dominated",
}
# Where such a word is meant literally: a part of the path, and what the line has.
LITERAL = {}
# Pages that are being rewritten.
LATER = ("docs/systems/", "docs/metrics.md", "docs/costs-and-faults.md")


def private(text, patterns=PRIVATE):
    """Line numbers of private words, the words, and what to say instead."""
    spoken = text.replace("_", " ")
    for pattern, instead in patterns.items():
        for found in re.finditer(rf"(?<![a-z])({pattern})(?![a-z])", spoken, re.IGNORECASE):
            yield spoken.count("\n", 0, found.start()) + 1, found[0], instead


def said(path):
    """A module's comments and strings, in their lines; all of it if it belongs to the search."""
    text = path.read_text(encoding="utf-8")
    if path.is_relative_to(ROOT / "optimize"):
        return text
    lines = [""] * (text.count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            for number, line in enumerate(token.string.split("\n"), start=token.start[0]):
                lines[number - 1] += f" {line}"
    return "\n".join(lines)
