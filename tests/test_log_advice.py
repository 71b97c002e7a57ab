"""Advice from a log: recommendations also hold on the log as it is, and what gets worse there is told."""

import re
import zlib
from dataclasses import replace
from math import log10, nan
from pathlib import Path

import numpy as np
import pytest

import gridtune as gt
from gridtune.model import grid
from gridtune.model.metrics.registry import Metric
from gridtune.model.streams import AS_LOGGED, BUSIER, LOAD
from gridtune.optimize.api import open_study
from gridtune.optimize.commands.front import exported
from gridtune.optimize.config import SearchConfig
from gridtune.optimize.exploration import Meter
from gridtune.optimize.front.front import front
from gridtune.optimize.records.evaluations import EXCESS_WAIT, Constraint
from gridtune.optimize.report.answer import answer
from gridtune.optimize.report.recommended import harm_text, harms_text
from gridtune.optimize.runs.evaluator import with_users
from gridtune.optimize.runs.stored import load as load_study
from gridtune.optimize.runs.table import FIRST_CONFIRMATION, FIRST_ELIMINATION, FIRST_VALIDATION
from gridtune.optimize.search import search
from gridtune.scenarios import load, simulate
from gridtune.scenarios.execution.replicate import Task
from tests.facts import missing, unstated

WEEKS = 9
WEEK = 7 * 86400.0
KTH = Path("../shared/data/KTH-SP2-1996-2.1-cln.swf.gz").resolve()
RULES = {"fcfs": 0.0, "easy": 1.0, "conservative": 2.0}


@pytest.fixture
def log(tmp_path):
    """Nine weeks of one job a day in SWF."""
    submits = [int(day * 86400 + 60) for day in range(7 * WEEKS)]
    lines = ["; MaxProcs: 8"] + [
        f"{k} {at} 0 600 1 -1 -1 1 1200 -1 1 1 1 -1 1 -1 -1 -1" for k, at in enumerate(submits, 1)
    ]
    path = tmp_path / "small.swf"
    path.write_text("\n".join(lines) + "\n")
    return path


def simulated(longest, large=3600.0, busier=0.0, longest_busier=None):
    """Runs in which `easy` is better than the baseline, `fcfs`; what it does to waits on the log as it is.

    Args:
        longest, large: waits with `easy`, s.
        busier: jobs that wait for more than a day with `easy` under a higher load.
        longest_busier: longest wait there, if another.
    """

    def work(task):
        rng = np.random.default_rng([task.replication, 3])
        policy = task.values.get("site.cluster.policy", "fcfs")
        whole = task.replication >= AS_LOGGED
        waits = {"waited_max": 3 * 86400.0, "waited_p95.size-large": 3600.0}
        if policy == "easy" and whole:
            most = longest if longest_busier is None or task.replication < BUSIER else longest_busier
            waits = {"waited_max": most, "waited_p95.size-large": large}
        waits["waited_day"] = busier if policy == "easy" and task.replication >= BUSIER else 0.0
        slowdown = 10.0 - 2.0 * RULES[policy] * (policy == "easy") + rng.normal()
        made = {"slowdown_mean": slowdown, "lost_fraction": 0.0, **waits}
        return {name: Metric(value, "s" if "wait" in name else "") for name, value in made.items()}

    return work


def found(log, work, **options):
    scenario = load("batch/replay").override({"workload.trace": str(log), "site.cluster.policy": "fcfs"})
    vary = ["site.cluster.policy=fcfs,easy,conservative"]
    options = {"budget": 3, "replications": 4, "vary": vary, **options}
    return search(
        scenario, work=work, baseline=True, allow_loss=False, allow_starvation=False,
        **{"objectives": ["slowdown_mean"], **options},
    ).archive  # fmt: skip


