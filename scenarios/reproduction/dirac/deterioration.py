"""RR-5576, section 9: push against pull and pilots, on a grid without faults and with all of them."""

from __future__ import annotations

from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.reproduction.claims import Claim, hypothesis
from gridtune.scenarios.reproduction.dirac.runs import PUSH, STRATEGIES
from gridtune.scenarios.reproduction.statistics import Finding, difference, ratio
from gridtune.scenarios.reproduction.workbench import Values, Workbench

SCENARIO = "dirac/deteriorating"
NEWS = ("services", "reports")  # parts that befall what push knows of the sites
EQUAL = 1.01  # a response that is at most 1 % longer is as good


def only(scenario: Scenario, *parts: str) -> Scenario:
    """A scenario in which nothing but some parts breaks."""
    return scenario.override({f"parts.{part}": part in parts for part in scenario.spec.parts})


def deterioration(bench: Workbench) -> list[Claim]:
    """Section 9: push knows all sites as they are, unless it is the news of them that breaks."""
    scenario = load(SCENARIO)

    def made(context: Scenario) -> dict[str, Values]:
        return dict(zip(STRATEGIES, bench.evaluate(context, list(STRATEGIES.values())), strict=True))

    ideal, broken, news = made(only(scenario)), made(scenario), made(only(scenario, *NEWS))
    others = [name for name in STRATEGIES if name != PUSH]
    pilots = [name for name in others if name != "pull"]

    def slower(context: dict[str, Values], names: list[str]) -> list[Finding]:
        return [
            Finding(
                f"response of push minus that of {name}, s",
                difference(context[PUSH]["meta_response_mean"], context[name]["meta_response_mean"]),
                low=0,
                strict=True,
            )
            for name in names
        ]

    def claim(known: str, text: str, *findings: Finding, reason: str = "") -> Claim:
        return hypothesis(known, "deterioration", text, "section 9", *findings, reason=reason)

    return [
        claim(
            "P9a",
            "without faults, response times under push (update period 0, dedicated sites) are at most as "
            "long as under pull and with pilots",
            *(
                Finding(
                    f"response of push over that of {name}",
                    ratio(ideal[PUSH]["meta_response_mean"], ideal[name]["meta_response_mean"]),
                    high=EQUAL,
                )
                for name in others
            ),
            reason="push with an update period of 0, on dedicated sites",
        ),
        claim(
            "P9b",
            "with all faults, response times (with pilots) are shorter than under push",
            *slower(broken, pilots),
        ),
        claim(
            "P9c",
            "with all faults, response times (under pull) are shorter than under push",
            *slower(broken, ["pull"]),
        ),
        claim(
            "P9d",
            "with all faults, fewer tasks fail under pull and with pilots than under push",
            *(
                Finding(
                    f"share of failed tasks under push minus that under {name}",
                    difference(broken[PUSH]["failed_fraction"], broken[name]["failed_fraction"]),
                    low=0,
                    strict=True,
                )
                for name in others
            ),
            reason="a task fails if it is lost, or takes longer than an hour and than three times its run "
            "time",
        ),
        claim(
            "P9e",
            "if the only faults are failing services and wrong reports of load, response times are shorter "
            "under pull and with pilots than under push",
            *slower(news, others),
        ),
    ]
