"""Small worlds worked out by hand.

What jobs, tasks of pilots and best-effort jobs have had when a run or a pilot ends; what brokers and
middlewares know of nodes that are out.
"""

import tomllib
from pathlib import Path

import pandas as pd
import pytest

from gridtune.model.job import Job
from gridtune.model.vres import Gang, GangWork
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.simulation.simulate import build, simulate
from gridtune.scenarios.systems.middleware import tag_notes
from gridtune.scenarios.systems.outages import owner_notes
from gridtune.scenarios.systems.vres import vres_notes
from tests.facts import unstated

SHARED = """
[[site]]
name = "a"
nodes = 1
policy = "fcfs"
virtual_slots = 2.0
vres = { batch = 0.5, sdj = 0.5 }
[[site.classes]]
name = "batch"
kinds = ["batch"]
LIMIT
[[site.classes]]
name = "sdj"
kinds = ["sdj"]
full = "reject"
"""
ONE = """
[[site]]
name = "a"
nodes = 1
policy = "fcfs"
"""


BAG = """
[[harvester]]
name = "h"
controller = { kind = "step", low = 8.0, high = 8.0 }
cycle = 10.0
[[workload]]
name = "bag"
kind = "campaign"
count = 1
runtime = 100.0
best_effort = { overhead = 10.0 }
"""
MOVED = """
[network]
sharing = "max-min"
bandwidth = 10.0
[middleware]
poll_period = 10.0
message_size = 0.0
"""


def workload(name, extra="", role="job"):
    return f"""
[[workload]]
name = "{name}"
kind = "trace"
trace = "log.csv"
queues = ["{name}"]
role = "{role}"
response_bound = {{ factor = inf }}
{extra}
"""


@pytest.fixture
def played(tmp_path):
    """Plays a document with rows of a log: queue, user, submission, run time, promise."""

    def play(text, *rows, **sets):
        table = [
            (k + 1, submit, submit, submit + runtime, 1, promise, user, "", queue)
            for k, (queue, user, submit, runtime, promise) in enumerate(rows)
        ]
        columns = ["id", "submit", "start", "end", "procs", "walltime", "user", "group", "queue"]
        pd.DataFrame(table, columns=columns).to_csv(tmp_path / "log.csv", index=False)
        scenario = Scenario("hand.toml", {"title": "by hand", **tomllib.loads(text)}, Path(tmp_path))
        run = simulate(scenario.override(sets) if sets else scenario)
        return {name: metric.value for name, metric in run.metrics.items()}, run.record.jobs

    return play


@pytest.mark.parametrize("kind", ["push", "pull", "pilot"])
def test_a_job_killed_at_a_limit_is_lost_unless_it_had_what_was_promised_for_it(played, kind):
    # Alone for 5 s, then by halves until 40 s: 22.5 s of the 25 s that were promised.
    text = SHARED.replace("LIMIT", "wall_limit = 40.0") + workload("b", role="batch")
    text += workload("s", 'site = "a"', "sdj") + f'[middleware]\nkind = "{kind}"\npoll_period = 10.0\n'
    metrics, _ = played(text, ("b", "x", 0, 30, 25), ("s", "y", 5, 50, 50))
    assert (metrics["lost_jobs"], metrics["unhappy_users"]) == (1, 1)
    assert metrics["waiting_mean"] == 51.25


@pytest.mark.parametrize("kind", ["push", "pilot"])
def test_halves_of_a_processor_count_half_when_the_run_ends(played, kind):
    text = "horizon = 60.0\n" + SHARED.replace("LIMIT", "") + workload("b", role="batch")
    text += workload("s", 'site = "a"', "sdj") + f'[middleware]\nkind = "{kind}"\npoll_period = 10.0\n'
    metrics, _ = played(text, ("b", "x", 0, 100, 100), ("s", "y", 0, 100, 100))
    assert (metrics["goodput"], metrics["unfairness"]) == (1, 0)


