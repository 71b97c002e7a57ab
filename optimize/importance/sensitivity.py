"""Which parameters matter for which objective: the result, whatever the method, and its forms."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from gridtune.optimize.records.difference import INTERVAL, ROUNDING
from gridtune.optimize.records.evaluations import Objective


class Method(NamedTuple):
    """A way to say how much a parameter matters.

    Attributes:
        title: what the main number is, in words.
        columns: names of its numbers, by the first of which parameters are ranked; `…_conf`: half-intervals.
        counted: what the column `active` of a ranking counts.
    """

    title: str
    columns: tuple[str, ...]
    counted: str
    source: str
    unit_of_objective: bool = False

    @property
    def main(self) -> str:
        """The number that parameters are ranked by."""
        return self.columns[0]


METHODS: dict[str, Method] = {
    "importance": Method(
        "importance for the best tenth",
        ("importance", "importance_conf"),
        "evaluations",
        "PED-ANOVA, IJCAI 2023, arXiv:2304.10255, in its conditional form, arXiv:2601.20800",
    ),
    "morris": Method(
        "mean absolute effect μ*",
        ("mu_star", "mu_star_conf", "mu", "sigma"),
        "trajectories",
        "M. Morris, Technometrics 33, 1991; F. Campolongo et al., Environmental Modelling & Software 22, "
        "2007",
        unit_of_objective=True,
    ),
    "sobol": Method(
        "share of the variance",
        ("ST", "ST_conf", "S1", "S1_conf"),
        "base samples",
        "I. Sobol', Mathematics and Computers in Simulation 55, 2001; A. Saltelli et al., Computer Physics "
        "Communications 181, 2010",
    ),
}


class Ranking(NamedTuple):
    """How much each parameter matters for one objective.

    Attributes:
        effects: a row for each parameter, that which matters most first; empty if nothing can be said.
            Columns are its `path`, those of the method (nan where one has no meaning), and `active`: in how
            many of what the method counts it was.
        reason: why nothing can be said; "" if something can.
    """

    objective: Objective
    effects: pd.DataFrame
    reason: str = ""


@dataclass(frozen=True)
class Sensitivity:
    """Which parameters matter for which objective.

    Attributes:
        subject: name of the scenario, or of the study.
        method: a key of `METHODS`.
        samples, evaluations: that it rests on, of what the method counts, and different configurations.
        seed: of workloads and sample, or of the bootstrap.
    """

    subject: str
    method: str
    rankings: tuple[Ranking, ...]
    samples: int
    evaluations: int
    runs: int
    seed: int
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As data for JSON."""
        method = METHODS[self.method]
        return {
            "subject": self.subject,
            "method": self.method,
            "counted": method.counted,
            "samples": self.samples,
            "evaluations": self.evaluations,
            "runs": self.runs,
            "seed": self.seed,
            "confidence_level": INTERVAL,
            "source": method.source,
            "objectives": [
                {
                    "name": ranking.objective.name,
                    "direction": ranking.objective.direction,
                    "unit": ranking.objective.unit,
                    "reason": ranking.reason or None,
                    "parameters": ranking.effects.replace({nan: None}).to_dict("records"),
                }
                for ranking in self.rankings
            ],
            "notes": list(self.notes),
        }

    def table(self) -> pd.DataFrame:
        """A row per objective and parameter, numbers in full; those without a meaning are missing."""
        tables = [one.effects.assign(objective=one.objective.name) for one in self.rankings]
        columns = ["objective", "parameter", *METHODS[self.method].columns, "active", "of"]
        whole = pd.concat(tables, ignore_index=True).rename(columns={"path": "parameter"})
        return whole.assign(of=self.samples).reindex(columns=columns).astype({"active": int})

    def basis(self) -> str:
        """What the numbers rest on, in a few words."""
        counted = METHODS[self.method].counted
        configurations = "" if counted == "evaluations" else f", {self.evaluations} different configurations"
        return f"{self.samples} {counted}{configurations}, {self.runs} simulations"


def ranked(objective: Objective, effects: pd.DataFrame, method: str) -> Ranking:
    """Effects sorted by the main number of the method, the largest first, ties by path.

    Numbers of a parameter that was never active are missing, and it comes last.
    """
    known, columns = effects.copy(), list(METHODS[method].columns)
    known.loc[known["active"] == 0, columns] = nan
    order = [METHODS[method].main, "path"]
    return Ranking(objective, known.sort_values(order, ascending=[False, True], ignore_index=True))


def constant(objective: Objective, outcomes: np.ndarray[Any, Any], where: str) -> Ranking | None:
    """The ranking of an objective that is equal everywhere; None if it is not."""
    if np.ptp(outcomes) > ROUNDING * np.abs(outcomes).max():
        return None
    return Ranking(objective, pd.DataFrame(), f"{outcomes[0]:g} {where}, so no parameter has an effect")
