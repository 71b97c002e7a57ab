"""Constraints: how they are written, when they hold, and what samplers hear of them."""

from types import SimpleNamespace

import pytest

from gridtune.optimize.records.evaluations import LEAST, Constraint, Estimate
from gridtune.optimize.runs.table import evaluated
from gridtune.optimize.search_space.constraints import constraints_of, excesses, tightest, violation
from gridtune.scenarios import ScenarioError, load
from tests.fronts import estimate


def known(mean):
    return Estimate(mean, None, (mean,))


def test_constraints_are_read_once_each_with_their_units():
    found = constraints_of(["makespan<=1e3", " makespan <= 1000.0", "utilisation>=0.8", "killed<1"])
    assert found == (
        Constraint("makespan", "<=", 1000.0, "s"),
        Constraint("utilisation", ">=", 0.8),
        Constraint("killed", "<", 1.0, "kills"),
    )
    assert list(map(str, found)) == ["makespan<=1000", "utilisation>=0.8", "killed<1"]
    assert constraints_of(map(str, found)) == found


@pytest.mark.parametrize(
    "text", ["makespan", "makespan=5", "makespan<=", "<=5", "makespan<=five", "makespan<=nan", "a<=1<=2", ""]
)
def test_what_is_no_constraint_is_refused_in_a_line(text):
    with pytest.raises(ScenarioError, match=r"^--require '.*': expected METRIC<=NUMBER") as caught:
        constraints_of([text])
    assert "\n" not in str(caught.value)


def test_constraints_that_leave_nothing_are_refused():
    with pytest.raises(ScenarioError, match="nothing can keep both makespan>=10 and makespan<5"):
        constraints_of(["makespan<5", "makespan>=10"])
    with pytest.raises(ScenarioError, match="nothing can keep both makespan>=5 and makespan<5"):
        constraints_of(["makespan<5", "makespan>=5"])
    assert len(constraints_of(["makespan>=5", "makespan<=10"])) == 2
    assert len(constraints_of(["makespan>=5", "makespan<=5"])) == 2


def test_a_scenario_document_may_hold_constraints():
    day = load("diet/day-regular").override({"search.require": ["makespan<=1e5"]})
    assert day.spec.search.require == ["makespan<=1e5"]
    with pytest.raises(ScenarioError, match=r"search.require.*'makespan<<5': expected METRIC<=NUMBER"):
        day.override({"search.require": ["makespan<<5"]})


@pytest.mark.parametrize(
    ("text", "value", "excess"),
    [
        ("makespan<=200", 250.0, 0.25),
        ("makespan<=200", 200.0, 0.0),
        ("makespan<200", 200.0, LEAST),
        ("makespan<=200", 150.0, -0.25),
        ("utilisation>=0.8", 0.6, 0.25),
        ("utilisation>0.8", 0.8, LEAST),
        ("killed<=0", 3.0, 3.0),
    ],
)
def test_a_constraint_is_broken_by_a_share_of_its_bound(text, value, excess):
    (one,) = constraints_of([text])
    assert one.excess(value) == pytest.approx(excess)


def test_the_worst_case_counts():
    constraints = constraints_of(["makespan<=100", "utilisation>=0.5"])
    cases = {
        "a": {"makespan": known(90.0), "utilisation": known(0.4)},
        "b": {"makespan": known(110.0), "utilisation": known(0.9)},
    }
    assert [tightest(one, cases).case for one in constraints] == ["b", "a"]
    broken = excesses(constraints, cases)
    assert broken == {"makespan<=100": pytest.approx(0.1), "utilisation>=0.5": pytest.approx(0.2)}
    assert violation(broken) == pytest.approx(0.3)
    assert violation({"makespan<=100": -5.0, "utilisation>=0.5": 0.1}) == 0.1


def test_each_class_must_keep_the_limit_of_loss_and_no_other_limit():
    guard, share = constraints_of(["excess_loss<=0", "lost_fraction<=0.1"])
    row = {"excess_loss": -0.1, "excess_loss.a": 0.2, "excess_loss.b": -0.3, "lost_fraction": 0.05,
           "lost_fraction.a": 0.5}  # fmt: skip
    cases = {"calm": {name: known(value) for name, value in row.items()}}
    assert excesses((guard, share), cases) == {
        "excess_loss<=0": 0.2,
        "lost_fraction<=0.1": pytest.approx(-0.5),
    }
    assert tightest(guard, cases).whose == " of a"
    assert (
        tightest(share, cases).whose == tightest(constraints_of(["lost_fraction.a<=1"])[0], cases).whose == ""
    )


def test_a_configuration_without_a_class_has_nothing_there_to_keep():
    guard = constraints_of(["excess_loss<=0"])
    row = {"excess_loss": -0.1, "excess_loss.a": -0.2, "excess_loss.b": 0.3}
    every = {"calm": {name: estimate(value, value) for name, value in row.items()}}
    fewer = {"calm": {name: one for name, one in every["calm"].items() if name != "excess_loss.b"}}
    lossy = {"calm": fewer["calm"] | {"excess_loss": estimate(0.1, 0.1)}}
    found = [excesses(guard, one)["excess_loss<=0"] for one in (fewer, every, lossy)]
    assert found == pytest.approx([-0.1, 0.3, 0.1])


def test_what_only_some_runs_of_a_configuration_have_is_not_constrained():
    guard = constraints_of(["excess_loss<=0"])
    settings = SimpleNamespace(
        run_in=[SimpleNamespace(name="calm")], objectives=(), constraints=guard,
        watched=lambda measured: [name for one in guard for name in one.parts(measured)],
    )  # fmt: skip
    runs = [
        {"excess_loss": -0.1, "excess_loss.a": -0.2, "excess_loss.b": 0.3},
        {"excess_loss": -0.1, "excess_loss.a": 0.0},
    ]
    made = evaluated(0, {}, [runs], settings)
    assert made.cases["calm"].keys() == {"excess_loss", "excess_loss.a"}
