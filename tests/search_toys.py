"""A fast stand-in for the simulator, trading three metrics off, with noise common to all configurations."""

from __future__ import annotations

import os
import signal
import sys
import time
import zlib
from dataclasses import replace
from math import log, nan
from pathlib import Path

import numpy as np

from gridtune.model.metrics.registry import Metric
from gridtune.optimize.search import search
from gridtune.optimize.search_space.space import key
from gridtune.scenarios import load

VARY = ["sed.speed=0.5:2.0:log"]
SAMPLERS = ["random", "tpe", "nsga2", "nsga3", "pymoo-nsga2"]


def toy(task):
    """Legacy clients trade completed work for unfairness, ethic ones are in between."""
    values = task.values
    noise = np.random.default_rng([task.seed, task.replication]).normal(0, 0.01)
    speed = log(values["sed.speed"], 2)
    if values["client.dispatch"] == "legacy":
        share = log(values["client.n_submit"] / 3) / log(1000 / 3)
        unhappy, unfair, completed = 10 * (1 - share), 3 * share, 500 + 1000 * share
    else:
        distance = abs(values["client.dispatch.window"] - 4)
        unhappy, unfair, completed = distance + 2, 0.4 + 0.1 * distance, 1000
    return {
        "unhappy_users": Metric(max(0.0, unhappy - speed + noise), "users"),
        "unfairness": Metric(unfair + speed**2 + noise, ""),
        "completed": Metric(completed * (1 + 0.1 * speed), "jobs"),
        "waiting_mean": Metric(nan if task.replication else 1.0, "s"),
        "seen_replication": Metric(float(task.replication), ""),
    }


def noisy(task, scale=1.0):
    """The toy with noise of each configuration's own beside the common one."""
    metrics = toy(task)
    own = zlib.crc32(key(task.values).encode())
    draw = np.random.default_rng([own, task.seed, task.replication])
    return metrics | {
        "unhappy_users": Metric(metrics["unhappy_users"].value + draw.normal(0, 0.1 * scale), "users"),
        "unfairness": Metric(metrics["unfairness"].value + draw.normal(0, 0.03 * scale), ""),
    }


def busy_toy(task):
    """The noisy toy, where scenarios whose name says so are busy: less is completed, and more unfairly."""
    metrics = noisy(task)
    if "=" in task.scenario.name:
        unfair, completed = metrics["unfairness"].value, metrics["completed"].value
        distance = abs(task.values.get("client.dispatch.window", 4) - 6)
        metrics["unfairness"] = Metric(0.5 * unfair + 0.2 * distance, "")
        metrics["completed"] = Metric(0.5 * completed, "jobs")
    return metrics


def toy_with_baseline(task, scale=1.0):
    """The noisy toy, which knows the baseline: ethic clients, window 1, speed 1."""
    baseline = {"client.dispatch": "ethic", "client.dispatch.window": 1, "sed.speed": 1.0}
    return noisy(replace(task, values=task.values or baseline), scale)


class Interrupting:
    """Some work, until Ctrl-C comes."""

    def __init__(self, calls, work):
        self.calls, self.work = calls, work

    def __call__(self, task):
        self.calls -= 1
        if self.calls < 0:
            raise KeyboardInterrupt
        return self.work(task)


def forget_checksums(study):
    """Let a study be as one from before there were checksums, as far as its settings go."""
    new = {"identity", "check", "study"}
    settings = study.user_attrs["gridtune"]
    study.set_user_attr("gridtune", {name: part for name, part in settings.items() if name not in new})


def slow_toy(task):
    """Leave time to be killed."""
    time.sleep(float(os.environ.get("TOY_PAUSE", "0.02")))
    return toy(task)


def sometimes_failing(task):
    """Raise for some configurations, give no number for others."""
    window = task.values.get("client.dispatch.window", 0)
    if window == 3:
        raise RuntimeError("no such\nwindow")
    metrics = toy(task)
    if window == 5 and task.replication == 1:
        metrics["unfairness"] = Metric(nan, "")
    return metrics


def deadly(task):
    """Kill the worker process, once."""
    marker = Path(os.environ["TOY_MARKER"])
    if task.values["client.dispatch"] == "legacy" and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return toy(task)


def main() -> None:
    """Search slowly, to be interrupted; what was found goes to a directory or a storage."""
    where, sampler = sys.argv[1:3]
    place = {"storage": where} if "://" in where else {"out": Path(where)}
    try:
        search(
            load("diet/day-regular"),
            budget=60,
            sampler=sampler,
            vary=VARY,
            jobs=2,
            work=slow_toy,
            **place,
        )
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
