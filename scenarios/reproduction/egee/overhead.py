"""Responsive Grids, figures 1 to 5: execution times, and what short jobs pay on a plain grid."""

from __future__ import annotations

from math import sqrt
from statistics import fmean, median, pstdev

from gridtune.model.job import DONE
from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.reproduction.claims import (
    Claim,
    contradiction,
    definition,
    hypothesis,
)
from gridtune.scenarios.reproduction.egee.figures import (
    draw_distribution,
    draw_queueing,
    draw_ratio,
    draw_usage,
)
from gridtune.scenarios.reproduction.egee.usage import LAW, LCG, LPC, below, by_class, lawful, logged
from gridtune.scenarios.reproduction.statistics import (
    Finding,
    exactly,
    mean,
)
from gridtune.scenarios.reproduction.workbench import Workbench
from gridtune.scenarios.results.run import Run
from gridtune.scenarios.simulation.simulate import build
from gridtune.scenarios.systems.wms import overhead_of, wms_of


def usage(bench: Workbench) -> list[Claim]:
    """Figures 1 and 2: execution times, of logs where these are at hand, and of the law."""
    law = lawful(bench.seed)
    found = []
    for file, name in ((LPC, "LPC log, one EGEE site"), (LCG, "LCG log, 170 sites")):
        if log := logged(file, name):
            found.append(log)
        else:
            bench.left_out.append(f"egee/usage: the log {file} is in no folder that GRIDTUNE_DATA names")
    months = next((log for log in found if log.waits), law)
    drawn = "Drawn jobs" if months is law else "Completed jobs"
    draw_usage(
        bench.figure("figure-1"),
        by_class(months),
        f"{drawn}: {months.name}; above the bars the share of those below 5 min",
    )
    names = " and the ".join(log.name.partition(",")[0] for log in found)
    draw_distribution(
        bench.figure("figure-2"),
        {log.name: log.runtimes for log in (law, *found)},
        "execution time (s)",
        "Execution times",
        f"the law of the broker's jobs against the {names}" if found else law.name,
        [("Responsive Grids: 70 % below 10 s", 10.0, 0.7), ("Responsive Grids: mean 2 s", 2.0, None)],
    )
    text, source = "a very large fraction of the jobs run less than 5 minutes", "section 2.2, figure 1"
    rests = f"figure 1 rests on: {months.name}; figure 2 on: {'; '.join(log.name for log in (law, *found))}"
    shares = [
        Finding(f"share, {log.name}", exactly(below(log.runtimes, 300.0)), low=0.5, strict=True)
        for log in found or [law]
    ]
    if not found:
        return [definition("R6a", "usage", text, source, *shares, reason=f"the law was chosen so; {rests}")]
    return [
        hypothesis("R6a", "usage", f"{text} (measured in {len(found)} logs)", source, *shares, reason=rests)
    ]


def overhead(bench: Workbench) -> list[Claim]:
    """Figures 3 to 5: what short jobs pay on a plain grid; run times from the fitted law."""
    (made,) = bench.measure(load("egee/plain"), [{}], short_jobs)
    with build(load("egee/plain"), bench.seed) as grid:
        grid.run()
        wms = wms_of(grid)
        assert wms is not None
        times = [overhead_of(trip) for trip in wms.trips if trip.job.state is DONE]
    runtimes = [t for t, _, _ in times]
    ratios = [(m - t) / t for t, _, m in times]
    simulated = f"simulated; run times by the {LAW}"
    label, title = "overhead ratio (m - t) / t", "What jobs pay on a plain grid"
    draw_ratio(bench.figure("figure-3"), runtimes, ratios, label, title, simulated)
    second = [ratio for t, ratio in zip(runtimes, ratios, strict=True) if 0.8 <= t <= 1.25]
    draw_distribution(
        bench.figure("figure-4"), {"": second}, label, "What jobs of 0.8 to 1.25 s pay", simulated
    )
    panels = {simulated: (runtimes, [q for _, q, _ in times])}
    log = logged(LPC, "LPC log, one EGEE site: waits as logged")
    if log is not None and log.waits:
        panels[log.name] = log.runtimes, log.waits
    draw_queueing(bench.figure("figure-5"), panels)
    return [
        definition(
            "R6b",
            "overhead",
            "more than 70 % of the jobs run less than 10 s",
            "section 2.2, figure 2",
            Finding("share", mean(made["short"]), 0.68, 0.74),
            reason="gridtune's law of run times was fitted to this share",
        ),
        definition(
            "R6c",
            "overhead",
            "the overhead of short jobs is an order of magnitude above their run time",
            "section 2.2, figures 3 and 4",
            Finding("median overhead ratio of jobs below 10 s", mean(made["ratio"]), low=10),
            reason=f"latencies are minutes, as in the paper; run times follow a {LAW}",
        ),
        contradiction(
            "R6d",
            "overhead",
            "run times have a mean of 2 s and a standard deviation of 10^4 s",
            "section 2.2",
            Finding("mean run time, s", mean(made["runtime"]), 1.5, 2.5),
            Finding("standard deviation, s", mean(made["deviation"]), 0.9e4, 1.1e4),
            clash=LARGEST_DEVIATION < DEVIATION,
            arithmetic=f"the paper's {JOBS:,} jobs, with a mean of {MEAN:g} s, have a standard deviation of "
            f"at most {LARGEST_DEVIATION:.0f} s. So gridtune takes 2 s as the median",
        ),
    ]


JOBS, MEAN, DEVIATION = 50_000, 2.0, 1e4  # of section 2.2
LARGEST_DEVIATION = MEAN * sqrt(JOBS - 1)  # if one value is all of the sum


def short_jobs(run: Run) -> dict[str, float]:
    """Run times of a run's completed jobs, and what short ones wait for each second of work."""
    done = [job for job in run.record.jobs if job.state is DONE]
    runtimes = [job.runtime for job in done]
    short = [(job.start - job.submit) / job.runtime for job in done if job.runtime < 10]
    return {
        "short": len(short) / len(done),
        "ratio": median(short),
        "runtime": fmean(runtimes),
        "deviation": pstdev(runtimes),
    }
