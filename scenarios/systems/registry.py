"""The systems that can stand in a grid, each a module with `check(spec)` and `build(grid, spec)`."""

from __future__ import annotations

# Metrics are printed in the order in which their modules are imported.
from gridtune.scenarios.systems import batch, vres  # isort: split

from gridtune.scenarios.infrastructure import faults, leases
from gridtune.scenarios.systems import (
    deadline,
    gridrpc,
    harvesting,
    middleware,
    outages,
    overlay,
    platform,
    portal,
    queueing,
    wms,
)

# `check` refuses tables that do not fit together; `build` puts the actors of its tables on the grid. Their
# order is the order of ties.
SYSTEMS = (
    gridrpc,
    platform,
    batch,
    vres,
    harvesting,
    queueing,
    deadline,
    middleware,
    wms,
    portal,
    overlay,
    outages,
    leases,
    faults,
)
