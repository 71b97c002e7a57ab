"""Write policies with this module: decorator, parameters, a base class for each family, types of arguments.

A policy is a frozen dataclass with a base class of this module, registered under a name of its family. Its
methods decide from their arguments, which they must not change. Times are in seconds of simulated time,
`runtime` and `estimate` of a job in seconds at speed 1.

Example:
    >>> from dataclasses import dataclass
    >>> import gridtune as gt
    >>> @gt.policies.register("batch", "narrow-only")
    ... @dataclass(frozen=True)
    ... class NarrowOnly(gt.policies.BatchPolicy):
    ...     "Jobs on few processors run; others never do."
    ...     most: int = gt.policies.parameter(64, help="processors of the widest job", low=1, high=64)
    ...     def starts(self, cluster: gt.policies.Cluster, now: float) -> list[gt.Job]:
    ...         free, chosen = cluster.free, []  # asked once for each change: all that can start
    ...         for job in cluster.in_order():
    ...             if job.processors <= min(free, self.most):
    ...                 free -= job.processors
    ...                 chosen.append(job)
    ...         return chosen
    >>> result = gt.load("batch/replay", site__cluster__policy="narrow-only").run()
    >>> result["completed"] > 0
    True
"""

from gridtune.model.batch.cluster import Cluster
from gridtune.model.batch.policies import BatchPolicy
from gridtune.model.deadline.forecasts import Forecast
from gridtune.model.deadline.routing import TaskRouting, Times
from gridtune.model.deadline.timetable import Timetable
from gridtune.model.gridrpc.disciplines import Discipline, ServerQueue
from gridtune.model.gridrpc.dispatch import Demand, Dispatch, Submission
from gridtune.model.gridrpc.estimation import Estimation, EstimationVector, History, ServerState
from gridtune.model.gridrpc.pooling import Pool
from gridtune.model.gridrpc.reallocation import Reallocation
from gridtune.model.gridrpc.selection import Aggregation, Choice
from gridtune.model.harvest.control import Control, Decision, Reading
from gridtune.model.harvest.victims import Victims
from gridtune.model.middleware.matching import Matching, Resource, TaskQueues
from gridtune.model.middleware.migration import Migration
from gridtune.model.middleware.retrying import Blacklist, Retry
from gridtune.model.middleware.routing import Routing, SiteView
from gridtune.model.policy import parameter, register
from gridtune.model.prediction.run_times import Ended, Prediction
from gridtune.model.wms.arbitration import Arbitration, Claimant
from gridtune.model.wms.farming import Assignment, Failure, IdleWorker, Recovery, Verdict
from gridtune.model.wms.ranking import Advert, Ranking

# A base class for each family, with what its methods are given and return behind it.
__all__ = [  # noqa: RUF022 - by family
    "register", "parameter",
    "Discipline", "ServerQueue",
    "Dispatch", "Demand", "Submission",
    "Estimation", "ServerState", "History",
    "Pool",
    "Reallocation",
    "Aggregation", "EstimationVector",
    "Choice",
    "BatchPolicy", "Cluster",
    "Prediction", "Ended",
    "Routing", "SiteView",
    "TaskRouting", "Times", "Timetable",
    "Migration",
    "Ranking", "Advert",
    "Arbitration", "Claimant",
    "Assignment", "IdleWorker",
    "Recovery", "Failure", "Verdict",
    "Matching", "TaskQueues", "Resource",
    "Retry",
    "Blacklist",
    "Control", "Reading", "Decision",
    "Victims",
    "Forecast",
]  # fmt: skip
