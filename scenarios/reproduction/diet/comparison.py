"""RR-7959, figures 4 to 8: legacy and DIET-ethic clients on the same workload."""

from __future__ import annotations

from dataclasses import dataclass

from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.reproduction.claims import Claim, hypothesis
from gridtune.scenarios.reproduction.diet.figures import draw_comparison
from gridtune.scenarios.reproduction.statistics import (
    Estimate,
    Finding,
    always,
    quantile,
)
from gridtune.scenarios.reproduction.workbench import Values, Workbench

N_SUBMIT = (
    3,
    10,
    20,
    30,
    35,
    40,
    45,
    50,
    60,
    75,
    90,
    100,
    110,
    125,
    150,
    175,
    190,
    200,
    250,
    300,
    400,
    500,
    700,
    1000,
)
FEW = {
    "night-simultaneous": (50, 100, 1000),
    "night-consecutive": (75, 100, 150, 1000),
    "day-regular": (100, 190, 300, 1000),
    "day-irregular": (35, 50, 100),
    "day-irregular-random": (20, 35, 75),
}


@dataclass(frozen=True)
class Comparison:
    """The legacy system for several n_submit, and DIET-ethic, in the same replications.

    Attributes:
        legacy: metric values by n_submit.
        ethic: metric values.
    """

    legacy: dict[int, Values]
    ethic: Values

    def median(self, metric: str, n_submit: int | None = None) -> Estimate:
        """Median of a metric, which the paper plots; of DIET-ethic if no n_submit is given."""
        return quantile((self.ethic if n_submit is None else self.legacy[n_submit])[metric])

    def best(self, replication: int) -> int:
        """The n_submit with which legacy does best: fewest unhappy users, then most completed requests."""
        return max(
            self.legacy,
            key=lambda n: (
                -self.legacy[n]["unhappy_users"][replication],
                self.legacy[n]["completed"][replication],
                -n,
            ),
        )

    def dominates(self, n_submit: int, replication: int) -> bool:
        """Whether legacy is better than DIET-ethic in one metric and as good in the two others."""
        legacy, ethic = self.legacy[n_submit], self.ethic
        gains = [
            ethic["unhappy_users"][replication] - legacy["unhappy_users"][replication],
            ethic["unfairness"][replication] - legacy["unfairness"][replication],
            legacy["completed"][replication] - ethic["completed"][replication],
        ]
        return min(gains) >= 0 and max(gains) > 0


def compare(bench: Workbench, name: str, figure: str) -> Comparison:
    """Run legacy clients over all n_submit and ethic clients once, and draw the three metrics."""
    scenario, counts = f"diet/{name}", bench.choose(N_SUBMIT, FEW[name])
    configurations = [{"client.dispatch": "legacy", "client.n_submit": n} for n in counts]
    *legacy, ethic = bench.evaluate(load(scenario), [*configurations, {"client.dispatch": "ethic"}])
    made = Comparison(dict(zip(counts, legacy, strict=True)), ethic)
    draw_comparison(bench.figure(figure), load(scenario).spec.title, made.legacy, made.ethic)
    return made


def happy(values: Values) -> Finding:
    """Whether nobody was unhappy in any run."""
    return always("nobody unhappy", [unhappy == 0 for unhappy in values["unhappy_users"]])


def everybody_happy(values: Values, experiment: str, source: str) -> Claim:
    """D1, which holds for every scenario."""
    return hypothesis("D1", experiment, "DIET-ethic leaves no user unhappy", source, happy(values))
