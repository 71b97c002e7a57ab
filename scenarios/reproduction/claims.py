"""Claims of a paper, and what becomes of them when its experiments are run again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from gridtune.scenarios.document.scenario import Scenario

Verdict = Literal["met", "not met", "contradicted by the source"]


@dataclass(frozen=True)
class Claim:
    """One checkable statement of a paper and its outcome.

    Attributes:
        id: short name, e.g. `D4`.
        experiment: within the paper.
        claim: the statement, in our words.
        source: section, figure or table.
        expected: value or relation, with its tolerance.
        measured: what came out.
        verdict: whether it was met; `contradicted by the source` where the paper disagrees with itself or
            with arithmetic, which `reason` then shows.
        reason: why, where it was not met.
    """

    id: str
    experiment: str
    claim: str
    source: str
    expected: str
    measured: str | float
    verdict: Verdict
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As the command line prints it."""
        return asdict(self)


def verdict(holds: bool) -> Verdict:
    """`met` or `not met`."""
    return "met" if holds else "not met"


Point = Mapping[str, Any]
Values = dict[str, list[float]]


class Evaluate(Protocol):
    """Runs every point of a scenario several times, with common random numbers."""

    def __call__(self, scenario: Scenario, points: Sequence[Point], replications: int) -> list[Values]:
        """For each point, each metric's value in each replication."""


@dataclass
class Workbench:
    """What an experiment works with.

    Attributes:
        evaluate: runs points, in parallel where asked.
        replications: runs of each point where an experiment takes a mean or a median.
        seed: of all runs.
        out: folder for figures and tables; exists.
        figures: files drawn so far.
    """

    evaluate: Evaluate
    replications: int
    seed: int
    out: Path
    figures: list[Path] = field(default_factory=list)

    def figure(self, name: str) -> Path:
        """Path of a figure to draw, remembered as drawn."""
        path = self.out / f"{name}.png"
        self.figures.append(path)
        return path


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper.

    Attributes:
        name: as in `gridtune reproduce PAPER/NAME`.
        title: one line.
        run: does it, draws its figures, and returns its claims.
    """

    name: str
    title: str
    run: Callable[[Workbench], list[Claim]]


@dataclass(frozen=True)
class Paper:
    """A paper that can be reproduced.

    Attributes:
        name: as in `gridtune reproduce NAME`.
        title: of the paper.
        experiments: in the paper's order.
    """

    name: str
    title: str
    experiments: tuple[Experiment, ...]
