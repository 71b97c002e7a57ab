"""Whether what a search says of harm holds on weeks of a log that it has not seen, in calendar order.

    python -m tests.benchmarks.answers --work /tmp/answers
    python -m tests.benchmarks.held_out --work /tmp/answers --rows docs/data/held_out.json
    python docs/making/tables.py                                       # shows it in docs/systems/batch.md

The searches are those of `batch/replay` in `answers`: the first 2,000 jobs of KTH-SP2, some three weeks.
Baseline and recommendations replay the weeks after them as they were logged: whole, and in stretches that
give paired differences. A metric of a class of jobs or users is worse if it grows by more than a tenth,
significantly over the stretches (paired t, 95 %).
"""

from __future__ import annotations

import argparse
import json
from math import isfinite
from pathlib import Path
from statistics import fmean
from typing import Any

from scipy.stats import ttest_1samp

import gridtune as gt
from tests.benchmarks.answers import KTH

WEEK = 7 * 86400.0
SEEN, UNTIL, STRETCH = 4, 40, 4  # weeks: searched, at most; the end of what is held back; a stretch of it
CLASSES = ("waited_p95.", "waited_mean.worst-users", "waited_day", "waiting_mean.", "slowdown_mean.")
LEAST = 0.1  # of the baseline's mean


def metrics(first: float, last: float, values: dict[str, Any]) -> dict[str, float]:
    """Metrics of these weeks of the log under a configuration."""
    span = {"workload.log.start": first * WEEK, "workload.log.end": last * WEEK}
    replay = gt.load("batch/replay", {"workload.log.trace": str(KTH), **span, **values})
    return {name: float(column.iloc[0]) for name, column in replay.run(jobs=1).values.items()}


def measured(found: dict[str, Any], seed: int) -> dict[str, Any]:
    """What the recommendations of a search do on the weeks held back."""
    spans = [(SEEN, UNTIL), *((week, week + STRETCH) for week in range(SEEN, UNTIL, STRETCH))]
    advice = found["recommendations"]
    baseline = [metrics(*span, {}) for span in spans] if advice else []
    judgements = [judged(one, baseline, [metrics(*span, one["values"]) for span in spans]) for one in advice]
    return {"log": "KTH-SP2", "seed": seed, "recommendations": judgements}


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
    """Judge every search that is there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder of the searches of `answers`")
    parser.add_argument("--rows", type=Path, required=True, help="file of the measurements")
    asked = parser.parse_args()
    rows = []
    for folder in sorted(asked.work.glob("batch-replay-*")):
        found = json.loads((folder / "found/front.json").read_text(encoding="utf-8"))
        rows.append(measured(found, int(folder.name.rpartition("-")[2])))
        asked.rows.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
