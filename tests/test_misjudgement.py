"""What a policy cannot do is refused, so that no policy wins by breaking the laws of its grid."""

from copy import copy
from itertools import cycle

import pytest

from gridtune.model.batch.policies import Easy
from gridtune.model.gridrpc import selection
from gridtune.model.gridrpc.disciplines import Ethic
from gridtune.model.gridrpc.dispatch import EthicDispatch, Submission
from gridtune.model.harvest.control import Decision
from gridtune.model.harvest.submission import Tap
from gridtune.model.job import Job
from gridtune.model.middleware.matching import RoundRobin
from gridtune.model.middleware.retrying import ByFailures, Limited
from gridtune.model.middleware.routing import LeastDepth
from gridtune.model.policy import PolicyError
from gridtune.model.prediction.run_times import LastRuns
from gridtune.model.wms.arbitration import DeadlineFair
from gridtune.model.wms.ranking import LeastTraversalTime
from gridtune.scenarios import load, simulate

LAST_RUNS = {"workload.log.last": 300, "site.cluster.prediction": "last-runs"}
SHUNNING = {"middleware.blacklist": "failures"}
PILOTS, PULL = {"middleware.kind": "pilot"}, {"middleware.kind": "pull"}


def overbooked(self, cluster, now):
    """All that waits, whether there is room or not."""
    return list(cluster.in_order())


def twice(self, cluster, now):
    first = next(cluster.in_order())
    return [first, first] if first.processors <= cluster.free // 2 else []


def a_task_that_does_not_fit(self, queues, resource):
    waiting = next(task for queue in queues.in_turn() for task in queue.values())
    waiting.processors = 1000
    return waiting


def a_task_that_runs_already(self, queues, resource):
    task = next((task for queue in queues.in_turn() for task in queue.values()), None)
    if task is not None:
        queues.remove(task)
    return task


def elsewhere(self, sites, task, mean_length, rng):
    return sites[0]._replace(site=99)


def another_servers_request(self, queue, running, rng):
    return running or Job(-1, "stranger", 0.0, 1.0)


def a_copy(self, queue, running, rng):
    waiting = next(iter(queue.jobs()), None)
    return running or (waiting and copy(waiting))


def copies(self, cluster, now):
    return [copy(job) for job in cluster.in_order()][:1]


def a_copy_of_a_task(self, queues, resource):
    return next((copy(task) for queue in queues.in_turn() for task in queue.values()), None)


def no_such_server(self, demand, servers, rng):
    return [Submission(servers, True)] * demand.n_min


def twice_the_first(self, plan, vectors, rng):
    return [*plan, *plan[:1]]


def all_optional(self, plan, vectors, rng):
    return [one._replace(mandatory=False) for one in plan]


def partly_nan(self, advert, job, ranks=cycle([0.0, float("nan")])):  # noqa: B008
    return next(ranks)


def in_debt(self, reading, memory):
    return Decision(-2.0, memory)


def endless(self, reading, memory):
    return Decision(float("inf"), memory)


