"""What samplers are compared on: quick scenarios, and the boxes in which their fronts are measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from optimize.archive import Objective
from optimize.evaluate import objectives_of
from optimize.space import Space
from scenarios import load
from scenarios.scenario import Scenario

FOLDER = Path(__file__).with_name("scenarios")


@dataclass(frozen=True)
class Case:
    """A scenario and what is measured in it.

    Attributes:
        source: name of a shipped scenario, or path of a file.
        best, worst: per objective, corners of the box in which hypervolume is measured: 1 is the whole box,
            and what is worse than `worst` in any objective counts nothing. From first trials.
    """

    source: str
    best: Sequence[float] = ()
    worst: Sequence[float] = ()

    @cached_property
    def scenario(self) -> Scenario:
        """What is run."""
        return load(self.source)

    @cached_property
    def space(self) -> Space:
        """What is searched."""
        return Space.of(self.scenario)

    @cached_property
    def goals(self) -> tuple[Objective, ...]:
        """The objectives with their directions."""
        assert self.scenario.spec.search is not None
        return objectives_of(self.scenario.spec.search.objectives)


CASES = {
    "egee-sites": Case(str(FOLDER / "egee-sites.toml"), best=(0.0, 1.0), worst=(0.6, 1.6)),
    "dirac-wide": Case(str(FOLDER / "dirac-wide.toml"), best=(1800.0, 1000.0), worst=(7000.0, 6000.0)),
}
