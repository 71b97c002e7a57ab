"""What is asked of a search: parameters, objectives, constraints, cases, and the settings that say so."""
