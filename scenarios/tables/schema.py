"""The schema of a scenario document: all tables of all systems, checked as a whole."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from gridtune.scenarios.fields.faults import FaultSpec
from gridtune.scenarios.fields.table import Several, Table, number
from gridtune.scenarios.tables.batch import SiteSpec
from gridtune.scenarios.tables.deadline import AgentSpec, ServerSpec
from gridtune.scenarios.tables.general import MetricsSpec, NetworkSpec, RecordSpec, TransferSpec
from gridtune.scenarios.tables.gridrpc import (
    ClientSpec,
    HierarchySpec,
    LocalAgentSpec,
    MessageCostSpec,
    SedSpec,
)
from gridtune.scenarios.tables.harvesting import BagsSpec, HarvesterSpec
from gridtune.scenarios.tables.middleware import MiddlewareSpec
from gridtune.scenarios.tables.overlay import OverlaySpec
from gridtune.scenarios.tables.platform import PlatformSpec
from gridtune.scenarios.tables.portal import PortalSpec
from gridtune.scenarios.tables.queueing import QueueingSpec
from gridtune.scenarios.tables.search import SearchSpec
from gridtune.scenarios.tables.wms import WmsSpec
from gridtune.scenarios.workloads.burst_sessions import BurstSessions
from gridtune.scenarios.workloads.jobs import Campaign, GeneratedJobs
from gridtune.scenarios.workloads.routines import RoutineTasks
from gridtune.scenarios.workloads.sessions import (
    DiurnalSessions,
    ListedSessions,
    PoissonSessions,
    RegularSessions,
)
from gridtune.scenarios.workloads.tasks import DrawnTasks, ListedTasks
from gridtune.scenarios.workloads.trace_jobs import TraceJobs
from gridtune.scenarios.workloads.trace_tasks import TraceTasks

TEXT = ("title", "source", "description")  # for people
ARRAYS = (
    "sed", "local_agent", "client", "server", "site", "harvester", "overlay", "transfer", "fault", "workload"
)  # fmt: skip

Workload = Annotated[
    RegularSessions | DiurnalSessions | PoissonSessions | ListedSessions | BurstSessions
    | GeneratedJobs | TraceJobs | Campaign
    | DrawnTasks | ListedTasks | RoutineTasks | TraceTasks,
    Field(discriminator="kind"),
]  # fmt: skip


class ScenarioSpec(Table):
    """A scenario says what stands in the grid, what it is asked to do, and what to look at."""

    endless = frozenset({"step_length"})  # a run in one step

    title: str = Field(description="what the scenario is about, in one line")
    source: str = Field(default="", description="paper and section that it follows")
    description: str = Field(default="", description="what it is about, in some sentences")
    plugins: list[str] = Field(
        default_factory=list, description="Python files that register further policies and metrics"
    )
    parts: dict[str, bool] = Field(
        default_factory=dict,
        description="whether each component of the grid is on, by name; tables name theirs by `part`",
    )
    horizon: float | None = number(
        None, "s", "s at which a run ends; loads, energy and failures count until then", gt=0
    )
    step_length: float = number(1.0, "s", "s that one step advances", gt=0)
    network: NetworkSpec = NetworkSpec()
    hierarchy: HierarchySpec = HierarchySpec()
    sed: Several[SedSpec] = Field(default_factory=list)
    local_agent: Several[LocalAgentSpec] = Field(default_factory=list)
    message_cost: MessageCostSpec = MessageCostSpec()
    client: Several[ClientSpec] = Field(default_factory=list)
    site: Several[SiteSpec] = Field(default_factory=list)
    harvester: Several[HarvesterSpec] = Field(default_factory=list)
    bags: BagsSpec = BagsSpec()
    queue: QueueingSpec | None = None
    platform: PlatformSpec | None = None
    middleware: MiddlewareSpec | None = None
    server: Several[ServerSpec] = Field(default_factory=list)
    agent: AgentSpec | None = None
    wms: WmsSpec | None = None
    portal: PortalSpec | None = None
    overlay: Several[OverlaySpec] = Field(default_factory=list)
    transfer: Several[TransferSpec] = Field(default_factory=list)
    fault: Several[FaultSpec] = Field(default_factory=list)
    workload: Several[Workload] = Field(
        default_factory=list, description="what users ask for; `kind` says how it is made"
    )
    record: RecordSpec = RecordSpec()
    metrics: MetricsSpec = MetricsSpec()
    search: SearchSpec | None = None

    @property
    def searching(self) -> SearchSpec:
        """What a search varies and trades off; the defaults where the scenario says nothing."""
        return self.search or SearchSpec()

    def __repr__(self) -> str:
        written = [
            name for name in type(self).model_fields if name in self.model_fields_set and name not in TEXT
        ]
        return f"ScenarioSpec({self.title!r:.60}: {', '.join(written)})"

    @model_validator(mode="after")
    def _distinct(self) -> ScenarioSpec:
        for array in ARRAYS:
            names = [part.name for part in getattr(self, array)]
            if len(set(names)) < len(names):
                twice = sorted({name for name in names if names.count(name) > 1})
                raise ValueError(f"the names of [[{array}]] must differ; more than one is {', '.join(twice)}")
        return self
