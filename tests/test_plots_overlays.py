"""Pictures of several runs show each of them, as it is."""

from dataclasses import replace

import numpy as np
import pytest

from gridtune.scenarios.plots import OVERLAYS, PlotError, draw_run_picture, draw_runs
from tests.facts import missing
from tests.runs import KILLED, jobs, nan, tables, write

# The same three jobs: in `before` the second waits for the first, in `after` it passes it.
BEFORE = tables(
    jobs(
        ("a", "job", "n0", 0, 0, 100, 2, "done", 0),
        ("b", "job", "n0", 0, 100, 120, 1, "done", 0),
        ("b", "job", "n0", 10, 120, 4120, 9, "done", 0),
    )
)
AFTER = tables(
    jobs(
        ("a", "job", "n0", 0, 20, 120, 2, "done", 0),
        ("b", "job", "n0", 0, 0, 20, 1, "done", 0),
        ("b", "job", "n0", 10, 120, 4120, 9, "done", 0),
    )
)
RUNS = {"before": BEFORE, "after": AFTER}


def texts(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


@pytest.mark.parametrize("kind", OVERLAYS)
def test_every_kind_draws_two_and_three_runs(kind):
    for runs in (RUNS, RUNS | {"third": BEFORE}):
        assert draw_runs(runs, kind).axes


def test_waits_have_a_line_for_each_run():
    axes = draw_runs(RUNS, "waits").axes[0]
    assert texts(axes) == ["before (mean 70 s)", "after (mean 43 s)"]
    assert [line.get_xdata().max() for line in axes.lines] == [110, 110]
    assert [np.sort(line.get_xdata())[-2] for line in axes.lines] == [100, 20]


def test_backlog_counts_what_waits_and_the_slots_that_it_wants():
    figure = draw_runs(RUNS, "queues")
    jobs_waiting, slots = figure.axes
    before = dict(zip(*jobs_waiting.lines[0].get_data(), strict=True))
    wanted = dict(zip(*slots.lines[0].get_data(), strict=True))
    assert (before[0.0], before[10.0], before[100.0], before[120.0]) == (1, 2, 1, 0)
    assert (wanted[0.0], wanted[10.0], wanted[100.0], wanted[120.0]) == (1, 10, 9, 0)


def test_sizes_have_a_row_for_each_class_and_a_box_for_each_run():
    axes = draw_runs(RUNS, "sizes").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "1, up to 1 h (1)", "2 to 8, up to 1 h (1)", "9 to 32, more than 1 h (1)",
    ]  # fmt: skip
    means = [line.get_xdata().tolist() for line in axes.lines]
    assert means == [[100, 0, 110], [0, 20, 110]]


def test_users_are_compared_by_their_slowdowns():
    figure = draw_runs(RUNS, "users")
    (dots,) = figure.axes[0].collections
    # a: 100 / 100, then 120 / 100; b: 120 / 20 and 4110 / 4000, then 20 / 20 and the same
    long = 4110 / 4000
    assert dots.get_offsets().tolist() == [
        pytest.approx([1.0, 1.2]),
        pytest.approx([(6 + long) / 2, (1 + long) / 2]),
    ]
    assert not missing(figure.texts[-1].get_text(), "after", "1 better", "1 worse", "0 as before")
    other = replace(AFTER, jobs=AFTER.jobs.assign(user="c"))
    with pytest.raises(PlotError, match="before and other: no user"):
        draw_runs({"before": BEFORE, "other": other}, "users")


def test_schedules_share_their_time():
    figure = draw_runs(RUNS, "gantt", (0.0, 50.0))
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "before: 1 executions",
        "after: 2 executions",
    ]
    assert [axes.get_xlim() for axes in figure.axes] == [(0, 50)] * 2


def test_what_cannot_be_drawn_together_is_refused(tmp_path):
    one, two = write(tmp_path / "one", KILLED), write(tmp_path / "two", BEFORE)
    out = tmp_path / "a.png"
    with pytest.raises(PlotError, match=r"messages: .* waits, sizes"):
        draw_run_picture([one, two], "messages", out)
    with pytest.raises(PlotError, match="the same run twice"):
        draw_run_picture([one, one], "waits", out)
    never = tables(jobs(("a", "job", "", 0, nan, nan, 1, "queued", 0)))
    with pytest.raises(PlotError, match="no job started"):
        draw_runs({"one": never, "two": BEFORE}, "waits")
    assert not out.exists()
    draw_run_picture([one, two], "waits", out)
    assert out.read_bytes().startswith(b"\x89PNG")
