"""Searches over several cases: every configuration in all of them, summed up, shown apart, repeatable."""

from math import sqrt

import pytest

from gridtune.model.metrics.registry import ALWAYS, METRICS
from gridtune.optimize.front.front import front
from gridtune.optimize.report.export import to_csv, to_dict
from gridtune.optimize.report.tables import front_text, listed, statistics_text
from gridtune.optimize.runs import stored
from gridtune.optimize.runs.table import FIRST_VALIDATION
from gridtune.optimize.search import search
from gridtune.optimize.search_space.cases import other_scenario
from gridtune.optimize.search_space.space import Space
from gridtune.scenarios import ScenarioError, load
from gridtune.scenarios.workers.pool import Pool
from search_toys import VARY, Interrupting, busy_toy, toy
from tests.contents import content

pytestmark = pytest.mark.long

DAY, BUSY = "diet/day-regular", "diet/day-regular:workload.interval=3"
SAMPLERS = ["random", "tpe", "nsga2", "nsga3", "pymoo-nsga2"]


@pytest.fixture(scope="module")
def scenario():
    return load(DAY)


@pytest.fixture(scope="module")
def busy():
    return other_scenario(BUSY, {}, Space(()))


@pytest.fixture(scope="module")
def pool():
    with Pool(2) as workers:
        yield workers


def run(scenario, busy, **options):
    defaults = {"budget": 30, "vary": VARY, "work": busy_toy, "replications": 2, "others": [busy]}
    return search(scenario, **{**defaults, "robust": "worst", **options})


def test_every_configuration_is_run_in_all_cases_under_the_same_replications(scenario, busy):
    seen = []

    def watching(task):
        seen.append((task.scenario.name, task.seed, task.replication))
        return busy_toy(task)

    archive = run(scenario, busy, budget=1, work=watching, seeds=[5, 6], validation_replications=3).archive
    searched = {(name, seed, k) for name in (DAY, BUSY) for seed in (5, 6) for k in (0, 1)}
    validation = {
        (name, seed, FIRST_VALIDATION + k) for name in (DAY, BUSY) for seed in (5, 6) for k in range(3)
    }
    assert len(seen) == len(set(seen))
    assert set(seen) == searched | validation
    assert archive.cases == tuple(f"{name}, seed {seed}" for name in (DAY, BUSY) for seed in (5, 6))


@pytest.mark.parametrize(
    ("robust", "summed"),
    [
        (None, lambda values, _: sum(values) / len(values)),
        ("worst", lambda values, worst: worst(values)),
        ("quantile:0.5", lambda values, worst: (min if worst is max else max)(values)),
    ],
)
def test_an_objective_sums_up_the_cases_replication_by_replication(scenario, busy, robust, summed):
    archive = run(scenario, busy, robust=robust).archive
    assert any(evaluation.validation_replications > 1 for evaluation in archive.evaluations)
    for evaluation in archive.evaluations:
        assert list(evaluation.cases) == [DAY, BUSY]
        for name, worst in (("unhappy_users", max), ("unfairness", max), ("completed", min)):
            known = evaluation.objectives[name]
            pairs = zip(*(evaluation.cases[case][name].values for case in (DAY, BUSY)), strict=True)
            values = [summed(pair, worst) for pair in pairs]
            assert known.values == pytest.approx(values)
            assert known.mean == pytest.approx(sum(values) / 2)
            assert known.standard_error == pytest.approx(abs(values[0] - values[1]) / sqrt(4))
        if evaluation.validated is not None:
            assert (
                len(evaluation.validated_cases[BUSY]["completed"].values)
                == evaluation.validation_replications
            )
            assert evaluation.validated_cases != evaluation.cases


def test_the_worst_case_leads_to_other_configurations_than_one_scenario(scenario, busy):
    vary = ["client.dispatch=ethic", "sed.speed=1.0,1.1"]
    alone = front(run(scenario, busy, vary=vary, others=[], robust=None, objectives=["unfairness"]).archive)
    both = front(run(scenario, busy, vary=vary, objectives=["unfairness"]).archive)
    assert alone.on_front[0].values["client.dispatch.window"] == 4
    assert both.on_front[0].values["client.dispatch.window"] == 5


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_cases_and_constraints_are_repeatable_for_any_number_of_workers_and_when_resumed(
    scenario, busy, pool, tmp_path, sampler
):
    options = {"sampler": sampler, "require": ["unfairness<=0.9", "completed>450"]}
    alone = run(scenario, busy, **options).archive
    assert content(run(scenario, busy, pool=pool, **options).archive) == content(alone)
    with pytest.raises(KeyboardInterrupt):
        run(scenario, busy, out=tmp_path, work=Interrupting(70, busy_toy), **options)
    assert 0 < len(stored.load(tmp_path).archive.evaluations) < 30
    resumed = run(scenario, busy, out=tmp_path, resume=True, **options).archive
    assert content(resumed) == content(alone) == content(stored.load(tmp_path).archive)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"others": [], "robust": None}, "the cases changed; robust was worst, not mean"),
        ({"others": [load("diet/night-consecutive")]}, "the cases changed"),
        ({"seeds": [1, 2]}, "the cases changed"),
        ({"robust": "mean"}, "robust was worst, not mean"),
        ({"require": []}, "the constraints changed"),
        ({"require": ["unfairness<=2"]}, "the constraints changed"),
    ],
)
def test_a_study_is_not_resumed_with_other_cases_or_constraints(scenario, busy, tmp_path, options, message):
    require = ["unfairness<=1"]
    run(scenario, busy, out=tmp_path, budget=3, require=require)
    with pytest.raises(ScenarioError, match=f"cannot be resumed: {message}"):
        run(scenario, busy, out=tmp_path, resume=True, **{"require": require, **options})
    run(scenario, busy, out=tmp_path, budget=4, resume=True, require=["unfairness <= 1.0"])


