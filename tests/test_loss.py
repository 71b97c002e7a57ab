"""No policy wins by losing work: twins of honest policies, searches, and the resolution of comparisons."""

import pytest

from gridtune.agents.gridrpc.client import Client
from gridtune.model.gridrpc.dispatch import EthicDispatch, Submission
from gridtune.model.job import Job, State
from gridtune.model.metrics.lost import is_cut_off
from gridtune.model.metrics.registry import METRICS, Metric, define
from gridtune.optimize.front.front import front
from gridtune.optimize.records.difference import difference
from gridtune.optimize.records.evaluations import Estimate, Objective
from gridtune.optimize.replication.compare import costs, non_dominated
from gridtune.optimize.replication.guards import NO_MORE_LOSS, OF_CLASS, TOLERANCE
from gridtune.optimize.search import search
from gridtune.optimize.search_space.constraints import feasible
from gridtune.scenarios import load, simulate
from gridtune.scenarios.document.scenario import shipped_names
from gridtune.scenarios.trace_files import TraceError
from tests.saboteurs import SIZES, UNMADE, honest_and_twins, kinds, sabotaged, verdict, worst_loss

# Seeds under which twins are run here; all are run under ten by tests/benchmarks/bench_saboteurs.py.
SEEDS = dict.fromkeys(("batch/replay", "cigri/file-system", "queue/mmc"), 10) | dict.fromkeys(
    ("cigri/search", "deadline/search", "diet/day-regular", "diet/night-consecutive"), 5
)
LARGE = {"federation/lcg-week", "grid/lcg"}  # whose log takes seconds to be read


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(SIZES.keys() - LARGE))
def test_every_twin_that_loses_work_is_dominated_by_its_original(name):
    try:
        scenario = load(name).override(SIZES[name])
        verdicts = [verdicts_on(scenario, seed) for seed in range(2, 2 + SEEDS.get(name, 1))]
    except TraceError as error:
        pytest.skip(str(error))
    assert not [unbeaten for unbeaten in verdicts if "" in unbeaten.values()], verdicts
    assert {"objectives", "loss"} & {found for one in verdicts for found in one.values()}
    # A job that is never made leaves no trace among the lost ones, so no chance may excuse it.
    assert "level" not in {one[kind] for one in verdicts for kind in UNMADE}


def verdicts_on(scenario, seed):
    """What a search holds against each twin of a scenario."""
    made = honest_and_twins(scenario, seed)
    honest = made.pop("honest")
    return {kind: verdict(twin, honest, scenario.spec.search.objectives) for kind, twin in made.items()}


def test_the_suite_covers_every_scenario_with_a_search():
    searched = {name for name in shipped_names() if load(name).spec.search is not None}
    assert searched == SIZES.keys()


def test_an_honest_run_is_not_dominated_by_its_twin():
    made = honest_and_twins(load("diet/day-regular").override({"workload.count": 4}), seed=2)
    objectives = ["unhappy_users", "unfairness", "completed"]
    assert {verdict(made["honest"], twin, objectives) for twin in made.values()} <= {"", "level", "harmless"}
    assert set(made) == {"honest", *kinds(load("diet/day-regular").active)} - {"drop-class"}


def test_a_policy_can_make_no_client_ask_for_more_than_its_user_wants(monkeypatch):
    setup = EthicDispatch.setup

    def greedy(self, demand, servers, rng):
        return [Submission(k % servers, True) for k in range(3 * demand.n_max)]

    scenario = load("diet/day-regular").override({"workload.count": 2, "workload.n_max": 20})
    monkeypatch.setattr(EthicDispatch, "setup", greedy)
    monkeypatch.setattr(EthicDispatch, "completed", lambda *_: 5)
    jobs = simulate(scenario).record.jobs
    assert {job.user for job in jobs} == {"user-000", "user-001"}
    for user in ("user-000", "user-001"):
        sent = [job.mandatory for job in jobs if job.user == user]
        assert (len(sent), sum(sent)) == (20, 3)
    assert setup is not EthicDispatch.setup


