"""Tables of docs/systems/batch.md: what calibration gives for real logs, and what a search finds on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import stats

BETTER = {"waiting_p95": "95 % waiting, s", "slowdown_mean": "slow-down"}
FAIR = {"slowdown_jain": "1 - Jain's index of users' slow-downs"}
MORE = {
    "slowdown_unfairness": "from the best to the worst user's slow-down",
    "slowdown_spread": "from the 10th to the 90th percentile of these",
    "waiting_mean": "mean waiting, s",
    "waiting_max": "longest waiting, s",
}
SHOWN = BETTER | FAIR | MORE
PLAIN = ("easy", "conservative")


def calibrated_table(rows: dict[str, Any]) -> str:
    """A block of rows for each log: the log, the calibrated site, plain EASY, persistence; then known."""
    made = {name: row for name, row in rows.items() if "made_by" in row}
    rows = {name: row for name, row in rows.items() if name not in made}
    lines = [
        "| log | | mean waiting | over the log's | error of starts | loss |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for name, row in rows.items():
        title = f"{name}, {row['jobs']:,} jobs"
        for tested in row["tested"]:
            what = f"`{'easy` on all nodes' if tested['what'].startswith('easy') else ''}"
            what = what if what != "`" else tested["what"]
            lines.append(
                f"| {title} | {what} | {tested['mean']:,.0f} s | {tested['ratio']:.3g} "
                f"| {tested['error']:,.0f} s | {tested['loss']:.2f} |"
            )
            title = ""
        fitted = row["fitted"]
        lines.append(
            f"| | calibrated, on the weeks fitted to | {fitted['mean']:,.0f} s | {fitted['ratio']:.3g} "
            f"| {fitted['error']:,.0f} s | {fitted['loss']:.2f} |"
        )
    lines.append("")
    for name, row in rows.items():
        settings = "; ".join(
            f"{path.removeprefix('site.cluster.')} {_plain(value)}" for path, value in row["values"].items()
        )
        ratios = row["ratios"]
        each = ""
        if len(ratios) > 1:
            mean = float(np.exp(np.mean(np.log(ratios))))
            each = f" Each log: {min(ratios):.2f} to {max(ratios):.2f} of its mean waiting, "
            each += f"geometric mean {mean:.3f}."
        lines.append(
            f"- {name} ({row['replays']} replays, {row['seconds']:.0f} s of CPU time): {settings}.{each}"
        )
    return "\n".join([*lines, *_known_settings(made)])


def _known_settings(rows: dict[str, Any]) -> Iterator[str]:
    """Logs that known settings made, and what was found."""
    if not rows:
        return
    yield ""
    yield "| made by | found | replays | error of starts, held back |"
    yield "|---|---|---:|---:|"
    for row in rows.values():
        calibrated = next(one for one in row["tested"] if one["what"] == "calibrated")
        made, found = (
            "; ".join(f"{path.removeprefix('site.cluster.')} {_plain(value)}" for path, value in some.items())
            for some in (row["made_by"], row["values"])
        )
        yield f"| {made} | {found} | {row['replays']} | {calibrated['error']:,.3g} s |"


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(str(part) if name == "kind" else f"{name} {part}" for name, part in value.items())
    if isinstance(value, list):
        return " and ".join(
            f"{times['longest'] / 3600:g} h from "
            + ", ".join(f"{begin:g} to {end:g}" for begin, end in times["hours"])
            for times in value
        )
    return f"{value:g}" if isinstance(value, float) else str(value)


def search_table(rows: list[dict[str, Any]]) -> str:
    """For each log the means on weeks not searched on, and paired differences with intervals."""
    lines = []
    for row in rows:
        runs = row["runs"]
        count = len(runs["easy"]["waiting_p95"])
        closer = f", jobs {row['compression']:g} times closer" if row["compression"] != 1 else ""
        lines += [
            f"{row['log'].removesuffix('.swf.gz')}{closer}: "
            f"{row['evaluated']} settings evaluated on even weeks, "
            f"{row['better']} of them with less waiting and slow-down than both plain policies; of the "
            f"{row['finalists']} of these that none beats in all, {row['as_fair'] or 'none'} no less fair on "
            f"further draws of even weeks; the one chosen, on {count} draws of odd weeks:",
            "",
            "| | chosen | `easy` | chosen - `easy` | less in | `conservative` "
            "| chosen - `conservative` | less in |",
            "|---|---:|---:|---:|---:|---:|---:|---:|",
        ]
        for name, title in SHOWN.items():
            cells = [title, _short(float(np.mean(runs["chosen"][name])))]
            for plain in PLAIN:
                cells += [
                    _short(float(np.mean(runs[plain][name]))),
                    _interval(runs["chosen"][name], runs[plain][name]),
                    str(sum(mine < other for mine, other in zip(*_both(runs, plain, name), strict=True))),
                ]
            lines.append(f"| {' | '.join(cells)} |")
        settings = "; ".join(
            f"`{path.rpartition('.')[2]}` {value:.3g}"
            if isinstance(value, float)
            else f"`{path.rpartition('.')[2]}` {value}"
            for path, value in row["chosen"].items()
        )
        even = row["searched"]
        unfairness = ", ".join(
            f"`{name}` {even[name]['slowdown_jain']:.3f}"
            if name in PLAIN
            else f"{even[name]['slowdown_jain']:.3f}"
            for name in ("chosen", *PLAIN)
        )
        lines += [
            "",
            f"Chosen: {settings}. On even weeks 1 - Jain's index was {unfairness}. {_verdict(runs)}",
            "",
        ]
    return "\n".join(lines).rstrip()


def _both(runs: dict[str, Any], plain: str, name: str) -> tuple[list[float], list[float]]:
    """A metric of the chosen setting and of a plain policy, by draw."""
    return runs["chosen"][name], runs[plain][name]


def _verdict(runs: dict[str, Any]) -> str:
    """What the intervals of all comparisons say together."""
    spans = {name: {plain: _span(*_both(runs, plain, name)) for plain in PLAIN} for name in SHOWN}
    better = [title for name, title in BETTER.items() if all(high < 0 for _, high in spans[name].values())]
    said = f"Better than both, intervals without 0: {', '.join(better) or 'nothing'}"
    for name, title in FAIR.items():
        more = [f"`{plain}`" for plain, (low, _) in spans[name].items() if low > 0]
        above = max(high / float(np.mean(runs[plain][name])) for plain, (_, high) in spans[name].items())
        what = f"at most {100 * above:.1f} % above either, intervals with 0"
        if more:
            what = f"more than under {' and '.join(more)}"
        elif above < 0:
            what = "less than under both"
        said += f"; {title}: {what}"
    return f"{said}."


def _span(mine: list[float], theirs: list[float]) -> tuple[float, float]:
    """The 95 % interval of the mean of paired differences (Student's t)."""
    values = np.array(mine) - np.array(theirs)
    reach = float(stats.t.ppf(0.975, len(values) - 1)) * float(values.std(ddof=1)) / len(values) ** 0.5
    return float(values.mean()) - reach, float(values.mean()) + reach


def _interval(mine: list[float], theirs: list[float]) -> str:
    """Mean of the differences and its interval."""
    low, high = _span(mine, theirs)
    return f"{_short((low + high) / 2)} [{_short(low)}, {_short(high)}]"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
