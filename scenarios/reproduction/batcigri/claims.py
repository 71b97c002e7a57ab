"""BatCiGri: the harvesting scenario of hal-04101015, its figures 3 to 5 and its claims."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from functools import partial
from statistics import fmean, stdev
from time import process_time
from typing import Any

import numpy as np

from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.reproduction.batcigri.figures import (
    draw_errors,
    draw_gantt,
    draw_log,
    draw_overhead,
    draw_signals,
)
from gridtune.scenarios.reproduction.batcigri.log import (
    CYCLE,
    FILE,
    fed,
    fit_law,
    half,
    loads,
    moments,
    prediction,
    read_log,
    unexplained_steps,
)
from gridtune.scenarios.reproduction.batcigri.measured import Quality, executions, quality, signals
from gridtune.scenarios.reproduction.claims import Claim, Experiment, Paper, definition, hypothesis
from gridtune.scenarios.reproduction.statistics import Finding, always, difference, exactly, mean, quantile
from gridtune.scenarios.reproduction.workbench import Values, Workbench
from gridtune.scenarios.results.run import Run
from gridtune.scenarios.simulation.simulate import simulate
from gridtune.scenarios.whole_files import replace_text

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
    chosen = load(SCENARIO)
    made, lagging = bench.measure(chosen, [{}, ROUNDS], regulated, keep_events=True)
    runs = [simulate(chosen.override(values), bench.seed, keep_events=True) for values in ({}, ROUNDS)]
    names = ("as simulated in the paper", "with scheduling rounds of 5 s")
    drawn = dict(zip(names, runs, strict=True))
    draw_signals(
        bench.figure("figure-4"), {name: signals(run, HARVESTER) for name, run in drawn.items()}, PRIORITY
    )
    draw_gantt(bench.figure("figure-5"), {name: executions(run) for name, run in drawn.items()})
    return [*_regulated(made), *_schedule(made), *_gaps(made, lagging)]


def regulated(run: Run) -> dict[str, float]:
    """What the claims about the scenario need of a run."""
    found = signals(run, HARVESTER)
    time, occupied = found["time"], found["waiting"] + found["used"]
    lost = [one for one in executions(run) if one.killed]
    return quality(run, HARVESTER)._asdict() | {
        "during": float(occupied[(time >= PRIORITY[0]) & (time < PRIORITY[1])].mean()),
        "killed": len(lost),
        "killed_then": sum(one.end == PRIORITY[0] for one in lost),
        "done": sum(job.state == "done" for job in run.record.jobs if not job.mandatory),
        "first": min(one.start for one in executions(run)),
        "cpu": cpu_seconds(run),
    }


def cpu_seconds(run: Run) -> float:
    """Processor time (s) that the run takes if it is done again without its journal."""
    began = process_time()
    simulate(run.scenario, run.seed, run.replication)
    return process_time() - began


def _regulated(made: Values) -> list[Claim]:
    return [
        hypothesis(
            "G1a",
            "scenario",
            "waiting jobs plus used processors stay around 64 (the reference)",
            "section 4.1, figure 4",
            Finding("jobs from 600 to 3500 s", mean(made["mean"]), 60, 68),
        ),
        hypothesis(
            "G1b",
            "scenario",
            "they stay around 64 during the priority job, too",
            "figure 4",
            Finding("jobs from 2000 to 3800 s", mean(made["during"]), 60, 68),
        ),
        hypothesis(
            "G2",
            "scenario",
            "the simulated cluster is always full (97 % of cycles, from the first start to the last "
            "submission)",
            "section 4.4",
            Finding(
                "share of cycles from the first start to the last submission", mean(made["full"]), low=0.97
            ),
            reason="jobs of equal length end together in waves, and the gains are not in the paper",
        ),
    ]


def _schedule(made: Values) -> list[Claim]:
    return [
        hypothesis(
            "G3",
            "scenario",
            "the priority job kills jobs on half of the cluster; they run again",
            "section 3.4, figure 5",
            always(
                "16 kills, all at 2000 s",
                [all_ == then == 16 for all_, then in zip(made["killed"], made["killed_then"], strict=True)],
            ),
            always("500 jobs done", [done == 500 for done in made["done"]]),
        ),
        hypothesis(
            "G4",
            "scenario",
            "the scenario takes around 1 h 20 of simulated time",
            "section 4.3",
            Finding("makespan, s", mean(made["end"]), 4700, 5050),
        ),
        definition(
            "G5",
            "scenario",
            "the first jobs start 90 s after the first submission",
            "section 3.6",
            always("at 90 s", [first == 90 for first in made["first"]]),
            reason="in the model, no job starts earlier (section 3.6)",
        ),
        hypothesis(
            "G6",
            "scenario",
            "a simulation (here: by gridtune) takes at most 5.5e-4 hours (2 s) of CPU time, 16,000 times "
            "less than the real experiment",
            "section 4.3",
            Finding("CPU hours", quantile([seconds / 3600 for seconds in made["cpu"]]), high=5.5e-4),
        ),
    ]


def _gaps(made: Values, lagging: Values) -> list[Claim]:
    return [
        hypothesis(
            "G7a",
            "scenario",
            "OAR's scheduling rounds (left out in G1 to G6) cause idle gaps in the schedule",
            "section 4.5, figure 5",
            Finding("share of cycles full, with rounds", mean(lagging["full"]), 0.80, 0.96),
            Finding("minus that without", difference(lagging["full"], made["full"]), high=0, strict=True),
        ),
        hypothesis(
            "G7b",
            "scenario",
            "because of the gaps, the experiment ends later",
            "section 4.5",
            Finding("s by which it ends later", difference(lagging["end"], made["end"]), 50, 250),
        ),
    ]


def overhead(bench: Workbench) -> list[Claim]:
    """Figure 3: what OAR adds to every job."""
    mu, sigma = 1.04, 0.27
    (made,) = bench.measure(load(SCENARIO), [{}], overheads_of)
    run = simulate(load(SCENARIO), bench.seed)
    draw_overhead(bench.figure("figure-3"), overheads(run), mu, sigma)
    return [
        definition(
            "G8a",
            "overhead",
            "overheads (times to set up and clean a node) follow a log-normal law",
            "section 3.6, figure 3",
            Finding("mean of logarithms", mean(made["mu"]), mu - 0.04, mu + 0.04),
            Finding("their standard deviation", mean(made["sigma"]), sigma - 0.04, sigma + 0.04),
            reason="gridtune draws them from this law",
        ),
        definition(
            "G8b",
            "overhead",
            "most overheads are around 2 or 3 seconds",
            "figure 3",
            Finding("share from 2 up to 4 s", mean(made["around"]), low=0.75),
            reason="this law has most of its values there",
        ),
    ]


def overheads(run: Run) -> list[float]:
    """Seconds that each harvested job held its resource beyond its own work."""
    return [job.end - job.start - job.runtime for job in run.record.jobs if not job.mandatory]


def overheads_of(run: Run) -> dict[str, float]:
    """Parameters of the law of a run's overheads, and their share around 2 and 3 s."""
    values = overheads(run)
    logs = np.log(values).tolist()
    return {"mu": fmean(logs), "sigma": stdev(logs), "around": fmean(2 <= value < 4 for value in values)}


