"""Tables of what becomes of bad inputs, killed searches and disks that fail."""

from __future__ import annotations

from collections import Counter
from typing import Any


def line(*cells: str) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


def fuzz_table(rows: dict[str, Any]) -> str:
    """How many inputs were generated, refused and taken, and the faults."""
    codes = sum(map(Counter, rows["inputs"].values()), Counter())
    numbers = codes.total(), codes["2"], codes.total() - codes["2"], len(rows["faults"])
    titles = line(f"inputs ({len(rows['inputs'])} kinds)", "refused", "taken", "faults")
    return "\n".join([titles, "|---:|---:|---:|---:|", line(*(f"{number:,}" for number in numbers))])


def kills_table(rows: list[dict[str, Any]]) -> str:
    """Searches that were killed, kills by storage and phase, and fronts that are not the undisturbed one."""
    phases = ("start", "proposal", "runs", "validation", "confirmation", "results")
    lines = [
        line("storage", "searches", *(f"kills: {phase}" for phase in phases), "kills", "other fronts"),
        f"|---|{'---:|' * (len(phases) + 3)}",
    ]
    for storage in [*dict.fromkeys(row["storage"] for row in rows), "all"]:
        known = [row for row in rows if storage in (row["storage"], "all")]
        counts = Counter(phase for row in known for phase in row["killed_in"] if phase != "ended")
        cells = [len(known), *(counts[phase] for phase in phases), counts.total()]
        lines.append(line(storage, *map(str, cells), str(sum(not row["same"] for row in known))))
    return "\n".join(lines)


def io_faults_table(rows: dict[str, Any]) -> str:
    """Calls that failed, by error, how the commands ended, and the faults."""
    lines = [
        line("error", "calls that failed", "refused in a line", "ended well", "faults"),
        "|---|---:|---:|---:|---:|",
    ]
    ends: dict[str, Counter[str]] = {}
    faults: Counter[str] = Counter()
    for row in rows["rows"]:
        ends.setdefault(row["error"], Counter()).update(row["codes"])
        faults[row["error"]] += len(row["faults"])
    for error, codes in ends.items():
        cells = [codes.total(), codes["2"], codes["0"], faults[error]]
        lines.append(line(error, *(f"{cell:,}" for cell in cells)))
    return "\n".join(lines)


def full_disk_table(rows: dict[str, Any]) -> str:
    """Commands on a full disk: how they ended with how much room, and the faults."""
    lines = [
        line("case", "needs (kB)", "amounts of room", "refused in a line", "done", "faults"),
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, row in rows.items():
        ends = Counter(row["codes"].values())
        cells = [row["needed"], ends.total(), ends[2], ends[0], len(row["faults"])]
        lines.append(line(name, *map(str, cells)))
    return "\n".join(lines)
