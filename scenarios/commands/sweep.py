"""What `gridtune sweep` asks beyond `gt.sweep`: nobody sets what is varied."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gridtune.scenarios.document.paths import same_place
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.sweep import parse_vary


def check_not_varied(scenario: Scenario, vary: Sequence[str], assignments: Iterable[str]) -> None:
    """Make sure that no path is both varied and set: that value would never be used.

    Args:
        scenario: in which.
        vary: as on the command line.
        assignments: `PATH=VALUE`, as there.

    Raises:
        ScenarioError: a path is both, or a variation is none.
    """
    varied = [parse_vary(text)[0] for text in vary]
    for path in (assignment.partition("=")[0].strip() for assignment in assignments):
        for other in varied:
            if same_place(scenario.document, path, other):
                raise ScenarioError(
                    f"--set {path}: --vary {other} varies it, so the value would not be used; leave one out"
                )
