"""A scenario as a Mesa model: it builds its agents itself, steps, collects data and can be made anew."""

from __future__ import annotations

from functools import partial
from math import inf, nan
from numbers import Integral
from pathlib import Path
from typing import Any

import mesa

from gridtune.model.grid import Grid
from gridtune.model.metrics.registry import Metric
from gridtune.model.metrics.summary import measured, summarise
from gridtune.model.metrics.users import UserOutcome
from gridtune.scenarios.document.paths import by_path
from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.simulation.simulate import furnish
from gridtune.scenarios.systems.replay import sized

Summary = tuple[dict[str, Metric], dict[str, UserOutcome]]


class GridModel(Grid):
    """A grid model is a scenario in Mesa: for `mesa.batch_run`, SolaraViz or a loop of steps of your own.

    `step` until the end, `run_model` and `run` give the same jobs. They give the metrics that `gridtune run`
    prints for the same scenario, seed and values.

    Args:
        scenario: the name of a shipped scenario, the path of a TOML file, or a scenario that was loaded.
        seed: the seed of the experiment, non-negative; None, which some versions of Mesa hand in, means 1.
        replication: the index of the run under that seed, from 0. `iterations` of `mesa.batch_run` would
            repeat one run; `{"replication": range(10)}` makes ten different ones.
        rng: the same as `seed`, by the name that newer versions of Mesa give it.
        **kwargs: values to set in the scenario, by path with `__` for each dot: `client__n_submit=100`.
            `step_length` (s) says how far a step goes; with `math.inf` the first one goes to the end.

    Attributes:
        source: the scenario, with the values set.
        running: whether anything is left to happen.
        datacollector: a row for each step: `time` (s), `running`, every signal and every metric at its end;
            metrics of your own are nan until the run has ended. After `run`, one row.

    Raises:
        ScenarioError: there is no such scenario, or a value does not fit.

    Example:
        >>> import gridtune as gt
        >>> model = gt.GridModel("diet/day-regular", client__dispatch="legacy", step_length=10.0)
        >>> model.step()
        >>> model.now, len(model.agents) > 0
        (10.0, True)
        >>> model.run_model()
        >>> model.metrics["completed"].value > 0
        True
    """

    def __init__(
        self,
        scenario: str | Path | Scenario,
        seed: int | None = None,
        replication: int = 0,
        *,
        rng: int | None = None,
        **kwargs: Any,  # SolaraViz takes any parameter only where this one is called `kwargs`
    ) -> None:
        loaded = scenario if isinstance(scenario, Scenario) else load(scenario)
        self.source = loaded.override(by_path(**kwargs))
        spec = sized(self.source.active)
        super().__init__(
            _seed(seed, rng),
            _whole("replication", replication),
            step_length=spec.step_length,
            horizon=spec.horizon or inf,
            sample_period=spec.record.sample_period,
        )
        furnish(self, self.source, spec)
        self._summary: tuple[object, Summary] | None = None
        signals = {name: [value, []] for name, value in self.record.probes}
        metrics = {name: [partial(self._value, name), []] for name in measured(self)}
        self.datacollector = mesa.DataCollector({"time": "now", "running": "running", **signals, **metrics})

    def step(self) -> None:
        """Advance by one step length (s) and collect data; once the run has ended, do nothing.

        Example:
            >>> stepped = gt.GridModel("diet/day-regular", step_length=5.0)
            >>> stepped.step()
            >>> stepped.step()
            >>> stepped.now, len(stepped.datacollector.get_model_vars_dataframe())
            (10.0, 2)
        """
        if self.running:
            super().step()
            self.datacollector.collect(self)

    def run(self) -> None:
        """Run to the end without stopping at steps, and collect data once.

        Example:
            >>> whole = gt.GridModel("diet/day-regular", client__dispatch="legacy")
            >>> whole.run()
            >>> whole.metrics["completed"] == model.metrics["completed"]
            True
        """
        if self.running:
            super().run()
            self.datacollector.collect(self)

    @property
    def metrics(self) -> dict[str, Metric]:
        """Give the metrics by name (`value` and `unit`) as if the run ended now; your own once it has ended.

        Example:
            >>> model.metrics["waiting_mean"].unit
            's'
        """
        return self._summarised()[0]

    @property
    def users(self) -> dict[str, UserOutcome]:
        """Give the outcome of each user so far, by name: jobs, work (slot-seconds) and mean times (s).

        Example:
            >>> sum(user.completed for user in model.users.values()) == model.metrics["completed"].value
            True
        """
        return self._summarised()[1]

    def register_agent(self, agent: mesa.Agent) -> None:
        """Enter an agent and number it; Mesa calls this.

        Args:
            agent: the agent, which has just been made.

        Example:
            >>> import mesa
            >>> before = len(model.agents)
            >>> agent = mesa.Agent(model)
            >>> len(model.agents) - before
            1
        """
        super().register_agent(agent)
        counters: dict[mesa.Model, Any] | None = getattr(mesa.Agent, "_ids", None)
        if counters is not None:
            # Mesa before 3.4.2 numbers agents by a class dictionary that keeps every model for ever: nobody
            # closes what a batch run or a reset lets go of.
            del counters[self]
            self._agents_numbered = agent.unique_id = getattr(self, "_agents_numbered", 0) + 1

    def _value(self, name: str) -> float:
        known = self.metrics.get(name)
        return nan if known is None else known.value

    def _summarised(self) -> Summary:
        """Metrics and users, summed up once for each state of the grid."""
        state = (self.agenda.fired, self.now, self.running)
        if self._summary is None or self._summary[0] != state:
            how = self.source.spec.metrics
            summed = summarise(
                self, allocated=how.allocated, deserved=how.deserved, finished=not self.running
            )
            self._summary = state, summed
        return self._summary[1]


def _seed(seed: int | None, rng: int | None) -> int:
    """The seed that was meant."""
    if seed is not None and rng is not None:
        raise ScenarioError(f"seed={seed}, rng={rng}: both mean the seed; give one of them")
    chosen = seed if seed is not None else rng
    return 1 if chosen is None else _whole("seed", chosen)


def _whole(name: str, value: object) -> int:
    """A number that says which random numbers."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 0:
        raise ScenarioError(f"{name}: {value!r:.40} is no whole number from 0")
    return int(value)
