"""RR-7959: the experiments of DIET-ethic, their figures 4 to 9 and their claims."""

from __future__ import annotations

from functools import partial

from gridtune.scenarios.reproduction.claims import Experiment, Paper
from gridtune.scenarios.reproduction.diet.day import irregular, regular
from gridtune.scenarios.reproduction.diet.night import consecutive, simultaneous
from gridtune.scenarios.reproduction.diet.scalability import overhead, scalability

PAPER = Paper(
    "diet",
    "DIET-ethic: fair scheduling of optional computations in GridRPC middleware (RR-7959)",
    (
        Experiment("night-simultaneous", "Night-time simultaneous submissions", simultaneous),
        Experiment("night-consecutive", "Night-time consecutive submissions", consecutive),
        Experiment("day-regular", "Day-time submissions, regular arrivals", regular),
        Experiment(
            "day-irregular",
            "Day-time submissions, irregular arrivals",
            partial(irregular, name="day-irregular", figure="figure-7", number=7),
        ),
        Experiment(
            "day-irregular-random",
            "Irregular arrivals and random execution times",
            partial(irregular, name="day-irregular-random", figure="figure-8", number=8),
        ),
        Experiment("scalability", "138 servers and 100 clients", scalability),
        Experiment("overhead", "CPU time of middleware over the three phases", overhead),
    ),
)
