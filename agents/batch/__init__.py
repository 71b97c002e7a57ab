"""Batch sites: head nodes with queues and a scheduler, and best-effort jobs in the holes of its schedule.

Their decisions are policies in `model/batch`.
"""
