"""What calibration found, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import geometric_mean
from textwrap import wrap
from typing import Any

from gridtune.plain_text import counted
from gridtune.scenarios.calibration.fit import Calibration
from gridtune.scenarios.calibration.levers import ENTRY, POLICY, PRIME, QUOTA
from gridtune.scenarios.calibration.replays import NODES, OVERHEAD, SITE, plain
from gridtune.scenarios.calibration.waits import UNNOTICED, GoodnessOfFit
from gridtune.scenarios.results.amounts import human

WIDTH = 80
NEAR = 1.25  # factor within which the mean wait carries over to later weeks
MEANING = {
    POLICY: "which jobs start first",
    PRIME: "start only at certain hours",
    NODES: "in use; others down or kept",
    QUOTA: "jobs of one user at once",
    ENTRY: "from submission to the queue",
    OVERHEAD: "from taking nodes to the start",
}
PROMISED = 0.99  # of the jobs, with a requested time
GUESSED = (
    "{:.0f} % of the jobs have no requested time: their run time stands for it. So policies that plan by it "
    "look better than they are."
)
TERMS = (
    "wait/log's: mean wait over that of the log.  start error: mean |start - logged|.",
    "misfit: mean |ln ratio| of mean, quantiles, classes + start error / mean wait.",
    "persistence: each job waits as those of the same hour one week before.",
)


def rows(found: Calibration) -> Iterator[dict[str, Any]]:
    """A row for the log, the calibrated site, plain EASY and persistence, on the part held back."""
    assert found.plain.tested is not None
    yield _row("log", None, found.tested.logged)
    for what, fit in (
        ("calibrated", found.tested),
        ("easy, all nodes", found.plain.tested),
        ("persistence", found.guessed),
    ):
        yield _row(what, fit)


def _row(what: str, fit: GoodnessOfFit | None, mean: float = 0.0) -> dict[str, Any]:
    """A fit; of the log itself, None and its mean wait in s."""
    if fit is None:
        return {"what": what, "mean": mean, "ratio": 1.0, "error": 0.0, "misfit": 0.0}
    return {
        "what": what,
        "mean": fit.mean,
        "ratio": fit.ratio,
        "error": fit.error,
        "misfit": fit.misfit,
        **fit.ratios,
    }


def report_lines(found: Calibration, *, every: bool = False) -> Iterator[str]:
    """The report, a line each: at most 24 of 80 characters.

    Args:
        found: what to report.
        every: whether to add quantiles, classes and single logs.
    """
    several = len(found.traces) > 1
    kind = "logs" if several else "weeks"
    what = f"{found.parts} logs" if several else found.traces[0].rpartition("/")[2]
    weeks = "" if several else f", {found.parts} weeks"
    sizes = " and ".join(f"{size:,}" for size in sorted(set(found.nodes)))
    yield _cut(
        f"{what}: {found.jobs:,} jobs{weeks}, {sizes} processors{'' if found.said else ' in use at most'}"
    )
    if found.first is not None:
        yield f"Left out: {counted(found.first - 1, 'job')} that came over a week before all others."
    yield (
        f"Fitted to {kind} 1 to {found.cut} in {found.runs} replays; "
        f"{kind} {found.cut + 1} to {found.parts} were held back."
    )
    if refused := len(found.best.refused):
        yield f"The simulated site refuses {counted(refused, 'job')} of the log: no ratio counts them."
    yield from wrap(without_times(found), WIDTH)
    if POLICY in found.given:
        yield from _setting(POLICY, "as in slurm.conf")
    for path, value in found.values.items():
        yield from _setting(path, value)
    if found.values.get(NODES, found.peak) < found.peak:
        yield f"The log had up to {found.peak:,} processors in use: fewer may stand for another cause."
    yield ""
    yield f"{'':29}{'mean wait':>11}{'wait/log' + chr(39) + 's':>12}{'start error':>13}{'misfit':>8}"
    before = [_row("log", None, found.best.fitted.logged), _row("calibrated", found.best.fitted)]
    for part, some in (("fitted", before), ("held back", rows(found))):
        yield from (_table_line(part, row) for row in some)
    yield from TERMS
    yield from wrap(_verdict(found, kind), WIDTH)
    if every:
        yield from _details(found)


def without_times(found: Calibration) -> str:
    """What it means that jobs have no requested time; empty if nearly all have one."""
    return "" if found.promised >= PROMISED else GUESSED.format(100 * (1 - found.promised))


def _setting(path: str, value: Any) -> Iterator[str]:
    """A setting and what it means; a policy of many parameters takes three lines at most."""
    name, said = path.removeprefix(f"{SITE}."), _value(path, value)
    if len(said) > 27:
        for at, line in enumerate(wrap(said, WIDTH - 22, max_lines=3, placeholder=" …")):
            yield f"  {'' if at else name:20}{line}"
    else:
        yield f"  {name:20}{said:27} {MEANING.get(path, '')}".rstrip()


def _table_line(part: str, row: dict[str, Any]) -> str:
    label = f"{part + ':':11}{row['what']}"
    mean = f"  {label:27}{human(row['mean'], 's'):>11}{row['ratio']:12.2f}"
    return mean if row["what"] == "log" else f"{mean}{human(row['error'], 's'):>13}{row['misfit']:8.2f}"


def _verdict(found: Calibration, kind: str) -> str:
    """Whether what was fitted holds on the part held back."""
    tested, fitted = found.tested, found.best.fitted
    assert found.plain.tested is not None
    claim = (
        f"On the {kind} held back waits are {tested.ratio:.2f} times those of the log, on those fitted to "
        f"{fitted.ratio:.2f} times"
    )
    rivals = {"EASY on all nodes": found.plain.tested, "persistence": found.guessed}
    better = [name for name, rival in rivals.items() if rival.misfit < tested.misfit]
    nearer = f"; nearer {'is' if len(better) == 1 else 'are'} {' and '.join(better)}" if better else ""
    if not holds(found):
        return (
            f"{claim}{nearer}. So the calibration does not hold: waits depend on what is not simulated (such "
            "as best-effort jobs, GPUs or failures), or the site changed. Trust differences between "
            f"policies less, and try later {kind} alone."
        )
    return f"{claim}: the calibration holds (within a factor of {NEAR:g}, or a minute){nearer}."


def holds(found: Calibration) -> bool:
    """Whether mean waits are like the log's, on both parts of it: by the factor, or to a minute."""
    return all(
        1 / NEAR <= part.ratio <= NEAR or abs(part.mean - part.logged) <= UNNOTICED
        for part in (found.tested, found.best.fitted)
    )


