"""The table of docs/answers.md: whether recommendations of searches hold on new seeds."""

from __future__ import annotations

from statistics import median
from typing import Any


def held(rows: list[dict[str, Any]]) -> str:
    """A row for each recommendation: its changes, the gains that these keep, gains and harms as printed."""
    lines = [
        "| search | seed | recommendation | changes before | changes after | share of each gain | worse "
        "| new / printed gain | printed harms | of them again | others |",
        "|---|---:|---|---:|---:|---|---|---|---:|---:|---:|",
    ]
    for row in sorted(rows, key=lambda row: (row["search"], row["seed"])):
        head = f"| `{row['search']}` | {row['seed']} "
        if not row["recommendations"]:
            lines.append(f"{head}| none | | | | | | | | |")
        for one in row["recommendations"]:
            counts, kept = f"{one['changes in full']} | {one['changes']}", "| – | – |"
            if one["changes"] < one["changes in full"]:
                kept = f"| {_shares(one['kept'])} | {_names(one['worse'])} |"
            again = f"{_shares(one['again'])} | {one['harms']} | {one['harmed']} | {len(one['unsaid'])} |"
            lines.append(f"{head}| {one['letter']} | {counts} {kept} {again}")
    made = [one for row in rows for one in row["recommendations"]]
    gains = [share for one in made for share in one["again"].values()]
    harms, again = (sum(one[name] for one in made) for name in ("harms", "harmed"))
    lines += [
        "",
        f"Gains in new runs were {min(gains):.0%} to {max(gains):.0%} of the printed ones (median "
        f"{median(gains):.0%}). Of {harms} printed harms, {again} came again; "
        f"{sum(len(one['unsaid']) for one in made)} others were found.",
        "",
        "| new runs of each | printed, of what is worse by over a tenth | by over half | not worse by a "
        "twentieth, of what is printed |",
        "|---:|---:|---:|---:|",
        *map(_checks, zip(*(one["checks"] for one in made), strict=True)),
    ]
    return "\n".join(lines)


def _checks(found: tuple[dict[str, int], ...]) -> str:
    """A row on recommendations that are checked in so many runs."""
    all_of = {name: sum(one[name] for one in found) for name in found[0]}
    pairs = (("told", "true"), ("much told", "much"), ("wrong", "all told"))
    shares = (f"{all_of[part] / all_of[whole]:.1%}" for part, whole in pairs)
    return f"| {found[0]['replications']} | {' | '.join(shares)} |"


def _shares(found: dict[str, float]) -> str:
    return ", ".join(f"{share:.0%}" for share in found.values()) or "none significant"


def _names(found: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in found) or "–"
