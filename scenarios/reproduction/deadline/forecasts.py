"""RR-5335, algorithms 1 to 3 under wrong forecasts."""

from __future__ import annotations

from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.reproduction.claims import (
    Claim,
    contradiction,
    hypothesis,
)
from gridtune.scenarios.reproduction.deadline.figures import draw_errors
from gridtune.scenarios.reproduction.statistics import (
    Finding,
    difference,
    mean,
)
from gridtune.scenarios.reproduction.workbench import Values, Workbench

ERRORS: dict[str, dict[str, float]] = {
    "none": {},
    "bias 0.5": {"bias": 0.5},
    "bias 2": {"bias": 2.0},
    "uneven (0.5)": {"spread": 0.5},
    "noise (0.5)": {"noise": 0.5},
    "bias 0.5, uneven, noise": {"bias": 0.5, "spread": 0.5, "noise": 0.5},
}
ALGORITHMS = {
    "greedy": ("greedy", "none"),
    "algorithm 1": ("mct", "none"),
    "algorithm 2": ("mct", "average"),
    "algorithm 2 as printed": ("mct", "listing"),
    "algorithm 3": ("priority", "none"),
    "algorithm 3, corrected": ("priority", "average"),
}


def forecast_error(bench: Workbench) -> list[Claim]:
    """Algorithms 1 to 3 under wrong forecasts."""
    keys = [(error, algorithm) for error in ERRORS for algorithm in ALGORITHMS]
    configurations = [
        {
            "agent.routing": ALGORITHMS[algorithm][0],
            "agent.correction": ALGORITHMS[algorithm][1],
            "agent.forecast": {"kind": "nws", **ERRORS[error]},
        }
        for error, algorithm in keys
    ]
    # At reduced size there are five times fewer servers and tasks.
    size = bench.choose({}, {"server.count": 20, "workload.count": 600})
    runs = bench.evaluate(load("deadline/forecast-error").override(size), configurations)
    made: dict[tuple[str, str], Values] = dict(zip(keys, runs, strict=True))
    draw_errors(bench.figure("forecast-error"), made, list(ERRORS), list(ALGORITHMS))
    helped = [error for error in ERRORS if error not in ("none", "bias 2")]

    def fewer(plain: str, corrected: str) -> list[Finding]:
        return [
            Finding(
                f"share of deadlines missed less ({error})",
                difference(made[error, plain]["missed_fraction"], made[error, corrected]["missed_fraction"]),
                low=0,
                strict=True,
            )
            for error in helped
        ]

    def forecasts(algorithm: str, low: float, high: float) -> list[Finding]:
        return [
            Finding(
                f"forecast over actual time ({error})",
                mean(made[error, algorithm]["forecast_ratio"]),
                low,
                high,
            )
            for error in ("bias 0.5", "bias 2")
        ]

    left = {bias: settled_ratio(bias) for bias in (0.5, 2.0)}
    return [
        hypothesis(
            "P6a",
            "forecast-error",
            "correction removes a bias of forecasts",
            "section 4.2, algorithm 2",
            *forecasts("algorithm 2", 0.85, 1.15),
        ),
        contradiction(
            "P6b",
            "forecast-error",
            "correction removes a bias if algorithm 2 is used as printed",
            "algorithm 2",
            *forecasts("algorithm 2 as printed", 0.85, 1.15),
            clash=any(abs(ratio - 1) > 0.15 for ratio in left.values()),
            arithmetic="the printed algorithm computes the error from the corrected forecast. So forecasts "
            "settle at "
            + " and at ".join(
                f"{ratio:.2f} times the actual time under a bias of {bias:g}" for bias, ratio in left.items()
            ),
        ),
        hypothesis(
            "P6c",
            "forecast-error",
            "algorithm 2 misses fewer deadlines than algorithm 1",
            "section 4.2",
            *fewer("algorithm 1", "algorithm 2"),
            reason="forecasts that are too long for all servers alike do not change the order of the "
            "servers, and so do no harm",
        ),
        hypothesis(
            "P6d",
            "forecast-error",
            "correction helps deadline scheduling (algorithm 3), too",
            "sections 2 and 4.2",
            *fewer("algorithm 3", "algorithm 3, corrected"),
            reason="forecasts that are too long are a margin of safety, which correction takes away",
        ),
    ]


def settled_ratio(bias: float, tasks: int = 10_000) -> float:
    """Forecast over actual time where algorithm 2 as printed settles, for forecasts off by a factor.

    The listing: T is multiplied by Correc / 100, and after the execution Correc becomes
    (n Correc + 100 T_real / T) / (n + 1), with that T.
    """
    correction, forecast = 100.0, bias
    for n in range(tasks):
        forecast = bias * correction / 100
        correction = (n * correction + 100 / forecast) / (n + 1)
    return forecast
