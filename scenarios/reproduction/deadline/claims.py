"""RR-5335: the experiments of deadline scheduling with priority, figures 2 to 4 and their claims."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import inf
from statistics import fmean
from typing import Any

from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.reproduction.claims import (
    Claim,
    Experiment,
    Paper,
    contradiction,
    hypothesis,
)
from gridtune.scenarios.reproduction.deadline.figures import draw_counts, draw_errors, draw_gantt
from gridtune.scenarios.reproduction.statistics import (
    Finding,
    always,
    difference,
    exactly,
    mean,
    ratio,
)
from gridtune.scenarios.reproduction.workbench import Values, Workbench
from gridtune.scenarios.results.run import Run
from gridtune.scenarios.simulation.simulate import simulate

COUNTS = (100, 300, 500, 700, 1000, 1500, 2000)
FEW = (100, 700, 1000)
OVERLOAD = 700  # tasks; from here on 100 servers cannot meet all deadlines
EXTREME = 10_000

# Where each task runs and when, and which queues it was taken out of (section 4.3).
EXAMPLE = {1: ("S3", 0, 6), 2: ("S1", 0, 5), 3: ("S3", 6, 21), 4: ("S1", 5, 15), 5: ("S2", 0, 14)}
MOVES = [
    ("assigned", 1, "S1"),
    ("assigned", 2, "S1"),
    ("assigned", 3, "S3"),
    ("assigned", 4, "S1"),
    ("fallback", 1, "S1"),
    ("resubmitted", 1, "S2"),
    ("assigned", 5, "S2"),
    ("fallback", 1, "S2"),
    ("resubmitted", 1, "S3"),
]

DECISIONS = ("assigned", "fallback", "resubmitted", "rejected")  # events of the journal

ERRORS: dict[str, dict[str, float]] = {
    "none": {},
    "bias 0.5": {"bias": 0.5},
    "bias 2": {"bias": 2.0},
    "uneven (0.5)": {"spread": 0.5},
    "noise (0.5)": {"noise": 0.5},
    "bias 0.5, uneven, noise": {"bias": 0.5, "spread": 0.5, "noise": 0.5},
}
ALGORITHMS = {
    "greedy": ("greedy", "none"),
    "algorithm 1": ("mct", "none"),
    "algorithm 2": ("mct", "average"),
    "algorithm 2 as printed": ("mct", "listing"),
    "algorithm 3": ("priority", "none"),
    "algorithm 3, corrected": ("priority", "average"),
}


def example(bench: Workbench) -> list[Claim]:
    """Table 1 and figure 2: five tasks on three servers. Nothing in it is drawn."""
    claims: list[Claim] = []
    for unplaced, letters in (("stay", "abc"), ("reject", "def")):
        chosen = load("deadline/example").override({"agent.routing.unplaced": unplaced})
        run = simulate(chosen, bench.seed, keep_events=True)
        claims += _example(run, letters, f" (a task without another place: {unplaced})")
    draw_gantt(bench.figure("figure-2"), run)
    return claims


def _example(run: Run, letters: str, reading: str) -> list[Claim]:
    journal = run.record.journal or []
    made = {job.id: (job.site, job.start, job.end) for job in run.record.jobs}
    moves = [(event, job, site) for _, event, job, site, _ in journal if event in DECISIONS]
    right = sum(place == EXAMPLE.get(job) for job, place in made.items())
    return [
        hypothesis(
            f"P1{letters[0]}",
            "example",
            f"task 1 goes to S1, is displaced by task 4 to S2 and by task 5 to S3{reading}",
            "section 4.3",
            Finding(
                "decisions as in the paper, one after the other",
                exactly(_agreeing(moves)),
                len(MOVES),
                len(MOVES),
            ),
            Finding("decisions", exactly(len(moves)), len(MOVES), len(MOVES)),
        ),
        hypothesis(
            f"P1{letters[1]}",
            "example",
            f"final allocation S1 [2, 4], S2 [5], S3 [1, 3]{reading}",
            "table 1, figure 2",
            Finding("tasks that run where and when they should", exactly(right), len(EXAMPLE), len(EXAMPLE)),
        ),
        hypothesis(
            f"P1{letters[2]}",
            "example",
            f"all five tasks meet their deadlines{reading}",
            "table 1",
            Finding("tasks executed", exactly(run.metrics["executed"].value), 5, 5),
        ),
    ]


def _agreeing(moves: list[tuple[str, int, str]]) -> int:
    """How many decisions are those of the paper before the first that is not."""
    agreeing = 0
    for made, expected in zip(moves, MOVES, strict=False):
        if made != expected:
            break
        agreeing += 1
    return agreeing


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
        """The gain with many tasks, less that with few."""
        more, less = (
            [b - a for a, b in zip(self.first[count], self.second[count], strict=True)]
            for count in (many, few)
        )
        return Finding(f"gain at N = {many}, less that at {few}", difference(more, less), low=0, strict=True)


def sweep(bench: Workbench, name: str, figure: str, path: str, settings: dict[str, Any]) -> Counted:
    """Sweep the number of tasks under several settings of one value, and draw a curve of each."""
    counts = bench.choose(COUNTS, FEW)
    scenario = load(f"deadline/{name}")
    points = [{"workload.count": count, path: value} for value in settings.values() for count in counts]
    executed = iter([values["executed"] for values in bench.evaluate(scenario, points)])
    made = {label: {count: next(executed) for count in counts} for label in settings}
    draw_counts(bench.figure(figure), scenario.spec.title, made)
    return made


def compare(bench: Workbench, name: str, figure: str, path: str, settings: dict[str, Any]) -> Curves:
    """A sweep under two settings."""
    return Curves(*sweep(bench, name, figure, path, settings).values())


FALLBACK = {"without fallback": "none", "with fallback": "displaced"}


def overloaded(bench: Workbench) -> list[int]:
    """The numbers of tasks that 100 servers cannot do in time."""
    return [count for count in bench.choose(COUNTS, FEW) if count >= OVERLOAD]


def priorities(bench: Workbench) -> list[Claim]:
    """Figure 3: equal against random priorities, without fallback."""
    settings = {"same priority": 5, "random priority": {"low": 1, "high": 10}}
    made = compare(bench, "fig3", "figure-3", "workload.priority", settings)
    return [
        hypothesis(
            "P2a",
            "fig3",
            "fewer tasks of equal priority are executed than of random priority",
            "figure 3",
            *(made.gain(count, low=0) for count in overloaded(bench)),
        ),
        hypothesis(
            "P2b",
            "fig3",
            "with few tasks the impact of priorities is negligible",
            "section 5",
            Finding(
                "executed with random priorities, over equal ones, N = 100",
                ratio(made.second[100], made.first[100]),
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
    late = 1 - fmean(without[OVERLOAD]) / OVERLOAD
    claims = []
    for ids, curves, reading in (
        (("P4a", "P4b"), Curves(without, stay), ""),
        (("P4c", "P4d"), Curves(without, reject), ", if a task that finds no other place is rejected"),
    ):
        claims += [
            hypothesis(
                ids[0],
                name,
                f"fallback executes more tasks ({tasks}){reading}",
                source,
                *(curves.gain(count, low=0) for count in counts),
                reason=f"the paper states neither sizes nor N; with ours {late:.0%} of "
                f"{OVERLOAD} tasks are late "
                "late without fallback, which is all that it could gain there",
            ),
            hypothesis(
                ids[1],
                name,
                f"its use grows with the number of tasks ({tasks}){reading}",
                source,
                curves.growth(OVERLOAD, counts[-1]),
                Finding(
                    "executed with fallback, over without, N = 100",
                    ratio(curves.second[100], curves.first[100]),
                    low=0.995,
                ),
            ),
        ]
    return claims


def limits(bench: Workbench) -> list[Claim]:
    """Where figure 4 ends: very unequal sizes, and far more tasks than servers can do."""
    wide = compare(bench, "wide-sizes", "wide-sizes", "agent.routing.fallback", FALLBACK)
    extreme = bench.choose(EXTREME, 4 * OVERLOAD)
    points = [
        {"workload.count": extreme, "agent.routing.fallback": fallback} for fallback in FALLBACK.values()
    ]
    without, with_ = (values["executed"] for values in bench.evaluate(load("deadline/fig4c"), points))
    speeds = {"server.speed": {"law": "uniform", "low": 0.5, "high": 1.5}, "workload.count": 2 * OVERLOAD}
    mixed = [speeds | {"agent.routing.fallback": fallback} for fallback in FALLBACK.values()]
    kept, fallen = (values["executed"] for values in bench.evaluate(load("deadline/fig4b"), mixed))
    source = "not in the paper, which states neither sizes nor N"
    return [
        hypothesis(
            "P5a",
            "limits",
            "sizes over 3.5 decades reverse the gain of fallback",
            source,
            *(wide.gain(count, high=0) for count in overloaded(bench)[1:]),
        ),
        hypothesis(
            "P5b",
            "limits",
            "extreme overload reverses the gain of fallback",
            source,
            Finding(
                f"tasks more at N = {extreme} (tasks below 15 min)",
                difference(with_, without),
                high=0,
                strict=True,
            ),
        ),
        hypothesis(
            "P5c",
            "limits",
            "fallback executes more tasks on servers of different speeds, too",
            "section 5 (whose servers are not described)",
            Finding(
                f"tasks more at N = {2 * OVERLOAD}, speeds from 0.5 to 1.5",
                difference(fallen, kept),
                low=0,
                strict=True,
            ),
        ),
    ]


def forecast_error(bench: Workbench) -> list[Claim]:
    """Algorithms 1 to 3 under wrong forecasts."""
    keys = [(error, algorithm) for error in ERRORS for algorithm in ALGORITHMS]
    points = [
        {
            "agent.routing": ALGORITHMS[algorithm][0],
            "agent.correction": ALGORITHMS[algorithm][1],
            "agent.forecast": {"kind": "nws", **ERRORS[error]},
        }
        for error, algorithm in keys
    ]
    size = bench.choose({}, {"workload.count": 100})
    runs = bench.evaluate(load("deadline/forecast-error").override(size), points)
    made: dict[tuple[str, str], Values] = dict(zip(keys, runs, strict=True))
    draw_errors(bench.figure("forecast-error"), made, list(ERRORS), list(ALGORITHMS))
    helped = [error for error in ERRORS if error not in ("none", "bias 2")]

    def fewer(plain: str, corrected: str) -> list[Finding]:
        return [
            Finding(
                f"share of deadlines missed less ({error})",
                difference(made[error, plain]["missed_fraction"], made[error, corrected]["missed_fraction"]),
                low=0,
                strict=True,
            )
            for error in helped
        ]

    def forecasts(algorithm: str, low: float, high: float) -> list[Finding]:
        return [
            Finding(
                f"forecast over actual time ({error})",
                mean(made[error, algorithm]["forecast_ratio"]),
                low,
                high,
            )
            for error in ("bias 0.5", "bias 2")
        ]

    left = {bias: settled_ratio(bias) for bias in (0.5, 2.0)}
    return [
        hypothesis(
            "P6a",
            "forecast-error",
            "correction removes a bias of forecasts",
            "section 4.2, algorithm 2",
            *forecasts("algorithm 2", 0.85, 1.15),
        ),
        contradiction(
            "P6b",
            "forecast-error",
            "correction removes a bias as the algorithm is printed",
            "algorithm 2",
            *forecasts("algorithm 2 as printed", 0.85, 1.15),
            clash=any(abs(ratio - 1) > 0.15 for ratio in left.values()),
            arithmetic="the listing overwrites the forecast by its corrected value "
            "before it forms the ratio. Its "
            "recursion settles at forecasts of "
            + " and ".join(
                f"{ratio:.2f} times the actual time under a bias of {bias:g}" for bias, ratio in left.items()
            ),
        ),
        hypothesis(
            "P6c",
            "forecast-error",
            "algorithm 2 misses fewer deadlines than algorithm 1",
            "section 4.2",
            *fewer("algorithm 1", "algorithm 2"),
            reason="forecasts that are too long for all servers alike leave their order "
            "as it is and so do no harm",
        ),
        hypothesis(
            "P6d",
            "forecast-error",
            "correction helps deadline scheduling too (algorithm 3)",
            "sections 2 and 4.2",
            *fewer("algorithm 3", "algorithm 3, corrected"),
            reason="forecasts that are too long are a margin of safety, which correction takes away",
        ),
    ]


def settled_ratio(bias: float, tasks: int = 10_000) -> float:
    """Forecast over actual time where algorithm 2 as printed settles, for forecasts off by a factor.

    The listing: T is multiplied by Correc / 100, and after the execution Correc becomes
    (n Correc + 100 T_real / T) / (n + 1), with that T.
    """
    correction, forecast = 100.0, bias
    for n in range(tasks):
        forecast = bias * correction / 100
        correction = (n * correction + 100 / forecast) / (n + 1)
    return forecast


PAPER = Paper(
    "deadline",
    "Deadline scheduling with priority for client-server systems on the Grid (RR-5335)",
    (
        Experiment("example", "Five tasks on three servers", example),
        Experiment("fig3", "Equal and random priorities", priorities),
        Experiment("fig4a", "Fallback among equal priorities", without_priority),
        Experiment(
            "fig4b",
            "Fallback among random priorities",
            partial(with_priority, name="fig4b", part="b", tasks="all sizes"),
        ),
        Experiment(
            "fig4c",
            "Fallback among short tasks",
            partial(with_priority, name="fig4c", part="c", tasks="below 15 min"),
        ),
        Experiment(
            "fig4d",
            "Fallback among long tasks",
            partial(with_priority, name="fig4d", part="d", tasks="above 4 h"),
        ),
        Experiment("limits", "Where fallback does harm", limits),
        Experiment("forecast-error", "Wrong forecasts and their correction", forecast_error),
    ),
)
