"""Whether a search over batch policies beats EASY and conservative backfilling on weeks it has not seen.

    python -m tests.benchmarks.batch_search --work /tmp/batch --rows docs/data/batch_search.json LOG…

It goes on where it was stopped: the study and every single run are kept in the folder.

For each log `batch/replay` is searched for little waiting, slow-down and unfairness to users on logs whose
weeks are drawn from the even ones of the log, beginning with EASY, conservative backfilling, fair share, and
age with some fair share. The configurations of its front that have less waiting and slow-down there than both
are run again on further draws of even weeks. The rule by which one is chosen, before odd weeks are looked at:
of those that are there no less fair than either plain policy the one with the least slow-down; if there is
none, the fairest. It and the two are then run on draws of odd weeks, each on the same ones, and their
differences are taken draw by draw. A log of a site that is hardly busy says little of policies:
`--compression` brings its jobs so many times closer. `--further` runs what was chosen, and the two, on more
draws of odd weeks. Unfairness is 1 - Jain's index of the users' mean slow-downs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gridtune.optimize.search import search
from gridtune.optimize.search_space.space import Configuration
from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.execution.replicate import Task, metrics_of
from tests.benchmarks.rows import known_in, rows_of

BETTER = ("waiting_p95", "slowdown_mean")  # than both plain policies
UNFAIRNESS = "slowdown_jain"  # not to be more than under either
OBJECTIVES = (*BETTER, UNFAIRNESS)
SHOWN = (*OBJECTIVES, "slowdown_unfairness", "slowdown_spread", "waiting_mean", "waiting_max")
POLICY = "site.cluster.policy"
UNLIMITED: Configuration = {  # neither quotas nor preemption
    "site.cluster.quota.user_running": "none",
    "site.cluster.quota.user_share": 1.0,
    "site.cluster.preemption.express": 0.0,
}
PLAIN: dict[str, Configuration] = {name: {POLICY: name, **UNLIMITED} for name in ("easy", "conservative")}
MULTIFACTOR: Configuration = {  # age and fair share as Slurm has them, hardly anything else
    POLICY: "priority",
    f"{POLICY}.rule": "multifactor",
    f"{POLICY}.reservations": 1,
    f"{POLICY}.queue_depth": 0,
    f"{POLICY}.weight_age": 100.0,
    f"{POLICY}.weight_fairshare": 30.0,
    f"{POLICY}.weight_shortness": 1.0,
    f"{POLICY}.weight_job_size": 1.0,
    f"{POLICY}.max_age": 7 * 86400.0,
    f"{POLICY}.longest": 86400.0,
    f"{POLICY}.algorithm": "fair-tree",
    f"{POLICY}.favour": "large",
    f"{POLICY}.half_life": 7 * 86400.0,
    f"{POLICY}.window": 2592000.0,
    f"{POLICY}.interval": 0.0,
}
REPLICATIONS, FINALISTS = 4, 8
CHOOSING = 11  # seed of draws of even weeks by which one is chosen, half as many as
TESTING = 12  # draws of odd ones by which it is judged


def replay(log: str, half: str, compression: float = 1.0) -> Scenario:
    """A log on as many processors as it names, its weeks drawn from one half of them, jobs brought closer."""
    return load("batch/replay").override(
        {
            "workload.trace": log,
            "workload.resample": "weeks",
            "workload.resample_from": half,
            "workload.compression": compression,
            "site.cluster.named_nodes": False,
        }
    )


class Runs:
    """Runs of settings on draws of one half of a log's weeks, each kept in a file as soon as it is done."""

    def __init__(self, log: str, path: Path, compression: float = 1.0) -> None:
        self.log, self._path, self.compression = log, path, compression
        self._known = {(row["half"], row["seed"], row["draw"], row["point"]): row for row in rows_of(path)}

    def of(
        self, half: str, configurations: Sequence[Configuration], draws: tuple[int, int], first: int = 0
    ) -> list[Any]:
        """Metrics of configurations, by name a list over the draws from a first one on, the same for all."""
        scenario, (seed, count) = replay(self.log, half, self.compression), draws
        return [
            {
                name: [
                    row[name] for row in self._rows(scenario, half, configuration, seed, range(first, count))
                ]
                for name in SHOWN
            }
            for configuration in configurations
        ]

    def _rows(
        self, scenario: Scenario, half: str, configuration: Configuration, seed: int, draws: Iterable[int]
    ) -> Sequence[dict[str, Any]]:
        rows = []
        for draw in draws:
            key = half, seed, draw, json.dumps(configuration, sort_keys=True)
            if key not in self._known:
                metrics = metrics_of(Task(scenario, configuration, seed, draw))
                row = dict(zip(("half", "seed", "draw", "point"), key, strict=True))
                self._known[key] = row | {name: metrics[name].value for name in SHOWN}
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(self._known[key]) + "\n")
            rows.append(self._known[key])
        return rows


def gains(one: Mapping[str, float], plain: Sequence[Mapping[str, float]]) -> bool:
    """Whether a setting has less waiting and slow-down than both plain policies."""
    return all(one[name] < other[name] for name in BETTER for other in plain)


