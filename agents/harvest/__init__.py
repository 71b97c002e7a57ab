"""Harvesting (CiGri): bags of best-effort tasks, and harvesters that bring them to sites under control.

Controllers are policies in `model/harvest`.
"""
