"""Who is worse off by a recommendation is told, whatever class of jobs it is and whatever a run lacks."""

from dataclasses import replace
from math import nan
from types import SimpleNamespace

import numpy as np
import pytest

from gridtune.model.metrics.labels import KINDS, label
from gridtune.model.metrics.registry import HARM_METRICS, METRICS, Definition, definition
from gridtune.optimize.front.changes import bearable
from gridtune.optimize.front.front import front
from gridtune.optimize.recommend.harm import (
    MUCH,
    beyond,
    blamed,
    harms,
    harms_in_some,
    harms_of_replay,
    ratio,
    worse_off,
    worst_of,
)
from gridtune.optimize.recommend.recommender import title_of
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.replication.guards import excess_waits, failing
from gridtune.scenarios.tables.search import Starvation
from tests.fronts import search, with_baseline

NOISE = np.random.default_rng(1).normal(0, 1, 12)


def told(name, before, after):
    found = harms({name: before}, {name: after}, ())
    return [one.metric for one in found]


@pytest.mark.parametrize(
    "name",
    [
        "waited_p95.length-short", "waited_max", "waiting_mean.optional", "waiting_mean.wide-long",
        "slowdown_mean.optional", "mandatory_failed.local", "shortfall_worst", "unfairness",
    ],
)  # fmt: skip
def test_what_gets_worse_is_told_of_every_class(name):
    before, after = (100 + NOISE).tolist(), (140 - NOISE).tolist()
    assert told(name, before, after) == [name]
    assert told(name, after, before) == []
    assert told(name, before, (105 - NOISE).tolist()) == [], "a twentieth is no harm"


def test_a_wait_that_grows_by_factors_is_told_among_many_metrics_that_do_not():
    draw = np.random.default_rng(2).lognormal
    names = [f"waited_p95.queue-{k}" for k in range(160)]
    baseline, changed = ({name: draw(3, 0.3, 6).tolist() for name in names} for _ in range(2))
    baseline["global_wait_mean"] = [8.1, 8.4, 7.9, 8.6, 8.0, 8.5]
    changed["global_wait_mean"] = [70.3, 42.4, 36.8, 99.8, 55.9, 39.0]
    assert "global_wait_mean" in [one.metric for one in harms(baseline, changed, ())]


@pytest.mark.parametrize("spread", [0.07, 0.15, 0.5])
def test_noise_is_seldom_told_as_harm(spread):
    draw = np.random.default_rng(3).lognormal
    names = [f"waited_p95.queue-{k}" for k in range(40)]
    sides = [[{name: draw(3, spread, 6).tolist() for name in names} for _ in range(200)] for _ in range(2)]
    assert sum(bool(harms(*pair, ())) for pair in zip(*sides, strict=True)) < 40, "a fifth of 200 answers"


def test_a_mean_that_is_worse_is_told_though_most_replications_or_the_ratios_are_not():
    heavy, light = np.array([1000.0, 10.0])[:, None] * (1 + NOISE[:6] / 50)
    before, after = np.r_[heavy, light].tolist(), np.r_[1.5 * heavy, 0.3 * light].tolist()
    assert told("waiting_mean.optional", before, after) == ["waiting_mean.optional"]
    tiny = [*(140 + NOISE[:11]), 0.0001]
    assert told("waited_max", [*(100 + NOISE[:11]), 0.01], tiny) == ["waited_max"]
    assert told("waited_max", [1000.0, 10.0, 10.0, 10.0], [900.0, 20.0, 20.0, 20.0]) == [], (
        "its mean is better"
    )
    assert told("waited_max", [1000.0, *[10.0] * 29], [100.0, *[15.0] * 29]) == []


def test_what_is_missing_in_some_replications_hides_no_harm():
    before, whole = runs(killed=100.0, waited_max=100.0), runs(killed=100.0, waited_max=200.0)
    sparse = runs(killed=400.0)
    assert worse_off(before, whole, sparse, ()), "nobody of a class waited"
    sparse["killed"][3] = nan
    assert worse_off(before, whole, sparse, ())


