"""What a parameter may be set to."""

from __future__ import annotations

import json
from collections.abc import Mapping

Value = bool | int | float | str


def key(configuration: Mapping[str, Value]) -> str:
    """What two configurations have in common exactly if they are the same configuration."""
    return json.dumps(sorted(configuration.items()))
