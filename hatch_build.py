"""Links from the package to its floors, for an editable install from a source archive, which holds none."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FLOORS = ("model", "agents", "scenarios", "optimize")


class Links(BuildHookInterface):
    """What is done before a wheel is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Link what is not linked; a wheel that is not editable takes the floors themselves."""
        if version != "editable":
            return
        for floor in FLOORS:
            link = Path(self.root, "src", "gridtune", floor)
            if not link.exists():
                link.symlink_to(Path("..", "..", floor), target_is_directory=True)
