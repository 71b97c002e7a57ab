"""What every table of a scenario is: strict about its keys; some can be switched off with a part."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isfinite
from reprlib import Repr
from types import EllipsisType
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, overload

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from gridtune import limits

_T = TypeVar("_T")

ADDRESSED = {"parts", "vres"}  # keys of tables of which the writer chooses the names
WHOLE = (int, int | None)  # types of whole numbers
Name = Annotated[str, Field(description="name by which paths address it; no other of its kind has the same")]
_BRIEF = Repr()  # of values
_BRIEF.maxstring, _BRIEF.maxother, _BRIEF.maxlist, _BRIEF.maxdict = 40, 40, 2, 2


class Table(BaseModel):
    """A table of a scenario: unknown keys are refused, values do not change.

    Nothing is taken for something else: `true` is no number, and `"1"` neither; but 3.0 is a whole number.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)
    endless: ClassVar[frozenset[str]] = (
        frozenset()
    )  # keys that may be infinite, beside those that are by default

    def __repr__(self) -> str:
        """What was written, in brief: long values are cut, defaults left out."""
        given = (name for name in type(self).model_fields if name in self.model_fields_set)
        said = ", ".join(f"{name}={_BRIEF.repr(getattr(self, name))}" for name in given)
        return f"{type(self).__name__}({said})"

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        fields = cls.__pydantic_fields__
        whole = {
            key: int(value)
            for key, value in given.items()
            if isinstance(value, float)
            and value.is_integer()
            and key in fields
            and fields[key].annotation in WHOLE
        }
        return {**given, **whole} if whole else given

    @model_validator(mode="after")
    def _addressable(self) -> Self:
        """Whatever has a name must be within reach of a path."""
        fields = self.__pydantic_fields__
        own = self.__dict__.get("name")
        names = [own] if isinstance(own, str) else []
        for key in ADDRESSED & fields.keys():
            names += getattr(self, key) or ()
        for name in names:
            addressable(name)
        return self

    @model_validator(mode="after")
    def _of_sensible_size(self) -> Self:
        written = self.model_fields_set
        for name, given in self.__dict__.items():
            field = self.__pydantic_fields__[name]
            for key, value in _numbers(field.alias or name, given) if name in written else ():
                if value == inf and (field.default == inf or name in self.endless):
                    continue
                most = limits.COUNTS.get(name, limits.WHOLE) if isinstance(value, int) else limits.NUMBER
                if isinstance(value, float) and not isfinite(value):
                    raise ValueError(f"{key}: {value} is no finite number")
                if abs(value) > most:
                    raise ValueError(f"{key}: {_short(value)} is too large; the limit is {most:,}")
                if 0 < abs(value) < limits.TINY:
                    raise ValueError(f"{key}: {value:g} is too small; the limit is {limits.TINY:g}")
        return self


def addressable(name: str) -> str:
    """A name as it is, if a path can address it.

    Raises:
        ValueError: it is empty, too long, or has letters that cannot be seen or that mean something in paths.
    """
    if not name.strip() or name != name.strip() or len(name) > limits.NAME or not name.isprintable():
        raise ValueError(f"name: {name!r:.60}: expected 1 to {limits.NAME} characters that can be seen")
    if found := sorted(set(name) & set(".*=")):
        raise ValueError(f"name: {name!r:.60}: no path can address a name with {' or '.join(found)}")
    return name


@overload
def number(default: EllipsisType, unit: str, description: str, **options: Any) -> Any: ...
@overload
def number(
    default: Any, unit: str, description: str, *, validate_default: Literal[True], **options: Any
) -> Any: ...
@overload
def number(default: _T, unit: str, description: str, **options: Any) -> _T: ...


def number(
    default: Any, unit: str, description: str, *, bounds: dict[str, float] | None = None, **options: Any
) -> Any:
    """A field that holds a number, or several; its JSON Schema names their unit.

    Args:
        default: `...` where a scenario must give it, or where `default_factory` makes it.
        unit: e.g. `s`; `count`, `ratio`, `0 to 1` or `none` for pure numbers.
        description: what it means.
        bounds: those that a validator checks, in the words of JSON Schema: `minimum`, `exclusiveMinimum`,
            `maximum`.
        options: further arguments of pydantic's `Field`, e.g. `ge`.
    """

    def add_bounds(schema: dict[str, Any]) -> None:
        if schema.get("type") in ("number", "integer"):
            schema.update(bounds or {})
        for inner in (schema.get("items"), schema.get("additionalProperties"), *schema.get("anyOf", ())):
            if isinstance(inner, dict):
                add_bounds(inner)

    def add(schema: dict[str, Any]) -> None:
        schema["unit"] = unit
        add_bounds(schema)

    return Field(default, description=description, json_schema_extra=add, **options)


def _numbers(key: str, value: Any) -> Iterator[tuple[str, int | float]]:
    """The value with its key if it is a number; all in it if it is an array or a table."""
    if isinstance(value, list | tuple):
        for inner in value:
            yield from _numbers(key, inner)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _numbers(f"{key}.{name}", inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield key, value


def _short(value: int | float) -> str:
    """A number as it may be printed, however many digits it has."""
    if isinstance(value, float):
        return f"{value:g}"
    return f"{value:,}" if abs(value) < 10**21 else f"a number of {len(f'{value:x}')} hexadecimal digits"


def _one_or_more(value: Any) -> Any:
    return [value] if isinstance(value, dict | str) else value


class _OneOrMore:
    """A lone element stands for an array of one, in the JSON Schema, too."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(_one_or_more, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        array = handler(core)
        return {"anyOf": [array["items"], array]}


Several = Annotated[list[_T], _OneOrMore()]


class Switchable(Table):
    """A table that belongs to components of a grid, which can be switched off."""

    part: Several[str] = Field(
        default_factory=list,
        description="names of its components in [parts]: it exists while one of them is on; left out, always",
    )
