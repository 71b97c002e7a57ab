"""Deadline scheduling (RR-5335): the scheduling agent, its servers, and what it measures of them.

Their decisions are policies in `model/deadline`.
"""
