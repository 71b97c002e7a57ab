"""The search space that Slurm can have: priorities by factors, and plans by backfill."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WITHOUT = {
    "policy.weight_shortness", "policy.longest", "policy.max_wait", "policy.window", "quota.user_share",
}  # fmt: skip
CHOICES: dict[str, list[Any]] = {
    "policy": ["fcfs", "priority"],
    "policy.rule": ["multifactor"],
    "policy.queue_depth": [100, 500, 1000],
    "policy.interval": [30.0, 300.0],
    "policy.damping": [1.0, 2.0, 5.0],
}


def in_slurm(space: Mapping[str, Any], site: str) -> dict[str, Any]:
    """What of the search space of a site Slurm can have.

    Args:
        space: parameters by path, as a scenario's `[search.space]` has them.
        site: path of the site.
    """
    made = {path: one for path, one in space.items() if path.removeprefix(f"{site}.") not in WITHOUT}
    for name, choices in CHOICES.items():
        path = f"{site}.{name}"
        when = made[path].get("when") if isinstance(made[path], dict) else None
        made[path] = {"choices": choices, "when": when} if when else choices
    return made
