"""The table `[search]`: what a search varies, between which bounds, and what it trades off."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from gridtune.scenarios.fields.requirements import requirement
from gridtune.scenarios.fields.table import Table, number

Number = int | float
Value = bool | int | float | str
When = Annotated[
    dict[str, Value | list[Value]],
    Field(description="other parameters by path, and the values with which alone it exists"),
]


class Choices(Table):
    """A parameter that takes one of several values."""

    choices: list[Value] = Field(min_length=1, description="values that it may take, each once")
    when: When = Field(default_factory=dict)

    @field_validator("choices")
    @classmethod
    def _once(cls, values: list[Value]) -> list[Value]:
        if len(set(values)) < len(values):  # 1 and 1.0 are one
            raise ValueError("a value is given twice")
        return values


class Range(Table):
    """A parameter between two bounds; whole numbers if both bounds are."""

    low: Number = number(..., "see meaning", "least value, in the unit of the parameter")
    high: Number = number(..., "see meaning", "greatest value, in the unit of the parameter")
    log: bool = Field(default=False, description="whether equal ratios count as equal steps")
    when: When = Field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether whole numbers are meant."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    @model_validator(mode="after")
    def _sensible(self) -> Range:
        if not self.low < self.high:
            raise ValueError(f"low ({self.low}) must be less than high ({self.high})")
        if self.log and self.low <= 0:
            raise ValueError(f"a logarithmic range must start above 0, not at {self.low}")
        return self


def _parameter(value: Any) -> Any:
    return {"choices": value} if isinstance(value, list) else value


Parameter = Annotated[
    Choices | Range,
    BeforeValidator(
        _parameter, json_schema_input_type=Choices | Range | Annotated[list[Value], Field(min_length=1)]
    ),
]


class Starvation(Table):
    """How much longer than in the baseline somebody may wait in a configuration on the front."""

    class_factor: float = number(
        1.5,
        "ratio",
        "times the baseline's wait, beside `slack`: 95th percentile of each class of sizes and of run "
        "times, mean of the tenth of users who wait longest, and mean of each user but for less than a "
        "tenth of them",
        ge=1,
    )
    slack: float = number(3600.0, "s", "s, added to that", ge=0)
    longest_factor: float = number(2.0, "ratio", "times the baseline's longest wait (at least `slack`)", ge=1)


class SearchSpec(Table):
    """What a search varies and what it trades off.

    `space` maps paths to a list of choices, to `{low, high, log}`, or to `{choices}`; `when` makes a
    parameter exist only where others have given values. A configuration that breaks a constraint of
    `require` is never on the front. `replications` holds unless a search is asked for another number.
    """

    objectives: list[str] = Field(
        default=["unhappy_users", "unfairness", "completed"],
        min_length=1,
        description="metrics that the search improves",
    )
    require: list[Annotated[str, AfterValidator(requirement)]] = Field(
        default_factory=list, description="constraints, e.g. `utilisation>=0.8`, on the mean of any metric"
    )
    allow_loss: bool = Field(
        default=False,
        description="whether configurations may lose more mandatory work than the baseline; else such "
        "configurations are never on the front",
    )
    allow_starvation: bool = Field(
        default=False,
        description="whether configurations may let a class of jobs or users wait much longer than the "
        "baseline does; else such configurations are never on the front",
    )
    starvation: Starvation = Field(default_factory=Starvation, description="what counts as much longer")
    replications: int = number(1, "count", "runs of every configuration in the search", ge=1)
    start: list[dict[str, Value]] = Field(
        default_factory=list,
        description="settings to evaluate after the baseline, e.g. those of a paper: values by path; what is "
        "left out is as in the baseline",
    )
    caveat: str = Field(default="", description="a sentence that every answer repeats, such as a known doubt")
    space: dict[str, Parameter] = Field(default_factory=dict, description="parameters to vary, by path")
