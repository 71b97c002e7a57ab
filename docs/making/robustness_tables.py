"""Tables of what becomes of bad inputs, killed searches, disks that fail and changed code."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import Any


def line(*cells: str) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


def fuzz_table(rows: dict[str, Any]) -> str:
    """How many inputs were generated, refused and taken, and the faults."""
    codes = sum(map(Counter, rows["inputs"].values()), Counter())
    numbers = codes.total(), codes["2"], codes.total() - codes["2"], len(rows["faults"])
    titles = line(f"{len(rows['inputs'])} kinds of inputs", "refused", "taken", "faults")
    return "\n".join([titles, "|---:|---:|---:|---:|", line(*(f"{number:,}" for number in numbers))])


def kills_table(rows: list[dict[str, Any]]) -> str:
    """Searches that were killed, kills by storage and phase, and fronts that are not the undisturbed one."""
    phases = ("start", "proposal", "runs", "validation", "confirmation", "results")
    lines = [
        line("storage", "searches", *(f"in {phase}" for phase in phases), "kills", "other fronts"),
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
        line("command", "needs (kB)", "amounts of room", "refused in a line", "done", "faults"),
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, row in rows.items():
        ends = Counter(row["codes"].values())
        cells = [row["needed"], ends.total(), ends[2], ends[0], len(row["faults"])]
        lines.append(line(name, *map(str, cells)))
    return "\n".join(lines)


def mutants_table(rows: dict[str, Any]) -> str:
    """Mutants by room: how many alter nothing, survived, and were noticed, with a 95 % interval."""
    lines = [
        line("room", "mutants", "alter nothing", "survived", "noticed (95 % interval)"),
        "|---|---:|---:|---:|---|",
    ]
    for room in [*dict.fromkeys(row["room"] for row in rows.values()), "all"]:
        known = [row for row in rows.values() if room in (row["room"], "all")]
        alike = sum(bool(row["alters_nothing"]) for row in known)
        lived = sum(row["outcome"] == "survived" and not row["alters_nothing"] for row in known)
        low, high = wilson(len(known) - alike - lived, len(known) - alike)
        share = f"{1 - lived / (len(known) - alike):.0%} ({low:.0%} to {high:.0%})"
        lines.append(line(room, *map(str, (len(known), alike, lived)), share))
    return "\n".join(lines)


def wilson(successes: int, trials: int, z: float = 1.96) -> tuple[float, float]:
    """95 % interval of a proportion (Wilson 1927)."""
    share, extra = successes / trials, z * z / trials
    middle = (share + extra / 2) / (1 + extra)
    half = z * sqrt(share * (1 - share) / trials + extra / (4 * trials)) / (1 + extra)
    return middle - half, min(1.0, middle + half)