def test_what_is_worse_in_a_tenth_of_the_replications_is_told_with_their_share():
    before = {"waited_max": [100.0] * 12, "waited_day": [1.0] * 12, "waiting_mean": [nan, *[100.0] * 11]}
    after = {
        "waited_max": [150.0, 130.0, *[50.0] * 10],
        "waited_day": [2.0, *[0.0] * 11],
        "waiting_mean": [150.0, 140.0, 105.0, *[50.0] * 9],  # worse in one of those that both have
    }
    (one,) = harms_in_some(before, after, ())
    assert (one.metric, one.unit, one.part) == ("waited_max", "s", pytest.approx(1 / 6))
    assert (one.baseline, one.mean) == (100.0, 140.0)
    assert harms_in_some(before, after, {"waited_max"}) == (), "told anyway"


@pytest.mark.parametrize(
    ("count", "worse", "told"), [(10, 1, 0), (10, 2, 1), (20, 2, 1), (30, 2, 0), (1, 1, 0)]
)
def test_what_is_worse_in_fewer_replications_is_not_told(count, worse, told):
    before, after = [100.0] * count, [*[150.0] * worse, *[50.0] * (count - worse)]
    assert len(harms_in_some({"waited_max": before}, {"waited_max": after}, ())) == told
    zero = [0.0] * count
    assert harms_in_some({"waited_max": zero}, {"waited_max": [1e-13] * count}, ()) == ()


@pytest.mark.parametrize(
    "name", ["global_wait_mean", "campaign_unfairness", "refused", "meta_waiting_mean", "preempted_jobs"]
)
def test_what_a_system_adds_is_told_too(name, monkeypatch):
    monkeypatch.setitem(METRICS, name, Definition("", "minimize", "", 0.0))
    assert told(name, (100 + NOISE).tolist(), (140 - NOISE).tolist()) == [name]


@pytest.mark.parametrize("name", ["messages", "lease_work", "events", "utilisation", "jobs.optional"])
def test_what_a_middleware_pays_is_no_harm_to_users(name, monkeypatch):
    monkeypatch.setitem(METRICS, name, Definition("", "minimize", "", 0.0))
    assert told(name, (100 + NOISE).tolist(), (140 - NOISE).tolist()) == []


def test_a_class_without_jobs_in_one_run_is_told_by_the_others():
    before, after = (100 + NOISE).tolist(), (140 - NOISE).tolist()
    name = "slowdown_mean.optional"
    assert told(name, [nan, *before[1:]], [*after[:-1], nan]) == [name]
    (one,) = harms({"waited_max": [nan, *before[1:]]}, {"waited_max": after}, ())
    assert one.baseline == pytest.approx(np.mean(before[1:]))
    assert told("waited_max", [nan] * 11 + before[:1], after) == []


def test_an_objective_is_no_harm_under_a_second_name():
    before, after = [10.0, 11.0, 12.0], [20.0, 23.0, 24.0]
    names = ("background_waiting_mean", "waiting_mean.local", "waiting_p95")
    baseline = dict.fromkeys(names[:2], before) | {"waiting_p95": [20.0, 22.0, 24.0]}
    changed = dict.fromkeys(names[:2], after) | {"waiting_p95": [40.0, 46.0, 48.0]}
    changed["waiting_mean.local"] = [value * (1 + 1e-15) for value in after]
    found = harms(baseline, changed, {"background_waiting_mean"})
    assert [one.metric for one in found] == ["waiting_p95"]


def test_failures_of_what_is_owed_come_first_and_each_harm_once():
    before = (100 + NOISE).tolist()

    def rows(**times):
        made = {name.replace("__", "."): (np.array(before) * by).tolist() for name, by in times.items()}
        return harms(dict.fromkeys(made, before), made, ())

    told_now = rows(waiting_mean__optional=5.0, mandatory_failed__local=1.2, best_effort_work=0.5)
    assert [one.metric for one in told_now] == [
        "mandatory_failed.local", "best_effort_work", "waiting_mean.optional",
    ]  # fmt: skip
    twice = rows(best_effort_work=0.5, completed_work__optional=0.5, excess_wait=9.0, cancelled_waiting=3.0)
    assert len(twice) == 1


