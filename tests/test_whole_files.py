"""Files appear whole or not at all, and what a killed process leaves of one is removed by the next."""

import os
import subprocess
import sys
import threading
from functools import partial

import pytest

from gridtune.scenarios import ScenarioError
from gridtune.scenarios.results.locks import results_folder
from gridtune.scenarios.whole_files import LEFTOVER, replace


@pytest.fixture(scope="module")
def dead():
    """The number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-S", "-c", ""]) as process:
        process.wait()
    return process.pid


def _in_folder(folder):
    with results_folder(folder):
        pass


WRITES = {  # a way to write, and of which file
    "a folder of results": (_in_folder, "pairs.png"),
    "the journal of a folder": (_in_folder, "study.journal"),
    "the table of runs of a folder": (_in_folder, "runs.jsonl"),
    "a file": (lambda folder: replace(folder / "best.toml", partial(_written, text="x")), "best.toml"),
}


def _written(file, text):
    file.write(text.encode())


@pytest.mark.parametrize("way", WRITES)
def test_what_killed_processes_have_left_is_removed_and_nothing_else(way, dead, tmp_path):
    write, name = WRITES[way]
    gone = [f".{name}.{dead}.part", f".{name}.{dead}-7.new", f".{name}.{dead}-7.new-journal"]
    kept = [
        f".{name}.{os.getppid()}.part",  # its writer lives
        f".letter.{dead}.part",  # no file of ours
        f".{name}.2.{dead}.part",
        f"{name}.{dead}.part",
        f".{name}.{dead}.parts",
        f".{name}.0.part",
    ]
    for file in (*gone, *kept):
        (tmp_path / file).write_text("half")
    folder = tmp_path / f".{name}.{dead}-8.part"
    folder.mkdir()
    write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} >= {*kept, folder.name}
    assert not {path.name for path in tmp_path.iterdir()} & set(gone)


def test_a_file_keeps_its_content_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "front.json"
    replace(path, partial(_written, text="old"))

    def fails(file):
        (part,) = (one.name for one in tmp_path.iterdir() if one != path)
        assert LEFTOVER.fullmatch(part)["name"] == "front.json"
        file.write(b"ne")
        raise OSError(28, "No space left on device")

    with pytest.raises(ScenarioError, match=r"front.json: .*No space left on device"):
        replace(path, fails)
    assert [file.name for file in tmp_path.iterdir()] == ["front.json"]
    assert path.read_text() == "old"


def test_temporary_names_cannot_be_guessed_and_take_no_link(tmp_path, monkeypatch):
    path, victim = tmp_path / "front.json", tmp_path / "victim"
    names = set()
    for _ in range(50):
        replace(path, lambda _: names.update(one.name for one in tmp_path.iterdir()))
    path.unlink()
    assert len(names - {path.name}) == 50
    victim.write_text("dear diary")
    monkeypatch.setattr("gridtune.scenarios.whole_files.secrets.token_hex", lambda _: "guessed")
    for file in (victim, tmp_path / "nothing"):
        link = tmp_path / f".front.json.{os.getpid()}-guessed.part"
        link.symlink_to(file)
        with pytest.raises(ScenarioError, match=r"front.json: cannot be written: File exists"):
            replace(path, partial(_written, text="x"))
        link.unlink()
    assert [file.name for file in tmp_path.iterdir()] == ["victim"]
    assert victim.read_text() == "dear diary"


def test_a_link_that_takes_the_place_of_a_file_being_written_is_not_followed(tmp_path):
    path, victim = tmp_path / "front.json", tmp_path / "victim"
    victim.write_text("dear diary")

    def swapped(file):
        (part,) = (one for one in tmp_path.iterdir() if one != victim)
        part.unlink()
        part.symlink_to(victim)
        file.write(b"new")

    replace(path, swapped)
    assert victim.read_text() == "dear diary"


def test_links_under_the_names_of_before_are_not_followed(tmp_path):
    path, victim = tmp_path / "front.json", tmp_path / "victim"
    victim.write_text("dear diary")
    thread = threading.get_native_id()
    (tmp_path / f".front.json.{os.getpid()}-{thread}.part").symlink_to(victim)
    replace(path, partial(_written, text="new"))
    assert (victim.read_text(), path.read_text()) == ("dear diary", "new")
    assert not path.is_symlink()
