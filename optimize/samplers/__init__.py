"""Samplers: ways to choose the points that a search evaluates."""

from gridtune.optimize.samplers import evolution, filling, nsga, surrogate
from gridtune.optimize.samplers.base import Result, Sampler, find, register, samplers

__all__ = ["Result", "Sampler", "evolution", "filling", "find", "nsga", "register", "samplers", "surrogate"]
