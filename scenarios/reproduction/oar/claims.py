"""Batch policies held against what OAR really did: ten runs of one kind of workload on Grid'5000.

The schedules were published with Batsim (Dutot, Mercier, Poquet and Richard, JSSPP 2016). OAR plans with
conservative backfilling; starting a job takes it about two seconds, during which its nodes are held.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from statistics import fmean

from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.reproduction.claims import Claim, Experiment, Paper, hypothesis
from gridtune.scenarios.reproduction.statistics import Estimate, Finding, always, difference, mean, quantile
from gridtune.scenarios.reproduction.workbench import Workbench
from gridtune.scenarios.simulation.simulate import simulate
from gridtune.scenarios.trace_files.find import find_trace
from gridtune.scenarios.trace_files.reading import read_trace

SCHEDULE = "g5k_oar/sgraphene1_run1_2016-05-04--16-50-02__delay_seed{}_size32.csv"
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
    return find_trace(SCHEDULE.format(seed))


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
    real = read_trace(path).jobs
    waits = [job.wait or 0.0 for job in real]
    # A site counts a job as started when it takes the nodes, OAR when the job itself begins.
    starts = [job.start + overhead for job in simulate(replay).record.jobs]
    return Comparison(
        seed,
        fmean(waits),
        fmean(start - job.submit for start, job in zip(starts, real, strict=True)),
        fmean(abs(start - job.submit - wait) for start, job, wait in zip(starts, real, waits, strict=True)),
    )


def schedules(bench: Workbench) -> list[Claim]:
    """Conservative backfilling describes OAR, EASY nearly, and first come, first served does not.

    The ten real schedules are the replications; nothing in their replay is drawn.
    """
    conservative, easy, fcfs = (
        [compare(policy, seed) for seed in SEEDS] for policy in ("conservative", "easy", "fcfs")
    )
    errors = [comparison.error for comparison in conservative]
    ratios = [comparison.ratio for comparison in conservative]
    return [
        hypothesis(
            "O1",
            "schedules",
            "under conservative backfilling, jobs wait about as long as under OAR (on average)",
            SOURCE,
            Finding("simulated / real mean wait", _mean_ratio(conservative), 0.9, 1.1),
        ),
        hypothesis(
            "O2",
            "schedules",
            "under conservative backfilling, jobs wait about as long as under OAR (in each schedule)",
            SOURCE,
            always("simulated / real mean wait from 0.8 to 1.2", [0.8 <= value <= 1.2 for value in ratios]),
        ),
        hypothesis(
            "O3",
            "schedules",
            "under conservative backfilling, each job starts about when OAR started it",
            SOURCE,
            Finding("mean absolute error of a run's starts, s", quantile(errors), high=12),
        ),
        hypothesis(
            "O4",
            "schedules",
            "under EASY, jobs wait a little less than under conservative backfilling",
            SOURCE,
            Finding("simulated / real mean wait", _mean_ratio(easy), 0.9, 1.05),
            Finding(
                "log of the ratio, minus that of conservative",
                difference([log(one.ratio) for one in easy], [log(one.ratio) for one in conservative]),
                high=0,
                strict=True,
            ),
        ),
        hypothesis(
            "O5",
            "schedules",
            "under first come, first served, jobs wait at least 1.5 times as long as under OAR",
            SOURCE,
            Finding("simulated / real mean wait", _mean_ratio(fcfs), low=1.5),
        ),
    ]


def _mean_ratio(made: list[Comparison]) -> Estimate:
    """Geometric mean of simulated over real mean waiting times; the interval is that of its logarithm."""
    logs = mean([log(comparison.ratio) for comparison in made])
    return Estimate("geometric mean", exp(logs.value), exp(logs.low), exp(logs.high), logs.runs)


PAPER = Paper(
    "oar",
    "Batch policies against real OAR schedules (Grid'5000)",
    (Experiment("schedules", "Ten real schedules replayed", schedules),),
)
