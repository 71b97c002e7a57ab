"""Which metrics of a run come first, and to what the others belong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

HEADLINE = (
    "unhappy_users",
    "unfairness",
    "lost_jobs",
    "lost_fraction",
    "completed",
    "completed_work",
    "makespan",
    "waiting_mean",
    "response_mean",
    "slowdown_mean",
    "utilisation",
    "killed",
    "wasted_work",
)
PARTS = (
    ("users", r"(unhappy|unfairness|shortfall|slowdown_(unfairness|jain|spread|excess)$)"),
    ("work", r"(lost_|failed_fraction|cut_off_fraction|never_submitted|completed|makespan|executed$)"),
    ("waiting and response", r"(waiting|execution|response|slowdown)_\w+$"),
    ("sizes of jobs", r"\w+\.(narrow|wide)-(short|long)$"),
    ("who waits longest", r"(waited_|jobs\.(size|length)-)"),
    ("sites", r"(utilisation|goodput|killed|wasted|refused|cancelled|events$)"),
    ("virtual reservations", r"(vres|sdj|batch_|slowdown\.|share\.|started\.|rejected\.)"),
    ("deadline scheduling", r"(missed|rejected$|fallbacks|resubmissions|ack_|forecast)"),
    ("best-effort", r"(best_effort|unfinished_campaigns|abandoned|dropped|campaign|premium|tracking)"),
    ("network", r"message"),
    ("meta-scheduling", r"(meta_|local_wait|global_wait|background|site_probes|empty_)"),
    ("pilots and workers", r"(pilot|workers_|efficiency|tasks_left)"),
    ("brokers and portals", r"(rerouted|grid_failures|aborted|told|overhead|queueing|turnaround|portal)"),
    ("classes of jobs", r"\w+\."),
)
OTHERS = "others"


def headline(metrics: Mapping[str, Any], *, promised: bool = True) -> list[str]:
    """The metrics of a run that come first, as far as it has them, and those that a user has defined.

    Args:
        metrics: by name.
        promised: whether any work has a deadline; where none has, nobody is unhappy for being late.
    """
    own = [name for name in metrics if part_of(name) == OTHERS]
    left_out = () if promised else ("unhappy_users",)
    return [*(name for name in HEADLINE if name in metrics and name not in left_out), *own]


def part_of(name: str) -> str:
    """The part of a grid that a metric is about."""
    return next((part for part, pattern in PARTS if re.match(pattern, name)), OTHERS)


def grouped(names: Iterable[str]) -> dict[str, list[str]]:
    """Metrics by the part that they are about, in the order of the parts."""
    found: dict[str, list[str]] = {part: [] for part in (*dict(PARTS), OTHERS)}
    for name in names:
        found[part_of(name)].append(name)
    return {part: some for part, some in found.items() if some}
