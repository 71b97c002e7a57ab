"""Policies: pure decision rules with named parameters, found by family and name.

A policy is a frozen dataclass whose fields are its parameters, each made with `parameter`, and whose
methods are decisions. It owns no events and keeps no state of its own. To add one, decorate it with
`register(FAMILY, NAME)` in a Python file; a scenario names such files in `plugins` (see `model.plugins`), and
an installed package announces a module of them under the entry point group `gridtune.policies`.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib.metadata import entry_points
from inspect import signature
from math import inf
from typing import Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

from gridtune import limits
from gridtune.plain_text import hidden


class PolicyError(ValueError):
    """A policy was named or given parameters that do not exist or do not fit."""


_bases: dict[str, list[type]] = {}  # by family


def is_own(cls: type) -> bool:
    """Whether a class is of a user, not of gridtune."""
    return cls.__module__.partition(".")[0] != "gridtune"


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

    def __init_subclass__(cls, *, family: str = "", **others: Any) -> None:
        super().__init_subclass__(**others)
        if family:  # a base class, of which all policies of the family are
            _bases.setdefault(family, []).append(cls)


P = TypeVar("P", bound=type[Policy])

FAMILIES: dict[str, str] = {
    "discipline": "the queue discipline of a SeD chooses the request that runs next",
    "dispatch": "a client decides what to submit, where and when",
    "estimation": "a SeD says how fit it is when a client looks for servers",
    "pool": "servers on lease decide how many of a group have one",
    "reallocation": "a client decides whether a waiting mandatory request moves to another server",
    "aggregation": "an agent of a hierarchy hands servers up, the best first",
    "choice": "a client chooses which of the servers found gets which request",
    "batch": "the local scheduler of a batch site chooses the jobs to start",
    "prediction": "a batch site plans a job with this run time, in place of its promise",
    "routing": "a broker chooses the site that a job is pushed to",
    "migration": "a broker decides whether a task that waits at a site moves to another one",
    "ranking": "the broker of a computing grid chooses among the queues that sites publish",
    "arbitration": "the dispatcher of a portal chooses whose job gets the next slot granted to it",
    "assignment": "a master of workers chooses the task that goes next, and the idle worker that gets it",
    "recovery": "a master of workers decides on a task that has failed, and on its worker",
    "matching": "a match-maker chooses the waiting job that a site agent or pilot gets",
    "retry": "a middleware decides whether a task that failed, or that all sites refused, is tried again",
    "blacklist": "a middleware decides when a site at which much fails gets no more tasks",
    "control": "a harvester decides how many best-effort jobs to submit in each cycle",
    "victims": "a best-effort queue chooses the jobs that leave when a site's own job needs their processors",
    "forecast": "an agent forecasts the speed, load and links of servers",
}

PURE = ("", "none", "ratio", "count")  # units that are not written behind a number
PLUGIN_DIGEST = "__plugin_digest__"  # in the module of a plug-in: SHA-256 of its content
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
    """Declare a parameter of a policy: a field of its dataclass that says what it means.

    Args:
        default: the default value; required in the scenario if left out.
        default_factory: makes the default value, instead of `default`, where it is a table.
        help: the meaning in one line.
        unit: the unit of the value, e.g. `s`; `count`, `ratio`, `none` or "" for a pure number.
        low, high: sensible bounds for a search, in the unit.
        log: whether a search should treat it on a logarithmic scale.
        minimum, maximum: values that make sense at all, in the unit; anything outside is refused.
        exclusive: whether the minimum itself is refused.
        source: paper and section.

    Returns:
        A field, to be annotated with `float`, `int`, `bool`, `str` or a `Literal`.

    Example:
        >>> grace = gt.policies.parameter(60.0, help="wait before a kill", unit="s", minimum=0.0)
        >>> grace.default, grace.metadata["unit"]
        (60.0, 's')
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
    """Make a policy selectable by name, as the decorator of its class.

    Args:
        family: the kind of decision, e.g. `batch`; `gridtune policies` lists them.
        kind: the name, as scenarios write it.
        source: paper and section that the rule is taken from.

    Returns:
        A decorator that returns the class unchanged.

    Raises:
        PolicyError: no such family, a control character in the name, another class has taken it, or the class
            has not the family's base class or not all of its methods.

    Example:
        >>> @gt.policies.register("retry", "after-a-minute")
        ... @dataclass(frozen=True)
        ... class AfterAMinute(gt.policies.Retry):
        ...     "A failed task is tried again a minute later, however often it failed."
        ...     def wait(self, failures: int) -> float:
        ...         return 60.0
    """
    if family not in _registry:
        raise PolicyError(f"no policy family {family!r}; there are {', '.join(FAMILIES)}")
    if fault := hidden(kind):
        raise PolicyError(f"{family} policy {fault}")

    def enter(cls: P) -> P:
        _check_class(cls, family, kind)
        known = _registry[family].get(kind)
        cls.family, cls.kind, cls.source = family, kind, source
        if known is None or (known.__module__, known.__qualname__) == (cls.__module__, cls.__qualname__):
            _registry[family][kind] = cls
        elif not _copied(known, cls):
            raise PolicyError(f"the {family} policy {kind!r} exists already, in {known.__module__}")
        return cls

    return enter


