"""What all runs of a search say of its configurations: worth, streams, luck, and what follows."""
