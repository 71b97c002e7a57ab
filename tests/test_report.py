"""One data frame of a study: the answer, tables, JSON, CSV and LaTeX say the same of it."""

import json
import re
from dataclasses import replace
from io import StringIO

import pandas as pd
import pytest

import gridtune as gt
from gridtune.model.metrics.labels import label
from gridtune.model.metrics.registry import METRICS
from gridtune.optimize.front.front import front
from gridtune.optimize.records.difference import Change, Difference
from gridtune.optimize.records.evaluations import (
    EXCESS_LOSS,
    EXCESS_WAIT,
    Archive,
    Constraint,
    Estimate,
    Failed,
    Objective,
)
from gridtune.optimize.records.recommendation import Harm, ParameterChange, Refusal
from gridtune.optimize.replication.guards import NO_MORE_LOSS, NO_STARVATION
from gridtune.optimize.report import frame as frames
from gridtune.optimize.report.answer import (
    _fitted,
    _shapes,
    answer,
    caveats,
    changes_text,
    comparison_rows,
    comparison_table,
    legend,
)
from gridtune.optimize.report.export import to_csv, to_dict, to_latex
from gridtune.optimize.report.frame import Column, frame, rows, texts
from gridtune.optimize.report.numbers import amount, change, metric_label, path_label, relative, with_half
from gridtune.optimize.report.numbers import plain as of_people
from gridtune.optimize.report.recommended import (
    all_harms,
    change_groups,
    harm_text,
    harms_text,
    is_main,
    why_none,
)
from gridtune.optimize.report.tables import (
    SHOWN,
    front_text,
    listed,
    reference_text,
    spread,
    statistics_text,
)
from gridtune.scenarios.results.text import text_table, wrapped
from tests.facts import missing, unstated
from tests.fronts import COMPLETED, THREE, UNFAIR, advised, archive, estimate, search, with_baseline

GOODPUT = Objective("goodput", "maximize")
WAIT = Objective("waiting_mean", "minimize", "s")


@pytest.fixture(scope="module")
def found():
    return advised(front(with_baseline(search(40))))


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("slowdown_geometric", "slowdown (geometric mean)"),
        ("unfairness_jain", "unfairness (1 - Jain index)"),
        ("goodput", "goodput (share of capacity)"),
        ("waiting_p95.sdj", "waiting time of sdj jobs (95th percentile)"),
        ("meta_response_mean", "response time of meta-tasks (mean)"),
        ("my_own", "my own"),
        ("lost_jobs.task", "lost task jobs"),
        ("waited_day.length-long", "jobs of 1 to 8 h that waited longer than a day"),
        ("lost_jobs.worst-size", "lost jobs of the worst class by processors"),
    ],
)
def test_metrics_are_labelled_as_people_write_them(name, written):
    assert str(label(name)) == written


def test_no_two_metrics_of_a_run_have_one_label():
    every = [str(label(name)) for name in METRICS if "." not in name]
    assert len(set(every)) == len(every)


def test_shares_are_percentages_and_times_have_their_unit():
    assert (amount(0.768, GOODPUT), amount(14.0, WAIT), amount(7200.0, WAIT)) == ("76.8 %", "14 s", "2 h")
    assert with_half(0.768, 0.0213, GOODPUT) == "76.8 ± 2.1 %"
    assert with_half(7200.0, 360.0, WAIT) == "2.00 ± 0.10 h"
    assert with_half(1.35, None, UNFAIR) == "1.35"
    assert metric_label(COMPLETED) == "completed jobs"
    assert metric_label(Objective("energy", "minimize", "kWh")) == "energy (kWh)"


def test_a_change_is_told_in_per_cent_of_the_baseline_or_in_points():
    def gap(mean, metric=UNFAIR, half=0.01):
        return Change(metric, 0.0, mean, Difference(mean, half / 2, mean - half, mean + half, 0.99, 5))

    assert change(gap(-0.27), 1.63) == "-17 %"
    assert change(gap(-0.021, GOODPUT), 0.79) == "-2.1 points"
    assert change(gap(0.005), 1.63) == "n.s."
    once = Change(UNFAIR, 0.0, -0.27, Difference(-0.27, None, None, None, None, 1))
    assert change(once, 1.63) == "-17 % ?"
    assert relative(4.0, 1.0, UNFAIR) == "x 5"
    log = Objective("slowdown_mean_log", "minimize")
    assert (relative(-0.301, 1.06, log), relative(1.0, -0.5, log)) == ("-50 %", "x 10")
    assert relative(3.0, 0.0, COMPLETED).startswith("+3")


def test_an_ambiguous_name_carries_its_whole_path():
    paths = ["site.a.vres.sdj", "middleware.poll_period", "site.b.window", "site.a.window", "x.a_b", "y.a_b"]
    assert [path_label(one, paths) for one in paths] == [
        "site.a.vres.sdj", "poll_period", "site.b.window", "site.a.window", "x.a_b", "y.a_b",
    ]  # fmt: skip
    assert path_label("site.orsay.vres.sdj", [], 12) == "site.orsay.\nvres.sdj"


