"""gridtune: simulate grid middleware under scheduling policies, and search the policies' parameters.

    import gridtune as gt

    scenario = gt.load("diet/day-regular", client__n_submit=190)   # a shipped one, or a TOML file
    result = scenario.run(replications=10)                         # metrics, jobs, users, pictures
    points = gt.sweep(scenario, {"sed.count": [5, 10, 20]}).points
    study = gt.search(scenario, budget=100)                        # evaluations, front, recommendations

The names of this package are loaded when they are first used: to import it costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gridtune.model.metrics.custom import FinishedRun as FinishedRun
    from gridtune.model.metrics.custom import metric as metric
    from gridtune.optimize.studies import Explained as Explained
    from gridtune.optimize.studies import Study as Study
    from gridtune.optimize.studies import open_study as open_study
    from gridtune.optimize.studies import search as search
    from gridtune.scenarios.errors import ScenarioError as ScenarioError
    from gridtune.scenarios.execution.experiment import Scenario as Scenario
    from gridtune.scenarios.execution.experiment import load as load
    from gridtune.scenarios.execution.grid_model import GridModel as GridModel
    from gridtune.scenarios.execution.result import Result as Result
    from gridtune.scenarios.execution.sweep_results import Sweep as Sweep
    from gridtune.scenarios.execution.sweep_results import sweep as sweep

# Where each public name lives; what stands above tells editors and type checkers the same.
_HOMES = {
    "load": "gridtune.scenarios.execution.experiment",
    "Scenario": "gridtune.scenarios.execution.experiment",
    "Result": "gridtune.scenarios.execution.result",
    "sweep": "gridtune.scenarios.execution.sweep_results",
    "Sweep": "gridtune.scenarios.execution.sweep_results",
    "search": "gridtune.optimize.studies",
    "open_study": "gridtune.optimize.studies",
    "Study": "gridtune.optimize.studies",
    "Explained": "gridtune.optimize.studies",
    "GridModel": "gridtune.scenarios.execution.grid_model",
    "metric": "gridtune.model.metrics.custom",
    "FinishedRun": "gridtune.model.metrics.custom",
    "ScenarioError": "gridtune.scenarios.errors",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
