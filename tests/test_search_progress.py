"""Progress is said in plain lines off a terminal, and in a live one on one."""

import io
import re
from itertools import count

import pytest

from gridtune.optimize.records.evaluations import Estimate, Evaluation, Objective
from gridtune.optimize.report import progress
from gridtune.optimize.report.progress import Best, LiveLine, Progress, progress_of
from gridtune.optimize.runs import stored
from gridtune.optimize.search import search
from gridtune.scenarios import load
from search_toys import VARY, Interrupting, toy
from tests.facts import missing, unstated

OBJECTIVES = (Objective("cost", "minimize"), Objective("gain", "maximize"))


class Terminal(io.StringIO):
    def isatty(self):
        return True


def evaluation(cost, gain):
    means = {"cost": cost, "gain": gain}
    return Evaluation(0, {}, {name: Estimate(mean, None, (mean,)) for name, mean in means.items()}, {})


def test_a_heartbeat_is_a_line_now_and_then(monkeypatch):
    clock = count(step=4.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    stream = io.StringIO()
    meter = Progress(stream)
    meter.start("evaluations", 100, 20)
    for done in range(21, 61):
        meter.update(done, done // 50, "best so far: x")
    meter.note("note: something")
    meter.finish()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "evaluations: 20/100"
    assert 5 < len(lines) < 25, "not one per update"
    assert lines[-1] == "note: something"
    assert not missing(lines[-2], "left", "1 failed", "best so far: x")


def test_lines_are_ten_seconds_apart_however_many_phases_there_are(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    meter = Progress(stream)
    for second in range(35):
        now[0] = float(second)
        meter.start(f"phase {second}", 5)
        meter.update(1)
    meter.finish()
    assert [line.split(":")[0] for line in stream.getvalue().splitlines()] == [
        "phase 0", "phase 10", "phase 20", "phase 30",
    ]  # fmt: skip


def test_a_search_limited_by_time_says_how_much_of_it_is_left(monkeypatch):
    stream, now = io.StringIO(), [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    meter = Progress(stream, period=0)
    meter.start("configurations", 0, seconds=300.0)
    now[0] = 160.0
    meter.update(7)
    now[0] = 500.0
    meter.update(8)
    seven, eight = ["configurations: 7", "4 min 0 s left"], ["configurations: 8", "0 s left"]
    assert not unstated(stream.getvalue().splitlines()[1:], seven, eight)


def test_time_left_does_not_count_what_a_resumed_search_knew(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    meter = Progress(stream)
    meter.start("evaluations", 100, 50)
    for now[0], done in ((3000.0, 51), (3010.0, 61)):  # the sampler has come by what is known
        meter.update(done)
    assert stream.getvalue().splitlines()[1:] == ["evaluations: 51/100", "evaluations: 61/100, 39 s left"]


def test_time_left_is_that_of_what_is_to_come(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    meter = Progress(stream, period=0)
    meter.start("runs", 100)
    for now[0], done in ((0.0, 10), (100.0, 60)):
        meter.update(done)
    meter.expect(90)  # these are fewer and faster
    for now[0], done in ((110.0, 61), (112.0, 65)):
        meter.update(done)
    facts = ["60/100", "1 min 20 s left"], ["61/90", "at most 58 s"], ["65/90", "at most 12 s"]
    assert not unstated(stream.getvalue().splitlines()[2:], *facts)


@pytest.mark.parametrize("kept", [True, False])
def test_an_interrupted_search_says_where_its_results_are_and_how_to_go_on(kept, tmp_path):
    stream = io.StringIO()
    out = tmp_path / "out" if kept else None
    with pytest.raises(KeyboardInterrupt):
        search(
            load("diet/day-regular"), budget=9, vary=VARY, work=Interrupting(4, toy), out=out,
            sampler="random", progress=Progress(stream),
        )  # fmt: skip
    count = len(stored.load(out).archive.evaluations) if kept else 0
    assert count == 4 * kept
    nothing = "nothing is saved of a search without --out or --storage"
    last = stream.getvalue().splitlines()[-1]
    if kept:
        assert str(out) in last
        assert "--resume" in last
    else:
        assert last == f"note: {nothing}"


def test_a_live_line_shows_on_a_terminal_only():
    assert isinstance(progress_of(stream=Terminal()), LiveLine)
    assert type(progress_of(stream=io.StringIO())) is Progress
    for module, said in (("ipykernel.iostream", "runs: 0\n"), ("somewhere", "")):
        stream = type("OutStream", (io.StringIO,), {"__module__": module})()
        progress_of(None, stream).start("runs", 0)
        assert stream.getvalue() == said, "a notebook is told without being asked"
        progress_of(False, stream).start("runs", 0)
        assert stream.getvalue() == said
    terminal = Terminal()
    live = progress_of(stream=terminal)
    live.start("evaluations", 10)
    live.update(7, 0, "best so far: cost 3")
    live.note("note: [brackets] stay")
    live.finish()
    live.note("afterwards")
    shown = terminal.getvalue()
    assert "evaluations" in shown
    assert "7/10" in shown
    assert "best so far: cost 3" in shown
    assert "note: [brackets] stay" in shown
    assert shown.endswith("afterwards\n")


def test_a_line_is_there_as_soon_as_it_is_said():
    pipe = io.BytesIO()
    stream = io.TextIOWrapper(pipe)
    Progress(stream).note("so far")
    assert pipe.getvalue() == b"so far\n"


@pytest.mark.long
def test_a_search_tells_how_it_goes():
    stream = io.StringIO()
    vary = [*VARY, "client.dispatch=ethic", "sed.count=-3:20"]
    search(
        load("diet/day-regular"),
        budget=30,
        vary=vary,
        work=toy,
        sampler="random",
        progress=Progress(stream, period=0),
    )
    lines = stream.getvalue().splitlines()
    assert "sed.count = -3 is refused" in lines[0]
    assert lines[1] == "runs: 0/150", "of the exploration, and what validation and recommendations may take"
    stream = io.StringIO()
    heard = Progress(stream, period=0)
    search(load("diet/day-regular"), runs=60, vary=VARY, work=toy, sampler="random", progress=heard)
    told = [line for line in stream.getvalue().splitlines() if line.startswith("runs: ")]
    done = [int(re.match("runs: ([0-9]+)/60", line)[1]) for line in told]
    assert done == list(range(done[-1] + 1)), "one bar over all phases"
    assert 50 < done[-1] <= 60
    assert all(" left" in line for line in told[2:-1])


def test_the_best_so_far_is_told_against_the_baseline():
    best = Best(OBJECTIVES)
    assert best.text() == ""
    start = evaluation(2.0, 10.0)
    best.baseline = start
    assert best.text() == "", "a baseline that breaks a constraint is not added"
    for one in (start, evaluation(1.0, 10.0), evaluation(3.0, 5.0)):
        best.add(one)
    assert not missing(best.text(), "cost 1 (-50 %)", "gain 10 (=)")
