"""How well calibration fits logs, real ones and some of known settings, on the third that it did not see.

    python -m tests.benchmarks.calibrated_logs --work /tmp/cal --rows docs/data/calibrated.json
    python docs/making/tables.py     # shows them in docs/calibrating.md

Each row is what `gridtune calibrate LOG --format json` prints, and the CPU time that it took in s. The ten
schedules of OAR are calibrated to together. A second half is what was submitted in the latter half of a log's
time. Logs of known settings are eight weeks of a generated workload, made to wait by these; their rows have
the settings as `made_by`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import logging
import random
import time
from pathlib import Path
from typing import Any

from gridtune.scenarios import load, simulate
from gridtune.scenarios.calibration import calibrate
from gridtune.scenarios.calibration.report import as_json
from gridtune.scenarios.reproduction.oar.claims import SCHEDULE, SEEDS
from gridtune.scenarios.trace_files.find import find_trace
from tests.benchmarks.rows import known_in

WEEKS, PROCESSORS, USERS = 8, 100, 15
BETWEEN = 1200.0  # s between two jobs in the mean: two thirds of the processors are busy
MADE: dict[str, dict[str, Any]] = {
    "fcfs": {"policy": "fcfs"},
    "conservative": {"policy": "conservative"},
    "sjf": {"policy": {"kind": "priority", "rule": "sjf"}},
    "fair share": {"policy": "fair-share"},
    "quota": {"policy": "easy", "quota.user_running": 5},
    "nodes": {"policy": "easy", "nodes": 90},
    "overhead": {"policy": "easy", "start_overhead": 30.0},
}
WHOLE = {
    "KTH-SP2": "KTH-SP2-1996-2.1-cln.swf.gz",
    "UniLu-Gaia": "UniLu-Gaia-2014-2.swf.gz",
    "LPC-EGEE": "LPC-EGEE-2004-1.2-cln.swf.gz",
}
HALVES = {f"{name}, second half": name for name in WHOLE}
LOGS = {
    **{f"made: {name}": [f"{name.replace(' ', '-')}.swf"] for name in MADE},
    **{name: [file] for name, file in WHOLE.items()},
    **{half: [f"{name}-half.swf"] for half, name in HALVES.items()},
    "ten runs of OAR": [SCHEDULE.format(seed) for seed in SEEDS],
}


def shortened(value: Any) -> Any:
    """Numbers with four digits."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {name: shortened(one) for name, one in value.items()}
    return [shortened(one) for one in value] if isinstance(value, list) else value


def write_log(path: Path, settings: dict[str, Any]) -> None:
    """A log whose jobs wait as these settings of a site make them, in the Standard Workload Format."""
    draws = random.Random(5)
    rows: list[list[int]] = []
    now = 0.0
    while now < WEEKS * 7 * 86400.0:
        now += draws.expovariate(1 / BETWEEN)
        runtime = round(draws.lognormvariate(8.2, 1.4)) + 1
        width = draws.choice([1, 1, 1, 2, 4, 8, 16, 32])
        user = min(int(draws.expovariate(1 / 3.0)), USERS - 1)
        rows.append([round(now), -1, runtime, width, runtime * draws.choice([1, 2, 5]), user])
    _write_rows(path, rows)
    made = {f"site.cluster.{key}": value for key, value in settings.items()}
    run = simulate(load("batch/replay").override({"workload.trace": str(path)} | made))
    overhead = settings.get("start_overhead", 0.0)
    for row, job in zip(rows, run.record.jobs, strict=True):
        row[1] = int(job.start - job.submit + overhead)
    _write_rows(path, rows)


def write_half(path: Path, log: str) -> None:
    """The jobs of a log in SWF that were submitted in the latter half of its time."""
    with gzip.open(find_trace(log), "rt", encoding="utf-8", errors="replace") as file:
        lines = file.readlines()
    submitted = [float(line.split()[1]) for line in lines if line.strip() and not line.startswith(";")]
    middle = (min(submitted) + max(submitted)) / 2
    kept = [line for line in lines if line.startswith(";") or float((line.split() or "00")[1]) >= middle]
    path.write_text("".join(kept), encoding="utf-8")


def _write_rows(path: Path, rows: list[list[int]]) -> None:
    lines = [
        f"{number} {submit} {wait} {run} {width} -1 -1 {width} {limit} -1 1 {user} 1 -1 1 -1 -1 -1"
        for number, (submit, wait, run, width, limit, user) in enumerate(rows, 1)
    ]
    path.write_text("\n".join([f"; MaxProcs: {PROCESSORS}", *lines]) + "\n", encoding="utf-8")


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=Path, required=True, help="JSON file of what was found")
    parser.add_argument("--work", type=Path, required=True, help="folder of the logs that are made")
    parser.add_argument("--logs", nargs="*", default=list(LOGS), help="names; all")
    chosen = parser.parse_args()
    logging.basicConfig(format="%(message)s")
    logging.getLogger("gridtune").setLevel(logging.DEBUG)
    chosen.work.mkdir(parents=True, exist_ok=True)
    known = known_in(chosen.rows, {})
    for name in chosen.logs:
        if name in known:
            continue
        traces, about = LOGS[name], {}
        if made := MADE.get(name.removeprefix("made: ")):
            traces, about = [str(chosen.work / LOGS[name][0])], {"made_by": made}
            write_log(Path(traces[0]), made)
        elif whole := HALVES.get(name):
            traces = [str(chosen.work / LOGS[name][0])]
            write_half(Path(traces[0]), WHOLE[whole])
        for trace in traces:
            find_trace(trace)
        began = time.process_time()
        row = as_json(calibrate(*traces)) | about | {"traces": LOGS[name]}
        known[name] = shortened(row | {"seconds": time.process_time() - began})
        chosen.rows.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
