"""CPU time of runs against an older checkout of gridtune, in turn, and whether they give the same.

    git worktree add /tmp/older COMMIT
    python -m tests.benchmarks.before_after /tmp/older --rows docs/data/before_after.jsonl
    python docs/making/tables.py            # shows them in docs/performance.md

Each case is simulated in one process of either checkout by turns, once for each seed; where that takes less
than a second, five times, of which the fastest counts: other work on the machine makes runs slower, nothing
makes them faster. Reading of a log is not counted. Compared are the table of jobs and all metrics that both
know. Cases on logs that are not found are left out. Those whose scenario is another one by now are there
twice: as either checkout has it, and as the older one describes it. What the rows hold already is not done
again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tests.benchmarks.rows import rows_of

KTH = {"workload.trace": "KTH-SP2-1996-2.1-cln.swf.gz", "site.nodes": 100}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "federation/small": ("federation/small", {}),
    "federation/small, older": ("federation/small", {}),
    "federation/lcg-week": ("federation/lcg-week", {}),
    "federation/lcg-week, older": ("federation/lcg-week", {}),
    "KTH-SP2, EASY": ("batch/replay", KTH | {"site.policy": "easy"}),
    "KTH-SP2, conservative": ("batch/replay", KTH | {"site.policy": "conservative"}),
    "grid/lcg, push": ("grid/lcg", {"middleware.kind": "push"}),
    "grid/lcg, pull": ("grid/lcg", {"middleware.kind": "pull"}),
    "grid/lcg, pilots": ("grid/lcg", {"middleware.kind": "pilot"}),
    "grid/lcg-day, pilots": ("grid/lcg-day", {"middleware.kind": "pilot"}),
    "deadline/search": ("deadline/search", {}),
    "diet/scalability": ("diet/scalability", {}),
    "cigri/search": ("cigri/search", {}),
    "dirac/search": ("dirac/search", {}),
    "egee/search": ("egee/search", {}),
    "egee/lpc": ("egee/lpc", {}),
    "diet/day-regular": ("diet/day-regular", {}),
}
# What the older checkout does where its files say nothing, and another value is the default by now.
UNSAID: dict[str, dict[str, Any]] = {
    case: {"agent.routing.unplaced": "reject"} for case in CASES if case.endswith(", older")
}
SHORT = 1.0  # s of CPU time that a run of both takes together
ONCE = {name for name in CASES if name.startswith("grid/lcg,")}  # take a minute for each seed

# Runs in either checkout: a line of JSON in, a line of JSON out.
WORKER = """
import gc, hashlib, json, sys, time
from pathlib import Path
here = Path.cwd()
if (here / "src").is_dir():
    from gridtune.scenarios.document.scenario import load
    from gridtune.scenarios.simulation.simulate import build, simulate
    from gridtune.model.agenda import Agenda
else:  # before the floors were rooms of one package; another gridtune may be installed
    from scenarios.scenario import load
    from scenarios.simulate import build, simulate
    from model.agenda import Agenda
assert here in Path(sys.modules[Agenda.__module__].__file__).resolve().parents, "not of this checkout"
COLUMNS = "user", "kind", "site", "submit", "start", "end", "processors", "state", "kills", "wasted"
agendas = []
made = Agenda.__init__
def noted(agenda):
    agendas.append(agenda)
    made(agenda)
Agenda.__init__ = noted
warm = set()
for line in sys.stdin:
    name, values, seed = json.loads(line)
    scenario = load(name)
    known = {path for path in values if not path.startswith("site.") or path.count(".") > 1}
    site = next((one["name"] for one in scenario.document.get("site", ())), None)
    values = {path if path in known else f"site.{site}.{path[5:]}": value for path, value in values.items()}
    scenario = scenario.override(values)
    if name not in warm:
        warm.add(name)
        build(scenario, seed).close()
    agendas.clear()
    gc.collect()
    begin = time.process_time()
    run = simulate(scenario, seed)
    seconds = time.process_time() - begin
    rows = [[str(getattr(job, column)) for column in COLUMNS] for job in run.record.jobs]
    digest = hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]
    metrics = {key: repr(metric.value) for key, metric in run.metrics.items()}
    fired = sum(agenda.fired for agenda in agendas)
    print(json.dumps({"seconds": seconds, "events": fired, "jobs": digest, "metrics": metrics}), flush=True)
"""


@contextmanager
def worker(checkout: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that simulates with the code of a checkout."""
    source = checkout / "src"
    path = str(source if source.is_dir() else checkout)
    environment = dict(os.environ, PYTHONPATH=path, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", WORKER], cwd=checkout, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        yield process
        _stream(process.stdin).close()


def _stream(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def ask(
    process: subprocess.Popen[str], name: str, values: dict[str, Any], seed: int
) -> dict[str, Any] | None:
    """What a run gave; None if it could not be done."""
    if process.poll() is not None:
        return None
    _stream(process.stdin).write(json.dumps([name, values, seed]) + "\n")
    _stream(process.stdin).flush()
    line = _stream(process.stdout).readline()
    return json.loads(line) if line else None


def scenario_of(case: str, name: str, older: Path) -> str:
    """Name of a scenario, or path of its file where it is that of the older checkout."""
    return str(older / f"scenarios/shipped/{name}.toml") if case.endswith(", older") else name


def measured(older: Path, case: str, seeds: int) -> Iterator[dict[str, Any]]:
    """A row for each seed of a case."""
    name, values = CASES[case]
    name = scenario_of(case, name, older.resolve())
    with worker(older) as before, worker(Path.cwd()) as after:
        for seed in range(1, (1 if case in ONCE else seeds) + 1):
            known = values | UNSAID.get(case, {})
            said = (before, values), (after, known)
            pairs = [[ask(process, name, given, seed) for process, given in said]]
            old, new = pairs[0]
            if old is None or new is None:
                print(f"{case}: left out, {'before' if old is None else 'after'}", file=sys.stderr)
                return
            if old["seconds"] + new["seconds"] < SHORT:
                pairs += [[ask(process, name, given, seed) for process, given in said] for _ in range(4)]
            seconds = [
                min(run["seconds"] for run in runs if run is not None) for runs in zip(*pairs, strict=True)
            ]
            shared = old["metrics"].keys() & new["metrics"].keys()
            yield {
                "case": case,
                "seed": seed,
                "before": seconds[0],
                "after": seconds[1],
                "events": new["events"],
                "events_before": old["events"],
                "same_jobs": old["jobs"] == new["jobs"],
                "metrics": len(shared),
                "differing": sorted(key for key in shared if old["metrics"][key] != new["metrics"][key]),
            }


def arguments(what: str, cases: Sequence[str]) -> argparse.ArgumentParser:
    """What scripts are asked that compare an older checkout with this one."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("older", type=Path, help="folder with the older checkout")
    parser.add_argument("--rows", type=Path, required=True, help="file of rows, gone on with")
    parser.add_argument("--cases", nargs="*", default=cases, choices=cases)
    parser.add_argument("--seeds", type=int, default=5)
    return parser


def main() -> None:
    """Measure what is missing."""
    given = arguments(__doc__.splitlines()[0] if __doc__ else "", list(CASES)).parse_args()
    done = {row["case"] for row in rows_of(given.rows)}
    for case in given.cases:
        if case in done:
            continue
        made = list(measured(given.older, case, given.seeds))
        with given.rows.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in made)


if __name__ == "__main__":
    main()
