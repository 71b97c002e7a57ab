"""Responsive Grids, figures 6 to 8: slots of classes, and how many jobs of each run at once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gridtune.model.job import Job
from gridtune.model.vres import deal, slot_counts
from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.reproduction.claims import (
    Claim,
    definition,
    hypothesis,
)
from gridtune.scenarios.reproduction.egee.figures import (
    draw_lanes,
    draw_slots,
)
from gridtune.scenarios.reproduction.statistics import (
    Finding,
    always,
    exactly,
    quantile,
)
from gridtune.scenarios.reproduction.workbench import Workbench
from gridtune.scenarios.results.run import Run
from gridtune.scenarios.simulation.simulate import simulate


def slots(bench: Workbench) -> list[Claim]:
    """Figure 6: how slots of three classes are dealt over processors."""
    shares = {"1": Fraction(1, 4), "2": Fraction(1, 3), "3": Fraction(5, 12)}
    processors, each = 4, 3  # 12 slots are the fewest of which all three shares are whole
    counts = slot_counts({name: float(share) for name, share in shares.items()}, processors * each)
    dealt = dict(zip(counts, deal(list(counts.values()), processors), strict=True))
    draw_slots(bench.figure("figure-6"), dealt, {name: str(share) for name, share in shares.items()})
    full = [sum(column) for column in zip(*dealt.values(), strict=True)]
    return [
        hypothesis(
            "R5a",
            "slots",
            "each class may use every processor",
            "section 3.2, figure 6",
            *(
                Finding(
                    f"processors that class {name} reaches with {counts[name]} slots",
                    exactly(sum(count > 0 for count in row)),
                    min(processors, counts[name]),
                    processors,
                )
                for name, row in dealt.items()
            ),
            Finding("slots of the emptiest processor", exactly(min(full)), each, each),
        )
    ]


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


PHI = {"batch": 0.4, "sdj": 0.4, "dteam": 0.2}


def reserved(run: Run) -> dict[str, float]:
    """What the claims about virtual reservations need of a run."""
    jobs = run.record.jobs
    started = [job for job in jobs if job.kind == "sdj" and job.start == job.start]
    shares = {name: run.metrics[f"share.lal.{name}"].value for name in PHI}
    return {
        "late": max(job.start - job.submit for job in started),
        "site": concurrent(jobs, "sdj"),
        "node": concurrent(jobs, "sdj", "node"),
        "batch": concurrent(jobs, "batch", "node"),
        "slowdown": run.metrics["batch_slowdown_worst"].value,
        # Of a class that never filled its slots there is no share.
        "excess": min(share - PHI[name] for name, share in shares.items() if share == share),
    }


def reservations(bench: Workbench, name: str, figure: str, caps: tuple[int, int]) -> list[Claim]:
    """Figures 7 and 8: concurrency on a node and at a site."""
    scenario = load(f"egee/{name}")
    horizon = scenario.spec.horizon
    assert horizon is not None
    (made,) = bench.measure(scenario, [{"horizon": bench.choose(horizon, horizon / 4)}], reserved)
    names = {f"lal.{known}.running": known for known in PHI}
    where = "one dual-processor node" if name == "vres-node" else "a site of 40 nodes"
    site, node = caps
    draw_lanes(
        bench.figure(figure),
        simulate(scenario, bench.seed),
        names,
        {"batch": node, "sdj": node} if name == "vres-node" else {"sdj": site},
        f"Jobs on {where}",
        "simulated; generated workload",
    )
    source = f"section 3.3, {figure.replace('-', ' ')}"
    return [
        definition(
            "R1",
            name,
            "a short deadline job starts at once or is rejected",
            source,
            always("no delay", [late == 0 for late in made["late"]]),
            reason="in the model, no site lets such a job wait",
        ),
        definition(
            "R2",
            name,
            "the number of short deadline jobs that run at once keeps its limit",
            source,
            always(f"at most {site} per site", [count <= site for count in made["site"]]),
            always(f"at most {node} per node", [count <= node for count in made["node"]]),
            reason="in the model, a site starts no more",
        ),
        definition(
            "R3",
            name,
            "never more than one batch job runs on a processor",
            source,
            always("at most 2 per node", [count <= 2 for count in made["batch"]]),
            reason="a processor has one slot for batch jobs",
        ),
        definition(
            "R4",
            name,
            "batch jobs are slowed down by a limited factor only",
            "section 1.2",
            always(
                "slow-down at most 2.5 (slots per processor)", [x <= 2.5 + 1e-6 for x in made["slowdown"]]
            ),
            Finding("worst slow-down of a run", quantile(made["slowdown"]), high=2.5 + 1e-6),
            reason="a slot has at most one job, and the jobs of a processor share it evenly",
        ),
        definition(
            "R5",
            name,
            "a class that fills its slots receives at least its share",
            "section 3.2",
            always("no class receives less", [excess >= -1e-9 for excess in made["excess"]]),
            reason="a slot has at most one job, and the jobs of a processor share it evenly",
        ),
    ]
