"""Tables of what searches say and find: docs/method.md, docs/samplers.md and docs/federation.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from math import floor, log10, sqrt
from statistics import fmean, median, stdev
from typing import Any

import moocore
from scipy.stats import ttest_1samp

from gridtune.model.metrics.registry import METRICS

BINS = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)
MATTERS = 0.02  # of the front's span: a loss that matters
DEFAULT = "surrogate, 1 to 2 runs"
ARENAS = ("stand-in", "egee-sites", "dirac-wide")
SEEDS = {"1 to 10": range(1, 11), "11 to 20": range(11, 21)}  # looked at while it was made, and not
FULL, HALF = 300, 150  # runs
GAINS = (  # what is compared with the default: its name, its plan, and the runs of the default
    ("than the default as it was before: `tpe`, one to four runs", "tpe, 1 to 4 runs, 5 fresh", FULL),
    ("than the best plain one: `tpe`, one run, the rest for the front", "tpe, 1 run, 12 fresh", FULL),
    ("with half of the runs, than the default before with all", "tpe, 1 to 4 runs, 5 fresh", HALF),
)


def calibration_table(rows: list[dict[str, Any]]) -> str:
    """What searches said and what came true, for each scenario."""
    keys = dict.fromkeys((row["arena"], row["budget"]) for row in rows)
    return "\n\n".join(
        _calibrated([row for row in rows if (row["arena"], row["budget"]) == key]) for key in keys
    )


def _calibrated(rows: list[dict[str, Any]]) -> str:
    first = rows[0]
    lines = [
        f"**{first['arena']}**, {len(rows)} searches of {first['budget']} configurations:",
        "",
        "| P stated | configurations | mean | true | by bootstrap: configurations | mean | true |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for low, high in pairwise(BINS):
        cells = []
        for said, came in (("chances", "true"), ("bootstrap", "bootstrap_true")):
            inside = [
                [(p, true) for p, true in zip(row[said], row[came], strict=True) if _within(p, low, high)]
                for row in rows
            ]
            every = [pair for pairs in inside for pair in pairs]
            cells += [
                str(len(every)),
                *([f"{fmean(p for p, _ in every):.2f}", _share(inside)] if every else ["", ""]),
            ]
        lines.append(f"| {low:g} to {high:g} | {' | '.join(cells)} |")
    beaten = [loss for row in rows for loss in row["beaten"]]
    bad = sum(max(row["beaten"], default=0.0) > MATTERS for row in rows)
    kept = [row["kept"] for row in rows if "kept" in row]
    wider = 1 / median(row["narrower"] for row in rows)
    likely, members = "configurations that may be on the front", "members and the baseline"
    lines += [
        "",
        "| statement | came out |",
        "|---|---|",
        f"| 95 % intervals of differences between {likely} | {_shares(rows, 'covered')} |",
        f"| those of differences between {members} | {_shares(rows, 'baseline', 0)} |",
        f"| the same by paired t-tests, {wider:.1f} times as wide | {_shares(rows, 'baseline', 1)} |",
        f"| hypervolume claimed by configurations with P of .5 and more, over their true one "
        f"| {fmean(row['claimed'] for row in rows):.3f} |",
        f"| a recommended configuration is beaten by more than {MATTERS:.0%} of the front's span "
        f"| {bad} of {len(rows)} searches; {fmean(beaten):.2%} on average |",
    ]
    if kept:
        shown, right, all_ = (sum(column) for column in zip(*kept, strict=True))
        lines += [
            f"| configurations kept, of these on the true front | {shown}, {right} ({right / shown:.0%}) |",
            f"| validated on the true front, of these on the front | {all_}, {right} ({right / all_:.0%}) |",
        ]
    return "\n".join(lines)


def _within(p: float, low: float, high: float) -> bool:
    return low <= p and (p < high or high == BINS[-1])


def _share(inside: list[list[tuple[float, int]]]) -> str:
    """The true share with its standard error: configurations of one search are not independent."""
    every = sum(map(len, inside))
    share = sum(true for pairs in inside for _, true in pairs) / every
    off = [sum(true - share for _, true in pairs) for pairs in inside]
    return f"{share:.2f} ± {sum(one**2 for one in off) ** 0.5 / every:.2f}"


def _shares(rows: list[dict[str, Any]], name: str, at: int | None = None) -> str:
    """Shares of intervals that hold the truth, by objective, with the standard error over the searches."""
    found = [row[name] if at is None else row[name][at] for row in rows]
    found = [one for one in found if isinstance(one, list)]
    return ", ".join(
        f"{fmean(column):.1%} ± {stdev(column) / len(column) ** 0.5:.1%}"
        for column in zip(*found, strict=True)
    )


def allocations_table(rows: list[dict[str, Any]]) -> str:
    """Plans of spending equal numbers of runs, the best first, for each scenario and number."""
    keys = {(row["arena"], row["runs"]) for row in rows}
    return "\n\n".join(
        "\n".join(_plans([row for row in rows if (row["arena"], row["runs"]) == key]))
        for key in sorted(keys, key=lambda key: (key[0] != "stand-in", key))
    )


def gains_table(rows: list[dict[str, Any]]) -> str:
    """How much more true hypervolume the default leaves than other plans, paired by seed."""
    quality = {(row["arena"], row["runs"], row["plan"], row["seed"]): row["quality"] for row in rows}
    lines = [
        f"| true hypervolume, in % | seeds | {' | '.join(ARENAS)} | mean |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for name, plan, runs in GAINS:
        for label, seeds in SEEDS.items():
            cells, means = [], []
            for arena in ARENAS:
                other = [quality[arena, FULL, plan, seed] for seed in seeds]
                ours = [quality[arena, runs, DEFAULT, seed] for seed in seeds]
                more = [100 * (a - b) / fmean(other) for a, b in zip(ours, other, strict=True)]
                means.append(fmean(more))
                cells.append(f"{means[-1]:+.1f} ± {stdev(more) / sqrt(len(more)):.1f}")
            lines.append(f"| {name} | {label} | {' | '.join(cells)} | {fmean(means):+.1f} |")
    return "\n".join(lines)


def _plans(rows: list[dict[str, Any]]) -> Iterable[str]:
    first = rows[0]
    named = f"{first['arena']}, {first['runs']:,} runs"
    titles = (named, "searches", "points", "true hypervolume", "more than the default, paired")
    titles += ("claimed over true", "kept", "of these right", "CPU s")
    yield f"| {' | '.join(titles)} |"
    yield f"|---|{'---:|' * 8}"
    names = dict.fromkeys(row["plan"] for row in rows)
    plans = {plan: [row for row in rows if row["plan"] == plan] for plan in names}
    usual = {row["seed"]: row["quality"] for row in plans.get(DEFAULT, ())}
    for plan, known in sorted(plans.items(), key=lambda item: -_mean(item[1], "quality")):
        gaps = [row["quality"] - usual[row["seed"]] for row in known if row["seed"] in usual]
        cells = (
            plan,
            str(len(known)),
            f"{_mean(known, 'points'):.0f}",
            _with_error([row["quality"] for row in known]),
            "" if plan == DEFAULT else _with_error(gaps, "+"),
            f"{fmean(row['claimed'] / row['quality'] for row in known):.2f}",
            f"{_mean(known, 'kept'):.0f}",
            f"{_mean(known, 'right'):.0%}",
            f"{_mean(known, 'seconds'):.0f}",
        )
        yield f"| {' | '.join(cells)} |"


def _with_error(values: list[float], sign: str = "") -> str:
    """Mean and standard error."""
    if not values:
        return ""
    error = f" ± {stdev(values) / sqrt(len(values)):.3f}" if values[1:] else ""
    return f"{fmean(values):{sign}.3f}{error}"


def _mean(rows: list[dict[str, Any]], name: str) -> float:
    return fmean(row[name] for row in rows)


def fronts_table(data: dict[str, Any]) -> str:
    """What fronts of a federation are worth on replications of their own, beside the papers' settings."""
    if not data:
        return ""
    names, papers = data["objectives"], data["papers"]
    baseline = _means([papers["baseline"]], names)[0]
    fronts = [(row, _means(row["objectives"], names)) for row in data["fronts"]]
    settings = _means([runs for name, runs in papers.items() if name != "baseline"], names)
    volume = _volume([one for _, configurations in fronts for one in configurations] + settings)
    ranges = " | ".join(f"range of `{name}`" for name in names)
    lines = [
        f"| seed | sampler | runs | configurations | distinct | middleware | {ranges} | hypervolume |",
        f"|---|---|---:|---:|---:|---|{'---:|' * len(names)}---:|",
    ]
    for row, configurations in fronts:
        wide = [
            f"{(max(column) - min(column)) / abs(base):.0%}"
            for column, base in zip(zip(*configurations, strict=True), baseline, strict=True)
        ]
        cells = (
            str(row["seed"]), row["sampler"], f"{row['runs']:,}", str(len(configurations)),
            str(_distinct(row["objectives"], names)), ", ".join(_kinds(row["front"])), *wide,
            f"{volume(configurations):.3f}",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    empty = " | ".join([""] * (4 + len(names)))
    lines.append(f"| | settings of the papers | {empty} | {volume(settings):.3f} |")
    return "\n".join(lines)


def chances_table(data: dict[str, Any]) -> str:
    """How many configurations of each front have each category."""
    if not data:
        return ""
    rows = [row for row in data["fronts"] if row["sampler"] != "random"]
    seeds = " | ".join(f"seed {row['seed']}" for row in rows)
    lines = [
        f"| parameter | category | {seeds} |",
        f"|---|---|{'---:|' * len(rows)}",
    ]
    for path in ("middleware.kind", "harvester.controller", "client.dispatch"):
        for kind in sorted({str(one[path]) for row in rows for one in row["front"]}):
            counts = (str(sum(str(one[path]) == kind for one in row["front"])) for row in rows)
            lines.append(f"| `{path}` | {kind} | {' | '.join(counts)} |")
    return "\n".join(lines)


def _means(configurations: Iterable[dict[str, list[float]]], names: list[str]) -> list[list[float]]:
    """Mean objectives of configurations, to be minimised."""
    signs = [1.0 if METRICS[name].direction == "minimize" else -1.0 for name in names]
    return [
        [sign * fmean(runs[name]) for sign, name in zip(signs, names, strict=True)] for runs in configurations
    ]


def _volume(every: list[list[float]]) -> Callable[[list[list[float]]], float]:
    """The hypervolume of configurations in the box of all, as a share of that box."""
    columns = list(zip(*every, strict=True))
    worst, width = [max(column) for column in columns], [max(column) - min(column) for column in columns]

    def volume(configurations: list[list[float]]) -> float:
        scaled = [
            [(x - far) / wide for x, far, wide in zip(one, worst, width, strict=True)]
            for one in configurations
        ]
        return float(moocore.hypervolume(scaled, ref=[0.0] * len(worst)))

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
    """Means and standard errors of what a setting changes."""
    names = EFFECTS[effect]
    path = next(iter(data[effect][-1]["setting"]))
    lines = [f"| `{path}` | {' | '.join(f'`{name}`' for name in names)} |", f"|---|{'---:|' * len(names)}"]
    for row in data[effect]:
        cells = [_measured(*row["metrics"][name]) for name in names]
        value = row["setting"].get(path, True)
        shown = str(value).lower() if isinstance(value, bool | str) else f"{value:g}"
        lines.append(f"| {shown} | {' | '.join(cells)} |")
    return "\n".join(lines)


def parts_table(data: dict[str, Any], scenario: str) -> str:
    """Of each part switched off, the least share of the jobs of each other part that move, over all seeds."""
    seeds = list(data[scenario].values())
    parts = list(seeds[0])
    title = f"off in `{scenario}`, {len(seeds)} seed{'s' * (len(seeds) > 1)}"
    lines = [
        f"| {title} | {' | '.join(f'`{part}`' for part in parts)} |",
        f"|---|{'---:|' * len(parts)}",
    ]
    for off in parts:
        cells = []
        for part in parts:
            counts = [seed[off][part] for seed in seeds] if part != off else []
            least = min(counts, key=lambda count: count[0] / count[1], default=None)
            cells.append(f"{least[0]:,} of {least[1]:,}" if least else "")
        lines.append(f"| `{off}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def _measured(mean: float, error: float) -> str:
    """Mean and standard error, both to two digits of the error."""
    places = 1 - floor(log10(error)) if error > 0 else 3
    return f"{round(mean, places):,.{max(places, 0)}f} ± {round(error, places):,.{max(places, 0)}f}"