def test_a_run_in_which_a_job_waits_hopelessly_ends_and_breaks_the_guard(tmp_path, monkeypatch):
    monkeypatch.setattr(grid, "OFTEN", 100)
    rows = [f"{k} {60 * k} 0 3600 1 -1 -1 1 3600 -1 1 1 1 -1 1 -1 -1 -1" for k in range(1, 401)]
    path = tmp_path / "one-user.swf"
    path.write_text("\n".join(["; MaxProcs: 64", *rows]) + "\n")
    scenario = load("batch/replay").override({"workload.trace": str(path)})
    vary = ["site.cluster.quota.user_running=none,1"]
    options = {"vary": vary, "objectives": ["slowdown_mean"], "budget": 12, "replications": 1, "jobs": 1}

    def longest(study):
        quota = "site.cluster.quota.user_running"
        return max(one.metrics["waited_max"] for one in study.archive.evaluations if one.values[quota] == 1)

    study = gt.search(scenario, **options)
    assert not study.archive.failed
    quick, patient = longest(study), longest(gt.search(scenario, **options, allow_starvation=True))
    assert 20 * 3600.0 < quick < 60 * 3600.0 < patient, "ten times two hours are waited for"
    assert re.search(r"Excluded: \d+ .* wait", " ".join(study.summary.split()))


def test_a_recommendation_that_starves_somebody_on_the_log_as_it_is_is_refused(log):
    made = found(log, simulated(7 * 86400.0))
    assert made.recommendations == ()
    (one,) = made.refusals.values()
    assert one.metrics == (EXCESS_WAIT,)
    harm = one.harm
    assert (harm.metric, harm.mean, harm.replay, harm.load) == ("waited_max", 7 * 86400.0, True, 1.0)


def test_a_recommendation_that_starves_somebody_with_more_jobs_is_refused(log):
    made = found(log, simulated(3 * 86400.0, longest_busier=7 * 86400.0))
    assert made.recommendations == ()
    assert [one.metrics for one in made.refusals.values()] == [(EXCESS_WAIT,)]
    said = " ".join(answer(front(made), 80).split())
    assert not missing(said, "later checks", "longest wait", "20 % more load")


@pytest.mark.parametrize("delayed", [0, 4, 5])
def test_a_tenth_of_the_users_may_not_wait_much_longer_whoever_waits_shorter(log, delayed):
    def work(task):
        easy = task.values.get("site.cluster.policy") == "easy"
        worse, bound = easy and task.replication >= AS_LOGGED, 1.5 * 3600.0 + 3600.0
        waits = [bound + 1 if worse and at < delayed else 3600.0 for at in range(41)]
        waits += [20 * 3600.0 * (0.5 if easy else 1.0)] * 4  # who waits longest fares better
        users = {f"waited_mean.user-u{at}": Metric(wait, "s") for at, wait in enumerate(waits)}
        return simulated(3 * 86400.0)(task) | users

    made = found(log, work)
    assert not any("user-" in name for one in made.evaluations for name in one.metrics)
    said = " ".join(answer(front(made), 80).split())
    if delayed < 5:
        (advice,) = made.recommendations
        told = [(one.metric, one.mean, one.replay) for one in advice.harms if one.load == 1]
        assert told == ([("delayed_fraction", delayed / 45, True)] if delayed else [])
        assert ("9 % of the users" in said) == bool(delayed)
    else:
        assert [one.metrics for one in made.refusals.values()] == [(EXCESS_WAIT,)]
        assert not missing(said, "11 % of the users", "log as it is")


def test_what_breaks_a_guard_in_the_confirmation_is_named_though_nothing_can_be_left_out_of_it(log):
    def work(task):
        easy = task.values.get("site.cluster.policy") == "easy"
        confirming = FIRST_CONFIRMATION <= task.replication < AS_LOGGED
        return simulated(3 * 86400.0)(task) | (
            {"waited_max": Metric(9 * 86400.0, "s")} if easy and confirming else {}
        )

    made = found(log, work)
    assert made.recommendations == ()
    assert [one.metrics for one in made.refusals.values()] == [(EXCESS_WAIT,)]


def test_a_search_measures_how_long_each_user_waits_at_batch_sites(log):
    log.write_text(log.read_text() + "999 5000000 0 600 8 -1 -1 8 600 -1 1 2 1 -1 1 -1 -1 -1\n" * 2)
    task = Task(load("batch/replay").override({"workload.trace": str(log)}), {}, 1, 0)
    waits = {name: one.value for name, one in with_users(task).items() if "user-" in name}
    assert sorted(waits.values()) == [0.0, 300.0]
    assert not {"waited_mean.user-1", "waited_mean.user-2"} & waits.keys(), "searches name no users"
    assert not any("user-" in name for name in with_users(Task(load("diet/day-regular"), {}, 1, 0)))
    campaigns = load("cigri/batcigri")  # best-effort jobs are not owed: who only has such waits for nothing
    jobs = simulate(campaigns).record.jobs
    owners = {job.user for job in jobs if job.mandatory}
    assert owners < {job.user for job in jobs}
    assert sum("user-" in name for name in with_users(Task(campaigns, {}, 1, 0))) == len(owners)


