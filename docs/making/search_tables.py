"""Tables of what searches find: docs/federation.md and docs/four-parameters.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import floor, log10
from statistics import fmean
from textwrap import fill
from typing import Any

import moocore
from scipy.stats import ttest_1samp

from gridtune.model.metrics.registry import METRICS
from gridtune.scenarios.execution.replicate import Summary

FAMILIES = {  # the four parameters, by the end of their paths
    "epsilon": "availability_epsilon", "update period": "update_period", "share": "vres.sdj", "gain": ".kp",
}  # fmt: skip


def fronts_table(data: dict[str, Any]) -> str:
    """Estimated means of a federation's fronts on validation seeds, beside the papers' settings."""
    if not data:
        return ""
    names = data["objectives"]
    baseline = _means([data["papers"]["baseline"]], names)[0]
    fronts, settings, volume, better = _in_one_box(data)
    ranges = " | ".join(f"range of `{name}`" for name in names)
    lines = [
        f"| seed | configurations | distinct | middleware | {ranges} | hypervolume | better volume |",
        f"|---|---:|---:|---|{'---:|' * len(names)}---:|---:|",
    ]
    random = {row["seed"]: front for row, front in fronts if row["sampler"] == "random"}
    for row, configurations in fronts:
        if row["sampler"] == "random":
            continue
        wide = [
            f"{(max(column) - min(column)) / abs(base):.0%}"
            for column, base in zip(zip(*configurations, strict=True), baseline, strict=True)
        ]
        cells = (
            str(row["seed"]), str(len(configurations)),
            str(_distinct(row["objectives"], names)), ", ".join(_kinds(row["front"])), *wide,
            *(
                f"{one(configurations):.3f}" + (f" ({one(random[row['seed']]):.3f})" if random else "")
                for one in (volume, better)
            ),
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    empty = " | ".join([""] * (3 + len(names)))
    lines.append(f"| papers' settings | {empty} | {volume(settings):.3f} | {better(settings):.3f} |")
    return "\n".join(lines)


def volumes_text(data: dict[str, Any]) -> str:
    """By how much the default sampler's fronts exceed those of random search, and what is on them."""
    fronts, _, volume, better = _in_one_box(data)

    def beyond(measure: Volume) -> str:
        auto, other = (
            {row["seed"]: measure(front) for row, front in fronts if row["sampler"] == sampler}
            for sampler in ("auto", "random")
        )
        gap = Summary.of([auto[seed] - other[seed] for seed in auto])
        ratio = fmean(auto.values()) / fmean(other.values())
        return f"by {gap.mean:.3f} ± {gap.standard_error:.3f} (ratio {ratio:.2f})"

    every = [
        (one["middleware.kind"], mean)
        for row, means in fronts
        for one, mean in zip(row["front"], means, strict=True)
    ]
    kinds = [one["middleware.kind"] for row, _ in fronts if row["sampler"] == "auto" for one in row["front"]]
    pilots = [mean for kind, mean in every if kind == "pilot"]
    others = [mean for kind, mean in every if kind != "pilot"]
    dominated = sum(any(_dominates(one, other) for one in pilots) for other in others)
    advice = [paths for row, _ in fronts if row["sampler"] == "auto" for paths in row["recommended"]]
    families = ", ".join(
        f"{name} {sum(any(path.endswith(end) for path in paths) for paths in advice)}"
        for name, end in FAMILIES.items()
    )
    said = (
        f"`auto` exceeds random search {beyond(better)} in better volume, and {beyond(volume)} in "
        "hypervolume. (Means over seeds, ± standard errors, paired by seed.) "
        f"Of the {len(kinds)} configurations on its fronts, {kinds.count('pilot')} use pilots. Of the "
        f"{len(others)} on all ten fronts that use push or pull, {dominated} are dominated by one with "
        f"pilots. How many of its {len(advice)} recommendations change each of the "
        f"[four parameters](four-parameters.md): {families}."
    )
    return fill(said, 150)


