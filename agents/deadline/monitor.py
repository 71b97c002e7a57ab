"""The forecasting tool of an agent (FAST over NWS): sensors, forecasts, and their correction."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Literal

import mesa
import numpy as np

from gridtune.agents.deadline.task_server import TaskServer
from gridtune.model.deadline.forecasts import Correction, Forecast, Memory
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
        self._nominal_bandwidth = np.array([machine.bandwidth.at(0.0) for machine in self.machines])
        self._availability = np.ones(len(servers))
        self._bandwidth = self._nominal_bandwidth.copy()
        self._return_bandwidth = self._nominal_bandwidth.copy()
        self._latency = np.array([machine.latency for machine in self.machines])
        self._factors = np.ones(len(servers))
        self._able: dict[tuple[float, float, str], Floats] = {}
        self._rng = grid.streams.stream(name)
        self._lasting = forecast.lasting_error(grid.streams.stream(f"{name}:server"), len(servers))
        self._watched, self._places = self._series()
        self._memories = forecast.memories([course.at(0.0) for course in self._watched])
        self._returns: dict[int, Memory] = {
            k: forecast.memory(machine.bandwidth.at(0.0))
            for k, machine in enumerate(self.machines)
            if not machine.bandwidth.is_constant
        }
        self._valid_until = -inf
        if self._watched and not forecast.oracle:
            grid.agenda.every(probe_period, self._probe)

    def times(self, job: Job) -> Times:
        """How long a task would take at every server, s."""
        if self.forecast.oracle and self._watched and self.grid.now >= self._valid_until:
            self._probe(None)
        task: Task = job.data
        dedicated = self._dedicated(job, task)
        nominal = dedicated
        predicted = dedicated / self._availability
        if task.input:
            predicted = predicted + self._latency + task.input / self._bandwidth
            nominal = nominal + self._latency + task.input / self._nominal_bandwidth
        if task.output:
            predicted = predicted + self._latency + task.output / self._return_bandwidth
            nominal = nominal + self._latency + task.output / self._nominal_bandwidth
        wrong = predicted * self._lasting * self.forecast.passing_error(self._rng, len(self.machines))
        return Times(wrong * self._factors, nominal)

    def bandwidth(self, server: int) -> float:
        """F_Bd: forecast bandwidth of the link to a server, bytes per s."""
        return float(self._bandwidth[server])

    def learn(self, server: int, task: Task, forecast: float, factor: float, service: Service) -> None:
        """Compare an execution with its forecast, and correct further ones.

        Args:
            server: where it was executed.
            task: for the size of its result.
            forecast: its forecast time, corrected, s.
            factor: by which it had been corrected.
            service: what the execution really took.
        """
        actual = sum(service)
        if server in self._returns and task.output:
            memory = self._returns[server]
            memory.observe(task.output / (service.receive - self.machines[server].latency))
            self._return_bandwidth[server] = memory.forecast()
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
        watched: list[Steps] = []
        places = []
        for kept, courses in (
            (self._availability, [machine.availability for machine in self.machines]),
            (self._bandwidth, [machine.bandwidth for machine in self.machines]),
        ):
            changing = [k for k, course in enumerate(courses) if not course.is_constant]
            kept[:] = [course.at(0.0) if course.is_constant else kept[k] for k, course in enumerate(courses)]
            watched += [courses[k] for k in changing]
            places.append((kept, changing))
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
            for server in self._returns:
                self._return_bandwidth[server] = self._bandwidth[server]
            self._valid_until = min(course.until(now) for course in self._watched)
