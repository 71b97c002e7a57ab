"""Why a configuration: what it gains and pays, what its settings do, and who stands around it."""
