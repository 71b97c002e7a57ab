"""What every table of a scenario is: strict about its keys; some can be switched off with a part."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


class Table(BaseModel):
    """A table of a scenario: unknown keys are refused, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def one_or_more(value: Any) -> Any:
    """A lone element stands for an array of one."""
    return [value] if isinstance(value, dict | str) else value


class Switchable(Table):
    """A table that belongs to parts of a grid that can be switched off."""

    part: Annotated[list[str], BeforeValidator(one_or_more)] = Field(
        default_factory=list,
        description="names in [parts]: it stands in the grid while one of them is on; left out, always",
    )
