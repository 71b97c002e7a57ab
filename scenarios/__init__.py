"""Scenarios: documents, their schema, workloads, and what a run of them gives."""

from scenarios.errors import ScenarioError
from scenarios.scenario import Scenario, load, shipped_names, shipped_text
from scenarios.simulate import Run, build, simulate