def test_a_table_never_breaks_a_cell_but_goes_on_below():
    titles, cells = ["no.", *"abc"], [["1", "x" * 20, "y" * 20, "z" * 20], ["22", "x", "y", "z"]]
    lines = text_table(titles, cells, 50).splitlines()
    assert max(map(len, lines)) <= 50
    assert sum(line.startswith("no.") for line in lines) == 2
    assert sum("z" * 20 in line for line in lines) == sum("y" * 20 in line for line in lines) == 1
    assert len(text_table(titles, cells, 80).splitlines()) == 3


@pytest.mark.long
def test_a_terminal_shows_a_dozen_of_the_front_with_the_best_of_each_objective():
    found = advised(front(with_baseline(search(160))))
    shown = [row for row in spread(found) if row.on_front and not row.advice and not row.is_baseline]
    every = [row for row in listed(found) if row.on_front and not row.advice and not row.is_baseline]
    assert len(shown) == SHOWN < len(every)
    for objective in found.objectives:
        turn = -1 if objective.direction == "maximize" else 1
        best = min(turn * found.value(row.number, objective) for row in every)
        assert best in [turn * found.value(row.number, objective) for row in shown]
    said = front_text(found, spread(found), 80)
    assert f"{len(found.on_front) - len([r for r in spread(found) if r.member and r.on_front])} more" in said
    assert "more configuration" not in front_text(found, listed(found), 80)


def test_the_answer_fits_24_lines_of_80_columns(found):
    said = answer(found, 80, study="results/x", seconds=193.4)
    lines = said.splitlines()
    assert len(lines) <= 24, said
    assert max(map(len, lines)) <= 80
    assert all(line == line.rstrip() for line in lines)
    assert "40 configurations" in lines[0] or "42 configurations" in lines[0]
    assert "3 min 13 s" in lines[0]
    assert "gridtune front results/x --export A > a.toml" in said
    assert "gridtune front 'Süche 1' --export A > a.toml" in answer(found, 80, study="Süche 1")
    assert not missing(" ".join(said.split()), "optional requests", "50 s -> 3.17 min")
    for one in found.archive.recommendations:
        assert any(line.startswith(f"{one.letter} ") for line in lines)
        assert all(path.path in said for path in one.changes[:1])


def test_the_answer_fits_with_four_objectives_and_many_changes(found):
    extra = tuple(ParameterChange(f"site.orsay.queue.parameter_{k}", k, k + 1) for k in range(9))
    some = [
        replace(one, letter=letter, changes=one.changes + extra, harms=tuple(map(replace, 3 * one.harms)))
        for one, letter in zip(found.archive.recommendations, "ABC", strict=True)  # no search makes more
    ]
    many = replace(found)
    object.__setattr__(many, "archive", replace(found.archive))
    object.__setattr__(many.archive, "recommendations", tuple(some))
    said = answer(many, 80, study="results/x", seconds=1.0)
    assert len(said.splitlines()) <= 24, said
    assert max(map(len, said.splitlines())) <= 80
    assert "more change" in said
    assert said.index("with A: waiting time") < said.index("baseline"), (
        "harm is never left out, and stands before any gain"
    )


@pytest.mark.parametrize("kind", [{}, {"part": 1 / 6}, {"load": 1.2}])
def test_the_answer_fits_with_harm_of_every_kind_and_names_the_first(found, kind):
    every = [Harm(f"waited_p95.queue-{k}", "s", 100.0, 900.0) for k in range(5)]
    last = [replace(one, **more) for one in every for more in ({"part": 1 / 6}, {"load": 1.2})]
    harms = (replace(every[0], **kind), *every[1:], *last)
    some = tuple(replace(found.archive.recommendations[0], letter=letter, harms=harms) for letter in "ABC")
    many = replace(found, archive=replace(found.archive, recommendations=some))
    five = tuple(ParameterChange(f"site.orsay.vres.parameter_{k}", k, k + 1) for k in range(5))
    for advice in (
        some,
        *([replace(one, changes=each) for one in some] for each in (some[0].changes[:1], five)),
    ):
        object.__setattr__(many.archive, "recommendations", tuple(advice))
        said = answer(many, 80, study="results/x", seconds=1.0)
        assert len(said.splitlines()) <= 24, said
        assert max(map(len, said.splitlines())) <= 80
        assert said.count("queue 1" if kind else "queue 0") == 3, said


