"""What a search is asked for: one list of fields for the command line, Python and the search itself."""

from __future__ import annotations

from collections.abc import Set
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from gridtune import limits
from gridtune.optimize.budget import Budget, seconds_of
from gridtune.optimize.records.values import Value
from gridtune.scenarios.errors import ScenarioError


class SearchConfig(BaseModel):
    """What a search is asked for; what is left out is as the scenario's `[search]` says, or as suits it."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    budget: int | None = Field(None, json_schema_extra={"limits": "at least 1"})
    """The number of configurations to try, the baseline included; each recommendation may add one. 100 if
    nothing else ends the search."""
    runs: int | None = Field(None, json_schema_extra={"limits": "at least 1"})
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
    replications: int | None = Field(None, json_schema_extra={"limits": "at least 1"})
    """The number of runs of each configuration in the search; that of the scenario's `[search]` if left
    out."""
    validation_replications: int | None = Field(None, ge=0)
    """The number of validation runs of each configuration on the front; if left out, as many as help."""
    seed: int = Field(1, json_schema_extra={"limits": "0 to 2**32 - 1"})
    """The seed of workloads and sampler."""
    vary: tuple[str, ...] = ()
    """The search space beside that of the scenario: PATH=LOW:HIGH[:log] or PATH=V1,V2,…."""
    objectives: tuple[str, ...] = ()
    """The metrics to trade off; those of the scenario's `[search]` if left out."""
    require: tuple[str, ...] = ()
    """The constraints, METRIC<=NUMBER or with >=, < or >, in the unit of the metric."""
    others: tuple[Any, ...] = ()
    """The additional scenarios that every configuration runs in."""
    seeds: tuple[int, ...] = ()
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
            made = cls(**fields)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            name = ".".join(map(str, first["loc"]))
            if first["type"] == "extra_forbidden":
                near = get_close_matches(name, cls.model_fields, n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise ScenarioError(f"{name}: no such setting{hint}") from None
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
