"""Searches under constraints: what breaks them never makes the front, and samplers learn to keep them."""

from html import escape

import numpy as np
import optuna
import pytest

from gridtune.model.metrics.registry import Metric
from gridtune.optimize.front.front import front, keeps
from gridtune.optimize.replication.compare import costs, non_dominated
from gridtune.optimize.report.export import page, to_csv, to_dict, to_latex
from gridtune.optimize.report.frame import frame, rows
from gridtune.optimize.report.recommended import infeasible, why_none
from gridtune.optimize.report.tables import front_text, listed
from gridtune.optimize.runs.table import FIRST_VALIDATION
from gridtune.optimize.samplers import Sampler, register, samplers
from gridtune.optimize.samplers.base import _registry
from gridtune.optimize.search import search
from gridtune.optimize.studies.places import JOURNAL
from gridtune.scenarios import ScenarioError, load
from search_toys import VARY, toy, toy_with_baseline

FAIR = ["unfairness<=0.6"]
LEARNING = ["tpe", "nsga2", "nsga3", "pymoo-nsga2"]


@pytest.fixture(scope="module")
def scenario():
    return load("diet/day-regular")


def run(scenario, **options):
    return search(scenario, **{"budget": 40, "vary": VARY, "work": toy, "replications": 2, **options})


def drifting(task):
    """The toy, but on validation seeds more is unfair the more is completed."""
    metrics = toy(task)
    if task.replication >= FIRST_VALIDATION:
        late = metrics["unfairness"]._replace(value=metrics["completed"].value / 1000 - 0.35)
        metrics["unfairness"] = late
    return metrics


def broken(archive):
    return [e.number for e in archive.evaluations if e.objectives["unfairness"].mean > 0.6]


def test_where_the_validated_configuration_breaks_a_constraint_the_next_ones_are_validated(scenario):
    """The faster the better, in both objectives; above a speed the validation breaks the constraint."""

    def work(task):
        fast, late = task.values["sed.speed"], task.replication >= FIRST_VALIDATION
        values = {"unhappy_users": 10.0 - fast, "completed": 100.0 * fast, "unfairness": late * (fast > 1.3)}
        noise = np.random.default_rng([task.seed, task.replication]).normal(0, 0.01)
        return {name: Metric(float(value + noise), "") for name, value in values.items()}

    found = search(
        scenario, budget=12, vary=VARY, work=work, replications=2, sampler="random", require=FAIR,
        objectives=["unhappy_users", "completed"],
    ).archive  # fmt: skip
    speeds = {one.values["sed.speed"]: one for one in found.evaluations}
    assert sum(speed > 1.3 for speed in speeds) > 1
    (best,) = front(found).on_front
    assert best.values["sed.speed"] == max(speed for speed in speeds if speed <= 1.3)
    assert best.validation_replications > 0


@pytest.mark.long
def test_what_breaks_a_constraint_is_kept_but_never_on_the_front(scenario):
    free, held = (
        run(scenario, sampler="random").archive,
        run(scenario, sampler="random", require=FAIR).archive,
    )
    assert [e.values for e in free.evaluations] == [e.values for e in held.evaluations]
    worse = set(broken(held))
    assert 2 < len(worse) < 38
    members = {member.number for member in front(held).members}
    assert members
    assert not members & worse
    assert to_dict(front(held))["infeasible"] == len(worse)
    assert {member.number for member in front(free).members} & worse
    assert not any(e.validated for e in held.evaluations if e.number in worse)


@pytest.mark.long
def test_a_metric_that_is_no_objective_can_be_constrained(scenario):
    archive = run(scenario, objectives=["completed"], require=FAIR).archive
    best = front(archive).on_front[0]
    assert best.cases["diet/day-regular"]["unfairness"].mean <= 0.6
    assert (
        len(best.validated_cases["diet/day-regular"]["unfairness"].values)
        == best.validation_replications
        >= 2
    )
    assert "unfairness" not in best.objectives
    allowed = [e for e in archive.evaluations if e.metrics["unfairness"] <= 0.6]
    assert best.objectives["completed"].mean == max(e.objectives["completed"].mean for e in allowed)


@pytest.mark.long
@pytest.mark.parametrize("name", LEARNING)
def test_samplers_learn_to_keep_constraints(scenario, name):
    options = {
        "budget": 120,
        "replications": 1,
        "require": ["unfairness<=0.45"],
        "validation_replications": 0,
    }

    def kept(sampler):
        archive = run(scenario, sampler=sampler, **options).archive
        return sum(e.objectives["unfairness"].mean <= 0.45 for e in archive.evaluations)

    assert kept(name) > 1.5 * kept("random")


