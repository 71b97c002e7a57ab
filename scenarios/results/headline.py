"""Which metrics of a run come first, and to what the others belong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any

MOST = 15  # metrics that come first
COMMON = (  # of every scenario
    "unhappy_users",
    "unfairness",
    "lost_jobs",
    "completed",
    "makespan",
    "waiting_mean",
    "response_mean",
    "slowdown_mean",
    "utilisation",
)
KINDS = (  # of scenarios that have the first metric of a group
    ("meta_response_mean", "meta_waiting_mean", "background_waiting_mean", "messages_per_task"),
    ("missed_fraction", "rejected", "resubmissions", "forecast_error"),
    ("sdj_rejection", "sdj_failed", "batch_slowdown"),
    ("best_effort_work", "best_effort_completed", "unfinished_campaigns", "tracking_error"),
    ("efficiency", "tasks_left", "turnaround_median"),
    ("killed_by_mandatory", "cancelled_running"),
    ("energy", "node_boots"),
    ("lost_fraction", "wasted_work", "killed", "completed_work"),
)
LOSSES = ("killed_by_limit", "refused")  # that are shown if there are any: a run's sums do not tell them
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
    ("network", r"(message|bytes_|bulk_|staging|cache_|service_)"),
    ("leases and servers", r"(lease|scheduling_cost|reallocated|executed)"),
    ("meta-scheduling", r"(meta_|local_wait|global_wait|background|site_probes|empty_)"),
    ("pilots and workers", r"(pilot|workers_|efficiency|tasks_left)"),
    (
        "brokers and portals",
        r"(rerouted|revisited|grid_failures|aborted|told|overhead|queueing|turnaround|portal)",
    ),
    ("classes of jobs", r"\w+\."),
)
OTHERS = "others"


def headline(
    metrics: Mapping[str, Any], objectives: Iterable[str] = (), *, promised: bool = True
) -> list[str]:
    """The metrics of a run that come first, `MOST` at most, as far as it has them.

    Args:
        metrics: of the run, as in its JSON.
        objectives: what the scenario is searched for, which come before all others.
        promised: whether any work has a deadline; where none has, nobody is unhappy for being late.
    """
    losses = [name for name in LOSSES if metrics.get(name, {}).get("mean")]
    own = [name for name in metrics if part_of(name) == OTHERS]
    kinds = [group for group in KINDS if group[0] in metrics]
    # One of each kind before the second of any.
    rest = [name for names in zip_longest(*kinds) for name in names if name is not None]
    found = dict.fromkeys([*objectives, *COMMON, *losses, *own, *rest])
    if not promised:
        found.pop("unhappy_users", None)
    return [name for name in found if name in metrics][:MOST]


def part_of(name: str) -> str:
    """The part of a grid that a metric is about."""
    return next((part for part, pattern in PARTS if re.match(pattern, name)), OTHERS)


def grouped(names: Iterable[str]) -> dict[str, list[str]]:
    """Metrics by the part that they are about, in the order of the parts."""
    found: dict[str, list[str]] = {part: [] for part in (*dict(PARTS), OTHERS)}
    for name in names:
        found[part_of(name)].append(name)
    return {part: some for part, some in found.items() if some}
