"""Scenario documents: found, read, checked as a whole, addressed by dotted paths.

`scenario.load` is the way in.
"""
