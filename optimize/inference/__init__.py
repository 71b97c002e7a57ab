"""What all runs of a search say of its points: worth, streams, luck, and what follows."""