@pytest.mark.parametrize("objective", ["slowdown_mean", "slowdown_mean_log"])
@pytest.mark.parametrize("first", [AS_LOGGED, BUSIER])
def test_a_recommendation_whose_gain_turns_into_harm_on_the_log_is_refused(log, first, objective):
    def work(task):
        made = simulated(3 * 86400.0)(task)
        turned = task.values.get("site.cluster.policy") == "easy" and task.replication >= first
        slowdown = made["slowdown_mean"].value + 6.0 * turned
        return made | {
            "slowdown_mean": Metric(slowdown, ""),
            "slowdown_mean_log": Metric(log10(slowdown), ""),
        }

    made = found(log, work, objectives=[objective])
    assert made.recommendations == ()
    assert {one.metrics for one in made.refusals.values()} == {("slowdown_mean",)}
    said = " ".join(answer(front(made), 80).split())
    assert not missing(said, "loses", "gain: slowdown (mean)")
    assert ("at 20 % more load" in said) == (first == BUSIER)


def test_one_gain_that_holds_on_the_log_is_enough(log):
    def more(easy, limited, k, noise, case):
        lost = {"slowdown_mean": 30.0} if easy and k >= AS_LOGGED else {}
        return {"waited_max": 86400.0 * (1 - 0.5 * easy) + noise, **lost}

    advice = of_two_changes(log, more, objectives=["slowdown_mean", "waited_max"])
    assert advice.objectives["slowdown_mean"].better
    assert "slowdown_mean" in {one.metric for one in advice.harms}


def test_once_somebody_starves_on_the_log_what_is_nearer_to_the_baseline_is_recommended(log):
    before = {"site.cluster.policy": "fcfs", "site.cluster.quota.user_running": "none",
              "site.cluster.quota.user_share": 1.0}  # fmt: skip
    choices = {"policy": "fcfs,easy", "quota.user_running": "none,8,32", "quota.user_share": "1.0,0.5,0.7"}

    def work(task):
        changes = sum(task.values.get(path, value) != value for path, value in before.items())
        noise, own = (np.random.default_rng([task.replication, seed]).normal() for seed in (9, changes))
        starving = changes > 1 and task.replication >= AS_LOGGED
        made = {"slowdown_mean": 20.0 - 3.0 * changes + noise + 0.1 * own, "lost_fraction": 0.0}
        made["waited_max"] = 86400.0 * (9 if starving else 3)
        return {name: Metric(value, "s" if "wait" in name else "") for name, value in made.items()}

    made = found(log, work, budget=18, vary=[f"site.cluster.{path}={some}" for path, some in choices.items()])
    assert len(made.refusals) >= 1
    (advice,) = made.recommendations
    assert len(advice.changes) == 1
    at = {one.number: one for one in made.evaluations}
    for number in made.refusals:
        assert sum(at[number].values.get(path, value) != value for path, value in before.items()) > 1
    members = {one.number for one in front(made).members}
    assert members.isdisjoint(made.refusals), "what broke a guard in a replay is not on the front"
    assert f"replays of logs): {', '.join(map(str, sorted(made.refusals)))}" in " ".join(
        answer(front(made), 80).split()
    )


def test_candidates_are_screened_on_the_log_before_runs_are_spent_on_their_changes(log):
    seen = []

    def work(task):
        seen.append(task.replication)
        return simulated(3 * 86400.0, longest_busier=7 * 86400.0)(task)

    made = found(log, work, budget=None, runs=200, replications=2)
    assert (EXCESS_WAIT,) in {one.metrics for one in made.refusals.values()}
    assert seen.index(AS_LOGGED) < seen.index(BUSIER) < seen.index(FIRST_ELIMINATION)
    assert made.recommendations == ()


@pytest.mark.parametrize("first", [AS_LOGGED, BUSIER])
def test_a_change_that_starves_somebody_on_the_log_is_left_out(log, first):
    def more(easy, limited, k, noise, case):
        return {"waited_max": 86400.0 * (9 if limited and k >= first else 3)}

    advice = of_two_changes(log, more, allow_starvation=False)
    assert [one.path for one in advice.changes] == ["site.cluster.policy"]


