"""A search is repeatable, wastes nothing, and reports what failed."""

from collections import Counter

import pytest

from gridtune.optimize.front.front import front
from gridtune.optimize.runs.evaluator import with_users
from gridtune.optimize.runs.table import FIRST_VALIDATION
from gridtune.optimize.search import search
from gridtune.optimize.search_space.space import key
from gridtune.scenarios import ScenarioError, load
from gridtune.scenarios.workers.pool import Pool
from search_toys import SAMPLERS, VARY, deadly, sometimes_failing, toy
from tests.contents import content
from tests.facts import missing


@pytest.fixture(scope="module")
def scenario():
    return load("diet/day-regular")


@pytest.fixture(scope="module")
def pool():
    with Pool(2) as workers:
        yield workers


def run(scenario, **options):
    return search(scenario, **{"budget": 40, "vary": VARY, "work": toy, "replications": 2, **options})


@pytest.mark.long
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_equal_seeds_give_equal_searches_for_any_number_of_workers(scenario, pool, sampler):
    alone = run(scenario, sampler=sampler)
    together = run(scenario, sampler=sampler, pool=pool)
    assert content(alone.archive) == content(together.archive)  # nan differs from nan
    assert len(alone.archive.evaluations) == 40
    other = run(scenario, sampler=sampler, seed=2).archive
    assert [e.values for e in other.evaluations] != [e.values for e in alone.archive.evaluations]


def test_a_real_scenario_is_searched_alike_by_one_and_two_workers(scenario, pool):
    small = scenario.override({"workload.count": 2, "workload.n_max": 50})
    options = {"work": with_users, "vary": [], "budget": 10}
    alone, together = run(small, **options), run(small, **options, pool=pool)
    assert content(alone.archive) == content(together.archive)  # nan differs from nan
    assert len(alone.archive.evaluations) + len(alone.archive.failed) == 10


@pytest.mark.long
def test_evaluations_are_numbered_and_carry_estimates_and_other_metrics(scenario):
    result = run(scenario)
    archive = result.archive
    assert [evaluation.number for evaluation in archive.evaluations] == list(range(40))
    evaluation = archive.evaluations[0]
    assert set(evaluation.objectives) == {"unhappy_users", "unfairness", "completed"}
    estimate = evaluation.objectives["unfairness"]
    assert len(estimate.values) == 2
    assert estimate.mean == pytest.approx(sum(estimate.values) / 2)
    assert estimate.standard_error == pytest.approx(abs(estimate.values[0] - estimate.values[1]) / 2)
    assert evaluation.metrics["seen_replication"] == 0.5
    assert evaluation.metrics["waiting_mean"] != evaluation.metrics["waiting_mean"]
    assert (archive.scenario, archive.study) == ("diet/day-regular",) * 2
    assert result.settings.sampler == "surrogate"
    assert [o.direction for o in archive.objectives] == ["minimize", "minimize", "maximize"]


@pytest.mark.long
def test_the_front_is_validated_on_seeds_that_the_search_never_used(scenario):
    seen = []

    def watching(task):
        seen.append(task.replication)
        return toy(task)

    archive = run(scenario, work=watching, validation_replications=4).archive
    assert set(seen) == {0, 1, *range(FIRST_VALIDATION, FIRST_VALIDATION + 4)}
    found = front(archive).on_front
    assert len(found) > 2
    assert {len(estimate.values) for one in found for estimate in one.validated.values()} == {4}
    assert all(one.validated["unfairness"] != one.objectives["unfairness"] for one in found)
    assert not all(one.validated for one in archive.evaluations)
    assert run(scenario, validation_replications=0).archive.evaluations[0].validated is None


def test_no_configuration_is_evaluated_twice_and_repetitions_cost_no_budget(scenario):
    calls = Counter()

    def counting(task):
        calls[key(task.values), task.replication] += 1
        return toy(task)

    vary = ["sed.speed=1.0,2.0", "client.n_submit=3,10,1000"]
    archive = run(
        scenario, work=counting, vary=vary, sampler="pymoo-nsga2", budget=18, validation_replications=0
    ).archive
    assert set(calls.values()) == {1}
    assert len(calls) == 2 * len(archive.evaluations) == 36


