"""Faults put on the grid: of what is shared by all systems, and so after all of them."""
