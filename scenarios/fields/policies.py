"""Policies as a scenario writes them: a name, or a table with `kind` and parameters."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, GetPydanticSchema, PlainSerializer, WithJsonSchema
from pydantic_core import core_schema

from gridtune.model.policy import FAMILIES, Policy, make, spec


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
