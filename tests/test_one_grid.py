"""One grid: no part of a federation stands beside the others, as servers are leases and links are shared."""

from itertools import product

import pytest

from gridtune.scenarios import load, simulate
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.trace_files import TraceError, find_trace
from tests.parts import KINDS, moments, moved

# A part of each that shows it; the week as shipped takes half a minute.
TOGETHER = {
    "federation/small": {},
    "federation/lcg-week": {"horizon": 86400.0, "network.backbone": 12.5e6},
}


RESOLUTION = 1e-3  # s by which a job must move: rounding moves none so far


def all_on(name):
    return {f"parts.{part}": True for part in load(name).spec.parts}


def need_traces(name):
    if name == "federation/lcg-week":
        try:
            find_trace("LCG-2005-1.swf.gz")
            find_trace("excerpt-lpc-egee-busy-week.swf.gz")
        except TraceError as error:
            pytest.skip(str(error))


@pytest.mark.long
@pytest.mark.parametrize("name", TOGETHER)
def test_switching_any_part_off_changes_jobs_of_every_other_part(name):
    need_traces(name)
    scenario = load(name).override(TOGETHER[name] | all_on(name))
    everything = moments(scenario)
    for off in scenario.spec.parts:
        without = moments(scenario.override({f"parts.{off}": False}))
        for part in KINDS:
            if part != off:
                count, total = moved(without[part], everything[part], RESOLUTION)
                assert count, f"{part} does not notice that {off} is off: all {total} jobs are as before"


def test_all_its_parts_can_be_switched_off_but_one():
    scenario = load("federation/small").override({"horizon": 8000.0})
    for kept in KINDS:
        alone = scenario.override({f"parts.{part}": part == kept for part in scenario.spec.parts})
        jobs = simulate(alone, seed=1).record.jobs
        assert {job.kind for job in jobs} <= set(KINDS[kept])
        assert any(job.state == "done" for job in jobs)


@pytest.mark.long
def test_costs_are_no_part_and_what_breaks_is_one_that_is_off():
    scenario = load("federation/small")
    assert [part for part, on in scenario.spec.parts.items() if not on] == ["faults"]
    plain, broken = (simulate(scenario.override({"parts.faults": on}), seed=1) for on in (False, True))
    assert plain.metrics["service_load"].value > 0
    assert "faults" not in plain.metrics
    assert broken.metrics["faults"].value > 0


@pytest.mark.long
@pytest.mark.parametrize("name", TOGETHER)
def test_any_parts_can_be_switched_off_as_long_as_one_has_work(name):
    scenario = load(name)
    refused = []
    for on in product((True, False), repeat=len(scenario.spec.parts)):
        chosen = dict(zip(scenario.spec.parts, on, strict=True))
        try:
            scenario.override({f"parts.{part}": value for part, value in chosen.items()})
        except ScenarioError:
            refused.append({part for part, value in chosen.items() if value})
    assert all(parts <= {"faults"} for parts in refused)


def own_scenario(name, part):
    """A federation with the tables of one part only, by hand; servers stand on nodes of their own."""
    federation = load(name)
    document = {key: value for key, value in federation.document.items() if key != "parts"}
    for key, value in list(document.items()):
        tables = value if isinstance(value, list) else [value]
        if all(isinstance(table, dict) for table in tables):
            left = [
                table
                for table in tables
                if part in ([p] if isinstance(p := table.get("part", part), str) else p)
            ]
            left = [{k: v for k, v in table.items() if k != "part"} for table in left]
            document[key] = left if isinstance(value, list) else (left[0] if left else None)
    standing = {site["name"] for site in document["site"]}
    for key in ("sed", "server"):
        for table in document[key]:
            if table["site"] not in standing:
                del table["site"], table["lease"]
    return Scenario(name, {key: value for key, value in document.items() if value}, federation.base)


@pytest.mark.long
@pytest.mark.parametrize("part", KINDS)
def test_a_part_of_the_week_alone_is_a_scenario_of_its_tables(part):
    name, changes = "federation/lcg-week", {"horizon": 10000.0}
    need_traces(name)
    own = own_scenario(name, part)
    federation = load(name)
    alone = federation.override({f"parts.{other}": other == part for other in federation.spec.parts})
    one, other = (simulate(scenario.override(changes), 2, keep_events=True) for scenario in (own, alone))
    assert one.record.journal == other.record.journal
    assert any(job.state == "done" for job in one.record.jobs)
    assert {k: repr(v) for k, v in one.metrics.items()} == {k: repr(v) for k, v in other.metrics.items()}
