"""gridtune: simulate grid middleware under scheduling policies, and search the policies' parameters.

    import gridtune as gt

    scenario = gt.load("diet/day-regular", client__n_submit=190)   # a shipped one, or a TOML file
    result = scenario.run(replications=10)                         # metrics, jobs, users, pictures
    table = gt.sweep(scenario, {"sed.count": [5, 10, 20]}).configurations
    study = gt.search(scenario, budget=100)                        # configurations, front, …

The names of this package are loaded when they are first used: to import it costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gridtune.lazy import lazily

if TYPE_CHECKING:
    from gridtune import policies as policies
    from gridtune.model.job import Job as Job
    from gridtune.model.metrics.custom import FinishedRun as FinishedRun
    from gridtune.model.metrics.custom import metric as metric
    from gridtune.optimize.api.explained import Explained as Explained
    from gridtune.optimize.api.search import open_study as open_study
    from gridtune.optimize.api.search import search as search
    from gridtune.optimize.api.search_result import Study as Study
    from gridtune.scenarios.api.experiment import Scenario as Scenario
    from gridtune.scenarios.api.experiment import load as load
    from gridtune.scenarios.api.run_result import Result as Result
    from gridtune.scenarios.api.sweep_result import Sweep as Sweep
    from gridtune.scenarios.api.sweep_result import sweep as sweep
    from gridtune.scenarios.errors import ScenarioError as ScenarioError
    from gridtune.scenarios.simulation.grid_model import GridModel as GridModel
    from gridtune.scenarios.slurm.changes import slurm_changes as slurm_changes
    from gridtune.version import __version__ as __version__

# Where each public name lives; what stands above tells editors and type checkers the same.
_HOMES = {
    "load": "gridtune.scenarios.api.experiment",
    "Scenario": "gridtune.scenarios.api.experiment",
    "Result": "gridtune.scenarios.api.run_result",
    "sweep": "gridtune.scenarios.api.sweep_result",
    "Sweep": "gridtune.scenarios.api.sweep_result",
    "search": "gridtune.optimize.api.search",
    "open_study": "gridtune.optimize.api.search",
    "Study": "gridtune.optimize.api.search_result",
    "Explained": "gridtune.optimize.api.explained",
    "GridModel": "gridtune.scenarios.simulation.grid_model",
    "metric": "gridtune.model.metrics.custom",
    "FinishedRun": "gridtune.model.metrics.custom",
    "Job": "gridtune.model.job",
    "policies": "gridtune.policies",
    "slurm_changes": "gridtune.scenarios.slurm.changes",
    "ScenarioError": "gridtune.scenarios.errors",
}

__all__ = list(_HOMES)
__getattr__, __dir__ = lazily(__name__, {**_HOMES, "__version__": "gridtune.version"})
