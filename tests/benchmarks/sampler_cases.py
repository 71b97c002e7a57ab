"""What samplers are compared on: quick scenarios, and the boxes in which their fronts are measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.search_space.settings import objectives_of
from gridtune.optimize.search_space.space import Space
from gridtune.scenarios import load
from gridtune.scenarios.document.scenario import Scenario

FOLDER = Path(__file__).with_name("scenarios")


@dataclass(frozen=True)
class Case:
    """A scenario and what is measured in it.

    Attributes:
        source: name of a shipped scenario, or path of a file.
        best, worst: per objective, corners of the box in which hypervolume is measured: 1 is the whole box,
            and what is worse than `worst` in any objective counts nothing. From first trials.
        replications: of an evaluation.
        parts: sites that have nothing to do with each other, and equally many jobs each; they are run one by
            one, and objectives are the means over them.
        settings: what is changed in the scenario, by path.
    """

    source: str
    best: Sequence[float]
    worst: Sequence[float]
    replications: int = 1
    parts: Sequence[str] = ()
    settings: Mapping[str, object] = field(default_factory=dict)

    @cached_property
    def scenario(self) -> Scenario:
        """What is run."""
        return load(self.source).override(self.settings)

    @cached_property
    def space(self) -> Space:
        """What is searched."""
        return Space.of(self.scenario)

    @cached_property
    def goals(self) -> tuple[Objective, ...]:
        """The objectives with their directions."""
        assert self.scenario.spec.search is not None
        return objectives_of(self.scenario.spec.search.objectives)

    def part(self, name: str) -> Scenario:
        """The scenario with one of its sites alone."""
        document = self.scenario.document
        sites = [site for site in document["site"] if site["name"] == name]
        jobs = [workload for workload in document["workload"] if workload["site"] == name]
        return Scenario(self.source, {**document, "site": sites, "workload": jobs}, self.scenario.base)


CASES = {
    "egee-sites": Case(
        str(FOLDER / "egee-sites.toml"),
        best=(0.15, 1.45),
        worst=(0.8, 2.05),
        replications=3,
        parts=("s1", "s2", "s3"),
    ),
    "federation": Case(
        str(FOLDER / "federation.toml"),
        best=(2.0, 1.0, 3.9e5),
        worst=(15.0, 1.3, 2.8e5),
        settings={  # half of it, on lent nodes and free links, and less of what makes many events
            "horizon": 7200.0,
            "network.sharing": "none",
            "sed.sed.lease": None,
            "server.server.lease": None,
            "workload.meta.data": None,
            "workload.sdj.data": None,
            "harvester.controller.reference": 24.0,
            "search.objectives": ["unhappy_users", "premium_slowdown", "completed_work"],
            "workload.rpc.n_max": 40,
            "workload.sdj.count": 120,
            "workload.sdj.interval": {"law": "exponential", "mean": 60.0},
            "workload.sweep.count": 200,
            "workload.docking.count": 100,
            "workload.task.count": 45,
            "harvester.cigri.cycle": 120.0,
        },
    ),
    "dirac-wide": Case(str(FOLDER / "dirac-wide.toml"), best=(1700.0, 750.0), worst=(7100.0, 4700.0)),
}
