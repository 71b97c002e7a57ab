"""What a parameter may be set to."""

from __future__ import annotations

Value = bool | int | float | str