@pytest.mark.parametrize(("failed", "fails"), [(9.0, False), (25.0, True)])
def test_a_class_whose_mandatory_jobs_fail_is_found(failed, fails):
    baseline = {"mandatory_failed.local": 2.0, "jobs.local": 100.0, "mandatory_failed.meta": 1.0}
    found = failing(baseline | {"mandatory_failed.local": failed}, baseline | {"jobs.meta": 0.0})
    assert found == (("mandatory_failed.local",) if fails else ())


def bearable_members(archive):
    found = front(archive)
    return [one.number for one in found.on_front if bearable(found, one)]


@pytest.mark.long
def test_what_lets_a_class_fail_is_not_recommended():
    archive = with_baseline(search(40))
    members = bearable_members(archive)
    which = next(number for number in members if number != archive.baseline)
    counts = {archive.baseline: 1.0, which: 30.0}
    harmed = replace(
        archive,
        evaluations=tuple(
            replace(one, metrics={"jobs.local": 100.0, "mandatory_failed.local": counts.get(one.number, 2.0)})
            for one in archive.evaluations
        ),
    )
    left = bearable_members(harmed)
    assert left == [number for number in members if number != which]


@pytest.mark.parametrize(
    "name", ["waited_p95.size-huge", "waited_p95.length-very-long", "waited_mean.worst-users"]
)
def test_no_class_by_size_run_time_or_user_may_wait_much_longer(name):
    bounds = Starvation()
    allowed = bounds.class_factor * 3600.0 + bounds.slack
    before = {name: 3600.0}
    assert excess_waits({name: allowed}, before, bounds)["excess_wait"] <= 0
    assert excess_waits({name: allowed + 1}, before, bounds)["excess_wait"] == pytest.approx(1)


def test_the_best_of_two_objectives_of_one_name_are_called_by_their_statistic():
    mean, worst, work = (
        Objective(name, direction, "")
        for name, direction in (
            ("slowdown_mean_log", "minimize"),
            ("slowdown_worst_log", "minimize"),
            ("completed_work", "maximize"),
        )
    )
    all_three = (mean, worst, work)
    titles = [title_of([one], all_three, all_three, compromise=False) for one in all_three]
    assert titles == ["lower slowdown (mean)", "lower slowdown (worst user)", "more completed work"]
    assert title_of([mean], (mean, work), (mean, work), compromise=False) == "lower slowdown"


def test_a_title_says_what_the_confirmation_bears_out():
    users = Objective("unhappy_users", "minimize", "users")
    spread = Objective("unfairness", "minimize", "")
    both = (users, spread)
    assert title_of([users], both, both, compromise=False) == "fewer unhappy users"
    assert title_of([users], [spread], both, compromise=False) == "lower unfairness"
    assert (
        title_of([users, spread], both, both, compromise=False) == "fewer unhappy users and lower unfairness"
    )
    assert title_of([users], [users], both, compromise=True) == "fewer unhappy users, compromise"
    assert title_of([users], [spread], both, compromise=True) == "compromise"


def test_classes_of_waiting_jobs_are_called_by_what_belongs_to_them():
    assert str(label("waited_p95.length-long")) == "wait of jobs of 1 to 8 h (95th percentile)"
    assert str(label("waited_p95.size-huge")) == "wait of jobs of more than 25 % of a site (95th percentile)"
    assert str(label("waiting_mean.local")) == "waiting time of local jobs (mean)"
    named = {kind for name in HARM_METRICS if (kind := name.partition(".")[2])}
    assert named == set(KINDS), "each class has a name that people understand"


def test_a_replay_tells_what_is_worse_by_more_than_a_tenth():
    before = {
        "waited_max": 100.0,
        "slowdown_mean": 2.0,
        "completed": 50.0,
        "messages": 1.0,
        "waited_day": nan,
    }
    after = {"waited_max": 120.0, "slowdown_mean": 2.1, "completed": 40.0, "messages": 9.0, "waited_day": 4.0}
    found = harms_of_replay(before, after)
    assert [(one.metric, one.baseline, one.mean, one.replay) for one in found] == [
        ("completed", 50.0, 40.0, True),
        ("waited_max", 100.0, 120.0, True),
    ]
    assert harms_of_replay(after, before) == (), "what is better, or no longer there, is no harm"


