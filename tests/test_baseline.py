"""The baseline is evaluated first, as often as any configuration, and all are compared with it."""

import zlib
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from gridtune.model.metrics.registry import Metric
from gridtune.optimize.commands.search import settings_of
from gridtune.optimize.front.changes import Change, between, gains
from gridtune.optimize.front.front import front
from gridtune.optimize.records.difference import Difference
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.report.numbers import in_words
from gridtune.optimize.runs import stored
from gridtune.optimize.search import search
from gridtune.optimize.search_space.baseline import baseline_of, starting_configurations
from gridtune.optimize.search_space.space import Space, key
from gridtune.scenarios import ScenarioError, load
from search_toys import VARY, Interrupting, toy, toy_with_baseline
from tests.contents import content
from tests.facts import missing
from tests.fronts import COMPLETED, UNFAIR, archive
from tests.fronts import search as noisy_search

BASELINE = {"sed.speed": 1.0, "client.dispatch": "ethic", "client.dispatch.window": 1}


@pytest.fixture(scope="module")
def scenario():
    return load("diet/day-regular")


def run(scenario, **options):
    given = {"budget": 30, "vary": VARY, "work": toy_with_baseline, "baseline": True, **options}
    return search(scenario, **given)


@pytest.mark.long
def test_the_scenario_itself_is_configuration_0_and_is_known_as_often_as_any_member(scenario):
    work = partial(toy_with_baseline, scale=8.0)
    archive = run(scenario, replications=1, validation_replications=7, work=work).archive
    assert archive.baseline == 0
    assert archive.evaluations[0].values == archive.present == BASELINE
    counts = [e.validation_replications for e in archive.evaluations]
    assert counts[0] == max(counts) == 7
    counts = [e.validation_replications for e in run(scenario, work=work).archive.evaluations]
    assert counts[0] == max(counts) >= 2


@pytest.mark.long
@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "pymoo-nsga2", "random"])
def test_workers_and_interruptions_change_nothing(scenario, tmp_path, sampler):
    whole = run(scenario, sampler=sampler, replications=2)
    two = run(scenario, sampler=sampler, replications=2, jobs=2)
    assert content(two.archive) == content(whole.archive)
    for calls in (1, 33, 70):
        out = tmp_path / str(calls)
        with pytest.raises(KeyboardInterrupt):
            run(
                scenario,
                sampler=sampler,
                replications=2,
                out=out,
                work=Interrupting(calls, toy_with_baseline),
            )
        resumed = run(scenario, sampler=sampler, replications=2, out=out, resume=True)
        assert content(resumed.archive) == content(whole.archive) == content(stored.load(out).archive)


@pytest.mark.long
def test_a_setting_outside_of_the_space_is_evaluated_all_the_same(scenario):
    result = run(scenario, vary=["sed.speed=1.5:2.0", "client.dispatch=ethic"])
    assert result.archive.baseline == 0
    assert result.archive.evaluations[0].values == {}
    assert result.archive.present["sed.speed"] == 1.0
    assert any(not missing(note, "sed.speed", "1.0", "1.5 to 2") for note in result.notes)
    again = run(scenario, vary=["sed.speed=1.0:2.0", "client.dispatch=ethic"]).archive
    assert again.evaluations[0].values == BASELINE
    assert again.evaluations[0].objectives == result.archive.evaluations[0].objectives


def test_where_another_scenario_stands_elsewhere_baseline_is_no_configuration_of_the_space(scenario):
    other = replace(scenario.override({"client.dispatch.window": 3}), name="window=3")
    result = run(scenario, others=[other], budget=8)
    assert result.archive.evaluations[0].values == {}
    assert any(not missing(note, "elsewhere", "first scenario") for note in result.notes)


