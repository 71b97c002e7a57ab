"""RR-5335, section 2: what Takefusa et al. found of several agents, load correction and fallback."""

from __future__ import annotations

from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.reproduction.claims import Claim, hypothesis
from gridtune.scenarios.reproduction.statistics import Finding, difference, ratio
from gridtune.scenarios.reproduction.workbench import Configuration, Workbench

RARE = 300.0  # s between reports of the servers, in place of one minute


def agents(bench: Workbench) -> list[Claim]:
    """Four agents over the same servers, with and without load correction and fallback."""
    size = bench.choose({}, {"workload.task.count": 150, "workload.task.window": 4_320.0})
    uncorrected: dict[str, object] = {"agent.load_correction": False}
    rare: dict[str, object] = {"agent.probe_period": RARE}
    configurations: list[Configuration] = [
        {},
        uncorrected,
        {"agent.routing.fallback": "slipped"},
        rare,
        rare | uncorrected,
    ]
    made = bench.evaluate(load("deadline/several-agents").override(size), configurations)
    plain, without, fallback, seldom, seldom_without = made

    def claim(
        known: str, text: str, *findings: Finding, source: str = "section 2", reason: str = ""
    ) -> Claim:
        return hypothesis(known, "agents", text, source, *findings, reason=reason)

    return [
        claim(
            "P7a",
            "load correction does not improve the overall execution time significantly",
            Finding(
                "response with load correction, over that without",
                ratio(plain["response_mean"], without["response_mean"]),
                0.95,
                1.05,
            ),
            reason="servers report every minute; neither period nor load is in the text",
        ),
        claim(
            "P7b",
            "fallback reduces the failure rate (share of missed deadlines)",
            Finding(
                "share of deadlines missed less",
                difference(plain["missed_fraction"], fallback["missed_fraction"]),
                low=0,
                strict=True,
            ),
        ),
        claim(
            "P7c",
            "fallback does not increase the cost of scheduling",
            Finding(
                "servers examined for each task, over those without",
                ratio(fallback["scheduling_cost"], plain["scheduling_cost"]),
                high=1.05,
            ),
            reason="to take a task back and place it again costs something: within 5 %",
        ),
        claim(
            "P7d",
            f"if servers report every {RARE:g} s, fewer deadlines are missed with load correction",
            Finding(
                "share of deadlines missed less",
                difference(seldom_without["missed_fraction"], seldom["missed_fraction"]),
                low=0,
                strict=True,
            ),
            source="not in the paper",
        ),
    ]
