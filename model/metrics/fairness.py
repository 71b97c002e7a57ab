"""What users deserve, and how unevenly they are treated (RR-7959, section 3.3)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from heapq import heappop, heappush, heapreplace
from itertools import accumulate
from math import inf
from typing import NamedTuple

from gridtune.model.metrics.lost import quantile
from gridtune.model.record import Stay

ROUNDING = 1e-12  # what sums of floats may leave of an index that is 0


class Want(NamedTuple):
    """A user who is present asks for more.

    Attributes:
        time: s.
        user: who.
        demand: work, slot-seconds at speed 1.
    """

    time: float
    user: str
    demand: float


Wants = Iterable[tuple[float, str, float]]  # as `Want`


def deserved_areas(stays: Iterable[Stay], slots: float, wants: Wants = ()) -> dict[str, float]:
    """Work that each user would be given by a grid that is shared equally, and perfectly.

    At every moment the slots are divided equally among the users who are present and still want something.
    Who has been given all that they asked for shares no longer, and what they leave goes to the others.

    Whoever's demand lasts until they leave deserves the equal share of the paper, if that is true of the
    others too. Nobody deserves more than they ask for. Whoever asks for everything on entry deserves no less
    than the smaller of demand and equal share: others who want less take nothing away from them.

    Args:
        stays: visits with finite ends, each with a demand from its beginning. Several of one user count once
            where they overlap, and their demands add up; what is still wanted when the user has left
            altogether is forgotten.
        slots: n_R, number of places where a job can run; the sum of their speeds if demands are work.
        wants: further demands, during stays.

    Returns:
        A share for each user, in the unit of the demands. Without limits on demand they sum to `slots` times
        the length of the union of all stays.

    Source: RR-7959, section 3.3, with the time cut at every entry and every deadline; that demand limits
    what is deserved, and that the rest is shared again (max-min fairness), goes beyond the paper.
    """
    return _shared(stays, slots, wants).given


def free_time(stays: Iterable[Stay], slots: float, wants: Wants = ()) -> Callable[[float], float]:
    """How long nobody wanted anything of a grid that is shared as `deserved_areas` says.

    Returns:
        of a time in s, the s before it in which all slots were free.
    """
    sharing = _shared(stays, slots, wants)
    starts = [start for start, _ in sharing.idle]
    before = [0.0, *accumulate(end - start for start, end in sharing.idle)]

    def free(time: float) -> float:
        at = bisect_right(starts, time) - 1
        if at < 0:
            return 0.0
        start, end = sharing.idle[at]
        return before[at] + min(time, end) - start

    return free


def _shared(stays: Iterable[Stay], slots: float, wants: Wants) -> _Sharing:
    """A grid that was shared from the first entry to the last leave."""
    sharing = _Sharing(slots)
    # At one instant entries come first: who leaves and enters at once was never away.
    events = [(time, 1, user, demand) for time, user, demand in wants]
    for stay in stays:
        sharing.given.setdefault(stay.user, 0.0)
        if stay.deadline > stay.entry:
            events.append((stay.entry, 0, stay.user, stay.demand))
            events.append((stay.deadline, 2, stay.user, 0.0))
    events.sort()
    for time, order, user, demand in events:
        sharing.advance(time)
        if order == 1:
            sharing.ask(user, demand)
        elif order == 0:
            sharing.enter(user, demand)
        else:
            sharing.leave(user)
    sharing.advance(inf)
    return sharing


class _Sharing:
    """Slots shared equally by those who still want something.

    Attributes:
        given: work by user, of those who have left or have been given all.
        idle: spans of time, from and to s, in which nobody wanted anything.
    """

    def __init__(self, slots: float) -> None:
        self.given: dict[str, float] = {}
        self.idle: list[tuple[float, float]] = []
        self._slots = slots
        self._now = 0.0
        self._level = 0.0  # what who had always wanted something would have been given by now
        self._present: Counter[str] = Counter()
        self._since: dict[str, float] = {}  # level at which those who want something began to
        self._wanted: dict[str, float] = {}  # what they have asked for since then
        self._enough: list[tuple[float, str]] = []  # levels at which they have that, or lower ones

    def advance(self, time: float) -> None:
        """Share until a time, s."""
        now, level, slots = self._now, self._level, self._slots
        if time == now:
            return
        enough, since, wanted = self._enough, self._since, self._wanted
        while enough and since and slots > 0:
            had, user = enough[0]
            until = since[user] + wanted[user] if user in since else inf
            if until > had:  # has left, or has asked for more
                heapreplace(enough, (until, user)) if until < inf else heappop(enough)
                continue
            reached = now + (had - level) * len(since) / slots
            if reached > time:
                break
            heappop(enough)
            if reached > now:
                now = reached
            if had > level:
                level = had
            self.given[user] += wanted.pop(user)
            del since[user]
        if since:
            level += slots * (time - now) / len(since)
        else:
            self.idle.append((now, time))
        self._now, self._level = time, level

    def enter(self, user: str, demand: float) -> None:
        """A user comes with a demand."""
        self._present[user] += 1
        self.ask(user, demand)

    def ask(self, user: str, demand: float) -> None:
        """A user asks for more; whoever is not present does so in vain."""
        if demand <= 0:
            return
        if user in self._since:
            self._wanted[user] += demand
        elif self._present[user]:
            self._since[user], self._wanted[user] = self._level, demand
            if demand < inf:
                heappush(self._enough, (self._level + demand, user))

    def leave(self, user: str) -> None:
        """A stay of a user ends."""
        self._present[user] -= 1
        if user in self._since and not self._present[user]:
            del self._wanted[user]
            self.given[user] += self._level - self._since.pop(user)


def unfairness(satisfactions: Iterable[float]) -> float:
    """Largest minus least satisfaction; 0 is ideal, and with fewer than two users there is none.

    Args:
        satisfactions: of all users; those who deserved nothing have none (nan) and are left out.

    Source: RR-7959, section 3.3.
    """
    known = [satisfaction for satisfaction in satisfactions if satisfaction == satisfaction]
    return _difference(max(known), min(known)) if known else 0.0


def jain(values: Iterable[float]) -> float:
    """1 minus Jain's index: 0 if all are equal, 1 - 1/n if one of n has everything; 1 if nobody has anything.

    Args:
        values: of all users, at least 0; nan ones are left out.

    Source: R. Jain, D. Chiu and W. Hawe, A Quantitative Measure of Fairness, DEC-TR-301, 1984.
    """
    known = [value for value in values if value == value]
    squares = sum(value * value for value in known)
    if not squares:
        # Nobody served at all is no fair grid: else a search could win by serving nobody.
        return 1.0 if known else 0.0
    found = 1.0 - sum(known) ** 2 / (len(known) * squares)
    return found if found > ROUNDING else 0.0


def spread(values: Iterable[float]) -> float:
    """90th minus 10th percentile; 0 of fewer than two values. Those that are nan are left out."""
    known = sorted(value for value in values if value == value)
    return _difference(quantile(known, 0.9), quantile(known, 0.1)) if known else 0.0


def _difference(high: float, low: float) -> float:
    """What one value is above another; 0 where only rounding is between them."""
    apart = high - low
    return 0.0 if apart <= ROUNDING * high < inf else apart


def shortfall(satisfactions: Iterable[float]) -> float:
    """Mean of what is missing to a satisfaction of 1; 0 without users. More than 1 makes up for nothing."""
    known = [satisfaction for satisfaction in satisfactions if satisfaction == satisfaction]
    return sum(max(0.0, 1.0 - satisfaction) for satisfaction in known) / len(known) if known else 0.0
