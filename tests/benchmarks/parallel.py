"""Whether every way to bring tasks to sites completes the parallel jobs of a real log.

    python -m tests.benchmarks.parallel             # the four ways, on three sites and under reservations
    python -m tests.benchmarks.parallel --search 24 # and the front of a search over them

Prints a table in Markdown: completed jobs, those that fit nowhere (counted from the log, not by the
simulator), mean response of the completed ones, pilots, idle slot-hours of pilots, control messages.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from gridtune.optimize.front.front import front
from gridtune.optimize.search import search
from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.simulation.simulate import simulate

WAYS = {
    "push": {"middleware.kind": "push"},
    "pull": {"middleware.kind": "pull"},
    "pilots, run-once": {"middleware.kind": "pilot", "middleware.pilot_mode": "run-once"},
    "pilots, filling": {"middleware.kind": "pilot", "middleware.pilot_mode": "filling"},
}
WIDEST = {"grid/kth": 100, "grid/kth-vres": 40}
METRICS = ("meta_completed", "meta_response_mean", "pilots", "pilot_idle", "messages")


def measured(scenario: Scenario, widest: int) -> tuple[int, int, dict[str, float]]:
    """Jobs that fit, jobs completed of these, and metrics of one run."""
    run = simulate(scenario, 1)
    fitting = [job for job in run.record.jobs if job.processors <= widest]
    values = {name: run.metrics[name].value for name in METRICS if name in run.metrics}
    return len(fitting), sum(job.state == "done" for job in fitting), values


def rows() -> Iterator[str]:
    """Rows of the table."""
    for name, widest in WIDEST.items():
        for way, settings in WAYS.items():
            fitting, done, values = measured(load(name).override(settings), widest)
            pilots = ""
            if "pilot_idle" in values:
                pilots = f"{values['pilots']:,.0f} | {values['pilot_idle'] / 3600:,.0f} h"
            yield (
                f"| `{name}` | {way} | {done:,} of {fitting:,} | {values['meta_response_mean']:,.0f} s "
                f"| {pilots or '|'} | {values['messages']:,.0f} |"
            )


def front_rows(budget: int) -> Iterator[str]:
    """Points of the front of a search over the three kinds, each run again."""
    scenario = load("grid/kth")
    for member in front(search(scenario, budget=budget, seed=1).archive).members:
        evaluation = member.evaluation
        fitting, done, values = measured(scenario.override(evaluation.values), WIDEST["grid/kth"])
        settings = ", ".join(f"{path.split('.')[-1]} {value}" for path, value in evaluation.values.items())
        yield f"| {settings} | {done:,} of {fitting:,} | {values['meta_response_mean']:,.0f} s |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--search", type=int, default=0, help="budget of a search; 0 for none")
    budget = parser.parse_args().search
    print("| scenario | way | completed | mean response | pilots | idle | messages |")
    print("|---|---|---|---|---|---|---|")
    for row in rows():
        print(row, flush=True)
    if budget:
        print("\n| point of the front | completed | mean response |\n|---|---|---|")
        for row in front_rows(budget):
            print(row, flush=True)


if __name__ == "__main__":
    main()
