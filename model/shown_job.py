"""Jobs as policies of users' own are shown them: while such a policy decides, they cannot be changed."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from inspect import isfunction
from typing import Any

from gridtune.model.job import Job
from gridtune.model.policy import Policy, is_own, misjudged

_deciding: ContextVar[Policy | None] = ContextVar("deciding", default=None)


class ShownJob(Job):
    """A job that an own policy may see; a copy of it is a plain job, which the policy may change."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        policy = _deciding.get()
        if policy is not None:
            raise _changed(policy, self, name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        policy = _deciding.get()
        if policy is not None:
            raise _changed(policy, self, name)
        object.__delattr__(self, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _no_facts, (), (None, {name: getattr(self, name) for name in Job.__slots__})


def shown_job(*facts: Any, **more: Any) -> Job:
    """A `ShownJob`; see `Job` for the facts."""
    job = Job(*facts, **more)  # not one from the start: to set each fact would cost more
    job.__class__ = ShownJob
    return job


def _no_facts() -> Job:
    """What a copy of a shown job begins with."""
    return Job.__new__(Job)


def protect(policy: Policy) -> None:
    """Have a policy of a user's own refused once it changes a `ShownJob`."""
    for cls in type(policy).__mro__:
        if is_own(cls) and issubclass(cls, Policy):
            for name, method in list(vars(cls).items()):
                if isfunction(method) and not name.startswith("_") and not hasattr(method, "__wrapped__"):
                    setattr(cls, name, _looking(method))


def _looking(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a policy, during which shown jobs cannot be changed."""

    @wraps(method)
    def look(self: Policy, *given: Any, **named: Any) -> Any:
        before = _deciding.set(self)
        try:
            return method(self, *given, **named)
        finally:
            _deciding.reset(before)

    return look


def _changed(policy: Policy, job: Job, name: str) -> Exception:
    return misjudged(policy, f"changes {name} of job {job.id}; jobs are read only, copy.copy(job) is not")
