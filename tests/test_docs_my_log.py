"""The page for administrators works from its first command to its last, on a small log."""

import importlib.util
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gridtune import cli
from gridtune.scenarios import load, simulate

DOCS = Path(__file__).parents[1] / "docs"
WEEK = 7 * 86400


def commands():
    """Those of the page after the one that needs Slurm."""
    spec = importlib.util.spec_from_file_location("pages", DOCS / "making" / "pages.py")
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    return pages.commands(DOCS / "my-log.md")


def write_log(path):
    """Nine weeks of a small site under EASY, as SWF with waits."""
    rng = random.Random(5)
    rows, now = [], 0.0
    while now < 8.9 * WEEK:
        now += rng.expovariate(1 / 25000)
        runtime = round(rng.lognormvariate(9.8, 1.2)) + 1
        rows.append(
            [
                round(now),
                -1,
                runtime,
                rng.choice([1, 1, 2, 4, 6]),
                runtime * rng.choice([1, 3]),
                rng.randrange(6),
            ]
        )

    def write():
        lines = ["; MaxProcs: 8"] + [
            f"{k} {submit} {wait} {run} {procs} -1 -1 {procs} {limit} -1 1 {user} 1 -1 1 -1 -1 -1"
            for k, (submit, wait, run, procs, limit, user) in enumerate(rows, 1)
        ]
        path.write_text("\n".join(lines) + "\n")

    write()
    made = load("batch/replay").override({"workload.trace": str(path), "site.cluster.policy": "easy"})
    for row, job in zip(rows, simulate(made).record.jobs, strict=True):
        row[1] = int(job.start - job.submit)
    write()


@pytest.mark.long
def test_the_commands_of_the_page_follow_from_each_other(tmp_path, monkeypatch):
    write_log(tmp_path / "mine.swf")
    monkeypatch.chdir(tmp_path)
    known = commands()
    assert [words[0] for words in known] == [
        "trace", "calibrate", "run", "run", "run", "plot", "compare", "search",
        "front", "front", "front", "run", "plot",
    ]  # fmt: skip
    for words in known:
        # So short a search need not find anything that is better.
        small = {"5m": "15s", "A": "baseline", "mine.txt": "mine.swf"}
        result = CliRunner().invoke(cli.app, [small.get(word, word) for word in words])
        assert result.exit_code == 0, f"{' '.join(words)}: {result.output} {result.exception!r}"
        if "--export" in words:
            (tmp_path / "chosen.toml").write_text(result.stdout)  # the redirection of the page
    assert load("mine.toml").spec.site[0].policy.kind == "easy"
    for name in ("sizes.png", "users.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
