"""A front against its constraints and scenario by scenario: tables, JSON, CSV and words say the same."""

import math
from dataclasses import replace

import numpy as np
import pytest

from gridtune.optimize.front.breakdown import (
    columns,
    constraint_cells,
    constraint_titles,
    entry,
    nothing_feasible,
    scenario_header,
    scenario_rows,
    totals,
)
from gridtune.optimize.front.export import (
    header,
    numeric_header,
    rows,
    summary,
    to_dict,
    to_frame,
    to_latex,
    to_text,
)
from gridtune.optimize.front.front import front
from gridtune.optimize.front.tables import advice_frame, evaluations_frame, front_frame
from gridtune.optimize.front.terminal import table
from gridtune.optimize.records.evaluations import Constraint, Failed
from gridtune.optimize.replication.loss import EXCESS_LOSS
from tests.fronts import COMPLETED, UNFAIR, archive, estimate, evaluation

TWO = (UNFAIR, COMPLETED)
FEW = Constraint("lost", "<=", 3.0, "jobs")
MANY = Constraint("completed", ">=", 8.0, "jobs")


def cases(*lost, unfair=(0.25,), completed=(10.0, 9.0)):
    """The scenarios `calm` and `busy` as they are known: what is lost in each, the rest the same."""
    same = {"unfairness": estimate(*unfair), "completed": estimate(*completed)}
    return {
        name: {**same, "lost": estimate(*some)} for name, some in zip(("calm", "busy"), lost, strict=False)
    }


def study(*known, names=("calm", "busy"), constraints=(FEW,), fresh=()):
    """Points that do not beat each other, with what is known of each in each scenario."""
    points = [
        evaluation(
            k,
            TWO,
            ((0.1 * (k + 1),) * 2, (10.0 + k,) * 2),
            fresh=(((0.1 * (k + 1),) * 2, (10.0 + k,) * 2)) if fresh else None,
        )
        for k in range(len(known))
    ]
    points = [replace(one, cases=some) for one, some in zip(points, known, strict=True)]
    if fresh:
        points = [replace(one, validated_cases=some) for one, some in zip(points, fresh, strict=True)]
    made = archive(TWO)
    return replace(made, evaluations=tuple(points), cases=names, constraints=constraints, robust="worst")


def test_what_is_constrained_is_shown_where_it_is_nearest_to_its_bound():
    found = front(study(cases((1.0, 1.0), (2.0, 3.0)), cases((3.0, 3.0), (1.0, 1.0))))
    assert constraint_titles(found) == ["lost <= 3 jobs", "P(feasible)"]
    cells = [constraint_cells(member, found) for member in found.members]
    assert [one[0] for one in cells] == ["2.50 ± 0.50", "3"]
    assert [one[1] for one in cells] == ["1.00", "1.00"]
    assert columns(found.members[0], found)["lost<=3_scenario"] == "busy"
    assert columns(found.members[1], found)["lost<=3_scenario"] == "calm"


def test_what_is_broken_on_fresh_seeds_is_marked_and_counted():
    kept, broken = cases((1.0, 1.0), (2.0, 2.0)), cases((1.0, 1.0), (4.0, 6.0))
    found = front(study(kept, kept, fresh=(kept, broken)))
    first, second = found.members
    assert (first.feasible, second.feasible, second.non_dominated) == (True, False, False)
    assert constraint_cells(second, found) == ["5.0 ± 1.0 broken", "0.00"]
    assert constraint_cells(first, found) == ["2", "1.00"]
    assert [row[0] for row in rows(found)] == ["0", "(1)"]
    assert "1 member breaks one on fresh seeds only, and leaves the front." in summary(found)
    assert totals(found)["infeasible"] == 0
    said = entry(second, found.archive)
    assert (said["feasible"], said["probability_feasible"]) == (False, 0.0)
    assert said["constraints"]["lost<=3"] == {
        "scenario": "busy", "metric": "lost", "mean": 5.0, "standard_error": 1.0, "kept": False,
    }  # fmt: skip
    assert entry(first, found.archive)["constraints"]["lost<=3"]["kept"] is True
    assert said["scenarios"]["busy"]["lost"] == {"mean": 2.0, "standard_error": 0.0}
    assert said["validated_scenarios"]["busy"]["lost"]["mean"] == 5.0
    assert "lost" in table(found, 300)