def _check_class(cls: type, family: str, kind: str) -> None:
    """Make sure that a class is what its family expects.

    Raises:
        PolicyError: it has another base class, or lacks a method.
    """
    bases = _bases.get(family, [Policy])
    if not (isinstance(cls, type) and issubclass(cls, tuple(bases))):
        wanted = " or ".join(f"gt.policies.{base.__name__}" for base in bases)
        raise PolicyError(f"{family} policy {kind}: {_name(cls)} is no subclass of {wanted}")
    lacking = [name for name in dir(cls) if getattr(getattr(cls, name), "__isabstractmethod__", False)]
    if lacking:
        methods = [f"{name}({', '.join(signature(getattr(cls, name)).parameters)})" for name in lacking]
        raise PolicyError(f"{family} policy {kind}: {_name(cls)} lacks the method {' and '.join(methods)}")


def _name(cls: object) -> str:
    return getattr(cls, "__name__", f"{cls!r:.50}")


def unregister(module: str) -> None:
    """Forget the policies that a module has registered."""
    for known in _registry.values():
        for kind in [kind for kind, cls in known.items() if cls.__module__ == module]:
            del known[kind]


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
    if not isinstance(spec, str | Mapping):
        raise PolicyError(f"a {family} policy is a name, or a table with `kind`, not {spec!r:.50}")
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
    fields, hints = declared(cls)
    for name, value in given.items():
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise PolicyError(f"{kind} has no parameter {name!r}; it has {known}")
        given[name] = _checked(f"{kind}.{name}", value, hints[name], fields[name])
    missing = [name for name, field in fields.items() if _required(field) and name not in given]
    if missing:
        raise PolicyError(f"{kind} needs a value for {', '.join(missing)}")
    try:
        return cls(**given)
    except ValueError:
        raise
    except Exception as error:
        raise PolicyError(f"{kind}: cannot be made: {type(error).__name__}: {error}") from error


def spec(policy: Policy) -> dict[str, Any]:
    """What `make` would rebuild the policy from: its kind and every parameter."""
    return {"kind": policy.kind, **dataclasses.asdict(policy)}  # type: ignore[call-overload]


def misjudged(policy: Policy, what: str) -> PolicyError:
    """The error of a policy that has decided what cannot be done.

    Args:
        policy: one of a plug-in, most likely.
        what: it did, after its name: `starts more than there is room for`.
    """
    return PolicyError(f"the {policy.family} policy {policy.kind} {what}")


@cache
def load_installed() -> None:
    """Import the modules that installed packages announce as `gridtune.policies`."""
    for entry in entry_points(group="gridtune.policies"):
        entry.load()


def declared(cls: type[Policy]) -> tuple[dict[str, dataclasses.Field[Any]], dict[str, Any]]:
    """The parameters of a policy and their types, by name."""
    if not dataclasses.is_dataclass(cls):
        name = f"{cls.family} policy {cls.kind}" if cls.kind else f"class {cls.__name__}"
        raise PolicyError(f"{name}: is no dataclass; put @dataclass(frozen=True) above it")
    try:
        return {field.name: field for field in dataclasses.fields(cls)}, _types(cls)
    except Exception as error:
        raise PolicyError(f"{cls.family} policy {cls.kind}: type of a parameter: {error}") from error


def check_defaults(cls: type[Policy]) -> None:
    """Make sure that defaults are what the policy's parameters may be.

    Raises:
        PolicyError: one is not.
    """
    fields, types = declared(cls)
    for name, field in fields.items():
        if field.default is not dataclasses.MISSING:
            _checked(f"{cls.family} policy {cls.kind}: default of {name}", field.default, types[name], field)


@lru_cache(maxsize=1024)
def _types(cls: type[Policy]) -> dict[str, Any]:
    """The types of a policy's attributes, by name: they are texts, and to read them takes time."""
    return get_type_hints(cls)


def _copied(known: type[Policy], cls: type[Policy]) -> bool:
    """Whether two classes come from copies of one plug-in."""
    marks = {getattr(sys.modules.get(each.__module__), PLUGIN_DIGEST, None) for each in (known, cls)}
    return len(marks) == 1 and None not in marks and known.__qualname__ == cls.__qualname__


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _checked(name: str, value: Any, hint: Any, field: dataclasses.Field[Any]) -> Any:
    """The value as the type that the parameter declares, if it fits."""
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            raise PolicyError(f"{name}: {value!r:.60} is not one of {', '.join(map(str, get_args(hint)))}")
        return value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and not abs(value) <= limits.NUMBER and not value == field.default == inf:
        written = "a number that large" if isinstance(value, int) else value
        raise PolicyError(f"{name}: {written} is not possible; the limit is {limits.NUMBER:g}")
    if number and 0 < abs(value) < limits.TINY:
        raise PolicyError(f"{name}: {value:g} is not possible; the least above 0 is {limits.TINY:g}")
    if number and hint is float:
        value = float(value)
    elif number and hint is int and float(value).is_integer():
        value = int(value)
    if isinstance(hint, type) and (not isinstance(value, hint) or (hint is int and isinstance(value, bool))):
        raise PolicyError(f"{name}: {value!r:.60} is not of type {hint.__name__}")
    if number:
        low, high, exclusive = (field.metadata.get(fact) for fact in ("minimum", "maximum", "exclusive"))
        if low is not None and (value < low or (exclusive and value == low)):
            raise PolicyError(f"{name}: {value} must be {'more than' if exclusive else 'at least'} {low}")
        if high is not None and value > high:
            raise PolicyError(f"{name}: {value} must be at most {high}")
    return value
