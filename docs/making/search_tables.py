"""Tables of what searches say and find: docs/method.md and docs/samplers.md."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import sqrt
from statistics import fmean, median, stdev
from typing import Any

BINS = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)
MATTERS = 0.02  # of the front's span: a loss that matters
DEFAULT = "tpe, 1 to 4 runs"


def calibration_table(rows: list[dict[str, Any]]) -> str:
    """What searches said and what came true, for each scenario."""
    keys = dict.fromkeys((row["arena"], row["budget"]) for row in rows)
    return "\n\n".join(
        _calibrated([row for row in rows if (row["arena"], row["budget"]) == key]) for key in keys
    )


def _calibrated(rows: list[dict[str, Any]]) -> str:
    first = rows[0]
    lines = [
        f"**{first['arena']}**, {len(rows)} searches of {first['budget']} points:",
        "",
        "| P said | points | on average | came true | by bootstrap: points | on average | came true |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for low, high in pairwise(BINS):
        cells = []
        for names in (("chances", "true"), ("bootstrap", "bootstrap_true")):
            pairs = [pair for row in rows for pair in zip(*(row[name] for name in names), strict=True)]
            inside = [(p, true) for p, true in pairs if low <= p and (p < high or high == BINS[-1])]
            cells.append(str(len(inside)))
            cells += [f"{fmean(column):.2f}" for column in zip(*inside, strict=True)] or ["", ""]
        lines.append(f"| {low:g} to {high:g} | {' | '.join(cells)} |")
    beaten = [loss for row in rows for loss in row["beaten"]]
    bad = sum(max(row["beaten"], default=0.0) > MATTERS for row in rows)
    kept = [row["kept"] for row in rows if "kept" in row]
    wider = 1 / median(row["narrower"] for row in rows)
    likely, members = "points that may be on the front", "members and today's setting"
    lines += [
        "",
        "| statement | came out |",
        "|---|---|",
        f"| 95 % intervals of differences between {likely} | {_shares(rows, 'covered')} |",
        f"| those of differences between {members} | {_shares(rows, 'today', 0)} |",
        f"| the same by paired t-tests, {wider:.1f} times as wide | {_shares(rows, 'today', 1)} |",
        f"| hypervolume claimed by points with P of .5 and more, over their true one "
        f"| {fmean(row['claimed'] for row in rows):.3f} |",
        f"| a recommended point is beaten by more than {MATTERS:.0%} of the front's span "
        f"| {bad} of {len(rows)} searches; {fmean(beaten):.2%} on average |",
    ]
    if kept:
        shown, right, all_ = (sum(column) for column in zip(*kept, strict=True))
        lines += [
            f"| points kept, of these on the true front | {shown}, {right} ({right / shown:.0%}) |",
            f"| validated points on the true front, of these kept | {all_}, {right} ({right / all_:.0%}) |",
        ]
    return "\n".join(lines)


def _shares(rows: list[dict[str, Any]], name: str, at: int | None = None) -> str:
    """Shares of intervals that hold the truth, by objective."""
    found = [row[name] if at is None else row[name][at] for row in rows]
    found = [one for one in found if isinstance(one, list)]
    return ", ".join(f"{fmean(column):.1%}" for column in zip(*found, strict=True))


def allocations_table(rows: list[dict[str, Any]]) -> str:
    """Plans of spending equal numbers of runs, the best first, for each scenario and number."""
    keys = {(row["arena"], row["runs"]) for row in rows}
    return "\n\n".join(
        "\n".join(_plans([row for row in rows if (row["arena"], row["runs"]) == key]))
        for key in sorted(keys, key=lambda key: (key[0] != "stand-in", key))
    )


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
