"""Policies of users' own: what they may not do is refused in words that help, and what they may do is not."""

import pickle
import re
from copy import copy, deepcopy
from dataclasses import dataclass

import pytest

from gridtune.model.batch.policies import BatchPolicy, Easy
from gridtune.model.job import Job
from gridtune.model.middleware.routing import LeastDepth
from gridtune.model.policy import FAMILIES, Policy, PolicyError, declared, make, policies, register
from gridtune.model.prediction.run_times import LastRuns
from gridtune.model.shown_job import ShownJob, shown_job
from gridtune.scenarios import load, simulate
from tests.facts import missing

REPLAY = {"workload.log.last": 300}


def fitting(cluster):
    """As many jobs from the head of the queue as fit."""
    free, chosen = cluster.free, []
    for job in cluster.in_order():
        free -= job.processors
        if free < 0:
            break
        chosen.append(job)
    return chosen


@dataclass(frozen=True)
class Mine(BatchPolicy):
    """First come, first served."""

    kind = "mine"
    family = "batch"

    def starts(self, cluster, now):
        return fitting(cluster)


def run(policy, field="site.cluster.policy", name="batch/replay", values=REPLAY):
    return simulate(load(name).override(values | {field: policy}))


def refusal(cls, starts):
    """What is said of a batch policy that starts jobs so."""
    changed = type("Changed", (cls,), {"starts": starts})
    with pytest.raises(PolicyError) as refused:
        run(changed())
    assert "perhaps" not in str(refused.value)  # it is known who it was
    return str(refused.value)


def taken_off(self, cluster, now):
    chosen = []
    for job in cluster.in_order():
        if job.processors > cluster.free:
            break
        cluster.free -= job.processors
        chosen.append(job)
    return chosen


def opened(self, cluster, now):
    cluster.free = 100
    return []


@pytest.mark.parametrize("starts", [taken_off, opened])
def test_the_free_processors_of_a_site_are_read_only(starts):
    assert not missing(refusal(Mine, starts), "batch policy mine", "cluster.free")


@pytest.mark.parametrize("fact", ["runtime", "submit", "user", "estimate", "deadline", "state", "processors"])
def test_an_own_policy_that_changes_a_job_is_refused(fact):
    def starts(self, cluster, now):
        for job in cluster.in_order():
            setattr(job, fact, getattr(job, fact))
        return []

    assert not missing(refusal(Mine, starts), "batch policy mine", f"changes {fact}", "job 1")


def test_to_take_a_fact_of_a_job_away_is_to_change_it():
    def starts(self, cluster, now):
        del next(cluster.in_order()).runtime

    assert not missing(refusal(Mine, starts), "changes runtime", "job 1")


def test_what_an_own_policy_inherits_is_looked_at_too():
    def starts(self, cluster, now):
        next(cluster.in_order()).user = "me"
        return super(Below, self).starts(cluster, now)

    Below = type("Below", (Mine,), {"starts": starts})
    with pytest.raises(PolicyError, match=r"mine changes user .*job 1"):
        run(type("Lowest", (Below,), {})())


def test_policies_of_other_families_may_change_no_job_either():
    class Shortening(LeastDepth):
        def choose(self, sites, task, mean_length, rng):
            task.runtime = 1.0
            return sites[0]

    class Peeking(LastRuns):
        def runtime(self, job, ended):
            job.estimate = job.runtime
            return job.runtime

    with pytest.raises(PolicyError, match=rf"{LeastDepth.kind} changes runtime .*job 1"):
        run(Shortening(), "middleware.routing", "dirac/dedicated", {"middleware.kind": "push"})
    with pytest.raises(PolicyError, match=rf"{LastRuns.kind} changes estimate .*job 1"):
        run(Peeking(), "site.cluster.prediction")


def test_an_own_policy_that_changes_nothing_gives_the_results_of_the_shipped_one():
    class Same(Easy):
        def starts(self, cluster, now):
            tried = [copy(job) for job in cluster.in_order()]
            for job in tried:
                job.runtime = 1.0  # a copy is the policy's own
            return super().starts(cluster, now)

    def ends(policy):
        return [(job.start, job.end, job.runtime) for job in run(policy).record.jobs]

    assert ends(Same()) == ends(Easy())


def test_a_copy_of_a_shown_job_is_a_plain_job():
    job = shown_job(7, "ann", 0.0, 60.0, processors=2)
    assert type(job) is ShownJob
    for made in (copy(job), deepcopy(job), pickle.loads(pickle.dumps(job))):
        assert type(made) is Job
        assert (made.id, made.user, made.runtime, made.processors) == (7, "ann", 60.0, 2)
    del job.data  # while no policy decides it is one that can be changed
    assert not hasattr(job, "data")


@pytest.mark.parametrize(
    ("starts", "said"),
    [
        (lambda *_: None, ["None", "a list"]),
        (lambda *_: "fcfs", ["'fcfs'", "a list"]),
        (lambda *_: 3, ["3", "a list"]),
        (lambda _, cluster, now: (job for job in fitting(cluster)), ["a generator", "a list"]),
        (lambda _, cluster, now: [job.id for job in fitting(cluster)], ["list with 1", "jobs"]),
        (lambda _, cluster, now: [type(job) for job in fitting(cluster)], ["list with a type", "jobs"]),
        (lambda _, cluster, now: fitting(cluster) + fitting(cluster), ["job 1", "16 processors", "twice"]),
        (
            lambda _, cluster, now: [copy(job) for job in fitting(cluster)],
            ["job 1", "16 processors", "copy"],
        ),
    ],
)
def test_a_batch_policy_is_told_what_it_returned_and_what_is_expected(starts, said):
    assert not missing(refusal(Mine, starts), "batch policy mine", *said)


def test_a_batch_policy_is_told_which_job_is_too_wide_and_what_is_free():
    def starts(self, cluster, now):
        return list(cluster.in_order())

    said = refusal(Mine, starts)
    width, left, free = map(
        int, re.findall(r"\((\d+) processors, queued\), but (\d+) of (\d+) free", said)[0]
    )
    assert 0 <= left < width <= 64
    assert left < free <= 64


def test_a_class_with_the_base_class_of_another_family_is_not_registered():
    with pytest.raises(PolicyError, match=r"^batch policy odd: Odd .* gt\.policies\.BatchPolicy$"):
        register("batch", "odd")(type("Odd", (LeastDepth,), {}))
    with pytest.raises(PolicyError, match=r"Odd .* gt\.policies\.Routing .*gt\.policies\.TaskR"):
        register("routing", "odd")(type("Odd", (), {}))
    with pytest.raises(PolicyError, match="no batch policy 'odd'"):
        make("batch", "odd")


def test_a_class_without_a_method_of_its_family_is_not_registered():
    with pytest.raises(PolicyError, match=r"^batch policy odd: Odd .*starts\(self, cluster, now\)$"):
        register("batch", "odd")(type("Odd", (BatchPolicy,), {}))


def test_every_family_has_a_base_class_that_says_what_it_lacks():
    for family in FAMILIES:
        base = next(cls for cls in next(policies(family)).__mro__ if Policy in cls.__bases__)
        with pytest.raises(PolicyError, match=rf"{family} policy odd: {base.__name__} lacks .*\("):
            register(family, "odd")(base)


def test_a_class_that_is_no_dataclass_is_named_before_it_has_a_kind():
    with pytest.raises(PolicyError, match=r"^class Bare: is no dataclass"):
        declared(type("Bare", (Policy,), {}))
