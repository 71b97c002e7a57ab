"""What each knob trades in a federation: an optimum inside, or objectives that oppose.

    python -m tests.benchmarks.knobs --work /tmp/knobs --seconds 500     # runs what is missing
    python -m tests.benchmarks.knobs --work /tmp/knobs --show            # data and table in docs

Every value of a knob is run under the same replications. What is compared are differences of runs with common
random numbers, with their own standard errors. A difference counts beyond three of them.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from math import isfinite, sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np

from gridtune.model.metrics.registry import CLASS_METRICS, METRICS
from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.simulation.simulate import simulate
from tests.benchmarks.rows import file_of, rows_of

SCENARIO, VALUES, REPLICATIONS, SURE = "federation/deteriorating", 15, 30, 3.0
OBJECTIVES = (
    "failed_fraction", "completed_work", "best_effort_work", "meta_response_mean", "response_mean.local",
    "mandatory_failed.sdj", "missed_fraction", "wasted_work", "lease_idle", "unfairness_jain",
    "messages_per_task",
)  # fmt: skip
DOCS = Path(__file__).parents[2] / "docs"


class Knob(NamedTuple):
    """A parameter, its values in their order, what else must be set, where, and what is looked at."""

    path: str
    values: Sequence[Any]
    setting: dict[str, Any]
    ordered: bool = True
    scenario: str = SCENARIO
    objectives: Sequence[str] = OBJECTIVES


def _log(low: float, high: float) -> list[float]:
    return [float(f"{value:.4g}") for value in np.geomspace(low, high, VALUES)]


PULL = {"middleware.kind": "pull"}
KNOBS = {
    "availability epsilon": Knob("middleware.availability_epsilon", _log(0.05, 2.0), PULL),
    "update period": Knob("middleware.update_period", _log(10.0, 3600.0), {}),
    "share of short deadline jobs": Knob("site.orsay.vres.sdj", [k / 30 for k in range(1, 30, 2)], {}),
    "gain of the controller": Knob("harvester.controller.kp", _log(0.02, 5.0), {}),
    "poll period": Knob("middleware.poll_period", _log(10.0, 1800.0), PULL),
    "lease length": Knob("sed.sed.lease.length", _log(300.0, 14400.0), {}),
    "victims": Knob(
        "harvester.victims",
        ["youngest", "oldest", "least-lost", "scheduler"],
        {
            "site.lyon.named_nodes": True,
            "site.nancy.named_nodes": True,
            "harvester.controller.reference": 40.0,  # more than sites have slots: both campaigns wait there
        },
        ordered=False,
        scenario="federation/small",  # where no fault kills what they spare
        objectives=[*(name for name in OBJECTIVES if name != "lease_idle"), "campaign_unfairness"],
    ),
}


def measure(work: Path, seconds: float, only: Sequence[str], every: int, replications: int) -> None:
    """Run what is missing, replication by replication over all knobs, until the time is up.

    Args:
        work: where rows are kept.
        seconds: after which no run begins.
        only: knobs to turn; all if none is named.
        every: which of the values to run: each, every second, … from the first on.
        replications: of every value.
    """
    began = time.monotonic()
    work.mkdir(parents=True, exist_ok=True)
    known = {(row["knob"], str(row["value"]), row["replication"]) for row in _rows(work)}
    for replication in range(replications):
        for name, knob in KNOBS.items():
            for value in knob.values[::every] if not only or name in only else ():
                if (name, str(value), replication) in known:
                    continue
                if time.monotonic() - began > seconds:
                    return
                setting = knob.setting | {knob.path: value}
                run = simulate(load(knob.scenario).override(setting), 1, replication)
                made = {key: run.metrics[key].value for key in knob.objectives}
                row = {"knob": name, "value": value, "replication": replication, "metrics": made}
                with file_of(work, knob.scenario).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")


def _rows(work: Path) -> Iterator[dict[str, Any]]:
    """What has been run of all knobs."""
    for scenario in dict.fromkeys(knob.scenario for knob in KNOBS.values()):
        yield from rows_of(file_of(work, scenario))


def sign_of(metric: str) -> float:
    """1 if less of a metric is better, else -1; metrics by class are called NAME.CLASS."""
    name, _, kind = metric.partition(".")
    return 1.0 if (CLASS_METRICS if kind else METRICS)[name].direction == "minimize" else -1.0


def difference(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Mean of first minus second, run by run, and its standard error."""
    differences = [a - b for a, b in zip(first, second, strict=True)]
    return fmean(differences), stdev(differences) / sqrt(len(differences))


