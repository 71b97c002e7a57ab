"""The page on metrics, written from the registry of them and one run."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isfinite
from typing import Any

from reference_text import row, sentence

import gridtune.scenarios.systems.registry  # noqa: F401 - importing the systems defines their metrics
from gridtune.model.metrics import registry as known
from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.simulation.simulate import simulate

SHOWN, SHOWN_CLASS = "federation/small", "sdj"  # a run that shows a value of most metrics


def metrics() -> Iterator[str]:
    """Every metric with its unit, the values that it may have, and one of them."""
    run = simulate(load(SHOWN)).metrics
    classes = {f"{name}.{SHOWN_CLASS}": one for name, one in known.CLASS_METRICS.items()}
    sizes = {f"{name}.{size}": one for size in known.SIZES for name, one in known.SIZE_METRICS.items()}
    queues = {
        f"{name}.{kind}NAME": one for kind in known.LOGGED for name, one in known.LOGGED_METRICS.items()
    }
    listed = {*known.ALWAYS, *known.HARM_METRICS}
    others = {name: one for name, one in known.METRICS.items() if name not in listed and "." not in name}
    yield "# Metrics\n"
    yield "[Users and metrics](../metrics.md) defines the metrics that have no obvious meaning. `gridtune run"
    yield "SCENARIO --all` prints those that a scenario has. All of them can be objectives of a search:\n"
    yield '```toml\n[search]\nobjectives = ["waiting_mean", "slowdown_mean.wide-long"]\n```\n'
    yield f"The column *example* has the value in a run of `{SHOWN}` with seed 1. A dash means that this run"
    yield "has no such value. Every number may also be missing (`null` in JSON) where nothing was measured."
    for title, text, table in (
        ("Every run", "These metrics exist in every scenario.", {n: known.METRICS[n] for n in known.ALWAYS}),
        ("Classes of jobs", CLASS_TEXT, classes),
        ("Sizes of jobs", "Scenarios with batch sites have these metrics of mandatory jobs.", sizes),
        ("Longest waits", HARM_TEXT, {**known.HARM_METRICS, **queues}),
        ("Components", "These metrics exist where a scenario has the component that they are about.", others),
    ):
        yield f"\n## {title}\n\n{text}\n\n| metric | unit | better | range | example | meaning |"
        yield "|---|---|---|---|---|---|"
        for name, one in table.items():
            better = "less" if one.direction == "minimize" else "more"
            shown = _value(run[name].value) if name in run else "–"
            yield row(f"`{name}`", one.unit or "none", better, value_range(one), shown, sentence(one.meaning))


CLASS_TEXT = f"""A scenario with two or more classes of jobs has them all for each. The class is the `role`
of a workload. The table shows the names of the class `{SHOWN_CLASS}`. Another class stands behind the dot."""
HARM_TEXT = """Scenarios with batch sites have these metrics of mandatory jobs. The
[classes](../metrics.md#longest-waits) are those of the processors and of the run time of a job. Metrics of a
queue or QOS of a log cannot be objectives: guards and harms look at them."""


def value_range(definition: Any) -> str:
    """The values that a metric may have."""
    low, high = definition.within
    return f"≥ {low:g}" if high == inf else f"{low:g} to {high:g}"


def _value(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}" if isfinite(value) else "–"
