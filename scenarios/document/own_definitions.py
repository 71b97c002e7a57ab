"""What a program and its packages define themselves: checksums by which a change of it shows."""

from __future__ import annotations

from functools import partial
from inspect import unwrap
from operator import itemgetter
from types import CodeType, NoneType
from typing import Any

from gridtune.model.metrics.custom import in_process
from gridtune.model.plugins import PREFIX, digest
from gridtune.model.policy import is_own, policies


def definitions() -> dict[str, str]:
    """SHA-256 of the compiled code of metrics and policies of the program and of other packages, by name.

    Of a policy that is the code of its own members, and defaults that are plain values. What they call is not
    looked at. Plug-ins, which have checksums of their own, are left out.
    """
    own: dict[str, Any] = {f"metric {one.name}": one.function for one in in_process()}
    for policy in policies():
        if is_own(policy) and not policy.__module__.startswith(PREFIX):
            members = {name: part for name, part in vars(policy).items() if not name.startswith("__")}
            own[f"{policy.family} policy {policy.kind}"] = tuple(sorted(members.items(), key=itemgetter(0)))
    return {name: digest(repr(_code(parts)).encode()) for name, parts in own.items()}


def _code(part: Any) -> Any:
    """What tells one piece of code, or plain value, from another; None of anything else."""
    if isinstance(part, str | int | float | bytes | NoneType):
        return part
    if isinstance(part, tuple | frozenset):
        found = [_code(one) for one in part]
        return found if isinstance(part, tuple) else sorted(found, key=repr)
    if isinstance(part, partial):
        return _code((part.func, part.args, *sorted(part.keywords.items())))
    if isinstance(part, CodeType):
        return part.co_code, part.co_names, [_code(one) for one in part.co_consts]
    if isinstance(part, property):
        return _code(part.fget)
    if callable(part) and not hasattr(unwrap(part), "__code__"):
        part = vars(type(part)).get("__call__")
    return _code(getattr(unwrap(part), "__code__", None))
