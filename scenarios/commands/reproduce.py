"""What `gridtune reproduce` does: run a paper's experiments and collect figures and claims."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.reproduction.catalogue import PAPERS, load_paper
from gridtune.scenarios.reproduction.claims import VERDICTS, Experiment
from gridtune.scenarios.reproduction.workbench import Workbench
from gridtune.scenarios.results.files import write_json
from gridtune.scenarios.results.locks import results_folder
from gridtune.scenarios.workers.pool import Pool


def run_paper(
    name: str, replications: int, seed: int, jobs: int, out: Path | None, *, quick: bool = False
) -> dict[str, Any]:
    """Run a paper's experiments.

    Args:
        name: PAPER or PAPER/EXPERIMENT.
        replications: runs of each configuration.
        seed: of all runs.
        jobs: worker processes.
        out: folder for figures and `claims.json`; `results/PAPER` if left out.
        quick: whether experiments are done at reduced size.

    Returns:
        What is printed as JSON.

    Raises:
        ScenarioError: no such paper or experiment, or the folder cannot be written.
    """
    paper, _, experiment = name.partition("/")
    experiments = _chosen(paper, experiment)
    # Figures are drawn to files: no display is needed, and none must be looked for.
    os.environ.setdefault("MPLBACKEND", "Agg")
    with Pool(jobs) as pool, results_folder(out or Path("results") / paper) as folder:
        assert folder is not None
        bench = Workbench(pool, replications, seed, folder, quick)
        claims = [claim.to_dict() for chosen in experiments for claim in chosen.run(bench)]
        verdicts = [claim["verdict"] for claim in claims]
        made = {
            "paper": paper,
            "seed": seed,
            "replications": replications,
            "quick": quick,
            "counts": {verdict: verdicts.count(verdict) for verdict in VERDICTS},
            "claims": claims,
            "figures": [str(figure) for figure in bench.figures],
            "left_out": bench.left_out,
        }
        write_json(folder / "claims.json", made)
    return made


def remarks(made: dict[str, Any]) -> Iterator[str]:
    """What to say below a table of claims, in lines.

    Counts, why some are not met, what was left out, where figures are.
    """
    yield ", ".join(f"{count} {verdict}" for verdict, count in made["counts"].items() if count) or "no claims"
    for claim in made["claims"]:
        if claim["verdict"] != "met" and claim["reason"]:
            yield f"{claim['id']}, {claim['claim']}: {claim['verdict']}: {claim['reason']}"
    yield from (f"left out: {each}" for each in made["left_out"])
    if made["figures"]:
        yield "figures: " + ", ".join(made["figures"])


def experiment_rows() -> list[dict[str, str]]:
    """Papers and their experiments, for a list."""
    return [
        row
        for paper, (_, title) in PAPERS.items()
        for row in (
            {"experiment": paper, "title": title},
            *(
                {"experiment": f"{paper}/{experiment.name}", "title": experiment.title}
                for experiment in load_paper(paper).experiments
            ),
        )
    ]


def _chosen(paper: str, experiment: str) -> Sequence[Experiment]:
    experiments = load_paper(paper).experiments
    if not experiment:
        return experiments
    chosen = [known for known in experiments if known.name == experiment]
    if not chosen:
        known = ", ".join(known.name for known in experiments)
        raise ScenarioError(f"{paper}/{experiment}: no such experiment; there are {known}")
    return chosen
