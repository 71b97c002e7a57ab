"""RR-5335, table 1 and figure 2: five tasks on three servers."""

from __future__ import annotations

from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.reproduction.claims import (
    Claim,
    hypothesis,
)
from gridtune.scenarios.reproduction.deadline.figures import draw_gantt
from gridtune.scenarios.reproduction.statistics import (
    Finding,
    exactly,
)
from gridtune.scenarios.reproduction.workbench import Workbench
from gridtune.scenarios.results.run import Run
from gridtune.scenarios.simulation.simulate import simulate

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


def example(bench: Workbench) -> list[Claim]:
    """Table 1 and figure 2: five tasks on three servers. Nothing in it is drawn."""
    claims: list[Claim] = []
    for unplaced, letters in (("stay", "abc"), ("reject", "def")):
        chosen = load("deadline/example").override({"agent.routing.unplaced": unplaced})
        run = simulate(chosen, bench.seed, keep_events=True)
        claims += _example(run, letters, f' (`unplaced = "{unplaced}"`)')
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
            f"task 1 goes to server S1; task 4 moves it to S2; then task 5 moves it to S3{reading}",
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
            f"in the end, S1 runs tasks 2 and 4, S2 task 5, and S3 tasks 1 and 3{reading}",
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
