"""What a configuration's own runs say: estimates, comparisons, guards, chances."""
