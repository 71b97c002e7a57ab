"""BatCiGri: the harvesting scenario of hal-04101015, its figures 3 to 5 and its claims."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from statistics import fmean, stdev
from time import perf_counter
from typing import Any

import numpy as np

from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.reproduction.batcigri.figures import (
    draw_errors,
    draw_gantt,
    draw_overhead,
    draw_signals,
)
from gridtune.scenarios.reproduction.batcigri.measured import Quality, executions, quality, signals
from gridtune.scenarios.reproduction.claims import Claim, Experiment, Paper, Workbench, verdict
from gridtune.scenarios.results.files import replace
from gridtune.scenarios.results.run import Run
from gridtune.scenarios.simulation.simulate import simulate

SCENARIO = "cigri/batcigri"
HARVESTER = "cigri"
CONTROLLER = "harvester.controller"
PRIORITY = (2000.0, 3800.0)  # s
ROUNDS: Mapping[str, Any] = {"site.rounds": {"gap": 5.0, "period": 60.0, "duration": 5.0}}

CONTROLLERS: dict[str, Mapping[str, Any]] = {
    "PI, 10 cycles": {},
    "PI, 20 cycles": {f"{CONTROLLER}.kp": 0.330, f"{CONTROLLER}.ki": 0.069},
    "PI, 4 cycles": {f"{CONTROLLER}.kp": 0.865, f"{CONTROLLER}.ki": 0.768},
    "P, 0.3": {CONTROLLER: {"kind": "p", "kp": 0.3}},
    "model-free P": {CONTROLLER: {"kind": "mfc", "alpha": 0.01, "kp": 0.1, "scale": 64.0}},
    "tap": {CONTROLLER: "tap"},
    "wait for the batch": {CONTROLLER: "wait-batch"},
    "wait, batch up to 32": {CONTROLLER: {"kind": "wait-batch", "maximum": 32}},
}


def scenario(bench: Workbench) -> list[Claim]:
    """Section 4.1: signals and schedule of the simulated experiment, with and without OAR's rounds."""
    began = perf_counter()
    run = simulate(load(SCENARIO), bench.seed, keep_events=True)
    seconds = perf_counter() - began
    lagging = simulate(load(SCENARIO).override(ROUNDS), bench.seed, keep_events=True)
    made, lagged = signals(run, HARVESTER), signals(lagging, HARVESTER)
    names = ("as simulated in the paper", "with scheduling rounds of 5 s")
    draw_signals(bench.figure("figure-4"), dict(zip(names, (made, lagged), strict=True)), PRIORITY)
    draw_gantt(bench.figure("figure-5"), {names[0]: executions(run), names[1]: executions(lagging)})
    return [*_regulated(run), *_schedule(run, seconds), *_gaps(run, lagging)]


def _regulated(run: Run) -> list[Claim]:
    made = signals(run, HARVESTER)
    time, occupied = made["time"], made["waiting"] + made["used"]
    mean = occupied[(time >= 600) & (time <= 3500)].mean()
    during = occupied[(time >= PRIORITY[0]) & (time < PRIORITY[1])].mean()
    full = quality(run, HARVESTER).full
    return [
        Claim(
            "G1", "scenario", "waiting and running jobs are regulated around 64", "section 4.1, figure 4",
            "mean of 60 to 68 from 600 to 3500 s", round(float(mean), 1), verdict(60 <= mean <= 68),
        ),
        Claim(
            "G1", "scenario", "the regulation holds during the priority job", "figure 4",
            "mean of 60 to 68 from 2000 to 3800 s", round(float(during), 1), verdict(60 <= during <= 68),
        ),
        Claim(
            "G2", "scenario", "the simulated cluster is always full", "section 4.4",
            "in at least 97 % of the cycles from the first start to the last submission", f"{full:.1%}",
            verdict(full >= 0.97),
            "jobs of equal length end together in waves, and the gains are not in the paper",
        ),
    ]  # fmt: skip


def _schedule(run: Run, seconds: float) -> list[Claim]:
    jobs = [job for job in run.record.jobs if not job.mandatory]
    killed = sum(execution.killed for execution in executions(run))
    at_once = all(2000 <= one.end <= 2000 for one in executions(run) if one.killed)
    done = sum(job.state == "done" for job in jobs)
    first = min(execution.start for execution in executions(run))
    end = run.metrics["makespan"].value
    return [
        Claim(
            "G3", "scenario", "the priority job kills the jobs on half of the cluster, which run again",
            "section 3.4, figure 5", "16 kills at 2000 s, 500 jobs done", f"{killed} kills, {done} done",
            verdict(killed == 16 and at_once and done == 500),
        ),
        Claim(
            "G4", "scenario", "an execution of the scenario takes around 1 h 20", "section 4.3",
            "4700 to 5050 s", round(end, 1), verdict(4700 <= end <= 5050),
        ),
        Claim(
            "G5", "scenario", "the first jobs start 90 s after the first submission", "section 3.6", "90 s",
            first, verdict(first == 90.0),
        ),
        Claim(
            "G6", "scenario", "a simulation needs seconds", "section 4.3", "at most 2 s", f"{seconds:.2f} s",
            verdict(seconds <= 2.0),
        ),
    ]  # fmt: skip