def test_without_constraints_or_scenarios_nothing_is_said_of_them():
    found = front(archive(TWO, (0.1, 5)))
    (member,) = found.members
    assert constraint_titles(found) == constraint_cells(member, found) == scenario_header(found) == []
    assert entry(member, found.archive) == totals(found) == columns(member, found) == {}
    only = front(study(cases((1.0, 1.0)), names=(), constraints=(FEW,)))
    assert set(entry(only.members[0], only.archive)) == {"feasible", "probability_feasible", "constraints"}
    assert list(columns(only.members[0], only)) == [
        "lost<=3",
        "lost<=3_se",
        "feasible",
        "probability_feasible",
    ]
    free = front(study(cases((1.0, 1.0), (2.0, 2.0)), constraints=()))
    assert entry(free.members[0], free.archive)["validated_scenarios"] is None
    assert totals(free) == {"scenarios": ["calm", "busy"], "robust": "worst"}


def test_each_member_has_a_row_for_each_scenario():
    found = front(
        study(cases((1.0, 1.0), (2.0, 3.0)), cases((3.0, 3.0), (1.0, 1.0)), constraints=(FEW, MANY))
    )
    assert scenario_header(found) == ["number", "scenario", "unfairness", "completed [jobs]", "lost [jobs]"]
    made = scenario_rows(found)
    assert [row[:2] for row in made] == [["0", "calm"], ["0", "busy"], ["1", "calm"], ["1", "busy"]]
    assert made[1][2:] == ["0.25", "9.50 ± 0.50", "2.50 ± 0.50"]
    text = to_text(found)
    assert text.count("calm") == 2
    lines = text.splitlines()
    assert lines[0].index("replications") == lines[1].rindex("2  ")
    assert lines[0].index("unfairness") == lines[1].index("0.1")
    assert lines[3] == ""
    assert lines[6].index("busy") == lines[4].index("scenario")
    assert to_latex(found).count(r"\begin{tabular}") == 2
    assert r"\begin{tabular}{rlrrr}" in to_latex(found)
    numeric = len(numeric_header(found))
    assert "{" + "r" * numeric + "l" * (len(header(found)) - numeric) + "}" in to_latex(found)


def test_the_table_of_numbers_has_a_column_for_each_scenario_and_kind_of_seeds():
    known, again = cases((1.0, 1.0), (2.0, 3.0)), cases((0.0, 0.0), (1.0, 2.0), unfair=(0.5, 1.0))
    found = front(study(known, fresh=(again,)))
    row = to_frame(found).iloc[0]
    assert (row["lost@busy"], row["lost_se@busy"]) == (2.5, 0.5)
    assert (row["lost_validated@busy"], row["lost_validated_se@busy"]) == (1.5, 0.5)
    assert (row["unfairness@calm"], row["unfairness_validated@calm"]) == (0.25, 0.75)
    assert (row["lost<=3"], row["lost<=3_se"], row["feasible"]) == (1.5, 0.5, True)
    assert (row["unfairness_validated"], row["unfairness_validated_se"]) == (pytest.approx(0.1), 0.0)
    plain = to_frame(front(study(known)))
    assert "lost@busy" in plain
    assert not [name for name in plain if "validated" in name]


def test_where_nothing_keeps_the_constraints_the_nearest_three_are_named():
    lost = [9.0, 5.0, 4.0, 7.0]
    found = front(study(*(cases((1.0, 1.0), (some, some)) for some in lost)))
    assert [one.number for one in found.infeasible] == [2, 1, 3, 0]
    said = nothing_feasible(found)
    assert said[0] == "4 evaluations, none of which keeps lost<=3: there is no front."
    assert said[1] == "Nearest: point 2 (client.n_submit=2) with lost 4 jobs in busy."
    assert [line.split(" (")[0] for line in said[2:]] == ["Nearest: point 1", "Nearest: point 3"]
    assert summary(found) == said
    made = to_dict(found)
    assert [one["number"] for one in made["least_violating"]] == [2, 1, 3]
    assert made["infeasible"] == 4
    assert made["least_violating"][0]["constraints"]["lost<=3"]["scenario"] == "busy"
    assert to_text(found).count("\n") == 1
    single = front(study(cases((5.0, 5.0)), names=()))
    assert nothing_feasible(single)[1].endswith("with lost 5 jobs.")
    kept = front(study(cases((1.0, 1.0), (1.0, 1.0)), cases((5.0, 5.0), (1.0, 1.0))))
    assert "least_violating" not in to_dict(kept)
    assert "1 breaks a constraint (lost<=3)." in summary(kept)
    assert totals(kept)["infeasible"] == 1


def test_numbers_that_are_not_finite_are_none_in_json():
    odd = cases((1.0, 1.0), (math.inf, 1.0))
    odd["calm"]["unfairness"] = replace(estimate(1.0, 2.0), standard_error=math.inf)
    found = front(study(odd, constraints=()))
    said = entry(found.members[0], found.archive)["scenarios"]
    assert said["busy"]["lost"]["mean"] is None
    assert said["calm"]["unfairness"] == {"mean": 1.5, "standard_error": None}


