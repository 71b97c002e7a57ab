"""Samplers: ways to choose the points that a search evaluates."""

from optimize.samplers import evolution, filling, surrogate
from optimize.samplers.base import Result, Sampler, find, register, samplers

__all__ = ["Result", "Sampler", "evolution", "filling", "find", "register", "samplers", "surrogate"]
