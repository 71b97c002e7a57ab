"""What an agent forecasts of the links between clients and servers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gridtune.model.deadline.forecasts import Forecast, Memory
from gridtune.model.deadline.platform import Link, Service, Task
from gridtune.model.deadline.timetable import Floats


class Links:
    """The links of one client, by server: what is known of them, and what is forecast.

    Args:
        links: by server.
        forecast: what is made of measurements.

    Attributes:
        bandwidth: forecast from the client to each server (F_Bd), bytes per s.
        back: forecast from each server to the client (P_recv), by the results that came back before.
        nominal: bandwidth of each at the beginning, bytes per s.
        latency: of each, s.
        changing: servers whose link is not the same for ever.
    """

    def __init__(self, links: Sequence[Link], forecast: Forecast) -> None:
        self.links = links
        self.nominal: Floats = np.array([link.bandwidth.at(0.0) for link in links])
        self.bandwidth = self.nominal.copy()
        self.back = self.nominal.copy()
        self.latency: Floats = np.array([link.latency for link in links])
        self.changing = [k for k, link in enumerate(links) if not link.bandwidth.is_constant]
        self._returns: dict[int, Memory] = {k: forecast.memory(float(self.nominal[k])) for k in self.changing}

    def add_forecast(self, times: Floats, task: Task) -> Floats:
        """Times at each server, s, and what a task's data should take there and back."""
        return self._add(times, task, self.bandwidth, self.back)

    def add_free(self, times: Floats, task: Task) -> Floats:
        """The same with the bandwidth of the beginning."""
        return self._add(times, task, self.nominal, self.nominal)

    def _add(self, times: Floats, task: Task, there: Floats, back: Floats) -> Floats:
        if task.input:
            times = times + self.latency + task.input / there
        if task.output:
            times = times + self.latency + task.output / back
        return times

    def learn(self, server: int, task: Task, service: Service) -> None:
        """Forecast the way back anew from a result that has come."""
        if server in self._returns and task.output:
            memory = self._returns[server]
            memory.observe(task.output / (service.receive - self.latency[server]))
            self.back[server] = memory.forecast()

    def know(self) -> None:
        """Let the way back be as the way there: whoever knows all waits for no result."""
        self.back[self.changing] = self.bandwidth[self.changing]