def unfairer(one: Mapping[str, float], plain: Sequence[Mapping[str, float]]) -> float:
    """How much less fair a setting is than the fairer plain policy; 0 or less: it is no less fair."""
    return one[UNFAIRNESS] - min(other[UNFAIRNESS] for other in plain)


def pick(finalists: Sequence[Mapping[str, float]], plain: Sequence[Mapping[str, float]]) -> int:
    """Index of the setting with the least slow-down of those no less fair than either; else of the fairest.

    Args:
        finalists: means of each by metric.
        plain: the same of the plain policies.
    """

    def place(index: int) -> tuple[float, float]:
        one = finalists[index]
        return max(0.0, unfairer(one, plain)), one["slowdown_mean"]

    return min(range(len(finalists)), key=place)


def means(values: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Of metrics over the draws."""
    return {name: float(np.mean(values[name])) for name in OBJECTIVES}


def choose(runs: Runs, folder: Path, budget: int, draws: int) -> dict[str, Any]:
    """The search, and the setting that it is taken to have found; both on even weeks."""
    archive = search(
        replay(runs.log, "even", runs.compression),
        budget=budget,
        objectives=OBJECTIVES,
        replications=REPLICATIONS,
        start=[PLAIN["conservative"], {POLICY: "fair-share"}, MULTIFACTOR],
        validation_replications=0,
        out=folder,
        resume=folder.exists(),
    ).archive
    seen = [{name: one.objectives[name].mean for name in OBJECTIVES} for one in archive.evaluations]
    plain = [
        values for one, values in zip(archive.evaluations, seen, strict=True) if one.values in PLAIN.values()
    ]
    better = [k for k, values in enumerate(seen) if gains(values, plain)]
    unbeaten = [k for k in better if not any(_dominates(seen[other], seen[k]) for other in better)]
    finalists = [
        archive.evaluations[k].values for k in sorted(unbeaten, key=lambda k: unfairer(seen[k], plain))
    ][:FINALISTS]
    if not finalists:
        raise SystemExit(
            f"{runs.log}: of {len(seen)} settings none is better than both plain policies on even weeks; "
            "a larger --budget goes on from here"
        )
    again = [means(one) for one in runs.of("even", [*PLAIN.values(), *finalists], (CHOOSING, draws // 2))]
    plain, tried = again[: len(PLAIN)], again[len(PLAIN) :]
    chosen = pick(tried, plain)
    return {
        "evaluated": len(seen),
        "better": len(better),
        "finalists": len(finalists),
        "as_fair": sum(unfairer(one, plain) <= 0 for one in tried),
        "searched": {"chosen": tried[chosen], **dict(zip(PLAIN, plain, strict=True))},
        "chosen": finalists[chosen],
    }


def _dominates(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    return one != other and all(one[name] <= other[name] for name in OBJECTIVES)


def measure(log: str, work: Path, budget: int, draws: int, compression: float) -> dict[str, Any]:
    """Search, choose and test."""
    folder = work / (log.removesuffix(".swf.gz") + ("" if compression == 1 else f"-{compression:g}"))
    runs = Runs(log, work / f"{folder.name}.jsonl", compression)
    made = choose(runs, folder, budget, draws)
    tested = runs.of("odd", [*PLAIN.values(), made["chosen"]], (TESTING, draws))
    return {
        "log": log,
        "compression": compression,
        **made,
        "runs": dict(zip([*PLAIN, "chosen"], tested, strict=True)),
    }


def judge_on(row: dict[str, Any], work: Path, draws: int) -> dict[str, Any]:
    """The three settings of a row run on further draws of odd weeks, up to so many."""
    runs = Runs(row["log"], work / f"{row['log'].removesuffix('.swf.gz')}-further.jsonl", row["compression"])
    configurations = [*PLAIN.values(), row["chosen"]]
    had = len(row["runs"]["chosen"][UNFAIRNESS])
    further = runs.of("odd", configurations, (TESTING, draws), had)
    made = {
        name: {metric: [*row["runs"][name][metric], *values[metric]] for metric in SHOWN}
        for name, values in zip((*PLAIN, "chosen"), further, strict=True)
    }
    return row | {"runs": made}


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("logs", nargs="+")
    parser.add_argument("--work", type=Path, required=True, help="folder of the studies")
    parser.add_argument("--rows", type=Path, required=True, help="JSON file of what was found")
    parser.add_argument("--budget", type=int, default=48, help="configurations of each search")
    parser.add_argument("--draws", type=int, default=48, help="of weeks by which the chosen one is judged")
    parser.add_argument("--compression", type=float, default=1.0, help="how much closer jobs come")
    parser.add_argument(
        "--further",
        action="store_true",
        help="no search: what was chosen is judged on draws beyond those had",
    )
    chosen = parser.parse_args()
    known = known_in(chosen.rows, [])
    chosen.work.mkdir(parents=True, exist_ok=True)
    for log in chosen.logs:
        if chosen.further:
            row = judge_on(next(one for one in known if one["log"] == log), chosen.work, chosen.draws)
        else:
            row = measure(log, chosen.work, chosen.budget, chosen.draws, chosen.compression)
        known = [*(one for one in known if one["log"] != log), row]
        short = json.loads(json.dumps(known), parse_float=lambda text: float(f"{float(text):.6g}"))
        chosen.rows.write_text(json.dumps(short) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