@pytest.mark.long
@pytest.mark.parametrize("sampler", ["auto", "random", "tpe", "nsga2", "pymoo-nsga2"])
def test_an_exhausted_space_ends_the_search_with_a_note(scenario, sampler):
    vary = ["sed.speed=1.0,2.0", "client.dispatch=ethic"]
    result = run(scenario, vary=vary, budget=100, sampler=sampler)
    assert len(result.archive.evaluations) == 16
    assert not missing(result.notes[-1], "note", "16 configurations")


@pytest.mark.long
def test_a_sampler_without_new_ideas_is_replaced(scenario):
    vary = ["sed.speed=1.0,2.0", "client.n_submit=3:60"]
    result = run(scenario, vary=vary, budget=80, sampler="nsga2", batch=4)
    assert len(result.archive.evaluations) == 80
    (note,) = result.notes
    assert not missing(note, "note: nsga2", "nothing new", "others")


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "pymoo-nsga2"])
def test_failures_are_recorded_with_their_reason(scenario, pool, sampler):
    vary = ["sed.speed=0.5:2.0", "client.dispatch=ethic"]
    result = run(scenario, work=sometimes_failing, pool=pool, sampler=sampler, vary=vary)
    reasons = {failure.values["client.dispatch.window"]: failure.reason for failure in result.archive.failed}
    assert reasons == {
        3: "RuntimeError: no such window",
        5: "unfairness is nan in replication 1",
    }
    assert len(result.archive.evaluations) + len(result.archive.failed) == 40


def test_a_search_where_everything_fails_ends(scenario):
    def hopeless(task):
        raise RuntimeError("no")

    result = run(scenario, work=hopeless, sampler="pymoo-nsga2")
    assert len(result.archive.failed) == 40
    assert result.archive.evaluations == ()


def test_an_objective_that_is_not_measured_is_a_failure_that_says_so(scenario):
    result = run(scenario, objectives=["unfairness", "killed"], budget=2)
    (reason,) = {failure.reason for failure in result.archive.failed}
    assert not missing(reason, "killed", "not measured")


@pytest.mark.long
def test_a_killed_worker_loses_no_trial(scenario, tmp_path, monkeypatch):
    monkeypatch.setenv("TOY_MARKER", str(tmp_path / "marker"))
    result = run(scenario, work=deadly, jobs=2)
    assert (tmp_path / "marker").exists()
    assert result.archive.failed == ()
    assert content(result.archive) == content(run(scenario).archive)


def test_objectives_and_sampler_settings_can_be_chosen(scenario):
    archive = run(scenario, objectives=["completed", "unfairness"], budget=5, batch=2).archive
    assert [objective.name for objective in archive.objectives] == ["completed", "unfairness"]
    assert set(archive.evaluations[0].objectives) == {"completed", "unfairness"}
    single = run(scenario, objectives=["unfairness"], budget=12)
    assert len(single.archive.evaluations) == 12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0}, "budget 0: .* 1$"),
        ({"replications": 0}, "replications 0: .* 1$"),
        ({"jobs": 0}, "jobs 0: at least 1"),
        ({"seed": -1}, "seed -1: .* 0$"),
        ({"seed": 2**32}, f"seed {2**32}: .* {2**32 - 1}$"),
        ({"seeds": [1, -1]}, "seeds -1: .* 0$"),
        ({"objectives": ["unfair"]}, "unfair: .* mean unfairness"),
        ({"objectives": ["killed", "killed"]}, "counts once"),
        ({"sampler": "tpee"}, "did you mean tpe"),
        ({"vary": ["client.n_sbmit=1:3"]}, "n_sbmit"),
        ({"vary": ["sed.speed"]}, "expected PATH="),
    ],
)
def test_bad_requests_are_refused_before_anything_is_evaluated(scenario, tmp_path, options, message):
    def never(task):
        raise AssertionError("evaluated")

    with pytest.raises(ScenarioError, match=message):
        run(scenario, work=never, out=tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
