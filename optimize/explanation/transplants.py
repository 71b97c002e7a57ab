"""A statement about kinds of systems, tested: alternatives put in the place of what all of a front has.

Where all points of a front have one kind (a middleware, a controller) although the search tried others, the
others are put into points of the front, each with some settings of its own, and run beside their hosts under
streams that nothing was chosen by. Only that can show that the front's kind is the better one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gridtune.optimize.front.changes import changes
from gridtune.optimize.front.dominant_choice import DominantChoice
from gridtune.optimize.front.front import Front, Member
from gridtune.optimize.front.kind_test import VARIANTS, Tested, Transplant
from gridtune.optimize.records.evaluations import Value
from gridtune.optimize.replication.validation import FRESH, Fresh, FreshRuns
from gridtune.optimize.search_space.space import Point, Space, key

HOSTS = 3  # points of the front that alternatives are put into, at most
DESIGN = (0.5, 0.2, 0.8)  # where in their ranges an alternative's own parameters are tried
APART = 500_000  # replications between those of the validation and those of this test
LEAST = 10  # runs of each point


def tested(front: Front, space: Space, choices: Sequence[DominantChoice], fresh: FreshRuns) -> list[Tested]:
    """Each alternative of each choice, put into points of the front.

    Args:
        front: of the search.
        space: what was searched.
        choices: that all points of the front share.
        fresh: runs points under streams that nothing was chosen by.
    """
    hosts = _spread(front.kept)
    found = []
    for choice in choices:
        for one in choice.alternatives:
            nearest = dict(one.nearest.values) if one.nearest else {}
            variants = [
                (host, point)
                for host in hosts
                for point in _variants(host, choice.path, one.value, nearest, space)
            ]
            outcomes = fresh.run(
                [*(host.evaluation.values for host in hosts), *(point for _, point in variants)]
            )
            known = dict(zip((id(host) for host in hosts), outcomes, strict=False))
            tests = max(len(variants) * len(front.objectives), 1)
            made = tuple(
                _transplant(front, host, point, known[id(host)], outcome, tests)
                for (host, point), outcome in zip(variants, outcomes[len(hosts) :], strict=True)
            )
            found.append(Tested(choice.path, choice.value, one.value, made, fresh.replications))
    return found


def _transplant(
    front: Front, host: Member, point: Point, base: Fresh | str, outcome: Fresh | str, tests: int
) -> Transplant:
    number = host.evaluation.number
    failure = next((one for one in (base, outcome) if isinstance(one, str)), "")
    if isinstance(base, str) or isinstance(outcome, str):
        return Transplant(number, point, (), failure)
    return Transplant(number, point, changes(front.objectives, base.values, outcome.values), "", tests)


def variants(
    front: Front, space: Space, choices: Sequence[DominantChoice], room: int
) -> list[tuple[int, Point]]:
    """Alternatives in the place of what all of a front has, with the numbers of their hosts.

    Of those that there are, as many as may be run: each alternative in turn, first with the settings of its
    nearest point. None at all if not every alternative can be tried in `VARIANTS` forms.

    Args:
        front: of the search.
        space: what was searched.
        choices: that all points of the front share.
        room: points that may be run.
    """
    hosts = _spread(front.kept)
    ranked = [
        (rank + row, host.evaluation.number, point)
        for choice in choices
        for one in choice.alternatives
        for row, host in enumerate(hosts)
        for rank, point in enumerate(
            _variants(host, choice.path, one.value, dict(one.nearest.values) if one.nearest else {}, space)
        )
    ]
    if room < VARIANTS * sum(len(choice.alternatives) for choice in choices):
        return []
    ranked.sort(key=lambda one: one[0])
    return [(number, point) for _, number, point in ranked[:room]]


def _spread(kept: Sequence[Member]) -> list[Member]:
    """Members from one end of the front to the other."""
    if len(kept) <= HOSTS:
        return list(kept)
    return [kept[round(at * (len(kept) - 1) / (HOSTS - 1))] for at in range(HOSTS)]


def _variants(
    host: Member, path: str, value: Value, nearest: Mapping[str, Value], space: Space
) -> list[Point]:
    """A host with the alternative; its own parameters are those of its nearest point or of a small design."""
    made: dict[str, Point] = {}
    designs = [nearest] if nearest else []
    designs += [{parameter.path: parameter.at(share) for parameter in space} for share in DESIGN]
    for own in designs:
        middle = {parameter.path: parameter.at(0.5) for parameter in space}
        point = space.active({**middle, **own, **host.evaluation.values, path: value})
        made[key(point)] = point
    return list(made.values())


def streams_of(front: Front) -> tuple[int, int]:
    """Number of the first replication of the test, and how many there are."""
    counts = [member.evaluation.fresh_replications for member in front.members]
    return FRESH + APART, max(LEAST, *counts) if counts else LEAST
