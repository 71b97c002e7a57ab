"""Responsive Grids: short deadline jobs, virtual reservations and user-level schedulers, claims R1 to R9."""

from __future__ import annotations

from gridtune.scenarios.reproduction.claims import (
    Experiment,
    Paper,
)
from gridtune.scenarios.reproduction.egee.masters import flu, geant4, gptm3d, itu
from gridtune.scenarios.reproduction.egee.overhead import overhead, usage
from gridtune.scenarios.reproduction.egee.reservations import reservations, slots

PAPER = Paper(
    "egee",
    "Scheduling for Responsive Grids (Germain-Renaud et al. 2008)",
    (
        Experiment("usage", "Execution times in logs and in the fitted law (figures 1 and 2)", usage),
        Experiment("overhead", "Overhead of short jobs on a plain grid (figures 3 to 5)", overhead),
        Experiment("slots", "Slots of three classes over processors (figure 6)", slots),
        Experiment(
            "vres-node",
            "Five slots on a dual-processor node (figure 7)",
            lambda bench: reservations(bench, "vres-node", "figure-7", (2, 2)),
        ),
        Experiment(
            "vres-site",
            "Ten short deadline jobs at a site (figure 8)",
            lambda bench: reservations(bench, "vres-site", "figure-8", (10, 2)),
        ),
        Experiment("itu", "40,000 tasks on 200 workers (figures 9 and 10)", itu),
        Experiment("geant4", "207 tasks by DIANE and by the plain grid (figure 11)", geant4),
        Experiment("avian-flu", "Efficiency of a long job", flu),
        Experiment("gptm3d", "Interactive volume reconstruction (figure 12)", gptm3d),
    ),
)
