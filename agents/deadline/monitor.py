"""The forecasting tool of an agent (FAST over NWS): sensors, forecasts, and their correction."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Literal

import mesa
import numpy as np

from gridtune.agents.deadline.links import Links
from gridtune.agents.deadline.task_server import TaskServer
from gridtune.model.deadline.forecasts import Correction, Forecast
from gridtune.model.deadline.platform import Machine, Service, Steps, Task
from gridtune.model.deadline.routing import Times
from gridtune.model.deadline.timetable import Floats
from gridtune.model.grid import Grid
from gridtune.model.job import Job

Correcting = Literal["none", "average", "listing"]


class Monitor(mesa.Agent):
    """Knows what machines are made of, watches what changes, and forecasts run times.

    T_aS = W_send / F_Bd + W_recv / P_recv + W_aS / F_S (RR-5335, section 4.1), with the bandwidth F_Bd and
    the availability within F_S from sensors, and P_recv from the results that came back before.

    Args:
        grid: where it lives.
        servers: by index.
        forecast: what is made of measurements.
        probe_period: s between two measurements.
        correcting: what is done about errors (RR-5335, algorithm 2): `average` corrects by the mean ratio
            of actual to uncorrected forecast time; `listing` divides by the corrected time, as the
            algorithm is printed; `none` does nothing.
        together: whether one correction, learnt from all executions, holds for all servers.
        name: of its random numbers; every monitor of a grid has its own.
    """

    def __init__(
        self,
        grid: Grid,
        servers: Sequence[TaskServer],
        forecast: Forecast,
        *,
        probe_period: float = 60.0,
        correcting: Correcting = "none",
        together: bool = False,
        name: str = "forecast",
    ) -> None:
        super().__init__(grid)
        self.grid = grid
        self.machines: list[Machine] = [server.machine for server in servers]
        self.forecast = forecast
        self.correcting = correcting
        self.corrections = [Correction()] * len(servers) if together else [Correction() for _ in servers]
        self.together = together
        self.ratios = 0.0
        self.errors = 0.0
        self.executions = 0
        self._speed = np.array([machine.speed for machine in self.machines])
        self._availability = np.ones(len(servers))
        own = sorted({client for machine in self.machines for client in machine.links})
        self._links = {
            client: Links([machine.link_to(client) for machine in self.machines], forecast)
            for client in ("", *own)
        }
        self._factors = np.ones(len(servers))
        self._able: dict[tuple[float, float, str], Floats] = {}
        self._rng = grid.streams.stream(name)
        self._lasting = forecast.lasting_error(grid.streams.stream(f"{name}:server"), len(servers))
        self._watched, self._places = self._series()
        self._memories = forecast.memories([course.at(0.0) for course in self._watched])
        self._valid_until = -inf
        if self._watched and not forecast.oracle:
            grid.agenda.every(probe_period, self._probe)

    def times(self, job: Job) -> Times:
        """How long a task would take at every server, s."""
        if self.forecast.oracle and self._watched and self.grid.now >= self._valid_until:
            self._probe(None)
        task: Task = job.data
        dedicated, links = self._dedicated(job, task), self._links_of(task)
        nominal = links.add_free(dedicated, task)
        predicted = links.add_forecast(dedicated / self._availability, task)
        wrong = predicted * self._lasting * self.forecast.passing_error(self._rng, len(self.machines))
        return Times(wrong * self._factors, nominal)

    def bandwidth(self, server: int, task: Task) -> float:
        """F_Bd: forecast bandwidth of the link from a task's client to a server, bytes per s."""
        return float(self._links_of(task).bandwidth[server])

    def _links_of(self, task: Task) -> Links:
        return self._links.get(task.client) or self._links[""]

    def learn(self, server: int, task: Task, forecast: float, factor: float, service: Service) -> None:
        """Compare an execution with its forecast, and correct further ones.

        Args:
            server: where it was executed.
            task: for its client and the size of its result.
            forecast: its forecast time, corrected, s.
            factor: by which it had been corrected.
            service: what the execution really took.
        """
        actual = sum(service)
        self._links_of(task).learn(server, task, service)
        if forecast <= 0 or actual <= 0:
            return  # nothing to do takes no time: no ratio can be formed
        self.executions += 1
        self.ratios += forecast / actual
        self.errors += abs(forecast - actual) / actual
        correction = self.corrections[server]
        correction.learn(actual, forecast if self.correcting == "listing" else forecast / factor)
        if self.correcting != "none":
            self._factors[slice(None) if self.together else server] = correction.percent / 100.0

    def factor(self, server: int) -> float:
        """By how much forecasts for a server are corrected at present."""
        return float(self._factors[server])

    def _dedicated(self, job: Job, task: Task) -> Floats:
        """Seconds of computation at each server without other load; infinite where it cannot run."""
        if task.times is not None:
            return np.array([
                machine.dedicated(job, task) if machine.can_do(task) else inf for machine in self.machines
            ])  # fmt: skip
        need = (task.memory, task.disk, task.software)
        able = self._able.get(need)
        if able is None:
            able = self._able[need] = np.array([
                1.0 if machine.can_do(task) else inf for machine in self.machines
            ])  # fmt: skip
        runtime = job.runtime if task.expected is None else task.expected
        dedicated: Floats = runtime / self._speed * able
        return dedicated

    def _series(self) -> tuple[list[Steps], list[tuple[Floats, list[int]]]]:
        """What changes and is to be watched, and where its forecasts are kept: arrays and servers in turn."""
        kept, courses = self._availability, [machine.availability for machine in self.machines]
        changing = [k for k, course in enumerate(courses) if not course.is_constant]
        kept[:] = [course.at(0.0) if course.is_constant else kept[k] for k, course in enumerate(courses)]
        watched, places = [courses[k] for k in changing], [(kept, changing)]
        for links in self._links.values():
            watched += [links.links[k].bandwidth for k in links.changing]
            places.append((links.bandwidth, links.changing))
        return watched, places

    def _probe(self, _: object) -> None:
        """Measure everything that changes, and forecast it anew."""
        now = self.grid.now
        forecasts = np.asarray(self._memories.observe([course.at(now) for course in self._watched]))
        first = 0
        for kept, servers in self._places:
            kept[servers] = forecasts[first : first + len(servers)]
            first += len(servers)
        if self.forecast.oracle:
            for links in self._links.values():
                links.know()
            self._valid_until = min(course.until(now) for course in self._watched)