def test_a_constraint_that_the_baseline_breaks_with_more_jobs_refuses_nothing(log):
    def work(task):
        made = simulated(3 * 86400.0)(task)
        more = 6.0 if task.replication >= BUSIER else 0.0
        slowdown = made["slowdown_mean"].value
        return made | {"slowdown_mean": Metric(slowdown + more, "")}

    made = found(log, work, require=["slowdown_mean<=13"])
    assert len(made.recommendations) == 1


@pytest.mark.long
def test_validation_goes_on_while_all_that_were_validated_break_a_guard(log):
    def work(task):
        rng = np.random.default_rng([task.replication, 3])
        policy, values = task.values.get("site.cluster.policy"), task.values
        shared = values.get(QUOTA) == "none" and values["site.cluster.quota.user_share"] != 1
        starves = shared or values.get("site.cluster.preemption.express", 0) > 0
        starves = starves or (policy == "easy" and task.replication >= FIRST_VALIDATION)
        gain = {"easy": 4.0, "conservative": 2.0}.get(policy, 0.0)
        made = {"slowdown_mean": 10.0 - gain + 0.3 * rng.normal(), "lost_fraction": 0.0}
        made["waited_max"] = 86400.0 * (9 if starves and policy != "fcfs" else 3)
        return {name: Metric(value, "") for name, value in made.items()}

    (advice,) = found(log, work, budget=None, runs=160, replications=2).recommendations
    assert advice.values["site.cluster.policy"] == "conservative"


def test_a_log_that_cannot_be_replayed_is_told(log):
    def work(task):
        if task.replication == AS_LOGGED:
            raise ValueError("no such job")
        return simulated(3 * 86400.0)(task)

    scenario = load("batch/replay").override({"workload.trace": str(log), "site.cluster.policy": "fcfs"})
    made = search(
        scenario, work=work, vary=["site.cluster.policy=fcfs,easy"], baseline=True, budget=8,
        objectives=["slowdown_mean"], replications=4,
    )  # fmt: skip
    assert made.archive.recommendations == ()
    assert any("could not be replayed" in note and "no such job" in note for note in made.notes)


def test_what_is_worse_on_the_log_as_it_is_is_told_as_such(log, tmp_path):
    made = found(log, simulated(5 * 86400.0, 5000.0), out=tmp_path / "study")
    (advice,) = made.recommendations
    assert {one.metric: one.replay for one in advice.harms} == {
        "waited_max": True, "waited_p95.size-large": True,
    }  # fmt: skip
    text = answer(front(made), 80)
    assert "(log as it is)" in text
    again = load_study(tmp_path / "study").archive
    assert again.recommendations == made.recommendations
    assert again.remarks == made.remarks != ()
    assert made.remarks[0] in " ".join(text.split())


def test_what_is_worse_under_a_higher_load_alone_is_named(log):
    made = found(log, simulated(5 * 86400.0, busier=3.0))
    (advice,) = made.recommendations
    assert [(one.metric, one.load) for one in advice.harms] == [("waited_max", 1.0), ("waited_day", LOAD)]
    lines = [" ".join(line.split()) for line in answer(front(made), 200).splitlines()]
    (first,) = (line for line in lines if line.startswith("Worse by over 10 % with A: longest wait"))
    assert "day" not in first.partition("(log as it is)")[2]
    (second,) = (line for line in lines if line.startswith("Worse at 20 % more load with A: "))
    assert "longer than a day 0" in second
    assert harm_text(advice.harms[1]).endswith("(at 20 % more load)")


@pytest.mark.long
@pytest.mark.skipif(not KTH.exists(), reason=f"needs ../shared/data/{KTH.name}")
def test_shortness_first_on_a_real_log_is_refused_and_told_in_full_where_starving_is_allowed():
    scenario = gt.load("batch/replay", {"workload.log.trace": str(KTH), "workload.log.end": 32 * WEEK})
    policy = {"rule": "sjf", "reservations": 1, "queue_depth": 0, "half_life": WEEK, "interval": 0}
    fixed = {f"site.cluster.policy.{name}": value for name, value in policy.items()}
    fixed |= {"site.cluster.policy.window": 30 * 86400.0, "site.cluster.quota.user_share": 1.0}
    fixed |= {"site.cluster.quota.user_running": "none", "site.cluster.preemption.express": 0.0}
    vary = ["site.cluster.policy=easy,priority", *(f"{path}={value}" for path, value in fixed.items())]
    asked = {"runs": 60, "seed": 1, "replications": 2, "vary": vary, "objectives": ["slowdown_mean"]}
    assert gt.search(scenario, **asked).archive.recommendations == ()
    (advice,) = gt.search(scenario, **asked, allow_starvation=True).archive.recommendations
    assert advice.objectives["slowdown_mean"].better
    told = {one.metric for one in advice.harms}
    assert {"waited_week", "waited_p95.length-very-long", "waited_mean.worst-users"} <= told


