"""The papers' experiments, claims and figures."""

from gridtune.scenarios.reproduction.catalogue import PAPERS, load_paper
from gridtune.scenarios.reproduction.claims import Claim, Experiment, Paper
from gridtune.scenarios.reproduction.workbench import Workbench
