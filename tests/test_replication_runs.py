"""From runs to what is known of a configuration: cases summed up, losses against baseline, runs done once."""

from collections import Counter
from math import inf, nan
from pathlib import Path

import pytest

from gridtune.model.metrics.registry import Metric
from gridtune.optimize.records.evaluations import Constraint, Evaluation, Failed, Objective
from gridtune.optimize.replication.guards import EXCESS_LOSS, NO_MORE_LOSS, excess_losses
from gridtune.optimize.report.progress import Progress
from gridtune.optimize.runs.blocks import Block
from gridtune.optimize.runs.evaluator import Evaluator
from gridtune.optimize.runs.table import FIRST_VALIDATION, evaluated
from gridtune.optimize.search_space.cases import Case
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Space, key
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.workers.pool import Pool
from tests.facts import missing
from tests.fronts import estimate

COST = Objective("cost", "minimize", "s")
CALM, BUSY = (Scenario(name, {}, Path()) for name in ("calm", "busy"))
BOTH = (Case("calm", CALM, 3), Case("busy", BUSY, 5))
FEW = Constraint("wait", "<=", 9.0)


def settings(cases=BOTH, constraints=(), robust="mean", objectives=(COST,)):
    return Settings(CALM, Space(()), objectives, "tpe", 1, 3, 2, cases, robust, constraints)


def measured(**metrics):
    return {name: float(value) for name, value in metrics.items()}


# Evaluations


def test_an_objective_sums_up_the_cases_replication_by_replication_and_other_metrics_by_their_means():
    calm = [measured(cost=1, wait=4, only=7), measured(cost=2, wait=6, only=8)]
    busy = [measured(cost=5, wait=8), measured(cost=3, wait=10)]
    found = evaluated(4, {"a": 1}, [calm, busy], settings(constraints=(FEW,)))
    assert found == Evaluation(
        4, {"a": 1}, {"cost": estimate(3.0, 2.5)}, {"wait": 7.0, "only": 7.5},
        cases={
            "calm": {"cost": estimate(1.0, 2.0), "wait": estimate(4.0, 6.0)},
            "busy": {"cost": estimate(5.0, 3.0), "wait": estimate(8.0, 10.0)},
        },
    )  # fmt: skip
    worst = evaluated(4, {}, [calm, busy], settings(robust="worst"))
    assert worst.objectives == {"cost": estimate(5.0, 3.0)}
    assert worst.cases == {"calm": {"cost": estimate(1.0, 2.0)}, "busy": {"cost": estimate(5.0, 3.0)}}
    alone = evaluated(4, {}, [calm], settings(cases=()))
    assert (alone.objectives, alone.cases) == ({"cost": estimate(1.0, 2.0)}, {})
    bound = evaluated(4, {}, [calm], settings(cases=(), constraints=(FEW,)))
    assert bound.cases == {"calm": {"cost": estimate(1.0, 2.0), "wait": estimate(4.0, 6.0)}}


def test_a_configuration_fails_by_the_first_run_without_a_value_and_names_the_case_where_there_are_several():
    good, bad, endless = measured(cost=1), measured(cost=nan), measured(cost=-inf)
    both = evaluated(0, {}, [[good, good], [good, bad]], settings())
    assert (type(both), both.number) == (Failed, 0)
    alone = evaluated(0, {}, [[endless, bad]], settings(cases=()), first=5)
    assert not missing(both.reason, "busy", "cost is nan", "replication 1")
    assert not missing(alone.reason, "cost is -inf", "replication 5")
    unmeasured = evaluated(0, {}, [[measured(wait=1)]], settings(cases=()))
    assert not missing(unmeasured.reason, "cost", "not measured")


# Losses


EARLY, LATE = {"lost_fraction": 0.05, "cut_off_fraction": 0.02}, {"lost_fraction": 0.057}
SMALL = {"owed_lost_fraction.a": 0.0, "lost_jobs.a": 2}


