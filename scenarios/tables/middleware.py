"""Middleware over batch sites: push, pull or pilots (RR-5576)."""

from __future__ import annotations

from math import inf
from typing import Literal

from pydantic import Field

from gridtune.model.middleware.matching import RoundRobin
from gridtune.model.middleware.migration import Staying
from gridtune.model.middleware.pilots import Mode
from gridtune.model.middleware.retrying import Never, Trusting
from gridtune.model.middleware.routing import LeastDepth
from gridtune.scenarios.fields.laws import Constant, Law
from gridtune.scenarios.fields.policies import policy_of
from gridtune.scenarios.fields.service import AT_ONCE, ServiceSpec
from gridtune.scenarios.fields.table import Switchable, number


class MiddlewareSpec(Switchable):
    """Who brings tasks to sites, and how. What belongs to another kind than the one chosen has no effect."""

    endless = frozenset({"update_period"})  # news that never come

    kind: Literal["push", "pull", "pilot"] = Field(
        description="a broker sends tasks to sites; site agents ask for tasks; pilots on nodes ask for tasks"
    )
    routing: policy_of("routing") = Field(default_factory=LeastDepth)  # type: ignore[valid-type]
    update_period: float = number(
        0.0, "s", "s between two reports of the sites under push; with 0 it asks at every decision", ge=0
    )
    migration: policy_of("migration") = Field(default_factory=Staying)  # type: ignore[valid-type]
    migration_period: float = number(
        300.0, "s", "s between two looks at tasks that may migrate under push", gt=0
    )
    matching: policy_of("matching") = Field(default_factory=RoundRobin)  # type: ignore[valid-type]
    queues: Literal["group", "user", "all"] = Field(
        default="group", description="under pull and pilot: whose tasks share a queue of the match-maker"
    )
    availability_epsilon: float = number(
        0.3,
        "ratio",
        "ratio of waiting tasks to slots below which a site is available under pull and pilot",
        gt=0,
    )
    poll_period: float = number(
        90.0, "s", "s between two looks of a site agent at its site under pull and pilot", gt=0
    )
    pilot_mode: Mode = Field(
        default="run-once", description="whether a pilot runs one task, or as many as time allows"
    )
    pilot_lifetime: float = number(
        inf, "s", "s that a pilot asks for, at most the limit of the site's queue", gt=0
    )
    pilot_longest: float = number(
        0.0,
        "work",
        "work that a task of a pilot may take, as run times; a filling pilot asks for another only "
        "if that much fits into its lifetime",
        ge=0,
    )
    pilot_idle: float = number(0.0, "s", "s that a pilot waits for a task in one go before it gives up", ge=0)
    pilot_retry: float = number(20.0, "s", "s after which a pilot asks again, doubled each time", gt=0)
    pilot_cap: float = number(inf, "count", "number of pilots that may wait at one site", ge=1)
    per_queue: bool = Field(
        default=False,
        description="whether brokers and site agents see each queue of a batch site, with its limits, groups "
        "and slots, or the site as a whole",
    )
    service: ServiceSpec = Field(
        default=AT_ONCE, description="what a task or a query costs the broker or the match-maker"
    )
    information: ServiceSpec = Field(
        default=AT_ONCE, description="what a report or a question costs the information system of push"
    )
    retry: policy_of("retry") = Field(default_factory=Never)  # type: ignore[valid-type]
    blacklist: policy_of("blacklist") = Field(default_factory=Trusting)  # type: ignore[valid-type]
    loss: float = number(
        0.0, "0 to 1", "probability that a task is lost on its way to a site or pilot", ge=0, lt=1
    )
    detection: Law = number(
        Constant(value=0.0),
        "s",
        "s from the failure or loss of a task, or of its pilot, until the middleware knows of it",
    )
    message_size: float = number(30_000.0, "bytes", "bytes of a control message", ge=0)
