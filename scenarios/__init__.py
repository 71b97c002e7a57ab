"""Scenarios: documents, their schema, workloads, and what a run of them gives."""

from gridtune.scenarios.document.scenario import Scenario, load, shipped_names, shipped_text
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.run import Run
from gridtune.scenarios.simulation.simulate import build, simulate