def better(metric: str, first: Sequence[float], second: Sequence[float]) -> float:
    """By how many standard errors the first values of a metric are better than the second."""
    mean, error = difference(first, second)
    return -sign_of(metric) * mean / error if error else 0.0


def judged(knob: Knob, runs: dict[str, dict[str, list[float]]]) -> dict[str, Any]:
    """What a knob trades.

    Args:
        knob: which.
        runs: of each value, as text, the values of each metric by replication.
    """
    values = [str(value) for value in knob.values]
    optima, prefers = {}, {}
    for metric in knob.objectives:
        made = {value: runs[value][metric] for value in values}
        if not all(isfinite(x) for column in made.values() for x in column):
            continue
        sign = sign_of(metric)
        best = min(values, key=lambda value: sign * fmean(made[value]))
        ends = values[0], values[-1]
        if knob.ordered and best not in ends:
            margin = min(better(metric, made[best], made[end]) for end in ends)
            if margin > SURE:
                optima[metric] = {"value": best, "margin": round(margin, 1)}
        prefers[metric] = made
    opposed = [
        {"first": one, "second": other, "values": [a, b], "margins": [round(x, 1), round(y, 1)]}
        for k, one in enumerate(prefers)
        for other in list(prefers)[k + 1 :]
        for a, b, x, y in _opposites(values, prefers[one], prefers[other], one, other)
    ]
    opposed.sort(key=lambda pair: -min(pair["margins"]))
    return {"optima": optima, "opposed": opposed[:3]}


def _opposites(
    values: Sequence[str], one: dict[str, list[float]], other: dict[str, list[float]], first: str, second: str
) -> Iterator[tuple[str, str, float, float]]:
    """The two values of which one objective surely prefers the former, another the latter, most surely."""
    found = [
        (a, b, better(first, one[a], one[b]), better(second, other[b], other[a]))
        for a in values
        for b in values
        if a != b
    ]
    if found:
        pair = max(found, key=lambda pair: min(pair[2:]))
        if min(pair[2:]) > SURE:
            yield pair


def summary(work: Path) -> dict[str, Any]:
    """Means, standard errors of differences to the first value, and the judgement, of every knob."""
    made: dict[str, dict[str, dict[str, dict[int, float]]]] = {}
    for row in _rows(work):
        columns = made.setdefault(row["knob"], {}).setdefault(str(row["value"]), {})
        for metric, value in row["metrics"].items():
            columns.setdefault(metric, {})[row["replication"]] = value
    data: dict[str, Any] = {"knobs": {}}
    for name, knob in KNOBS.items():
        found = made.get(name, {})
        each = [found.get(str(value), {}).get(knob.objectives[0], {}).keys() for value in knob.values]
        common = sorted(set.intersection(*map(set, each))) if all(each) else []
        if len(common) < 2:
            continue
        runs = {
            value: {metric: [columns[metric][k] for k in common] for metric in knob.objectives}
            for value, columns in found.items()
        }
        means = {
            value: {metric: float(f"{fmean(column):.5g}") for metric, column in columns.items()}
            for value, columns in runs.items()
        }
        data["knobs"][name] = {
            "scenario": knob.scenario,
            "path": knob.path,
            "replications": len(common),
            "means": {str(value): means[str(value)] for value in knob.values},
            "errors": {
                str(value): {
                    metric: float(f"{difference(column, runs[first][metric])[1]:.3g}")
                    for metric, column in runs[str(value)].items()
                    if all(map(isfinite, column))
                }
                for first in [str(knob.values[0])]
                for value in knob.values
            },
            **judged(knob, runs),
        }
    return data


