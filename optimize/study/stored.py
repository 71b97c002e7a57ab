"""What a study may hold, as models: nothing that was stored is used before it is found to be of this kind."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from math import isclose
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError, model_validator

from gridtune.scenarios.fields.requirements import Relation

CHECK = "check"
Count = Annotated[int, Field(ge=1)]
Number = Annotated[int, Field(ge=0)]


def digest(identity: str, kind: str, content: Any) -> str:
    """A checksum of something that a study holds.

    Args:
        identity: of the study; so what belongs to another one is no part of this.
        kind: what it is.
        content: in JSON's terms.
    """
    text = json.dumps([identity, kind, content], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def signed(identity: str, kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Something with its checksum."""
    return {**content, CHECK: digest(identity, kind, content)}


def intact(identity: str, kind: str, content: object) -> bool:
    """Whether something is what was given its checksum."""
    if not isinstance(content, dict) or CHECK not in content:
        return False
    bare = {name: part for name, part in content.items() if name != CHECK}
    return bool(content[CHECK] == digest(identity, kind, bare))


class Stored(BaseModel):
    """Base of what is stored; what later versions add is passed over."""

    model_config = ConfigDict(strict=True, extra="ignore")


class StoredEstimate(Stored):
    """See `optimize.records.evaluations.Estimate`."""

    mean: FiniteFloat
    standard_error: Annotated[FiniteFloat, Field(ge=0)] | None
    values: Annotated[list[FiniteFloat], Field(min_length=1)]

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        mean = sum(self.values) / len(self.values)
        if not isclose(mean, self.mean, rel_tol=1e-9, abs_tol=1e-9 * max(map(abs, self.values))):
            raise ValueError("the mean is not that of the values")
        return self


Estimates = dict[str, StoredEstimate]


class StoredEvaluation(Stored):
    """See `optimize.records.evaluations.Evaluation`."""

    objectives: Annotated[Estimates, Field(min_length=1)]
    metrics: dict[str, float | None]
    cases: dict[str, Estimates] = {}
    host: Number | None = None


class StoredFailure(Stored):
    """See `optimize.records.evaluations.Failed`."""

    failure: str
    host: Number | None = None


class Part(Stored):
    """Whose further replications these are; see `optimize.study.extra_runs.Further`."""

    number: Number
    fresh: bool
    first: Number | None = None


class StoredCase(Stored):
    """See `optimize.search_space.cases.Case`."""

    name: str
    document: dict[str, Any]
    seed: Number


class StoredParameter(Stored):
    """See `optimize.search_space.space.Parameter`."""

    path: str
    choices: list[bool | int | float | str] = []
    low: FiniteFloat = 0.0
    high: FiniteFloat = 0.0
    log: bool = False
    whole: bool = False
    when: dict[str, list[bool | int | float | str]]


class StoredToday(Stored):
    """See `optimize.search_space.today.Today`."""

    point: dict[str, bool | int | float | str]
    values: dict[str, bool | int | float | str]
    notes: list[str]


class StoredSettings(Stored):
    """See `optimize.search_space.settings.Settings`."""

    scenario: str
    document: dict[str, Any]
    base: str
    space: Annotated[list[StoredParameter], Field(min_length=1)]
    objectives: Annotated[list[Annotated[list[Any], Field(min_length=2)]], Field(min_length=1)]
    sampler: str
    batch: Count
    seed: Number
    replications: Count
    budget: Count
    max_replications: Count | None = None
    cases: list[StoredCase] = []
    robust: str = "mean"
    constraints: list[Annotated[list[Any], Field(min_length=3)]] = []
    today: StoredToday | None = None
    starts: list[dict[str, bool | int | float | str]] = []

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        for name, direction, *_ in self.objectives:
            if not isinstance(name, str) or direction not in ("minimize", "maximize"):
                raise ValueError("an objective has no direction")
        for constraint in self.constraints:
            TypeAdapter(tuple[str, Relation, float]).validate_python(tuple(constraint[:3]))
        return self


class Closed(Stored):
    """What a search had kept when it let go of its study, and whether its exploration was over."""

    entries: Number
    parts: Number
    explored: bool = False


Runs = TypeAdapter(list[tuple[str, Number, Number, dict[str, tuple[float, str]]]])


def fault(model: type[Stored], content: object) -> str:
    """What is wrong with something that was stored, in a few words; empty if nothing is."""
    try:
        model.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        return (
            f"{place}: {first['msg'].lower()}" if place else str(first["msg"]).removeprefix("Value error, ")
        )
    except (ValueError, TypeError, RecursionError) as error:
        return str(error)
    return ""
