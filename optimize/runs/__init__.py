"""Runs of a search: the table of what each run gave, and who has configurations run."""