def controllers(bench: Workbench) -> list[Claim]:
    """Section 2.2: the submission rules of CiGri against controllers, in the same scenario."""
    names = bench.choose(list(CONTROLLERS), ["PI, 10 cycles", "P, 0.3", "tap", "wait for the batch"])
    found = bench.measure(load(SCENARIO), [CONTROLLERS[name] for name in names], quality_of)
    made = dict(zip(names, found, strict=True))
    errors = {}
    for name in names:
        series = signals(simulate(load(SCENARIO).override(CONTROLLERS[name]), bench.seed), HARVESTER)
        window = (series["time"] >= 600) & (series["time"] <= 3500)
        errors[name] = 64.0 - (series["waiting"] + series["used"])[window]
    draw_errors(bench.figure("controllers"), errors, 64.0)
    _write_table(bench, made)
    pi = made["PI, 10 cycles"]
    return [
        *(
            hypothesis(
                known,
                "controllers",
                "less of the cluster is used (mean share of busy nodes) than under this PI controller "
                f"(rule '{name}')",
                "section 2.2",
                Finding(
                    "utilisation, minus that of PI",
                    difference(made[name]["utilisation"], pi["utilisation"]),
                    high=0,
                    strict=True,
                ),
                Finding(
                    "s by which it ends later", difference(made[name]["end"], pi["end"]), low=0, strict=True
                ),
            )
            for known, name in (("G9a", "tap"), ("G9b", "wait for the batch"))
        ),
        hypothesis(
            "G9c",
            "controllers",
            "with ki = 0 (a P controller), the mean measure is below the reference (gain 0.3)",
            "control theory",
            Finding("jobs from 600 to 3500 s, with gain 0.3", mean(made["P, 0.3"]["mean"]), high=60),
        ),
    ]


