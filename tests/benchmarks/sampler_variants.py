"""Settings of samplers that were tried against those that are shipped."""

from __future__ import annotations

from optimize.samplers import register
from optimize.samplers.surrogate import Tpe


class _Tpe(Tpe):
    settings: dict[str, object] = {}  # noqa: RUF012

    def _make(self):
        from optuna.samplers import TPESampler

        return TPESampler(seed=self.seed, **self.settings)


class TpeWithoutLiar(_Tpe):
    """Pending points are not taken for bad ones."""

    settings = {"constant_liar": False}  # noqa: RUF012


class TpeMultivariate(_Tpe):
    """One model of all parameters, those that do not count included."""

    flat = True
    settings = {"multivariate": True, "constant_liar": True}  # noqa: RUF012


class TpeGroups(_Tpe):
    """One model per set of parameters that occur together."""

    settings = {"multivariate": True, "group": True, "constant_liar": True}  # noqa: RUF012


def register_all() -> None:
    """Make the variants selectable."""
    register("tpe-no-liar", "")(TpeWithoutLiar)
    register("tpe-multivariate", "")(TpeMultivariate)
    register("tpe-groups", "")(TpeGroups)
