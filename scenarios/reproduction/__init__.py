"""The papers' experiments, claims and figures."""

from scenarios.reproduction.catalogue import PAPERS, load_paper
from scenarios.reproduction.claims import Claim, Experiment, Paper, Workbench
