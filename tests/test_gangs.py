"""Jobs of several processors under virtual reservations, against a simulation written apart from the code."""

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.agents.wms.broker import BrokerHabits, Latencies, Wms, WmsBroker
from gridtune.agents.wms.overlay import Master, MasterHabits
from gridtune.agents.wms.portal import Portal
from gridtune.agents.wms.vres_site import VresSite
from gridtune.model.grid import Grid
from gridtune.model.job import State
from gridtune.model.vres import ClassRules
from gridtune.model.wms.arbitration import FirstCome
from gridtune.model.wms.ranking import MostFree

A, B = ClassRules("a", frozenset({"a"})), ClassRules("b", frozenset({"b"}))


def site_of(grid, slots, classes=(A, B), speeds=(1.0, 1.0, 1.0), **facts):
    return VresSite(grid, "lal", speeds, classes, slots, **facts)


def submit_all(grid, submit, rows):
    """Jobs as (submit, runtime, kind, processors), submitted at their times."""
    made = [grid.record.job("u", row[0], row[1], kind=row[2], processors=row[3]) for row in sorted(rows)]
    grid.agenda.feed((job.submit, submit, job) for job in made)
    return made


def test_a_gang_runs_at_the_rate_of_the_slowest_of_its_processors():
    with Grid() as grid:
        site = site_of(grid, [3, 3])
        rows = [(0.0, 10.0, "a", 2), (2.0, 6.0, "b", 2), (3.0, 2.0, "b", 1), (4.0, 1.0, "b", 2)]
        first, second, narrow, last = submit_all(grid, site.submit, rows)
        grid.run()
        # The first on 0 and 1, alone until 2. The second on 2, where nothing is, and 0: both at half speed.
        # The narrow one beside the first on 1, from 3 to 7. The last waits for two slots of its class until
        # 14, though one comes free at 7, and shares a processor with the first until 16: that has 1 left.
        assert [(job.start, job.end) for job in (first, second, narrow, last)] == [
            (0.0, 17.0),
            (2.0, 14.0),
            (3.0, 7.0),
            (14.0, 16.0),
        ]
        # 10 and 6 on two processors, 2, and 1 on two; beside it, what the faster processors waited.
        a, b = site.classes
        assert a.service - a.waited == pytest.approx(20.0)
        assert b.service - b.waited == pytest.approx(16.0)
        # On 1 half of 2-3 and of 7-14 (the first); on 2 half of 2-14 (the second) and of 14-16 (the last); on
        # 1 half of 14-16 again.
        assert (a.waited, b.waited) == (pytest.approx(0.5 + 3.5 + 1.0), pytest.approx(6.0 + 1.0))