def test_waits_come_before_unfairness_which_may_be_many_times_as_little():
    now, then = {"unfairness": 0.0001, "waited_max": 100.0}, {"unfairness": 0.01, "waited_max": 150.0}
    assert [one.metric for one in harms_of_replay(now, then)] == ["waited_max", "unfairness"]


def test_of_two_harms_to_a_metric_the_greater_is_told():
    first = harms({"waited_max": (100 + NOISE).tolist()}, {"waited_max": (140 - NOISE).tolist()}, ())
    for most in (120.0, 200.0):
        replayed = harms_of_replay(
            {"waited_max": 100.0, "slowdown_mean": 1.0}, {"waited_max": most, "slowdown_mean": 2.0}
        )
        told = {one.metric: one for one in worst_of([*first, *replayed])}
        assert set(told) == {"waited_max", "slowdown_mean"}
        assert told["waited_max"].mean == pytest.approx(max(140, most), abs=2)
        assert told["waited_max"].replay == (most == 200.0)
        assert told["slowdown_mean"].replay


def test_of_two_harms_to_what_the_baseline_has_not_the_greater_is_told():
    few = harms_of_replay({"waited_week": 0.0}, {"waited_week": 5.0})
    many = harms_of_replay({"waited_week": 0.0}, {"waited_week": 19.0})
    for found in ([*few, *many], [*many, *few]):
        assert [one.mean for one in worst_of(found)] == [19.0]


def test_what_is_worse_under_todays_load_is_told_of_a_higher_one_where_it_is_much_worse_there():
    now, then = {"waited_max": 100.0, "waited_day": 0.0}, {"waited_max": 150.0, "waited_day": 0.0}
    for longest, again in ((200.0, []), (900.0, [("waited_max", 900.0, 1.2)])):
        later = {"waited_max": longest, "waited_day": 4.0}
        told = worst_of([*harms_of_replay(now, then), *harms_of_replay(now, later, load=1.2)])
        assert [(one.metric, one.mean, one.load) for one in told] == [
            ("waited_max", 150.0, 1.0),
            ("waited_day", 4.0, 1.2),
            *again,
        ]


def test_what_the_mean_over_cases_hides_is_told_of_the_case():
    now = {"waited_max": 100.0, "waited_day": 1.0}
    mean = harms_of_replay(now, {"waited_max": 150.0, "waited_day": 1.0})
    for most, again in ((200.0, []), (900.0, [("waited_max", "b")])):
        later = harms_of_replay(now, {"waited_max": most, "waited_day": 4.0})
        told = worst_of([*(replace(one, case="b") for one in later), *mean])
        assert {(one.metric, one.case) for one in told} == {("waited_max", ""), ("waited_day", "b"), *again}


def test_a_class_of_jobs_may_be_called_like_a_queue():
    assert definition("waiting_mean.queue-x") == definition("waiting_mean.x")
    assert str(label("waiting_mean.queue-x")) == "waiting time of queue-x jobs (mean)"
    assert str(label("waited_p95.queue-x")) == "wait in queue x (95th percentile)"
    assert str(label("slowdown_mean.queue-x")) == "slowdown in queue x (mean)"


@pytest.mark.parametrize(("unhappy", "said"), [(0.0, []), (1.0, ["unfairness_jain"])])
def test_unequal_satisfaction_is_harm_only_where_somebody_is_unhappy(unhappy, said):
    before = {"unfairness_jain": (100 + NOISE).tolist(), "unhappy_users": [0.0] * 12}
    after = {"unfairness_jain": (140 - NOISE).tolist(), "unhappy_users": [0.0] * 11 + [unhappy]}
    names = [one.metric for one in harms(before, after, ["unhappy_users"])]
    assert names == said
    runs = ({name: values[-1] for name, values in side.items()} for side in (before, after))
    found = {one.metric for one in harms_of_replay(*runs)}
    assert "unfairness_jain" in found if unhappy else "unfairness_jain" not in found


