"""Workloads: who submits what when, drawn from laws or read from traces and schedules.

Each kind is a table of a scenario that can draw itself.
"""
