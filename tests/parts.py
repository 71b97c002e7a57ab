"""Parts of federations: whose jobs are theirs, and which of them begin or end otherwise in another run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import zip_longest
from math import isnan

from gridtune.scenarios import simulate
from gridtune.scenarios.document.scenario import Scenario

KINDS = {
    "gridrpc": ("mandatory", "optional"),
    "local": ("local",),
    "meta": ("meta",),
    "sdj": ("sdj",),
    "harvest": ("best-effort",),
    "deadline": ("task",),
}
Moments = Mapping[str, list[tuple[float, float]]]


def moments(scenario: Scenario, seed: int = 1) -> dict[str, Moments]:
    """When the jobs of each part began and ended, by user, in the order in which they came."""
    found: dict[str, Moments] = {part: defaultdict(list) for part in KINDS}
    part_of = {kind: part for part, kinds in KINDS.items() for kind in kinds}
    for job in simulate(scenario, seed=seed).record.jobs:
        if job.kind in part_of:
            found[part_of[job.kind]][job.user].append((job.start, job.end))
    return found


def moved(one: Moments, other: Moments, least: float = 1.0) -> tuple[int, int]:
    """How many jobs begin or end `least` s or more apart in two runs, or are in one only; of how many."""
    count = total = 0
    for user in one.keys() | other.keys():
        pairs = list(zip_longest(one.get(user, ()), other.get(user, ())))
        total += len(pairs)
        count += sum(a is None or b is None or _apart(a, b, least) for a, b in pairs)
    return count, total


def _apart(one: tuple[float, float], other: tuple[float, float], least: float) -> bool:
    return any(isnan(a) != isnan(b) or abs(a - b) >= least for a, b in zip(one, other, strict=True))
