"""The front: the non-dominated configurations with their probabilities, and changes against the baseline."""
