"""Virtual reservations of a site: shares of classes, their limits, and the jobs that come directly."""

from __future__ import annotations

from math import inf
from typing import Literal

from pydantic import Field

from gridtune.model.vres import ClassRules
from gridtune.scenarios.fields.table import Name, Switchable, Table, number


class ClassSpec(Table):
    """What a site grants to a class of jobs."""

    name: Name = Field(description="name by which the site's `vres` names it")
    kinds: list[str] = Field(default_factory=list, description="`role` of workloads admitted; all if empty")
    groups: list[str] = Field(default_factory=list, description="groups admitted; all if empty")
    full: Literal["wait", "reject"] = Field(
        default="wait", description="what becomes of a job that finds no slot"
    )
    wall_limit: float = number(inf, "s", "s after which a job is killed", gt=0)
    node_cap: float = number(inf, "count", "processors that its jobs may hold on a node", ge=1)
    site_cap: float = number(inf, "count", "processors that its jobs may hold at the site", ge=1)
    user_cap: float = number(inf, "count", "processors that jobs of one user may hold there", ge=1)
    group_cap: float = number(inf, "count", "processors that jobs of one group may hold there", ge=1)
    order: Literal["first-come", "fair-share"] = Field(
        default="first-come",
        description="who of those that wait comes first: who came first, or the user whose jobs have held "
        "processors for the shortest time in all",
    )

    def rules(self) -> ClassRules:
        """The same for the site."""
        facts = self.model_dump()
        facts["kinds"], facts["groups"] = frozenset(self.kinds), frozenset(self.groups)
        return ClassRules(**facts)


class VresFields(Switchable):
    """What a site needs to have virtual reservations."""

    vres: dict[str, float] | None = number(
        None,
        "0 to 1",
        "share of the virtual slots by class; one class of `classes` may be left out and takes the rest. "
        "Left out altogether, the site has no virtual reservations",
        bounds={"minimum": 0, "maximum": 1},
    )
    virtual_slots: float = number(1.0, "count", "k, virtual slots of each processor", ge=1)
    sharing: Literal["processor", "node"] = Field(
        default="processor",
        description="whether jobs share the processor on which they start, or the kernel moves them between "
        "the processors of a node",
    )
    classes: list[ClassSpec] = Field(
        default_factory=list,
        description="classes of the virtual reservations, in the order in which jobs look",
    )
