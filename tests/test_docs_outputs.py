"""What the pages show as printed is what the commands print."""

import json
import os
import re
import subprocess
import sys

import pytest

from tests.test_docs import DOCS, ROOT, shown

TIME = re.compile(r"(?<= runs), (\d+ min )?\d+ s\b")  # differs from machine to machine
COMMANDS = (  # of docs/searching.md and docs/sensitivity-and-explanation.md, in one folder
    "search dirac/search --budget 60 --out results/dirac",
    "front results/dirac",
    "explain results/dirac A --all",
    "sensitivity dirac/search --samples 20 --out results/dirac-effects",
)


def printed(page):
    """The blocks of a page that show output."""
    return [block.text for block in shown.blocks(page) if not block.language]


def parts(block):
    """What a block shows between `…`, without the time that a search took."""
    return [part.strip("\n") for part in TIME.sub("", block).split("…") if part.strip()]


def test_readme_shows_the_answer_that_was_measured():
    rows = json.loads((DOCS / "data/answers.json").read_text(encoding="utf-8"))
    (row,) = (row for row in rows if row["search"] == "federation/small" and row["seed"] == 1)
    text = TIME.sub("", row["text"])
    for folder in ("front found", "found/"):
        text = text.replace(folder, folder.replace("found", "results/federation"))
    (block,) = printed(ROOT / "README.md")
    assert parts(block) == [text.strip("\n")]


@pytest.mark.long
def test_pages_show_what_commands_print(tmp_path):
    told = ""
    for command in COMMANDS:
        done = subprocess.run(
            [sys.executable, "-m", "gridtune", *command.split()],
            cwd=tmp_path, env=os.environ | {"COLUMNS": "80"}, stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
        told += TIME.sub("", done.stdout) + "\n"
    for page in ("searching.md", "sensitivity-and-explanation.md"):
        shows = printed(DOCS / page)
        assert len(shows) == 2
        for part in (part for block in shows for part in parts(block)):
            assert part in told
