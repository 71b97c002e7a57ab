"""RR-7959, figures 6 to 8: clients that come by day, at regular times or as people do."""

from __future__ import annotations

from itertools import pairwise

from gridtune.scenarios.reproduction.claims import Claim, hypothesis
from gridtune.scenarios.reproduction.diet.comparison import compare, everybody_happy, happy
from gridtune.scenarios.reproduction.statistics import (
    Finding,
    always,
    difference,
    ratio,
    share,
)
from gridtune.scenarios.reproduction.workbench import Workbench


def regular(bench: Workbench) -> list[Claim]:
    """Figure 6: users enter 10 s apart."""
    name, source = "day-regular", "figure 6"
    made = compare(bench, name, "figure-6")
    best = [made.best(k) == 190 for k in range(bench.replications)]
    ideal = made.legacy[190]
    beyond = list(pairwise(n for n in made.legacy if n >= 190))
    rises = {
        (before, n): difference(made.legacy[n]["unfairness"], made.legacy[before]["unfairness"])
        for before, n in beyond
    }
    falls = [f"{before} to {n}" for (before, n), change in rises.items() if change.value < 0]
    return [
        everybody_happy(made.ethic, name, source),
        hypothesis(
            "D4a",
            name,
            "legacy behaves best at n_submit = 190",
            source,
            Finding("190 is best", share(best), low=0.5, strict=True),
            Finding("completed with 190", made.median("completed", 190), 1890, 1890),
            happy(ideal),
        ),
        hypothesis(
            "D4b",
            name,
            "DIET-ethic completes 1842 requests, 2.5 % fewer than legacy's best",
            source,
            Finding("completed", made.median("completed"), 1835, 1855),
        ),
        hypothesis(
            "D4c",
            name,
            "each mandatory request of users 2 to 10 kills an optional request",
            "section 5.1.3",
            always("27 kills", [kills == 27 for kills in made.ethic["killed"]]),
        ),
        hypothesis(
            "D4d",
            name,
            "DIET-ethic is fairer than legacy, and nearly ideally fair",
            source,
            Finding("unfairness", made.median("unfairness"), high=0.15),
            Finding(
                "unfairness, minus legacy's with 190",
                difference(made.ethic["unfairness"], ideal["unfairness"]),
                high=0,
                strict=True,
            ),
        ),
        hypothesis(
            "D5a",
            name,
            "as n_submit grows beyond 190, unfairness of legacy rises",
            source,
            *(
                Finding(f"unfairness with {n}, minus that with {before}", change, low=0, strict=True)
                for (before, n), change in rises.items()
            ),
            reason=f"unfairness falls from n_submit = {', '.join(falls)}" if falls else "",
        ),
        hypothesis(
            "D5b",
            name,
            "as n_submit grows beyond 190, legacy completes slightly fewer requests",
            source,
            *(
                Finding(
                    f"completed with {n}, minus that with {before}",
                    difference(made.legacy[n]["completed"], made.legacy[before]["completed"]),
                    high=0,
                )
                for before, n in beyond
            ),
            Finding(
                "completed with 1000, over that with 190",
                ratio(made.legacy[1000]["completed"], ideal["completed"]),
                0.9,
                1,
                strict=True,
            ),
        ),
    ]


def irregular(bench: Workbench, name: str, figure: str, number: int) -> list[Claim]:
    """Figures 7 and 8: users enter as on a working day, with equal or with random execution times."""
    made = compare(bench, name, figure)
    source = f"figure {number}, section 5.1.4"
    # The best for most days: of those that leave fewest unhappy in the median, the one that completes most.
    good = max(
        made.legacy,
        key=lambda n: (-made.median("unhappy_users", n).value, made.median("completed", n).value),
    )
    more = next((n for n in made.legacy if n >= 2 * good), max(made.legacy))
    days = range(bench.replications)
    return [
        everybody_happy(made.ethic, name, source),
        hypothesis(
            "D6a",
            name,
            "with the best n_submit, legacy leaves nobody unhappy, and completes nearly as many requests as "
            "DIET-ethic",
            source,
            Finding(f"unhappy users with {good}", made.median("unhappy_users", good), high=0),
            Finding(
                f"completed with {good}, over DIET-ethic's",
                ratio(made.legacy[good]["completed"], made.ethic["completed"]),
                low=0.85,
            ),
        ),
        hypothesis(
            "D6b",
            name,
            "twice the best n_submit makes users unhappy",
            source,
            Finding(f"unhappy users with {more}", made.median("unhappy_users", more), low=1),
        ),
        hypothesis(
            "D6c",
            name,
            "DIET-ethic tunes itself: legacy with any n_submit does not dominate it",
            source,
            *(
                Finding(f"{n} does", share([made.dominates(n, k) for k in days]), high=0.5, strict=True)
                for n in made.legacy
                if n in (good, more) or any(made.dominates(n, k) for k in days)
            ),
        ),
    ]
