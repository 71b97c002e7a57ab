"""Whether what a search says of harm holds on weeks of a log that it has not seen, in calendar order.

    python -m tests.benchmarks.held_out --work /tmp/held-out --rows docs/data/held_out.json   # resumable
    python docs/making/tables.py                                       # shows it in docs/systems/batch.md

Searches of `batch/replay` with weeks of each log, with the objectives of a calibrated scenario. Baseline and
recommendations replay the weeks after those of the search as they were logged. A metric of a class of jobs or
users is worse if it grows by more than a tenth. It is named if the answer says so, for some replications only
(`some`), or only for a higher load (`busier`).
"""

from __future__ import annotations

import argparse
import json
from math import isfinite, nan
from pathlib import Path
from typing import Any, NamedTuple

import gridtune as gt
from gridtune.optimize.replication.guards import DELAYED, OF_USER, delayed
from gridtune.optimize.runs.evaluator import with_users
from gridtune.scenarios.calibration.written import OBJECTIVES, REPLICATIONS
from gridtune.scenarios.execution.replicate import Task
from gridtune.scenarios.tables.search import Starvation
from tests.benchmarks.answers import called
from tests.benchmarks.rows import known_in

DATA = Path(__file__).parents[3] / "shared/data"
WEEK = 7 * 86400.0
CLASSES = ("waited_", "waiting_mean.", "slowdown_mean.")
MUCH = 1.1  # times the baseline's value
PLACES = ("named", "some", "busier")  # the first that has it counts


class Log(NamedTuple):
    """A log, its weeks, and how often it is searched.

    Attributes:
        file: of the log.
        weeks: the first that is searched, the first that is held back, and the first of the rest.
        searches: of equal weeks, with seeds from 1 on.
        runs: of each search.
    """

    file: str
    weeks: tuple[int, int, int]
    searches: int
    runs: int = 300


LOGS = {
    "KTH-SP2": Log("KTH-SP2-1996-2.1-cln.swf.gz", (0, 32, 48), 5),
    "Gaia": Log("UniLu-Gaia-2014-2.swf.gz", (0, 8, 12), 5),
    "LPC": Log("LPC-EGEE-2004-1.2-cln.swf.gz", (22, 30, 35), 1, runs=100),  # a run takes up to 30 s
}


def span(log: Log, first: int, last: int) -> dict[str, Any]:
    """What replays these weeks of a log."""
    return {
        "workload.log.trace": str(DATA / log.file),
        "workload.log.start": first * WEEK,
        "workload.log.end": last * WEEK,
    }


def metrics(log: Log, first: int, last: int, values: dict[str, Any]) -> dict[str, float]:
    """Metrics of these weeks of the log under a configuration, waits of each user among them."""
    replay = gt.load("batch/replay", {**span(log, first, last), **values})
    return {name: metric.value for name, metric in with_users(Task(replay, {}, 1, 0)).items()}


def measured(name: str, seed: int, work: Path) -> dict[str, Any]:
    """One search, and what its recommendations do on the weeks held back."""
    log = LOGS[name]
    first, held, end = log.weeks
    work.mkdir(parents=True, exist_ok=True)
    words = ["search", "batch/replay", "--runs", str(log.runs), "--replications", str(REPLICATIONS)]
    words += [part for path, value in span(log, first, held).items() for part in ("--set", f"{path}={value}")]
    words += [part for one in OBJECTIVES for part in ("--objective", one)]
    words += ["--resume"] if (work / "found").exists() else []
    called([*words, "--seed", str(seed), "--jobs", "2", "--out", "found"], work)
    advice = json.loads((work / "found/front.json").read_text(encoding="utf-8"))["recommendations"]
    baseline = metrics(log, held, end, {}) if advice else {}
    comparisons = [judged(one, baseline, metrics(log, held, end, one["values"])) for one in advice]
    return {"log": name, "seed": seed, "recommendations": comparisons}


def judged(one: dict[str, Any], baseline: dict[str, float], changed: dict[str, float]) -> dict[str, Any]:
    """What the weeks held back say of a recommendation; metrics that are not finite say nothing."""
    names = [name for name in baseline if name.startswith(CLASSES) and not name.startswith(OF_USER)]
    names = [name for name in names if isfinite(baseline[name]) and isfinite(changed.get(name, nan))]
    said = {harm["metric"]: _place(harm) for harm in one["harms"]}
    worse = {name: [baseline[name], changed[name]] for name in names if changed[name] > MUCH * baseline[name]}
    sorted_out: dict[str, dict[str, list[float]]] = {}
    left = worse
    for place in PLACES:
        # The class that waits longest is told by its own name.
        pairs = [pair for name, pair in worse.items() if said.get(name) == place]
        sorted_out[place] = {name: pair for name, pair in left.items() if pair in pairs}
        left = {name: pair for name, pair in left.items() if pair not in pairs}
    sorted_out["unsaid"] = left
    return {
        "letter": one["letter"],
        "slowdown": [baseline["slowdown_mean"], changed["slowdown_mean"]],
        "longest": [baseline["waited_max"], changed["waited_max"]],
        "statements": len(names),
        # Share of the users whose waits are beyond the bounds of the guard: as told, and in these weeks.
        "delayed": [
            max((harm["mean"] for harm in one["harms"] if harm["metric"] == DELAYED), default=0.0),
            delayed(changed, baseline, Starvation())[DELAYED],
        ],
        **sorted_out,
    }


def _place(harm: dict[str, Any]) -> str:
    """Where the answer names a harm."""
    if harm["load"] > 1:
        return "busier"
    return "named" if harm["part"] is None else "some"


def main() -> None:
    """Run and judge the searches that are not known yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder of the searches")
    parser.add_argument("--rows", type=Path, required=True, help="file of the measurements")
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = known_in(asked.rows, [])
    known = {(row["log"], row["seed"]) for row in rows}
    for name, log in LOGS.items():
        for seed in range(1, log.searches + 1):
            if (name, seed) not in known:
                rows.append(measured(name, seed, asked.work / f"{name}-{seed}"))
                asked.rows.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
