"""The GridRPC client: acts for a user from its entry to the end of its stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import mesa

from gridtune.agents.gridrpc.hierarchy import Discovery, MasterAgent
from gridtune.agents.gridrpc.machine import Machine
from gridtune.agents.gridrpc.reallocator import Reallocator
from gridtune.agents.gridrpc.sed import SeD
from gridtune.model.agenda import ARRIVAL, DECISION
from gridtune.model.grid import Grid
from gridtune.model.gridrpc.dispatch import Demand, Dispatch, Submission
from gridtune.model.gridrpc.estimation import EstimationVector
from gridtune.model.gridrpc.reallocation import Never, Reallocation
from gridtune.model.gridrpc.selection import Choice, RoundRobin
from gridtune.model.job import CREATED, QUEUED, Job
from gridtune.model.network import Link
from gridtune.model.policy import Policy, misjudged
from gridtune.model.record import Stay


@dataclass(frozen=True, slots=True)
class Session:
    """What a user brings: how much work, how urgent.

    Attributes:
        user: name.
        arrival: t0, s.
        deadline: d, absolute, s.
        n_min: mandatory requests.
        n_max: requests in all that would be useful.
        runtimes: execution times in s, used in turn by successive requests (the k-th request takes
            the k-th, starting anew at the end).
        service: that the requests are of; "" where services have no names.
        request_bytes: data that go to the server with each request.
        result_bytes: data that come back from each completed one.
    """

    user: str
    arrival: float
    deadline: float
    n_min: int
    n_max: int
    runtimes: tuple[float, ...]
    service: str = ""
    request_bytes: float = 0.0
    result_bytes: float = 0.0

    @property
    def demand(self) -> float:
        """Work of all n_max requests, slot-seconds at speed 1."""
        return self.work(self.n_max)

    def work(self, requests: int) -> float:
        """Work of the first so many requests, slot-seconds at speed 1."""
        rounds, rest = divmod(requests, len(self.runtimes))
        return rounds * sum(self.runtimes) + sum(self.runtimes[:rest])


@dataclass(frozen=True, slots=True)
class ClientHabits:
    """How clients of a scenario behave.

    Attributes:
        dispatch: decides what to submit where.
        n_submit: requests that a legacy client guesses to be right.
        spacing: s between two successive submissions of one client during set-up.
        reaction: s between hearing of a completion and acting on it.
        node: name of the machine that clients run on, for counting its messages.
        choice: decides which of the servers found gets which request.
        retry: s until a request that a server lost is submitted again, or servers are looked for again.
        reallocation: decides whether a mandatory request that waits moves to another server.
        reallocation_period: s between two looks at such requests.
    """

    dispatch: Dispatch
    n_submit: int
    spacing: float
    reaction: float
    node: str
    choice: Choice = field(default_factory=RoundRobin)
    retry: float = 1.0
    reallocation: Reallocation = field(default_factory=Never)
    reallocation_period: float = 10.0


_new_demand = tuple.__new__  # one is made for each completed request: half the cost of a call of the class


class Client(mesa.Agent):
    """One stay of a user: set-up, monitoring, clean-up (RR-7959, section 4.1.2).

    Args:
        grid: where it lives.
        session: what its user brings.
        habits: how it behaves.
        master: whom it asks for servers.
        servers: all SeDs by index.
        link: to the master agent and to each SeD.
        host: the machine on which it handles messages.
    """

    def __init__(
        self,
        grid: Grid,
        session: Session,
        habits: ClientHabits,
        master: MasterAgent,
        servers: Sequence[SeD],
        link: Link,
        host: Machine | None = None,
    ) -> None:
        super().__init__(grid)
        self.grid = grid
        self._agenda = grid.agenda
        self._record = grid.record
        self.session = session
        self.habits = habits
        self.master = master
        self.servers = servers
        self.link = link
        self.host = host or Machine(grid, 0.0)
        self.stay = Stay(
            session.user,
            session.arrival,
            session.deadline,
            session.demand,
            n_min=session.n_min,
            mandatory_work=session.work(session.n_min),
            service=session.service,
        )
        self.submitted = 0
        self._most = max(session.n_min, session.n_max)
        self.mandatory_left = session.n_min
        self.pending: dict[int, tuple[Job, SeD]] = {}
        self._optional_at: dict[int, int] = {}
        self._sending = link.delay(session.request_bytes)  # s, to servers without a link of their own
        self._answering = link.delay(session.result_bytes)
        self._left = False
        self._found: list[SeD] = []
        self._unsent = 0  # requests of the set-up phase that have not left
        grid.record.stays.append(self.stay)

    @property
    def left(self) -> bool:
        """Whether its user has left."""
        return self._left

    @property
    def service(self) -> str:
        """That its requests are of."""
        return self.session.service

    def enter(self) -> None:
        """Begin the set-up phase: discover servers."""
        self._discover(None)
        habits = self.habits
        if not isinstance(habits.reallocation, Never):
            Reallocator(self, habits.reallocation, habits.reallocation_period)
        self._agenda.at(max(self.session.deadline, self._agenda.now), self._deadline, None, DECISION)

    def _discover(self, _: object) -> None:
        """Ask the master agent for servers, unless the user has left."""
        if self._left:
            return
        choice, n_max = self.habits.choice, self.session.n_max
        wanted = choice.wanted(n_max)
        if n_max and not wanted >= 1:
            raise misjudged(choice, f"wants {wanted} servers")
        self.ask(Discovery(wanted, self._reply, self.session.service))

    def ask(self, wanted: Discovery) -> None:
        """Ask the master agent for servers."""
        self._message("discover")
        self._agenda.after(self.link.delay(), self.master.discover, wanted, ARRIVAL)

    def _reply(self, vectors: Sequence[EstimationVector]) -> None:
        self._agenda.after(self.link.delay(), self._discovered, vectors, ARRIVAL)

    def _discovered(self, vectors: Sequence[EstimationVector]) -> None:
        """Submit what the dispatch policy plans, one request every `spacing` seconds."""
        self._message("estimate")
        if not vectors:
            self._agenda.after(self.habits.retry, self._discover, None, DECISION)
            return
        found = self._found = [self.servers[vector.server] for vector in vectors]
        rng = self.grid.streams.stream(f"dispatch:{self.session.user}")
        habits = self.habits
        plan = self._useful(list(habits.dispatch.setup(self._demand(), len(found), rng)))
        self._check(plan, len(found), habits.dispatch)
        assigned = list(habits.choice.assign(plan, vectors, rng))
        self._check(assigned, len(found), habits.choice)
        if sorted(one.mandatory for one in assigned) != sorted(one.mandatory for one in plan):
            raise misjudged(habits.choice, "assigns other requests than it was given")
        plan = assigned
        now, spacing = self._agenda.now, habits.spacing
        for k, (server, mandatory, _) in enumerate(plan):
            self._agenda.at(now + k * spacing, self._send, (found[server], mandatory), DECISION)
        self.stay.setup_end = now + max(0, len(plan) - 1) * spacing
        self._unsent = len(plan)

    def _check(self, plan: Sequence[Submission], servers: int, policy: Policy) -> None:
        """Whether a policy sends requests to servers that there are."""
        if not all(0 <= one.server < servers for one in plan):
            raise misjudged(policy, f"sends to servers other than the {servers} there are")

    def _useful(self, plan: Sequence[Submission]) -> list[Submission]:
        """What a policy plans, but for what no user asked for: more than n_max requests, n_min mandatory."""
        n_min = self.session.n_min
        before = accumulate((one.mandatory for one in plan), initial=0)
        return [
            Submission(server, mandatory and earlier < n_min, bound)
            for (server, mandatory, bound), earlier in zip(plan, before, strict=False)
        ][: self._most]

    def _send(self, what: tuple[SeD, bool]) -> None:
        """Create a request and send it to a server, unless its user could not use another."""
        if self._left or self.submitted >= self._most:
            return
        server, mandatory = what
        session = self.session
        job = self._record.job(
            session.user,
            self._agenda.now,
            session.runtimes[self.submitted % len(session.runtimes)],
            kind="mandatory" if mandatory else "optional",
            mandatory=mandatory,
            deadline=session.deadline,
            data=self.stay,
        )
        self.submitted += 1
        self._hand((server, job))

    def _hand(self, what: tuple[SeD, Job]) -> None:
        """Hand a request to a server, for the first time or after another has lost it."""
        server, job = what
        if self._left:
            job.cancel(self._agenda.now)
            return
        self.pending[job.id] = (job, server)
        if not job.mandatory:
            self._optional_at[server.index] = self._optional_at.get(server.index, 0) + 1
        if self.host.cost:
            self.host.handle(self.session.user, self._transmit, what)
        else:
            self._transmit(what)

    def _transmit(self, what: tuple[SeD, Job]) -> None:
        """A request leaves, with its data."""
        self._record.message(self.habits.node, "submit", self._agenda.now)
        if self._unsent:
            self._unsent -= 1
            self.stay.setup_end = max(self.stay.setup_end, self._agenda.now)
        self._bring(what)

    def _bring(self, what: tuple[SeD, Job]) -> None:
        """Data of a request go to a server: over links that all share, if there are any, or its own."""
        server, size = what[0], self.session.request_bytes
        if size and server.way is not None and server.link is None:
            server.way.send(size, self._arrive, what)
        else:
            delay = self._sending if server.link is None else server.link.delay(size)
            self._agenda.after(delay, self._arrive, what, ARRIVAL)

    def _arrive(self, what: tuple[SeD, Job]) -> None:
        server, job = what
        server.submit(job, self._notify)

    def _notify(self, job: Job) -> None:
        """A server completed a request, or lost it: that travels and the client reacts."""
        entry, size = self.pending.get(job.id), self.session.result_bytes
        server = entry[1] if entry else None
        link = server.link if server else None
        if size and server is not None and server.way is not None and link is None:
            server.way.send(size, self._heard, job)
        else:
            delay = self._answering if link is None else link.delay(size)
            self._agenda.after(delay + self.habits.reaction, self._received, job, ARRIVAL)

    def _heard(self, job: Job) -> None:
        """A result has come: the client reacts."""
        self._agenda.after(self.habits.reaction, self._received, job, ARRIVAL)

    def _received(self, job: Job) -> None:
        self._record.message(self.habits.node, "complete", self._agenda.now)
        if self.host.cost:
            self.host.handle(self.session.user, self._completed, job)
        else:
            self._completed(job)

    def _completed(self, job: Job) -> None:
        entry = self.pending.pop(job.id, None)
        if self._left or entry is None:
            return
        server = entry[1]
        if job.state is QUEUED or job.state is CREATED:
            self._lost(job, server)
            return
        if job.mandatory:
            self.mandatory_left -= 1
            if self.mandatory_left == 0 and self._agenda.now >= self.session.deadline:
                self._clean_up()
            return
        self._optional_at[server.index] -= 1
        for _ in range(self.habits.dispatch.completed(self._demand(), self._optional_at[server.index])):
            self._send((server, False))

    def _lost(self, job: Job, server: SeD) -> None:
        """A server lost a request: it goes to the next of the servers found."""
        if not job.mandatory:
            self._optional_at[server.index] -= 1
        place = self._found.index(server) if server in self._found else -1
        other = self._found[(place + 1) % len(self._found)]
        self._agenda.after(self.habits.retry, self._hand, (other, job), DECISION)

    def move(self, job: Job, server: SeD, other: SeD) -> None:
        """Have a request that waits at a server go to another, with its data."""
        self._message("withdraw")
        self._agenda.after((server.link or self.link).delay(), self._give_back, (job, server, other), ARRIVAL)

    def _give_back(self, what: tuple[Job, SeD, SeD]) -> None:
        job, server, other = what
        if self._left or not server.waits(job):
            return  # too late: it runs
        server.withdraw(job)
        self._record.counters["reallocated"] += 1
        self.pending[job.id] = (job, other)
        self._message("submit")
        self._bring((other, job))

    def _deadline(self, _: object) -> None:
        """Leave, unless mandatory work is still missing."""
        if self.mandatory_left == 0:
            self._clean_up()

    def _clean_up(self) -> None:
        """Cancel every request that is not known to be completed, and leave."""
        self._left = True
        for job, server in self.pending.values():
            self.host.handle(self.session.user, self._withdraw, (server, job))
        self.stay.leave = self._agenda.now
        self.remove()

    def _withdraw(self, what: tuple[SeD, Job]) -> None:
        """Tell a server that a request is not wanted any more."""
        server, job = what
        self._message("cancel")
        self._agenda.after((server.link or self.link).delay(), server.cancel, job, ARRIVAL)

    def _message(self, kind: str) -> None:
        self._record.message(self.habits.node, kind, self._agenda.now)

    def _demand(self) -> Demand:
        session = self.session
        return _new_demand(Demand, (session.n_min, session.n_max, self.habits.n_submit, self.submitted))
