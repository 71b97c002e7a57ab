"""What a search is asked for: one list of fields for the command line, Python and the search itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gridtune import limits
from gridtune.optimize.budget import Budget, seconds_of
from gridtune.optimize.records.values import Value
from gridtune.scenarios.errors import ScenarioError


class SearchConfig(BaseModel):
    """What a search is asked for; what is left out is as the scenario's `[search]` says, or as suits it."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    budget: int | None = Field(
        None,
        description="configurations to try, the baseline included, and one more for each recommendation; 100 "
        "if nothing else ends the search",
    )
    runs: int | None = Field(None, description="simulations in all, validation included; never exceeded")
    time: float | str | None = Field(None, description="seconds, or a text such as 10m or 1.5h")
    converged: bool = Field(False, description="end when the front has stopped growing")
    sampler: str = Field("auto", description="sampler that proposes configurations; `list` names all")
    batch: int | None = Field(None, ge=1, description="configurations proposed at once")
    replications: int | None = Field(None, description="runs of each configuration in the search")
    validation_replications: int | None = Field(
        None,
        ge=0,
        description="validation runs of each configuration on the front; if left out, the posterior decides",
    )
    seed: int = Field(1, description="of workloads and sampler, from 0 to 2**32 - 1")
    vary: tuple[str, ...] = Field((), description="PATH=LOW:HIGH[:log] or PATH=V1,V2,…")
    objectives: tuple[str, ...] = Field((), description="metrics to trade off")
    require: tuple[str, ...] = Field((), description="constraints, METRIC<=NUMBER or with >=, < or >")
    others: tuple[Any, ...] = Field((), description="additional scenarios that every configuration runs in")
    seeds: tuple[int, ...] = Field((), description="seeds of workloads that every configuration runs under")
    robust: str | None = Field(None, description="mean, worst or quantile:SHARE over these cases")
    allow_loss: bool | None = Field(
        None, description="allow configurations that lose more mandatory work than the baseline"
    )
    allow_starvation: bool | None = Field(
        None, description="allow configurations that let somebody wait much longer than the baseline does"
    )
    start: tuple[dict[str, Value], ...] = Field(
        (), description="configurations to evaluate after the baseline, values by path"
    )
    baseline: bool | None = Field(
        None, description="whether the baseline is evaluated first; it is unless runs are no simulations"
    )
    out: Path | None = Field(None, description="folder for the study and its front")
    storage: str | Path | None = Field(None, description="URL of a database, or path of a journal file")
    study: str | None = Field(None, description="name of the study; that of the scenario if left out")
    resume: bool = Field(False, description="go on with a study that exists")

    @classmethod
    def of(cls, **fields: Any) -> SearchConfig:
        """A configuration of these fields.

        Raises:
            ScenarioError: a field has no sensible value, and why.
        """
        try:
            made = cls(**fields)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            name = ".".join(map(str, first["loc"]))
            raise ScenarioError(f"{name} {str(first['input'])[:60]}: {first['msg'].lower()}") from None
        if made.replications is not None and made.replications < 1:
            raise ScenarioError(f"replications {made.replications}: at least 1 is needed")
        if not 0 <= made.seed <= limits.SEARCH_SEED:
            raise ScenarioError(f"seed {made.seed}: expected a whole number from 0 to 2**32 - 1")
        return made

    @property
    def limits(self) -> Budget:
        """Where the search ends."""
        seconds = seconds_of(self.time) if isinstance(self.time, str) else self.time
        return Budget.of(self.budget, self.runs, seconds, self.converged)
