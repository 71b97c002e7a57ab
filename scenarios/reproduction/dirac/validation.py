"""RR-5576, figures 5 and 6: the simulator against queueing theory and against service times."""

from __future__ import annotations

from statistics import fmean

from gridtune.model.batch.queueing_theory import mmc_wait
from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.reproduction.claims import (
    Claim,
    definition,
    hypothesis,
)
from gridtune.scenarios.reproduction.dirac.figures import (
    draw_queue,
    draw_services,
)
from gridtune.scenarios.reproduction.dirac.runs import (
    LOADS,
    deviations,
    service_runs,
)
from gridtune.scenarios.reproduction.statistics import (
    Finding,
    ratio,
)
from gridtune.scenarios.reproduction.workbench import Workbench

CUSTOMERS, SERVERS, SERVICE = 1000, 4, 4.0


def queue(bench: Workbench) -> list[Claim]:
    """Figure 5: runs of 1000 customers through an M/M/4 queue at each arrival rate."""
    configurations = [{"queue.load": rate, "queue.customers": CUSTOMERS} for rate in LOADS]
    scenario = load("queue/mmc").override({"queue.servers": SERVERS, "queue.mean_service": SERVICE})
    runs = [values["response_mean"] for values in bench.evaluate(scenario, configurations)]
    theory = [SERVICE + mmc_wait(SERVERS, rate, SERVICE) for rate in LOADS]
    draw_queue(bench.figure("figure-5"), LOADS, runs, theory)
    return [
        hypothesis(
            "P0a",
            "queue",
            "response times of a queue with four servers agree with theory (within 10 %, at loads up to "
            "70 %)",
            "figure 5",
            *(
                Finding(
                    f"response at arrival rate {rate:g}, over theory's",
                    ratio(values, [exact] * len(values)),
                    0.9,
                    1.1,
                )
                for rate, values, exact in zip(LOADS, runs, theory, strict=True)
                if rate <= 0.7
            ),
            reason="beyond a rate of 0.7 a run of 1000 customers is far from the steady state",
        ),
    ]


def services(bench: Workbench) -> list[Claim]:
    """Figure 6: what a model of a batch system loses if it leaves out the system's own service times."""
    made = service_runs(bench.seed, bench.replications)
    draw_services(bench.figure("figure-6"), made)
    error = {name: [fmean(run) for run in deviations(made, name)] for name in ("constant", "none")}
    return [
        definition(
            "P0b",
            "services",
            "a model without delays of a site's scheduler gives wrong response times; "
            "constant delays correct most of the error",
            "section 6.3, figure 6",
            Finding(
                "deviation of response times, over that without service times (paper: 10.5 % over 80 %)",
                ratio(error["constant"], error["none"]),
                high=0.5,
            ),
            reason="the paper has no measurements, so gridtune compares with its own model with random "
            "delays",
        ),
    ]
