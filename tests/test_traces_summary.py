"""A summary counts what is in a trace and says in words what could mislead."""

import json
import re
from pathlib import Path

import pytest

from gridtune.scenarios.traces.summary import summarise
from gridtune.scenarios.traces.summary_text import summary_lines
from tests.facts import missing, unstated

DATA = Path(__file__).parents[1] / ".." / "shared" / "data"
real = pytest.mark.skipif(not DATA.is_dir(), reason="needs the logs in ../shared/data")


def row(number, submit, wait, run, procs, limit=1000, status=1, user=7, queue=1):
    times = f"{number} {submit} {wait} {run} {procs} -1 -1 {procs} {limit}"
    return f"{times} -1 {status} {user} 3 -1 {queue} 2 -1 -1"


@pytest.fixture
def summary(tmp_path):
    def make(*rows, header="; MaxProcs: 4\n"):
        path = tmp_path / "log.swf"
        path.write_text(header + "\n".join(rows))
        return summarise(path)

    return make


def test_numbers_of_a_small_trace(summary):
    s = summary(
        row(1, 100, 0, 100, 2),
        row(2, 150, 50, 400, 2, user=8, limit=300),
        row(3, 200, 0, 300, 2, queue=2, limit=-1),
        row(4, 300, -1, -1, 1),
    )
    assert (s.rows, s.kept, s.users, s.groups, s.queues, s.sites) == (4, 3, 2, 1, 2, 1)
    assert (s.submit_span, s.span) == (100.0, 500.0)
    # jobs 2 and 3 run together from 200 on, where job 1 has just left
    assert (s.processors_header, s.processors_peak, s.processors_largest) == (4, 4, 2)
    assert s.work == 1600.0
    assert s.utilisation == pytest.approx(1600 / (4 * 500))
    assert s.load == pytest.approx(1600 / (4 * 100))
    assert s.short_jobs == pytest.approx(1 / 3)
    assert s.short_work == pytest.approx(200 / 1600)
    assert s.runtime["min"] == 100
    assert s.runtime["50%"] == 300
    assert s.runtime["max"] == 400
    assert s.wait is not None
    assert s.wait["max"] == 50
    assert s.above_estimate == 0.5
    assert s.with_estimate == pytest.approx(2 / 3)


def test_what_is_not_known_is_none(summary):
    s = summary(row(1, 0, -1, 5, 1, limit=-1, user=-1), header="")
    assert (s.wait, s.above_estimate, s.processors_header, s.utilisation, s.load) == (None,) * 5
    assert (s.with_wait, s.with_estimate, s.with_user, s.users) == (0.0, 0.0, 0.0, 0)


def test_a_summary_is_plain_data_and_aligned_text(summary):
    s = summary(row(1, 0, 3, 0, 1), row(2, 5, -1, -1, 1))
    plain = json.loads(json.dumps(s.to_dict(), allow_nan=False))
    assert list(plain["dropped"].values()) == [{"count": 1, "first_line": 3}]
    assert not unstated(plain["dropped"], ["cancelled"])
    lines = list(summary_lines(s))
    assert max(map(len, lines)) <= 100
    assert "rows            2 read, 1 kept" in lines
    assert any(line.startswith("! ") and not missing(line, "1 jobs", "0 s") for line in lines)


def test_a_faultless_trace_has_nothing_to_mind(summary):
    s = summary(row(1, 0, 0, 60, 4), row(2, 5, 55, 70, 4, limit=200))
    assert s.warnings == []
    assert list(summary_lines(s))[-1] == "Nothing to mind was found."


@pytest.mark.parametrize(
    ("rows", "header", "warning"),
    [
        ([row(1, 0, -1, 5, 3)], "; MaxProcs: 4", "submit times .* start times"),
        ([row(1, 0, -1, 5, 3), row(2, 0, 1, 5, 3)], "", "50 % .* no wait"),
        ([row(1, 0, 0, 5, 3, limit=-1)], "", "no .* requested time"),
        ([row(1, 0, 0, 5, 3), row(2, 0, 1, 5, 3, limit=-1)], "", "50 % .* no requested time"),
        ([row(1, 0, 0, 5, 3), row(2, 9, 0, 5, 3)], "", "same time .*1000 s"),
        ([row(1, 0, -1, 5, 3), row(2, 9, -1, 5, 3, limit=9)], "", "requested times may be synthetic"),
        ([row(1, 0, 0, 5000, 3)], "", "100 % .* longer .* requested"),
        ([row(k, k, 0, 900, 1) for k in range(30)], "", "30 jobs .* 900 s"),
        ([row(1, 0, 0, 5, 1)], "; MaxProcs: 99", "99 processors .* 1 "),
        ([row(1, 0, 0, 5, 8)], "; MaxProcs: 4", "8 processors .* header's 4"),
        ([row(1, 0, 0, 5, 8)], "", "processors .* 8 "),
        ([row(1, 0, 0, 5, 1)], "; MaxRecords: 7", "7 rows, .* 1"),
        ([row(1, 9, 0, 5, 1), row(2, 0, 0, 5, 1)], "", "1 rows .* submit order"),
        (
            [row(1, 0, 0, 5, 1), *(row(k, 700_000 + k, 0, 5, 1) for k in range(2, 101))],
            "",
            "1 job .* week .* `first` = 2",
        ),
        ([row(1, 0, 0, 5, 1), row(1, 1, 0, 5, 1)], "", "1 rows .* id "),
        ([row(1, 0, 0, 5, 1), row(2, 1, 0, -1, 1)], "", "1 of 2 .*50 %. .* cancelled"),
        ([row(1, 0, 0, 5, 1, user=-1)], "", "100 % .* no user"),
        ([row(1, 0, 0, 5, 1, status=-1)], "", "no job has a status"),
        ([row(1, 0, 0, 5, 1, status=2)], "", "1 jobs .* 2 to 4"),
    ],
)
def test_what_could_mislead_is_said(summary, rows, header, warning):
    found = summary(*rows, header=f"{header}\n").warnings
    assert any(re.search(warning, text) for text in found), found


@real
def test_the_week_of_a_grid_site_is_as_published():
    s = summarise(DATA / "excerpt-lpc-egee-busy-week.swf.gz")
    assert (s.users, s.sites, s.processors_header) == (32, 2, 140)
    assert s.load == pytest.approx(0.63, abs=0.005)
    assert s.above_estimate == pytest.approx(164 / 6707)
    assert s.processors_peak <= 140


@real
def test_a_day_of_the_whole_grid_carries_its_warnings():
    s = summarise(DATA / "excerpt-lcg-2005-day1.swf.gz")
    assert (s.users, s.sites) == (39, 154)
    assert not missing(" ".join(s.warnings), "start times", "24515 processors", "172800 s")