def test_a_client_that_sends_a_mandatory_request_too_few_makes_its_user_unhappy(monkeypatch):
    demand = Client._demand

    def less(client):
        client.mandatory_left = min(client.mandatory_left, client.session.n_min - 1)
        return demand(client)._replace(n_min=client.session.n_min - 1)

    scenario = load("diet/day-regular").override({"workload.count": 3})
    honest = simulate(scenario).metrics
    monkeypatch.setattr(Client, "_demand", less)
    twin = simulate(scenario).metrics
    for name, expected in {
        "unhappy_users": 3,
        "never_submitted": 3,
        "lost_jobs": 3,
        "lost_work": 3.0,
    }.items():
        assert (honest[name].value, twin[name].value) == (0, expected)
    assert twin["makespan"].value == float("inf")


@pytest.mark.long
@pytest.mark.parametrize("kind", UNMADE)
@pytest.mark.parametrize(
    "name", ["queue/mmc", "deadline/trace", "diet/egee-week", "federation/small", "dirac/validation-cluster"]
)
def test_jobs_that_are_never_made_are_owed_from_the_moment_they_are_scheduled(name, kind):
    scenario = load(name).override(SIZES[name])
    if name == "federation/small":  # nothing comes in the last hour of its four
        scenario = scenario.override({"horizon": 10_000.0})
    honest = simulate(scenario, 2)
    last = (1 - UNMADE[kind]) * honest.end
    with sabotaged(kind, scenario.active, 2, last):
        twin = simulate(scenario, 2)
    gone = len([job for job in honest.record.jobs if job.mandatory and job.submit >= last])
    if honest.record.stays:  # of visits that are left out only the mandatory requests are owed
        gone = sum(stay.n_min for stay in honest.record.stays if stay.entry >= last)
    if name == "federation/small":  # its tail has jobs of sites, brokers and best-effort bags
        gone = twin.metrics["never_submitted"].value
        assert gone > 0
    assert twin.metrics["never_submitted"].value == gone
    assert honest.metrics["never_submitted"].value == 0
    assert (worst_loss(twin.metrics, honest.metrics) > 0) is (gone > 0)


def run_that(**metrics):
    return {name: Metric(float(value), "") for name, value in metrics.items()}


def test_what_the_end_of_a_run_cuts_off_is_tolerated_and_nothing_else():
    baseline = run_that(lost_fraction=0.05, cut_off_fraction=0.02, never_submitted=0)

    def excess(more, cut_off, **others):
        return worst_loss(
            run_that(lost_fraction=0.05 + more, cut_off_fraction=0.02 + cut_off, **others), baseline
        )

    assert excess(0.0, 0.0) == 0
    assert excess(0.9 * TOLERANCE, 0.9 * TOLERANCE) == 0
    assert excess(1.1 * TOLERANCE, 1.1 * TOLERANCE) > 0
    # What was refused is not tolerated, however little it is and whatever the end cuts off of the rest.
    assert excess(0.0001, 0.0) > 0
    assert excess(0.0001, -0.02) > 0
    assert excess(0.0, 0.0, never_submitted=1) > 0
    assert excess(0.0, 0.0, abandoned=2) > 0
    assert excess(0.0, 0.0, dropped=1) > 0
    assert worst_loss(run_that(lost_fraction=0.0, abandoned=2), run_that(abandoned=2)) <= 0


def test_no_class_may_be_given_up_for_others():
    def of_class(lost, jobs):
        return run_that(**{"owed_lost_fraction.short": lost, "lost_jobs.short": jobs})

    baseline = of_class(0.1, 3)
    assert worst_loss(of_class(0.1 + 0.9 * OF_CLASS, 9), baseline) <= 0
    assert worst_loss(of_class(0.1 + 1.1 * OF_CLASS, 9), baseline) > 0
    # In a small class a single job is more than that.
    assert worst_loss(of_class(0.1 + 1.1 * OF_CLASS, 4), baseline) <= 0


def test_one_bad_run_of_a_class_in_ten_is_no_reason_to_refuse_a_configuration():
    def of_class(lost, jobs):
        return run_that(**{"owed_lost_fraction.short": lost, "lost_jobs.short": jobs, "lost_fraction": 0.0})

    def run(task):
        noisy = task.replication == task.seed % 10 if task.values else False
        given_up = task.values.get("sed.count") == 4
        lost = of_class(0.4, 40) if noisy or given_up else of_class(0.1, 10)
        return lost | run_that(unhappy_users=task.values.get("sed.count", 8))

    result = search(
        load("diet/day-regular"), vary=["sed.count=4,6,8"], sampler="exhaustive", budget=200, work=run,
        objectives=["unhappy_users"], replications=10, validation_replications=0, allow_loss=False,
    )  # fmt: skip
    archive = result.archive
    kept = {e.values["sed.count"] for e in archive.evaluations if feasible(e, archive.constraints)}
    assert kept == {6, 8}, "4 gives up the short jobs in all runs"
    losses = {e.values["sed.count"]: next(iter(e.cases.values())) for e in archive.evaluations}
    assert losses[4]["excess_loss.short"].mean == pytest.approx(0.3 - OF_CLASS)
    assert losses[6]["excess_loss.short"].mean == pytest.approx(0.03 - OF_CLASS)


