"""A trace is found where users keep them, in a known order."""

import os

import pytest

from gridtune.scenarios.trace_files import TraceError, find_trace


@pytest.fixture
def places(tmp_path, monkeypatch):
    """The folders that are looked in, best first; the current directory is the first."""
    work = tmp_path / "work"
    names = ["work", "scenario", "env1", "env2", "work/data", "shared/data"]
    for name in names:
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(work)
    monkeypatch.setenv("GRIDTUNE_DATA", os.pathsep.join([str(tmp_path / "env1"), "", str(tmp_path / "env2")]))
    return [tmp_path / name for name in names]


def test_the_places_are_tried_in_their_order(places):
    base = places[1]
    for folder in reversed(places):
        (folder / "log.swf").write_text("x")
        assert find_trace("log.swf", base=base).resolve() == folder / "log.swf"


def test_a_path_below_a_place_is_found_and_an_absolute_one_is_taken_as_it_is(places):
    (places[3] / "deep").mkdir()
    file = places[3] / "deep" / "log.swf"
    file.write_text("x")
    assert find_trace("deep/log.swf") == file
    assert find_trace(file) == file
    with pytest.raises(TraceError) as caught:
        find_trace(places[0] / "log.swf")
    assert str(places[3]) not in str(caught.value)


def test_a_trace_that_is_nowhere_is_reported_with_every_place(places):
    (places[4] / "log.swf").mkdir()
    with pytest.raises(TraceError) as caught:
        find_trace("log.swf", base=places[1])
    message = str(caught.value)
    assert message.startswith("trace 'log.swf': not found, looked in ., ")
    for folder in (*places[1:4], "data (a folder there)", os.path.join("..", "shared", "data")):
        assert str(folder) in message
    assert "GRIDTUNE_DATA" in message


def test_names_that_no_file_can_have_are_not_found(places):
    for name in ("x" * 5000, "a\0b", ""):
        with pytest.raises(TraceError):
            find_trace(name)
