"""Plans of waiting jobs: the free processors over time, and who starts now if all are planned in order."""
