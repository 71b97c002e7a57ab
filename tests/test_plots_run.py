"""Pictures of a run show every execution, sample and user, and are written whole or not at all."""

import re
import shutil
from dataclasses import replace
from itertools import pairwise
from math import inf

import pandas as pd
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import rc_context
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from gridtune import limits
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.plots import (
    KINDS,
    PlotError,
    columns,
    draw_run,
    draw_run_picture,
    picture_format,
    read_run,
    save,
)
from gridtune.scenarios.plots.gantt import pack
from gridtune.scenarios.plots.messages import bin_width, group_of
from gridtune.scenarios.plots.style import time_unit
from gridtune.scenarios.plots.time_series import running_changes, waiting_changes
from tests.facts import missing
from tests.runs import KILLED, classes, jobs, messages, nan, signals, tables, users, write


def polygons(figure):
    return [c for c in figure.axes[0].collections if isinstance(c, PolyCollection)]


def boxes(figure):
    return [path for collection in polygons(figure) for path in collection.get_paths()]


def hatched(figure):
    return sum(len(c.get_paths()) for c in polygons(figure) if c.get_hatch())


def note(figure):
    return figure.texts[-1].get_text()


def counts(changes):
    """The count of all kinds after each time of change."""
    steps = changes.groupby("time")["change"].sum()
    return dict(zip(steps.index, steps.cumsum(), strict=True))


def test_events_show_every_execution_and_which_were_lost():
    assert KILLED.executions[["job", "start", "end", "outcome"]].values.tolist() == [
        [1, 0.0, 4.0, "done"],
        [2, 1.0, 3.0, "killed"],
        [3, 3.0, 5.0, "done"],
        [2, 5.0, 9.0, "done"],
    ]
    drawn = draw_run(KILLED, "gantt")
    assert len(boxes(drawn)) == 4
    assert hatched(drawn) == 1
    assert [label.get_text() for label in drawn.axes[0].get_yticklabels()] == ["lal-000", "lal-001"]


def test_without_events_the_last_execution_of_a_job_that_was_killed_is_hatched():
    drawn = draw_run(replace(KILLED, events=None), "gantt")
    assert len(boxes(drawn)) == 3
    assert hatched(drawn) == 1


def test_an_execution_still_running_at_the_end_lasts_until_the_end():
    run = tables(
        jobs(("a", "job", "n", 0, 1, nan, 1, "running", 0), ("a", "job", "m", 0, 0, 7, 1, "done", 0))
    )
    assert run.executions["end"].tolist() == [7, 7]


def test_queues_count_waiting_jobs_and_held_slots_exactly_with_events():
    assert counts(waiting_changes(KILLED)) == {0: 0, 1: 0, 2: 1, 3: 2, 5: 1, 6: 0}
    assert counts(running_changes(KILLED)) == {0: 1, 1: 2, 3: 2, 4: 1, 5: 1, 9: 0}
    draw_run(KILLED, "queues")


def test_queues_without_events_say_that_lost_executions_count_as_waiting():
    coarse = replace(KILLED, events=None)
    assert counts(waiting_changes(coarse)) == {0: 0, 1: 1, 2: 2, 3: 2, 5: 1, 6: 0}
    assert "lost executions count as waiting" in note(draw_run(coarse, "queues"))


def test_parallel_jobs_hold_all_their_nodes():
    run = tables(
        jobs(
            ("a", "job", "lal-[000-001,003]", 0, 0, 4, 3, "done", 0),
            ("b", "job", "lal-002 lal-003", 0, 4, 6, 2, "done", 0),
            ("c", "job", "", 0, 0, 4, 2, "done", 0),
        )
    )
    drawn = draw_run(run, "gantt")
    assert [label.get_text() for label in drawn.axes[0].get_yticklabels()] == [
        "lal", "lal-000", "lal-001", "lal-002", "lal-003",
    ]  # fmt: skip
    assert len(boxes(drawn)) == 3 + 2 + 1


