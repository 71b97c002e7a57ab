"""RR-5335, figures 3 and 4: priorities, fallback, and where both end."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from statistics import fmean
from typing import Any

from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.reproduction.claims import (
    Claim,
    hypothesis,
)
from gridtune.scenarios.reproduction.deadline.figures import draw_counts
from gridtune.scenarios.reproduction.statistics import (
    Finding,
    always,
    difference,
    ratio,
)
from gridtune.scenarios.reproduction.workbench import Workbench

COUNTS = (100, 300, 500, 700, 1000, 1500, 2000)
OVERLOAD = 700  # tasks; from here on 100 servers cannot meet all deadlines
EXTREME = 10_000
QUICK = 5  # at reduced size there are so many times fewer servers and tasks
QUICK_COUNTS = (100, 800, 1500)  # before that; gains by 700 tasks are lost in chance there


Counted = dict[str, dict[int, list[float]]]  # executed tasks in each replication, by setting and number


@dataclass(frozen=True)
class Curves:
    """Executed tasks over the number of tasks, under two settings, in the same replications.

    Attributes:
        first: values of one setting by number of tasks.
        second: values of the other.
    """

    first: dict[int, list[float]]
    second: dict[int, list[float]]

    def gain(self, count: int, *, low: float = -inf, high: float = inf) -> Finding:
        """Tasks that the second executes more, and in which range that is expected."""
        return Finding(
            f"tasks more at N = {count}",
            difference(self.second[count], self.first[count]),
            low,
            high,
            strict=True,
        )

    def growth(self, few: int, many: int) -> Finding:
        """The gain with many tasks, minus that with few."""
        more, less = (
            [b - a for a, b in zip(self.first[count], self.second[count], strict=True)]
            for count in (many, few)
        )
        return Finding(f"gain at N = {many}, minus that at {few}", difference(more, less), low=0, strict=True)


def scaled(bench: Workbench, count: int) -> int:
    """A number of tasks or servers, or its part at reduced size."""
    return count // bench.choose(1, QUICK)


def sized(bench: Workbench, name: str) -> Scenario:
    """A scenario with its 100 servers, or with fewer at reduced size."""
    return load(f"deadline/{name}").override({"server.count": scaled(bench, 100)})


def numbers(bench: Workbench) -> list[int]:
    """The numbers of tasks, from few to many."""
    return [scaled(bench, count) for count in bench.choose(COUNTS, QUICK_COUNTS)]


def sweep(bench: Workbench, name: str, figure: str, path: str, settings: dict[str, Any]) -> Counted:
    """Sweep the number of tasks under several settings of one value, and draw a curve of each."""
    counts = numbers(bench)
    scenario = sized(bench, name)
    configurations = [
        {"workload.count": count, path: value} for value in settings.values() for count in counts
    ]
    executed = iter([values["executed"] for values in bench.evaluate(scenario, configurations)])
    made = {label: {count: next(executed) for count in counts} for label in settings}
    draw_counts(bench.figure(figure), scenario.spec.title, made)
    return made


def compare(bench: Workbench, name: str, figure: str, path: str, settings: dict[str, Any]) -> Curves:
    """A sweep under two settings."""
    return Curves(*sweep(bench, name, figure, path, settings).values())


FALLBACK = {"without fallback": "none", "with fallback": "displaced"}


def overloaded(bench: Workbench) -> list[int]:
    """The numbers of tasks that the servers cannot do in time."""
    return [count for count in numbers(bench) if count >= scaled(bench, OVERLOAD)]


def priorities(bench: Workbench) -> list[Claim]:
    """Figure 3: equal against random priorities, without fallback."""
    settings = {"same priority": 5, "random priority": {"low": 1, "high": 10}}
    made = compare(bench, "fig3", "figure-3", "workload.priority", settings)
    few = scaled(bench, 100)
    return [
        hypothesis(
            "P2a",
            "fig3",
            "fewer tasks are executed with equal priorities than with random ones",
            "figure 3",
            *(made.gain(count, low=0) for count in overloaded(bench)),
        ),
        hypothesis(
            "P2b",
            "fig3",
            "with few tasks, the effect of priorities is negligible",
            "section 5",
            Finding(
                f"executed with random priorities, over equal ones, N = {few}",
                ratio(made.second[few], made.first[few]),
                0.98,
                1.02,
            ),
        ),
    ]


def without_priority(bench: Workbench) -> list[Claim]:
    """Figure 4(a): fallback among tasks of equal priority."""
    made = compare(bench, "fig4a", "figure-4a", "agent.routing.fallback", FALLBACK)
    same = [
        all(made.first[count][k] == made.second[count][k] for count in made.first)
        for k in range(bench.replications)
    ]
    return [
        hypothesis(
            "P3",
            "fig4a",
            "fallback has no effect if all priorities are equal",
            "figure 4(a)",
            always("as many tasks executed with and without", same),
        )
    ]


READINGS = {
    "without fallback": {"kind": "priority", "fallback": "none"},
    "with fallback": {"kind": "priority", "fallback": "displaced", "unplaced": "stay"},
    "with fallback that rejects": {"kind": "priority", "fallback": "displaced", "unplaced": "reject"},
}


def with_priority(bench: Workbench, name: str, part: str, tasks: str) -> list[Claim]:
    """Figures 4(b) to 4(d): fallback among tasks of random priority, in two readings."""
    without, stay, reject = sweep(bench, name, f"figure-4{part}", "agent.routing", READINGS).values()
    source, counts = f"figure 4({part})", overloaded(bench)
    few, many = scaled(bench, 100), counts[0]
    late = 1 - fmean(without[many]) / many
    claims = []
    for ids, curves, reading in (
        (("P4a", "P4b"), Curves(without, stay), ""),
        (("P4c", "P4d"), Curves(without, reject), ', with `unplaced = "reject"`'),
    ):
        claims += [
            hypothesis(
                ids[0],
                name,
                f"more tasks are executed with fallback ({tasks}){reading}",
                source,
                *(curves.gain(count, low=0) for count in counts),
                reason=f"the paper states neither sizes nor N. With gridtune's, {late:.0%} of "
                f"{many} tasks are late without fallback: it can gain at most these",
            ),
            hypothesis(
                ids[1],
                name,
                f"the gain by fallback grows with the number of tasks ({tasks}){reading}",
                source,
                curves.growth(many, counts[-1]),
                Finding(
                    f"executed with fallback, over without, N = {few}",
                    ratio(curves.second[few], curves.first[few]),
                    low=0.995,
                ),
            ),
        ]
    return claims


def limits(bench: Workbench) -> list[Claim]:
    """Where figure 4 ends: very unequal sizes, and far more tasks than servers can do."""
    wide = compare(bench, "wide-sizes", "wide-sizes", "agent.routing.fallback", FALLBACK)
    twice = scaled(bench, 2 * OVERLOAD)
    configurations = [
        {"workload.count": EXTREME, "agent.routing.fallback": fallback} for fallback in FALLBACK.values()
    ]
    # Not at reduced size: what few servers lose by it is nothing.
    without, with_ = (values["executed"] for values in bench.evaluate(load("deadline/fig4c"), configurations))
    speeds = {"server.speed": {"law": "uniform", "low": 0.5, "high": 1.5}, "workload.count": twice}
    mixed = [speeds | {"agent.routing.fallback": fallback} for fallback in FALLBACK.values()]
    kept, fallen = (values["executed"] for values in bench.evaluate(sized(bench, "fig4b"), mixed))
    source = "not in the paper"
    return [
        hypothesis(
            "P5a",
            "limits",
            "if sizes range over 3.5 decades (10 s to 8.8 h), fewer tasks are executed with fallback",
            source,
            *(wide.gain(count, high=0) for count in overloaded(bench)[1:]),
        ),
        hypothesis(
            "P5b",
            "limits",
            f"under extreme overload (N = {EXTREME:,}), fewer tasks are executed with fallback",
            source,
            Finding(
                f"tasks more at N = {EXTREME} (tasks below 15 min)",
                difference(with_, without),
                high=0,
                strict=True,
            ),
        ),
        hypothesis(
            "P5c",
            "limits",
            "more tasks are executed with fallback on servers of different speeds, too",
            "section 5 (whose servers are not described)",
            Finding(
                f"tasks more at N = {twice}, speeds from 0.5 to 1.5",
                difference(fallen, kept),
                low=0,
                strict=True,
            ),
        ),
    ]
