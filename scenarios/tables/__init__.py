"""The tables of a scenario document, a module for each system, and the schema that puts them together.

Pydantic models: keys, types, bounds and words; nothing is built here.
"""