def _details(found: Calibration) -> Iterator[str]:
    """Quantiles and classes on the part held back, and every log."""
    yield ""
    yield "Calibrated over logged, held back:"
    for name, ratio in found.tested.ratios.items():
        yield f"  {name:20}{ratio:8.2f}"
    if len(found.traces) > 1:
        made = found.best.ratios
        yield (
            f"Each log: mean wait over the logged one {min(made):.2f} to {max(made):.2f}, "
            f"geometric mean {geometric_mean(made):.3f}"
        )
    than = "better" if found.skill > 0 else "worse"
    yield f"Skill of starts against persistence: {found.skill:.2f} ({than}); 1 - error / its error."
    yield f"Settings: {found.values}"


def _value(path: str, value: Any) -> str:
    """A setting in few words."""
    if path == PRIME:
        return f"jobs over {' and '.join(human(one['longest'], 's') for one in value)}"
    if path in (ENTRY, OVERHEAD):
        return human(value, "s")
    return plain(value)


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1].rstrip()}…"


def as_json(found: Calibration) -> dict[str, Any]:
    """Everything, for programs."""
    return {
        "traces": list(found.traces),
        "jobs": found.jobs,
        "parts": found.parts,
        "fitted_parts": found.cut,
        "nodes": list(found.nodes),
        "replays": found.runs,
        "values": found.values,
        "given": dict(found.given),
        "first": found.first or 1,
        "refused": len(found.best.refused),
        "skill": found.skill,
        "ratios": list(found.best.ratios),
        "fitted": _row("calibrated", found.best.fitted),
        "tested": list(rows(found)),
    }