def test_what_fits_exactly_is_told_in_full(found):
    every = tuple(Harm(f"waited_p95.queue-{k}", "s", 100.0, 900.0) for k in range(5))
    few = tuple(ParameterChange(f"sed.parameter_{k}", k, k + 1) for k in range(6))
    one = replace(found.archive.recommendations[0], harms=every, changes=few, objectives={})
    full = [len(lines) for lines in _fitted([one], 99, 80, titled=True)]
    assert [len(lines) for lines in _fitted([one], sum(full), 80, titled=True)] == full
    assert sum(len(lines) for lines in _fitted([one], sum(full) - 1, 80, titled=True)) < sum(full)


def test_five_harms_of_a_recommendation_are_named_however_much_room_there_is(found):
    every = tuple(Harm(f"waited_p95.queue-{k}", "s", 100.0, 900.0) for k in range(9))
    one = replace(found.archive.recommendations[0], harms=every, objectives={})
    harm, _ = _fitted([one], 99, 80, titled=True)
    assert " ".join(harm).count("queue") == 5


def test_up_to_five_changes_of_a_single_recommendation_are_told_in_full(found):
    for count, shapes in ((5, 2), (6, 3)):
        some = tuple(ParameterChange(f"sed.parameter_{k}", k, k + 1) for k in range(count))
        one = replace(found.archive.recommendations[0], changes=some)
        told = [len(shape) for shape in _shapes(one, 80, titled=True, alone=True)]
        assert len(told) == shapes, told


def test_harm_has_the_room_of_two_commands(found):
    every = tuple(Harm(f"waited_p95.queue-{k}", "s", 100.0, 900.0) for k in range(5))
    (first, *_) = found.archive.recommendations
    few = tuple(ParameterChange(f"sed.parameter_{k}", k, k + 1) for k in range(5))
    for harms in (every[:1], every):
        both = tuple(replace(first, letter=letter, harms=harms, changes=few) for letter in "AB")
        some = replace(found, archive=replace(found.archive, recommendations=both))
        said = answer(some, 80, study="results/x", seconds=1.0)
        assert ("Pareto front (" in said) == (harms != every), said
        assert "export-diff A" in said


def test_where_a_comparison_is_too_wide_titles_give_way_first_then_values(found):
    (first, *_) = found.archive.recommendations
    (row,) = [row for row in rows(found) if row.name == first.letter]
    seen = {}
    for width in range(160, 40, -4):
        table = comparison_table(found, width)
        line = next(one for one in table.splitlines() if one.startswith("A"))
        if "\n\n" not in table:  # it is in one piece
            shown = all(amount(row.mean(one), one) in line for one in found.objectives)
            seen[first.title in line, shown] = width
    assert list(seen) == [(True, True), (False, True), (False, False)]


def test_every_report_shows_one_value_of_a_quantity(found):
    table = frame(found)
    made = to_dict(found)
    printed = pd.read_csv(StringIO(to_csv(found)), index_col="number")
    _, cells, _ = texts(found, listed(found))
    page_rows = {row[0]: row for row in cells}
    for row in listed(found):
        for at, objective in enumerate(found.objectives, start=1):
            value = row.mean(objective)
            assert table.loc[row.number, objective.name] == pytest.approx(value)
            assert printed.loc[row.number, objective.name] == pytest.approx(value)
            half = row.changes[objective.name].difference.half if row.changes else None
            assert page_rows[row.name][at] == with_half(value, half, objective)
    by_number = {one["number"]: one for one in made["front"]}
    for number, one in by_number.items():
        for name, value in one["estimated"].items():
            assert value == pytest.approx(table.loc[number, name], abs=0.01)
    said = answer(found, 200)
    standing = found.archive.standing
    for objective in found.objectives:
        assert amount(found.value(standing.number, objective), objective) in said


@pytest.mark.long
def test_values_differ_from_the_baseline_by_the_difference_that_is_told():
    made = gt.search("diet/day-irregular", budget=30, seed=301, validation_replications=6, progress=False)
    table = made.configurations
    (baseline,) = table.index[table.state == "baseline"]
    for name in ("unhappy_users", "unfairness", "completed"):
        apart = table[name] - table.loc[baseline, name] - table[f"{name}_difference"].fillna(0.0)
        assert apart.abs().max() < 1e-6, name


def test_a_recommendation_differs_from_the_baseline_by_what_its_confirmation_says(found):
    (first,) = [row for row in rows(found) if row.name == "A"]
    standing = next(row for row in rows(found) if row.is_baseline)
    for objective in found.objectives:
        gap = first.advice.objectives[objective.name].difference.mean
        assert first.mean(objective) - standing.mean(objective) == pytest.approx(gap)


def test_a_new_column_is_one_entry(found, monkeypatch):
    new = Column("changed", lambda row: len(row.values), "changed values")
    monkeypatch.setattr(frames, "TAIL", (*frames.TAIL, new))
    assert "changed" in frame(found)
    assert "changed" in to_csv(found).splitlines()[0]
    assert "changed values" in to_latex(found)
    assert "changed values" in " ".join(front_text(found, listed(found), 300).split())


