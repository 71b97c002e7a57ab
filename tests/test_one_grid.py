"""One grid: no part of the deteriorating federation stands beside the others."""

import pytest

from gridtune.scenarios import load, simulate

KINDS = {
    "gridrpc": ("mandatory", "optional"),
    "local": ("local",),
    "meta": ("meta",),
    "sdj": ("sdj",),
    "harvest": ("best-effort",),
    "deadline": ("task",),
}


@pytest.fixture(scope="module")
def scenario():
    return load("federation/deteriorating").override({"horizon": 8000.0})


def moments(scenario):
    """When the jobs of each part began and ended."""
    jobs = simulate(scenario, seed=1).record.jobs
    return {
        part: sorted(repr((job.user, job.submit, job.start, job.end)) for job in jobs if job.kind in kinds)
        for part, kinds in KINDS.items()
    }


def test_switching_any_part_off_changes_jobs_of_every_other_part(scenario):
    everything = moments(scenario)
    for off in [*KINDS, "faults"]:
        without = moments(scenario.override({f"parts.{off}": False}))
        for part in KINDS:
            if part != off:
                assert without[part] != everything[part], f"{part} does not notice that {off} is off"


def test_all_its_parts_can_be_switched_off_but_one(scenario):
    for kept in KINDS:
        alone = scenario.override({f"parts.{part}": part == kept for part in scenario.spec.parts})
        jobs = simulate(alone, seed=1).record.jobs
        assert {job.kind for job in jobs} <= set(KINDS[kept])
        assert any(job.state == "done" for job in jobs)
