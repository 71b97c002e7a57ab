"""The posterior of a search's configurations: a Gaussian process over all runs, noise included."""