def table(data: dict[str, Any]) -> str:
    """The page's table: what each knob trades."""
    lines = ["| knob | replications | best inside its range | objectives that oppose |", "|---|---:|---|---|"]
    for name, row in data["knobs"].items():
        optima = "; ".join(
            f"`{metric}` at {_brief(one['value'])} ({one['margin']} standard errors from the nearer end)"
            for metric, one in row["optima"].items()
        )
        opposed = "; ".join(
            f"`{one['first']}` prefers {_brief(one['values'][0])}, "
            f"`{one['second']}` {_brief(one['values'][1])} ({one['margins'][0]} and {one['margins'][1]})"
            for one in row["opposed"][:1]
        )
        cells = (name, str(row["replications"]), optima or "none", opposed or "none")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(data: dict[str, Any], path: Path) -> None:
    """A picture with a row per knob: what it does to the two objectives that it opposes, or moves most.

    Lines are mean differences to the first value of the knob, bands three of their standard errors.
    """
    import matplotlib.pyplot as plt
    import seaborn as sns

    sns.set_theme(style="whitegrid", font_scale=0.8)
    knobs = data["knobs"]
    figure, axes = plt.subplots(len(knobs), 2, figsize=(9, 2.1 * len(knobs)), squeeze=False)
    for row, (name, found) in zip(axes, knobs.items(), strict=True):
        ordered = KNOBS[name].ordered
        values = list(found["means"])
        places = [float(value) for value in values] if ordered else list(range(len(values)))
        for axis, metric in zip(row, _shown(found), strict=True):
            means = np.array([found["means"][value][metric] for value in values])
            bands = SURE * np.array([found["errors"][value][metric] for value in values])
            if ordered:
                axis.plot(places, means - means[0], marker=".")
                axis.fill_between(places, means - means[0] - bands, means - means[0] + bands, alpha=0.25)
                if places[-1] > 20 * places[0] > 0:
                    axis.set_xscale("log")
            else:
                axis.errorbar(places, means - means[0], yerr=bands, fmt="o", capsize=3)
                axis.set_xticks(places, values)
                axis.margins(x=0.15)
            axis.set_title(f"{metric} ({'less' if sign_of(metric) > 0 else 'more'} is better)", fontsize=9)
            axis.set_xlabel(name)
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    plt.close(figure)


def _shown(found: dict[str, Any]) -> list[str]:
    """The objectives that a knob opposes most surely; without any, the two that it moves most surely."""
    if found["opposed"]:
        return [found["opposed"][0]["first"], found["opposed"][0]["second"]]
    means, errors = list(found["means"].values()), list(found["errors"].values())
    moved = {
        metric: max(
            abs(row[metric] - means[0][metric]) / some[metric] if some.get(metric) else 0.0
            for row, some in zip(means[1:], errors[1:], strict=True)
        )
        for metric in means[0]
    }
    return sorted(moved, key=lambda metric: -moved[metric])[:2]


def _brief(value: str) -> str:
    try:
        return f"{float(value):.3g}"
    except ValueError:
        return f"`{value}`"


def show(work: Path) -> None:
    """Write data, the picture, and the table of the page; of knobs without rows what was known stays."""
    path = DOCS / "data" / "knobs.json"
    known = json.loads(path.read_text(encoding="utf-8"))["knobs"] if path.exists() else {}
    known |= summary(work)["knobs"]
    data = {"knobs": {name: known[name] for name in KNOBS if name in known}}
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    draw(data, DOCS / "figures" / "knobs.png")
    page = DOCS / "knobs.md"
    before, _, rest = page.read_text(encoding="utf-8").partition("<!-- knobs -->\n")
    _, _, after = rest.partition("<!-- end of knobs -->")
    page.write_text(f"{before}<!-- knobs -->\n{table(data)}\n<!-- end of knobs -->{after}", encoding="utf-8")


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=500.0)
    parser.add_argument("--knob", action="append", default=[], choices=KNOBS)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--replications", type=int, default=REPLICATIONS)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    if options.show:
        show(options.work)
    else:
        measure(options.work, options.seconds, options.knob, options.every, options.replications)


if __name__ == "__main__":
    main()
