"""Which papers can be reproduced, without importing what that needs."""

from __future__ import annotations

from importlib import import_module

from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.reproduction.claims import Paper

# Name: (module that defines PAPER, title).
PAPERS: dict[str, tuple[str, str]] = {
    "diet": (
        "gridtune.scenarios.reproduction.diet.claims",
        "DIET-ethic: fair scheduling of optional computations (RR-7959)",
    ),
    "dirac": (
        "gridtune.scenarios.reproduction.dirac.claims",
        "DIRAC: push, pull and pilots over batch sites (RR-5576)",
    ),
    "oar": (
        "gridtune.scenarios.reproduction.oar.claims",
        "Batch policies against real OAR schedules (Grid'5000)",
    ),
    "deadline": (
        "gridtune.scenarios.reproduction.deadline.claims",
        "Deadline scheduling with priority (RR-5335)",
    ),
    "batcigri": (
        "gridtune.scenarios.reproduction.batcigri.claims",
        "BatCiGri: simulating a multi-layered grid middleware (hal-04101015)",
    ),
    "egee": (
        "gridtune.scenarios.reproduction.egee.claims",
        "Scheduling for responsive grids (EGEE, DIANE, gPTM3D)",
    ),
}


def load_paper(name: str) -> Paper:
    """The experiments of a paper.

    Raises:
        ScenarioError: no such paper.
    """
    if name not in PAPERS:
        raise ScenarioError(f"{name}: no such paper; there are {', '.join(PAPERS)}")
    paper: Paper = import_module(PAPERS[name][0]).PAPER
    return paper
