"""Tables keep the terminal's width and say numbers as people do."""

from dataclasses import replace
from io import StringIO

import pytest

from gridtune.model.metrics.registry import ALWAYS
from gridtune.optimize.commands.front import front_text
from gridtune.optimize.front.front import front
from gridtune.optimize.front.terminal import (
    laid_out,
    merged,
    short_names,
    table,
    terminal_width,
    varying,
    wrapped,
)
from gridtune.optimize.records.evaluations import Objective
from gridtune.scenarios import load, simulate
from gridtune.scenarios.results.amounts import human, human_difference
from gridtune.scenarios.results.headline import HEADLINE, OTHERS, grouped, part_of
from gridtune.scenarios.results.printing import print_classes, print_metrics
from tests.fronts import COMPLETED, UNFAIR, archive, evaluation, search


@pytest.mark.parametrize("width", [80, 120, 200])
def test_no_line_of_a_front_is_wider_than_the_terminal(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = front_text(front(replace(search(), today=0)), "table").splitlines()
    assert max(map(len, lines)) <= width
    assert any(line.startswith("today") or "today" in line.split()[:3] for line in lines)


def test_a_table_that_is_too_wide_has_a_column_for_each_point():
    names = ["point", "alpha", "betas", "gamma"]
    rows = [names, *([f"{point}{part}" for part in "0abc"] for point in (1, 2, 3))]
    assert laid_out(rows, 80).splitlines()[0].split() == names
    narrow = laid_out(rows, 15).split("\n\n")
    assert [block.splitlines()[0].split() for block in narrow] == [["point", "10", "20"], ["point", "30"]]
    assert narrow[0].splitlines()[2].split() == ["betas", "1b", "2b"]
    # What fits nowhere has a block for each point all the same.
    assert [block.split()[1] for block in laid_out(rows, 3).split("\n\n")] == ["10", "20", "30"]


def test_where_nothing_says_how_wide_it_is_a_page_is_120_columns_wide(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("sys.stdout", StringIO())
    assert terminal_width() == 120


def test_titles_have_units_but_for_times_which_have_their_own():
    found = front(archive((Objective("waiting_mean", "minimize", "s"), COMPLETED), (60.0, 5), (30.0, 4)))
    title = table(found, 200).splitlines()[0]
    assert "[s]" not in title
    assert "[GB]" in table(front(archive((Objective("used", "minimize", "GB"),), (6.0,))), 200)


def test_only_parameters_that_vary_are_shown():
    points = [
        evaluation(k, (UNFAIR, COMPLETED), one, values={"a.x": k, "a.fixed": 3})
        for k, one in enumerate([(0.1, 5), (0.2, 6)])
    ]
    found = front(replace(archive((UNFAIR, COMPLETED)), evaluations=tuple(points)))
    assert varying(found) == ["a.x"]
    moved = replace(found, archive=replace(found.archive, today=0, present={"a.x": 0, "a.fixed": 4}))
    assert varying(moved) == ["a.x", "a.fixed"]
    assert "fixed" not in table(found, 200)


def test_points_that_cannot_be_told_apart_share_a_row_with_the_range_of_their_settings():
    noise = (0.0, 0.5, -0.5, 0.25, -0.25)
    same = [[tuple(k + x for x in noise) for k in (1.0, 2.0)] for _ in range(2)]
    other = [tuple(v + 0.3 * (-1) ** k for k, v in enumerate(one)) for one in same[1]]
    far = [tuple(v - 5 for v in same[0][0]), tuple(v - 5 for v in same[0][1])]
    study = archive((UNFAIR, COMPLETED), *[((0,), (0,))] * 3, fresh=[same[0], other, far])
    found = front(study)
    groups = merged(found)
    assert sorted(len(group.members) for group in groups) == [1, 2]
    assert "0 to 1" in table(found, 200)


def test_where_nothing_is_left_to_chance_there_is_neither_plus_minus_nor_p():
    outcomes = [((0.1, 0.1), (5, 5)), ((0.3, 0.3), (9, 9))]
    luckless = table(front(archive((UNFAIR, COMPLETED), *outcomes, today=0)), 120)
    assert "vs today" in luckless
    assert "+4" in luckless
    assert not {"±", "P", "?"} & {*luckless.replace("\n", " ").split(" ")}
    five = ((0.1,) * 5, (5,) * 5), ((0.3, 0.2, 0.3, 0.2, 0.3), (9, 8, 9, 8, 9))
    lucky = table(front(archive((UNFAIR, COMPLETED), *five, today=0)), 120)
    assert {"±", "P"} <= {*lucky.replace("\n", " ").split(" ")}


def test_numbers_are_said_as_people_do():
    assert [human(x, "s") for x in (11700, 59, 300, 1.2317e7)] == ["3.25 h", "59 s", "5 min", "143 d"]
    assert [human(x) for x in (1845.4, 0.012345, 3, 12.34e6)] == ["1845", "0.0123", "3", "12.3M"]
    assert human_difference(-7200, 1800, "s") == "-2.00 ± 0.50 h"
    assert human_difference(0, 0) == "="
    assert human_difference(2.5, None) == "+2.5"


def test_ends_of_paths_tell_them_apart():
    paths = ["site.a.policy", "site.b.policy", "client.n_submit"]
    assert list(short_names(paths).values()) == ["a.policy", "b.policy", "client.n_submit"]


def test_sentences_are_broken_between_words():
    lines = wrapped(["  one two three four five"], 14)
    assert lines == ["  one two", "    three four", "    five"]


def test_every_metric_belongs_to_a_part_and_those_that_matter_come_first(capsys):
    metrics = simulate(load("diet/day-regular").override({"workload.count": 2})).metrics
    assert {part_of(name) for name in (*metrics, *ALWAYS)} <= set(grouped([*metrics, *ALWAYS])) - {OTHERS}
    given = {
        name: {"mean": one.value, "standard_error": None, "unit": one.unit} for name, one in metrics.items()
    }
    print_metrics(given | {"mine": {"mean": 3.0, "standard_error": None, "unit": ""}}, every=False)
    short = capsys.readouterr().out.split()
    assert {"mine", *HEADLINE} & {*given, "mine"} <= set(short)
    assert "waiting_p95" not in short
    print_metrics(given, every=True)
    assert set(given) <= set(capsys.readouterr().out.split())


@pytest.mark.parametrize(("errors", "told"), [((None, None), False), ((0.0, 0.0), False), ((0.0, 0.5), True)])
def test_standard_errors_have_a_column_where_there_are_any(errors, told, capsys):
    names = ("completed", "waiting_mean")
    print_metrics(
        {
            name: {"mean": 3.0, "standard_error": one, "unit": ""}
            for name, one in zip(names, errors, strict=True)
        },
        every=True,
    )
    assert ("standard error" in capsys.readouterr().out) == told


def test_classes_that_do_not_fit_side_by_side_stand_in_tables_below_each_other(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    value = {"mean": 123456.0, "standard_error": 1234.0, "unit": "s"}
    kinds = [f"class-{k}" for k in range(9)]
    print_classes({kind: {"waiting_mean": value, "satisfaction_mean": value} for kind in kinds})
    shown = capsys.readouterr().out
    assert set(kinds) <= set(shown.split())
    assert max(map(len, shown.splitlines())) <= 80
    assert "34.3 h ± 20.6 min" in shown
    assert "…" not in shown


def test_what_no_point_of_a_block_has_is_no_row_of_it():
    rows = [["point", "a", "b"], ["1", "5", "-"], ["2", "-", "77"]]
    assert laid_out(rows, 8) == "point  1\na      5\n\npoint  2\nb      77\n"
