"""Metrics as people write them: `slowdown_geometric` is "slowdown (geometric mean)"."""

from __future__ import annotations

import re
from typing import NamedTuple

from gridtune.model.metrics.registry import LOGGED, LOGGED_METRICS


class Label(NamedTuple):
    """A metric as people write it.

    Attributes:
        name: what is measured.
        detail: which statistic of it, or of what it is a share; empty where the name says all.
        percent: whether its values, shares from 0 to 1, are shown as percentages.
    """

    name: str
    detail: str = ""
    percent: bool = False

    def __str__(self) -> str:
        return f"{self.name} ({self.detail})" if self.detail else self.name


LONGEST = 30  # letters of the name of a queue or QOS
OF_JOBS = "share of jobs"
CAPACITY = "share of capacity"
LABELS = {
    "unhappy_fraction": Label("unhappy users", "share of users", True),
    "failed_fraction": Label("failed jobs", "share of mandatory jobs", True),
    "unfairness": Label("unfairness", "max - min"),
    "unfairness_jain": Label("unfairness", "1 - Jain index"),
    "unfairness_spread": Label("unfairness", "90 % - 10 %"),
    "mandatory_failed": Label("failures"),
    "lost_fraction": Label("lost work", "share of work", True),
    "owed_lost_fraction": Label("lost mandatory work", "share of work", True),
    "cut_off_fraction": Label("work cut off at the end", "share of work", True),
    "never_submitted": Label("jobs never submitted"),
    "completed": Label("completed jobs"),
    "slowdown_unfairness": Label("slowdown", "max - min of users"),
    "slowdown_jain": Label("slowdown unfairness", "1 - Jain index"),
    "slowdown_spread": Label("slowdown of users", "90 % - 10 %"),
    "slowdown_excess": Label("slowdown of users", "mean - 1"),
    "slowdown_mean_log": Label("slowdown", "log10 of the mean"),
    "slowdown_worst_log": Label("slowdown", "log10 of the worst user"),
    "utilisation": Label("utilisation", CAPACITY, True),
    "goodput": Label("goodput", CAPACITY, True),
    "killed": Label("killed executions"),
    "meta_completed": Label("completed meta-tasks"),
    "local_wait_mean": Label("wait in a site's queue", "mean"),
    "global_wait_mean": Label("wait for a site", "mean"),
    "background_completed": Label("completed local jobs"),
    "service_load": Label("load of the busiest service", "share of time", True),
    "exceeded_predictions": Label("jobs longer than predicted", OF_JOBS, True),
    "missed": Label("missed tasks"),
    "missed_fraction": Label("missed tasks", "share of tasks", True),
    "missed_high_priority": Label("missed tasks of high priority"),
    "missed_low_priority": Label("missed tasks of low priority"),
    "rejected": Label("rejected tasks"),
    "executed": Label("tasks done in time"),
    "vres_expired": Label("jobs ended at their limit in virtual slots"),
    "vres_rejected": Label("jobs refused by virtual slots"),
    "sdj_rejection": Label("rejected short deadline jobs", OF_JOBS, True),
    "sdj_failed": Label("failed short deadline jobs", OF_JOBS, True),
    "batch_slowdown": Label("slowdown of batch jobs", "mean"),
    "batch_slowdown_worst": Label("slowdown of batch jobs", "largest"),
    "batch_response_ratio": Label("response over run time of batch jobs", "mean"),
    "best_effort_work": Label("completed best-effort work"),
    "best_effort_completed": Label("completed best-effort jobs"),
    "best_effort_left": Label("best-effort jobs left at the end"),
    "best_effort_left_work": Label("best-effort work left at the end"),
    "premium_slowdown": Label("slowdown of premium jobs", "mean"),
    "campaign_unfairness": Label("unfairness among campaigns"),
    "slow_reconstructions": Label("slow reconstructions", "share of reconstructions", True),
    "efficiency": Label("efficiency of workers", "share of time held", True),
    "turnaround_median": Label("turnaround time", "median"),
    "waited_max": Label("longest wait"),
    "waited_day": Label("jobs that waited longer than a day"),
    "waited_week": Label("jobs that waited longer than a week"),
    "delayed_fraction": Label("users who wait much longer than before", "share of users", True),
    "excess_loss": Label("mandatory work lost beyond what is allowed"),
}
STEMS = {
    "waiting": "waiting time",
    "waited": "wait",
    "response": "response time",
    "execution": "execution time",
}
STATISTICS = {
    "mean": "mean", "geometric": "geometric mean", "p50": "median", "p95": "95th percentile",
    "p99": "99th percentile", "max": "maximum", "worst": "worst user",
}  # fmt: skip
KINDS = {  # who is meant by what stands behind the dot of a metric's name; the limits are the registry's
    "size-small": "jobs of at most 1 % of a site",
    "size-medium": "jobs of 1 to 10 % of a site",
    "size-large": "jobs of 10 to 25 % of a site",
    "size-huge": "jobs of more than 25 % of a site",
    "length-brief": "jobs of at most 10 min",
    "length-short": "jobs of 10 min to 1 h",
    "length-long": "jobs of 1 to 8 h",
    "length-very-long": "jobs of more than 8 h",
    "worst-size": "the worst class by processors",
    "worst-length": "the worst class by run time",
    "worst-users": "the tenth of the users who wait longest",
}
REQUESTS = {"mandatory", "optional"}  # kinds of jobs that GridRPC clients submit
JOBS = re.compile(r"\bjobs\b")
WORDS = {"meta": "of meta-tasks", "background": "of local jobs"}  # at the head of a name, told at its end


def label(name: str) -> Label:
    """A metric as people write it; of a class or size of jobs (behind a dot) with its name.

    Args:
        name: of the metric, entered in the registry or not; the last resort is its own words.
    """
    stem, dot, kind = name.partition(".")
    found = LABELS.get(stem) or _composed(stem)
    if kind.startswith(LOGGED) and stem in LOGGED_METRICS:
        what, _, whose = kind.partition("-")
        whose = whose if len(whose) <= LONGEST else f"{whose[: LONGEST - 1]}…"
        return found._replace(name=f"{found.name} in {what.replace('qos', 'QOS')} {whose}")
    if not dot:
        return found
    whose = KINDS.get(kind) or f"{kind} {'requests' if kind in REQUESTS else 'jobs'}"
    told = JOBS.sub(whose, found.name, count=1)  # "lost jobs" are "lost local jobs"
    if told == found.name or whose.startswith("the "):
        told = f"{found.name} of {whose}"
    return found._replace(name=told)


def _composed(name: str) -> Label:
    """From the parts of a name: `meta_waiting_p95` is "waiting time of meta-tasks (95th percentile)"."""
    words = name.split("_")
    statistic = STATISTICS.get(words[-1], "") if len(words) > 1 else ""
    if statistic:
        words.pop()
    of = WORDS.get(words[0], "") if len(words) > 1 else ""
    if of:
        words = [*words[1:], of]
    words[0] = STEMS.get(words[0], words[0]) if statistic else words[0]
    return Label(" ".join(words), statistic)
