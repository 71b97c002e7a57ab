"""What an administrator reads first: of a trace given for a scenario, and of the log that is replayed."""

import gzip
import json
from pathlib import Path

import pytest

from gridtune.scenarios.document.catalogue import scenario_lines
from gridtune.scenarios.results.amounts import human_metric
from tests.facts import missing
from tests.forked import called
from tests.test_accounting import OAR, SACCT

ROOT = Path(__file__).parent.parent
SWF = "; MaxProcs: 8\n1 0 100 300 4 -1 -1 4 400 -1 1 1 1 -1 -1 -1 -1 -1\n"
WIDE = "2 5 100 300 16 -1 -1 16 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
SCHEDULE = "id,submit,start,end,procs,walltime\n1,0,5,20,2,60\n"
FILES = {
    "site.swf": SWF.encode(),
    "site.swf.gz": gzip.compress(SWF.encode()),
    "sacct.txt": SACCT.encode(),
    "oar.csv": OAR.encode(),
    "run.csv": SCHEDULE.encode(),
}


def gridtune(*arguments, cwd):
    return called(list(map(str, arguments)), cwd, timeout=120)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", ["run", "search", "validate"])
def test_a_trace_where_a_scenario_is_wanted_is_known_as_one(tmp_path, name, command):
    (tmp_path / name).write_bytes(FILES[name])
    done = gridtune(command, name, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    command = f"`gridtune calibrate {name} --out mine.toml`"
    assert not missing(done.stderr, f"gridtune: {name}:", "trace", command)


def test_what_is_no_trace_is_a_faulty_scenario(tmp_path):
    for name, text in (("a.toml", SWF), ("b.yaml", "# nodes\nnodes: 4\n"), ("c.csv", "a,b\n1,2\n")):
        (tmp_path / name).write_text(text)
        done = gridtune("run", name, cwd=tmp_path)
        assert done.returncode == 2
        assert "trace" not in done.stderr
        assert "line" in done.stderr


@pytest.fixture
def replayed(tmp_path):
    (tmp_path / "site.swf").write_text(SWF + WIDE)

    def run(*options):
        done = gridtune("run", "batch/replay", "--set", "workload.trace=site.swf", *options, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done

    return run


@pytest.mark.long
def test_a_log_is_introduced_in_one_line_and_all_is_said_on_request(replayed):
    origin, refused = replayed().stderr.splitlines()
    assert not missing(origin, "site.swf", "2 notes", "-v")
    assert not missing(refused, "refused", "lost")  # harm is said in any case
    said = replayed("-v").stderr.splitlines()
    assert origin.startswith(f"{said[0]} (")
    assert said[1].startswith("gridtune: site cluster: 8 nodes")
    assert not missing(said[2], "1 of 2 jobs", "requested time")
    assert said[3] == refused
    assert replayed("--verbose").stderr.splitlines() == said
    assert len(replayed().stderr.splitlines()) == 2  # of one command alone


@pytest.mark.long
def test_work_is_shown_in_core_hours_and_kept_in_seconds(replayed):
    assert "0.333 core-h" in replayed("--all").stdout  # 4 processors for 300 s
    made = json.loads(replayed("--format", "json").stdout)["metrics"]["completed_work"]
    assert (made["mean"], made["unit"]) == (1200.0, "s")
    assert human_metric("completed_work", 19014 * 86400.0, "s") == "456336 core-h"
    assert human_metric("lost_work.batch", 1800.0, "s") == "0.5 core-h"
    assert human_metric("waiting_mean", 1800.0, "s") == "30 min"
    assert human_metric("best_effort_work", float("inf"), "s") == "inf"
    assert [human_metric("m", value) for value in (999.4, 999.6, 1000.4)] == ["999", "1000", "1000"]


@pytest.mark.long
def test_scenarios_are_listed_a_line_each(tmp_path):
    lines = gridtune("scenarios", cwd=tmp_path).stdout.splitlines()
    rows = json.loads(gridtune("scenarios", "--format", "json", cwd=tmp_path).stdout)
    assert [line.split()[0] for line in lines] == [row["name"] for row in rows]
    assert all(line.endswith(row["title"]) for row, line in zip(rows, lines, strict=True)), "no terminal"
    cut = list(scenario_lines(60))
    assert max(map(len, cut)) == 60
    assert any(line.endswith("…") for line in cut)
