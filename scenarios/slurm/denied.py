"""Limits of partitions that jobs of a log exceeded: under them, these jobs would be refused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

from gridtune.scenarios.results.amounts import counted
from gridtune.scenarios.slurm.changes import duration
from gridtune.scenarios.trace_files.records import TraceJob

Queue = Mapping[str, Any]


def not_denied(queues: Sequence[Queue], jobs: Iterable[TraceJob]) -> tuple[list[Queue], list[str]]:
    """Partitions without the limits that jobs exceeded, and what to say of each such limit.

    A job counts in the partition that it names. If there is none, it counts in the last one, unless another
    takes it.

    Args:
        queues: partitions, those for the shortest jobs first.
        jobs: of the log.
    """
    names, theirs = {queue["name"] for queue in queues}, defaultdict[Any, list[TraceJob]](list)
    for job in jobs:
        if job.queue in names:
            theirs[job.queue].append(job)
        elif all(_time(job) > _longest(one) or job.processors > _widest(one) for one in queues):
            theirs[queues[-1]["name"]].append(job)
    made, said = [], []
    for queue in queues:
        kept, name = dict(queue), f"PartitionName={queue['name']}"
        if long := [_time(job) for job in theirs[queue["name"]] if _time(job) > _longest(queue)]:
            limit = duration(kept.pop("max_runtime"))
            said.append(_left_out(f"{name} MaxTime={limit}", "asked for more", long, duration(max(long))))
        if wide := [one.processors for one in theirs[queue["name"]] if one.processors > _widest(queue)]:
            limit = f"{kept.pop('max_processors'):,} processors"
            kept = {key: value for key, value in kept.items() if key not in ("slots", "partition")}
            said.append(_left_out(f"{name} Nodes ({limit})", "had more", wide, f"{max(wide):,}"))
        made.append(kept)
    return sorted(made, key=_longest), said


def _time(job: TraceJob) -> float:
    return job.estimate or job.runtime


def _longest(queue: Queue) -> float:
    return float(queue.get("max_runtime", inf))


def _widest(queue: Queue) -> float:
    return float(queue.get("max_processors", inf))


def _left_out(what: str, why: str, over: Sequence[float], most: str) -> str:
    return f"{what}: left out, as {counted(len(over), 'job')} of the log {why} (at most {most})"
