"""What all runs of a search say: estimates, differences, the Pareto front, recommendations, harm."""
