"""Courses of values over time, as a scenario writes them: a number, a law, or a table with `course`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, Strict, model_validator

from gridtune.model.deadline.platform import Steps
from gridtune.scenarios.fields.laws import EndlessLaw, Law
from gridtune.scenarios.fields.table import Table

BLOCK = 64  # values drawn at once


class Fixed(Table):
    """A value that is drawn once for each server and then stays."""

    course: Literal["fixed"] = "fixed"
    value: EndlessLaw

    def steps(self, rng: np.random.Generator, low: float, high: float) -> Steps:
        """The course of one server, kept within [low, high]."""
        return Steps.constant(min(max(float(self.value.draw(rng, 1, finite=False)[0]), low), high))


class Drawn(Table):
    """Values that are drawn one after the other, each held for a time that is drawn as well."""

    course: Literal["drawn"]
    value: Law
    hold: Law = Field(description="s that each value lasts")

    def steps(self, rng: np.random.Generator, low: float, high: float) -> Steps:
        """The course of one server, kept within [low, high]; values last a millisecond at least."""
        return Steps(self._changes(rng, low, high))

    def _changes(self, rng: np.random.Generator, low: float, high: float) -> Iterator[tuple[float, float]]:
        time = 0.0
        while True:
            values = np.clip(self.value.draw(rng, BLOCK), low, high)
            for value, hold in zip(values.tolist(), self.hold.draw(rng, BLOCK).tolist(), strict=True):
                yield time, value
                time += max(hold, 0.001)


class Listed(Table):
    """Values from given times on, e.g. `steps = [[0, 1.0], [3600, 0.5]]`."""

    course: Literal["listed"]
    steps_: list[Annotated[tuple[float, float], Strict(False)]] = Field(
        alias="steps", min_length=1, description="[s, value]"
    )

    @model_validator(mode="after")
    def _sensible(self) -> Listed:
        times = [time for time, _ in self.steps_]
        if times[0] != 0 or times != sorted(set(times)):
            raise ValueError("the times of steps must begin at 0 and ascend")
        if min(value for _, value in self.steps_) <= 0:
            raise ValueError("the values of steps must be more than 0")
        return self

    def steps(self, rng: np.random.Generator, low: float, high: float) -> Steps:
        """The same course for every server, kept within [low, high]."""
        return Steps((time, min(max(value, low), high)) for time, value in self.steps_)


def _fixed(value: Any) -> Any:
    if isinstance(value, dict) and "course" in value:
        return value
    return {"course": "fixed", "value": value}


Course = Annotated[
    Annotated[Fixed | Drawn | Listed, Field(discriminator="course")],
    BeforeValidator(_fixed, json_schema_input_type=float | dict[str, Any]),
]
