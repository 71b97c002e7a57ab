"""What figures of reproduced papers show stands as CSV beside them, published values included."""

import csv
from pathlib import Path

import pytest

from gridtune.scenarios.commands.reproduce import run_paper
from gridtune.scenarios.reproduction.figures import published, save


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return [
            (row["panel"], row["series"], row["drawn_as"], row["x"], row["y"]) for row in csv.DictReader(file)
        ]


def test_everything_that_is_drawn_is_a_row(tmp_path):
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2)
    left.set_title("a, b")
    left.plot([1, 2], [3, 4], label="curve")
    left.axhline(7.0, label="level")
    left.axvline(8.0)
    left.bar([1], [5.0], width=1.0, label="bars")
    left.scatter([9], [10])
    right.set_ylabel("share")
    right.stairs([1, 2], [0, 10, 20])
    right.fill_between([0, 1], [0, 0], [1, 1])
    published(right, "paper", 1890.0, 0.5)
    published(right, "paper, level", y=1842.0)
    save(figure, tmp_path / "f.png")
    rows = rows_of(tmp_path / "f.csv")
    assert (tmp_path / "f.png").stat().st_size > 1000
    for row in (
        ("1: a, b", "curve", "points", "1", "3"),
        ("1: a, b", "curve", "points", "2", "4"),
        ("1: a, b", "level", "line", "", "7"),
        ("1: a, b", "", "line", "8", ""),
        ("1: a, b", "bars", "bar to", "1.5", "5"),
        ("1: a, b", "", "points", "9", "10"),
        ("2: share", "", "steps", "10", "2"),
        ("2: share", "", "outline", "1", "1"),
        ("2: share", "paper", "points", "1890", "0.5"),
        ("2: share", "paper, level", "line", "", "1842"),
    ):
        assert row in rows


def test_the_example_ends_where_the_paper_says(tmp_path):
    run_paper("deadline/example", 1, 1, 1, tmp_path / "out", quick=True)
    rows = rows_of(tmp_path / "out" / "figure-2.csv")
    ends = {(float(x), round(float(y) - 0.35)) for _, _, kind, x, y in rows if kind == "bar to"}
    stars = {(float(x), float(y)) for _, series, _, x, y in rows if series.startswith("RR-5335")}
    assert stars == ends
    assert len(stars) == 5


@pytest.mark.long
def test_no_table_takes_the_place_of_what_a_figure_shows(tmp_path):
    made = run_paper("batcigri/controllers", 1, 1, 1, tmp_path / "out", quick=True)
    for figure in map(Path, made["figures"]):
        assert rows_of(figure.with_suffix(".csv"))
    assert (tmp_path / "out" / "controllers-quality.csv").read_text().startswith("controller,end,mean")
