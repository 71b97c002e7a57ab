"""Random small grids with every part that a scenario can have, for tests of what always holds."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

LEASE = {"length": 250.0, "startup": 5.0, "idle": 60.0}
DATA = {"sandbox": 1e6, "input": 1e9, "output": 1e9}
CLASSES = [
    {"name": "sdj", "kinds": ["sdj"], "full": "reject", "wall_limit": 90.0},
    {"name": "batch", "full": "wait"},
]
LOCAL = [{}, {"order": "fair-share"}, {"user_cap": 1}, {"user_cap": 2, "order": "fair-share"}]
JOBS = {"kind": "generated", "interval": {"law": "exponential", "mean": 40.0}, "users": 3}
META = {"name": "meta", "role": "meta", "via": "middleware"}
SHORT = {"name": "sdj", "role": "sdj", "via": "wms"}


def around(least: float, most: float) -> st.SearchStrategy[Any]:
    """Laws of times in s: constant, or exponential."""
    means = st.floats(least, most)
    return means | st.builds(lambda mean: {"law": "exponential", "mean": mean}, means)


# Executions are shorter than what works between two faults: all work can be done.
between, repair = around(200.0, 900.0), around(20.0, 400.0)
faults = st.lists(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from(["power", "node", "broken", "link", "service", "report"]),
            "between": between,
            "repair": repair,
            "together": st.integers(1, 3),
            "says": st.sampled_from(["old", "idle"]),
            "service": st.sampled_from(["middleware", "information"]),
        }
    ),
    max_size=4,
)


@st.composite
def grids(draw: st.DrawFn) -> dict[str, Any]:
    """A scenario: two batch sites, virtual reservations, generated sites, and whatever uses them.

    There are 20 jobs of a middleware, 8 of local users, 12 short ones, 6 of a portal and 10 best-effort jobs;
    6 tasks of a user-level scheduler, 6 mandatory requests and 6 tasks with deadlines if these parts are on.
    """
    switch, one_of = st.booleans(), st.sampled_from
    costly, batch = draw(switch), one_of(["fcfs", "easy", "conservative"])
    sites = [
        {
            "name": "s0",
            "nodes": 3,
            "named_nodes": True,
            "policy": draw(batch),
            "requeues": draw(one_of([0, 1, 9])),
        },
        {"name": "s1", "nodes": 4, "slots": draw(one_of([1, 2])), "named_nodes": True, "policy": draw(batch)},
        {
            "name": "v",
            "nodes": 2,
            "slots": 2,
            "policy": "fcfs",
            "virtual_slots": 2,
            "vres": {"sdj": 0.5},
            "classes": [CLASSES[0], CLASSES[1] | draw(one_of(LOCAL))],
            "sharing": draw(one_of(["processor", "node"])),
        },
    ]  # fmt: skip
    if costly:
        sites[0]["head_node"] = {"time": 2.0, "per_waiting": 0.1}
        sites[1]["rounds"] = {"gap": 5.0, "duration": 1.0, "per_waiting": 0.1}
    if draw(switch):
        sites[1]["file_system"] = {"threads": 2, "io_share": 0.3}
    if draw(switch):
        sites[1]["queue"] = [
            {"name": "short", "max_runtime": 80.0, "slots": 2},
            {"name": "long", "priority": 1.0},
        ]
    if draw(switch):
        sites[0]["cache"] = sites[1]["cache"] = draw(one_of([1e9, 2e9]))
    if draw(switch):
        sites[0]["failures"] = {"between": draw(between), "repair": draw(repair)}
    if draw(switch):
        sites[2]["failures"] = {"between": draw(between), "repair": draw(repair)}
    shared = {"files": 3, "popularity": 1.0} if draw(switch) else {}
    document: dict[str, Any] = {
        "title": "a whole grid",
        "network": {"sharing": "max-min", "bandwidth": 1e9, "backbone": draw(one_of([5e8, 5e9]))},
        "site": sites,
        "middleware": {
            "kind": draw(one_of(["push", "pull", "pilot"])),
            "pilot_mode": draw(one_of(["run-once", "filling"])),
            "per_queue": draw(switch),
            "poll_period": 20.0,
            "update_period": draw(one_of([0.0, 30.0])),
            "loss": draw(one_of([0.0, 0.2])),
            "retry": draw(one_of(["never", "limited"])),
            "blacklist": draw(one_of(["none", "failures"])),
            "detection": 15.0,
            **({"service": {"time": 3.0}, "information": {"time": 1.0}} if costly else {}),
        },
        "wms": {
            "sites": draw(one_of(["reserved", "all"])),
            "brokers": 2,
            "update_period": 20.0,
            "rejected": draw(one_of(["tell", "resubmit"])),
            "failure": draw(one_of([0.0, 0.2])),
            "failure_delay": 10.0,
            "revisit": draw(one_of(["never", "limited"])),
            **({"service": {"time": 1.0}} if costly else {}),
        },
        "portal": {
            "workloads": ["view"],
            "slots": 2,
            "arbitration": draw(one_of(["deadline-fair", "earliest-deadline"])),
        },
        "harvester": {
            "site": "*",
            "controller": draw(one_of(["tap", "pi"])),
            "cycle": 20.0,
            "victims": draw(one_of(["youngest", "oldest", "least-lost", "scheduler"])),
            "grace": draw(one_of([0.0, 10.0])),
        },
        "transfer": {"site": "s1", "size": 5e10, "interval": 200.0, "count": 5},
        "workload": [
            JOBS | META | {"count": 20, "runtime": 100.0, "data": DATA | shared},
            JOBS | {"name": "own", "site": "s0", "count": 8, "runtime": 90.0, "processors": 2},
            JOBS | SHORT | {"count": 12, "runtime": 60.0, "deadline": 200.0},
            JOBS | {"name": "view", "role": "sdj", "count": 6, "runtime": 40.0, "deadline": 300.0},
            {"name": "bag", "kind": "campaign", "count": 10, "runtime": 40.0}
            | {"data": {"input": 1e9} | shared},
        ],
        "fault": [fault | {"name": f"f{k}"} for k, fault in enumerate(draw(faults))],
    }  # fmt: skip
    if draw(switch):
        document["platform"] = {"sites": 2, "nodes": 2}
    if draw(switch):
        document["overlay"] = {
            "tasks": 6,
            "runtime": 50.0,
            "workers": 2,
            "watch": 30.0,
            "estimate": 500.0,
            "lifetime": draw(one_of([None, {"law": "exponential", "mean": 200.0}])),
            "patience": draw(one_of([None, 60.0])),
            "errors": {"application": 0.1, "system": 0.1, "connection": 0.1},
        }
        document["overlay"] = {key: value for key, value in document["overlay"].items() if value is not None}
    if draw(switch):
        pool = draw(one_of(["each", {"kind": "by-demand", "least": 0, "requests": 3}, "by-demand"]))
        overflow = draw(one_of([{}, {"overflow": ["s0"], "patience": 20.0}]))
        _serve(document, LEASE | {"pool": pool} | overflow)
        document["sed"]["killed"] = draw(one_of(["requeue", "drop"]))
        document["client"]["reallocation"] = draw(one_of(["never", "sooner"]))
    return document


def _serve(document: dict[str, Any], lease: dict[str, Any]) -> None:
    """Add servers on leases, and what they execute."""
    document["client"] = {"dispatch": "ethic"}
    document["agent"] = {"routing": "mct"}
    for kind in ("sed", "server"):
        document[kind] = {"count": 2, "site": "s1", "lease": lease}
    document["workload"] += [
        {
            "name": "rpc",
            "kind": "regular",
            "count": 2,
            "interval": 400.0,
            "n_min": 3,
            "n_max": 8,
            "deadline": 600.0,
            "runtime": 40.0,
        },
        {
            "name": "task",
            "kind": "tasks",
            "count": 6,
            "window": 900.0,
            "runtime": 60.0,
            "deadline_factor": 9.0,
        },
    ]
