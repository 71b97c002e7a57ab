"""Which parameters matter for which objective: in a study, or in the simulator itself."""
