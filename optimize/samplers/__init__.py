"""Samplers: ways to choose the configurations that a search evaluates."""

from gridtune.optimize.samplers import (
    optuna_genetic,
    optuna_surrogate,
    pymoo_genetic,
    space_filling,
    surrogate,
)
from gridtune.optimize.samplers.base import Result, Sampler, find, register, samplers

__all__ = [
    "Result",
    "Sampler",
    "find",
    "optuna_genetic",
    "optuna_surrogate",
    "pymoo_genetic",
    "register",
    "samplers",
    "space_filling",
    "surrogate",
]
