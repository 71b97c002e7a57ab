"""What `gridtune calibrate` does: fit a site to a log, and write the scenario."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gridtune.plain_text import argument, hidden
from gridtune.scenarios.calibration.fit import calibrate
from gridtune.scenarios.calibration.report import as_json, report_lines, scenario_text
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.whole_files import replace


def run_calibration(
    traces: Sequence[str], nodes: int | None, last: int | None, out: Path | None
) -> tuple[dict[str, Any], list[str]]:
    """Fit a site to logs; what is printed as JSON, and as text.

    Args:
        traces: the logs.
        nodes: processors, instead of those that the log names.
        last: number of the last job to use.
        out: file of the scenario, if it is to be written.

    Raises:
        ScenarioError: see `calibrate`; or the file exists or cannot be written.
    """
    if out is not None:
        if fault := hidden(str(out)):
            raise ScenarioError(f"--out {fault}")
        if out.suffix != ".toml":
            raise ScenarioError(
                f"{out}: what is written is a scenario; name it {out.with_suffix('.toml').name}"
            )
        if out.exists():
            raise ScenarioError(f"{out}: exists already; remove it or give another name")
    found = calibrate(
        *traces, nodes=nodes, last=last, say=lambda line: print(line, file=sys.stderr, flush=True)
    )
    lines = list(report_lines(found))
    if out is not None:
        text = scenario_text(found, last)
        replace(out, lambda part: part.write_text(text, encoding="utf-8"))
        lines.append(
            f"{out}: a scenario with these settings; `gridtune search {argument(out)}` goes on from it"
        )
    return as_json(found), lines