QUOTA = "site.cluster.quota.user_running"


def of_two_changes(log, more, cases=(), **options):
    """A search in which `easy` is better, and what `more` says depends on a quota of 8, which gains little.

    Args:
        more: metrics by whether a run has easy, has the quota, its replication, noise, and its case.
    """

    def work(task):
        rng = np.random.default_rng([task.replication, 3])
        easy, limited = task.values.get("site.cluster.policy") == "easy", task.values.get(QUOTA) == 8
        made = {
            "slowdown_mean": 10.0 - 2.0 * easy - 0.01 * limited + 0.3 * rng.normal(),
            "lost_fraction": 0.0,
        }
        made |= more(easy, limited, task.replication, rng.normal(), task.scenario.name)
        return {name: Metric(value, "") for name, value in made.items()}

    scenario = load("batch/replay").override({"workload.trace": str(log), "site.cluster.policy": "fcfs"})
    options = {"objectives": ["slowdown_mean"], **options}
    options = {"runs": 300, "allow_starvation": True, "vary": VARY, **options}
    (advice,) = search(
        scenario, work=work, baseline=True, replications=2, allow_loss=True,
        others=[replace(scenario, name=name) for name in cases], **options,
    ).archive.recommendations  # fmt: skip
    return advice


VARY = ["site.cluster.policy=fcfs,easy", f"{QUOTA}=none,8"]


def test_what_is_worse_in_some_of_the_drawn_weeks_has_a_line_of_its_own(log):
    def more(easy, limited, k, noise, case):
        seldom = FIRST_CONFIRMATION <= k < AS_LOGGED and k % 6 == 0
        always = 50.0 * (FIRST_CONFIRMATION <= k < AS_LOGGED and easy)
        return {"waited_max": 86400.0 * (2 if seldom and easy else 1), "killed": 10 + noise + always}

    advice = of_two_changes(log, more)
    usual, harm = advice.harms
    assert (usual.metric, usual.part) == ("killed", None), "told once"
    assert (harm.metric, harm.part) == ("waited_max", pytest.approx(1 / 6))
    assert not missing(harm_text(harm), "longest wait", "100 % higher", "17 % of runs")
    lines = [line for line in harms_text(advice) if "longest wait" in line]
    assert not unstated(lines, ["some runs with A", harm_text(harm)])


def test_an_objective_that_gets_worse_in_some_of_the_drawn_weeks_is_told(log):
    def more(easy, limited, k, noise, case):
        seldom = FIRST_CONFIRMATION <= k < AS_LOGGED and k % 6 == 0
        return {"waited_max": 86400.0 * (2 if seldom and easy else 1)}

    advice = of_two_changes(log, more, objectives=["slowdown_mean", "waited_max"])
    assert not advice.objectives["waited_max"].significant
    assert [(one.metric, one.part) for one in advice.harms] == [("waited_max", pytest.approx(1 / 6))]


def test_an_objective_that_gets_worse_is_told_by_the_table_alone(log):
    def more(easy, limited, k, noise, case):
        return {"waited_max": 86400.0 * (1 + 0.3 * (easy and k < AS_LOGGED)) + noise}

    advice = of_two_changes(log, more, objectives=["slowdown_mean", "waited_max"])
    assert not advice.objectives["waited_max"].better
    assert advice.harms == ()


@pytest.mark.parametrize("replications", [1, 2])
def test_a_note_says_that_one_replication_is_too_few_for_a_log(log, replications):
    scenario = load("batch/replay").override({"workload.trace": str(log)})
    options = {"budget": 2, "vary": ["site.cluster.policy=fcfs,easy"], "objectives": ["slowdown_mean"]}
    notes = search(scenario, work=simulated(1.0), replications=replications, **options).notes
    assert any("--replications 2" in note for note in notes) == (replications == 1)


