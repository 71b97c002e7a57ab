"""What a run leaves: its value, tables, metrics and manifest on disk, and what is printed of it.

Every file appears whole or not at all.
"""
