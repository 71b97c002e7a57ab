"""Constraints as they are written: `premium_slowdown<=1.05`."""

from __future__ import annotations

import re
from math import isfinite
from typing import Literal, cast

Relation = Literal["<=", ">=", "<", ">"]
_FORM = re.compile(r"\s*([^\s<>=]+)\s*(<=|>=|<|>)\s*([^\s<>=]+)\s*")


def parse_requirement(text: str) -> tuple[str, Relation, float]:
    """Metric, relation and bound of `METRIC<=NUMBER` (or `>=`, `<`, `>`).

    Raises:
        ValueError: it is not of that form.
    """
    found = _FORM.fullmatch(text)
    if found is not None:
        try:
            bound = float(found[3])
        except ValueError:
            bound = float("nan")
        if isfinite(bound):
            return found[1], cast(Relation, found[2]), bound
    raise ValueError(f"{text!r}: expected METRIC<=NUMBER, or with >=, < or >, e.g. 'utilisation>=0.8'")


def requirement(text: str) -> str:
    """The text, if it is a constraint.

    Raises:
        ValueError: it is none.
    """
    parse_requirement(text)
    return text
