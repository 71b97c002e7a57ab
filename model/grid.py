"""The grid: an empty stage with a clock and a record, on which scenarios put actors."""

from __future__ import annotations

import warnings
from math import inf
from typing import Any

from gridtune.model.agenda import OBSERVATION, Agenda
from gridtune.model.endless import EVENTS, OFTEN, Watch, waits_beyond
from gridtune.model.garbage_collection import without_garbage_collection
from gridtune.model.record import Record
from gridtune.model.streams import Streams

with warnings.catch_warnings():  # in a notebook, that its progress bars, which we do not use, could be nicer
    warnings.filterwarnings("ignore", "IProgress not found")
    import mesa


class Grid(mesa.Model):
    """The whole simulated system.

    Args:
        seed: of the experiment, a non-negative integer.
        replication: index of the run under that seed.
        step_length: seconds that one `step` advances.
        horizon: time in s at which `run` ends at the latest; infinite by default.
        sample_period: seconds between two samples of the signals; None for no samples.
        keep_events: whether to record every transition of every job.

    Attributes:
        agenda: the clock and what is to come.
        record: what happened.
        streams: random streams by purpose.
        patience: wait of a mandatory job in s after which `run` ends; infinite by default.
        slots: number of places where a job can run, entered by the actors that own them.
        capacity: sum of their speeds: seconds of work at speed 1 that the grid can do in a second.

    Raises:
        ValueError: a step length, horizon or sample period that is not positive.
    """

    running: bool  # Mesa's; whether there is anything left to happen

    def __init__(
        self,
        seed: int = 1,
        replication: int = 0,
        *,
        step_length: float = 1.0,
        horizon: float = inf,
        sample_period: float | None = None,
        keep_events: bool = False,
    ) -> None:
        if not step_length > 0 or not horizon > 0:
            raise ValueError(f"step length and horizon must be positive, not {step_length} and {horizon}")
        super().__init__(rng=seed)
        self.agenda = Agenda()
        self.record = Record(keep_events=keep_events)
        self.streams = Streams(seed, replication)
        self.step_length = step_length
        self.horizon = horizon
        self.patience = inf
        self.slots = 0
        self.capacity = 0.0
        self._steps_taken = 0
        if sample_period is not None:
            self.agenda.every(sample_period, self._sample, order=OBSERVATION)

    def add_slots(self, count: int, speed: float = 1.0) -> None:
        """Enter places where jobs can run.

        Args:
            count: the number of slots.
            speed: the speed of each: seconds of work at speed 1 that it does in a second.

        Example:
            >>> slots = model.slots
            >>> model.add_slots(2, speed=1.5)
            >>> model.slots - slots
            2
        """
        self.slots += count
        self.capacity += count * speed

    @property
    def mean_speed(self) -> float:
        """Compute the mean speed of the slots, work at speed 1 per s; it is 1 while there are none.

        Example:
            >>> 1.0 < model.mean_speed < 1.5
            True
        """
        return self.capacity / self.slots if self.slots else 1.0

    @property
    def now(self) -> float:
        """Tell the current simulated time, s.

        Example:
            >>> stepped.now
            10.0
        """
        return self.agenda.now

    @property
    def judged(self) -> float:
        """Tell the time (s) up to which it is known what happens: infinite once nothing ever will again.

        Example:
            >>> model.judged >= model.now
            True
        """
        return self.now if self.running or self.horizon < inf else inf

    def step(self) -> None:
        """Advance by one `step_length` and fire everything due up to and including its end.

        After the step in which the last event fires, everything is as `run` would have left it; further steps
        do nothing.
        """
        if not self.running:
            return
        agenda, horizon = self.agenda, self.horizon
        self._steps_taken += 1
        with without_garbage_collection():
            agenda.run(min(self._steps_taken * self.step_length, horizon))
            left = agenda.next_time
            self.running = left < inf and left <= horizon
            if not self.running:
                agenda.run(horizon)
        if not self.running and horizon == inf:
            agenda.now = agenda.last  # the clock stands at the last event, not at the end of the step

    def run(self) -> None:
        """Fire everything to the end (or the horizon) without stopping at steps.

        Raises:
            EndlessRunError: events go on, but no job gets on.
        """
        watch = Watch(self.agenda, self.record, self.horizon)
        often = EVENTS if self.patience == inf else OFTEN
        with without_garbage_collection():
            fired = often
            while not self.agenda.run(self.horizon, often):
                if self.patience < inf and waits_beyond(self.record, self.now, self.patience):
                    self.horizon = self.now
                    break
                if fired % EVENTS == 0:
                    watch.look()
                fired += often
        self.running = False

    def close(self) -> None:
        """Let go of all agents, so that the grid can be freed; it cannot be used afterwards.

        Example:
            >>> whole.close()
            >>> len(whole.agents)
            0
        """
        self.remove_all_agents()
        self.record.let_go()
        # Mesa before 3.4.2 keeps every model for ever in a class dictionary.
        counters: dict[mesa.Model, Any] | None = getattr(mesa.Agent, "_ids", None)
        if counters is not None:
            counters.pop(self, None)

    def scrap(self) -> None:
        """Close the grid and empty its agents; neither can be used afterwards.

        The memory of a run is then freed without the garbage collector once its record is no longer used.

        Example:
            >>> agents = list(stepped.agents)
            >>> stepped.scrap()
            >>> vars(agents[0])
            {}
        """
        agents = list(self.agents)
        self.close()
        for agent in agents:
            vars(agent).clear()
        self.agenda.let_go()
        self.__dict__.clear()  # Mesa keeps what holds the grid in attributes of it

    def __enter__(self) -> Grid:
        return self

    def __exit__(self, *_: object) -> None:
        if vars(self):  # not scrapped
            self.close()

    def _sample(self, _: object) -> None:
        self.record.sample(self.now)
