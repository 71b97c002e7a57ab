"""Everything that a result holds, for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any


def content(held: Any) -> str:
    """All that a data class, or each of several, holds, to the last bit; nan equals nan."""
    return repr([asdict(one) for one in held] if isinstance(held, Sequence) else asdict(held))
