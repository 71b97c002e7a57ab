"""Virtual reservations: whole shares, exact processor sharing, and what it guarantees."""

from itertools import accumulate
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.agents.wms.vres_site import VresSite
from gridtune.model.grid import Grid
from gridtune.model.metrics.summary import summarise
from gridtune.model.vres import ClassRules, ShareError, deal, slot_counts
from gridtune.scenarios import ScenarioError, load
from tests.facts import unstated

SITE = """
title = "t"
source = "s"
[[site]]
name = "lal"
nodes = 4
policy = "fcfs"
virtual_slots = 2
vres = {{ sdj = {sdj} }}
classes = [{{ name = "sdj", kinds = ["sdj"], full = "reject" }}, {{ name = "batch" }}]
[[workload]]
kind = "generated"
count = 3
interval = 1.0
runtime = 1.0
"""


def test_figure_6_gives_three_four_and_five_slots_of_twelve():
    assert slot_counts({"a": 1 / 4, "b": 1 / 3, "c": 5 / 12}, 12) == {"a": 3, "b": 4, "c": 5}


def test_a_class_without_share_takes_the_rest():
    assert slot_counts({"sdj": 0.25, "batch": None}, 8) == {"sdj": 2, "batch": 6}


def test_a_share_that_is_not_whole_is_refused_with_the_nearest_ones(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(SITE.format(sdj=0.3))
    with pytest.raises(ScenarioError) as caught:
        load(path)
    facts = [f"{path}: site.lal.vres.sdj: 0.3", "8 virtual slots", "2.4", "0.25 (2) or 0.375 (3)"]
    assert not unstated(caught.value.faults, facts)


def test_shares_that_exceed_the_site_are_refused():
    with pytest.raises(ShareError, match="need 10 of 8 virtual slots"):
        slot_counts({"a": 0.75, "b": 0.5}, 8)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=5), st.integers(1, 12))
def test_each_class_and_all_together_are_spread_evenly(counts, processors):
    dealt = deal(counts, processors)
    totals = [sum(row[k] for row in dealt) for k in range(processors)]
    assert [sum(row) for row in dealt] == counts
    assert all(max(row) - min(row) <= 1 for row in dealt)
    assert max(totals) - min(totals) <= 1


def site_of(grid, classes, counts, units=1, **facts):
    return VresSite(grid, "lal", [1.0] * units, classes, counts, **facts)


def submit_all(grid, site, jobs):
    """Jobs as (submit, runtime, kind), submitted at their times."""
    made = []

    def arrive(row):
        made.append(grid.record.job("u", row[0], row[1], kind=row[2]))
        site.submit(made[-1])

    grid.agenda.feed((row[0], arrive, row) for row in sorted(jobs))
    return made


def test_two_jobs_share_a_processor_exactly():
    with Grid() as grid:
        made = submit_all(grid, site_of(grid, [ClassRules("a")], [3]), [(0.0, 10.0, "a"), (4.0, 2.0, "a")])
        grid.run()
        # Alone until 4, then both at half speed: the short one ends at 8, the long one at 12.
        assert [(job.start, job.end) for job in made] == [(0.0, 12.0), (4.0, 8.0)]


def test_a_class_that_rejects_starts_at_once_or_not_at_all():
    with Grid() as grid:
        rules = ClassRules("sdj", full="reject")
        made = submit_all(grid, site_of(grid, [rules], [2]), [(float(k), 10.0, "sdj") for k in range(4)])
        grid.run()
        assert [job.state for job in made] == ["done", "done", "rejected", "rejected"]
        assert [job.start for job in made[:2]] == [0.0, 1.0]


def test_a_job_is_killed_at_the_wall_clock_limit_and_the_rest_speeds_up():
    with Grid() as grid:
        classes = [ClassRules("sdj", frozenset({"sdj"}), wall_limit=6.0), ClassRules("batch")]
        made = submit_all(
            grid, site_of(grid, classes, [1, 1]), [(0.0, 9.0, "sdj"), (0.0, 10.0, "batch"), (7.0, 6.0, "sdj")]
        )
        grid.run()
        ends = {(job.kind, job.submit): (job.state, job.end) for job in made}
        assert ends["sdj", 0.0] == ("expired", 6.0)
        # 3 done by 6, 1 more by 7, then half of 6 by 13, the rest alone.
        assert ends["batch", 0.0] == ("done", 16.0)
        assert ends["sdj", 7.0] == ("expired", 13.0)


def test_a_limit_that_is_just_kept_kills_nobody():
    with Grid() as grid:
        made = submit_all(grid, site_of(grid, [ClassRules("a", wall_limit=5.0)], [1]), [(0.0, 5.0, "a")])
        grid.run()
        assert made[0].state == "done"


def test_the_kernel_of_a_node_gives_five_slots_two_fifths_of_a_processor_each():
    with Grid() as grid:
        site = site_of(grid, [ClassRules("a")], [5], capacity=2)
        made = submit_all(grid, site, [(0.0, 4.0, "a")] * 5)
        grid.run()
        assert [job.end for job in made] == pytest.approx([10.0] * 5)


JOBS = st.lists(
    st.tuples(st.floats(0, 50), st.floats(0.1, 30), st.sampled_from(["sdj", "batch", "dteam"])),
    min_size=1,
    max_size=60,
)


