"""Results as JSON text that every reader of JSON understands."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

from gridtune.plain_text import escaped


def to_json(content: Any) -> str:
    """JSON text; what is not finite becomes null, which every reader of JSON understands."""
    text = json.dumps(_finite(content), indent=2, ensure_ascii=False)
    return escaped(text, "\n", lambda letter: json.dumps(letter)[1:-1])


def _finite(content: Any) -> Any:
    if isinstance(content, float):
        return content if isfinite(content) else None
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return content