def test_an_end_and_a_start_at_one_instant_share_a_lane():
    run = tables(jobs(("a", "job", "", 0, 0, 4, 1, "done", 0), ("b", "job", "", 0, 4, 6, 1, "done", 0)))
    assert [(box.lane, box.lanes) for box in pack(run.executions)] == [(0, 1), (0, 1)]


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9), st.integers(1, 4)), min_size=1, max_size=30))
def test_packed_executions_never_overlap_and_hold_what_they_need(rows):
    run = tables(
        jobs(*(("a", "job", "", start, start, start + span, need, "done", 0) for start, span, need in rows))
    )
    executions = run.executions
    packed = list(pack(executions))
    held = dict.fromkeys(range(len(rows)), 0)
    lanes = {}
    for box in packed:
        held[box.row] += box.lanes
        for lane in range(box.lane, box.lane + box.lanes):
            lanes.setdefault(lane, []).append(tuple(executions.loc[box.row, ["start", "end"]]))
    assert held == dict(enumerate(executions["processors"]))
    for spans in lanes.values():
        spans.sort()
        assert all(a[1] <= b[0] for a, b in pairwise(spans))


def test_of_many_executions_a_window_is_chosen_and_named():
    many = tables(jobs(*(("a", "job", "n", k, k, k + 1, 1, "done", 0) for k in range(4000))))
    drawn = draw_run(many, "gantt")
    assert 100 < len(boxes(drawn)) < 300
    assert not missing(note(drawn), "1910 to 2090 s", "0 to 4000 s", "4000 executions")
    assert len(boxes(draw_run(many, "gantt", (10.0, 20.0)))) == 10


def test_colours_are_of_kinds_then_users_then_jobs():
    assert draw_run(KILLED, "gantt").axes[0].get_legend().get_texts()[0].get_text() == "mandatory"
    one_kind = jobs(("a", "job", "n", 0, 0, 1, 1, "done", 0), ("b", "job", "n", 0, 1, 2, 1, "done", 0))
    labels = draw_run(tables(one_kind), "gantt").axes[0].get_legend().get_texts()
    assert [label.get_text() for label in labels] == ["a", "b"]
    one_user = draw_run(tables(one_kind.assign(user="a")), "gantt")
    assert one_user.axes[0].get_legend() is None
    assert "two tints" in note(one_user)


def test_signals_that_end_alike_share_a_panel():
    names = ["lal.waiting", "ral.waiting", "lal.running", "load"]
    run = tables(signals=signals(*((t, name, t) for t in (0.0, 1.0, 2.0) for name in names)))
    panels = [axes for axes in draw_run(run, "signals").axes if axes.get_visible()]
    assert {axes.get_ylabel(): len(axes.lines) for axes in panels} == {"waiting": 2, "running": 1, "load": 1}


def test_many_signals_in_a_panel_have_a_mean():
    run = tables(signals=signals(*((t, f"s{k}.load", k) for t in (0.0, 1.0) for k in range(9))))
    (panel,) = draw_run(run, "signals").axes
    assert len(panel.lines) == 10
    assert list(panel.lines[-1].get_ydata()) == [4.0, 4.0]


def test_users_are_sorted_and_the_unhappy_marked():
    axes = draw_run(tables(users=users([0.9, 0.3, 1.2], unhappy={1})), "users").axes[0]
    assert [bar.get_height() for bar in axes.patches] == [0.3, 0.9, 1.2]
    first, second, third = (bar.get_facecolor() for bar in axes.patches)
    assert first != second == third
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["happy", "unhappy", "ideal"]


def test_many_users_are_a_distribution():
    drawn = draw_run(tables(users=users([k / 100 for k in range(100)], unhappy={3})), "users")
    assert sum(bar.get_height() for bar in drawn.axes[0].patches) == 100
    assert not missing(note(drawn), "100 users", "1 unhappy", "unfairness 0.99")


