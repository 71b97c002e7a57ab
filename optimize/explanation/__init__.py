"""Why a point: what it gains and pays, what its settings do, and who stands around it."""