def test_the_frame_has_every_configuration_once_and_knows_its_state(found):
    table = frame(found)
    archive_of = found.archive
    assert sorted(table.index) == [*range(40), 40, 41]
    assert table["state"].value_counts()[["baseline", "failed"]].tolist() == [1, 2]
    assert set(table.index[table["on_front"]]) >= {one.number for one in found.on_front}
    assert table.index[0] == archive_of.baseline
    assert table["name"].tolist()[1:4] == ["A", "B", "C"]
    assert table.loc[40, "failure"] == "broke"
    assert table["completed"].dtype == float


def test_further_metrics_have_columns_unless_they_are_there_already():
    study = archive((UNFAIR,), (0.5,), (0.7,))
    told = tuple(replace(one, metrics={"unfairness": 9.0, "makespan": 100.0}) for one in study.evaluations)
    found = front(replace(study, evaluations=told))
    table = frame(found)
    assert table["makespan"].tolist() == [100.0, 100.0]
    assert table["unfairness"].tolist() == pytest.approx([0.5, 0.7])
    assert list(frame(found, metrics=False)) == [name for name in table if name != "makespan"]


def test_the_front_has_a_row_for_each_configuration_and_more_on_request(found):
    some = listed(found)
    said = front_text(found, some, 80)
    assert max(map(len, said.splitlines())) <= 80
    numbers = {row.number for row in some}
    assert numbers >= {one.number for one in found.on_front} | {found.archive.baseline}
    assert len(rows(found)) == 42 > len(some)
    assert to_csv(found).count("\n") == len(some) + 1


def test_statistics_stand_behind_a_flag(found):
    said = statistics_text(found, 80)
    assert "Hypervolume" in said
    assert "Hypervolume" not in front_text(found, listed(found), 80)


def test_latex_escapes_and_stands_in_a_tabular(found):
    text = to_latex(found)
    assert text.startswith(r"\begin{tabular}")
    assert r"$\pm$" in text
    assert not re.search(r"(?<!\\)[_%#]", text)
    (columns,) = re.findall(r"^.begin{tabular}{([lr]+)}$", text, re.MULTILINE)
    cells = [line.count(" & ") + 1 for line in text.splitlines() if line.endswith(r"\\")]
    assert set(cells) == {len(columns)}


def test_json_keeps_its_shape(found):
    made = json.loads(json.dumps(to_dict(found)))
    assert {"study", "objectives", "evaluations", "hypervolume", "front", "recommendations"} <= made.keys()
    assert made["baseline"]["number"] == 0
    for one in made["front"]:
        assert one["non_dominated"] is True
        assert {"values", "objectives", "validated", "probability_non_dominated"} <= one.keys()
        assert {"mean", "standard_error"} == one["objectives"]["completed"].keys()
    first = made["recommendations"][0]
    assert (first["name"], first["number"]) == ("A", found.archive.recommendations[0].number)
    assert first["changes"][0].keys() >= {"path", "before", "after"}


def plain(*configurations, **facts):
    return front(archive((UNFAIR, COMPLETED), *configurations, **facts))


