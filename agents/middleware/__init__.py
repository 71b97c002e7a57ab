"""Middleware over many sites (DIRAC): push by brokers, pull by site agents, and pilots.

Their decisions are policies in `model/middleware`.
"""
