"""Workload management of a computing grid in scenarios: brokers, their latencies and failures."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from gridtune.model.middleware.retrying import Never
from gridtune.model.wms.expression import ExpressionError
from gridtune.model.wms.ranking import LeastTraversalTime, formula
from gridtune.scenarios.fields.laws import Constant, Law
from gridtune.scenarios.fields.policies import policy_of
from gridtune.scenarios.fields.service import AT_ONCE, ServiceSpec
from gridtune.scenarios.fields.table import Switchable, number

NONE = Constant(value=0.0)


class WmsSpec(Switchable):
    """Brokers between users and sites (Responsive Grids, section 2.1)."""

    brokers: int = number(1, "count", "brokers, each with its own view; owners are spread over them", ge=1)
    sites: Literal["reserved", "all"] = Field(
        default="reserved",
        description="which sites brokers see: those with virtual reservations, or batch sites, too",
    )
    ranking: policy_of("ranking") = Field(default_factory=LeastTraversalTime)  # type: ignore[valid-type]
    requirements: str = Field(default="", description="expression over what sites publish; empty for none")
    update_period: float = number(60.0, "s", "s between two looks at the sites; 0 looks at every match", ge=0)
    submission: Law = number(NONE, "s", "s from owner to broker")
    scheduling: Law = number(NONE, "s", "s from match to site")
    notification: Law = number(NONE, "s", "s from end to owner")
    service: ServiceSpec = Field(default=AT_ONCE, description="what each match costs a broker")
    failure: float = number(0.0, "0 to 1", "probability that a submission is lost", ge=0, lt=1)
    failure_delay: Law = number(NONE, "s", "s until a broker hears of a lost submission")
    retries: int = number(3, "count", "submissions after a lost one", ge=0)
    rejected: Literal["resubmit", "tell"] = Field(
        default="resubmit", description="when a site has no slot: try another, or tell the owner"
    )
    revisit: policy_of("retry") = Field(default_factory=Never)  # type: ignore[valid-type]

    @field_validator("requirements")
    @classmethod
    def _understood(cls, text: str) -> str:
        if text:
            try:
                formula(text)
            except ExpressionError as error:
                raise ValueError(str(error)) from None
        return text