def test_the_reason_is_told_where_nothing_is_recommended():
    once = plain((0.5, 10.0), (0.4, 12.0), baseline=0)
    assert "--replications 2" in why_none(once)
    same = plain(((0.5, 0.5), (10.0, 10.0)), ((0.6, 0.6), (9.0, 9.0)), baseline=0)
    assert not missing(why_none(same), "--resume", "--budget")
    better = plain(((0.5, 0.6), (10.0, 11.0)), ((0.1, 0.2), (20.0, 21.0)), baseline=0)
    assert missing(why_none(better), "--resume", "--budget") == ["--budget"]
    assert "no baseline" in why_none(plain((0.5, 10.0)))
    broke = plain((0.5, 10.0), failed=(Failed(0, {}, "broke"),), present={"client.n_submit": 3})
    assert not missing(why_none(broke), "baseline", "(broke)")
    none = front(Archive("s", "s", THREE, (), (Failed(0, {}, "broke"),)))
    assert "could be evaluated" in why_none(none)
    assert not unstated(caveats(none), ["1 of 1", "broke"])
    bound = (Constraint("completed", ">=", 50.0, "jobs"),)
    broken = archive((UNFAIR, COMPLETED), (0.5, 10.0), baseline=0)
    cases = tuple(replace(one, cases={"": one.objectives}) for one in broken.evaluations)
    assert "completed>=50" in why_none(front(replace(broken, evaluations=cases, constraints=bound)))
    alone = plain(((0.5, 0.6), (10.0, 11.0)), baseline=0)
    assert "Only the baseline" in why_none(alone)
    pair = archive((UNFAIR, COMPLETED), ((0.5, 0.5), (10.0, 10.0)), ((0.6, 0.6), (9.0, 9.0)), baseline=0)
    least = (Constraint("completed", ">=", 5.0, "jobs"),)
    first, second = (replace(one, cases={"": one.objectives}) for one in pair.evaluations)
    checked = replace(
        second,
        validated=second.objectives,
        validated_cases={"": second.objectives | {"completed": Estimate.of([1.0, 1.0])}},
    )
    unsafe = front(replace(pair, evaluations=(first, checked), constraints=least))
    assert not missing(why_none(unsafe), "1 configuration", "checks", "gridtune front --all")
    for one in (once, same, better, none, alone, unsafe):
        lines = answer(one, 80, study="results/x").splitlines()
        assert len(lines) <= 24
        assert max(map(len, lines)) <= 80
    assert "--out DIR" in answer(once, 80)


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        (EXCESS_LOSS, ["Excluded: 1", "mandatory work"]),
        (EXCESS_WAIT, ["Excluded: 1", "wait"]),
    ],
)
def test_a_guard_is_introduced_only_where_it_excludes_something(metric, said):
    guard = (Constraint(metric, "<=", 0.0),)
    base = archive((UNFAIR, COMPLETED), ((0.5, 0.6), (10.0, 11.0)), ((0.1, 0.1), (30.0, 30.0)), baseline=0)

    def lost(*amounts):
        configurations = [
            replace(one, cases={"": {**one.objectives, metric: Estimate(x, 0.0, (x, x))}})
            for one, x in zip(base.evaluations, amounts, strict=True)
        ]  # fmt: skip
        return front(replace(base, evaluations=tuple(configurations), constraints=guard))

    assert any(not missing(line, *said) for line in answer(lost(0.0, 1.0), 80).splitlines())
    kept = lost(0.0, 0.0)
    assert "Excluded" not in answer(kept, 80)
    assert str(label(metric)) not in " ".join(answer(kept, 80).split())
    assert "<= 0" not in front_text(kept, listed(kept), 80)


def test_changes_of_what_is_chosen_stand_behind_the_choice():
    changes = [
        ParameterChange("a.sdj", 0.3, 0.6, {}, 0.7),
        ParameterChange("h.controller.reference", 32, 28),
        ParameterChange("middleware.epsilon", None, 0.09),
        ParameterChange("h.controller", "pi", "p"),
        ParameterChange("middleware.kind", "push", "pull"),
    ]
    groups = change_groups(changes)
    assert list(groups) == ["a.sdj", "h.controller", "middleware.kind"]
    assert [is_main(group) for group in groups.values()] == [True, False, False]
    assert [one.path for one in groups["h.controller"]] == ["h.controller", "h.controller.reference"]


def test_a_recommendation_tells_its_changes_in_a_line_each(found):
    first = found.archive.recommendations[0]
    lines = changes_text(first, 80)
    assert len(lines) == 1 + len(change_groups(first.changes))
    assert lines[0] == f"  A  {first.title}"
    many = tuple(ParameterChange(f"sed.parameter_{k}", k, k + 1) for k in range(6))
    shapes = _shapes(replace(first, changes=many[:5]), 80, titled=True, alone=True)
    assert [len(one) for one in shapes] == [5, 2], "five are all named"
    told = [f"sed.parameter_{k} {k} -> {k + 1}" for k in range(6)]
    assert not unstated(shapes[1], ["A", *told[:3]], told[3:5])
    shapes = _shapes(replace(first, changes=many), 80, titled=True, alone=True)
    assert not unstated(shapes[-1], ["A", *told[:2], "4 more"])
    assert missing(shapes[-1][0], *told) == told[2:]


def test_harm_is_named_as_far_as_there_is_room_the_first_in_any_case(found):
    (one,) = found.archive.recommendations[:1]
    every = tuple(Harm(f"waited_p95.queue-{k}", "s", 100.0, 900.0) for k in range(9))
    many = replace(one, harms=every, changes=one.changes[:1], objectives={})
    for room in range(12, 0, -1):
        harm, changes = _fitted([many], room, 80, titled=True)
        assert len(harm) + len(changes) <= max(room, 3)
        named, said = [f"queue {k} " in " ".join(harm) for k in range(9)], " ".join(harm)
        assert named[0]
        assert named == sorted(named, reverse=True)
        assert all(named) or f"and {9 - sum(named)} other" in said
    assert not all(named)
    whole = " ".join(harms_text(many))
    assert all(f"queue {k} " in whole for k in range(9))


