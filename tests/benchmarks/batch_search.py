"""Whether a search over batch policies beats EASY and conservative backfilling on weeks it has not seen.

    python -m tests.benchmarks.batch_search --work /tmp/batch --rows docs/data/batch_search.json LOG…

It goes on where it was stopped: the study and every single run are kept in the folder.

For each log `batch/replay` is searched on logs whose weeks are drawn from the even ones of the log, beginning
with EASY, conservative backfilling and fair share. Of the points that are better there than EASY and
conservative backfilling, and hardly less fair to users, those that are best are run again on further draws of
even weeks; the best of these that is surely not much less fair is chosen. It and the two are then run on
draws of odd weeks, each on the same ones, and their differences are taken draw by draw. A log of a site that
is hardly busy says little of policies: `--compression` brings its jobs so many times closer. Not less fair is
who is above the other in unfairness by less than a twentieth (`MARGIN`) of it, the whole 95 % interval of the
difference included.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from gridtune.optimize.records.evaluations import Evaluation
from gridtune.optimize.search import search
from gridtune.optimize.search_space.space import Point
from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.execution.replicate import Task, metrics_of
from tests.benchmarks.rows import rows_of

BETTER = ("waiting_p95", "slowdown_mean")  # than both plain policies
NOT_WORSE = ("slowdown_jain", "slowdown_unfairness")  # of the users
OBJECTIVES = (*BETTER, *NOT_WORSE)
SHOWN = (*OBJECTIVES, "waiting_mean", "waiting_max")
POLICY = "site.cluster.policy"
PLAIN: dict[str, Point] = {name: {POLICY: name} for name in ("easy", "conservative")}
MARGIN = 0.05  # of what unfairness is under a plain policy: less is not worse
ROUGHLY = 0.1  # the same, as far as the few draws of the search tell
REPLICATIONS, FINALISTS = 4, 5
CHOOSING = 11  # seed of draws of even weeks by which one is chosen, a third as many as
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

    def of(self, half: str, points: Sequence[Point], draws: tuple[int, int]) -> list[Any]:
        """Metrics of points, by name a list over the draws, which are the same for all points."""
        scenario, (seed, count) = replay(self.log, half, self.compression), draws
        return [
            {name: [row[name] for row in self._rows(scenario, half, point, seed, count)] for name in SHOWN}
            for point in points
        ]

    def _rows(
        self, scenario: Scenario, half: str, point: Point, seed: int, count: int
    ) -> Sequence[dict[str, Any]]:
        rows = []
        for draw in range(count):
            key = half, seed, draw, json.dumps(point, sort_keys=True)
            if key not in self._known:
                metrics = metrics_of(Task(scenario, point, seed, draw))
                row = dict(zip(("half", "seed", "draw", "point"), key, strict=True))
                self._known[key] = row | {name: metrics[name].value for name in SHOWN}
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(self._known[key]) + "\n")
            rows.append(self._known[key])
        return rows


def score(values: dict[str, float], plain: Iterable[dict[str, float]]) -> float:
    """How far a setting is above the better of the plain policies, as a sum of logarithms; infinite if worse.

    Waiting and slow-down count; fairness is only not to be worse, but for luck.
    """
    plain = list(plain)
    least = {name: min(one[name] for one in plain) for name in OBJECTIVES}
    room = {name: 1.0 + ROUGHLY * (name in NOT_WORSE) for name in OBJECTIVES}
    if any(values[name] > room[name] * least[name] for name in OBJECTIVES):
        return float("inf")
    return float(sum(np.log(values[name] / least[name]) for name in BETTER))


def relative(mine: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval (Student's t) of paired differences over the mean of the latter."""
    values = (np.array(mine) - np.array(theirs)) / np.mean(theirs)
    reach = float(stats.t.ppf(0.975, len(values) - 1)) * float(values.std(ddof=1)) / len(values) ** 0.5
    return float(values.mean()) - reach, float(values.mean()) + reach


def pick(finalists: Sequence[dict[str, Any]], plain: Sequence[dict[str, Any]]) -> int:
    """Index of the one that gains most among those that are not less fair than either plain policy.

    If that is sure of none, the one of which it is least unsure.

    Args:
        finalists: by metric a list over the draws.
        plain: the plain policies on the same draws.
    """

    def place(index: int) -> tuple[bool, float]:
        one = finalists[index]
        worst = max(relative(one[name], other[name])[1] for name in NOT_WORSE for other in plain)
        gained = sum(
            np.log(np.mean(one[name]) / min(np.mean(other[name]) for other in plain)) for name in BETTER
        )
        return (False, float(gained)) if worst < MARGIN else (True, worst)

    return min(range(len(finalists)), key=place)


def choose(runs: Runs, folder: Path, budget: int, draws: int) -> dict[str, Any]:
    """The search, and the setting that it is taken to have found; both on even weeks."""
    archive = search(
        replay(runs.log, "even", runs.compression),
        budget=budget,
        objectives=OBJECTIVES,
        replications=REPLICATIONS,
        max_replications=REPLICATIONS,
        start=[PLAIN["conservative"], {POLICY: "fair-share"}],
        validation_replications=0,
        out=folder,
        resume=folder.exists(),
    ).archive

    def seen(one: Evaluation) -> dict[str, float]:
        return {name: one.objectives[name].mean for name in OBJECTIVES}

    plain = [seen(one) for one in archive.evaluations if one.values == PLAIN.get(str(one.values[POLICY]))]
    others = sorted(archive.evaluations, key=lambda one: score(seen(one), plain))
    finalists = [one.values for one in others if np.isfinite(score(seen(one), plain))]
    finalists = [values for values in finalists if values not in PLAIN.values()][:FINALISTS]
    if not finalists:
        raise SystemExit(
            f"{runs.log}: of {len(archive.evaluations)} settings none is better than both plain policies on "
            "even weeks and no less fair; a larger --budget goes on from here"
        )
    again = runs.of("even", [*PLAIN.values(), *finalists], (CHOOSING, draws // 3))
    return {
        "evaluated": len(archive.evaluations),
        "better": sum(score(seen(one), plain) < 0 for one in others),
        "chosen": finalists[pick(again[len(PLAIN) :], again[: len(PLAIN)])],
    }


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


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("logs", nargs="+")
    parser.add_argument("--work", type=Path, required=True, help="folder of the studies")
    parser.add_argument("--rows", type=Path, required=True, help="JSON file of what was found")
    parser.add_argument("--budget", type=int, default=48, help="points of each search")
    parser.add_argument("--draws", type=int, default=48, help="of weeks by which the chosen one is judged")
    parser.add_argument("--compression", type=float, default=1.0, help="how much closer jobs come")
    chosen = parser.parse_args()
    known = json.loads(chosen.rows.read_text(encoding="utf-8")) if chosen.rows.exists() else []
    chosen.work.mkdir(parents=True, exist_ok=True)
    for log in chosen.logs:
        row = measure(log, chosen.work, chosen.budget, chosen.draws, chosen.compression)
        known = [*(one for one in known if one["log"] != log), row]
        short = json.loads(json.dumps(known), parse_float=lambda text: float(f"{float(text):.6g}"))
        chosen.rows.write_text(json.dumps(short) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
