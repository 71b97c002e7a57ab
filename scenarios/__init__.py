"""Scenarios: documents, their schema, workloads, and what a run of them gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gridtune.lazy import lazily

if TYPE_CHECKING:
    from gridtune.scenarios.document.scenario import Scenario as Scenario
    from gridtune.scenarios.document.scenario import load as load
    from gridtune.scenarios.document.scenario import shipped_names as shipped_names
    from gridtune.scenarios.document.scenario import shipped_text as shipped_text
    from gridtune.scenarios.errors import ScenarioError as ScenarioError
    from gridtune.scenarios.results.run import Run as Run
    from gridtune.scenarios.simulation.simulate import build as build
    from gridtune.scenarios.simulation.simulate import simulate as simulate

_HOMES = {
    "Scenario": "gridtune.scenarios.document.scenario",
    "load": "gridtune.scenarios.document.scenario",
    "shipped_names": "gridtune.scenarios.document.scenario",
    "shipped_text": "gridtune.scenarios.document.scenario",
    "ScenarioError": "gridtune.scenarios.errors",
    "Run": "gridtune.scenarios.results.run",
    "build": "gridtune.scenarios.simulation.simulate",
    "simulate": "gridtune.scenarios.simulation.simulate",
}

__all__ = list(_HOMES)
__getattr__, __dir__ = lazily(__name__, _HOMES)
