"""Parameters in Optuna's terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gridtune.optimize.search_space.parameter import Parameter

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution


def distribution(parameter: Parameter) -> BaseDistribution:
    """What Optuna calls the values that a parameter may take."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if parameter.choices:
        return CategoricalDistribution(parameter.choices)
    if parameter.whole:
        return IntDistribution(int(parameter.low), int(parameter.high), log=parameter.log)
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log)
