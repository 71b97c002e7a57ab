"""Agents of sites that look one after the other; looks that find nothing new are passed over at once.

Most looks find nothing: nobody waits for work, or the site has no room. Such a look changes nothing but the
counts of events, queries and messages. Those that begin and end before anything else happens are therefore
counted when the first of them is due, and no events are entered for them: all results are those of looks one
by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from math import inf

import numpy as np
from numpy.typing import NDArray

from gridtune.agents.middleware.matchmaker import MatchMaker
from gridtune.agents.middleware.messages import MessageChannel
from gridtune.agents.middleware.site_agent import SiteAgent
from gridtune.model.agenda import OBSERVATION
from gridtune.model.grid import Grid

MOST = 100_000  # looks that are passed over together

Times = list[float] | NDArray[np.float64]


class Polling:
    """Looks of all agents, evenly spread over a period, for as long as the match-maker is at work.

    They come after all else that happens at their instants.

    Args:
        grid: where they live.
        match_maker: whom they ask.
        agents: in the order of their looks.
        period: s between two looks of one agent.
        channel: carries their messages.
    """

    def __init__(
        self,
        grid: Grid,
        match_maker: MatchMaker,
        agents: Sequence[SiteAgent],
        period: float,
        channel: MessageChannel,
    ) -> None:
        self._grid, self._agenda = grid, grid.agenda
        self._match_maker = match_maker
        self._agents = agents
        self._period = period
        self._channel = channel
        self._shares = [k / len(agents) for k in range(len(agents))]  # of the period, before each look
        self._each_delay = [agent.member.delay for agent in agents]
        self._delays = np.array(self._each_delay)
        self._passes = False  # whether looks may be passed over
        self._agenda.at(0.0, self._begin, 0, OBSERVATION)

    def _begin(self, number: int) -> None:
        """The first look: by now all is known that stands between agents and tasks."""
        match_maker = self._match_maker
        # Else the next look of an agent might be due while it still waits for an answer.
        apart = 2 * self._delays.max(initial=0.0) < self._period and all(
            agent.member.way is None for agent in self._agents
        )
        # While sites are shunned for a time, an agent may find something although nothing has happened.
        self._passes = apart and match_maker.service is None and match_maker.trouble.trusting
        self._look(number)

    def _look(self, number: int) -> None:
        """The look whose turn it is, or as many as find nothing before anything else happens."""
        if not self._match_maker.at_work:
            return
        if self._quiet():
            # Only what recurs may still change anything; that ends where nothing else is to come.
            if self._agenda.next_time == inf:
                self._match_maker.hopeless = True
            else:
                self._agenda.poll(self._moment(number + 1), self._look, number + 1, OBSERVATION)
            return
        following = self._pass_over(number) if self._passes else number
        if following == number:
            self._agents[number % len(self._agents)].poll(None)
            following = number + 1
        else:
            self._agenda.fired -= 1  # the event under way is one of those that were counted
        self._agenda.at(self._moment(following), self._look, following, OBSERVATION)

    def _quiet(self) -> bool:
        """Whether nothing is to come, in a run without horizon, and no look would find anything."""
        if not self._match_maker.quiet:
            return False
        finds = self._match_maker.finds
        return not any(one.looking or (one.available and finds(one.question())) for one in self._agents)

    def _moment(self, number: int) -> float:
        """When a look is due, s."""
        count = len(self._agents)
        turn, k = divmod(number, count)
        # Multiples of the period, not sums of its parts: no rounding creeps in.
        return (turn + k / count) * self._period

    def _pass_over(self, number: int) -> int:
        """Count the looks from a number on that find nothing before anything else happens; the next one."""
        agents, shares, delays = self._agents, self._shares, self._each_delay
        agenda, match_maker, period = self._agenda, self._match_maker, self._period
        first, count = number, len(agents)
        end, until = agenda.next_time, agenda.until
        waits = match_maker.waiting > 0
        asking: list[bool] = []
        queries: list[float] = []
        answers: list[float] = []
        events = 0
        turn, k = divmod(number, count)
        while number < first + count:
            due = (turn + shares[k]) * period
            asked = due + delays[k]
            answered = asked + delays[k]
            if answered >= end or answered > until:
                break
            agent = agents[k]
            if agent.looking:
                break
            asks = agent.available
            if asks:
                if waits and match_maker.finds(agent.question()):
                    break
                queries.append(due)
                answers.append(asked)
                if asked > due:  # messages without delay are no events
                    events += 2
            asking.append(asks)
            number += 1
            k += 1
            if k == count:
                turn, k = turn + 1, 0
        agenda.fired += number - first + events
        if queries:
            self._count(queries, answers, max(answers))
        if number == first + count:
            # Nothing changes: all that follows is as this round was, first to last.
            turned = first % count
            number = self._pass_over_rounds(
                number, np.array(asking[count - turned :] + asking[: count - turned])
            )
        return number

    def _pass_over_rounds(self, number: int, asking: NDArray[np.bool_]) -> int:
        """Go on for as long as nothing else happens.

        Args:
            number: of the next look.
            asking: whether each agent sends a query when it looks.
        """
        count, end, until = len(self._agents), self._agenda.next_time, self._agenda.until
        while True:
            left = (min(end, until) - self._moment(number)) / self._period * count
            numbers = np.arange(number, number + (MOST if left == inf else min(max(int(left), 0) + 2, MOST)))
            turns, k = np.divmod(numbers, count)
            due = (turns + k / count) * self._period
            asked = due + self._delays[k]
            answered = asked + self._delays[k]
            late = (answered >= end) | (answered > until)
            passed = int(late.argmax()) if late.any() else len(late)
            asks = asking[k[:passed]]
            queries, answers = due[:passed][asks], asked[:passed][asks]
            self._agenda.fired += passed + 2 * int(np.count_nonzero(answers > queries))
            if len(queries):
                self._count(queries, answers, answers.max())
            number += passed
            if passed < len(late):
                return number

    def _count(self, queries: Times, answers: Times, last: float) -> None:
        """Count queries and answers that were sent at these times, s, the last answer at that one."""
        self._match_maker.count_fruitless(len(queries))
        channel = self._channel
        if channel.bin(queries[0]) == channel.bin(last):
            channel.count("query", len(queries), queries[0])
            channel.count("answer", len(answers), answers[0])
            return
        sent = [*self._binned("query", queries), *self._binned("answer", answers)]
        for time, kind, count in sorted(sent):  # bins are kept in the order of their first message
            channel.count(kind, count, time)

    def _binned(self, kind: str, times: Times) -> Iterable[tuple[float, str, int]]:
        """The first message of each bin of time, s, and how many there are."""
        ordered = np.sort(times)
        _, at, counts = np.unique(self._channel.bin(ordered), return_index=True, return_counts=True)
        return zip(ordered[at].tolist(), repeat(kind), counts.tolist(), strict=False)
