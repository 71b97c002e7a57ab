"""What QOS say of a site: who preempts whom, priorities and limits, and what of it has no counterpart.

Source: sacctmgr(1), slurm.conf(5), `preempt/qos` and the multifactor priority plug-in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isinf
from typing import Any

from gridtune.model.batch.priority import HIGHEST
from gridtune.scenarios.slurm.conf import Line, SlurmConf, number, seconds
from gridtune.scenarios.slurm.known import FLAGS, QOS

MODES = ("requeue", "suspend", "cancel")
OTHERS = ("within", "priority")  # further words of PreemptMode
YOUNGEST = "youngest_first"
ORDER = "whom a job preempts: here the lowest level, then the youngest; in Slurm, QOS priority and size count"


@dataclass(frozen=True)
class SiteQos:
    """The QOS of a site, as far as jobs of a log have them.

    Attributes:
        conf: slurm.conf.
        levels: a line for each QOS.
        used: names of the QOS that jobs of the log have, "" if some have none. Where the log names none,
            whoever promises to run as shortly as the QOS demands that preempts others counts as of that QOS.
    """

    conf: SlurmConf
    levels: Sequence[Line]
    used: Collection[str]

    @cached_property
    def named(self) -> set[str]:
        """The QOS that the log names."""
        return {name for name in self.used if name}

    @cached_property
    def priorities(self) -> dict[str, float]:
        """Priorities of the QOS that jobs have, and the highest of all: over that one, each is a factor."""
        every = {one["name"]: number(one, "priority", "0", _name(one)) for one in self.levels}
        theirs = {name: one for name, one in every.items() if name in self.named and "." not in name}
        highest = max(every.values(), default=0.0)
        if not any(theirs.values()):
            return {}
        return theirs if highest in theirs.values() else theirs | {HIGHEST: highest}

    @cached_property
    def ranks(self) -> dict[str, float]:
        """The QOS that jobs have, each above all of them that it preempts; empty if none does."""
        ranks = {level["name"]: 0.0 for level in self.levels if level["name"] in self.named}
        for _ in ranks:  # the longest chain has one of each
            for level in self.levels:
                below = [ranks[name] for name in self.preempted(level) & ranks.keys()]
                if level["name"] in ranks and below:
                    ranks[level["name"]] = max(below) + 1.0
        return ranks if self._preempting and any(ranks.values()) else {}

    @cached_property
    def express(self) -> Line | None:
        """The QOS with the shortest limit that preempts others; None where the log names its own."""
        able = self.levels if self._preempting and not self.named else ()
        able = [one for one in able if self.preempted(one) and 0 < _longest(one) < inf]
        return min(able, key=_longest, default=None)

    @property
    def _preempting(self) -> bool:
        return self.conf.options.get("preempttype", "").lower() == "preempt/qos"

    def preempted(self, level: Line) -> set[str]:
        """Names of the other QOS that one preempts, but for those that are spared; not all may be listed."""
        names = {name.strip() for name in level.get("preempt", "").split(",")} - {"", level["name"]}
        return {name for name in names if self._modes.get(name, self._mode(Line())) != "off"}

    @cached_property
    def _modes(self) -> dict[str, str]:
        """What becomes of jobs of each QOS that make way."""
        return {level["name"]: self._mode(level) for level in self.levels}

    def _mode(self, victim: Line) -> str:
        """What becomes of jobs of a QOS that make way."""
        for text in (victim.get("preemptmode", ""), self.conf.options.get("preemptmode", "")):
            for word in text.lower().split(","):
                if word in ("off", *MODES):
                    return word
        return "requeue"

    @cached_property
    def _victims(self) -> list[Line]:
        """The QOS that are preempted."""
        if self.express is not None:
            names = self.preempted(self.express)
        else:
            able = [self.preempted(level) for level in self.levels if self.ranks.get(level["name"])]
            names = set().union(*able) & self.ranks.keys()
        return [level for level in self.levels if level["name"] in names]

    def preemption(self) -> dict[str, Any]:
        """How jobs make way for others, by key of the site; the first QOS that is preempted says so."""
        if self.express is not None:
            made: dict[str, Any] = {"preemption.express": _longest(self.express)}
        elif self.ranks:
            made = {"preemption.qos": self.ranks}
        else:
            return {}
        return made | self._terms(next(iter(self._victims), Line()))

    def _terms(self, victim: Line) -> dict[str, Any]:
        mode = self._mode(victim)
        made: dict[str, Any] = {"preemption.mode": mode}
        grace = _grace(victim)
        if 0 < grace < inf and mode != "suspend":
            made["preemption.grace"] = grace
        line = victim if victim.get("preemptexempttime") else self.conf.options
        exempt = seconds(line, "PreemptExemptTime", "0", _name(victim) if line is victim else "")
        if 0 < exempt < inf:
            made["preemption.exempt"] = exempt
        return made

    def limits(self) -> Iterator[tuple[str, float]]:
        """Limits of users, by key of the site, of the only QOS; each of several limits its jobs alone."""
        only = self.levels[0] if len(self.levels) == 1 else {}
        if only.get("maxjobspu"):
            yield "quota.user_running", number(only, "maxjobspu", "", _name(only))
        limits = _tres(only)
        if limits.get("cpu"):
            yield "quota.user_slots", number(limits, "cpu", "", f"{_name(only)} maxtrespu")

    def without(self) -> Iterator[str]:
        """What has no counterpart, a line each."""
        basic = self.conf.options.get("prioritytype", "").lower() == "priority/basic"
        if number(self.conf.options, "PriorityWeightQOS", "0") and not (basic or self.priorities):
            yield "PriorityWeightQOS: no QOS of the log's jobs is known to have a priority"
        if self._preempting:
            mode = self.conf.options.get("preemptmode", "")
            yield from (f"PreemptMode={mode}: {word}" for word in OTHERS if word in mode.lower().split(","))
            if not (self.ranks or self.express):
                yield "PreemptType=preempt/qos: no QOS of the log's jobs is known to preempt another"
            elif YOUNGEST not in self.conf.options.get("preemptparameters", "").lower() and (
                f"preempt_{YOUNGEST}" not in self.conf.parameters
            ):
                yield ORDER
        if self.express is not None:
            name, limit = self.express["name"], self.express["maxwall"]
            yield f"the log names no QOS: jobs of at most {limit} count as {name}, and preempt all others"
        if self.levels:
            listed = {level["name"] for level in self.levels}
            for name in sorted(self.named - listed):
                yield f"QOS {name} of the log: is not listed; here of the lowest level, without a priority"
        if self.named and "" in self.used:
            yield "jobs of the log without a QOS: here they are of the lowest level, without its priority"
        for level in self.levels:
            yield from (f"{_name(level)} {line}" for line in (*self._words(level), *self._making(level)))

    def _words(self, level: Line) -> Iterator[str]:
        """Limits, factors and flags of a QOS."""
        name = level["name"]
        yield from (f"{key}={value}" for key, value in level.items() if QOS.decides(key, value))
        if number(level, "usagefactor", "1", _name(level)) != 1:
            yield f"usagefactor={level['usagefactor']}"
        if "." in name and name in self.named and number(level, "priority", "0", _name(level)):
            yield f"priority={level['priority']}: has a dot in its name"
        flags = [flag.strip() for flag in level.get("flags", "").split(",")]
        yield from (f"flags {flag}" for flag in flags if flag.upper() not in FLAGS)
        for key in ("maxjobspu", "maxtrespu"):
            if level.get(key) and len(self.levels) > 1:
                yield f"{key}={level[key]}: limits of one QOS of several are not simulated"
        for unit, value in _tres(level).items():
            if unit != "cpu" and len(self.levels) == 1:
                yield f"maxtrespu {unit}={value}"

    def _making(self, level: Line) -> Iterator[str]:
        """Whom a QOS preempts otherwise than here, and how its jobs make way."""
        name, rank, theirs = level["name"], self.ranks.get(level["name"], 0.0), self.preempted(level)
        if rank:
            more = [other for other, one in self.ranks.items() if one < rank and other not in theirs]
            less = [other for other, one in self.ranks.items() if one >= rank and other in theirs]
            yield from [f"preempt={level['preempt']}: here, {','.join(more)}, too"] if more else []
            yield from [f"preempt={level['preempt']}: here, not {','.join(less)}"] if less else []
        elif self._preempting and level is not self.express and theirs:
            yield f"preempt={level['preempt']}"
        if level is not self.express and name not in self.named and level.get("maxwall"):  # jobs kept theirs
            yield f"maxwall={level['maxwall']}"
        mode = level.get("preemptmode", "")
        yield from (f"preemptmode={mode}: {word}" for word in OTHERS if word in mode.lower().split(","))
        if level in self._victims and isinf(_grace(level)):
            yield f"gracetime={level['gracetime']}"
        if level in self._victims[1:] and self._terms(level) != self._terms(self._victims[0]):
            yield f"makes way as {self._victims[0]['name']} does: mode, gracetime and preemptexempttime"


def _name(level: Line) -> str:
    return f"QOS {level.get('name', '')}"


def _longest(level: Line) -> float:
    """The longest time that a job of a QOS may ask for, s."""
    return seconds(level, "maxwall", "UNLIMITED", _name(level))


def _grace(level: Line) -> float:
    """The time that a job of a QOS has between signal and preemption, s."""
    return seconds(level, "gracetime", "0", _name(level), 1.0)


def _tres(level: Mapping[str, str]) -> dict[str, str]:
    return dict(part.split("=", 1) for part in level.get("maxtrespu", "").split(",") if "=" in part)