def _gaps(run: Run, lagging: Run) -> list[Claim]:
    ideal, real = quality(run, HARVESTER), quality(lagging, HARVESTER)
    return [
        Claim(
            "G7", "scenario", "OAR's scheduling rounds make gaps in the schedule", "section 4.5, figure 5",
            "full in 80 to 96 % of the cycles with rounds", f"{real.full:.1%} against {ideal.full:.1%}",
            verdict(0.80 <= real.full <= 0.96 and real.full < ideal.full),
        ),
        Claim(
            "G7", "scenario", "the gaps add a lag", "section 4.5", "ends 50 to 250 s later",
            f"{real.end - ideal.end:.0f} s", verdict(50 <= real.end - ideal.end <= 250),
        ),
    ]  # fmt: skip


def overhead(bench: Workbench) -> list[Claim]:
    """Figure 3: what OAR adds to every job."""
    mu, sigma = 1.04, 0.27
    run = simulate(load(SCENARIO), bench.seed)
    overheads = [job.end - job.start - job.runtime for job in run.record.jobs if not job.mandatory]
    draw_overhead(bench.figure("figure-3"), overheads, mu, sigma)
    logs = np.log(overheads).tolist()
    share = fmean(2 <= value < 4 for value in overheads)
    return [
        Claim(
            "G8", "overhead", "overheads follow a log-normal law", "section 3.6, figure 3",
            "parameters 1.04 and 0.27, each within 0.04", f"{fmean(logs):.3f} and {stdev(logs):.3f}",
            verdict(abs(fmean(logs) - mu) <= 0.04 and abs(stdev(logs) - sigma) <= 0.04),
        ),
        Claim(
            "G8", "overhead", "most overheads are around 2 and 3 seconds", "figure 3",
            "75 % or more from 2 up to 4 s", f"{share:.0%}", verdict(share >= 0.75),
        ),
    ]  # fmt: skip


def controllers(bench: Workbench) -> list[Claim]:
    """Section 2.2: the submission rules of CiGri against controllers, in the same scenario."""
    made: dict[str, Quality] = {}
    errors = {}
    for name, values in CONTROLLERS.items():
        run = simulate(_chosen(values), bench.seed)
        made[name] = quality(run, HARVESTER)
        found = signals(run, HARVESTER)
        window = (found["time"] >= 600) & (found["time"] <= 3500)
        errors[name] = 64.0 - (found["waiting"] + found["used"])[window]
    draw_errors(bench.figure("controllers"), errors, 64.0)
    _write_table(bench, made)
    pi = made["PI, 10 cycles"]
    claims = [_worse(pi, made[name], name) for name in ("tap", "wait for the batch")]
    static = made["P, 0.3"].mean
    return [
        *claims,
        Claim(
            "G9", "controllers", "a proportional controller alone keeps a static error",
            "control theory: jobs that end are a constant disturbance", "mean below 60 with gain 0.3",
            round(static, 1), verdict(static < 60),
        ),
    ]  # fmt: skip


def _chosen(values: Mapping[str, Any]) -> Scenario:
    return load(SCENARIO).override(values)


def _worse(pi: Quality, other: Quality, name: str) -> Claim:
    return Claim(
        "G9", "controllers", f"the rule '{name}' uses the cluster less than a PI controller", "section 2.2",
        "lower utilisation and a later end",
        f"{other.utilisation:.1%} against {pi.utilisation:.1%}, {other.end:.0f} s against {pi.end:.0f} s",
        verdict(other.utilisation < pi.utilisation and other.end > pi.end),
    )  # fmt: skip


def _write_table(bench: Workbench, made: Mapping[str, Quality]) -> None:
    """A line for each controller."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(["controller", *Quality._fields])
    table.writerows([name, *(round(value, 4) for value in row)] for name, row in made.items())
    replace(bench.out / "controllers.csv", lambda part: part.write_text(text.getvalue(), encoding="utf-8"))


PAPER = Paper(
    "batcigri",
    "BatCiGri: simulating a multi-layered grid middleware (hal-04101015)",
    (
        Experiment("scenario", "500 jobs, 32 resources, one priority job", scenario),
        Experiment("overhead", "Commission and decommission times", overhead),
        Experiment("controllers", "Submission rules and controllers", controllers),
    ),
)