class Watch:
    """Looks at a site after every event and notes what must never be."""

    def __init__(self, grid, site):
        self.grid, self.site = grid, site

    def run(self):
        while self.grid.agenda.busy:
            self.grid.agenda.run(self.grid.agenda.next_time)
            self.look()

    def look(self):
        site = self.site
        for known in site.classes:
            rules = known.rules
            assert known.running <= min(known.slots, rules.site_cap)
            held = [
                sum(known.held_at[k : k + site.units_per_node])
                for k in range(0, len(site.units), site.units_per_node)
            ]
            assert max(held) <= rules.node_cap
            assert all(h <= d for h, d in zip(known.held_at, known._dealt, strict=True))
            if known.queue and known.running < rules.site_cap:
                for unit, shared in enumerate(site.units):
                    if shared.active < shared.capacity and held[unit // site.units_per_node] < rules.node_cap:
                        # Here a job could run at once: if it does not, then for want of a slot of its class.
                        assert known.held_at[unit] == known._dealt[unit]


@settings(max_examples=60, deadline=None)
@given(
    jobs=JOBS,
    nodes=st.integers(1, 3),
    per_node=st.integers(1, 2),
    extra=st.tuples(st.integers(1, 2), st.integers(1, 2), st.integers(0, 2)),
    node_cap=st.integers(1, 3),
    site_cap=st.integers(1, 4),
)
def test_caps_hold_nothing_idles_and_batch_is_slowed_by_k_at_most(
    jobs, nodes, per_node, extra, node_cap, site_cap
):
    units = nodes * per_node
    counts = [units * each for each in extra]
    with Grid() as grid:
        classes = [
            ClassRules("sdj", frozenset({"sdj"}), full="reject", node_cap=node_cap, site_cap=site_cap),
            ClassRules("batch", frozenset({"batch"})),
            ClassRules("dteam", frozenset({"dteam"})),
        ]
        site = site_of(grid, classes, counts, units, units_per_node=per_node)
        made = submit_all(grid, site, jobs)
        Watch(grid, site).run()
        k = sum(extra)
        for job in made:
            if job.state == "done":
                assert 1 - 1e-9 <= (job.end - job.start) / job.runtime <= k + 1e-9
        assert all(job.state == "rejected" for job in made if job.state != "done")
        assert all(job.start == job.submit for job in made if job.kind == "sdj" and job.state == "done")
        done = sum(job.runtime for job in made if job.state == "done")
        assert sum(known.service for known in site.classes) == pytest.approx(done)


@settings(max_examples=40, deadline=None)
@given(jobs=JOBS, units=st.integers(1, 3), shares=st.tuples(*[st.integers(1, 3)] * 3))
def test_a_class_that_fills_its_slots_receives_its_share(jobs, units, shares):
    counts = [units * share for share in shares]
    with Grid() as grid:
        classes = [ClassRules(name, frozenset({name})) for name in ("sdj", "batch", "dteam")]
        site = site_of(grid, classes, counts, units)
        submit_all(grid, site, jobs)
        grid.run()
        for known in site.classes:
            if known.saturated_time:
                phi = known.slots / sum(counts)
                assert known.saturated_service >= phi * site.power * known.saturated_time - 1e-6


@given(st.floats(0.01, 1e5), st.floats(0, 1e6))
def test_a_lone_job_runs_at_full_speed(runtime, submit):
    with Grid() as grid:
        made = submit_all(grid, site_of(grid, [ClassRules("a")], [4]), [(submit, runtime, "a")])
        grid.run()
        assert made[0].end - made[0].start == pytest.approx(runtime)


def processor_sharing(load, jobs, seed):
    """Sizes and response times of an M/M/1-PS queue with service rate 1."""
    rng = np.random.default_rng(seed)
    arrivals = accumulate(rng.exponential(1 / load, jobs).tolist())
    with Grid() as grid:
        site = site_of(grid, [ClassRules("a")], [jobs])
        made = submit_all(
            grid, site, list(zip(arrivals, rng.exponential(1.0, jobs).tolist(), "a" * jobs, strict=False))
        )
        grid.run()
        return np.array([job.runtime for job in made]), np.array([job.end - job.submit for job in made])


@pytest.mark.long
@pytest.mark.parametrize("load", [0.5, 0.8])
def test_processor_sharing_agrees_with_theory(load):
    runs = [processor_sharing(load, 4000, seed) for seed in range(12)]
    means = [float(response[400:].mean()) for _, response in runs]
    error = np.std(means, ddof=1) / sqrt(len(means))
    assert abs(np.mean(means) - 1 / (1 - load)) < 3 * error
    # Conditional mean response x / (1 - load): the slow-down is the same for small and for large jobs.
    for low, high in ((0.0, 0.5), (0.5, 1.5), (1.5, 99.0)):
        slow = []
        for size, response in runs:
            fits = (size[400:] >= low) & (size[400:] < high)
            slow.append(float(response[400:][fits].sum() / size[400:][fits].sum()))
        assert abs(np.mean(slow) - 1 / (1 - load)) < 3 * np.std(slow, ddof=1) / sqrt(len(slow))


def test_jobs_that_share_a_processor_count_with_the_work_they_were_given():
    grid = Grid(horizon=10.0)
    site = site_of(grid, [ClassRules("sdj", ("sdj",), "reject"), ClassRules("batch")], [1, 1])
    jobs = submit_all(grid, site, [(0.0, 20.0, "sdj"), (0.0, 20.0, "batch")])
    grid.run()
    metrics, _ = summarise(grid)
    assert [job.given for job in jobs] == pytest.approx([5.0, 5.0])
    assert metrics["goodput"].value == pytest.approx(1.0)
