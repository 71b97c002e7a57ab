"""What the pages show: their blocks of code, their files, their commands and their pictures."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent

_BLOCK = re.compile(r"^(?P<fence>```)(?P<head>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")


class Block(NamedTuple):
    """A fenced block of code.

    Attributes:
        language: e.g. `toml`.
        title: name of the file that it is; "" for an extract.
        text: what stands in it.
    """

    language: str
    title: str
    text: str


def pages() -> list[Path]:
    """Every page that is written by hand."""
    return [ROOT / "README.md", *sorted(page for page in DOCS.rglob("*.md") if page.parent.name != "making")]


def name_of(page: Path) -> str:
    """A page as commands name it: its path below docs, without the suffix."""
    return page.relative_to(DOCS if page.is_relative_to(DOCS) else ROOT).with_suffix("").as_posix()


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page."""
    for found in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        language, _, rest = found["head"].partition(" ")
        title = re.search(r'title="([^"]*)"', rest)
        yield Block(language, title[1] if title else "", found["text"])


def files(page: Path) -> dict[str, str]:
    """The whole files that a page shows, by name; one of several of a name is the last."""
    return {block.title: block.text for block in blocks(page) if block.title}


def commands(page: Path) -> list[list[str]]:
    """The calls of gridtune that a page shows, without the name of the program and redirections."""
    return [words for words, _ in calls(page)]


def calls(page: Path) -> list[tuple[list[str], str]]:
    """The calls of gridtune that a page shows, and the file that each writes to; "" for none.

    Comments, and what comes before or after `&&`, are left out.
    """
    found = []
    for block in blocks(page):
        if block.language == "sh":
            for line in block.text.replace("\\\n", " ").splitlines():
                for part in line.split("&&"):
                    words = shlex.split(part, comments=True)
                    if words and Path(words[0]).name == "gridtune":
                        at = words.index(">") if ">" in words else len(words)
                        found.append((words[1:at], "".join(words[at + 1 : at + 2])))
    return found


def pictures(page: Path) -> list[Path]:
    """The pictures that a page shows."""
    return [(page.parent / target).resolve() for target in _PICTURE.findall(page.read_text(encoding="utf-8"))]