def test_an_objective_that_gets_worse_by_over_a_tenth_is_harm_too(found):
    (one,) = found.archive.recommendations[:1]
    sure = Difference(1.0, 0.01, 0.9, 1.1, 0.99, 9)

    def told(start, to, name="slowdown_mean_log", gap=sure):
        objective = Objective(name, "minimize")
        return harms_text(replace(one, harms=(), objectives={name: Change(objective, start, to, gap)}))

    assert not unstated(told(1.0, 2.0), ["10 % with A", "slowdown (mean) 10 -> 100"])
    nothing = ["Worse by over 10 % with A: nothing found"]
    assert told(1.0, 1.04, gap=replace(sure, mean=0.04, low=0.03, high=0.05)) == nothing, "by 9.6 %"
    assert told(2.0, 1.0, gap=replace(sure, mean=-1.0, low=-1.1, high=-0.9)) == nothing
    assert told(1.0, 2.0, gap=replace(sure, low=-0.1)) == nothing, "not significant"
    assert not unstated(told(10.0, 11.5, "waiting_mean"), ["waiting time (mean) 15 % higher"])


def test_an_objective_that_is_told_among_the_harms_is_told_once_and_json_has_it(found):
    (one,) = found.archive.recommendations[:1]
    sure = Difference(1.0, 0.01, 0.9, 1.1, 0.99, 9)
    worse = {"slowdown_mean_log": Change(Objective("slowdown_mean_log", "minimize"), 1.0, 2.0, sure)}
    harmed = (Harm("slowdown_mean", "", 10.0, 99.0),)
    assert " ".join(harms_text(replace(one, harms=harmed, objectives=worse))).count("slowdown") == 1
    for told in to_dict(found)["recommendations"]:
        (known,) = (known for known in found.archive.recommendations if known.letter == told["name"])
        assert [harm["metric"] for harm in told["harms"]] == [harm.metric for harm in all_harms(known)]


def test_harm_under_a_higher_load_is_of_no_log_as_it_is(found):
    (one,) = found.archive.recommendations[:1]
    harms = [Harm("waited_max", "s", 50.0, 90.0, replay=replay, load=1.2) for replay in (False, True)]
    drawn, replayed = (harms_text(replace(one, harms=(harm,), objectives={})) for harm in harms)
    assert drawn == replayed
    assert drawn[0].endswith(harm_text(Harm("waited_max", "s", 50.0, 90.0)))


def test_hostile_and_long_names_of_a_log_keep_to_a_line():
    told = harm_text(Harm("waited_p95.qos-a\x1b[2J" + "b" * 90, "s", 10.0, 20.0))
    assert told.isprintable()
    assert len(told) < 80


def test_harm_is_told_in_words():
    assert harm_text(Harm("best_effort_work", "s", 100.0, 70.0)).endswith("30 % lower")
    assert not missing(harm_text(Harm("waited_day", "jobs", 50, 61)), "22 % more", label("waited_day"))
    assert harm_text(Harm("unfairness", "", 0.5, 0.7)).endswith("40 % higher")
    assert harm_text(Harm("goodput", "", 0.5, 0.4)).endswith("10 points lower")
    assert "100 points" in harm_text(Harm("sdj_rejection", "", 0.001, 0.998))
    assert "0 -> 3" in harm_text(Harm("lost_jobs", "jobs", 0.0, 3.0))


def test_sentences_break_at_the_width():
    assert wrapped(["  a bb ccc"], 6) == ["  a bb", "    ccc"]


def test_the_harms_that_are_named_are_of_different_classes_and_the_rest_are_counted(found):
    (one,) = found.archive.recommendations[:1]
    harmed = tuple(
        Harm(f"waiting_mean.{name}", "s", 50.0, 50.0 * times)
        for name, times in (("local", 4.0), ("local", 3.5), ("optional", 1.3))
    )
    said = "\n".join(harms_text(replace(one, harms=harmed, objectives={}), 2))
    assert "local jobs" in said
    assert not missing(said, "optional requests", "30 % higher")
    assert "and 1 other" in said


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        ({5: (), 7: ()}, ["2 configurations", "5, 7", "not significantly"]),
        ({5: (), 7: ("excess_loss",)}, ["Configuration 7", "further seeds"]),
        ({5: ("excess_wait",), 7: ("excess_wait",)}, ["Configuration 5", "1 other was refused, too", "3 d"]),
    ],
)
def test_what_was_tried_and_not_confirmed_is_named(refused, words):
    waited = Harm("waited_max", "s", 86400.0, 3 * 86400.0, replay=True)
    refusals = {
        number: Refusal(metrics, waited if number == 5 else None) for number, metrics in refused.items()
    }
    made = front(replace(with_baseline(search(40)), refusals=refusals))
    assert not missing(why_none(made), *words)


@pytest.mark.long
def test_statistics_name_categories_that_are_not_on_the_front():
    path, study = "client.dispatch", search(objectives=2, replications=2, validation=0)
    best = {one.number for one in front(study).on_front if one.values[path] == "ethic"}
    left = tuple(one for one in study.evaluations if one.number not in best)
    study = replace(study, evaluations=left)
    found = front(study)
    assert found.posterior is not None
    assert {m.values[path] for m in found.on_front} == {"legacy"}
    ethic = [one.number for one in study.evaluations if one.values[path] == "ethic"]
    said = " ".join(statistics_text(found, 80).split())
    assert not missing(said, f"{path} ethic", f"{len(ethic)} tried")
    assert f"{path} legacy" not in said