@pytest.mark.parametrize(("kind", "slow"), [("push", 60.0), ("pilot", 55.0)])
def test_each_site_works_at_its_own_speed_until_the_run_ends(played, kind, slow):
    sites = "".join(
        f'[[site]]\nname = "{name}"\nnodes = 1\npolicy = "fcfs"\nspeed = {speed}\n'
        for name, speed in (("a", 3.0), ("c", 1.0))
    )
    # The second agent looks half a period later.
    rule = (
        f'[middleware]\nkind = "{kind}"\npoll_period = 10.0\nmessage_size = 0.0\navailability_epsilon = 9.0\n'
    )
    rows = [("b", user, 0, 600, 600) for user in "xy"]
    metrics, _ = played("horizon = 60.0\n" + sites + rule + workload("b"), *rows)
    assert metrics["goodput"] == pytest.approx((180 + slow) / 240)


def test_overheads_and_transfers_are_no_work(played):
    late = ONE.replace("fcfs", 'fcfs"\nstart_overhead = 10.0\n# "') + workload("b", 'site = "a"')
    assert played("horizon = 40.0\n" + late, ("b", "x", 0, 100, 100))[0]["goodput"] == 0.75
    moved = ONE + workload("b", "data = { input = 100.0, output = 50.0 }")
    moved += MOVED
    for kind in ("push", "pilot"):
        text = f'horizon = 40.0\n{moved}kind = "{kind}"\n'
        assert played(text, ("b", "x", 0, 100, 100))[0]["goodput"] == 0.75


def test_overheads_of_best_effort_jobs_are_no_work(played):
    text = ONE + workload("b", 'site = "a"') + BAG
    assert played("horizon = 40.0\n" + text, ("b", "x", 0, 1, 1))[0]["goodput"] == 0.75


def test_a_lease_is_not_idle_while_a_request_runs_at_the_end(played):
    text = """
[[sed]]
name = "sed"
count = 1
site = "a"
lease = { length = 100.0, startup = 5.0, idle = 10.0 }
[[client]]
name = "client"
dispatch = "legacy"
n_submit = 1
spacing = 0.0
reaction = 0.0
[[workload]]
name = "u"
kind = "session-list"
session = [{ user = "a", arrival = 0, deadline = 200, n_min = 1, n_max = 1, runtime = 50.0 }]
"""
    assert played("horizon = 40.0\n" + ONE + text)[0]["lease_idle"] == 5
    assert played(ONE + text)[0]["lease_idle"] == pytest.approx(15)


@pytest.mark.parametrize("kind", ["pull", "pilot"])
def test_who_polls_stops_where_no_site_will_ever_run_what_waits(played, kind):
    text = ONE + 'tags = ["x"]\n[[site.outage]]\nstart = 5.0\n' + ONE.replace('"a"', '"b"')
    text += f'[middleware]\nkind = "{kind}"\npoll_period = 10.0\n' + workload("b", 'requires = ["x"]')
    metrics, (job, *_) = played(text, ("b", "x", 0, 10, 10))
    assert (metrics["lost_jobs"], metrics["completed"], job.kills + (job.start == 0.0) > 0) == (1, 0, True)


OUT = "[[site.outage]]\nstart = 10.0\nend = 500.0\n"
BROKER = "[wms]\nupdate_period = 0.0\n"


def vres(name, batch="", out=""):
    text = SHARED.replace("LIMIT", batch).replace('"a"', f'"{name}"')
    return text.replace("[[site.classes]]", f"{out}[[site.classes]]", 1)


@pytest.mark.parametrize("first", [ONE + OUT, vres("a", out=OUT)])
def test_a_broker_sends_nothing_to_a_site_whose_nodes_are_out(played, first):
    text = first + ONE.replace('"a"', '"c"') + BROKER + 'sites = "all"\n'
    text += workload("b", role="batch") + workload("l", 'site = "c"')
    _, jobs = played(text, ("l", "x", 0, 100, 100), ("b", "y", 20, 30, 30))
    assert [(job.site, job.start) for job in jobs] == [("c", 0), ("c", 100)]


def test_a_site_with_one_node_out_has_work_for_the_others(played):
    wide = ONE.replace("nodes = 1", "nodes = 2") + "[[site.outage]]\nstart = 10.0\nnodes = [1]\n"
    text = wide + ONE.replace('"a"', '"c"') + BROKER + 'sites = "all"\n' + workload("b")
    text += workload("s", 'site = "a"') + workload("l", 'site = "c"')
    _, jobs = played(text, ("s", "x", 0, 25, 25), ("l", "y", 0, 999, 999), ("b", "z", 20, 9, 9))
    assert [(job.user, job.site, job.start) for job in jobs][2] == ("z", "a", 25)


