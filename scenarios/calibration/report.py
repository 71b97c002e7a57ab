"""What calibration found, in words, as JSON and as a scenario."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isinf
from statistics import geometric_mean
from typing import Any

from gridtune.plain_text import escaped
from gridtune.scenarios.calibration.fit import SITE, Calibration, described
from gridtune.scenarios.calibration.waits import Likeness
from gridtune.scenarios.document.scenario import shipped_text

QUOTA = f"{SITE}.quota.user_running"


def rows(found: Calibration) -> Iterator[dict[str, Any]]:
    """A row for the log, the calibrated site, plain EASY and persistence, on the weeks for testing."""
    yield {"what": "log", "mean": found.logged, "ratio": 1.0, "error": 0.0, "loss": 0.0}
    for what, likeness in (
        ("calibrated", found.best.tested),
        ("easy, all nodes", found.plain.tested),
        ("persistence", found.guessed),
    ):
        yield _row(what, likeness)


def _row(what: str, likeness: Likeness) -> dict[str, Any]:
    return {
        "what": what,
        "mean": likeness.mean,
        "ratio": likeness.ratio,
        "error": likeness.error,
        "loss": likeness.loss,
        **likeness.ratios,
    }


def report_lines(found: Calibration) -> Iterator[str]:
    """The report, a line each."""
    several = len(found.traces) > 1
    sizes = " and ".join(f"{size:,}" for size in sorted(set(found.nodes)))
    what, chosen, shown = found.traces[0], "even weeks", "odd ones"
    if several:
        what, chosen, shown = f"{found.parts} logs", "every other log", "the others"
    if not found.said:
        sizes += " (the most that were in use at once)"
    yield (
        f"{what}: {found.jobs:,} jobs{'' if several else f' in {found.parts} weeks'} on {sizes} processors; "
        f"{found.runs} replays, chosen on {chosen}, shown on {shown}."
    )
    yield f"calibrated: {described(found.values)}"
    yield f"{'':17}{'mean wait':>11}{'ratio':>8}{'error of starts':>17}{'loss':>8}"
    for row in rows(found):
        error = f"{row['error']:15,.0f} s"
        yield f"{row['what']:17}{row['mean']:9,.0f} s{row['ratio']:8.2f}{error}{row['loss']:8.2f}"
    ratios = ", ".join(f"{name} {ratio:.2f}" for name, ratio in found.best.tested.ratios.items())
    yield f"calibrated over logged: {ratios}"
    if several:
        made = found.best.ratios
        yield (
            f"each log: mean wait over the logged one {min(made):.2f} to {max(made):.2f}, "
            f"geometric mean {geometric_mean(made):.3f}"
        )
    than = "better" if found.skill > 0 else "worse"
    yield f"skill of starts against persistence {found.skill:.2f} ({than}): 1 - error / error of persistence"


def as_json(found: Calibration) -> dict[str, Any]:
    """Everything, for programs."""
    return {
        "traces": list(found.traces),
        "jobs": found.jobs,
        "parts": found.parts,
        "nodes": list(found.nodes),
        "replays": found.runs,
        "values": found.values,
        "skill": found.skill,
        "ratios": list(found.best.ratios),
        "fitted": _row("calibrated", found.best.fitted),
        "tested": list(rows(found)),
    }


def scenario_text(found: Calibration, last: int | None = None) -> str:
    """A scenario with these settings, ready for `search` over the space of `batch/replay`."""
    best, plain = found.best, found.plain.tested
    trace = found.traces[0]
    site: dict[str, Any] = {"nodes": found.nodes[0], "preemption": {"express": 0.0}} | {
        path.removeprefix(f"{SITE}."): value for path, value in found.values.items()
    }
    others = f" and {len(found.traces) - 1} others" if len(found.traces) > 1 else ""
    shipped = shipped_text("batch/replay")
    description = (
        f"Calibrated to {trace}{others}: chosen on one half, even weeks or logs; on the other the mean "
        f"wait is {best.tested.ratio:.2f} times that of the log, with a loss of {best.tested.loss:.2f} "
        f"(plain EASY: {plain.ratio:.2f}, {plain.loss:.2f})."
    )
    lines = [
        'title = "Replay of a log on a site calibrated to it"',
        f"description = {_toml(description)}",
        "",
        "[[site]]",
        'name = "cluster"',
        *(f"{name} = {_toml(value)}" for name, value in site.items()),
        "",
        "[[workload]]",
        'name = "log"',
        'kind = "trace"',
        f"trace = {_toml(trace)}",
        'cancelled = "keep"',
        *([f"last = {last}"] if last else []),
        "",
        _with_quota(shipped[shipped.index("[search]") :].rstrip(), found.values.get(QUOTA)),
    ]
    return "\n".join(lines) + "\n"


def _with_quota(search: str, quota: Any) -> str:
    """The table of a search in which the quota that was found is among those that are tried."""
    if quota is None:
        return search
    opening = f'"{QUOTA}" = ['
    assert opening in search, "the shipped search varies it"
    return search.replace(opening, f"{opening}{_toml(quota)}, ")


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(part)}" for name, part in value.items()) + " }"
    if isinstance(value, float) and isinf(value):
        return "inf"
    return escaped(json.dumps(value, ensure_ascii=False))
