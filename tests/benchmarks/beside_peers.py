"""gridtune beside AccaSim: the same logs under the same policies, from start of the process to results.

    python -m venv /tmp/peer && /tmp/peer/bin/pip install accasim
    python -m tests.benchmarks.beside_peers --peer /tmp/peer/bin/python --rows docs/data/peers.json

Both read one SWF file, schedule it and write when each job started. Times are CPU times of the whole process
and its children, memory is its peak. AccaSim (1.1.3) runs on a current Python once the names that the module
`collections` has lost are put back, which is all that is done to it; its machine is one node with as many
cores as the site has processors, which is quicker than as many nodes. A run of more than `--longest` s of CPU
time is given up, and counts as that long.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gridtune.scenarios.trace_files import TraceError, find_trace, read_trace
from tests.benchmarks.rows import known_in

POLICIES = ("fcfs", "easy")
JOBS = 100_000  # of the generated log
FIRST = 10_000  # jobs of the beginning of KTH-SP2, where starting counts for more
KTH = "KTH-SP2-1996-2.1-cln.swf.gz"
ACCASIM = """
import collections, collections.abc, json, sys
for name in ("Mapping", "MutableMapping", "Sequence", "Iterable", "Callable"):
    setattr(collections, name, getattr(collections.abc, name))
from accasim.base.allocator_class import FirstFit
from accasim.base.scheduler_class import EASYBackfilling, FirstInFirstOut
from accasim.base.simulator_class import Simulator
log, policy, processors = sys.argv[1], sys.argv[2], int(sys.argv[3])
system = {"groups": {"g": {"core": processors}}, "resources": {"g": 1}}
system["equivalence"] = {"processor": {"core": 1}}
with open("system.config", "w") as file:
    json.dump(system, file)
dispatcher = {"fcfs": FirstInFirstOut, "easy": EASYBackfilling}[policy](FirstFit())
Simulator(
    log, "system.config", dispatcher,
    statistics_output=False, show_statistics=False, RESULTS_FOLDER_PATH="out",
).start_simulation()
"""


def generated(path: Path, jobs: int) -> int:
    """Write a log of jobs that keep a site of 256 processors about 80 % busy; its processors."""
    rng = random.Random(1)
    lines, now = ["; MaxProcs: 256"], 0.0
    for number in range(1, jobs + 1):
        now += rng.expovariate(1 / 65.0)
        runtime = min(43200, round(rng.lognormvariate(6.0, 1.4)) + 1)
        wide = rng.choice([1, 1, 1, 2, 4, 8, 16, 32])
        limit = min(86400, runtime * rng.choice([1, 2, 5]))
        lines.append(
            f"{number} {round(now)} -1 {runtime} {wide} -1 -1 {wide} {limit} "
            f"-1 1 {rng.randrange(50)} 1 -1 1 -1 -1 -1"
        )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 256


def logged(path: Path, name: str, first: int | None = None) -> int:
    """Write the rows of a log that gridtune keeps, as they are, all or the first; its processors."""
    trace = read_trace(find_trace(name))
    lines = [f"; MaxProcs: {trace.header.processors}"]
    lines += [
        f"{job.id} {round(job.submit)} -1 {round(job.runtime)} {job.processors} -1 -1 {job.processors} "
        f"{round(job.estimate or job.runtime)} -1 1 {job.user or 1} 1 -1 1 -1 -1 -1"
        for job in trace.jobs[:first]
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert trace.header.processors is not None
    return trace.header.processors


def measured(
    command: Sequence[str], folder: Path, longest: int, env: dict[str, str] | None = None
) -> dict[str, Any]:
    """CPU time in s and peak memory in MiB of a process and its children, and whether it was given up."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (longest, longest))

    with (folder / "said").open("w", encoding="utf-8") as said:
        process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said, env=env, preexec_fn=limited)
        _, status, used = os.wait4(process.pid, 0)
    seconds = used.ru_utime + used.ru_stime
    given_up = seconds >= longest - 1
    if status and not given_up:
        raise SystemExit(f"{command[0]}: {(folder / 'said').read_text(encoding='utf-8')[-600:]}")
    return {"seconds": round(seconds, 2), "mib": round(used.ru_maxrss / 1024), "given_up": given_up}


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--peer", type=Path, required=True, help="Python that has AccaSim")
    parser.add_argument("--rows", type=Path, required=True, help="JSON file of what was measured")
    parser.add_argument("--longest", type=int, default=300, help="s of CPU time of a run")
    parser.add_argument("--jobs", type=int, default=JOBS, help="of the generated log")
    chosen = parser.parse_args()
    found = (
        chosen.peer.exists()
        and not subprocess.run(
            [
                chosen.peer,
                "-c",
                "import importlib.util as u; raise SystemExit(u.find_spec('accasim') is None)",
            ],
            check=False,
        ).returncode
    )
    if not found:
        print(f"skipped: {chosen.peer} is no Python with AccaSim; the lines at the top of this file make one")
        return
    rows = known_in(chosen.rows, [])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generated_log, whole, beginning = (folder / f"log{number}.swf" for number in range(3))
        logs = {f"generated, {chosen.jobs:,} jobs": (generated_log, generated(generated_log, chosen.jobs))}
        try:
            kth = {
                "KTH-SP2": (whole, logged(whole, KTH)),
                f"KTH-SP2, first {FIRST:,} jobs": (beginning, logged(beginning, KTH, FIRST)),
            }
            logs = {**kth, **logs}
        except TraceError as error:
            print(f"without KTH-SP2: {error}")
        for log, (path, processors) in logs.items():
            for policy in POLICIES:
                if any((row["log"], row["policy"]) == (log, policy) for row in rows):
                    continue
                jobs = sum(not line.startswith(";") for line in path.read_text(encoding="utf-8").splitlines())
                ours = [
                    sys.executable, "-m", "gridtune", "run", "batch/replay",
                    "--set", f"workload.trace={path}", "--set", f"site.cluster.policy={policy}",
                    "--set", "site.cluster.named_nodes=false",
                    "--out", str(folder / f"{policy}-{path.stem}"),
                ]  # fmt: skip
                theirs = [str(chosen.peer), "-c", ACCASIM, str(path), policy, str(processors)]
                row = {"log": log, "policy": policy, "jobs": jobs}
                row["gridtune"] = measured(ours, folder, chosen.longest)
                bare = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
                row["AccaSim"] = measured(theirs, folder, chosen.longest, bare)
                rows.append(row)
                chosen.rows.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
