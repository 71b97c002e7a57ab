"""How near estimated means come to true ones, with logarithms where these fit, and without.

    python -m tests.benchmarks.estimates --rows docs/data/estimates.jsonl     # what is missing; 15 minutes
    python docs/making/tables.py                                              # shows it

Every fifth configuration of short searches is run again: the mean of `TRUTH` runs counts as true.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest.mock import patch

import numpy as np

import gridtune as gt
from gridtune.optimize.front.front import Front, front
from gridtune.optimize.inference import gaussian_process
from tests.benchmarks.rows import add_missing

SCENARIOS, SEEDS, BUDGET, EACH = ("dirac/search", "egee/search"), (1, 2, 3, 4), 60, 5
TRUTH, TRUE_SEED = 30, 777_777
WITH, WITHOUT = "logarithms", "without"
ERRORS = (0.5, 0.9, 1.0)  # quantiles


def measured(name: str, seed: int) -> Iterator[dict[str, Any]]:
    """Estimated and true means of a search's configurations, and whether intervals held."""
    study = gt.search(name, budget=BUDGET, seed=seed, jobs=1)
    archive = study.archive
    table = study.configurations
    chosen = [n for n in table.index[table["state"].isin(["front", "dominated"])] if n != archive.baseline][
        ::EACH
    ]

    def truth(which: int | str) -> Any:
        return study.at(which).run(seed=TRUE_SEED, replications=TRUTH, jobs=1, tables=False).values

    true, start = {number: truth(number) for number in chosen}, truth("baseline")
    with patch.object(gaussian_process, "_in_proportion", lambda *_: 0):
        plain = front(archive)
    for how, made in ((WITH, study.details), (WITHOUT, plain)):
        yield from _rows(made, true, start, {"scenario": name, "seed": seed, "how": how})


def _rows(made: Front, true: dict[int, Any], start: Any, head: dict[str, Any]) -> Iterator[dict[str, Any]]:
    assert made.posterior is not None
    assert made.archive.baseline is not None
    for objective in made.objectives:
        errors, held = [], []
        for number, runs in true.items():
            if number in made.posterior:
                gap = (runs[objective.name] - start[objective.name]).mean()
                told = made.posterior.difference(number, made.archive.baseline, objective)
                told = told.times(made.posterior.factor_of(objective))
                assert told.low is not None
                assert told.high is not None
                held.append(bool(told.low <= gap <= told.high))
                errors.append(
                    abs(np.log(max(made.value(number, objective), 1e-9) / runs[objective.name].mean()))
                )
        yield head | {"objective": objective.name, "errors": np.round(errors, 4).tolist(), "held": held}


def told(rows: list[dict[str, Any]]) -> str:
    """Errors and coverage in sentences."""
    found = {}
    for how in (WITH, WITHOUT):
        mine = [row for row in rows if row["how"] == how]
        errors = [error for row in mine for error in row["errors"]]
        most = np.expm1(np.quantile(errors, ERRORS))
        found[how] = *most, fmean(held for row in mine for held in row["held"])
    (half, nine, worst, held), (_, other_nine, other_worst, other_held) = (
        [f"{100 * number:.0f} %" for number in found[how]] for how in (WITH, WITHOUT)
    )
    searches = len({(row["scenario"], row["seed"]) for row in rows})
    names = " and ".join(f"`{name}`" for name in SCENARIOS)
    return (
        f"In {searches} searches of {names} ({BUDGET} configurations each), half of the estimated means "
        f"were off by\nless than {half}. 90 % were off by less than {nine}, the worst by {worst}. Without "
        f"logarithms, 90 % were off by less than\n{other_nine}, the worst by {other_worst}. "
        f"{held} of the 95 % intervals of differences from the baseline contained the true one\n"
        f"(without logarithms: {other_held})."
    )


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=Path, required=True, help="file of the measurements")
    asked = parser.parse_args()
    add_missing(asked.rows, product(SCENARIOS, SEEDS), ("scenario", "seed"), measured)


if __name__ == "__main__":
    main()