def test_users_with_jobs_of_different_classes_have_panels_of_their_own():
    parts = classes(("u0", "sdj", 3, 1, 2), ("u1", "batch", 1, 1, 0), ("u2", "batch", 1, 1, 0))
    few = draw_run(tables(users=users([0.5, 1.2, 0.9], unhappy={0}), classes=parts), "users")
    shown = {axes.get_title(loc="left"): [bar.get_height() for bar in axes.patches] for axes in few.axes}
    assert shown == {"batch (2)": [0.9, 1.2], "sdj (1)": [0.5]}
    many = users([k / 100 for k in range(100)], unhappy={3})
    halves = classes(*((f"u{k}", "sdj" if k < 40 else "batch", 1, 1, 0) for k in range(100)))
    drawn = draw_run(tables(users=many, classes=halves), "users")
    assert [sum(bar.get_height() for bar in axes.patches) for axes in drawn.axes] == [60, 40]


def test_users_of_the_same_classes_share_a_panel():
    both = classes(*((f"u{k}", kind, 1, 1, 0) for k in range(2) for kind in ("mandatory", "optional")))
    assert len(draw_run(tables(users=users([0.5, 1.0]), classes=both), "users").axes) == 1


def test_classes_show_users_jobs_and_response_times():
    table = jobs(
        ("u0", "sdj", "n", 0, 0, 4, 1, "done", 0),
        ("u0", "sdj", "n", 0, nan, 0, 1, "rejected", 0),
        ("u1", "batch", "n", 0, 5, 40, 1, "done", 0),
    )
    parts = classes(("u0", "sdj", 2, 1, 1), ("u1", "batch", 1, 1, 0))
    drawn = draw_run(tables(table, users=users([0.5, 1.0], unhappy={0}), classes=parts), "classes")
    people, work, times = drawn.axes
    assert [text.get_text() for text in people.get_yticklabels()] == ["sdj", "batch"]
    assert [bar.get_width() for bar in people.patches] == [0, 1, 1, 0]
    assert [bar.get_width() for bar in work.patches] == [0.5, 1.0, 0.5, 0.0]
    assert [text.get_text() for text in work.texts] == ["1", "1", "1", "0"]
    assert len(times.patches) == 2
    assert not missing(note(drawn), "2 users", "1 unhappy")


def test_waits_end_at_one_for_every_kind():
    axes = draw_run(KILLED, "waits").axes[0]
    assert len(axes.lines) == 2
    assert all(line.get_ydata()[-1] == 1 for line in axes.lines)
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {"mandatory (2)", "optional (1)"}
    assert "1 job never started" in note(draw_run(KILLED, "waits"))


def test_messages_have_a_panel_per_group_with_mean_and_largest():
    run = tables(
        messages=messages(
            ("master-agent", "discover", 0.0, 8),
            ("sed-000", "submit", 0.0, 4), ("sed-000", "cancel", 0.0, 2), ("sed-001", "submit", 2.0, 2),
        )
    )  # fmt: skip
    drawn = draw_run(run, "messages")
    assert [axes.get_title(loc="left") for axes in drawn.axes] == ["master-agent", "sed (2 agents)"]
    mean, largest = (patch.get_data().values.tolist() for patch in drawn.axes[1].patches)
    assert (mean, largest) == ([1.5, 0.5], [3.0, 1.0])


def test_groups_and_bins_of_messages():
    assert [group_of(name) for name in ("sed-003", "client-node", "a7", "12")] == [
        "sed",
        "client-node",
        "a",
        "12",
    ]
    assert bin_width(messages(("a", "k", 0.5, 1), ("a", "k", 1.0, 1), ("b", "k", 3.0, 1))) == 0.5
    assert bin_width(messages(("a", "k", 4.0, 1))) == 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_draw_is_said_in_one_line(kind):
    with pytest.raises(PlotError) as caught:
        draw_run(tables(), kind)
    assert str(caught.value).startswith("test/run: ")
    assert "\n" not in str(caught.value)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_written_from_a_folder(tmp_path, kind):
    full = replace(
        KILLED,
        users=users([0.5, 1.0]),
        signals=signals((0.0, "load", 1.0), (5.0, "load", 2.0)),
        messages=messages(("sed-000", "submit", 0.0, 4)),
        classes=classes(("u0", "mandatory", 2, 2, 0), ("u1", "optional", 2, 1, 0)),
    )
    folder = write(tmp_path / "run", full, replications=2)
    assert len(read_run(folder, 1).jobs) == len(KILLED.jobs)
    out = tmp_path / "pictures" / f"{kind}.png"
    draw_run_picture([folder], kind, out)
    assert out.read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in out.parent.iterdir()] == [out.name]


