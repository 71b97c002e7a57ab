"""Local policies under virtual reservations: limits of users and groups, and whose turn it is."""

from collections import Counter
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev

import pytest

from gridtune.agents.wms.vres_site import VresSite
from gridtune.model.grid import Grid
from gridtune.model.vres import ClassRules
from gridtune.scenarios import simulate
from gridtune.scenarios.document.scenario import Scenario
from tests.meta_worlds import most_at_once

ALL = 10.0  # s that each job takes alone


def starts(slots, *jobs, **rules):
    """When jobs, given as (user, submit) or (user, submit, group), start on as many processors as slots."""
    with Grid() as grid:
        site = VresSite(grid, "a", [1.0] * slots, [ClassRules("batch", **rules)], [slots])
        made = []
        for user, submit, *group in jobs:
            job = grid.record.job(user, submit, ALL, kind="batch", group=group[0] if group else "")
            grid.agenda.at(submit, site.submit, job)
            made.append(job)
        grid.run()
    return [job.start if job.state == "done" else job.state for job in made]


def test_a_user_at_its_limit_is_passed_by_others():
    jobs = [("u", 0.0), ("u", 0.0), ("v", 0.0), ("v", 1.0), ("w", 2.0)]
    assert starts(3, *jobs, user_cap=1) == [0.0, 10.0, 0.0, 10.0, 2.0]
    assert starts(3, *jobs) == [0.0, 0.0, 0.0, 10.0, 10.0]
    assert starts(3, *jobs, user_cap=1, full="reject") == [0.0, "rejected", 0.0, "rejected", 2.0]


def test_a_group_has_a_limit_of_its_own():
    jobs = [("u", 0.0, "g"), ("v", 0.0, "g"), ("w", 0.0, "h")]
    assert starts(3, *jobs, group_cap=1) == [0.0, 10.0, 0.0]


def test_by_fair_share_who_has_held_least_comes_first():
    jobs = [("u", 0.0), ("u", 1.0), ("u", 2.0), ("v", 3.0), ("v", 4.0)]
    assert starts(1, *jobs) == [0.0, 10.0, 20.0, 30.0, 40.0]
    # At 10 v has held nothing, at 20 both 10 s: who came first; at 30 v has held less.
    assert starts(1, *jobs, order="fair-share") == [0.0, 20.0, 40.0, 10.0, 30.0]


def test_what_runs_counts_by_fair_share_too():
    # At 10 u holds the second slot and has held 19 s, v has held nothing.
    jobs = [("u", 0.0), ("u", 1.0), ("u", 2.0), ("v", 3.0)]
    assert starts(2, *jobs, order="fair-share") == [0.0, 1.0, 11.0, 10.0]


def test_nobody_overtakes_a_wide_job_whose_turn_it_is():
    with Grid() as grid:
        site = VresSite(grid, "a", [1.0] * 2, [ClassRules("batch", user_cap=2)], [2])
        made = [
            grid.record.job(user, submit, ALL, kind="batch", processors=processors)
            for user, submit, processors in (("u", 0.0, 1), ("v", 1.0, 2), ("w", 2.0, 1))
        ]
        for job in made:
            grid.agenda.at(job.submit, site.submit, job)
        grid.run()
    assert [job.start for job in made] == [0.0, 10.0, 20.0]


CAP = 3


def batch_run(seed, short, **rules):
    """Jobs of three users that a site cannot serve at once, with or without short ones beside them."""
    batch = {"kind": "generated", "site": "a", "role": "batch", "count": 200}
    runtime = {"law": "exponential", "mean": 300.0}
    document = {
        "title": "a site with virtual reservations",
        "horizon": 6000.0,
        "site": {
            "name": "a",
            "nodes": 3,
            "slots": 2,
            "policy": "fcfs",
            "virtual_slots": 2,
            "vres": {"sdj": 0.5},
            "classes": [
                {"name": "sdj", "kinds": ["sdj"], "full": "reject"},
                {"name": "batch", "user_cap": CAP, **rules},
            ],
        },
        "workload": [
            batch | {"name": name, "interval": {"law": "exponential", "mean": mean}, "runtime": runtime}
            for name, mean in (("u", 20.0), ("v", 40.0), ("w", 60.0))
        ]
        + [
            batch
            | {"name": "short", "role": "sdj", "count": 400 if short else 1}
            | {"interval": {"law": "exponential", "mean": 15.0}, "runtime": 40.0}
        ],
    }  # fmt: skip
    jobs = simulate(Scenario("test", document, Path()), seed).record.jobs
    return [job for job in jobs if job.kind == "batch" and job.start == job.start]


def shares(jobs):
    """Share of each user in the slot-seconds that were held until the horizon."""
    held = Counter()
    for job in jobs:
        held[job.user.partition("-")[0]] += (job.end if job.end == job.end else 6000.0) - job.start
    return {user: time / held.total() for user, time in held.items()}


def pace(jobs):
    """Mean time of an execution over what it takes alone."""
    return fmean((job.end - job.start) / job.runtime for job in jobs if job.state == "done")


@pytest.mark.long
@pytest.mark.parametrize("order", ["first-come", "fair-share"])
def test_local_policies_of_batch_jobs_hold_whatever_short_jobs_come(order):
    """Responsive Grids: local policies are not impacted: limits hold, and each user has its share."""
    moved, slowed = {"u": [], "v": [], "w": []}, []
    for seed in range(1, 11):
        alone, beside = (batch_run(seed, short, order=order) for short in (False, True))
        for user in moved:
            held = [
                (job.start, job.end if job.end == job.end else 6000.0, job.processors)
                for job in beside
                if job.user.startswith(user)
            ]
            assert most_at_once(held) <= CAP
        before, after = shares(alone), shares(beside)
        slowed.append(pace(beside) / pace(alone))
        for user, differences in moved.items():
            differences.append(after[user] - before[user])
    for differences in moved.values():
        half = 2.262 * stdev(differences) / sqrt(10)  # 95 %, nine degrees of freedom
        assert abs(fmean(differences)) + half < 0.04
    assert fmean(slowed) > 1.2  # though all jobs take longer beside short ones