UNSURE = Difference(-1.0, None, None, None, None, 1)


def test_signs_of_the_comparison_are_explained_only_where_they_stand(found):
    said = " ".join(legend(found))
    told = " ".join(gap for _, _, cells in comparison_rows(found) for _, gap in cells)
    assert "?" not in told
    assert "significance unknown" not in said
    single = tuple(
        replace(one, objectives={n: replace(c, difference=UNSURE) for n, c in one.objectives.items()})
        for one in found.archive.recommendations
    )
    unsure = front(replace(found.archive, recommendations=single))
    assert "? significance unknown" in " ".join(legend(unsure))


def test_what_gave_the_same_in_every_run_has_the_same_estimates():
    study = search(validation=0)
    last = front(study).on_front[0]
    twin = replace(last, number=len(study.evaluations), values={**last.values, "without.effect": 1})
    found = front(replace(study, evaluations=(*study.evaluations, twin)))
    assert found.same == {twin.number: last.number}
    assert found.posterior is not None
    rows_of = {row.number: row for row in rows(found)}
    one, other = rows_of[last.number], rows_of[twin.number]
    means = [one.mean(objective) for objective in found.objectives]
    assert [other.mean(objective) for objective in found.objectives] == means
    assert means != [last.objectives[objective.name].mean for objective in found.objectives]
    assert other.changes == one.changes
    assert other.on_front == one.on_front


def test_what_the_guards_exclude_is_told_in_one_sentence(found):
    def excluded(lost, starved=0):
        made = []
        for at, one in enumerate(found.archive.evaluations):
            excess = {EXCESS_LOSS: float(at < lost), EXCESS_WAIT: float(at < starved)}
            bound = {name: Estimate(value, None, (value,)) for name, value in excess.items()}
            made.append(replace(one, cases={"": bound}, validated=None))
        guards = (NO_MORE_LOSS, NO_STARVATION)
        archive = replace(found.archive, evaluations=tuple(made), failed=(), constraints=guards)
        return caveats(front(archive))

    assert excluded(0) == []
    (one,) = excluded(1)
    assert missing(one, "Excluded: 1", "--allow-loss", "--allow-starvation") == ["--allow-starvation"]
    assert re.search(r"\b3 .*--allow-loss.*\b2 .*--allow-starvation", *excluded(3, 2))


def test_changes_are_of_all_configurations_but_the_baseline_and_scenarios_only_where_there_are_several(found):
    for one in to_dict(found)["front"]:
        assert "scenarios" not in one
    every = to_dict(found, listed(found))["front"]
    assert ["changes" in one for one in every] == [not row.is_baseline for row in listed(found)]


def test_names_of_configurations_stand_on_the_left_and_recommendations_have_their_probability(found):
    titles, cells, left = texts(found, listed(found))
    assert left[0] == 0
    chances = dict(zip([row[0] for row in cells], [row[titles.index("P")] for row in cells], strict=True))
    for one in found.archive.recommendations:
        assert chances[one.letter] == f"{found.posterior.chances[one.number]:.2f}"
    assert any(re.fullmatch(r"[01]\.[0-9]{2}", chance) for chance in chances.values())


def test_each_shape_of_a_recommendation_takes_fewer_lines_than_the_one_before(found):
    changes = tuple(ParameterChange(f"sed.parameter_{k}", k, k + 1) for k in range(5))
    for one in found.archive.recommendations:
        for width in (40, 60, 80, 200):
            lengths = [len(shape) for shape in _shapes(replace(one, changes=changes), width, titled=False)]
            assert lengths == sorted(set(lengths), reverse=True)
            assert len(lengths) > 1


def test_a_logarithm_is_told_by_what_it_is_the_logarithm_of():
    log, own = Objective("slowdown_mean_log", "minimize"), Objective("own_log", "minimize")
    assert of_people(log) == replace(log, name="slowdown_mean")
    assert (of_people(own), of_people(UNFAIR)) == (own, UNFAIR)
    rows = comparison_rows(front(archive((log,), (2.0,), (1.0,), baseline=0)))
    assert rows == [("baseline", "", [("100", "")])]


def in_cases(*completed, members=True):
    """A front of configurations that completed so much by day and by night, where 50 are to be completed."""
    base = archive((UNFAIR,), *[(0.1,)] * len(completed), cases=("day", "night"), robust="worst",
                   constraints=(Constraint("completed", ">=", 50.0, "jobs"),))  # fmt: skip

    def told(values, unfair):
        both = zip(("day", "night"), values, strict=True)
        return {case: {"completed": estimate(x), "unfairness": estimate(unfair)} for case, x in both}

    made = [replace(one, cases=told(x, 0.1)) for one, x in zip(base.evaluations, completed, strict=True)]
    if members:  # the first again, on validation seeds
        again = {"validated": {"unfairness": estimate(0.3)}, "validated_cases": told((70, 80), 0.3)}
        made[0] = replace(made[0], **again)
    return front(replace(base, evaluations=tuple(made)))