def test_to_a_sampler_that_knows_no_constraints_what_breaks_one_has_failed(scenario, monkeypatch):
    monkeypatch.setattr("gridtune.optimize.samplers.base._registry", {**_registry})
    told = []

    @register("deaf", "for this test")
    class Deaf(samplers()["random"]):
        def tell(self, results):
            told.extend(results)

    assert issubclass(Deaf, Sampler)
    options = {"sampler": "deaf", "objectives": ["unfairness", "completed"], "batch": 8}
    held = run(scenario, require=FAIR, **options).archive
    worse = set(broken(held))
    fair = [told[e.number] for e in held.evaluations if e.number not in worse]
    assert fair == [
        [e.objectives[name].mean for name in ("unfairness", "completed")]
        for e in held.evaluations
        if e.number not in worse
    ]
    assert worse
    assert {told[number] for number in worse} == {None}


@pytest.mark.long
def test_a_member_that_breaks_a_constraint_on_validation_seeds_leaves_the_front(scenario):
    found = front(run(scenario, work=drifting, require=FAIR, budget=60).archive)
    gone = [one for one in found.members if not keeps(one, found.archive.constraints)]
    assert gone
    assert len(gone) < len(found.members)
    assert not any(member in found.on_front for member in gone)
    assert found.members[: len(found.on_front)] == found.on_front
    assert all(member.estimates["unfairness"].mean > 0.6 for member in gone)
    assert all(member.estimates["unfairness"].mean <= 0.6 for member in found.on_front)
    assert {found.chance(member.number) for member in gone} == {0.0}
    assert any(member.validated for member in found.on_front)
    assert all(found.chance(member.number) > 0.05 for member in found.on_front), (
        "what is gone dominates nobody"
    )
    assert "validated on 0 seeds" not in front_text(found, listed(found), 80)
    text = front_text(found, rows(found), 200).splitlines()
    cells = {line.split()[0]: line for line in text if line.strip()}
    assert all("broken" in cells[str(member.number)] for member in gone)
    entry = next(e for e in to_dict(found, rows(found))["front"] if e.get("feasible") is False)
    constraint = entry["constraints"]["unfairness<=0.6"]
    assert constraint["holds"] is False
    assert constraint["mean"] > 0.6
    assert entry["validated"]["unfairness"]["mean"] == pytest.approx(constraint["mean"], abs=5e-5)  # rounded
    assert {"unfairness<=0.6", "feasible"} <= set(to_csv(found).split("\n")[0].split(","))


def test_a_search_that_finds_nothing_feasible_names_what_came_nearest(scenario):
    require = ["unhappy_users<=-5", "completed>=1"]
    archive = run(scenario, require=require, out=None).archive
    found = front(archive)
    assert found.members == ()
    assert not any(evaluation.validated for evaluation in archive.evaluations)
    least = min(archive.evaluations, key=lambda e: (e.objectives["unhappy_users"].mean, e.number))
    assert infeasible(found)[0] == least
    assert f"no. {least.number} with unhappy users" in " ".join(front_text(found, listed(found), 80).split())
    assert escape(why_none(found)) in page(found)
    made = to_dict(found)
    assert made["front"] == []
    assert made["infeasible"] == 40
    assert made["least_violating"][0]["number"] == least.number
    assert made["least_violating"][0]["constraints"]["completed>=1"]["holds"] is True


@pytest.mark.long
def test_optuna_sees_the_constraints(scenario, tmp_path):
    archive = run(scenario, out=tmp_path, require=FAIR).archive
    backend = optuna.storages.journal.JournalFileBackend(str(tmp_path / JOURNAL))
    study = optuna.load_study(study_name="diet/day-regular", storage=optuna.storages.JournalStorage(backend))
    assert {trial.number for trial in study.trials if trial.constraints["unfairness<=0.6"] > 0} == set(
        broken(archive)
    )
    kept = [e for e in archive.evaluations if e.number not in broken(archive)]
    rows = costs([e.objectives for e in kept], archive.objectives)
    best = {kept[at].number for at in non_dominated(rows)}
    assert {trial.number for trial in study.best_trials} == best


@pytest.mark.long
@pytest.mark.parametrize("bound", [0.8, -1.0])
def test_every_configuration_is_listed_whether_it_failed_or_breaks_a_constraint(scenario, bound):
    def work(task):
        if task.values.get("client.dispatch.window") == 7:
            raise ScenarioError("always fails")
        return toy_with_baseline(task)

    archive = run(scenario, work=work, baseline=True, require=[f"unfairness<={bound}"]).archive
    found = front(archive)
    failed = {one.number for one in archive.failed}
    worse = {e.number for e in archive.evaluations if e.objectives["unfairness"].mean > bound}
    assert failed
    assert (archive.baseline in worse) is (bound < 0)
    some = rows(found)
    assert {row.number for row in some} == {e.number for e in archive.evaluations} | failed
    cells = {line.split()[0]: line for line in front_text(found, some, 200).splitlines() if line.strip()}
    assert all(cells[row.name].split()[1] == "-" for row in some if row.number in failed)
    assert all("broken" in cells[row.name] for row in some if row.number in worse)
    assert to_latex(found, some).count("broken") >= len(worse)
    table = frame(found, some)
    assert not table["feasible"][list(worse | failed)].any()
