"""RR-7959, figures 4 and 5: clients that come at night, together or one after the other."""

from __future__ import annotations

from gridtune.scenarios.reproduction.claims import Claim, definition, hypothesis, unstated
from gridtune.scenarios.reproduction.diet.comparison import compare, everybody_happy, happy
from gridtune.scenarios.reproduction.statistics import (
    Finding,
    quantile,
    ratio,
)
from gridtune.scenarios.reproduction.workbench import Workbench


def simultaneous(bench: Workbench) -> list[Claim]:
    """Figure 4: everybody enters at once."""
    name, source = "night-simultaneous", "figure 4"
    made = compare(bench, name, "figure-4")
    large = [n for n in made.legacy if n >= 100]
    return [
        everybody_happy(made.ethic, name, source),
        hypothesis(
            "D2a",
            name,
            "legacy leaves servers idle if n_submit is small",
            source,
            Finding(
                "completed with n_submit = 50, over DIET-ethic's",
                ratio(made.legacy[50]["completed"], made.ethic["completed"]),
                high=0.6,
            ),
        ),
        hypothesis(
            "D2b",
            name,
            "if n_submit is large, legacy completes nearly as many requests as DIET-ethic, and is fair",
            source,
            *(
                Finding(
                    f"completed with n_submit = {n}, over DIET-ethic's",
                    ratio(made.legacy[n]["completed"], made.ethic["completed"]),
                    low=0.98,
                )
                for n in (large[0], large[-1])
            ),
            *(Finding(f"unfairness with {n}", made.median("unfairness", n), high=0.1) for n in large[::3]),
        ),
    ]


def consecutive(bench: Workbench) -> list[Claim]:
    """Figure 5: users enter 0.1 s apart."""
    name, source = "night-consecutive", "figure 5"
    made = compare(bench, name, "figure-5")
    below = [n for n in made.legacy if n < 100]
    gains = [
        max(made.legacy[n]["unfairness"][k] for n in made.legacy) / unfairness
        for k, unfairness in enumerate(made.ethic["unfairness"])
    ]
    return [
        everybody_happy(made.ethic, name, source),
        hypothesis(
            "D3a",
            name,
            "n_submit = 100 is ideal for legacy",
            source,
            Finding("completed", made.median("completed", 100), 1000, 1000),
            happy(made.legacy[100]),
        ),
        definition(
            "D3b",
            name,
            "with a lower n_submit, legacy leaves servers idle",
            source,
            *(Finding(f"completed with {n}", made.median("completed", n), high=10 * n) for n in below[::5]),
            reason="ten clients then submit fewer requests than ten servers can do in time",
        ),
        hypothesis(
            "D3c",
            name,
            "with a higher n_submit, legacy makes users unhappy; with a lower one, it does not",
            source,
            *(happy(made.legacy[n]) for n in below[-1:]),
            *(
                Finding(f"unhappy users with {n}", made.median("unhappy_users", n), low=1)
                for n in (150, 1000)
            ),
        ),
        unstated(
            "D3d",
            name,
            "unfairness of legacy is up to 150 times that of DIET-ethic",
            "abstract, figure 5",
            Finding("largest unfairness of legacy over DIET-ethic's", quantile(gains), 50, 450),
            reason="it is 115 times without gaps between submissions, 33 times with gaps of 2 ms; the paper "
            "gives no gap",
        ),
        hypothesis(
            "D3e",
            name,
            "DIET-ethic completes as many requests as legacy with the ideal n_submit",
            "section 5.1.2",
            Finding(
                "completed, over legacy's with n_submit = 100",
                ratio(made.ethic["completed"], made.legacy[100]["completed"]),
                0.98,
                1.02,
            ),
        ),
    ]