def test_a_scenario_without_logs_names_no_harm_of_some_replications():
    def work(task):
        rng = np.random.default_rng([task.replication, 3])
        push = task.values.get("middleware.kind") != "pull"
        seldom = not push and task.replication % 4 == 0
        made = {"slowdown_mean": 10.0 + 3 * push + rng.normal(), "waited_max": 2.0 if seldom else 1.0}
        return {name: Metric(value, "") for name, value in (made | {"lost_fraction": 0.0}).items()}

    (advice,) = search(
        load("dirac/search"), work=work, vary=["middleware.kind=push,pull"], baseline=True, runs=150,
        objectives=["slowdown_mean"], replications=4, allow_loss=True,
    ).archive.recommendations  # fmt: skip
    assert all(one.part is None for one in advice.harms)


@pytest.mark.parametrize(
    ("more", "cases"),
    [
        (lambda easy, limited, k, noise, case: {"killed": 5 + 30 * (easy and not limited) + noise}, ()),
        (  # a class that only one of two cases has
            lambda easy, limited, k, noise, case: {
                "waited_p95.size-huge": 100 + 200 * (easy and not limited) + noise if case == "other" else nan
            },
            ("other",),
        ),
        (  # a class that some replications lack
            lambda easy, limited, k, noise, case: (
                {"waited_p95.queue-1": 100 + 200 * (easy and not limited) + noise} if k % 7 else {}
            ),
            (),
        ),
    ],
)
def test_a_change_without_which_somebody_is_worse_off_is_not_left_out(log, more, cases):
    advice = of_two_changes(log, more, cases, runs=300 * (1 + len(cases)))
    assert {one.path for one in advice.changes} == {"site.cluster.policy", QUOTA}
    assert advice.harms == ()


def test_the_whole_configuration_is_confirmed_where_the_log_refuses_the_reduced_one(log):
    def more(easy, limited, k, noise, case):
        waits = (1.9 if limited else 2.1) if easy and k >= AS_LOGGED else 1.0  # at most twice is allowed
        return {"waited_max": 3 * 86400.0 * waits}

    advice = of_two_changes(log, more, allow_starvation=False)
    assert {one.path for one in advice.changes} >= {"site.cluster.policy", QUOTA}


@pytest.mark.long
def test_what_breaks_a_guard_in_the_elimination_takes_no_runs_of_the_confirmation(log):
    seen, broken = set(), range(FIRST_ELIMINATION, FIRST_CONFIRMATION)

    def work(task):
        waits = simulated(3 * 86400.0)(task)
        if task.values.get("site.cluster.policy") == "easy":
            seen.add(task.replication)
        if task.values.get("site.cluster.policy") == "easy" and task.replication in broken:
            waits["waited_max"] = Metric(9 * 86400.0, "s")
        return waits

    made = found(log, work, budget=None, runs=200, replications=2)
    assert (EXCESS_WAIT,) in {one.metrics for one in made.refusals.values()}
    assert made.recommendations == ()
    assert FIRST_ELIMINATION in seen
    assert FIRST_CONFIRMATION not in seen


def test_jobs_of_two_classes_that_fail_in_equal_numbers_are_told_of_both(log):
    names = ("mandatory_failed.local", "mandatory_failed.meta")
    advice = of_two_changes(
        log, lambda easy, limited, k, *_: dict.fromkeys(names, 3.0 * easy * (k >= AS_LOGGED))
    )
    assert [one.metric for one in advice.harms] == list(names)


def test_a_baseline_outside_of_the_space_is_no_fault(log):
    vary = ["site.cluster.policy=easy,conservative", f"{QUOTA}=none,8"]
    advice = of_two_changes(log, lambda *_: {}, vary=vary)
    assert "site.cluster.policy" in {one.path for one in advice.changes}


def test_a_change_without_which_a_gain_nobody_asked_for_is_lost_is_left_out(log):
    quota = "site.cluster.quota.user_running"

    def work(task):
        rng = np.random.default_rng([task.replication, 3])
        easy, limited = task.values.get("site.cluster.policy") == "easy", task.values.get(quota) == 8
        slowdown = 10.0 - 2.0 * easy - 0.01 * limited + rng.normal()
        made = {"slowdown_mean": slowdown, "lost_fraction": 0.0, "killed": 50.0 - 20.0 * (easy and limited)}
        return {name: Metric(value, "") for name, value in made.items()}

    scenario = gt.load("batch/replay", {"workload.trace": str(log), "site.cluster.policy": "fcfs"})
    made = search(
        scenario, work=work, vary=["site.cluster.policy=fcfs,easy", f"{quota}=none,8"], baseline=True,
        objectives=["slowdown_mean"], runs=300, replications=2, allow_loss=True, allow_starvation=True,
    )  # fmt: skip
    (advice,) = made.archive.recommendations
    assert [one.path for one in advice.changes] == ["site.cluster.policy"]