def reference(rows, slots, processors):
    """Start and end of jobs (submit, runtime, class, width) on equal processors with a slot of each class.

    Class queues first come first served; a job starts on the least loaded processors with a free slot of its
    class; rates change only when a job starts or ends.
    """
    now, waiting, running, times = 0.0, sorted(enumerate(rows), key=lambda one: one[1]), {}, {}
    queues = {"a": [], "b": []}
    while waiting or running or any(queues.values()):
        load = [sum(unit in held for held, _ in running.values()) for unit in range(processors)]
        rates = {k: min(1 / load[unit] for unit in held) for k, (held, _) in running.items()}
        ends = {k: now + running[k][1] / rate for k, rate in rates.items()}
        soonest = min(ends.values(), default=inf)
        then = min(soonest, waiting[0][1][0] if waiting else inf)
        for k, (held, left) in running.items():
            running[k] = held, left - (then - now) * rates[k]
        now = then
        if soonest <= now:
            k = min(ends, key=lambda k: (ends[k], k))
            times[k] = times[k], now
            del running[k]
        else:
            k, row = waiting.pop(0)
            queues[row[2]].append(k)
        for name, queue in queues.items():
            while queue:
                k = queue[0]
                load = [sum(unit in held for held, _ in running.values()) for unit in range(processors)]
                used = {u for j, (held, _) in running.items() if rows[j][2] == name for u in held}
                free = sorted(
                    (u for u in range(processors) if u < slots[name] and u not in used),
                    key=lambda u: (load[u], u),
                )
                if len(free) < rows[k][3]:
                    break
                queue.pop(0)
                running[k] = set(free[: rows[k][3]]), rows[k][1]
                times[k] = now
    return times


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.floats(0, 40), st.floats(0.1, 20), st.sampled_from("ab"), st.integers(1, 4)),
        min_size=1,
        max_size=20,
        unique_by=lambda row: row[0],
    ),
    processors=st.integers(1, 4),
)
def test_gangs_agree_with_an_independent_simulation_and_conserve_work(rows, processors):
    rows = sorted((submit, runtime, kind, min(width, processors)) for submit, runtime, kind, width in rows)
    with Grid() as grid:
        site = site_of(grid, [processors, processors], speeds=[1.0] * processors)
        made = submit_all(grid, site.submit, rows)
        while grid.agenda.busy:
            grid.agenda.run(grid.agenda.next_time)
            for known in site.classes:
                held = sum(
                    job.processors for job in made if job.state == "running" and job.kind == known.rules.name
                )
                assert held == known.running == sum(known.held_at) <= processors
                assert max(known.held_at) <= 1
        expected = reference(rows, {"a": processors, "b": processors}, processors)
        for k, job in enumerate(made):
            assert (job.start, job.end) == pytest.approx(expected[k], abs=1e-6)
        for known in site.classes:
            done = sum(job.work for job in made if job.kind == known.rules.name)
            assert known.service - known.waited == pytest.approx(done)
            assert known.waited >= -1e-9
            assert known.running == known.active == 0
            assert known.running_work == pytest.approx(0, abs=1e-6)
            assert known.waiting_work == pytest.approx(0, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.floats(0, 40), st.floats(0.1, 20), st.sampled_from("ab"), st.integers(1, 5)),
        min_size=1,
        max_size=25,
    ),
    nodes=st.integers(1, 3),
    shape=st.sampled_from([(1, 1), (1, 2), (2, 1)]),
    node_cap=st.integers(1, 4),
    site_cap=st.integers(1, 6),
    limit=st.sampled_from([inf, 15.0]),
)
def test_caps_hold_and_no_job_that_fits_is_lost(rows, nodes, shape, node_cap, site_cap, limit):
    capacity, per_node = shape
    units = nodes * per_node
    classes = [ClassRules("a", frozenset({"a"}), node_cap=node_cap, site_cap=site_cap, wall_limit=limit), B]
    with Grid() as grid:
        slots = [2 * capacity * units, capacity * units]
        site = site_of(grid, slots, classes, [1.0] * units, capacity=capacity, units_per_node=per_node)
        made = submit_all(grid, site.submit, rows)
        while grid.agenda.busy:
            grid.agenda.run(grid.agenda.next_time)
            for known in site.classes:
                at_nodes = [sum(known.held_at[n * per_node : (n + 1) * per_node]) for n in range(nodes)]
                assert max(at_nodes) <= known.rules.node_cap
                assert known.running <= known.rules.site_cap
                assert all(held <= dealt for held, dealt in zip(known.held_at, known._dealt, strict=True))
        widest = {known.rules.name: known.widest for known in site.classes}
        assert widest["b"] == capacity * units
        assert widest["a"] == min(site_cap, nodes * min(node_cap, capacity * per_node))
        for job in made:
            assert (job.state is State.REJECTED) == (job.processors > widest[job.kind])
            assert job.state in (State.DONE, State.REJECTED, State.EXPIRED)
            if job.state is State.DONE:
                assert job.end - job.start >= job.runtime * (1 - 1e-9)
        # Busy time is work done and work killed, and what processors waited for the slowest of a gang.
        for known in site.classes:
            mine = [job for job in made if job.kind == known.rules.name]
            done = sum(job.work for job in mine if job.state is State.DONE)
            killed = sum(job.wasted for job in mine)
            got = known.service - known.waited
            assert done - 1e-6 <= got <= done + killed + 1e-6


def test_brokers_bring_a_parallel_job_to_a_site_that_is_wide_enough():
    with Grid() as grid:
        narrow = VresSite(grid, "narrow", [1.0] * 2, [ClassRules("a")], [2])
        wide = VresSite(grid, "wide", [1.0] * 4, [ClassRules("a")], [4])
        wms = Wms(grid, [WmsBroker(grid, 0, [narrow, wide], BrokerHabits(MostFree()), Latencies(), 0.0)])
        jobs = submit_all(grid, wms.submit, [(0.0, 10.0, "a", 3), (1.0, 10.0, "a", 2), (2.0, 10.0, "a", 5)])
        grid.run()
        # Three of four slots are taken at the wide site when the second comes; the third fits nowhere.
        assert [(job.site, job.state) for job in jobs] == [
            ("wide", "done"),
            ("narrow", "done"),
            ("", "rejected"),
        ]
        assert grid.record.counters["told_rejected"] == 1


def test_a_portal_counts_processors_and_refuses_what_never_fits():
    with Grid() as grid:
        site = VresSite(grid, "lal", [1.0] * 4, [ClassRules("a")], [4])
        portal = Portal(grid, [site], FirstCome(), 3, {}, 5.0)
        rows = [(0.0, 10.0, "a", 2), (1.0, 10.0, "a", 2), (2.0, 10.0, "a", 1), (3.0, 1.0, "a", 4)]
        jobs = submit_all(grid, portal.submit, rows)
        grid.run()
        assert [(job.start, job.state) for job in jobs[:3]] == [(0.0, "done"), (10.0, "done"), (10.0, "done")]
        assert jobs[3].state == "rejected"
        assert portal.granted() == {"u": pytest.approx(20.0 + 20.0 + 10.0)}


def test_workers_of_parallel_tasks_hold_as_many_slots():
    habits = MasterHabits("u", "a", 2, 0.0, 0.0, 0.0, 0.0, None, 100.0, processors=2)
    with Grid() as grid:
        site = VresSite(grid, "lal", [1.0] * 4, [ClassRules("a")], [4])
        tasks = [grid.record.job("u", 0.0, 5.0, kind="task", processors=2) for _ in range(4)]
        master = Master(grid, tasks, habits, site)
        grid.agenda.at(0.0, master.begin)
        grid.run()
        assert [task.end for task in tasks] == [5.0, 5.0, 10.0, 10.0]
        work, held = master.efficiency()
        assert (work, held) == (40.0, 40.0)
