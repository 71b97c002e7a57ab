"""A command that is refused leaves nothing behind: no folder, no lock, no database."""

import pytest

from gridtune.scenarios import ScenarioError
from gridtune.scenarios.results.locks import FOLDER, results_folder
from tests.calls import call  # noqa: F401

REFUSED = [
    ("sweep", "diet/day-regular", "--vary", "client.n_submit=::", "--out", "new/sw"),
    ("run", "late.toml", "--out", "new/r"),
    ("sensitivity", "late.toml", "--vary", "site.nodes=1:3", "--samples", "8", "--out", "new/s"),
    ("search", "diet/day-regular", "--budget", "1", "--storage", "sqlite:///file:a.db?mode=ro&uri=true"),
    ("search", "diet/day-regular", "--budget", "1", "--storage", "sqlite:///file:b.db?mode=memory&uri=true"),
    ("search", "diet/day-regular", "--budget", "1", "--storage", "sqlite:///file:c.db"),
    ("search", "diet/day-regular", "--budget", "1", "--storage", "sqlite:///d.db?timeout=x"),
    ("search", "diet/day-regular", "--budget", "1", "--storage", "sqlite:///file:e.db?vfs=no&uri=true"),
]
# Reads well, but its log cannot be: that is known only when a run is built.
LATE = """
title = "t"
site = [{ name = "s", nodes = 2, policy = "fcfs" }]
workload = [{ name = "m", kind = "generated", site = "s", count = 2, interval = 1.0, runtime = RUNTIME }]
""".replace("RUNTIME", '{ law = "empirical", file = "t.csv", column = "x" }')


@pytest.mark.parametrize("command", REFUSED, ids=" ".join)
def test_a_refused_command_leaves_nothing(command, call, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    (tmp_path / "late.toml").write_text(LATE)
    (tmp_path / "t.csv").write_text("x\n1e30\n")
    before = sorted(tmp_path.rglob("*"))
    result = call(*command)
    assert result.code == 2, result.err
    assert len(result.err.splitlines()) >= 1
    assert sorted(tmp_path.rglob("*")) == before


def fail_after(out, written):
    """A command that writes some files and is refused."""
    with results_folder(out) as folder:
        for file in written:
            (folder / file).touch()
        raise ScenarioError("refused")


def test_what_was_there_or_was_written_stays(tmp_path):
    (tmp_path / "old").mkdir()
    for name, written, kept in (("old", (), {"old"}), ("a/b", ("x",), {"old", "a", "a/b", "a/b/x"})):
        with pytest.raises(ScenarioError):
            fail_after(tmp_path / name, written)
        found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.name != FOLDER}
        assert found == kept
    assert not (tmp_path / "old" / FOLDER).exists()
    with results_folder(tmp_path / "done"):
        pass
    assert (tmp_path / "done" / FOLDER).exists()