def test_statistics_count_what_breaks_a_constraint_and_show_every_case_by_the_validation_runs():
    said = statistics_text(in_cases((60, 55), (60, 49.9)), 80)
    words = " ".join(said.split())
    assert not missing(words, "2 scenarios", "worst")
    assert not missing(words, "completed jobs >= 50", "1 configuration")
    assert [line.split() for line in said.splitlines()[-2:]] == [
        ["0", "day", "70", "0.3"],
        ["0", "night", "80", "0.3"],
    ]
    nothing = statistics_text(in_cases((1, 1), members=False), 80)
    assert "1 configuration broke" in nothing
    base = in_cases((60, 55), (60, 49.9)).archive
    told = {"validated": base.evaluations[0].validated, "validated_cases": base.evaluations[1].cases}
    only_checked = replace(base, evaluations=(replace(base.evaluations[0], **told), base.evaluations[1]))
    assert "2 configurations broke" in " ".join(statistics_text(front(only_checked), 80).split())
    assert "night" not in nothing


def test_runs_of_the_search_are_explained_where_a_configuration_has_no_others():
    validation = [((0.5, 0.6), (9.0, 9.0)), ((0.1, 0.2), (20.0, 21.0))]
    for some, said in ((validation, False), ([None, validation[1]], True)):
        configurations = [((0.5, 0.6), (10.0, 11.0)), ((0.1, 0.2), (20.0, 21.0))]
        found = plain(*configurations, baseline=0, validation=some)
        assert ("in the search, no checks" in front_text(found, listed(found), 200)) == said


def test_baseline_and_recommendations_have_the_runs_of_their_comparison(found):
    advice = tuple(replace(one, replications=12) for one in found.archive.recommendations)
    confirmed = replace(found, archive=replace(found.archive, recommendations=advice))
    titles, cells, _ = texts(confirmed, listed(confirmed))
    told, count = [row[titles.index("runs")] for row in cells], 1 + len(advice)
    assert told[:count] == ["12"] * count
    assert "12" not in told[count:]


def test_means_and_their_errors_are_written_in_full():
    made = to_dict(plain(((0.12344, 0.12348), (10.0, 11.0)), ((0.5, 0.5), (20.0, 20.0))))["front"]
    told = {one["number"]: one["objectives"] for one in made}
    assert told[0]["unfairness"] == {"mean": 0.12346, "standard_error": pytest.approx(2e-5)}
    assert told[0]["completed"] == {"mean": 10.5, "standard_error": 0.5}
    assert told[1]["completed"] == {"mean": 20.0, "standard_error": 0.0}
    once = to_dict(plain((0.1, 10.0)))["front"][0]["objectives"]
    assert once["completed"] == {"mean": 10.0, "standard_error": None}


def test_what_is_nearest_to_a_bound_is_written_with_its_scenario():
    found = in_cases((50, 60), members=False)
    (one,) = to_dict(found)["front"]
    nearest = {"scenario": "day", "metric": "completed", "mean": 50.0, "standard_error": None}
    assert one["constraints"] == {"completed>=50": {**nearest, "holds": True}}
    table = frame(found)
    assert table[["completed>=50", "completed>=50_scenario"]].values.tolist() == [[50.0, "day"]]
    assert to_dict(in_cases((50, 49), members=False))["infeasible"] == 1


def test_parameters_have_a_column_where_they_differ():
    study = archive((UNFAIR, COMPLETED), (0.1, 10.0), (0.2, 20.0))
    settings = ({"same": 4, "size": 1, "kind": True}, {"same": 4, "size": 2, "kind": 1})
    told = [replace(one, values=values) for one, values in zip(study.evaluations, settings, strict=True)]
    found = front(replace(study, evaluations=tuple(told)))
    titles, cells, left = texts(found, listed(found))
    assert titles[-2:] == ["size", "kind"]
    assert "same" not in titles
    assert [row[-2:] for row in cells] == [["1", "true"], ["2", "1"]]
    assert left[-2:] == [len(titles) - 2, len(titles) - 1]


def test_the_reference_point_is_told_with_its_units():
    found = front(archive((UNFAIR, WAIT), (0.1, 3600.0), (0.2, 1800.0), baseline=0))
    assert not missing(reference_text(found), f"{label('unfairness')} 0.2", f"{label('waiting_mean')} 2 h")


def test_a_front_of_which_every_configuration_failed_says_why():
    failed = (Failed(0, {}, "broke"), Failed(1, {}, "broke"))
    made = front(replace(archive((UNFAIR,), (1.0,)), evaluations=(), failed=failed))
    assert not missing(front_text(made, [], 80), "2 of 2", "broke")
