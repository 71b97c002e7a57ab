"""What sacctmgr has to do, where a site changes: limits of QOS, their priorities, and who preempts whom.

Source: sacctmgr(1), `preempt/qos`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from math import inf, isinf

from gridtune.model.batch.priority import HIGHEST, Priority
from gridtune.scenarios.slurm.conf import duration
from gridtune.scenarios.tables.batch import NO_LIMIT, SiteSpec

PREEMPTING = "<the QOS that preempts>"  # of a site that has one; nobody knows its name here


def changed_commands(old: SiteSpec, new: SiteSpec) -> list[str]:
    """The commands that turn the QOS of a site into those of another."""
    was_on, on = (site.preemption is not None and site.preemption.express > 0 for site in (old, new))
    before = _levels(old)
    after = dict.fromkeys(before, 0.0) | _levels(new)
    express = PREEMPTING if was_on else "express"
    while express in after:  # which is another one
        express += "-jobs"
    was, will = _preempted(old, before, express), _preempted(new, after, express)
    names = dict.fromkeys([*after, *priorities(old), *priorities(new), *[express] * (was_on or on)])
    added = {express} if on and not was_on else set[str]()
    known = {
        *(_limits(old, names.keys() - added)), *_limit(added, -1, -1), *_set_priorities(old),
        *_terms(old, was, express),
    }  # fmt: skip
    wanted = (*_limits(new, names), *_set_priorities(new), *_terms(new, will, express))
    made = [*(f"add qos {name}" for name in added), *(one for one in wanted if one not in known)]
    gone = priorities(old).keys() - priorities(new).keys() if priorities(new) else ()
    made += [_modify(name, "Priority=0") for name in sorted(gone)]
    for name in was | will:
        for sign, some, kept in (("+", will, was), ("-", was, will)):
            others = [_quoted(one) for one in some.get(name, ()) if one not in kept.get(name, ())]
            made += [_modify(name, f"Preempt{sign}={','.join(others)}")] if others else []
    return made


def preempt_mode(mode: str) -> str:
    """What Slurm does to a preempted job: it has no checkpoints."""
    return "requeue" if mode == "checkpoint" else mode


def priorities(site: SiteSpec) -> dict[str, float]:
    """Priorities of QOS, where they are weighed."""
    policy = site.policy
    weighed = policy.qos if isinstance(policy, Priority) and policy.weight_qos else {}
    return {name: priority for name, priority in weighed.items() if name != HIGHEST}


def _levels(site: SiteSpec) -> dict[str, float]:
    """Levels of QOS; unless another is said, Slurm's own has the lowest."""
    known = {"normal": 0.0} | dict.fromkeys(priorities(site), 0.0)
    return known | ({} if site.preemption is None else site.preemption.qos)


def _preempted(site: SiteSpec, levels: Mapping[str, float], express: str) -> dict[str, list[str]]:
    """Which QOS each preempts."""
    made = {name: [other for other in levels if levels[other] < level] for name, level in levels.items()}
    if site.preemption is not None and site.preemption.express:
        made[express] = [name for name in levels if levels[name] == min(levels.values())]
    return made


def _modify(name: str, what: str) -> str:
    return f"modify qos {_quoted(name)} set {what}"


def _quoted(name: str) -> str:
    """A name as a shell takes it, but for the one that stands for an unknown name."""
    return name if name == PREEMPTING else shlex.quote(name)


def _limits(site: SiteSpec, names: Iterable[str]) -> Iterator[str]:
    """Limits of each user, in each QOS."""
    quota = site.quota
    jobs = -1 if quota.user_running == NO_LIMIT else int(quota.user_running)
    slots = inf if quota.user_slots == NO_LIMIT else float(quota.user_slots)
    if quota.user_share < 1:
        slots = min(slots, site.size * site.slots * quota.user_share)
    yield from _limit(names, jobs, -1 if isinf(slots) else int(slots))


def _limit(names: Iterable[str], jobs: int, cpus: int) -> Iterator[str]:
    for name in names:
        yield _modify(name, f"MaxJobsPerUser={jobs}")
        yield _modify(name, f"MaxTRESPerUser=cpu={cpus}")


def _set_priorities(site: SiteSpec) -> Iterator[str]:
    yield from (_modify(name, f"Priority={round(one)}") for name, one in priorities(site).items())


def _terms(site: SiteSpec, preempted: Mapping[str, Iterable[str]], express: str) -> Iterator[str]:
    """How jobs of the QOS that others preempt make way."""
    preemption = site.preemption
    if preemption is None:
        return
    if preemption.express:
        yield _modify(express, f"MaxWall={duration(preemption.express)}")
    for name in dict.fromkeys(name for some in preempted.values() for name in some):
        yield _modify(name, f"GraceTime={preemption.grace:.0f}")
        yield _modify(name, f"PreemptMode={preempt_mode(preemption.mode)}")
        if preemption.exempt:
            yield _modify(name, f"PreemptExemptTime={duration(preemption.exempt)}")
