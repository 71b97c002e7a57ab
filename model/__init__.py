"""The world: grid, agenda, jobs, network, policies, record and metrics."""
