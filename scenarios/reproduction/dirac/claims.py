"""RR-5576: the experiments of DIRAC's meta-scheduling, their figures 5 to 9 and their claims.

The paper shows single runs. Two of them differ by more than some of its strategies do, so claims are held
against intervals over replications.
"""

from __future__ import annotations

from gridtune.scenarios.reproduction.claims import (
    Experiment,
    Paper,
)
from gridtune.scenarios.reproduction.dirac.deterioration import deterioration
from gridtune.scenarios.reproduction.dirac.evolution import evolution
from gridtune.scenarios.reproduction.dirac.periods import periods
from gridtune.scenarios.reproduction.dirac.strategies import strategies
from gridtune.scenarios.reproduction.dirac.validation import queue, services

PAPER = Paper(
    "dirac",
    "Evaluation of meta-scheduler architectures: DIRAC's pull and pilots against push (RR-5576)",
    (
        Experiment("queue", "Sixteen runs through an M/M/4 queue", queue),
        Experiment("services", "A batch system with and without its service times", services),
        Experiment("evolution", "Tasks over time on dedicated sites", evolution),
        Experiment("periods", "Waiting times over the update period", periods),
        Experiment("strategies", "Push, pull, run-once and filling pilots", strategies),
        Experiment("deterioration", "The same strategies without faults and with all of them", deterioration),
    ),
)