def quality_of(run: Run) -> dict[str, float]:
    """How well the controller of a run did, by name."""
    return quality(run, HARVESTER)._asdict()


def _write_table(bench: Workbench, made: Mapping[str, Values]) -> None:
    """A line for each controller: means over replications."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(["controller", *Quality._fields])
    table.writerows(
        [name, *(round(fmean(values[field]), 4) for field in Quality._fields)]
        for name, values in made.items()
    )
    path = bench.out / "controllers-quality.csv"  # controllers.csv holds what the figure shows
    replace_text(path, text.getvalue())


def logged(bench: Workbench) -> list[Claim]:
    """A log of a real CiGri that holds the load of a file server: its controller, and our plant under it."""
    log = read_log()
    if log is None:
        bench.left_out.append(f"batcigri/log: the log {FILE} is in no folder that GRIDTUNE_DATA names")
        return []
    first, second = half(log, 0), half(log, 1)
    law = fit_law(first)
    wanted = fed(second, law)
    cycles = len(log.time)
    scenario = load("cigri/file-system").override(
        {
            CONTROLLER: {"kind": "pi", "sensor": "load", "reference": law.reference, "kp": 0.0, "ki": law.ki},
            # A server that answers to the actuator as the logged one did on average.
            "workload.bag.best_effort.io_share": float(log.load.mean() / log.input.mean()),
            "workload.bag.count": 20_000,
            "horizon": (cycles + 1) * CYCLE,
        }
    )
    (made,) = bench.measure(scenario, [{}], partial(loads, first=len(first.time), last=cycles))
    simulated = signals(simulate(scenario, bench.seed), HARVESTER)
    draw_log(bench.figure("log"), log, wanted, len(first.time), simulated)
    real = moments(second.load.tolist())
    source = "log of CiGri's authors"
    return [
        hypothesis(
            "G10a",
            "log",
            "in each cycle, the real controller changes the number of jobs in proportion to the error "
            "(integral control)",
            source,
            Finding(
                "error of its steps in the second half, by the law of the first, over their deviation",
                exactly(unexplained_steps(second, law)),
                high=0.1,
            ),
            reason=f"the gain is {law.ki:.2f} per unit of load, the reference {law.reference:.2f}",
        ),
        hypothesis(
            "G10b",
            "log",
            "gridtune's PI controller, given the logged load, submits what the real one did",
            source,
            Finding(
                "greatest difference from the actuator in the second half, over its range there",
                exactly(float(np.abs(wanted[:-1] - second.input[1:]).max() / np.ptp(second.input))),
                high=0.1,
            ),
        ),
        hypothesis(
            "G10c",
            "log",
            "a model fitted to the log predicts the load of the next cycle better than the assumption that "
            "the load does not change",
            source,
            Finding(
                "error of one-step predictions in the second half, over that of persistence",
                exactly(prediction(second, first)),
                high=1,
                strict=True,
            ),
            reason="the model's error is so many times that of the assumption",
        ),
        hypothesis(
            "G10d",
            "log",
            "gridtune's file server under this controller has a load like the real one",
            source,
            *(
                Finding(
                    f"{name} of the load in the second half, over the logged",
                    mean([x / real[name] for x in made[name]]),
                    0.8,
                    1.25,
                )
                for name in real
            ),
            reason="the log does not say why. Perhaps other work used the real server, or its jobs wrote "
            "more or less",
        ),
    ]


PAPER = Paper(
    "batcigri",
    "BatCiGri: simulating a multi-layered grid middleware (hal-04101015)",
    (
        Experiment("scenario", "500 jobs, 32 resources, one priority job", scenario),
        Experiment("overhead", "Commission and decommission times", overhead),
        Experiment("controllers", "Submission rules and controllers", controllers),
        Experiment("log", "A real CiGri, measured against simulated", logged),
    ),
)
