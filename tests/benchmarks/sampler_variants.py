"""Settings of samplers that were tried against those that are shipped."""

from __future__ import annotations

from typing import Any, ClassVar

from gridtune.optimize.samplers import register
from gridtune.optimize.samplers.optuna_genetic import Nsga2
from gridtune.optimize.samplers.optuna_surrogate import Tpe


class _Tpe(Tpe):
    settings: ClassVar[dict[str, Any]] = {}

    def _make(self):
        from optuna.samplers import TPESampler

        return TPESampler(seed=self.seed, **self.settings)


class TpeWithoutLiar(_Tpe):
    """Pending points are not taken for bad ones."""

    settings: ClassVar[dict[str, Any]] = {"constant_liar": False}


class TpeMultivariate(_Tpe):
    """One model of all parameters, those that do not count included."""

    flat = True
    settings: ClassVar[dict[str, Any]] = {"multivariate": True, "constant_liar": True}


class TpeGroups(_Tpe):
    """One model per set of parameters that occur together."""

    settings: ClassVar[dict[str, Any]] = {"multivariate": True, "group": True, "constant_liar": True}


class Nsga2Wide(Nsga2):
    """Children farther from their parents."""

    eta = 5.0

    def _operators(self):
        from optuna.samplers.nsgaii import PolynomialMutation, SBXCrossover

        return {
            **super()._operators(),
            "crossover": SBXCrossover(eta=self.eta),
            "mutation": PolynomialMutation(eta=self.eta),
        }


class Nsga2Wider(Nsga2Wide):
    """Children much farther from their parents."""

    eta = 2.0


class Nsga2Genes(Nsga2Wide):
    """Children take no genes from parents unchanged."""

    def _operators(self):
        from optuna.samplers.nsgaii import SBXCrossover

        return {**super()._operators(), "crossover": SBXCrossover(eta=self.eta, use_child_gene_prob=1.0)}


def register_all() -> None:
    """Make the variants selectable."""
    for name, kind in {
        "tpe-no-liar": TpeWithoutLiar,
        "tpe-multivariate": TpeMultivariate,
        "tpe-groups": TpeGroups,
        "nsga2-wide": Nsga2Wide,
        "nsga2-wider": Nsga2Wider,
        "nsga2-genes": Nsga2Genes,
    }.items():
        register(name, "")(kind)
