"""What a configuration's own runs say: comparisons, guards, shortlists."""
