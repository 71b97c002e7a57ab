"""RR-5335: the experiments of deadline scheduling with priority, figures 2 to 4 and their claims."""

from __future__ import annotations

from functools import partial

from gridtune.scenarios.reproduction.claims import (
    Experiment,
    Paper,
)
from gridtune.scenarios.reproduction.deadline.agents import agents
from gridtune.scenarios.reproduction.deadline.example import example
from gridtune.scenarios.reproduction.deadline.fallback import (
    limits,
    priorities,
    with_priority,
    without_priority,
)
from gridtune.scenarios.reproduction.deadline.forecasts import forecast_error

PAPER = Paper(
    "deadline",
    "Deadline scheduling with priority for client-server systems on the Grid (RR-5335)",
    (
        Experiment("example", "Five tasks on three servers", example),
        Experiment("fig3", "Equal and random priorities", priorities),
        Experiment("fig4a", "Fallback among equal priorities", without_priority),
        Experiment(
            "fig4b",
            "Fallback among random priorities",
            partial(with_priority, name="fig4b", part="b", tasks="with all sizes"),
        ),
        Experiment(
            "fig4c",
            "Fallback among short tasks",
            partial(with_priority, name="fig4c", part="c", tasks="with tasks below 15 min"),
        ),
        Experiment(
            "fig4d",
            "Fallback among long tasks",
            partial(with_priority, name="fig4d", part="d", tasks="with tasks above 4 h"),
        ),
        Experiment("limits", "Where fallback does harm", limits),
        Experiment("agents", "Several agents, load correction and fallback", agents),
        Experiment("forecast-error", "Wrong forecasts and their correction", forecast_error),
    ),
)
