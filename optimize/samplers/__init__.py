"""Samplers: ways to choose the configurations that a search evaluates."""

# To import them is to register them.
from gridtune.optimize.samplers import optuna_samplers, pymoo_genetic, space_filling, surrogate
from gridtune.optimize.samplers.base import Result, Sampler, find, register, samplers

__all__ = ["Result", "Sampler", "find", "register", "samplers"]