@pytest.mark.parametrize("first", [ONE + OUT, vres("a", out=OUT)])
def test_a_push_by_traversal_time_sees_that_nodes_are_out(played, first):
    text = first + ONE.replace('"a"', '"z"').replace("= 1", "= 4") + workload("b", role="batch")
    text += '[middleware]\nkind = "push"\nrouting = "traversal"\n' + workload("l", 'site = "z"')
    _, jobs = played(text, *[("l", f"u{k}", 0, 25, 25) for k in range(4)], ("b", "x", 20, 30, 30))
    assert (jobs[-1].site, jobs[-1].start, jobs[-1].end) == ("z", 25, 55)


def test_a_short_deadline_job_that_loses_its_node_goes_back_to_its_broker(played):
    text = vres("a", out=OUT) + vres("c") + BROKER + workload("s", role="sdj")
    _, (job,) = played(text, ("s", "x", 0, 20, 20))
    assert (job.site, job.start, job.end, job.kills) == ("c", 10, 30, 1)
    # Without a broker nobody tries another site.
    alone = vres("a", out=OUT) + workload("s", 'site = "a"', "sdj")
    _, (job,) = played(alone, ("s", "x", 0, 20, 20))
    assert (job.state.value, job.end) == ("rejected", 10)


def test_a_portal_tries_again_what_lost_its_node(played):
    text = vres("a", out=OUT.replace("500", "18")) + workload("s", role="sdj")
    text += '[portal]\nworkloads = ["s"]\nslots = 1\nretry = 5.0\narbitration = "fcfs"\n'
    metrics, jobs = played(text, ("s", "x", 0, 15, 15), ("s", "y", 6, 10, 10))
    assert metrics["lost_jobs"] == 0
    assert sorted((job.user, job.start, job.end) for job in jobs) == [("x", 20, 35), ("y", 35, 45)]


def test_no_slot_is_published_beyond_the_cap_of_a_node(played):
    doubled = vres("a", "node_cap = 1").replace("virtual_slots = 2.0", "virtual_slots = 4.0")
    other = vres("c").replace("virtual_slots = 2.0", "virtual_slots = 4.0")
    text = doubled + other + BROKER + workload("b", role="batch")
    _, jobs = played(text, *[("b", f"u{k}", k, 30, 30) for k in range(3)])
    assert [job.start for job in jobs] == [0, 1, 2]
    assert sorted(job.site for job in jobs) == ["a", "c", "c"]


def test_a_role_that_no_class_admits_is_told():
    text = vres("a") + workload("b", role="batchh") + vres("c") + BROKER
    told = vres_notes(Scenario("x", {"title": "x", **tomllib.loads(text)}, Path()).active)
    assert not unstated(told, ["workload b", "role batchh", "batch, sdj", "lost"])
    named = vres("a") + ONE.replace('"a"', '"d"') + workload("b", 'site = "d"', "batchh")
    assert not list(vres_notes(Scenario("x", {"title": "x", **tomllib.loads(named)}, Path()).active))


@pytest.mark.parametrize(("tags", "told"), [("", "none"), ('"x"', "x"), ('"x", "y"', None), ('"y"', None)])
def test_tags_that_no_site_has_are_told(tags, told):
    text = ONE + f'tags = [{tags}]\n[middleware]\nkind = "pull"\n'
    text += workload("b", 'requires = ["y"]') + workload("c")
    lines = list(tag_notes(Scenario("x", {"title": "x", **tomllib.loads(text)}, Path()).active))
    assert not unstated(lines, *([["workload b", "tags y", f"known: {told}", "lost"]] if told else []))


def test_users_of_reservations_that_no_job_has_are_told():
    reserved = """
[[site.reservation]]
name = "beam"
start = 0.0
duration = 10.0
processors = 1
users = ["b-000", "bob"]
groups = ["b-000"]
[[workload]]
name = "b"
kind = "generated"
count = 1
interval = 1.0
runtime = 1.0
site = "a"
"""
    text = ONE + reserved
    lines = list(owner_notes(Scenario("x", {"title": "x", **tomllib.loads(text)}, Path()).active))
    place = "site.a.reservation.beam: no job is of the"
    assert lines == [f"{place} user bob", f"{place} group b-000"]
    known = text.replace(', "bob"', "").replace('groups = ["b-000"]', "groups = []")
    assert not list(owner_notes(Scenario("x", {"title": "x", **tomllib.loads(known)}, Path()).active))


