"""Searches that are killed, or whose disk fails, go on to the front of an undisturbed one."""

import json
import shutil
import subprocess
import sys

import pytest

from tests.processes import TESTS, environment


def benchmark(name, *words):
    """What a script of `tests/benchmarks` says; it must find nothing wrong."""
    command = [sys.executable, "-m", f"tests.benchmarks.{name}", *map(str, words)]
    made = subprocess.run(command, cwd=TESTS.parent, env=environment(), capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    return made.stdout


@pytest.mark.long
def test_killed_searches_go_on(tmp_path):
    rows = tmp_path / "kills.json"
    benchmark("kills", "--rows", rows, "--count", 2, "--storages", "journal,sqlite")
    found = json.loads(rows.read_text())
    assert len(found) == 2
    assert all(row["same"] and not row["missing"] for row in found)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler, which makes calls fail")
def test_searches_whose_disk_is_full_or_broken_go_on():
    said = benchmark("io_faults", "--cases", "journal", "--errors", "ENOSPC,EIO", "--every", 20)
    assert "journal: ENOSPC: exit codes {'2': " in said
