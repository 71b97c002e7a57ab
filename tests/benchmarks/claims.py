"""All claims of the papers in full: docs/data/claims; what loses them; whether other seeds say the same.

    python -m tests.benchmarks.claims [--replications 20] [--minutes 10] [--quick] [PAPER[/EXPERIMENT] …]
    python -m tests.benchmarks.claims --mutants [--minutes 10] [PAPER[/EXPERIMENT] …]
    python -m tests.benchmarks.claims --seeds [--minutes 10] [PAPER[/EXPERIMENT] …]

The first runs the experiments whose outcome is not in docs/data/claims yet (or those named), one after the
other, and keeps each; `python docs/making/claims.py` writes them into the pages. The second runs every
mutant of `tests/claim_mutants.py` at reduced size, the third every experiment under 20 seeds; both go on
where they were stopped (`claim_trials`).
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from gridtune.scenarios.commands.reproduce import run_paper
from gridtune.scenarios.reproduction.catalogue import PAPERS, load_paper
from gridtune.scenarios.results.files import write_json
from tests.benchmarks.rows import known_in

DATA = Path("docs/data/claims")


def kept(paper: str) -> dict[str, Any]:
    """What is known of a paper; empty if nothing is."""
    made: dict[str, Any] = known_in(DATA / f"{paper}.json", {"paper": paper, "claims": []})
    return made


def renew(paper: str, experiment: str, replications: int, seed: int, quick: bool) -> None:
    """Run an experiment and put its claims in the place of those known."""
    with tempfile.TemporaryDirectory() as folder:
        found = run_paper(f"{paper}/{experiment}", replications, seed, 1, Path(folder), quick=quick)
    made = kept(paper)
    rest = [claim for claim in made["claims"] if claim["experiment"] != experiment]
    order = [known.name for known in load_paper(paper).experiments]
    facts = {"replications": replications, "seed": seed, "quick": quick}
    new = [{**claim, **facts} for claim in found["claims"]]
    claims = sorted([*rest, *new], key=lambda claim: order.index(claim["experiment"]))
    write_json(DATA / f"{paper}.json", {"paper": paper, "claims": claims})


def main() -> None:
    """Run what is missing, or what is named."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--replications", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--mutants", action="store_true")
    parser.add_argument("--seeds", action="store_true")
    chosen = parser.parse_args()
    if chosen.mutants or chosen.seeds:
        from tests.benchmarks.claim_trials import try_mutants, try_seeds

        os.environ.setdefault("MPLBACKEND", "Agg")
        (try_mutants if chosen.mutants else try_seeds)(chosen.names or list(PAPERS), chosen.minutes)
        return
    DATA.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    for paper in PAPERS:
        known = {claim["experiment"] for claim in kept(paper)["claims"]}
        for experiment in load_paper(paper).experiments:
            name = f"{paper}/{experiment.name}"
            if experiment.name in known if not chosen.names else not {paper, name} & set(chosen.names):
                continue
            if time.monotonic() - began > 60 * chosen.minutes:
                print("time is up; the rest is left for another call")
                return
            start = time.process_time()
            renew(paper, experiment.name, chosen.replications, chosen.seed, chosen.quick)
            print(f"{name}: {time.process_time() - start:.0f} s of CPU", flush=True)


if __name__ == "__main__":
    main()