@pytest.mark.long
@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_picture_takes_the_place_of_one_of_ours_and_of_nothing_else(tmp_path, suffix):
    run = write(tmp_path / "run", KILLED)
    ours, theirs, link = (tmp_path / f"{name}.{suffix}" for name in ("ours", "theirs", "link"))
    draw_run_picture([run], "gantt", ours)
    first = ours.read_bytes()
    draw_run_picture([run], "gantt", ours)
    assert ours.read_bytes() == first
    Figure().savefig(theirs)
    link.symlink_to("nowhere")
    before = theirs.read_bytes()
    for path in (theirs, link):
        with pytest.raises(PlotError, match="gridtune has not drawn it"):
            draw_run_picture([run], "gantt", path)
    assert theirs.read_bytes() == before
    assert link.is_symlink()


def test_settings_of_the_user_change_no_picture(tmp_path):
    """A matplotlibrc may lie in the folder of somebody else."""
    run = write(tmp_path / "run", KILLED)
    draw_run_picture([run], "gantt", tmp_path / "a.svg")
    shown = draw_run(read_run(run), "gantt")._repr_png_()
    with rc_context({"text.usetex": True, "font.size": 30, "savefig.bbox": "tight", "axes.facecolor": "red"}):
        draw_run_picture([run], "gantt", tmp_path / "b.svg")
        assert draw_run(read_run(run), "gantt")._repr_png_() == shown
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_bad_input_is_found_first_and_leaves_nothing(tmp_path):
    run = write(tmp_path / "run", KILLED)
    before = sorted(tmp_path.rglob("*"))
    for message, arguments in {
        "no run is there": (tmp_path, "gantt", tmp_path / "a.png"),
        "pie: no such picture of a run; there are gantt": (run, "pie", tmp_path / "a.png"),
        "ends in png, svg or pdf, not in .gif": (run, "gantt", tmp_path / "a.gif"),
        "no job ran from 50 to 60 s": (run, "gantt", tmp_path / "a.png", (50.0, 60.0)),
    }.items():
        with pytest.raises(ScenarioError, match=message):
            draw_run_picture(arguments[:1], *arguments[1:])
    with pytest.raises(PlotError, match="replication 3: there are 1"):
        read_run(run, 3)
    (run / "jobs.parquet").write_bytes(b"no table")
    with pytest.raises(PlotError, match="cannot be read"):
        read_run(run)
    (run / "jobs.parquet").unlink()
    assert sorted(tmp_path.rglob("*")) == [path for path in before if path.name != "jobs.parquet"]


def test_a_table_of_too_many_rows_is_refused_before_it_is_read(tmp_path, monkeypatch):
    """A small file may hold so many equal rows that they fill the memory."""
    run = write(tmp_path / "run", KILLED)
    monkeypatch.setattr(limits, "TABLE_ROWS", 1)
    monkeypatch.setattr(pd, "read_parquet", None)
    with pytest.raises(PlotError, match=r"cannot be read: .* 1 rows"):
        read_run(run)


def test_what_the_reader_of_tables_does_not_support_is_damage(tmp_path, monkeypatch):
    def damaged(_):
        raise pyarrow.ArrowNotImplementedError("Integers with more than 64 bits not implemented")

    run = write(tmp_path / "run", KILLED)
    monkeypatch.setattr(pd, "read_parquet", damaged)
    with pytest.raises(PlotError, match="cannot be read: Integers"):
        read_run(run)


