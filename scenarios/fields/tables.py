"""Pieces that the schemas of all systems share."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetPydanticSchema,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import core_schema

from gridtune.model.policy import FAMILIES, Policy, make, spec
from gridtune.scenarios.fields.requirements import requirement


class Part(BaseModel):
    """A table of a scenario: unknown keys are refused, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def one_or_more(value: Any) -> Any:
    """A lone element stands for an array of one."""
    return [value] if isinstance(value, dict | str) else value


class Switchable(Part):
    """A table that belongs to parts of a grid that can be switched off."""

    part: Annotated[list[str], BeforeValidator(one_or_more)] = Field(
        default_factory=list,
        description="names in [parts]: it stands in the grid while one of them is on; left out, always",
    )


def policy_of(family: str) -> Any:
    """The type of a field that holds a policy, written as its name or as a table with `kind`."""

    def build(value: Any) -> Policy:
        return value if isinstance(value, Policy) else make(family, value)

    return Annotated[
        Policy,
        GetPydanticSchema(lambda _source, _handler: core_schema.is_instance_schema(Policy)),
        BeforeValidator(build),
        PlainSerializer(spec),
        WithJsonSchema(
            {
                "description": FAMILIES[family],
                "anyOf": [
                    {"type": "string"},
                    {"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]},
                ],
            }
        ),
    ]


class NetworkSpec(Part):
    """Links between clients, agents and servers."""

    latency: float = Field(default=0.0, ge=0, description="s that a message takes")
    bandwidth: float = Field(default=float("inf"), gt=0, description="bytes per second")


class RecordSpec(Part):
    """What a run records beside its jobs."""

    sample_period: float | None = Field(
        default=None, gt=0, description="s between two samples of the signals"
    )
    message_bin: float = Field(
        default=1.0, gt=0, description="s; width of the bins in which messages are counted"
    )
    cpu_per_message: float = Field(
        default=0.0, ge=0, description="s of CPU time that handling a message costs"
    )


class MetricsSpec(Part):
    """Readings of the metrics where the sources leave a choice."""

    allocated: Literal["completed", "occupied"] = Field(
        default="completed", description="work of completed jobs, or time that slots were held"
    )
    deserved: Literal["area", "capped"] = Field(
        default="capped",
        description="equal share of those who still want something, or as in RR-7959 of all who are there",
    )


Number = int | float
Value = bool | int | float | str


class Choices(Part):
    """A parameter that takes one of several values."""

    choices: list[Value] = Field(min_length=1)
    when: dict[str, Value | list[Value]] = Field(default_factory=dict)


class Range(Part):
    """A parameter between two bounds; whole numbers if both bounds are."""

    low: Number
    high: Number
    log: bool = False
    when: dict[str, Value | list[Value]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _sensible(self) -> Range:
        if not self.low < self.high:
            raise ValueError(f"low ({self.low}) must be less than high ({self.high})")
        if self.log and self.low <= 0:
            raise ValueError(f"a logarithmic range must start above 0, not at {self.low}")
        return self


def _parameter(value: Any) -> Any:
    return {"choices": value} if isinstance(value, list) else value


class SearchSpec(Part):
    """What a search varies and what it trades off.

    `space` maps paths to a list of choices, to `{low, high, log}`, or to `{choices}`; `when` makes a
    parameter exist only where others have given values. A point that breaks a constraint of `require` is
    never on the front. `replications` and `max_replications` hold unless a search is asked for others.
    """

    objectives: list[str] = Field(default=["unhappy_users", "unfairness", "completed"], min_length=1)
    require: list[Annotated[str, AfterValidator(requirement)]] = Field(
        default_factory=list, description="constraints, e.g. `utilisation>=0.8`, on the mean of any metric"
    )
    replications: int = Field(default=1, ge=1, description="runs of every point at first")
    max_replications: int | None = Field(
        default=None,
        ge=1,
        description="runs of a point that may be on the front; as `replications` if left out",
    )
    space: dict[str, Annotated[Choices | Range, BeforeValidator(_parameter)]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _sensible(self) -> SearchSpec:
        most = self.max_replications
        if most is not None and most < self.replications:
            raise ValueError(f"max_replications ({most}) must be at least replications ({self.replications})")
        return self
