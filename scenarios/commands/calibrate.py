"""What `gridtune calibrate` does: fit a site to a log, and write the scenario."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gridtune.scenarios.calibration.fit import calibrate
from gridtune.scenarios.calibration.report import as_json, report_lines
from gridtune.scenarios.calibration.written import scenario_text
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.whole_files import replace


def run_calibration(
    traces: Sequence[str], nodes: int | None, last: int | None, out: Path | None, *, every: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """Fit a site to logs; what is printed as JSON, and as text.

    Args:
        traces: the logs.
        nodes: processors, instead of those that the log names.
        last: number of the last job to use.
        out: file of the scenario, if it is to be written.
        every: whether the text has quantiles, classes and single logs, too.

    Raises:
        ScenarioError: see `calibrate`; or the file exists or cannot be written.
    """
    if out is not None:
        if out.suffix != ".toml":
            raise ScenarioError(
                f"{out}: what is written is a scenario; name it {out.with_suffix('.toml').name}"
            )
        if out.exists():
            raise ScenarioError(f"{out}: exists already; remove it or give another name")
    found = calibrate(*traces, nodes=nodes, last=last)
    lines = list(report_lines(found, every=every))
    if out is not None:
        text = scenario_text(found, last)
        replace(out, lambda part: part.write_text(text, encoding="utf-8"))
        lines.append(f"{out}: written; `gridtune search {out}` goes on from it")
    return as_json(found), lines
