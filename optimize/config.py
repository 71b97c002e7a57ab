"""What a search is asked for: one list of fields for the command line, Python and the search itself."""

from __future__ import annotations

from collections.abc import Set
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from gridtune import limits
from gridtune.optimize.budget import CONFIGURATIONS, Budget, seconds_of
from gridtune.optimize.records.values import Value
from gridtune.scenarios.errors import ScenarioError


class SearchConfig(BaseModel):
    """What a search is asked for; what is left out is as the scenario's `[search]` says, or as suits it."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    budget: int | None = Field(None, ge=1)
    """The number of configurations to try, the baseline included; each recommendation may add one. 100 if
    nothing else ends the search."""
    runs: int | None = Field(None, ge=1)
    """The number of simulations in all, validation included, which is never exceeded; any number if left
    out."""
    time: float | str | None = Field(None, json_schema_extra={"limits": "s, above 0"})
    """The time that the search may take: a number of seconds, or a text such as 10m or 1.5h; any time if left
    out."""
    converged: bool = False
    """Whether to end when the front has stopped growing."""
    sampler: str = "auto"
    """The sampler that proposes configurations; `gridtune search SCENARIO --sampler list` names all."""
    batch: int | None = Field(None, ge=1)
    """The number of configurations proposed at once; the sampler's own if left out."""
    replications: int | None = Field(None, ge=1)
    """The number of runs of each configuration in the search; that of the scenario's `[search]` if left
    out."""
    validation_replications: int | None = Field(None, ge=0)
    """The number of validation runs of each configuration on the front; if left out, as many as help."""
    seed: int = Field(1, ge=0, le=limits.SEARCH_SEED)
    """The seed of workloads and sampler."""
    vary: tuple[str, ...] = ()
    """The search space beside that of the scenario: PATH=LOW:HIGH[:log] or PATH=V1,V2,…."""
    objectives: tuple[str, ...] = ()
    """The metrics to trade off; those of the scenario's `[search]` if left out."""
    require: tuple[str, ...] = ()
    """The constraints, METRIC<=NUMBER or with >=, < or >, in the unit of the metric."""
    others: tuple[Any, ...] = ()
    """The additional scenarios that every configuration runs in."""
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = ()
    """The seeds of workloads, each a case of its own; `seed` alone if left out."""
    robust: str | None = None
    """The statistic over scenarios and seeds: mean, worst or quantile:SHARE."""
    allow_loss: bool | None = None
    """Whether to allow configurations that lose more mandatory work than the baseline."""
    allow_starvation: bool | None = None
    """Whether to allow configurations that let some jobs wait much longer than the baseline."""
    start: tuple[dict[str, Value], ...] = ()
    """The configurations to evaluate after the baseline, each as values by path."""
    baseline: bool | None = None
    """Whether the baseline is evaluated first; by default it is."""
    out: Path | None = None
    """The folder for the study and its front; none if left out."""
    storage: str | Path | None = None
    """The URL of a database, or the path of a journal file; the study is kept there."""
    study: str | None = None
    """The name of the study; that of the scenario if left out."""
    resume: bool = False
    """Whether to go on with a study that exists."""

    @field_validator("vary", "objectives", "require", mode="before")
    @classmethod
    def _several(cls, given: Any) -> Any:
        """One text is a list of one; a set has no order."""
        if isinstance(given, Set):
            raise ValueError("expected a list: a set has no order")
        return (given,) if isinstance(given, str) else given

    @classmethod
    def of(cls, **fields: Any) -> SearchConfig:
        """A configuration of these fields.

        Raises:
            ScenarioError: a field has no sensible value, and why.
        """
        try:
            return cls(**fields)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            name = str(first["loc"][0])
            if first["type"] == "extra_forbidden":
                near = get_close_matches(name, cls.model_fields, n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise ScenarioError(f"{name}: no such setting{hint}") from None
            raise ScenarioError(f"{name} {str(first['input'])[:60]}: {first['msg'].lower()}") from None

    @property
    def limits(self) -> Budget:
        """Where the search ends: after `CONFIGURATIONS` without any limit.

        Raises:
            ScenarioError: the time is none, or nothing can be done in it.
        """
        seconds = seconds_of(self.time) if isinstance(self.time, str) else self.time
        if seconds is not None and not 0 < seconds < limits.NUMBER:
            raise ScenarioError(f"time {seconds:g}: expected a number of seconds above 0")
        unlimited = self.runs is None and seconds is None and not self.converged
        configurations = self.budget or (CONFIGURATIONS if unlimited else limits.BUDGET)
        return Budget(configurations, self.runs, seconds, self.converged)
