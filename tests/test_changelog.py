"""The changelog: releases with version and date, entries of one short line; and the citation beside it."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
MOST = 25  # words of an entry
LISTED = ("0.3.0", "0.2.0", "0.1.0")
RELEASE = re.compile(r"## (\d+\.\d+\.\d+) - (unreleased|\d{4}-\d{2}-\d{2})")
SECTIONS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Changed results")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def releases(text):
    """Lines below each heading of a release, without empty ones."""
    heads = re.split(r"^(## .*)$", text, flags=re.MULTILINE)[1:]
    return {
        head: [line for line in body.splitlines() if line.strip()]
        for head, body in zip(heads[::2], heads[1::2], strict=True)
    }


def faults(head, lines):
    """What is wrong with a release: its heading, its sections, and entries of many words or lines."""
    found = [] if RELEASE.fullmatch(head) else [head]
    sections = [line.removeprefix("### ") for line in lines if line.startswith("### ")]
    order = [SECTIONS.index(name) if name in SECTIONS else -1 for name in sections]
    if -1 in order or order != sorted(set(order)):
        found.append(f"sections: {', '.join(sections)}")
    for line in lines:
        if not line.startswith(("### ", "- ", "| ", "|-")):
            found.append(f"neither entry nor table: {line}")
        elif line.startswith("- ") and len(line.split()) - 1 > MOST:
            found.append(f"{len(line.split()) - 1} words: {line}")
    return found


@pytest.mark.parametrize("version", LISTED)
def test_entries_are_one_short_line_each(version):
    [(head, lines)] = [(head, lines) for head, lines in releases(CHANGELOG).items() if version in head]
    assert faults(head, lines) == []
    assert sum(line.startswith("- ") for line in lines) > 10


def test_releases_have_a_version_and_a_date_and_the_newest_is_first():
    found = [RELEASE.fullmatch(head) for head in releases(CHANGELOG)]
    assert None not in found
    versions = [tuple(map(int, one[1].split("."))) for one in found]
    assert versions == sorted(set(versions), reverse=True)
    assert [one[2] == "unreleased" for one in found[1:]] == [False] * len(found[1:])


LONG = " ".join(["word"] * (MOST + 1))


@pytest.mark.parametrize(
    ("head", "lines", "fault"),
    [
        ("## Unreleased", [], "## Unreleased"),
        ("## 1.0.0", [], "## 1.0.0"),
        ("## 1.0.0 - soon", [], "## 1.0.0 - soon"),
        ("## 1.0.0 - unreleased", ["### Fixed", "### Added"], "sections: Fixed, Added"),
        ("## 1.0.0 - unreleased", ["### Added", "### Added"], "sections: Added, Added"),
        ("## 1.0.0 - unreleased", ["### Before"], "sections: Before"),
        ("## 1.0.0 - unreleased", ["- one", "  and more"], "neither entry nor table:   and more"),
        ("## 1.0.0 - unreleased", [f"- {LONG}"], f"{MOST + 1} words: - {LONG}"),
    ],
)
def test_faults_are_found(head, lines, fault):
    assert faults(head, lines) == [fault]


def test_the_citation_agrees_with_the_project():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (cited["cff-version"], cited["title"]) == ("1.2.0", PROJECT["name"])
    assert (cited["version"], cited["license"]) == (PROJECT["version"], PROJECT["license"])
    assert PROJECT["version"].removesuffix(".dev0") == RELEASE.search(CHANGELOG)[1]
    assert len(cited["references"]) == 5
    assert all(one["authors"] and one["title"] and one["year"] for one in cited["references"])