@pytest.mark.parametrize("name", ["deadline/search", "deadline/trace"])
def test_a_policy_that_is_set_to_the_kind_that_is_there_keeps_what_is_not_searched(name):
    scenario = load(name)
    baseline = baseline_of(scenario, Space.of(scenario))
    assert baseline.notes == ()
    assert baseline.configuration["agent.routing"] == "priority"
    assert scenario.override(baseline.configuration).active.agent.routing.unplaced == "reject"
    other = scenario.override({"agent.routing": "mct"})
    assert other.document["agent"]["routing"] == "mct"


def test_a_small_space_is_listed_beside_a_setting_outside_of_it(scenario):
    options = {"vary": ["sed.speed=1.5,2.0", "client.dispatch=ethic", "client.dispatch.window=3,4"]}
    result = run(scenario, budget=5, **options)
    assert [e.values == {} for e in result.archive.evaluations] == [True, False, False, False, False]


def test_work_that_knows_nothing_of_the_scenario_has_no_baseline(scenario):
    archive = search(scenario, budget=6, vary=VARY, work=toy).archive
    assert archive.baseline is None


@pytest.mark.long
def test_a_study_from_before_is_resumed_without_it(scenario, tmp_path):
    search(scenario, budget=6, vary=VARY, work=toy, out=tmp_path)
    resumed = run(scenario, budget=12, out=tmp_path, resume=True, work=toy)
    assert resumed.archive.baseline is None
    assert len(resumed.archive.evaluations) == 12


@pytest.mark.long
def test_settings_to_start_from_come_next(scenario):
    start = [{"client.dispatch": "legacy", "client.n_submit": 190}, {"sed.speed": 7.0}]
    result = run(scenario, start=start)
    assert result.archive.evaluations[1].values == {
        "sed.speed": 1.0,
        "client.dispatch": "legacy",
        "client.n_submit": 190,
    }
    assert any(not missing(note, "sed.speed", "7.0", "0.5 to 2") for note in result.notes)
    idle = run(scenario, start=[{"client.n_submit": 190}], budget=2)
    assert any(not missing(note, "client.n_submit", "client.dispatch legacy") for note in idle.notes)
    with pytest.raises(ScenarioError, match=r"setting 1: sed\.cont "):
        run(scenario, start=[{"sed.cont": 3}])


@pytest.mark.long
def test_samplers_of_optuna_learn_from_what_they_have_not_proposed(scenario):
    start = [{"sed.speed": 2.0, "client.dispatch.window": 4}]
    archives = [run(scenario, sampler="tpe", start=given, budget=60).archive for given in (start, [])]
    proposed = [{str(e.values) for e in one.evaluations[34:]} for one in archives]
    assert proposed[0] != proposed[1]


@pytest.mark.long
def test_a_study_and_a_scenario_are_settings_to_start_from(scenario, tmp_path):
    run(scenario, out=tmp_path)
    space = Space.of(scenario, VARY)
    assert len(settings_of(str(tmp_path), space)) > 1
    assert settings_of("diet/day-regular", space) == [BASELINE]
    with pytest.raises(ScenarioError, match="no value for anything"):
        settings_of("queue/mmc", Space.of(load("dirac/search")))


def with_baseline(*validation, present=None):
    """A study of which the first configuration is the baseline, everything on validation seeds."""
    values = [tuple(zip(*one, strict=True)) for one in validation]
    return archive(
        (UNFAIR, COMPLETED),
        *((0.0, 0.0) for _ in validation),
        validation=values,
        baseline=0,
        present=present or {},
    )


def noise(seed, better=0.0, count=10, shared=5.0):
    draw = np.random.default_rng([seed])
    effects = np.random.default_rng(1).normal(0, shared, (count, 2))
    return effects + draw.normal(0, 1, (count, 2)) + np.array([-better, better])


def test_differences_are_paired_so_that_the_replication_effect_cancels():
    found = front(with_baseline(noise(0), noise(1, better=3.0)))
    one, other = gains(found, found.archive.evaluations[1])
    assert one.difference.mean == pytest.approx(-3, abs=1.2)
    assert one.difference.low < -3 < one.difference.high < 0 < other.difference.low
    assert one.difference.standard_error < 0.6, "replication effects alone have 1.6"


