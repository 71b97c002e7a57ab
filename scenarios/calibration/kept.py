"""Replays of a calibration that are kept in a file, so that one that was interrupted goes on."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter

from gridtune import limits
from gridtune.scenarios.calibration.replays import Tried
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.regular_files import text_of

LINE = TypeAdapter(tuple[str, Tried])


class KeptReplays(dict[str, Tried]):
    """What replays gave, by logs and settings: a line of JSON each. A line that is cut off is left out.

    Args:
        path: of the file, which need not exist.

    Raises:
        ScenarioError: the file cannot be read or is another's, or a replay cannot be added.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        try:
            lines = text_of(path, limits.METRICS_BYTES, "replace").splitlines()
        except FileNotFoundError:
            return
        except OSError as error:
            raise ScenarioError(f"{path}: cannot be read: {error.strerror or error}") from error
        for line in lines:
            try:
                key, tried = LINE.validate_python(json.loads(line))
            except ValueError:
                continue
            super().__setitem__(key, tried)
        if any(lines) and not self:
            raise ScenarioError(f"{path}: holds no replays; remove it or give another name")

    def __setitem__(self, key: str, tried: Tried) -> None:
        super().__setitem__(key, tried)
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"\n{json.dumps([key, asdict(tried)])}")  # what was cut off is a line of its own
        except OSError as error:
            raise ScenarioError(f"{self.path}: cannot be written: {error.strerror or error}") from error

    def remove(self) -> None:
        """Remove the file: the calibration is over."""
        self.path.unlink(missing_ok=True)
