"""Responsive Grids: short deadline jobs, virtual reservations and user-level schedulers, claims R1 to R9."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from statistics import fmean, median

from gridtune.model.job import DONE, Job
from gridtune.model.vres import deal, slot_counts
from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.reproduction.claims import Claim, Experiment, Paper, Workbench, verdict
from gridtune.scenarios.reproduction.egee.figures import (
    draw_completion,
    draw_distribution,
    draw_lanes,
    draw_queueing,
    draw_ratio,
    draw_signals,
    draw_slots,
    draw_speedup,
    draw_usage,
)
from gridtune.scenarios.reproduction.egee.usage import LAW, LCG, LPC, below, by_class, lawful, logged
from gridtune.scenarios.results.run import Run
from gridtune.scenarios.simulation.simulate import build, simulate
from gridtune.scenarios.systems.wms import overhead_of, wms_of


def usage(bench: Workbench) -> list[Claim]:
    """Figures 1 and 2: execution times, of logs where these are at hand, and of the law."""
    law = lawful(bench.seed)
    found = [log for log in (logged(LPC, "LPC log, one EGEE site"), logged(LCG, "LCG log, 170 sites")) if log]
    months = next((log for log in found if log.waits), law)
    drawn = "Drawn jobs" if months is law else "Completed jobs"
    draw_usage(
        bench.figure("figure-1"),
        by_class(months),
        f"{drawn}: {months.name}; above the bars those below 5 min",
    )
    names = " and the ".join(log.name.partition(",")[0] for log in found)
    draw_distribution(
        bench.figure("figure-2"), {log.name: log.runtimes for log in (law, *found)}, "Execution time (s)",
        f"The law of the broker's jobs against the {names}" if found else f"Execution times: {law.name}",
        [10.0],
    )  # fmt: skip
    shares = {log.name: below(log.runtimes, 300.0) for log in found or [law]}
    return [
        Claim(
            "R6", "usage", "a very large fraction of the jobs run less than 5 minutes",
            "section 2.2, figure 1",
            "more than half", ", ".join(f"{name}: {share:.1%}" for name, share in shares.items()),
            verdict(min(shares.values()) > 0.5),
            f"figure 1 rests on: {months.name}; figure 2 on: {'; '.join(log.name for log in (law, *found))}",
        ),
    ]  # fmt: skip


def overhead(bench: Workbench) -> list[Claim]:
    """Figures 3 to 5: what short jobs pay on a plain grid; run times from the fitted law."""
    with build(load("egee/plain"), bench.seed) as grid:
        grid.run()
        wms = wms_of(grid)
        assert wms is not None
        times = [overhead_of(trip) for trip in wms.trips if trip.job.state is DONE]
    runtimes = [t for t, _, _ in times]
    ratios = [(m - t) / t for t, _, m in times]
    simulated = f"Simulated; run times by the {LAW}"
    draw_ratio(bench.figure("figure-3"), runtimes, ratios, "Overhead ratio (m - t) / t", simulated)
    second = [ratio for t, ratio in zip(runtimes, ratios, strict=True) if 0.8 <= t <= 1.25]
    draw_distribution(
        bench.figure("figure-4"), {"": second}, "Overhead ratio of jobs of 0.8 to 1.25 s", simulated
    )
    panels = {simulated: (runtimes, [q for _, q, _ in times])}
    log = logged(LPC, "LPC log, one EGEE site: waits as logged")
    if log is not None and log.waits:
        panels[log.name] = log.runtimes, log.waits
    draw_queueing(bench.figure("figure-5"), panels)
    short = sum(t < 10 for t in runtimes) / len(runtimes)
    small = sorted(ratio for t, ratio in zip(runtimes, ratios, strict=True) if t < 10)
    middle = small[len(small) // 2]
    return [
        Claim(
            "R6", "overhead", "more than 70 % of the jobs run less than 10 s", "section 2.2, figure 2",
            "68 % to 74 %", f"{short:.1%}", verdict(0.68 <= short <= 0.74),
        ),
        Claim(
            "R6", "overhead", "the overhead of short jobs is an order of magnitude above their execution",
            "section 2.2, figures 3 and 4", "median overhead ratio of jobs below 10 s at least 10",
            round(middle, 1), verdict(middle >= 10),
            f"figures 3 and 4 rest on the {LAW}, figure 5 on it"
            + (" and on the LPC log" if len(panels) > 1 else ", as the LPC log was not found"),
        ),
        Claim(
            "R6", "overhead", "run times have mean 2 s and standard deviation of 10^4 s", "section 2.2",
            "impossible: 50,000 values above 0 with mean 2 have at most 447",
            f"mean {sum(runtimes) / len(runtimes):.0f} s, median {median(runtimes):.1f} s",
            "contradicted by the source", "read as a median of 2 s",
        ),
    ]  # fmt: skip


def slots(bench: Workbench) -> list[Claim]:
    """Figure 6: how slots of three classes are dealt over processors."""
    shares = {"1": Fraction(1, 4), "2": Fraction(1, 3), "3": Fraction(5, 12)}
    processors, each = 4, 3  # 12 slots are the fewest of which all three shares are whole
    counts = slot_counts({name: float(share) for name, share in shares.items()}, processors * each)
    dealt = dict(zip(counts, deal(list(counts.values()), processors), strict=True))
    draw_slots(bench.figure("figure-6"), dealt, {name: str(share) for name, share in shares.items()})
    full = [sum(column) for column in zip(*dealt.values(), strict=True)]
    reached = {name: sum(count > 0 for count in row) for name, row in dealt.items()}
    possible = all(reached[name] == min(processors, counts[name]) for name in dealt)
    return [
        Claim("R5", "slots", "each class maps to the full range of processors", "section 3.2, figure 6",
              "as many processors as it has slots, and every processor full",
              ", ".join(f"class {name}: {counts[name]} slots on {reached[name]}" for name in dealt),
              verdict(possible and full == [each] * processors)),
    ]  # fmt: skip


def concurrent(jobs: Sequence[Job], kind: str, where: str = "site") -> int:
    """The most jobs of a kind that ran at once at a site or on a node."""
    changes = []
    for job in jobs:
        if job.kind == kind and job.start == job.start:
            end = job.end if job.end == job.end else float("inf")
            changes += [(job.start, 1, getattr(job, where)), (end, -1, getattr(job, where))]
    running: dict[str, int] = {}
    most = 0
    for _, change, place in sorted(changes, key=lambda entry: entry[:2]):
        running[place] = running.get(place, 0) + change
        most = max(most, running[place])
    return most


def reservations(bench: Workbench, name: str, figure: str, caps: tuple[int, int]) -> list[Claim]:
    """Figures 7 and 8: concurrency on a node and at a site."""
    run = simulate(load(f"egee/{name}"), bench.seed)
    names = {f"lal.{known}.running": known for known in ("batch", "sdj", "dteam")}
    where = "one dual-processor node" if name == "vres-node" else "a site of 40 nodes"
    draw_lanes(bench.figure(figure), run, names, f"Simulated jobs on {where}; generated workload")
    source = f"section 3.3, {figure.replace('-', ' ')}"
    jobs = run.record.jobs
    late = max(job.start - job.submit for job in jobs if job.kind == "sdj" and job.start == job.start)
    site, node = concurrent(jobs, "sdj"), concurrent(jobs, "sdj", "node")
    batch = concurrent(jobs, "batch", "node")
    worst = run.metrics["batch_slowdown_worst"].value
    shares = _shares(run)
    return [
        Claim("R1", name, "a short deadline job starts at once or is rejected", source, "delay 0 s", late,
              verdict(late == 0)),
        Claim("R2", name, "concurrent short deadline jobs keep their limit", source,
              f"at most {caps[0]} per site, {caps[1]} per node", f"{site}, {node}",
              verdict(site <= caps[0] and node <= caps[1])),
        Claim("R3", name, "batch jobs never exceed one per processor", source, "at most 2 per node", batch,
              verdict(batch <= 2)),
        Claim("R4", name, "the delay of batch jobs has a fixed multiplicative bound", "section 1.2",
              "slow-down at most 2.5 (slots per processor)", round(worst, 3), verdict(worst <= 2.5 + 1e-6)),
        Claim("R5", name, "a class that fills its slots receives at least its share", "section 3.2",
              "batch 0.4, sdj 0.4, dteam 0.2",
              ", ".join(f"{known} {share:.3f}" for known, (share, _) in shares.items()),
              verdict(all(share >= phi - 1e-9 for share, phi in shares.values()))),
    ]  # fmt: skip


def _shares(run: Run) -> dict[str, tuple[float, float]]:
    """Share received while saturated, and phi, of the classes that ever were saturated."""
    phi = {"batch": 0.4, "sdj": 0.4, "dteam": 0.2}
    found = {known: run.metrics[f"share.lal.{known}"].value for known in phi}
    return {known: (share, phi[known]) for known, share in found.items() if share == share}


def itu(bench: Workbench) -> list[Claim]:
    """Figures 9 and 10: 40,000 tasks on 200 workers."""
    run = simulate(load("egee/diane-itu"), bench.seed)
    tasks = [job for job in run.record.jobs if job.kind == "task"]
    runtimes = [job.runtime for job in tasks]
    draw_distribution(
        bench.figure("figure-9"), {"": runtimes}, "Task duration (s)",
        "40,000 tasks: law with median 8 s and sigma 1.25, cut at 1200 s", [10.0, 1000.0],
    )  # fmt: skip
    names = {"itu.pool": "available workers", "itu.busy": "busy workers"}
    draw_signals(
        bench.figure("figure-10"), run, names, "Workers", "Simulated; task durations by the law of figure 9"
    )
    makespan = run.metrics["makespan"].value
    busy, pool = (_mean_between(run, f"itu.{name}", 500, 3000) for name in ("busy", "pool"))
    return [
        Claim("R7", "itu", "the whole job takes about 4000 s", "figure 10", "3700 to 4500 s",
              round(makespan), verdict(3700 <= makespan <= 4500)),
        Claim("R7", "itu", "busy workers are about the pool until the last long tasks",
              "section 4.1.4, figure 10", "at least 95 % of the workers present, from 500 to 3000 s",
              f"{busy / pool:.1%} ({busy:.1f} busy of {pool:.1f} present)", verdict(busy >= 0.95 * pool),
              "of 200 workers asked for, those count that have started: the others wait at full sites"
              if pool < 199 else ""),
    ]  # fmt: skip


def _mean_between(run: Run, signal: str, start: float, end: float) -> float:
    """Mean of the samples of a signal from `start` to `end`, s."""
    return fmean(value for time, name, value in run.record.signals if name == signal and start <= time <= end)


def geant4(bench: Workbench) -> list[Claim]:
    """Figure 11: the same 207 tasks by a master and as plain grid jobs."""
    scenario = load("egee/diane-geant4")
    plain = scenario.override({"overlay.geant4.mode": "plain"})
    curves = {"A: user-level": _ends(simulate(scenario, bench.seed))}
    for k in range(3):
        curves[f"B{k + 1}: plain grid"] = _ends(simulate(plain, bench.seed, k))
    draw_completion(bench.figure("figure-11"), curves, 207, "Simulated: 207 tasks, uniform from 280 to 520 s")
    ours, *others = (max(ends) for ends in curves.values())
    return [
        Claim("R9", "geant4", "the user-level scheduler ends before the plain grid", "figure 11",
              "all 207 done, earlier than B1 to B3 are",
              f"{ours:.0f} s against {', '.join(f'{other:.0f}' for other in others)} s",
              verdict(len(curves["A: user-level"]) == 207 and ours < min(others))),
    ]  # fmt: skip


def _ends(run: Run) -> list[float]:
    return [job.end for job in run.record.jobs if job.state is DONE]


def flu(bench: Workbench) -> list[Claim]:
    """Efficiency of weeks of docking."""
    scenario = load("egee/avian-flu")
    ours, plain = (
        simulate(scenario.override({"overlay.flu.mode": mode}), bench.seed).metrics["efficiency"].value
        for mode in ("master", "plain")
    )
    return [
        Claim("R9", "avian-flu", "user-level scheduling is far more efficient (84 % against 38.4 %)",
              "section 4.1.6", "at least 75 %, and 1.5 times the plain grid or more",
              f"{ours:.1%} against {plain:.1%}", verdict(ours >= 0.75 and ours >= 1.5 * plain),
              "the terms of the published efficiencies are not given; here: work over time in the grid"),
    ]  # fmt: skip


def one_after_the_other(tasks: Sequence[Job]) -> float:
    """Time of the tasks on the front end itself, s: each waits for its contour and the last."""
    end = first = tasks[0].submit
    for task in tasks:
        end = max(end, task.submit) + task.runtime
    return end - first


SIZES = {"small": 20, "medium": 200, "large": 1000}


def gptm3d(bench: Workbench) -> list[Claim]:
    """Figure 12: reconstructions of three sizes by up to 14 workers."""
    rows: dict[str, dict[int, float]] = {}
    took: dict[str, tuple[float, float]] = {}
    for size, count in SIZES.items():
        rows[size] = {}
        for workers in (1, 2, 4, 8, 14):
            values = {"overlay.body.tasks": count, "overlay.body.workers": workers}
            run = simulate(load("egee/gptm3d").override(values), bench.seed)
            alone = one_after_the_other(run.record.jobs)
            makespan = run.metrics["makespan"].value
            rows[size][workers] = alone / makespan
            took[size] = alone, makespan
    draw_speedup(bench.figure("figure-12"), rows, "Simulated; slices by a law")
    alone, grid = took["large"]
    small_alone, small_grid = took["small"]
    return [
        Claim("R8", "gptm3d", "20 minutes of work take less than two with 14 workers", "section 4.2",
              "below 120 s, from 1000 to 1400 s", f"{grid:.0f} s from {alone:.0f} s",
              verdict(grid < 120 and 1000 <= alone <= 1400)),
        Claim("R8", "gptm3d", "the largest speed-up is nearly optimal", "figure 12", "at least 11 of 14",
              round(rows["large"][14], 1), verdict(rows["large"][14] >= 11)),
        Claim("R8", "gptm3d", "small reconstructions are not slower", "figure 12", "no slower than alone",
              f"{small_grid:.1f} s against {small_alone:.1f} s", verdict(small_grid <= small_alone)),
    ]  # fmt: skip


PAPER = Paper(
    "egee",
    "Scheduling for Responsive Grids (Germain-Renaud et al. 2008)",
    (
        Experiment("usage", "Execution times in logs and in the fitted law (figures 1 and 2)", usage),
        Experiment("overhead", "Overhead of short jobs on a plain grid (figures 3 to 5)", overhead),
        Experiment("slots", "Slots of three classes over processors (figure 6)", slots),
        Experiment(
            "vres-node", "Five slots on a dual-processor node (figure 7)",
            lambda bench: reservations(bench, "vres-node", "figure-7", (2, 2)),
        ),
        Experiment(
            "vres-site", "Ten short deadline jobs at a site (figure 8)",
            lambda bench: reservations(bench, "vres-site", "figure-8", (10, 2)),
        ),
        Experiment("itu", "40,000 tasks on 200 workers (figures 9 and 10)", itu),
        Experiment("geant4", "207 tasks by DIANE and by the plain grid (figure 11)", geant4),
        Experiment("avian-flu", "Efficiency of a long job", flu),
        Experiment("gptm3d", "Interactive volume reconstruction (figure 12)", gptm3d),
    ),
)  # fmt: skip