@pytest.mark.long
@pytest.mark.parametrize("needed", [False, True])
def test_where_few_runs_are_left_the_surrogate_model_leaves_changes_out(log, needed):
    """Unless the runs of the confirmation show that they are needed."""
    quota = "site.cluster.quota.user_running"

    def work(task):
        rng = np.random.default_rng([task.replication, 3])
        easy, other = task.values.get("site.cluster.policy") == "easy", task.values.get(quota) != 8
        confirmed = task.replication >= FIRST_CONFIRMATION
        gain = 2.0 * easy * (not (needed and confirmed and other)) + 0.05 * (not other)
        slowdown = 10.0 - gain + 0.2 * rng.normal()
        made = {"slowdown_mean": slowdown, "lost_fraction": 0.0}
        return {name: Metric(value, "") for name, value in made.items()}

    scenario = gt.load("batch/replay", {"workload.trace": str(log), "site.cluster.policy": "fcfs"})
    vary = ["site.cluster.policy=fcfs,easy", f"{quota}=none,8,16", "site.cluster.quota.user_share=1,0.5"]
    made = search(
        scenario, work=work, vary=vary, baseline=True, objectives=["slowdown_mean"], runs=110,
        replications=2, allow_loss=True, allow_starvation=True,
    )  # fmt: skip
    assert made.simulated <= 110
    (advice,) = made.archive.recommendations
    assert advice.replications == 6
    assert "site.cluster.policy" in {one.path for one in advice.changes}
    assert (len(advice.changes) > 1) is needed


@pytest.mark.long
def test_a_replay_with_more_jobs_that_is_left_out_is_told_in_the_answer(log):
    def distinct(task):  # no configuration equals another one
        events = zlib.crc32(repr(sorted(task.values.items())).encode())
        return dict(simulated(3 * 86400.0)(task)) | {"events": Metric(float(events), "")}

    made = found(log, distinct, budget=None, runs=92, replications=2)
    assert made.recommendations
    assert "not replayed with more jobs" in " ".join(answer(front(made), 80).split())


@pytest.mark.long
def test_a_search_with_a_limit_keeps_runs_to_confirm_what_it_finds(log):
    made = found(log, simulated(3 * 86400.0), budget=None, runs=120, replications=2)
    assert len(made.recommendations) == 1
    assert made.simulated <= 120


@pytest.mark.long
@pytest.mark.parametrize("runs", [72, 92, 98, 106])
def test_a_limit_of_runs_is_never_exceeded(log, runs):
    assert found(log, simulated(3 * 86400.0), budget=None, runs=runs, replications=2).simulated <= runs


def test_a_quarter_of_all_runs_is_kept_at_most():
    for runs, kept in ((1000, 60), (100, 25)):
        meter = Meter(SearchConfig(runs=runs), 8, 60)
        assert meter.left_to_search(0) == min(int(0.85 * runs), runs - 8 - kept)
        assert meter.left_to_validate(0) == min(int(0.925 * runs), runs - kept)
    assert Meter(SearchConfig(runs=100), 8).left_to_search(0) == 85


@pytest.mark.parametrize(
    ("pace", "searched"),
    [
        (1.0, 66),  # of 100 runs a third is kept: more than the 30 without which nothing is confirmed
        (0.7, 40),  # of 70 these 30, more than a third
        (0.5, 42),  # of 50 none: they would be more than half
    ],
)
def test_a_short_time_keeps_what_one_recommendation_takes_or_nothing(monkeypatch, pace, searched):
    meter = Meter(SearchConfig(time=100.0), 0, 80, 30)
    now = [0.0]
    monkeypatch.setattr(Meter, "_now", lambda self: now[0])
    while meter.left_to_search(spent := int(pace * now[0])) and not meter.late(spent)():
        now[0] += 1 / pace
    assert int(pace * now[0]) == pytest.approx(searched, abs=1)


