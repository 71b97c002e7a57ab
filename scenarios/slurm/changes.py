"""Which lines of a slurm.conf change from one scenario to another, and what of the change has no counterpart.

Source: slurm.conf(5), sacctmgr(1). Backfill of Slurm plans a start for every job that it looks at, or for so
many of each partition (`bf_job_part_count_reserve`). Gang scheduling suspends a job for good only where the
other one has another partition: within one they take turns.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gridtune.model.batch.policies import FairShare
from gridtune.model.batch.priority import Priority
from gridtune.model.policy import Policy
from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.slurm import known
from gridtune.scenarios.slurm.commands import changed_commands, preempt_mode, priorities
from gridtune.scenarios.slurm.conf import duration
from gridtune.scenarios.systems.replay import sized
from gridtune.scenarios.tables.batch import NO_LIMIT, QueueSpec, SiteSpec

LONGEST_WINDOW = 43_200  # min, the most that bf_window may be
DAY = 1440  # min, the bf_window of a Slurm of which nothing is said
LONGEST_INTERVAL = 10_800  # s, the most that bf_interval may be
PARAMETERS = "SchedulerParameters"
INCOMPLETE = "# Slurm cannot do all that was simulated: see `no counterpart` below before you use this"
MERGED = (PARAMETERS, "PriorityFlags", "PartitionName")  # lines that say a part
MERGE = f"# {', '.join(MERGED)}: in your lines, change only these options"
RESOLUTION = "# bf_window is long: raise bf_resolution, too, or backfilling gets slow"
LIMITS = "# limits of a QOS need AccountingStorageEnforce=limits,qos: no job without an association"
GANG = "# SUSPEND,GANG needs OverSubscribe=FORCE:1 in the partitions"
SCALE = "# PriorityWeight…: their ratios count; scale your other weights ({}TRES, Assoc, Site) as these"
WEIGHTS = {ours: theirs for theirs, ours in known.WEIGHTS.items()}
TOLD = {  # settings of a site that have lines, or are said to have none
    "name": set[str](),
    "policy": {
        *WEIGHTS, "weight_shortness", "rule", "reservations", "max_age", "favour", "half_life", "algorithm",
        "damping", "interval", "window", "queue_depth", "by", "qos",
    },
    "quota": {"user_running", "user_slots", "user_share"},
    "preemption": {"express", "mode", "grace", "exempt", "qos"},
    "queue": {"name", "max_runtime", "priority", "factor"},
}  # fmt: skip
GANGS = "SUSPEND,GANG"  # Slurm suspends by gang scheduling alone


@dataclass(frozen=True)
class SlurmChanges:
    """The changes say what an administrator of Slurm has to do.

    Attributes:
        lines: of slurm.conf.
        commands: of sacctmgr.
        without: what Slurm cannot do of what was simulated, a line each.
    """

    lines: Sequence[str]
    commands: Sequence[str]
    without: Sequence[str]

    def text(self) -> str:
        """Lines for slurm.conf; all else as comments."""
        some = "\n".join(self.lines)
        made = [
            *([INCOMPLETE] if self.without else []),
            *([MERGE] if any(name in some for name in MERGED) else []),
            *([RESOLUTION] if any(int(one) > DAY for one in re.findall(r"bf_window=(\d+)", some)) else []),
            *([SCALE.format("" if "WeightQOS" in some else "QOS, ")] if "PriorityWeight" in some else []),
            *([LIMITS] if any(" set Max" in command for command in self.commands) else []),
            *([GANG] if "SUSPEND" in some else []),
            *self.lines,
            *(f"# sacctmgr {command}" for command in self.commands),
            *(f"# no counterpart: {line}" for line in self.without),
        ]
        return "".join(f"{line}\n" for line in made or ["# nothing changes"])


def slurm_changes(
    before: Scenario | str | Path, after: Scenario | str | Path, site: str | None = None
) -> SlurmChanges:
    """Translate the difference of two scenarios to settings of Slurm.

    Args:
        before, after: the scenarios, or their names or files.
        site: the name of the site; the only one if left out.

    Returns:
        The changes: `lines` of slurm.conf, `commands` of sacctmgr, and `without`: what Slurm cannot do.
        `text()` has them all.

    Raises:
        ScenarioError: a scenario has no such site, or several and none is named.

    Example:
        >>> import gridtune as gt
        >>> before = gt.load("batch/replay", {"site.cluster.policy": "priority"})
        >>> after = before.override({"site.cluster.policy.interval": 60})
        >>> gt.slurm_changes(before, after).lines
        ['SchedulerParameters=bf_interval=60,...']
    """
    old, new = (_site(one if isinstance(one, Scenario) else load(one), site) for one in (before, after))
    scale = _scale(old.policy, new.policy)
    was, will = dict(_options(old, scale)), dict(_options(new, scale))
    gone = {"PreemptExemptTime": "-1"}
    gone |= {"PriorityWeightQOS": "0"} if "PriorityWeightAge" in will else {}
    will |= {key: value for key, value in gone.items() if key in was and key not in will}
    changed = {key: value for key, value in will.items() if was.get(key) != value}
    if changed.keys() & set(WEIGHTS.values()):  # only their ratios matter, so all of them are told
        changed |= {key: will[key] for key in ("PriorityType", *WEIGHTS.values()) if key in will}
    partitions = [line for line in _partitions(new) if line not in set(_partitions(old))]
    lines = [*(_line(key, changed[key]) for key in will if key in changed), *partitions]
    commands = changed_commands(old, new)
    others = list(_others(old, new))
    # Also what the baseline has already: the site itself may be otherwise.
    without = [*_without(new), *others] if lines or commands or others or old != new else []
    return SlurmChanges(lines, commands, without)


def _line(key: str, value: str) -> str:
    """A line of slurm.conf; a remark where no value says what is meant."""
    return f"# {key}: {value}" if " " in value else f"{key}={value}"


def _site(scenario: Scenario, name: str | None) -> SiteSpec:
    sites = sized(scenario.active).site
    found = [one for one in sites if name in (None, one.name)]
    if len(found) != 1:
        known = ", ".join(one.name for one in sites) or "none"
        raise ScenarioError(f"{scenario.name}: which site is meant? there are {known}")
    return found[0]


def _scale(*policies: Policy) -> float:
    """By what weights are multiplied to be whole numbers, as Slurm has them."""
    weights = [getattr(one, name) for one in policies if isinstance(one, Priority) for name in WEIGHTS]
    return 1.0 if all(float(weight).is_integer() for weight in weights) else 1000.0


def _options(site: SiteSpec, scale: float) -> Iterator[tuple[str, str]]:
    """Options of the whole cluster, as the site would have them."""
    policy = site.policy
    strict = policy.kind == "fcfs" or (isinstance(policy, Priority) and policy.reservations == 0)
    yield "SchedulerType", "sched/builtin" if strict else "sched/backfill"
    if isinstance(policy, Priority):
        yield from _multifactor(policy, scale)
    elif isinstance(policy, FairShare):
        yield "PriorityType", "priority/multifactor"
        for name, option in WEIGHTS.items():
            if name != "weight_qos":
                yield option, "1000" if name == "weight_fairshare" else "0"
        yield "PriorityDecayHalfLife", duration(policy.half_life)
    else:
        yield "PriorityType", "priority/basic"
    if not strict:
        yield PARAMETERS, ",".join(_backfill(policy))
    mode = _mode(site)
    yield "PreemptType", "preempt/none" if mode == "off" else "preempt/qos"
    yield "PreemptMode", GANGS if mode == "suspend" else preempt_mode(mode).upper()
    if site.preemption is not None and mode != "off" and site.preemption.exempt:
        yield "PreemptExemptTime", duration(site.preemption.exempt)


def _mode(site: SiteSpec) -> str:
    """How jobs make way for others; `off` where none does."""
    one = site.preemption
    return one.mode if one is not None and (one.express or any(one.qos.values())) else "off"


def _multifactor(policy: Priority, scale: float) -> Iterator[tuple[str, str]]:
    if policy.rule != "multifactor":
        return
    yield "PriorityType", "priority/multifactor"
    for name, option in WEIGHTS.items():
        if name != "weight_qos" or policy.weight_qos:
            yield option, str(round(getattr(policy, name) * scale))
    yield "PriorityMaxAge", duration(policy.max_age)
    yield "PriorityFavorSmall", "YES" if policy.favour == "small" else "NO"
    if policy.fair:
        yield "PriorityDecayHalfLife", duration(policy.half_life)
        classic = policy.algorithm == "classic"
        yield "PriorityFlags", "NO_FAIR_TREE" if classic else "without NO_FAIR_TREE"
        if classic:
            yield "FairShareDampeningFactor", str(max(1, round(policy.damping)))


def _backfill(policy: Policy) -> Iterator[str]:
    if not isinstance(policy, Priority):
        yield f"bf_window={LONGEST_WINDOW}"
        yield f"bf_job_part_count_reserve={0 if policy.kind == 'conservative' else 1}"
        return
    if policy.interval >= 1:
        yield f"bf_interval={min(round(policy.interval), LONGEST_INTERVAL)}"
    yield f"bf_window={max(1, round(min(policy.window / 60.0, LONGEST_WINDOW)))}"
    if policy.queue_depth:
        yield f"bf_max_job_test={policy.queue_depth:.0f}"
    yield f"bf_job_part_count_reserve={0 if policy.reservations == 'all' else policy.reservations}"


def _partitions(site: SiteSpec) -> list[str]:
    weighed = isinstance(site.policy, Priority) and site.policy.weight_queue != 0
    return [
        f"PartitionName={one.name} MaxTime={duration(one.max_runtime)} {_rank(one, weighed)}"
        for one in site.queue
    ]


def _rank(queue: QueueSpec, weighed: bool) -> str:
    """What says of a partition which jobs come first; different tiers decide before all weights."""
    tier, factor = queue.priority, queue.factor
    if factor is None and weighed:
        tier, factor = 1.0, queue.priority
    said = f"PriorityTier={round(tier)}"
    return said if factor is None else f"{said} PriorityJobFactor={round(factor)}"


def _without(site: SiteSpec) -> Iterator[str]:
    """What of the policy and the limits Slurm cannot have."""
    policy, quota = site.policy, site.quota
    limits = {quota.user_running, quota.user_slots} - {NO_LIMIT}
    limited = limits or quota.user_share < 1
    express = site.preemption is not None and site.preemption.express > 0
    named = site.preemption is not None and any(site.preemption.qos.values())
    if limited:
        yield "limits of users that count jobs of all QOS together: each QOS has its own, and counts its jobs"
    if policy.kind in ("easy", "fair-share"):
        yield "backfilling around one reservation whenever a job ends; Slurm: every bf_interval seconds"
    if policy.kind == "conservative":
        yield "reservations for all jobs whenever one ends; Slurm: for some, every bf_interval seconds"
    of_queues = {f"queue {queue.name}": queue.priority for queue in site.queue}
    of_queues |= {f"queue {one.name} (factor)": one.factor for one in site.queue if one.factor is not None}
    of_qos = {f"QOS {name}": priority for name, priority in priorities(site).items()}
    for name, priority in (of_queues | of_qos).items():
        if priority != round(priority):
            yield f"{name}: its priority {priority:g} is rounded"
    if isinstance(policy, Priority):
        if policy.rule != "multifactor":
            yield f"rule = {policy.rule}: needs a site_factor plug-in"
        elif policy.weight_shortness:
            yield f"weight_shortness = {policy.weight_shortness:g}: needs a site_factor plug-in"
        if policy.reservations and policy.interval < 1:
            yield "interval = 0: backfill of Slurm plans every bf_interval seconds, not whenever a job ends"
        if policy.reservations and not policy.queue_depth:
            yield "queue_depth = 0: backfill of Slurm looks at bf_max_job_test jobs, not at every one"
        alike = len(site.queue) == 1 or (site.queue and all(one.partition for one in site.queue))
        if policy.reservations not in (0, "all") and not alike:
            yield f"reservations = {policy.reservations} on the whole site; in Slurm, for each partition"
        if len(site.queue) > 1 and alike and policy.queue_depth:
            yield "queue_depth: of each partition; bf_max_job_test counts all jobs, bf_max_job_part theirs"
        if policy.fair and policy.algorithm == "classic" and policy.damping != max(1, round(policy.damping)):
            yield f"damping = {policy.damping:g}: a whole number in Slurm"
    if isinstance(policy, FairShare) or (isinstance(policy, Priority) and policy.fair):
        if policy.by != "account":
            yield f"by = {policy.by}: Slurm compares accounts, and users within each"
        if duration(policy.half_life) == "0":
            yield "half_life without end: Slurm also needs a PriorityUsageResetPeriod"
    if quota.user_share < 1:
        yield "user_share: a larger job runs as its user's only one here; in Slurm it never starts"
    if quota.user_share < 1 or quota.user_slots != NO_LIMIT:
        yield "limits of users' processors: if a job waits for one, its user's later jobs wait; not in Slurm"
    if express:
        yield "every short job is express; in Slurm, grant the QOS, and request it (e.g. by job_submit)"
        yield (
            "short jobs of each QOS are a level above its others; in Slurm, all have the QOS `express`"
            if named
            else "short jobs preempt jobs of every QOS; in Slurm, `Preempt` of `express` has to name each"
        )
    if site.preemption is not None and _mode(site) != "off":
        yield f"victims: of the lowest level, the {site.preemption.victims} first; see PreemptParameters"
    if _mode(site) == "checkpoint":
        yield "preemption.mode = checkpoint: REQUEUE, where jobs save their own progress"
    if _mode(site) == "suspend":
        yield "preemption.mode = suspend: in Slurm, a partition's jobs take turns; suspended ones keep memory"


def _others(old: SiteSpec, new: SiteSpec) -> Iterator[str]:
    """Other settings that change: of what Slurm has otherwise or not at all, and of the site itself."""
    place = f"site.{new.name}"
    for name in type(new).model_fields.keys() - TOLD.keys():
        if getattr(old, name) != getattr(new, name):
            yield f"{place}.{name}"
    before, after = old.policy, new.policy
    yield from _differing(f"{place}.policy", before if type(before) is type(after) else None, after)
    yield from _differing(f"{place}.quota", old.quota, new.quota)
    if new.preemption is not None:
        yield from _differing(f"{place}.preemption", old.preemption, new.preemption)
    queues = {queue.name: queue for queue in old.queue}
    for queue in new.queue:
        yield from _differing(f"{place}.queue.{queue.name}", queues.pop(queue.name, None), queue)
    yield from (f"{place}.queue.{name}: its partition goes" for name in queues)


def _differing(place: str, before: Any, after: Any) -> Iterator[str]:
    """Settings of a table that change and have no line; without a table before, what is not its default."""
    for name, default in _defaults(after).items():
        was = default if before is None else getattr(before, name)
        now = getattr(after, name)
        if name not in TOLD[place.split(".")[2]] and was != now:
            yield f"{place}.{name} = {now}"


def _defaults(table: Any) -> dict[str, Any]:
    """The settings of a table or policy, and what they are by default."""
    if isinstance(table, Policy):
        found = {one.name: one.default for one in dataclasses.fields(table)}  # type: ignore[arg-type]
        return {name: value for name, value in found.items() if value is not dataclasses.MISSING}
    known = type(table).model_fields.items()
    return {name: one.get_default(call_default_factory=True) for name, one in known}