LEASED = """
[[sed]]
name = "sed"
count = 1
site = "a"
lease = { length = 100.0, startup = 0.0, idle = 60.0 }
[[client]]
name = "client"
dispatch = "legacy"
n_submit = 1
spacing = 0.0
reaction = 0.0
[[workload]]
name = "u"
kind = "session-list"
session = [{ user = "a", arrival = 0, deadline = 20, n_min = 1, n_max = 1, runtime = 10.0 }]
"""


@pytest.mark.parametrize("kind", ["pull", "pilot"])
@pytest.mark.parametrize("horizon", ["", "horizon = 1000.0\n"])
def test_who_polls_waits_for_a_lease_to_be_given_back(played, kind, horizon):
    rule = f'[middleware]\nkind = "{kind}"\npoll_period = 10.0\navailability_epsilon = 1.0\n'
    text = horizon + ONE + LEASED + rule + workload("b", "start = 0.0")
    metrics, jobs = played(text, ("b", "x", 0, 1, 1), *[("b", f"u{k}", 1, 20, 20) for k in range(4)])
    assert metrics["lost_jobs"] == 0
    assert max(job.end for job in jobs) >= 150


STUCK = ONE + 'tags = ["x"]\n[[site.outage]]\nstart = 5.0\n' + ONE.replace('"a"', '"b"')


@pytest.mark.parametrize(
    "more", ["[record]\nsample_period = 3.0\n", '[network]\nsharing = "max-min"\nbandwidth = 1e6\n']
)
@pytest.mark.parametrize("kind", ["pull", "pilot"])
def test_who_polls_stops_beside_samples_and_links_too(played, kind, more):
    text = STUCK + f'[middleware]\nkind = "{kind}"\npoll_period = 10.0\n' + more
    metrics, _ = played(text + workload("b", 'requires = ["x"]'), ("b", "x", 0, 10, 10))
    assert (metrics["lost_jobs"], metrics["completed"]) == (1, 0)


def test_who_polls_stops_in_steps_too(tmp_path):
    text = STUCK + '[middleware]\nkind = "pull"\npoll_period = 10.0\n' + workload("b", 'requires = ["x"]')
    (tmp_path / "log.csv").write_text("id,submit,start,end,procs,walltime,queue\n1,0,0,10,1,10,b\n")
    document = {"title": "steps", "step_length": 50.0, **tomllib.loads(text)}
    grid = build(Scenario("steps.toml", document, Path(tmp_path)))
    for _ in range(100):
        if not grid.running:
            break
        grid.step()
    assert not grid.running


def test_work_of_gangs_that_err_is_what_they_did():
    gang = Gang(Job(1, "x", 0.0, 100.0, processors=2), None, [0, 1])
    work = GangWork(gang, Job(2, "x", 0.0, 100.0), None, [0, 1], 10.0, 0.0)
    work.set_rates([1.0, 1.0])
    assert (work.done(0.0), work.done(4.0)) == (0.0, 4.0)


def test_a_portal_keeps_the_order_of_a_user_whose_job_lost_its_node(played):
    text = vres("a", out=OUT.replace("500", "18")) + workload("s", role="sdj")
    text += '[portal]\nworkloads = ["s"]\nslots = 1\nretry = 5.0\narbitration = "fcfs"\n'
    _, jobs = played(text, ("s", "x", 0, 15, 15), ("s", "x", 6, 10, 10))
    assert [(job.submit, job.start) for job in jobs] == [(0, 20), (6, 35)]


def test_deadline_tasks_have_servers_of_their_own():
    text = (
        vres("a")
        + workload("b", role="batch")
        + '[[server]]\nname = "s"\ncount = 1\n[agent]\nrouting = "mct"\n'
    )
    text += '[[workload]]\nname = "t"\nkind = "tasks"\ncount = 1\nruntime = 5.0\n'
    document = {"title": "x", **tomllib.loads(text)}
    spec = Scenario("x", document, Path()).active
    assert not list(vres_notes(spec))
