"""What came from somebody else may hold pipes and devices: they are refused, as reading them never ends."""

import os
import signal

import pytest

from gridtune.optimize.studies.stored_study import read_study
from gridtune.scenarios import ScenarioError, load
from gridtune.scenarios.calibration.kept import KeptReplays
from gridtune.scenarios.plots.columns import read_manifest
from gridtune.scenarios.regular_files import open_regular, text_of
from gridtune.scenarios.results.locks import check_ours
from gridtune.scenarios.results.saved_runs import saved_run
from gridtune.scenarios.slurm.conf import read_conf
from gridtune.scenarios.trace_files import find_trace
from gridtune.scenarios.workloads.sessions import ListedSessions
from tests.test_studies import fill, opened


@pytest.fixture(autouse=True)
def _in_time():
    """Who waits for a pipe is woken."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def pipe(path):
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def device(path):
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")


def a_study(folder):
    with opened(folder) as study:
        fill(study, range(1))
    return folder / "runs.jsonl", lambda: read_study(folder)


def a_run(folder):
    (folder / "metrics.json").write_text("{}")
    return folder / "manifest.json", lambda: saved_run(str(folder))


READERS = {
    "runs of a study": a_study,
    "journal of a study": lambda folder: (folder / "study.journal", lambda: read_study(folder)),
    "manifest of a run": a_run,
    "manifest to draw": lambda folder: (folder / "manifest.json", lambda: read_manifest(folder)),
    "slurm.conf": lambda folder: (folder / "slurm.conf", lambda: read_conf(folder / "slurm.conf")),
    "replays": lambda folder: (folder / "kept", lambda: KeptReplays(folder / "kept")),
    "scenario": lambda folder: (folder / "x.toml", lambda: load(folder / "x.toml")),
    "trace": lambda folder: (folder / "x.swf", lambda: find_trace(folder / "x.swf")),
    "sessions": lambda folder: (
        folder / "x.csv",
        lambda: ListedSessions(kind="session-list", file=f"{folder}/x.csv").sessions(None),
    ),
}


@pytest.mark.parametrize("made", [pipe, device])
@pytest.mark.parametrize("reader", READERS)
def test_a_reader_refuses_what_is_no_regular_file(tmp_path, reader, made):
    path, read = READERS[reader](tmp_path)
    made(path)
    with pytest.raises(ScenarioError, match="no regular file"):
        read()


@pytest.mark.parametrize("made", [pipe, device])
def test_what_is_no_regular_file_does_not_show_that_a_folder_is_ours(tmp_path, made):
    (tmp_path / "metrics.json").write_text("theirs")
    made(tmp_path / "manifest.json")
    with pytest.raises(ScenarioError, match="no command has written it"):
        check_ours(tmp_path)


def test_a_file_is_as_large_as_it_may_be(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb")
    assert text_of(path, 7) == "a\nb"
    with pytest.raises(OSError, match="more than 6 bytes"):
        text_of(path, 6)


def test_a_link_is_followed_if_it_may_be(tmp_path):
    (tmp_path / "x").write_text("a")
    (tmp_path / "link").symlink_to("x")
    with open_regular(tmp_path / "link") as file:
        assert file.read() == b"a"
    with pytest.raises(OSError):
        open_regular(tmp_path / "link", follow=False)
