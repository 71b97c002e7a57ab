"""What later checks refuse: it leaves the front, others are tried, and every report says so."""

from dataclasses import replace

import numpy as np
import pytest

from gridtune.model.metrics.registry import Metric
from gridtune.model.streams import AS_LOGGED
from gridtune.optimize.front.front import front
from gridtune.optimize.records.evaluations import EXCESS_WAIT, Constraint
from gridtune.optimize.records.recommendation import Harm, Refusal
from gridtune.optimize.report.answer import answer
from gridtune.optimize.report.export import to_dict
from gridtune.optimize.report.frame import frame
from gridtune.optimize.search import search
from gridtune.scenarios import load
from tests.fronts import UNFAIR, UNHAPPY, archive

DAY = 86400.0
POLICY, LIMIT = "site.cluster.policy", "site.cluster.quota.user_running"
FIXED = ["site.cluster.quota.user_share=1.0", "site.cluster.preemption.express=0.0"]


@pytest.fixture
def log(tmp_path):
    """Nine weeks of one job a day in SWF."""
    lines = [f"{day + 1} {day * 86400 + 60} 0 600 1 -1 -1 1 1200 -1 1 1 1 -1 1 -1 -1 -1" for day in range(63)]
    path = tmp_path / "small.swf"
    path.write_text("\n".join(["; MaxProcs: 8", *lines]) + "\n")
    return path


def found(log, outcome, *, limits="none", **options):
    """A search; `outcome` gives mean values of a policy and a limit, on the whole log or not."""

    def work(task):
        policy, limit = task.values.get(POLICY, "fcfs"), task.values.get(LIMIT, "none")
        made = outcome(policy, limit, task.replication >= AS_LOGGED)
        noise = np.random.default_rng([task.replication, 3]).normal()
        own = np.random.default_rng([task.replication, len(policy), len(str(limit))]).normal(size=len(made))
        values = {name: value + noise + 0.1 * x for (name, value), x in zip(made.items(), own, strict=True)}
        values |= {"lost_fraction": 0.0, "waited_max": made.get("waited_max", 3 * DAY)}
        return {name: Metric(value, "s" if "wait" in name else "") for name, value in values.items()}

    scenario = load("batch/replay").override({"workload.trace": str(log), POLICY: "fcfs"})
    vary = [f"{POLICY}=fcfs,easy,conservative", f"{LIMIT}={limits}", *FIXED]
    options = {"objectives": ["slowdown_mean"], "replications": 4, "sampler": "exhaustive", **options}
    return search(
        scenario, work=work, baseline=True, vary=vary, allow_loss=False, allow_starvation=False, **options
    ).archive  # fmt: skip


def easy_starves(policy, limit, whole):
    means = {"slowdown_mean": {"fcfs": 20.0, "easy": 14.0, "conservative": 16.0}[policy]}
    return means | {"waited_max": DAY * (9 if whole and policy == "easy" else 3)}


def test_what_is_as_near_to_the_baseline_as_to_what_was_refused_is_tried(log):
    made = found(log, easy_starves, budget=3)
    (advice,) = made.recommendations
    assert advice.values[POLICY] == "conservative"


def test_what_was_refused_stays_so_where_fewer_of_its_changes_are_recommended(log):
    def outcome(policy, limit, whole):
        means = {"slowdown_mean": 20.0 - 4.0 * (policy == "easy") - 0.2 * (limit == 8)}
        return means | {"waited_max": DAY * (9 if whole and limit == 8 else 3)}

    start = [{POLICY: "easy", LIMIT: 8}]
    made = found(log, outcome, limits="none,8", budget=2, start=start)
    (advice,) = made.recommendations
    assert advice.values[LIMIT] == "none"
    assert all(made.refusals[number].metrics == (EXCESS_WAIT,) for number in made.broken)
    at = {one.number: one.values for one in made.evaluations}
    assert made.broken
    assert {at[number][LIMIT] for number in made.broken} == {8}
    numbers = {one.number for one in front(made).members}
    assert numbers.isdisjoint(made.broken)
    assert advice.number in numbers


def test_a_continued_search_keeps_what_it_excluded(log, tmp_path):
    def outcome(policy, limit, whole):
        means = {("fcfs", "none"): (20, 20), ("easy", "none"): (12, 14), ("fcfs", 8): (18, 8)}
        a, b = means.get(
            (policy, limit), (8, 18) if (policy, limit) == ("conservative", "none") else (24, 24)
        )
        starving = whole and (policy, limit) == ("easy", "none")
        return {"slowdown_mean": a, "waiting_mean": b, "waited_max": DAY * (9 if starving else 3)}

    options = {"limits": "none,8", "objectives": ["slowdown_mean", "waiting_mean"], "out": tmp_path / "x",
               "start": [{POLICY: "easy"}]}  # fmt: skip
    before = found(log, outcome, budget=2, **options)
    (number,) = before.broken
    after = found(log, outcome, budget=6, resume=True, **options)
    assert after.broken == {number}
    assert number not in {one.number for one in front(after).members}
    again = found(log, outcome, budget=6, resume=True, **options)
    assert (again.refusals, again.recommendations) == (after.refusals, after.recommendations)


def test_a_gain_that_is_lost_breaks_no_constraint(log):
    def outcome(policy, limit, whole):
        easy = policy == "easy"
        return {"slowdown_mean": 20.0 - 4.0 * easy + 9.0 * (easy and whole)}

    made = found(log, outcome, budget=3, require=["slowdown_mean<=100"])
    assert ("slowdown_mean",) in {one.metrics for one in made.refusals.values()}
    assert made.broken == set()


def test_where_all_that_kept_the_constraints_was_refused_the_answer_says_so(log):
    made = found(log, easy_starves, budget=3, require=["slowdown_mean<=15"])
    said = " ".join(answer(front(made), 80).split())
    assert front(made).members == ()
    assert "in later checks" in said
    assert "Relax one" not in said


def test_every_report_counts_what_was_refused(log):
    made = found(log, easy_starves, budget=3)
    found_front, (number,) = front(made), made.broken
    table = frame(found_front)
    assert not table.loc[number, "feasible"]
    assert to_dict(found_front)["infeasible"] == (~table["feasible"].astype(bool)).sum() == 1
    assert f"replays of logs): {number}" in " ".join(answer(found_front, 80).split())


def test_what_equals_an_excluded_configuration_does_not_take_its_place():
    rule = Constraint("spread", "<=", 1.0)
    study = archive((UNHAPPY, UNFAIR), (9, 0.9), (1, 0.1), (1, 0.1), (4, 0.4), (5, 0.3))
    assert 1 in {one.number for one in front(study).on_front}
    study = replace(study, constraints=(rule,), refusals={1: Refusal(("spread",))}, evaluations=tuple(
        replace(one, cases={"": {"spread": one.objectives["unfairness"]}}) for one in study.evaluations
    ))  # fmt: skip
    for number in (1, 2):
        known = front(replace(study, refusals={number: Refusal(("spread",))}))
        assert sorted(one.number for one in known.on_front) == [3, 4]
    harm = Harm("spread", "", 1.0, 2.0)
    lost = replace(study, refusals={1: Refusal(("spread",), harm)})
    assert lost.broken == set(), "it lost its gain"
    waited = replace(study, refusals={1: Refusal(("spread",), replace(harm, metric="waited_max"))})
    assert waited.broken == {1}
