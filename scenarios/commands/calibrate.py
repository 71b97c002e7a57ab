"""What `gridtune calibrate` does: fit a site to a log, and write the scenario."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gridtune.plain_text import argument, counted, hidden
from gridtune.scenarios.calibration.fit import calibrate
from gridtune.scenarios.calibration.kept import KeptReplays
from gridtune.scenarios.calibration.logs import qos_of
from gridtune.scenarios.calibration.replays import SITE
from gridtune.scenarios.calibration.report import as_json, report_lines
from gridtune.scenarios.calibration.written import scenario_text
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.text import terminal_width, wrapped
from gridtune.scenarios.slurm import SlurmSeed, slurm_seed
from gridtune.scenarios.whole_files import check_absent, replace_text, with_ending

log = logging.getLogger("gridtune")


def run_calibration(
    traces: Sequence[str],
    nodes: int | None,
    last: int | None,
    out: Path | None,
    *,
    slurm: Path | None = None,
    qos: Path | None = None,
    every: bool = False,
) -> tuple[dict[str, Any], list[str]]:
    """Fit a site to logs; what is printed as JSON, and as text.

    Args:
        traces: the logs.
        nodes: processors, instead of those that the log names.
        last: number of the last job to use.
        out: file of the scenario, if it is to be written. Beside it, replays are kept until it is there, so
            that an interrupted calibration goes on.
        slurm: slurm.conf of the site, whose policy and limits it has.
        qos: what `sacctmgr -P show qos` printed there.
        every: whether the text has quantiles, classes and single logs, too.

    Raises:
        ScenarioError: see `calibrate`; or the file exists or cannot be written.
        KeyboardInterrupt: finished replays are kept.
    """
    if out is not None:
        if fault := hidden(str(out)):
            raise ScenarioError(f"--out {fault}")
        if out.suffix != ".toml":
            raise ScenarioError(f"{out}: what is written is a scenario; name it {with_ending(out, '.toml')}")
        check_absent(out)
    if qos is not None and slurm is None:
        raise ScenarioError(f"{qos}: is read beside a slurm.conf; give --slurm FILE, too")
    seed = None if slurm is None else slurm_seed(slurm, qos, qos_of(traces, last) if qos else ())
    kept = None if out is None else KeptReplays(out.with_suffix(".replays"))
    own: dict[str, Any] = {} if seed is None else {"policy": seed.policy, **seed.site}
    try:
        found = calibrate(
            *traces,
            nodes=nodes,
            last=last,
            known=kept,
            given={f"{SITE}.{key}": one for key, one in own.items()},
            size=None if seed is None else seed.processors,
        )
    except KeyboardInterrupt:
        if kept:
            log.info(f"note: {counted(len(kept), 'replay')} kept in {kept.path}; the same command continues")
        raise
    lines = list(report_lines(found, every=every))
    if slurm is not None and seed is not None:
        said = (*(f"{slurm}: {line}" for line in found.denied), *slurm_lines(slurm, seed))
        lines += wrapped(said, terminal_width())
    if out is not None and kept is not None:
        check_absent(out)  # still
        named = replace(found, traces=[_from(out.parent, one) for one in traces])
        replace_text(out, scenario_text(named, last, slurm=slurm is not None))
        kept.remove()
        lines.append(f"{out}: written; `gridtune search {argument(out)}` goes on from it")
        if len(traces) > 1:
            lines.append(f"It replays only the first log, {traces[0]}.")
    made = as_json(found)
    if seed is not None:
        made["slurm"] = {"policy": seed.policy, "site": seed.site, "without": list(seed.without)}
        made["slurm"]["denied"] = found.denied
    return made, lines


def _from(folder: Path, log_file: str) -> str:
    """A log as a scenario in a folder names it; one that is found by its name alone keeps it."""
    path = Path(log_file)
    return os.path.relpath(path, folder) if path.is_file() and not path.is_absolute() else log_file


def slurm_lines(conf: Path, seed: SlurmSeed) -> Iterator[str]:
    """What of a slurm.conf has no counterpart, a line each."""
    if seed.without:
        yield f"{conf}: no counterpart have"
        yield from (f"  {line}" for line in seed.without)
    else:
        yield f"{conf}: all that decides who starts when has its counterpart"