def _dominates(one: list[float], other: list[float]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


Fronts = list[tuple[dict[str, Any], list[list[float]]]]
Volume = Callable[[list[list[float]]], float]


def _in_one_box(data: dict[str, Any]) -> tuple[Fronts, list[list[float]], Volume, Volume]:
    """Each front with its means, the means of the papers' settings, and two hypervolumes.

    Both are shares of a box from the best values of all: one to the worst of all, one to the baseline's.
    """
    names = data["objectives"]
    fronts = [(row, _means(row["objectives"], names)) for row in data["fronts"]]
    settings = _means([runs for name, runs in data["papers"].items() if name != "baseline"], names)
    (baseline,) = _means([data["papers"]["baseline"]], names)
    every = [one for _, front in fronts for one in front] + settings
    worst = [max(column) for column in zip(*every, strict=True)]
    return fronts, settings, _volume(every, worst), _volume(every, baseline)


def _means(configurations: Iterable[dict[str, list[float]]], names: list[str]) -> list[list[float]]:
    """Mean objectives of configurations, to be minimised."""
    signs = [1.0 if METRICS[name].direction == "minimize" else -1.0 for name in names]
    return [
        [sign * fmean(runs[name]) for sign, name in zip(signs, names, strict=True)] for runs in configurations
    ]


def _volume(every: list[list[float]], worst: list[float]) -> Volume:
    """The hypervolume of configurations, as a share of the box from the best values of all to `worst`."""
    width = [far - min(column) for column, far in zip(zip(*every, strict=True), worst, strict=True)]

    def volume(configurations: list[list[float]]) -> float:
        scaled = [
            [(x - far) / wide for x, far, wide in zip(one, worst, width, strict=True)]
            for one in configurations
            if all(x < far for x, far in zip(one, worst, strict=True))
        ]
        return float(moocore.hypervolume(scaled, ref=[0.0] * len(worst))) if scaled else 0.0

    return volume


def _distinct(configurations: list[dict[str, list[float]]], names: list[str]) -> int:
    """How many, taken in turn, differ significantly in two objectives from all taken before."""
    taken: list[dict[str, list[float]]] = []
    for runs in configurations:
        if all(sum(_differs(runs[name], other[name]) for name in names) >= 2 for other in taken):
            taken.append(runs)
    return len(taken)


def _differs(one: list[float], other: list[float]) -> bool:
    """Whether means differ at 95 %, paired by replication (Student's t)."""
    gaps = [a - b for a, b in zip(one, other, strict=True)]
    return any(gap != gaps[0] for gap in gaps) and bool(ttest_1samp(gaps, 0.0).pvalue < 0.05)


def _kinds(front: list[dict[str, Any]]) -> list[str]:
    return sorted({str(one["middleware.kind"]) for one in front})


def four_parameters_table(data: dict[str, Any]) -> str:
    """What each of the four parameters trades in the federation."""
    lines = [
        "| parameter | replications | best inside the range | two objectives that oppose |",
        "|---|---:|---|---|",
    ]
    for row in data.values():
        if row["scenario"] != "federation/small":
            continue
        best = "; ".join(
            f"`{metric}` at {one['value']:.3g} ({one['margin']:.1f})" for metric, one in row["optima"].items()
        )
        pair = "; ".join(
            " and ".join(
                f"`{metric}` at {value:.3g} ({margin:.1f})"
                for metric, value, margin in zip(
                    one["objectives"], one["values"], one["margins"], strict=True
                )
            )
            for one in row["opposed"][:1]
        )
        cells = (row["parameter"], str(row["replications"]), best or "none", pair or "none")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


EFFECTS = {
    "kinds": ("killed", "best_effort_work", "meta_response_mean"),
    "shares": ("sdj_failed", "unhappy_users.local", "best_effort_work", "meta_response_mean"),
    "references": ("best_effort_work", "premium_slowdown", "failed_fraction", "unfairness_jain"),
    "lent": ("premium_slowdown", "unhappy_users.local", "best_effort_work"),
    "caches": ("cache_hits", "cache_misses", "staging_mean", "meta_response_mean"),
}


def effect_table(data: dict[str, Any], effect: str) -> str:
    """Means by setting and, from the second row on, differences from the first with standard errors."""
    names = EFFECTS[effect]
    path = next(iter(data[effect][-1]["setting"]))
    lines = [f"| `{path}` | {' | '.join(f'`{name}`' for name in names)} |", f"|---|{'---:|' * len(names)}"]
    for row in data[effect]:
        first = data[effect][0]["metrics"] if row is not data[effect][0] else {}
        cells = [_beside(row["metrics"][name], first.get(name)) for name in names]
        value = row["setting"].get(path, True)
        shown = str(value).lower() if isinstance(value, bool | str) else f"{value:g}"
        lines.append(f"| {shown} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _beside(runs: list[float], first: list[float] | None) -> str:
    """The mean and the paired difference from the first row ± its standard error, where there is one.

    All to two digits of the error: of the difference or, in the first row, of the mean.
    """
    gap = Summary.of([value - other for value, other in zip(runs, first or [0.0] * len(runs), strict=True)])
    error = gap.standard_error or 0.0
    places = 1 - floor(log10(error)) if error > 0 else 3

    def shown(number: float, sign: str = "") -> str:
        return f"{round(number, places):{sign},.{max(places, 0)}f}"

    change = "" if first is None else f" ({shown(gap.mean, '+')} ± {shown(error)})"
    return f"{shown(fmean(runs))}{change}"
