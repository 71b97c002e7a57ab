"""Deadline scheduling with priority (RR-5335): servers that change, forecasts of them, and routing.

Pure rules and what they know; the actors are in `agents/deadline`.
"""