@pytest.mark.parametrize(
    ("confirming", "begins"),
    [
        (80, 100 * (1 - 30 / 70)),  # the least
        (10, 100 * (1 - 1 / 3)),  # less than a third, of which validation takes the rest
        (0, 85),
    ],
)
def test_runs_under_way_are_given_up_when_the_kept_time_begins(monkeypatch, confirming, begins):
    meter, now = Meter(SearchConfig(time=100.0), 0, confirming, 30), [50.0]
    monkeypatch.setattr(Meter, "_now", lambda self: now[0])
    is_late = meter.late(35)  # runs, of 70 in all
    for now[0], late in ((begins - 0.1, False), (begins + 0.1, True)):
        assert is_late() == late


def test_waits_of_classes_are_judged_by_their_means_not_by_each_runs_worst():
    guard = Constraint(EXCESS_WAIT, "<=", 0.0, "s")
    classes = [f"{EXCESS_WAIT}.short", f"{EXCESS_WAIT}.long"]
    assert guard.parts([EXCESS_WAIT, *classes, "other"]) == classes
    assert guard.parts([EXCESS_WAIT]) == [EXCESS_WAIT]


def test_a_class_that_only_some_runs_have_is_guarded_too(log):
    def work(task):
        found = simulated(3 * 86400.0)(task)
        rare = {"waited_p95.size-huge": Metric(0.0 if task.replication else 3600.0, "s")}
        if task.values.get("site.cluster.policy") == "easy" and not task.replication:
            rare = {"waited_p95.size-huge": Metric(9 * 3600.0, "s")}
        return found | (rare if task.replication < 2 else {})

    made = found(log, work)
    by_policy = {one.values.get("site.cluster.policy", "fcfs"): one for one in made.evaluations}
    (case,) = by_policy["easy"].cases.values()
    assert case[f"{EXCESS_WAIT}.huge"].values == (6.5 * 3600, -3600.0, 0.0, 0.0)
    assert made.recommendations == ()


@pytest.mark.long
def test_a_search_with_a_limit_tells_no_changes_that_do_nothing(log):
    (advice,) = found(log, simulated(3 * 86400.0), budget=None, runs=240, replications=2).recommendations
    assert [one.path for one in advice.changes] == ["site.cluster.policy"]
    assert advice.without_effect
    assert 6 <= advice.replications <= 12


def test_a_configuration_found_on_drawn_weeks_is_exported_on_the_whole_log(log, tmp_path):
    scenario = load("batch/replay").override({"workload.trace": str(log)})
    search(scenario, budget=3, seed=1, vary=["site.cluster.policy=fcfs,easy"], out=tmp_path / "found")
    made = tmp_path / "made.toml"
    made.write_text(exported(open_study(tmp_path / "found"), "1"))
    assert "resample" not in made.read_text().partition("\n\n")[2]
    assert len(simulate(load(made), 1).record.jobs) == 7 * WEEKS


def test_an_export_says_what_changes_under_slurm(log):
    scenario = gt.load("batch/replay", {"workload.trace": str(log)})
    found = gt.search(scenario, budget=3, seed=1, vary=["site.cluster.policy=fcfs,easy"])
    (number,) = (one.number for one in found.archive.evaluations if "fcfs" in one.values.values())
    comments = [line for line in exported(found, str(number)).splitlines() if line.startswith("#")]
    assert "#   SchedulerType=sched/builtin" in comments
    assert "Slurm" not in exported(found, "baseline")


def test_harm_in_one_of_several_scenarios_is_told_where_the_mean_hides_it(log):
    def work(task):
        made = dict(simulated(3 * 86400.0)(task))
        better = task.values.get("site.cluster.policy") == "easy"
        first = task.scenario.name != "other"
        noise = np.random.default_rng([task.replication, 4]).normal()
        gain = 3000.0 if first else -2000.0
        made["waited_p95.size-large"] = Metric(7200.0 - gain * better + noise, "s")
        return made

    scenario = load("batch/replay").override({"workload.trace": str(log), "site.cluster.policy": "fcfs"})
    made = found(log, work, others=[replace(scenario, name="other")])
    (one,) = made.recommendations
    assert {(harm.metric, harm.case) for harm in one.harms} == {("waited_p95.size-large", "other")}
    assert "(in other" in harm_text(one.harms[0])
