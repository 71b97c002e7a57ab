"""Whether what a search says of harm holds on weeks of a log that it has not seen, in calendar order.

    python -m tests.benchmarks.held_out --work /tmp/held-out --rows docs/data/held_out.json   # goes on
    python docs/making/tables.py                                       # shows it in docs/systems/batch.md

`batch/replay` is searched on the first weeks of a log. Baseline and recommendations then replay the weeks
after them as they were logged: whole, and in stretches that give paired differences. A harm is a metric of a
class of jobs or users that is worse by more than a tenth, significantly over the stretches (paired t, 95 %).
"""

from __future__ import annotations

import argparse
import json
from math import isfinite
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from scipy.stats import ttest_1samp

import gridtune as gt
from tests.benchmarks.rows import known_in

TRACES = Path(__file__).parents[3] / "shared/data"
WEEK = 7 * 86400.0
OBJECTIVES = ["slowdown_mean", "waited_p95.worst-size", "slowdown_jain"]
CLASSES = ("waited_p95.", "waited_mean.worst-users", "waited_day", "waiting_mean.", "slowdown_mean.")
LEAST = 0.1  # of the baseline's mean
SEEDS = (1, 2, 3, 4, 5)


class Log(NamedTuple):
    """What is searched and what is held back, in weeks from the log's first submission.

    Attributes:
        trace: file below the shared traces.
        seen: weeks to search.
        until: week in which what is held back ends.
        stretch: weeks of each stretch of it.
        compression: how much closer jobs come; a log of an idle site says little of policies.
    """

    trace: str
    seen: int
    until: int
    stretch: int
    compression: float = 1.0


LOGS = {
    "KTH-SP2": Log("KTH-SP2-1996-2.1-cln.swf.gz", 16, 40, 4),
    "UniLu-Gaia": Log("UniLu-Gaia-2014-2.swf.gz", 8, 12, 1, 1.5),
}


def replay(log: Log, first: float, last: float, values: dict[str, Any]) -> Any:
    """The weeks of a log under a configuration."""
    return gt.load(
        "batch/replay",
        {
            "workload.log.trace": str(TRACES / log.trace),
            "workload.log.start": first * WEEK,
            "workload.log.end": last * WEEK,
            "workload.log.compression": log.compression,
            **values,
        },
    )


def metrics(log: Log, first: float, last: float, values: dict[str, Any]) -> dict[str, float]:
    """Metrics of a replay."""
    values_of_run = replay(log, first, last, values).run(jobs=1).values
    return {name: float(column.iloc[0]) for name, column in values_of_run.items()}


def measured(name: str, seed: int, runs: int, work: Path) -> dict[str, Any]:
    """One search and what its recommendations do on the weeks held back."""
    log = LOGS[name]
    gt.search(
        replay(log, 0, log.seen, {}),
        runs=runs,
        objectives=OBJECTIVES,
        seed=seed,
        jobs=1,
        out=work,
        resume=(work / "study.journal").exists(),
    )
    found = json.loads((work / "front.json").read_text(encoding="utf-8"))
    row: dict[str, Any] = {"log": name, "seed": seed, "runs": runs, "recommendations": []}
    if not found["recommendations"]:
        return row
    spans = [(log.seen, log.until)]
    spans += [(week, week + log.stretch) for week in range(log.seen, log.until, log.stretch)]
    baseline = [metrics(log, *span, {}) for span in spans]
    for one in found["recommendations"]:
        changed = [metrics(log, *span, one["values"]) for span in spans]
        row["recommendations"].append(judged(one, baseline, changed))
    return row


def judged(
    one: dict[str, Any], baseline: list[dict[str, float]], changed: list[dict[str, float]]
) -> dict[str, Any]:
    """What the weeks held back say of a recommendation; the first of each list is all of them."""
    said = {harm["metric"] for harm in one["harms"]}
    found = {name: worse(name, baseline[1:], changed[1:]) for name in baseline[0] if name.startswith(CLASSES)}
    harmful = {name: ratio for name, ratio in found.items() if ratio is not None}
    return {
        "letter": one["letter"],
        "slowdown": [baseline[0]["slowdown_mean"], changed[0]["slowdown_mean"]],
        "longest": [baseline[0]["waited_max"], changed[0]["waited_max"]],
        "statements": len(found),
        "harms": len(harmful),
        "unsaid": {name: ratio for name, ratio in harmful.items() if name not in said},
    }


def worse(name: str, baseline: list[dict[str, float]], changed: list[dict[str, float]]) -> float | None:
    """How many times worse a metric is, if significantly and by more than a tenth."""
    pairs = [(one[name], other[name]) for one, other in zip(baseline, changed, strict=True)]
    pairs = [pair for pair in pairs if all(map(isfinite, pair))]
    if len(pairs) < 2:
        return None
    before, after = (fmean(side) for side in zip(*pairs, strict=True))
    gaps = [other - one for one, other in pairs]
    if after <= (1 + LEAST) * before or ttest_1samp(gaps, 0.0).pvalue >= 0.05:
        return None
    return after / before if before else None


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for the searches")
    parser.add_argument("--rows", type=Path, required=True, help="file of the measurements")
    parser.add_argument("--runs", type=int, default=200, help="simulations of each search")
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = known_in(asked.rows, [])
    known = {(row["log"], row["seed"]) for row in rows}
    for seed in SEEDS:
        for name in LOGS:
            if (name, seed) not in known:
                rows.append(measured(name, seed, asked.runs, asked.work / f"{name}-{seed}"))
                asked.rows.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
