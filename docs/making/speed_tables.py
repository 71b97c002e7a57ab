"""Tables of docs/performance.md: speed, other simulators."""

from __future__ import annotations

from typing import Any

SPEEDS = (  # what is simulated, and the benchmarks of which the times are shown
    ("LPC-EGEE, 235,000 rows on 140 processors, EASY / conservative",
     "test_a_whole_trace_of_an_egee_site[easy]", "test_a_whole_trace_of_an_egee_site[conservative]"),
    ("25,000 jobs on 8,192 processors, 96 % busy, conservative",
     "test_conservative_backfilling_on_a_large_machine"),
    ("LCG, 188,000 jobs on 170 sites, push / pull / pilots",
     "test_the_lcg_grid[push]", "test_the_lcg_grid[pull]", "test_the_lcg_grid[pilot]"),
    ("LPC-EGEE with virtual reservations on 70 dual-processor nodes", "test_the_whole_lpc_trace"),
    ("UniLu-Gaia, 52,000 jobs and a harvested campaign of 100,000",
     "test_three_months_of_a_real_cluster_harvested"),
    ("20,000 deadline tasks on 100 servers, without / with fallback",
     "test_tasks_on_100_servers[none-20000]", "test_tasks_on_100_servers[displaced-20000]"),
)  # fmt: skip


def speed_table(rows: dict[str, Any]) -> str:
    """How long simulations take, s; of the simplest, how many jobs they do in a second."""
    ratios, loads = rows["test_ratios"], rows["test_conservative_backfilling_under_growing_load"]["seconds"]
    merged, chained = (
        ratios[f"{way}_tasks_per_s"] / ratios["simpy_tasks_per_s"] for way in ("merged", "chained")
    )
    jobs = rows["test_jobs_per_second_first_come_first_served"]["jobs_per_s"]
    lines = [
        _line("simulation", "time or speed"),
        "|---|---|",
        _line(
            "20 sites M/M/50 with Mesa agents, 200,000 tasks",
            f"{merged:.1f} times SimPy's tasks per second with sorted arrivals; {chained:.1f} times if each "
            "arrival schedules the next",
        ),
        _line("100,000 M/M/50 jobs, first come, first served", f"{jobs:,.0f} jobs per second"),
        _line(
            "the first 6,800 jobs of KTH-SP2, conservative, arrivals as logged / 1.5 / 2.25 times closer",
            " / ".join(f"{one:.2f} s" for one in loads),
        ),
    ]
    for said, *names in SPEEDS:
        lines.append(_line(said, " / ".join(f"{rows[name]['seconds']:.1f} s" for name in names)))
    return "\n".join(lines)


def peers_table(rows: list[dict[str, Any]]) -> str:
    """Whole processes of gridtune and AccaSim on the same logs, by turns."""
    lines = [
        _line(
            "log", "jobs", "policy", "jobs/s, gridtune", "AccaSim", "times faster", "MiB, gridtune", "AccaSim"
        ),
        "|---|---:|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        mine, theirs = row["gridtune"], row["AccaSim"]
        least = "more than " if theirs["given_up"] else ""
        rates = f"{row['jobs'] / mine['seconds']:,.0f}", f"{row['jobs'] / theirs['seconds']:,.0f}"
        if theirs["given_up"]:
            rates = rates[0], f"fewer than {rates[1]}"
        ratio = f"{least}{theirs['seconds'] / mine['seconds']:.1f}"
        cells = (
            f"{row['jobs']:,}",
            f"`{row['policy']}`",
            *rates,
            ratio,
            f"{mine['mib']:,}",
            f"{theirs['mib']:,}",
        )
        lines.append(_line(row["log"], *cells))
    return "\n".join(lines)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