def test_a_guard_against_losing_work_that_all_keep_has_no_column_in_the_terminal():
    guard = Constraint(EXCESS_LOSS, "<=", 1.0)

    def known(amount):
        return {
            "": {
                **{o.name: estimate(1.0, 1.0) for o in TWO},
                "lost": estimate(1.0, 1.0),
                EXCESS_LOSS: estimate(amount, amount),
            }
        }

    def titles(constraints, *amounts, fresh=()):
        made = study(*map(known, amounts), names=(), constraints=constraints, fresh=tuple(map(known, fresh)))
        return table(front(made), 400).splitlines()[0]

    spoken = EXCESS_LOSS.replace("_", " ")
    assert spoken not in titles((guard,), 0.0, 0.5)
    assert "P(feasible)" not in titles((guard,), 0.0, 0.5)
    assert spoken in titles((guard,), 0.0, 0.5, fresh=(0.0, 2.0))
    assert "P(feasible)" in titles((guard,), 0.0, 0.5, fresh=(0.0, 2.0))
    both = titles((guard, FEW), 0.0, 0.5)
    assert spoken not in both
    assert "lost <= 3 jobs" in both
    assert "P(feasible)" in both


def test_a_class_that_loses_too_much_in_the_mean_is_named():
    sdj = f"{EXCESS_LOSS}.sdj"

    def known(*losses):
        return {"": {
            **{o.name: estimate(1.0, 1.0) for o in TWO}, EXCESS_LOSS: estimate(-0.02, -0.02),
            sdj: estimate(*losses), "lost.sdj": estimate(9.0, 9.0),
        }}  # fmt: skip

    kept, broken = known(-0.05, 0.04), known(0.05, -0.02)
    guard = Constraint(EXCESS_LOSS, "<=", 0.0)
    found = front(study(kept, kept, names=(), constraints=(guard,), fresh=(kept, broken)))
    first, second = found.members
    assert (first.feasible, second.feasible) == (True, False)
    assert constraint_cells(first, found)[0] == "-0.005 ± 0.045 of sdj"
    assert constraint_cells(second, found)[0] == "0.015 ± 0.035 of sdj broken"
    assert 0 < second.probability_feasible < first.probability_feasible < 1
    assert entry(second, found.archive)["constraints"]["excess_loss<=0"]["metric"] == sdj


def test_failed_evaluations_stand_in_the_table_without_numbers():
    known = archive(TWO, ((0.1, 0.3), (5, 5)), ((0.4, 0.4), (4, 4)), fresh=[((0.1, 0.1), (5, 5)), None])
    failed = Failed(7, {"a": 1}, "broke", {"unfairness": estimate(0.5, 0.7)})
    made = evaluations_frame(front(replace(known, failed=(failed,))))
    assert list(made["replications"]) == [2, 2, 0]
    assert list(made["fresh_replications"]) == [2, 0, 0]
    assert list(made["feasible"]) == [True, True, False]
    assert list(made["on_front"]) == [True, False, False]
    assert list(made["failure"]) == ["", "", "broke"]
    assert made["unfairness"].tolist() == pytest.approx([0.2, 0.4, 0.6])
    assert made["unfairness_se"].tolist() == pytest.approx([0.1, 0.0, 0.1])
    assert made["makespan"].tolist() == pytest.approx([100, 100, np.nan], nan_ok=True)
    assert made["completed_validated"].tolist() == pytest.approx([5, np.nan, np.nan], nan_ok=True)
    assert "completed_validated" not in evaluations_frame(front(archive(TWO, (1, 2))))
    assert made.index.name == "number"


def test_columns_of_a_front_have_their_kinds():
    found = front(study(cases((1.0, 1.0), (2.0, 3.0)), cases((3.0, 3.0), (1.0, 1.0))))
    made = front_frame(found)
    assert made["lost<=3_scenario"].dtype == "category"
    assert made["feasible"].dtype == made["non_dominated"].dtype == bool
    assert made["unfairness"].dtype == made["probability_feasible"].dtype == float
    assert made["replications"].dtype == made["fresh_replications"].dtype == int
    assert list(made.index) == [0, 1]
    advice = advice_frame(found)
    assert list(advice.index) == ["lexicographic", "compromise", "best unfairness", "best completed"]
    assert list(advice["number"]) == [0, 0, 0, 1]
    assert advice.loc["best completed", "completed"] == 11.0
    assert advice.index.name == "name"