def test_a_failure_names_its_scenario(scenario, busy):
    def failing(task):
        if task.scenario.name == BUSY and task.replication == 1:
            raise RuntimeError("too busy")
        return busy_toy(task)

    failures = run(scenario, busy, work=failing, budget=2).archive.failed
    assert {failure.reason for failure in failures} == {f"RuntimeError: {BUSY}: too busy"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"others": []}, "--robust worst: .*--scenario or --seeds"),
        ({"robust": "best"}, "--robust best: .*mean, worst .*quantile:SHARE"),
        ({"others": [load("queue/mmc")]}, r"queue/mmc: client.dispatch, "),
        ({"others": [load(DAY)]}, "diet/day-regular: a case counts once"),
        (
            {"objectives": ["unfairness", "jain"]},
            "jain: no such metric; [^;]{,95}; `gridtune run",
        ),
        ({"objectives": ["missed"]}, "missed: .* diet/day-regular; `gridtune run"),
        ({"require": ["unfairnes<=1"]}, "unfairnes: .* mean unfairness"),
        ({"require": ["pilots<=1"]}, "pilots: not measured in diet/day-regular"),
        ({"require": ["unfairness=1"]}, "--require 'unfairness=1': expected METRIC<=NUMBER"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_run(scenario, busy, tmp_path, options, message):
    def never(task):
        raise AssertionError("evaluated")

    with pytest.raises(ScenarioError, match=message) as caught:
        run(scenario, busy, work=never, out=tmp_path / "out", **options)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_metric_that_one_branch_of_the_space_measures_may_be_an_objective():
    shared = load("dirac/shared").override({"middleware.kind": "push"})
    vary = ["middleware.kind=push,pull,pilot"]

    def work(task):
        raise RuntimeError("out of order")

    result = search(shared, vary=vary, objectives=["pilots"], work=work, budget=2)
    assert len(result.archive.failed) == 2
    with pytest.raises(ScenarioError, match="pilots: not measured in dirac/shared"):
        search(shared, vary=["middleware.kind=push,pull"], objectives=["pilots"], work=work)


def test_a_metric_that_only_a_scenario_defines_may_be_an_objective_and_a_constraint(tmp_path, monkeypatch):
    node = load("egee/search")
    (site, *_), (name, *_) = node.spec.site, node.spec.site[0].classes
    metric = f"slowdown.{site.name}.{name.name}"
    asked = {"objectives": [metric], "budget": 1, "validation_replications": 0}
    require = [f"{metric}>=0", f"response_mean.{name.name}<1e9"]
    made = search(node, require=require, **asked, out=tmp_path).archive
    assert made.objectives[0].name == metric
    assert [(one.metric, one.unit) for one in made.constraints] == [
        (metric, ""),
        (f"response_mean.{name.name}", "s"),
        ("excess_loss", ""),
        ("excess_wait", "s"),
    ]
    monkeypatch.setattr("gridtune.model.metrics.registry.METRICS", {name: METRICS[name] for name in ALWAYS})
    assert stored.load(tmp_path).archive.constraints == made.constraints
    monkeypatch.undo()
    with pytest.raises(ScenarioError, match=rf"{metric}x: .* mean {metric}\?$"):
        search(node, **{**asked, "objectives": [f"{metric}x"]})


def test_the_front_is_shown_scenario_by_scenario(scenario, busy):
    found = front(run(scenario, busy).archive)
    made = to_dict(found)
    assert (made["scenarios"], made["robust"]) == ([DAY, BUSY], "worst")
    assert any(entry["validated"] for entry in made["front"])
    for entry in made["front"]:
        for kind, whole in (("scenarios", "objectives"), ("validated_scenarios", "validated")):
            if entry[whole] is None:  # the search is enough
                continue
            completed = [entry[kind][case]["completed"]["mean"] for case in (DAY, BUSY)]
            assert entry[whole]["completed"]["mean"] == pytest.approx(
                min(completed), abs=METRICS["completed"].resolution
            )
            assert entry[kind][BUSY]["unfairness"].keys() == {"mean", "standard_error"}
    said = statistics_text(found, 200)
    assert said.count(BUSY) >= len(found.on_front)
    assert "an objective is the worst of them" in said
    assert f"completed_validated@{BUSY}" in to_csv(found).splitlines()[0]


def test_a_search_of_one_case_says_nothing_of_scenarios(scenario):
    found = front(search(scenario, vary=VARY, work=toy, budget=10).archive)
    assert not {"scenarios", "constraints"} & {*to_dict(found), *to_dict(found)["front"][0]}
    assert "scenario" not in front_text(found, listed(found), 200) + statistics_text(found, 200)
    assert found.archive.evaluations[0].cases == {}
