"""A federation: all systems in one grid, each of which can be switched off."""

from __future__ import annotations

import pytest

from gridtune.model.job import DONE
from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.simulation.simulate import build, simulate
from gridtune.scenarios.tables.schema import ARRAYS
from gridtune.scenarios.trace_files import TraceError, find_trace

PARTS = {
    "gridrpc": "diet/afternoon",
    "meta": "dirac/afternoon",
    "sdj": "egee/afternoon",
    "harvest": "cigri/afternoon",
    "deadline": "deadline/afternoon",
}


def only(*parts, name="federation/small", **values):
    scenario = load(name)
    switches = {f"parts.{part}": part in parts for part in scenario.spec.parts}
    return scenario.override(switches | values)


def metrics_of(run):
    return {name: metric.value for name, metric in run.metrics.items()}


ALONE = [(part, {}) for part in PARTS] + [
    ("meta", {"middleware.kind": "pull"}),
    ("meta", {"middleware.kind": "pilot"}),
    ("meta", {"middleware.kind": "pilot", "middleware.pilot_mode": "filling"}),
]


def same(one, other):
    assert metrics_of(one) == pytest.approx(metrics_of(other), abs=0, rel=0, nan_ok=True)
    assert one.record.journal == other.record.journal
    assert repr(one.users) == repr(other.users)  # a nan is no other nan from Python 3.13 on


@pytest.mark.parametrize(("part", "values"), ALONE)
def test_a_part_alone_is_the_scenario_of_its_paper(part, values):
    alone = simulate(only(part).override(values), seed=3, keep_events=True)
    paper = simulate(load(PARTS[part]).override(values), seed=3, keep_events=True)
    same(alone, paper)


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["diet/day-regular", "dirac/shared", "egee/search", "cigri/batcigri", "deadline/example"]
)
def test_a_published_scenario_is_the_same_within_a_federation_that_is_switched_off(name):
    paper, federation = load(name), load("federation/small").document
    document = dict(paper.document)
    for array in ARRAYS:
        own = document.get(array, [])
        taken = {element["name"] for element in own}
        document[array] = own + [e for e in federation.get(array, []) if e["name"] not in taken]
    for table in ("middleware", "wms", "agent"):
        document.setdefault(table, federation[table])
    document["parts"] = dict.fromkeys(federation["parts"], False)
    within = Scenario(name, document, paper.base)
    same(simulate(within, keep_events=True), simulate(paper, keep_events=True))


@pytest.fixture(scope="module")
def together():
    return simulate(load("federation/small"), seed=2)


def test_all_parts_work_in_one_grid(together):
    done = {job.kind for job in together.record.jobs if job.state is DONE}
    assert done == {"mandatory", "optional", "local", "meta", "sdj", "best-effort", "task"}
    assert together.metrics["killed"].value > 0  # best-effort jobs made way
    assert 0 < together.metrics["utilisation"].value < 1


def test_meta_jobs_come_to_batch_sites_and_to_virtual_reservations(together):
    sites = {job.site for job in together.record.jobs if job.kind == "meta" and job.state is DONE}
    assert sites == {"lyon", "nancy", "orsay"}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["pull", "pilot"])
def test_tasks_are_pulled_into_virtual_reservations_too(kind):
    run = simulate(load("federation/small").override({"middleware.kind": kind}), seed=2)
    sites = {job.site for job in run.record.jobs if job.kind == "meta" and job.state is DONE}
    assert sites == {"lyon", "nancy", "orsay"}


def lending():
    """The small federation with servers on nodes that sites lend them for good, in place of leases."""
    scenario = load("federation/small")
    document = dict(scenario.document)
    for key in ("sed", "server"):
        document[key] = [{k: v for k, v in group.items() if k != "lease"} for group in document[key]]
    return Scenario(scenario.name, document, scenario.base)


@pytest.mark.parametrize("federation", [lending(), load("federation/small")], ids=["lent", "leases"])
def test_nodes_of_servers_are_not_doubled(federation):
    def slots(*parts):
        switches = {f"parts.{part}": part in parts for part in federation.spec.parts}
        with build(federation.override(switches)) as grid:
            return grid.slots

    assert slots("local") == 32 + 32 + 20
    assert slots("local", "gridrpc", "deadline") == 32 + 32 + 20
    assert slots("gridrpc") == 8  # without its site a server stands on a node of its own


def test_what_one_part_does_reaches_the_others(together):
    def executions(*parts):
        run = simulate(only(*parts), seed=2)
        return sorted((job.user, job.submit, job.start) for job in run.record.jobs if job.kind == "local")

    apart = executions("local")
    both = sorted((j.user, j.submit, j.start) for j in together.record.jobs if j.kind == "local")
    assert [row[:2] for row in both] == [row[:2] for row in apart]  # the same workload
    assert both != apart  # that has to wait for others


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"parts.harvest": "perhaps"}, "parts.harvest"),
        ({"site.lyon.part": ["locals"]}, r"site.lyon: part: \[parts\] has no 'locals'"),
        ({"parts.harvesting": False}, "parts.harvesting: .*table"),
        ({"sed.site": "lion"}, r"sed.sed: site: no \[\[site\]\] 'lion'"),
        ({"workload.meta.via": "post"}, "via"),
    ],
)
def test_what_does_not_fit_is_refused(values, words):
    with pytest.raises(ScenarioError, match=words):
        load("federation/small").override(values)


def test_a_site_lends_what_it_has():
    with pytest.raises(ScenarioError, match=r"site.lyon.nodes: .*16 of 16 nodes"):
        lending().override({"sed.count": 32})


def test_something_must_be_left():
    with pytest.raises(ScenarioError, match="switched off"):
        only()


def test_jobs_must_know_who_brings_them():
    scenario = load("federation/small")
    for workload in scenario.document["workload"]:
        workload.pop("via", None)
    with pytest.raises(ScenarioError, match=r"via: .*middleware or wms"):
        scenario.override({"horizon": 10.0})


@pytest.mark.long
def test_the_search_has_one_conditional_space():
    from gridtune.optimize.search_space.space import Space

    scenario = load("federation/small")
    space = Space.of(scenario)
    assert 12 <= len(space) <= 20
    assert not space.check(scenario)


@pytest.mark.long
def test_the_week_of_the_lcg_runs():
    try:
        find_trace("LCG-2005-1.swf.gz")
        find_trace("excerpt-lpc-egee-busy-week.swf.gz")
    except TraceError as error:
        pytest.skip(str(error))
    run = simulate(load("federation/lcg-week").override({"horizon": 86400.0}))
    kinds = {job.kind for job in run.record.jobs}
    assert kinds == {"mandatory", "optional", "local", "meta", "sdj", "best-effort", "task"}
    owners = {user.split("-")[0] for user in run.users}
    assert {"lcg", "lpc"} <= owners
