"""What a search is asked for: one list of fields for the command line, Python and the search itself."""

from __future__ import annotations

import re
from collections.abc import Set
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from gridtune import limits
from gridtune.optimize.records.recommendation import Value
from gridtune.plain_text import counted
from gridtune.scenarios.errors import ScenarioError, meant

CONFIGURATIONS = 100  # evaluations of a search of which nothing is said
OPTUNA = {"n_trials": "budget", "timeout": "time", "n_jobs": "jobs", "directions": "objectives"}
UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


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

    @field_validator("time")
    @classmethod
    def _in_seconds(cls, given: float | str | None) -> float | None:
        seconds = seconds_of(given) if isinstance(given, str) else given
        if seconds is not None and not 0 < seconds < limits.NUMBER:
            raise ScenarioError(f"time {seconds:g}: expected a number of seconds above 0")
        return seconds

    @classmethod
    def of(cls, **fields: Any) -> SearchConfig:
        """A configuration of these fields; a `ScenarioError` says which has no sensible value, and why."""
        try:
            return cls(**fields)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            name, why = str(first["loc"][0]), first.get("ctx", {}).get("error")
            if isinstance(why, ScenarioError):
                raise why from None
            if first["type"] == "extra_forbidden":
                hint = f"gridtune's is {OPTUNA[name]}" if name in OPTUNA else meant(name, cls.model_fields)
                raise ScenarioError(f"{name}: no such setting{'; ' if hint else ''}{hint}") from None
            raise ScenarioError(f"{name} {str(first['input'])[:60]}: {first['msg'].lower()}") from None

    @property
    def seconds(self) -> float | None:
        """The time that the search may take, s; None for any."""
        return None if self.time is None else float(self.time)

    @property
    def configurations(self) -> int:
        """The number of configurations to try at most; `CONFIGURATIONS` where nothing else ends it."""
        unlimited = self.runs is None and self.time is None and not self.converged
        return self.budget or (CONFIGURATIONS if unlimited else limits.BUDGET)

    @property
    def counted(self) -> bool:
        """Whether the number of configurations is limited."""
        return self.configurations < limits.BUDGET

    @property
    def ends(self) -> str:
        """Where the search ends, in words."""
        parts = [counted(self.configurations, "configuration")] if self.counted else []
        parts += [] if self.runs is None else [counted(self.runs, "run")]
        parts += [] if self.seconds is None else [f"{self.seconds:g} s"]
        return " or ".join([*parts, *(["until nothing changes"] if self.converged else [])])


def seconds_of(text: str) -> float:
    """A duration such as `90`, `90s`, `10m`, `1.5h` or `1h30m`, in s; a `ScenarioError` if it is none."""
    parts = re.findall(r"([0-9]+\.?[0-9]*)\s*([a-z]*)\s*", text.lower())
    whole = re.sub(r"\s", "", text.lower()) == "".join(number + unit for number, unit in parts)
    if not parts or not whole or any(unit not in UNITS for _, unit in parts):
        raise ScenarioError(f"--time {text[:60]}: expected a duration such as 90s, 10m or 1.5h")
    return sum(float(number) * UNITS[unit] for number, unit in parts)