def level(task):
    """Every configuration is as good as every other, but for noise."""
    effects = np.random.default_rng([task.seed, task.replication]).normal(0, 5)
    own = zlib.crc32(key(task.values).encode()) if task.values else 0
    draw = np.random.default_rng([own, task.seed, task.replication]).normal(0, 1, 2)
    return {
        "unfairness": Metric(50 + effects + draw[0], ""),
        "completed": Metric(500 + effects + draw[1], "jobs"),
    }


@pytest.mark.long
def test_nothing_is_recommended_that_is_not_better_than_the_baseline_beyond_noise(scenario):
    options = {"work": level, "objectives": ["unfairness", "completed"], "sampler": "random", "budget": 20}
    wrong = sum(
        bool(run(scenario, replications=2, seed=seed, **options).archive.recommendations)
        for seed in range(12)
    )
    assert wrong <= 2, "a fortieth of each objective in the long run"


def test_the_baseline_is_on_the_front_only_if_nothing_dominates_it():
    dominated = front(with_baseline(noise(0), noise(1, better=4.0)))
    assert [m.number for m in dominated.on_front] == [1]
    best = front(with_baseline(noise(0, better=4.0), noise(1)))
    assert [m.number for m in best.on_front] == [0]


@pytest.mark.parametrize("name", ["federation/small", "dirac/search", "batch/replay", "egee/search"])
def test_shipped_scenarios_are_configurations_of_their_own_spaces(name):
    scenario = load(name)
    baseline = baseline_of(scenario, Space.of(scenario))
    assert baseline.configuration == baseline.values
    assert baseline.notes == ()


def test_settings_of_papers_that_a_scenario_ships_are_configurations_of_its_space():
    scenario = load("federation/small")
    given = scenario.spec.search.start
    space = Space.of(scenario)
    found = list(starting_configurations(given, space, baseline_of(scenario, space), scenario.name))
    assert [one["middleware.kind"] for one in found] == ["pull", "pilot", "pilot", "push"]
    assert len({key(one) for one in found}) == len(given)


def test_a_change_in_words_has_its_interval_from_the_smaller_to_the_larger():
    less = Change(UNFAIR, 0.5, 0.4, Difference(-0.1, 0.02, -0.14, -0.06, 0.99, 5))
    more = Change(COMPLETED, 50.0, 60.0, Difference(10.0, 2.0, 6.0, 14.0, 0.99, 5))
    assert not missing(in_words(less), "unfairness", "lower by 0.1", "0.06 to 0.14")
    assert not missing(in_words(more), "completed jobs", "higher by 10", "6 to 14")
    assert (less.better, more.better) == (True, True)
    sooner = Change(Objective("meta_response_mean", "minimize", "s"), 900.0, 650.0,
                    Difference(-250.0, 80.0, -410.0, 30.0, 0.99, 5))  # fmt: skip
    assert not missing(in_words(sooner), "lower by 4.17 min", "-0.5 to 6.83")


def test_what_changes_is_told_by_all_runs_where_these_can_tell():
    found = front(noisy_search())
    one, other = found.members[:2]
    told = [change for change in between(found, one, other) if not change.difference.equal]
    assert told
    for change in told:
        known = found.posterior.difference(other.number, one.number, change.metric)
        assert change.difference.mean == known.mean


def without_baseline(task):
    if not task.values:
        raise RuntimeError("no nodes")
    return toy_with_baseline(task)


def test_where_the_scenario_itself_cannot_be_run_that_is_its_failure_and_nobody_elses(scenario):
    result = run(scenario, budget=6, sampler="random", work=without_baseline)
    (failed,) = result.archive.failed
    assert failed.number == 0
    assert "no nodes" in failed.reason
    assert [one.number for one in result.archive.evaluations] == [1, 2, 3, 4, 5]