@pytest.mark.parametrize(
    ("configuration", "baseline", "excess"),
    [
        (LATE | {"cut_off_fraction": 0.023}, EARLY, 0.004),
        (LATE | {"cut_off_fraction": 0.04}, EARLY, 0.002),
        (LATE | {"cut_off_fraction": 0.0}, EARLY, 0.007),
        ({"lost_fraction": 0.04}, {"lost_fraction": 0.05}, -0.01),
        ({"lost_fraction": 1e-10}, {}, 0.0),
        ({"lost_fraction": 1.1e-9}, {}, 1.1e-9),
        ({}, {"lost_fraction": 1e-10}, 0.0),
        ({"owed_lost_fraction.a": 0.12, "lost_jobs.a": 4}, SMALL, 0.07),
        ({"owed_lost_fraction.a": 0.12, "lost_jobs.a": 3}, SMALL, 0.0),
        ({"owed_lost_fraction.a": 0.05, "lost_jobs.a": 9}, {"owed_lost_fraction.a": 0.0}, 0.0),
        ({"owed_lost_fraction.a": 0.5, "lost_jobs.a": 9}, {}, 0.0),
        ({"lost_fraction.a": 0.5, "lost_jobs.a": 9}, {"lost_fraction.a": 0.0}, 0.0),
        ({"abandoned": 3}, {"abandoned": 1}, 0.01),
        ({"abandoned": 1, "lost_fraction": 0.02}, {}, 0.02),
        ({"dropped": 0.5}, {"lost_fraction": 0.3}, 0.0025),
        ({"dropped": 0}, {"dropped": 4, "lost_fraction": 0.3}, -0.3),
    ],
)  # fmt: skip
def test_what_is_lost_beyond_baseline(configuration, baseline, excess):
    assert max(excess_losses(configuration, baseline).values()) == pytest.approx(excess, abs=1e-15)


def test_the_class_that_is_given_up_most_counts():
    baseline = {f"owed_lost_fraction.{kind}": 0.0 for kind in "abc"}
    lost = {f"owed_lost_fraction.{kind}": x for kind, x in zip("abc", (0.1, 0.3, 0.2), strict=True)}
    jobs = dict.fromkeys(("lost_jobs.a", "lost_jobs.b", "lost_jobs.c"), 5)
    assert max(excess_losses(lost | jobs, baseline).values()) == pytest.approx(0.25)


class Counting:
    """Gives metrics of tasks by a formula, and counts them."""

    def __init__(self, failing=()):
        self.seen, self.failing = Counter(), failing

    def __call__(self, task):
        place = task.scenario.name, task.replication
        self.seen[place, tuple(task.values.items())] += 1
        if place in self.failing:
            raise ValueError(f"no {place[0]} {place[1]}")
        base = 10.0 if task.scenario is BUSY else 1.0
        found = {"cost": Metric(base * task.seed + task.replication, "s"), "lost_fraction": Metric(0.25, "")}
        if task.values.get("a") == 2:
            found["odd"] = Metric(inf if task.replication == FIRST_VALIDATION + 1 else 1.0, "")
        if task.scenario is BUSY:
            found["busy_only"] = Metric(1.0, "")
        return found


# Validated seeds


class Heard(Progress):
    def __init__(self):
        self.said = []

    def start(self, phase, total, done=0, seconds=None):
        self.said.append((phase, total))

    def update(self, done, hypervolume=None, failures=0, best=""):
        self.said.append(done)


def test_configurations_are_run_once_on_validation_seeds_in_every_case():
    work, heard = Counting(failing={("busy", FIRST_VALIDATION + 2)}), Heard()
    with Pool() as pool:
        validation = Block.apart(settings(), Evaluator.validation(2), pool, heard, work)
        some = [{"a": 1}, {"a": 2}, {"a": 1}]
        one, other, again = validation.run_all(some)
        assert heard.said == [("runs", 8), *range(1, 9)]
        assert (validation.evaluator.simulated, one, len(work.seen)) == (8, again, 8)
        assert one.values == {
            "cost": (26.5 + FIRST_VALIDATION, 27.5 + FIRST_VALIDATION),
            "lost_fraction": (0.25, 0.25),
            "busy_only": (1.0, 1.0),
        }
        assert other.values == one.values, "a metric that is finite in no case of a run is left out"
        assert one.evaluation.cases == {
            "calm": {"cost": estimate(3.0 + FIRST_VALIDATION, 4.0 + FIRST_VALIDATION)},
            "busy": {"cost": estimate(50.0 + FIRST_VALIDATION, 51.0 + FIRST_VALIDATION)},
        }
        assert validation.run_all([{"a": 2}]) == [other]
        assert (validation.evaluator.simulated, len(heard.said)) == (8, 9)
        late = Block.apart(settings(), Evaluator.validation(3), pool, None, work)
        assert late.run([{"a": 1}]) == [None]
        assert late.failures == {key({"a": 1}): f"ValueError: busy: no busy {FIRST_VALIDATION + 2}"}
        guarded = Block.apart(
            settings(cases=(), constraints=(NO_MORE_LOSS,)), Evaluator.validation(1), pool, None, Counting()
        )
        (found,) = guarded.run([{"a": 1}])
        assert (found.values["cost"], found.values[EXCESS_LOSS]) == ((3.0 + FIRST_VALIDATION,), (0.0,))
        assert guarded.evaluator.simulated == 2, "the baseline, too"


# Who gets more replications
