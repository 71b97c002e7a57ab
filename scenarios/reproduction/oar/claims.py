"""Batch policies held against what OAR really did: ten runs of one kind of workload on Grid'5000.

The schedules were published with Batsim (Dutot, Mercier, Poquet and Richard, JSSPP 2016). OAR plans with
conservative backfilling; starting a job takes it about two seconds, during which its nodes are held.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from statistics import fmean, median

from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.reproduction.claims import Claim, Experiment, Paper, Workbench, verdict
from gridtune.scenarios.simulation.simulate import simulate
from gridtune.scenarios.trace_files.find import find_trace
from gridtune.scenarios.workloads.schedules import read_schedule

OVERHEAD = 2.0  # s from OAR's decision to the start of a job
NODES = {1: 22, 6: 22, 7: 22}  # by seed of the workload; 32 for all others
SEEDS = range(10)
SOURCE = "OAR schedules of Grid'5000, published with Batsim (JSSPP 2016)"


@dataclass(frozen=True)
class Comparison:
    """A simulated schedule against the real one.

    Attributes:
        seed: of the workload.
        real, simulated: mean waiting times, s.
        error: mean absolute difference of start times, s.
    """

    seed: int
    real: float
    simulated: float
    error: float

    @property
    def ratio(self) -> float:
        """Simulated over real mean waiting time."""
        return self.simulated / self.real


def schedule_path(seed: int) -> Path:
    """Where the real schedule of a workload is.

    Raises:
        TraceError: it is in none of the places where traces are kept.
    """
    return find_trace(f"g5k_oar/sgraphene1_run1_2016-05-04--16-50-02__delay_seed{seed}_size32.csv")


def compare(policy: str, seed: int, overhead: float = OVERHEAD) -> Comparison:
    """Replay one workload and compare the starts.

    Args:
        policy: a batch policy.
        seed: of the workload, 0 to 9.
        overhead: s for which a job holds its nodes before it starts.
    """
    path = schedule_path(seed)
    replay = load("batch/replay").override(
        {
            "workload.trace": str(path),
            "site.cluster.nodes": NODES.get(seed, 32),
            "site.cluster.policy": policy,
            "site.cluster.start_overhead": overhead,
        }
    )
    real = read_schedule(path)
    # A site counts a job as started when it takes the nodes, OAR when the job itself begins.
    starts = [job.start + overhead for job in simulate(replay).record.jobs]
    return Comparison(
        seed,
        fmean(job.waiting_time for job in real),
        fmean(start - job.submit for start, job in zip(starts, real, strict=True)),
        fmean(abs(start - job.start) for start, job in zip(starts, real, strict=True)),
    )


def mean_ratio(made: list[Comparison]) -> float:
    """Geometric mean of simulated over real mean waiting times."""
    return exp(fmean(log(comparison.ratio) for comparison in made))


def schedules(bench: Workbench) -> list[Claim]:
    """Conservative backfilling describes OAR, EASY nearly, and first come, first served does not."""
    conservative, easy, fcfs = (
        [compare(policy, seed) for seed in SEEDS] for policy in ("conservative", "easy", "fcfs")
    )
    ratios = [comparison.ratio for comparison in conservative]
    error = median(comparison.error for comparison in conservative)
    low, high, mean = min(ratios), max(ratios), mean_ratio(conservative)
    return [
        Claim(
            "O1", "schedules", "conservative backfilling waits as long as OAR on average", SOURCE,
            "geometric mean of simulated / real mean wait within 0.9 and 1.1", round(mean, 3),
            verdict(0.9 <= mean <= 1.1),
        ),
        Claim(
            "O2", "schedules", "conservative backfilling waits as long as OAR in every run", SOURCE,
            "every simulated / real mean wait within 0.8 and 1.2", f"{low:.2f} to {high:.2f}",
            verdict(low >= 0.8 and high <= 1.2),
        ),
        Claim(
            "O3", "schedules", "jobs start when OAR started them", SOURCE,
            "median over runs of the mean absolute error at most 12 s", f"{error:.1f} s",
            verdict(error <= 12.0),
        ),
        Claim(
            "O4", "schedules", "EASY backfilling waits a little less", SOURCE,
            "geometric mean within 0.9 and 1.05, below conservative", round(mean_ratio(easy), 3),
            verdict(0.9 <= mean_ratio(easy) <= 1.05 and mean_ratio(easy) < mean),
        ),
        Claim(
            "O5", "schedules", "first come, first served does not describe OAR", SOURCE,
            "geometric mean above 1.5", round(mean_ratio(fcfs), 3), verdict(mean_ratio(fcfs) > 1.5),
        ),
    ]  # fmt: skip


PAPER = Paper(
    "oar",
    "Batch policies against real OAR schedules (Grid'5000)",
    (Experiment("schedules", "Ten real schedules replayed", schedules),),
)