CASES = [
    (Easy, "starts", overbooked, "batch/replay", {"workload.log.last": 300}, "but 0 of .* free processors"),
    (Easy, "starts", twice, "batch/replay", {"workload.log.last": 300}, "starts job .* twice"),
    (RoundRobin, "match", a_task_that_does_not_fit, "dirac/dedicated", PILOTS, "does not fit"),
    (RoundRobin, "match", a_task_that_runs_already, "dirac/dedicated", PILOTS, "does not wait"),
    (RoundRobin, "match", a_task_that_runs_already, "dirac/dedicated", PULL, "does not wait"),
    (LeastDepth, "choose", elsewhere, "dirac/dedicated", {"middleware.kind": "push"}, "does not accept"),
    (Ethic, "front", another_servers_request, "diet/day-regular", {"workload.count": 2}, "does not wait at"),
    (EthicDispatch, "setup", no_such_server, "diet/day-regular", {"workload.count": 2}, "other than the"),
    (Easy, "starts", copies, "batch/replay", {"workload.log.last": 300}, "does not wait"),
    (RoundRobin, "match", a_copy_of_a_task, "dirac/dedicated", PILOTS, "does not wait"),
    (Ethic, "front", a_copy, "diet/day-regular", {"workload.count": 2}, "does not wait at"),
    (Ethic, "front", lambda *_: 7, "diet/day-regular", {"workload.count": 2}, "does not wait at"),
    (selection.RoundRobin, "assign", twice_the_first, "diet/day-regular", {}, "other requests than"),
    (selection.RoundRobin, "assign", all_optional, "diet/day-regular", {}, "other requests than"),
    (selection.RoundRobin, "wanted", lambda *_: 0, "diet/day-regular", {}, "wants 0 servers"),
    (selection.RoundRobin, "wanted", lambda *_: float("nan"), "diet/day-regular", {}, "wants nan servers"),
    (selection.ByLoad, "best", lambda *_: [], "diet/day-regular", {}, "hands up none of the servers"),
    (Limited, "wait", lambda *_: float("inf"), "dirac/deteriorating", {}, "waits for inf s"),
    (Limited, "wait", lambda *_: float("nan"), "dirac/deteriorating", {}, "waits for nan s"),
    (LeastTraversalTime, "rank", partly_nan, "egee/plain", {}, "ranks by nan"),
    (LeastTraversalTime, "rank", lambda *_: float("nan"), "egee/plain", {}, "ranks by nan"),
    (DeadlineFair, "choose", lambda *_: -1, "egee/portal", {}, "none of those who wait"),
    (LeastTraversalTime, "rank", lambda *_: "x", "egee/plain", {}, "ranks by 'x', which is no number"),
    (LeastTraversalTime, "rank", lambda *_: None, "egee/plain", {}, "ranks by None, which is no number"),
    (LastRuns, "runtime", lambda *_: float("nan"), "batch/replay", LAST_RUNS, "predicts a run time of nan s"),
    (LastRuns, "runtime", lambda *_: -1.0, "batch/replay", LAST_RUNS, "predicts a run time of -1.0 s"),
    (LastRuns, "corrected", lambda *_: float("nan"), "batch/replay", LAST_RUNS, "corrects .* to nan s"),
    (ByFailures, "shun", lambda *_: float("nan"), "dirac/deteriorating", SHUNNING, "shuns a site for nan s"),
    (ByFailures, "shun", lambda *_: -1.0, "dirac/deteriorating", SHUNNING, "shuns a site for -1.0 s"),
    (Tap, "decide", in_debt, "cigri/search", {"harvester.controller": "tap"}, "wants -2.0 jobs"),
    (Tap, "decide", endless, "cigri/search", {"harvester.controller": "tap"}, "wants inf jobs"),
]  # fmt: skip


@pytest.mark.parametrize(("policy", "method", "wrong", "name", "values", "message"), CASES)
def test_a_policy_that_decides_what_cannot_be_done_is_named(
    monkeypatch, policy, method, wrong, name, values, message
):
    monkeypatch.setattr(policy, method, wrong)
    with pytest.raises(PolicyError, match=rf"the {policy.family} policy {policy.kind} .*{message}"):
        simulate(load(name).override(values))


def test_a_plan_may_be_a_generator(monkeypatch):
    def one_by_one(self, demand, servers, rng):
        return (Submission(k % servers, True) for k in range(demand.n_min))

    scenario = load("diet/day-regular").override({"workload.count": 2})
    monkeypatch.setattr(EthicDispatch, "setup", lambda *given: list(one_by_one(*given)))
    known = simulate(scenario).metrics
    monkeypatch.setattr(EthicDispatch, "setup", one_by_one)
    assert {name: repr(one) for name, one in simulate(scenario).metrics.items()} == {
        name: repr(one) for name, one in known.items()
    }
    assert known["never_submitted"].value == 0


def test_what_a_policy_of_others_returns_is_not_called_a_fault_of_gridtune(tmp_path):
    class Nothing(EthicDispatch):
        """Submits nothing, in a way that nobody understands."""

        def setup(self, demand, servers, rng):
            return self.nothing

    for nothing, said in ((None, "TypeError: .*NoneType"), ("x", "ValueError: not enough values")):
        Nothing.nothing = nothing
        scenario = load("diet/day-regular").override({"workload.count": 2, "client.dispatch": Nothing()})
        with pytest.raises(PolicyError, match=f"{said}.*perhaps from what .* returned: ethic of {__file__}"):
            simulate(scenario)
