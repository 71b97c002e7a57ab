"""Policies: pure decision rules with named parameters, found by family and name.

A policy is a frozen dataclass whose fields are its parameters, each made with `parameter`, and whose
methods are decisions. It owns no events and keeps no state of its own. To add one, decorate it with
`register(FAMILY, NAME)` in any Python file; a scenario names such files in `plugins`, and an installed
package announces a module of them under the entry point group `gridtune.policies`.
"""

from __future__ import annotations

import dataclasses
import runpy
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints


class PolicyError(ValueError):
    """A policy was named or given parameters that do not exist or do not fit."""


class Policy:
    """Base of every policy.

    Attributes:
        family: what kind of decision it takes, e.g. `discipline`.
        kind: its name within the family.
        source: the paper and section it is taken from.
    """

    family: ClassVar[str] = ""
    kind: ClassVar[str] = ""
    source: ClassVar[str] = ""


P = TypeVar("P", bound=type[Policy])

FAMILIES: dict[str, str] = {
    "discipline": "queue discipline of a SeD: which request runs next",
    "dispatch": "client: what to submit where and when",
    "batch": "local scheduler of a batch site",
    "routing": "broker: the site that a job is pushed to",
    "ranking": "broker of a computing grid: which of the published queues a job prefers",
    "arbitration": "dispatcher of a portal: whose job gets the next slot granted to it",
    "matching": "match-maker: the waiting job that a site agent or pilot gets",
    "control": "harvester: how many best-effort jobs to submit in each cycle",
    "forecast": "what is believed of a server's speed, load and links",
}

loading: ContextVar[str] = ContextVar("loading", default="")  # the plug-in file that is being run, whole path

_registry: dict[str, dict[str, type[Policy]]] = {family: {} for family in FAMILIES}


def parameter(
    default: Any = dataclasses.MISSING,
    *,
    default_factory: Any = dataclasses.MISSING,
    help: str,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    log: bool = False,
    minimum: float | None = None,
    maximum: float | None = None,
    exclusive: bool = False,
    source: str = "",
) -> Any:
    """A parameter of a policy: a dataclass field that describes itself.

    Args:
        default: its default value; required in the scenario if left out.
        default_factory: makes the default value, instead of `default`, where it is a table.
        help: one line of meaning.
        unit: of the value; "" for a pure number.
        low, high: sensible bounds for a search.
        log: whether a search should treat it on a logarithmic scale.
        minimum, maximum: values that make sense at all; anything outside is refused.
        exclusive: whether the minimum itself is refused.
        source: paper and section.
    """
    facts = {
        "help": help,
        "unit": unit,
        "low": low,
        "high": high,
        "log": log,
        "minimum": minimum,
        "maximum": maximum,
        "exclusive": exclusive,
        "source": source,
    }
    if default_factory is not dataclasses.MISSING:
        return dataclasses.field(default_factory=default_factory, metadata=facts)
    return dataclasses.field(default=default, metadata=facts)


def register(family: str, kind: str, *, source: str = "") -> Callable[[P], P]:
    """Class decorator that makes a policy selectable as `kind` within `family`.

    Raises:
        PolicyError: no such family, or the name is taken by another class.
    """
    if family not in _registry:
        raise PolicyError(f"no policy family {family!r}; there are {', '.join(FAMILIES)}")

    def enter(cls: P) -> P:
        known = _registry[family].get(kind)
        if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise PolicyError(f"the {family} policy {kind!r} exists already, in {known.__module__}")
        cls.family, cls.kind, cls.source = family, kind, source
        _registry[family][kind] = cls
        return cls

    return enter


def policies(family: str | None = None) -> Iterator[type[Policy]]:
    """Every registered policy class, by family and name.

    Raises:
        PolicyError: no such family.
    """
    load_installed()
    if family is not None and family not in _registry:
        raise PolicyError(f"no policy family {family!r}; there are {', '.join(FAMILIES)}")
    for name in [family] if family else _registry:
        for kind in sorted(_registry[name]):
            yield _registry[name][kind]


def make(family: str, spec: str | Mapping[str, Any]) -> Policy:
    """The policy that a scenario asks for.

    Args:
        family: where to look.
        spec: its name, or a table with `kind` and parameters.

    Raises:
        PolicyError: unknown name or parameter, wrong type, or a value outside its range.
    """
    given = {"kind": spec} if isinstance(spec, str) else dict(spec)
    kind = given.pop("kind", None)
    if not isinstance(kind, str):
        raise PolicyError(f"a {family} policy needs a name, as text or as `kind` in a table")
    cls = _registry[family].get(kind)
    if cls is None:
        load_installed()
        cls = _registry[family].get(kind)
    if cls is None:
        raise PolicyError(f"no {family} policy {kind!r}; there are {', '.join(sorted(_registry[family]))}")
    fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    hints = get_type_hints(cls)
    for name, value in given.items():
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise PolicyError(f"{kind} has no parameter {name!r}; it has {known}")
        given[name] = _checked(f"{kind}.{name}", value, hints[name], fields[name].metadata)
    missing = [name for name, field in fields.items() if _required(field) and name not in given]
    if missing:
        raise PolicyError(f"{kind} needs a value for {', '.join(missing)}")
    return cls(**given)


def spec(policy: Policy) -> dict[str, Any]:
    """What `make` would rebuild the policy from: its kind and every parameter."""
    return {"kind": policy.kind, **dataclasses.asdict(policy)}  # type: ignore[call-overload]


def load_file(path: Path) -> None:
    """Run a Python file that registers policies.

    Raises:
        PolicyError: the file is missing or fails.
    """
    if not path.is_file():
        raise PolicyError(f"{path}: no such file of policies")
    _run_once(str(path.resolve()))


@cache
def _run_once(path: str) -> None:
    before = loading.set(path)
    try:
        runpy.run_path(path, run_name=Path(path).stem)
    except Exception as error:
        raise PolicyError(f"{path}: {type(error).__name__}: {error}") from error
    finally:
        loading.reset(before)


@cache
def load_installed() -> None:
    """Import the modules that installed packages announce as `gridtune.policies`."""
    for entry in entry_points(group="gridtune.policies"):
        entry.load()


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _checked(name: str, value: Any, hint: Any, facts: Mapping[str, Any]) -> Any:
    """The value as the type that the parameter declares, if it fits."""
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            raise PolicyError(f"{name}: {value!r} is not one of {', '.join(map(str, get_args(hint)))}")
        return value
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if isinstance(hint, type) and (not isinstance(value, hint) or (hint is int and isinstance(value, bool))):
        raise PolicyError(f"{name}: {value!r} is not of type {hint.__name__}")
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = facts.get("minimum"), facts.get("maximum")
        if value != value or (low is not None and (value < low or (facts.get("exclusive") and value == low))):
            raise PolicyError(
                f"{name}: {value} must be {'more than' if facts.get('exclusive') else 'at least'} {low}"
            )
        if high is not None and value > high:
            raise PolicyError(f"{name}: {value} must be at most {high}")
    return value
