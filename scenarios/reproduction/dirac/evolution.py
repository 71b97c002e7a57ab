"""RR-5576, figure 7: tasks over time under push and pull."""

from __future__ import annotations

from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.reproduction.claims import (
    Claim,
    definition,
    hypothesis,
)
from gridtune.scenarios.reproduction.dirac.figures import (
    counts_over_time,
    draw_evolution,
)
from gridtune.scenarios.reproduction.dirac.runs import (
    DEDICATED,
    PULL,
    PUSH,
    SAMPLED,
    STRATEGIES,
    run_strategy,
    settled,
)
from gridtune.scenarios.reproduction.statistics import (
    Finding,
    always,
    difference,
    share,
)
from gridtune.scenarios.reproduction.workbench import Workbench

PHASE = 300.0  # s; the least that makes a phase of saturation


def evolution(bench: Workbench) -> list[Claim]:
    """Figure 7: tasks queued, running and done over time on dedicated sites."""
    configurations = [STRATEGIES[name] | SAMPLED for name in (PUSH, PULL)]
    push, pull = bench.measure(load(DEDICATED), configurations, settled)
    drawn = {name: counts_over_time(run_strategy(DEDICATED, name, bench.seed)) for name in (PUSH, PULL)}
    draw_evolution(bench.figure("figure-7"), drawn)
    return [
        *(
            hypothesis(
                known,
                "evolution",
                f"under {name}, all 60 slots are busy at the same time for {PHASE:g} s or longer",
                "figure 7",
                Finding(
                    f"{PHASE:g} s or more with 60 running",
                    share([seconds >= PHASE for seconds in made["saturated"]]),
                    low=0.5,
                    strict=True,
                ),
                reason=f"true in {sum(one >= PHASE for one in made['saturated'])} of "
                f"{len(made['saturated'])} runs",
            )
            for known, name, made in (("P1a", PUSH, push), ("P1b", PULL, pull))
        ),
        definition(
            "P1c",
            "evolution",
            "under pull, few tasks wait at the sites",
            "figure 7b",
            always("at most 6 at each of 3 sites", [queued <= 18 for queued in pull["most_queued"]]),
            reason="site agents ask for no task while 6 or more tasks wait (`availability_epsilon` 0.3, "
            "times 20 slots)",
        ),
        hypothesis(
            "P1d",
            "evolution",
            "while all slots are busy, the number of tasks that wait at sites is constant under pull, not "
            "under push",
            "figure 7",
            Finding(
                "standard deviation over time, minus that under push, of runs with such phases",
                difference(*_both(pull["spread"], push["spread"])),
                high=0,
                strict=True,
            ),
        ),
    ]


def _both(first: list[float], second: list[float]) -> tuple[list[float], list[float]]:
    """The values of those runs in which there are both."""
    there = [(a, b) for a, b in zip(first, second, strict=True) if a == a and b == b]
    return [a for a, _ in there], [b for _, b in there]
