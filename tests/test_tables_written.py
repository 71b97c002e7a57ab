"""Tables of a run on disk: long ones are written part by part, and read as any other."""

import pandas as pd
import pytest

from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.results import files
from gridtune.scenarios.simulation.simulate import simulate


@pytest.fixture
def made():
    run = simulate(load("dirac/search").override({"workload.meta.count": 200}), keep_events=True)
    assert run.record.placeholders
    assert run.record.journal
    return files.tables(run)


def test_a_table_written_part_by_part_reads_as_one_written_at_once(made, tmp_path, monkeypatch):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder, rows in ((whole, files.ROWS), (parts, 97)):
        folder.mkdir()
        monkeypatch.setattr(files, "ROWS", rows)
        files.write_run(folder, [made], {}, {})
    assert len(made["jobs"]) % 97
    assert len(made["jobs"]) > 2 * 97
    for path in whole.glob("*.parquet"):
        pd.testing.assert_frame_equal(pd.read_parquet(path), pd.read_parquet(parts / path.name))
        pd.testing.assert_frame_equal(pd.read_parquet(path), made[path.stem], check_dtype=False)


def test_events_are_in_order_of_time():
    run = simulate(load("egee/avian-flu").override({"overlay.flu.tasks": 6000}), keep_events=True)
    noted = [row[0] for row in run.record.journal]
    assert noted != sorted(noted), "some losses are known only later"
    events = files.tables(run)["events"]
    assert events["time"].is_monotonic_increasing
    moves = [list(rows["event"]) for _, rows in events[events["job"] > 0].groupby("job")]
    assert all(each[0] == "queued" or each[0] == "started" for each in moves)
    assert all(each.index("done") == len(each) - 1 for each in moves if "done" in each)


def test_columns_of_jobs_are_texts_numbers_and_truth_values(made):
    jobs = made["jobs"]
    assert set(jobs["state"]) <= {"done", "queued", "running", "rejected"}
    assert {type(text) for text in jobs["state"]} == {str}
    kinds = {column: jobs[column].dtype.kind for column in jobs}
    assert {name for name, kind in kinds.items() if kind == "i"} == {"id", "priority", "processors", "kills"}
    assert {name for name, kind in kinds.items() if kind == "b"} == {"mandatory"}
    times = {"submit", "queued", "start", "end", "runtime", "estimate", "deadline", "wasted"}
    assert {name for name, kind in kinds.items() if kind == "f"} == times