# What no column of that kind can be; nothing at all is no text, number or truth value either.
ODD = {
    columns.TEXT: [3.0, b"\xff", None],
    columns.TRUTH: [1, "x", None],
    columns.TIME: [True, "0", inf, nan, 1e300],
    columns.PERHAPS: [True, "0", inf, 1e300],
    columns.VALUE: [True, "0", 1e300],
}
COLUMN = [(table, column) for table, wanted in columns.COLUMNS.items() for column in wanted]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a run that has every table."""
    full = replace(
        KILLED,
        users=users([0.5, 1.0]),
        signals=signals((0.0, "load", 1.0), (5.0, "load", 2.0)),
        messages=messages(("sed-000", "submit", 0.0, 4)),
        classes=classes(("u0", "mandatory", 2, 2, 0), ("u1", "optional", 2, 1, 0)),
    )
    return write(tmp_path_factory.mktemp("whole") / "run", full)


@pytest.mark.parametrize(("name", "column"), COLUMN)
def test_a_table_that_no_run_has_written_is_refused_by_its_column(whole, name, column):
    path = whole / f"{name}.parquet"
    kept, table = path.read_bytes(), pd.read_parquet(path)
    what = columns.COLUMNS[name][column]
    try:
        table.drop(columns=column).to_parquet(path)
        with pytest.raises(PlotError, match=f"{path}: .* column {column}$"):
            read_run(whole)
        for value in ODD.get(what, [True, "0", nan, 0.5, -1e300]):
            table.assign(**{column: value}).to_parquet(path)
            with pytest.raises(PlotError, match=re.escape(f"column {column}: expected {what[0]}")):
                read_run(whole)
    finally:
        path.write_bytes(kept)


def test_tables_that_are_not_of_one_run_are_refused(whole, tmp_path):
    folder = shutil.copytree(whole, tmp_path / "run")
    jobs = pd.read_parquet(folder / "jobs.parquet")
    jobs.drop(index=0).to_parquet(folder / "jobs.parquet")
    with pytest.raises(PlotError, match=r"events .*jobs\.parquet"):
        read_run(folder)
    jobs.assign(id=1).to_parquet(folder / "jobs.parquet")
    with pytest.raises(PlotError, match="two jobs have one id"):
        read_run(folder)


@pytest.mark.parametrize(
    "text", ["[]", "{}", "[" * 5000, '{"scenario": 3}', '{"scenario": "x", "replications": "2"}', "\x00"]
)
def test_a_manifest_that_no_run_has_written_is_refused(whole, tmp_path, text):
    folder = shutil.copytree(whole, tmp_path / "run")
    (folder / "manifest.json").write_text(text)
    with pytest.raises(PlotError, match=r"manifest\.json: "):
        read_run(folder)


def test_more_intervals_of_messages_than_can_be_drawn_are_refused():
    run = tables(messages=messages(("a", "k", 0.0, 1), ("a", "k", 1e-3, 1), ("a", "k", 1e9, 1)))
    with pytest.raises(PlotError, match=r"1e\+12 intervals of 0.001 s .* --window FROM:TO"):
        draw_run(run, "messages")
    assert draw_run(run, "messages", (0.0, 1.0)).axes


@pytest.mark.long
def test_names_with_dollars_are_no_formulas_and_strange_letters_no_warnings(tmp_path, recwarn):
    named = jobs(
        ("$\\frac$", "用户", "$\\x$", 0, 0, 1, 1, "done", 0), ("b", "$^$", "n", 0, 9, 99, 1, "done", 0)
    )
    run = replace(tables(named, users=users([0.5, 1.0]).assign(user=["$\\frac$", "用户"])), name="$\\frac$")
    for kind in ("gantt", "users", "waits"):
        save(draw_run(run, kind), tmp_path / "picture.svg")
    drawn = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert ">$\\frac$: waiting times<" in drawn
    assert ">$^$ (1)<" in drawn
    assert not recwarn.list


def test_formats_and_units_of_time():
    assert [picture_format(name) for name in ("a.PNG", "b.svg", "c.pdf")] == ["png", "svg", "pdf"]
    assert [time_unit(span)[1] for span in (100, 1200, 86400, 864000)] == ["s", "min", "h", "days"]
