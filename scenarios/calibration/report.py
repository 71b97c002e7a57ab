"""What calibration found, in words, as JSON and as a scenario."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isinf
from typing import Any

from gridtune.scenarios.calibration.fit import SITE, Calibration, described
from gridtune.scenarios.calibration.waits import Likeness
from gridtune.scenarios.document.scenario import shipped_text


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
    yield (
        f"{found.trace}: {found.jobs:,} jobs in {found.weeks} weeks on {found.nodes:,} processors; "
        f"{found.runs} replays, chosen on even weeks, shown on odd ones."
    )
    yield f"calibrated: {described(found.best.values)}"
    yield f"{'':17}{'mean wait':>11}{'ratio':>8}{'error of starts':>17}{'loss':>8}"
    for row in rows(found):
        error = f"{row['error']:15,.0f} s"
        yield f"{row['what']:17}{row['mean']:9,.0f} s{row['ratio']:8.2f}{error}{row['loss']:8.2f}"
    ratios = ", ".join(f"{name} {ratio:.2f}" for name, ratio in found.best.tested.ratios.items())
    yield f"calibrated over logged: {ratios}"
    than = "better" if found.skill > 0 else "worse"
    yield f"skill of starts against persistence {found.skill:.2f} ({than}): 1 - error / error of persistence"


def as_json(found: Calibration) -> dict[str, Any]:
    """Everything, for programs."""
    return {
        "trace": found.trace,
        "jobs": found.jobs,
        "weeks": found.weeks,
        "nodes": found.nodes,
        "replays": found.runs,
        "values": found.best.values,
        "skill": found.skill,
        "fitted": _row("calibrated", found.best.fitted),
        "tested": list(rows(found)),
    }


def scenario_text(found: Calibration, last: int | None = None) -> str:
    """A scenario with these settings, ready for `search` over the space of `batch/replay`."""
    best, plain = found.best, found.plain.tested
    site = {"nodes": found.nodes} | {
        path.removeprefix(f"{SITE}."): value for path, value in best.values.items()
    }
    shipped = shipped_text("batch/replay")
    lines = [
        'title = "Replay of a log on a site calibrated to it"',
        'description = """',
        f"Calibrated to {found.trace}: chosen on even weeks; on odd ones",
        f"the mean wait is {best.tested.ratio:.2f} times that of the log, with a loss of",
        f'{best.tested.loss:.2f} (plain EASY: {plain.ratio:.2f}, {plain.loss:.2f})."""',
        "",
        "[[site]]",
        'name = "cluster"',
        *(f"{name} = {_toml(value)}" for name, value in site.items()),
        "",
        "[[workload]]",
        'name = "log"',
        'kind = "trace"',
        f"trace = {_toml(found.trace)}",
        'cancelled = "keep"',
        *([f"last = {last}"] if last else []),
        "",
        shipped[shipped.index("[search]") :].rstrip(),
    ]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(part)}" for name, part in value.items()) + " }"
    if isinstance(value, float) and isinf(value):
        return "inf"
    return json.dumps(value, ensure_ascii=False)