def test_what_is_left_over_of_best_effort_classes_is_no_lost_work_of_theirs():
    run = simulate(load("cigri/search").override(SIZES["cigri/search"]), seed=1).metrics
    assert run["lost_fraction.best-effort"].value > 0
    assert run["owed_lost_fraction.best-effort"].value == 0
    two = simulate(load("federation/small"), seed=1).metrics
    assert two["owed_lost_fraction.sdj"].value == two["lost_fraction.sdj"].value > 0


def test_best_effort_jobs_that_are_killed_and_not_put_back_are_dropped():
    scenario = load("cigri/search").override(SIZES["cigri/search"])
    assert simulate(scenario, seed=1).metrics["dropped"].value == 0
    with sabotaged("no-requeue", scenario.active, 1):
        made = simulate(scenario, seed=1).metrics
    assert made["dropped"].value == made["killed"].value > 0


@pytest.mark.parametrize("state", State)
def test_only_a_job_that_runs_is_cut_off_by_the_end(state):
    job = Job(1, "ann", 0.0, 10.0)
    job.state = state
    assert is_cut_off(job) == (state is State.RUNNING)
    job.mandatory = False
    assert not is_cut_off(job)


def refusing(task):
    """The more a configuration refuses, the better it looks otherwise."""
    refused = task.values.get("sed.count", 8)
    return {
        "lost_fraction": Metric(abs(refused - 8) / 8, ""),
        "unhappy_users": Metric(float(refused), "users"),
        "completed": Metric(float(refused), "jobs"),
    }


@pytest.mark.parametrize("allowed", [False, True])
def test_a_search_recommends_no_configuration_that_loses_more_than_the_scenario_itself(allowed):
    result = search(
        load("diet/day-regular"), vary=["sed.count=4,8"], sampler="exhaustive", budget=200, work=refusing,
        objectives=["unhappy_users"], validation_replications=0, allow_loss=allowed,
    )  # fmt: skip
    archive = result.archive
    kept = {e.values["sed.count"] for e in archive.evaluations if feasible(e, archive.constraints)}
    assert kept == ({4, 8} if allowed else {8})
    assert (NO_MORE_LOSS.metric in str(archive.constraints)) is not allowed


def test_a_configuration_that_leaves_work_undone_has_no_makespan_even_where_loss_is_allowed():
    control = {"kind": "p", "reference": 9.0, "kp": 0.1}
    shy = load("cigri/batcigri").override({"harvester.controller": control})
    result = search(
        shy, vary=["harvester.controller.kp=0.1,0.5"], sampler="exhaustive", budget=3,
        objectives=["makespan"], validation_replications=0, allow_loss=True,
    )  # fmt: skip
    (failed,) = result.archive.failed
    assert failed.values == {"harvester.controller.kp": 0.1}
    assert "makespan is infinite" in failed.reason
    (member,) = front(result.archive).members
    assert member.values == {"harvester.controller.kp": 0.5}


def test_rounding_noise_dominates_nothing():
    fair = Objective("unfairness", "minimize", "", METRICS["unfairness"].resolution)
    rows = [{"unfairness": Estimate(value, None, (value,))} for value in (4e-17, 0.0, 0.2)]
    assert non_dominated(costs(rows, [fair])) == [0, 1]
    assert difference((4e-17, 0.1), (0.0, 0.1), fair.resolution).equal


def test_metrics_get_the_resolution_of_their_unit_unless_they_have_their_own():
    define("test_resolution_plain", "s", "minimize", "of a test")
    define("test_resolution_own", "s", "minimize", "of a test", 5.0)
    assert METRICS["test_resolution_plain"].resolution == 0.001
    assert METRICS["test_resolution_own"].resolution == 5.0
    for name in ("test_resolution_plain", "test_resolution_own"):
        del METRICS[name]
