"""Caches of input files: what is found there crosses no link, and nothing else is saved."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.agents.infrastructure.network import network_of
from gridtune.model.infrastructure.cache import Cache
from gridtune.scenarios import load, simulate
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.simulation.simulate import build


def test_files_not_used_for_longest_give_way():
    cache = Cache(100.0)
    for file, size in (("a", 40.0), ("b", 50.0)):
        assert not cache.find(file)
        cache.keep(file, size)
    assert cache.find("a")  # so that b is the one not used for longest
    cache.keep("c", 20.0)
    assert (cache.find("b"), cache.find("a"), cache.find("c")) == (False, True, True)
    cache.keep("large", 101.0)
    assert not cache.find("large")
    for _ in range(2):  # it came twice: two executions needed it before it was there
        cache.keep("whole", 100.0)
    assert (cache.find("a"), cache.find("c"), cache.find("whole")) == (False, False, True)
    assert (cache.hits, cache.misses, cache.bytes_found, cache.held) == (4, 6, 200.0, 100.0)


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=8),
    asked=st.lists(st.integers(0, 7), max_size=60),
    room=st.integers(0, 150),
)
def test_a_cache_holds_what_was_used_last_as_far_as_it_fits(sizes, asked, room):
    cache = Cache(room)
    asked = [k % len(sizes) for k in asked]
    for at, k in enumerate(asked):
        # By its definition: of all files that fit at all, those used last that fit together before this one.
        kept, left = [], room
        for before in reversed(asked[:at]):
            if before in kept or sizes[before] > room:
                continue
            if sizes[before] > left:
                break
            kept.append(before)
            left -= sizes[before]
        assert cache.find(str(k)) == (k in kept)
        if k not in kept:
            cache.keep(str(k), sizes[k])
        assert cache.held <= room


SITE = {"name": "a", "nodes": 4, "policy": "fcfs"}
JOBS = {"kind": "generated", "site": "a", "count": 3, "interval": 1000.0, "runtime": 50.0}
ONE_FILE = {"input": 1000.0, "output": 500.0, "files": 1}


def ran(cache, *workloads, **more):
    document = {
        "title": "a site that keeps input files",
        "network": {"sharing": "max-min", "bandwidth": 100.0, "latency": 2.0},
        "site": [SITE | ({} if cache is None else {"cache": cache})],
        "workload": [
            JOBS | {"name": f"w{k}", "data": ONE_FILE} | changes for k, changes in enumerate(workloads)
        ],
    }
    return simulate(Scenario("test", document | more, Path()))


def values(run):
    return {
        name: run.metrics[name].value
        for name in ("cache_hits", "cache_misses", "bytes_cached", "bytes_moved")
    }


def test_a_file_crosses_the_link_once_and_is_found_from_then_on():
    run = ran(1000.0, {})
    # 2 s + 10 s in, 50 s of work, 5 s + 2 s out; the second and third job need nothing brought in.
    assert [job.execution_time for job in run.record.jobs] == pytest.approx([69.0, 57.0, 57.0])
    assert run.metrics["staging_mean"].value == pytest.approx((19.0 + 7.0 + 7.0) / 3)
    assert values(run) == {
        "cache_hits": 2,
        "cache_misses": 1,
        "bytes_cached": 2000.0,
        "bytes_moved": 1000.0 + 3 * 500.0,
    }
    plain = ran(None, {})
    assert [job.execution_time for job in plain.record.jobs] == pytest.approx([69.0] * 3)
    assert "cache_hits" not in plain.metrics


def test_two_files_that_do_not_fit_together_drive_each_other_out():
    two = [{"interval": 900.0}, {}]  # their jobs come in turn
    assert values(ran(1500.0, *two))["cache_hits"] == 0
    assert values(ran(2000.0, *two)) == {
        "cache_hits": 4,
        "cache_misses": 2,
        "bytes_cached": 4000.0,
        "bytes_moved": 2000.0 + 6 * 500.0,
    }


def test_a_file_that_is_still_on_its_way_is_not_there():
    run = ran(1000.0, {"interval": 1.0})  # all three begin before the first transfer is over
    assert values(run)["cache_misses"] == 3


def test_a_hit_does_not_wait_for_a_link_that_is_cut():
    fault = {"name": "cut", "kind": "link", "between": 1500.0, "repair": 1000.0}
    late = {"input": 1000.0, "files": 1}
    kept = ran(1000.0, {"data": late}, fault=fault).record.jobs
    brought = ran(None, {"data": late}, fault=fault).record.jobs
    assert [job.execution_time for job in kept] == pytest.approx([62.0, 50.0, 50.0])
    assert brought[1].execution_time > 500.0


@settings(max_examples=30, deadline=None)
@given(
    files=st.integers(1, 12),
    popularity=st.just(0.0) | st.floats(1e-30, 2.0),  # smaller ones are refused
    rooms=st.lists(st.sampled_from([0.0, 1e8, 5e8, 2e9, 1e12]), min_size=2, max_size=2),
    faults=st.booleans(),
    seed=st.integers(1, 99),
)
def test_what_executions_need_is_found_or_crosses_the_link(files, popularity, rooms, faults, seed):
    law = {"law": "lognormal", "median": 2e8, "sigma": 1.0}
    document = {
        "title": "two sites",
        "network": {"sharing": "max-min", "bandwidth": 2e7},
        "site": [SITE | {"name": name, "cache": room} for name, room in zip("ab", rooms, strict=True)],
        "workload": [
            JOBS
            | {"name": f"w-{name}", "site": name, "count": 25, "interval": 15.0}
            | {"data": {"input": law, "files": files, "popularity": popularity}}
            for name in "ab"
        ],
    }
    if faults:
        # Executions that are cut off ask anew, and what was on its way does not come.
        document["site"][0]["failures"] = {"between": 150.0, "repair": 20.0}
        document["site"][0]["requeues"] = 9
    with build(Scenario("test", document, Path()), seed, keep_events=True) as grid:
        grid.run()
        journal, network = grid.record.journal, network_of(grid)
    needed = [network.volumes[job] for _, event, job, _, _ in journal if event == "started"]
    caches = [way.cache for way in network.ways.values() if way.cache is not None]
    found = sum(cache.bytes_found for cache in caches)
    assert sum(volume.input for volume in needed) == pytest.approx(found + network.bytes_moved, rel=1e-12)
    assert all(cache.held <= cache.size * (1 + 1e-12) for cache in caches)
    if all(rooms):
        assert sum(cache.hits + cache.misses for cache in caches) == len(needed)
    sizes = {(volume.file, volume.input) for volume in needed}
    assert len({file for file, _ in sizes}) == len({size for _, size in sizes}) == len(sizes) <= 2 * files


def test_popular_files_are_drawn_by_zipfs_law():
    document = {
        "title": "t",
        "network": {"sharing": "max-min"},
        "site": [SITE],
        "workload": [
            JOBS
            | {"name": "w", "count": 8000, "interval": 0.0, "runtime": 0.0}
            | {"data": {"input": 1.0, "files": 3, "popularity": 1.0}}
        ],
    }
    with build(Scenario("test", document, Path()), 1) as grid:
        grid.run()
        files = [volume.file for volume in network_of(grid).volumes.values()]
    # 1, 1/2 and 1/3 of 11/6; 0.02 is beyond three standard errors of a share.
    shares = [files.count(f"w-{k}") / len(files) for k in range(3)]
    assert shares == pytest.approx([6 / 11, 3 / 11, 2 / 11], abs=0.02)


@pytest.mark.long
def test_in_a_federation_where_all_breaks_a_cache_shortens_what_jobs_wait_for():
    shared = {"workload.meta.data.files": 20, "workload.meta.data.popularity": 0.8, "horizon": 7200.0}
    shared |= {"parts.faults": True}
    run, cached = (
        simulate(load("federation/small").override(shared | changes))
        for changes in ({}, {"site.lyon.cache": 1e10, "site.nancy.cache": 1e10})
    )
    assert cached.metrics["cache_hits"].value > cached.metrics["cache_misses"].value
    assert cached.metrics["bytes_moved"].value < run.metrics["bytes_moved"].value
    assert cached.metrics["staging_mean"].value < run.metrics["staging_mean"].value


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"network": {}, "workload": [JOBS]}, "site a: cache: .*links"),
        ({"workload": [JOBS | {"data": {"input": 1.0, "popularity": 1.0}}]}, "there are none; give files"),
        ({"site": SITE | {"cache": -1.0}}, "cache"),
        (
            {"site": SITE | {"cache": 1.0, "vres": {"batch": 1.0}}},
            "cache: is for sites with a batch scheduler",
        ),
    ],
)
def test_what_cannot_be_kept_is_refused(changes, words):
    with pytest.raises(ScenarioError, match=words):
        ran(1.0, {}, **changes)
