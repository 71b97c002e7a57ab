"""gridtune: simulate grid middleware under scheduling policies, and search the policies' parameters.

The names of this package are loaded when they are first used: to import it costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gridtune.model.metrics.custom import FinishedRun as FinishedRun
    from gridtune.model.metrics.custom import metric as metric
    from gridtune.scenarios.execution.grid_model import GridModel as GridModel

_HOMES = {
    "FinishedRun": "gridtune.model.metrics.custom",
    "GridModel": "gridtune.scenarios.execution.grid_model",
    "metric": "gridtune.model.metrics.custom",
}

__all__ = ["FinishedRun", "GridModel", "metric"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
