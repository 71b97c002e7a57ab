"""What is asked of a search: parameters, objectives, constraints, cases, and the settings that say so.

Checked as a whole (`problem`) before anything is run.
"""