def test_what_is_worse_than_something_else_but_hardly_worse_than_the_baseline_is_no_harm():
    before = {"waited_max": (100.0, 101.0, 99.0), "goodput": (0.8, 0.81, 0.79), "killed": (nan, nan, nan)}
    after = {"waited_max": (300.0, 301.0, 299.0), "goodput": (0.5, 0.51, 0.49), "killed": (nan, nan, nan)}
    found = harms(before, after, ())
    assert {one.metric for one in found} == {"waited_max", "goodput"}
    for waited, goodput, told in (
        (400.0, 0.3, set()),
        (200.0, 0.3, {"waited_max"}),
        (400.0, 0.6, {"goodput"}),
        (280.0, 0.54, set()),  # by less than a tenth
    ):
        assert {one.metric for one in beyond(found, {"waited_max": waited, "goodput": goodput})} == told
    assert beyond(found, {"waited_max": nan}) == list(found)


def runs(**means):
    """Twelve runs of metrics with these means."""
    return {name.replace("__", "."): (mean + NOISE * mean / 100).tolist() for name, mean in means.items()}


@pytest.mark.parametrize(("wait", "worse"), [(160.0, True), (120.0, False)])
def test_what_is_told_of_one_counts_in_both_configurations(wait, worse):
    """The wait is longer with all changes, too, though noise hides it there."""
    whole = {"waited_max": (140.0 + 60 * NOISE).tolist(), "killed": runs(killed=100.0)["killed"]}
    before, sparse = runs(waited_max=100.0, killed=100.0), runs(waited_max=wait, killed=160.0)
    assert worse_off(before, whole, sparse, ()) is worse


BEFORE = runs(waited_max=100.0, goodput=100.0, killed=100.0, mandatory_failed__local=100.0)
WHOLE = runs(waited_max=200.0, goodput=80.0, killed=80.0, mandatory_failed__local=50.0)


@pytest.mark.parametrize(
    ("changed", "worse"),
    [
        ({"killed": 160.0, "goodput": 80.0, "waited_max": 200.0}, True),  # a new harm beside the others
        ({"killed": 140.0, "goodput": 80.0, "waited_max": 200.0}, False),  # a small one
        ({"killed": 150.0, "goodput": 100.0, "waited_max": 100.0}, False),  # in place of greater ones
        ({"killed": 400.0, "goodput": 100.0, "waited_max": 100.0}, True),  # of a much greater one
        ({"killed": 1e6, "goodput": 100.0, "waited_max": 100.0, "mandatory_failed__local": 50.0}, True),
        ({"killed": 105.0, "goodput": 80.0, "waited_max": 200.0}, False),  # no better than without changes
        ({"mandatory_failed__local": 150.0, "goodput": 100.0, "waited_max": 100.0}, True),  # owed
        ({"mandatory_failed__local": 105.0, "goodput": 100.0, "waited_max": 100.0}, False),
    ],
)
def test_who_is_worse_off_without_some_changes_in_what_is_owed_or_on_the_whole(changed, worse):
    sparse = runs(**{"killed": 80.0, "mandatory_failed__local": 50.0, **changed})
    assert worse_off(BEFORE, WHOLE, sparse, ()) is worse
    assert worse_off(BEFORE, sparse, sparse, ()) is False


def test_one_harm_does_not_outweigh_any_number_of_others():
    whole = runs(waited_max=1000.0, slowdown_mean=1000.0, killed=100.0)
    sparse = runs(waited_max=100.0, slowdown_mean=100.0, killed=1e9)
    assert not worse_off(runs(waited_max=100.0, slowdown_mean=100.0, killed=100.0), whole, sparse, ())


@pytest.mark.parametrize(("share", "counts"), [(0.02, False), (0.6, True)])
def test_few_delayed_users_keep_no_change_that_nothing_else_needs(share, counts):
    baseline, whole = {"delayed_fraction": [0.0] * 12}, {"delayed_fraction": [0.0] * 12}
    (harm,) = harms_of_replay({"delayed_fraction": 0.0}, {"delayed_fraction": share})
    assert ratio(harm) == pytest.approx(1 / (1 - share))
    assert (ratio(harm) > MUCH) == counts
    sparse = {"delayed_fraction": share + 0.01 * NOISE * share}
    assert worse_off(baseline, whole, sparse, ()) == counts


def test_nobody_is_blamed_for_a_wait_where_none_is_longer():
    spec = SimpleNamespace(searching=SimpleNamespace(starvation=Starvation()))
    some = SimpleNamespace(means={}, settings=SimpleNamespace(scenario=SimpleNamespace(spec=spec)))
    assert blamed(some, some) == ()
