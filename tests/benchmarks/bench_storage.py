"""What it takes to keep a trial: journal, SQLite and PostgreSQL, by batches as a search writes them.

Run with `pytest tests/benchmarks/bench_storage.py --benchmark-only -n0 -s`; GRIDTUNE_TEST_POSTGRESQL
names the server. A trial has 16 parameters, 3 objectives with their replications, and 12 other metrics.
Beside our own writing stands Optuna's, trial by trial, on the same storage.
"""

import itertools
from contextlib import contextmanager

import optuna
import pytest

from databases import postgresql_database
from gridtune.optimize.storages.storage import open_for_writing

LIMIT = 0.050  # s a trial
BATCH = 20
PARAMETERS = {f"site.s{k}.share": optuna.distributions.FloatDistribution(0, 1) for k in range(16)}


def trial(number):
    """The trial of that number; no two are equal."""
    shares = itertools.count(number, 0.618)
    objectives = {
        name: {"mean": number + 0.5, "standard_error": 0.25, "values": [number, number + 0.5, number + 1]}
        for name in ("unhappy_users", "unfairness", "completed")
    }
    return optuna.trial.create_trial(
        values=[number + 0.5] * 3,
        params={name: next(shares) % 1 for name in PARAMETERS},
        distributions=PARAMETERS,
        user_attrs={
            "objectives": objectives,
            "metrics": {f"metric_{k}": number / (k + 1) for k in range(12)},
            "replications": 3,
        },
    )


@contextmanager
def storage(kind, folder):
    if kind == "postgresql":
        with postgresql_database() as url:
            yield url
    else:
        yield f"sqlite:///{folder}/studies.db" if kind == "sqlite" else str(folder / "study.journal")


def in_batches(opened, study, trials):
    for start in range(0, len(trials), BATCH):
        opened.add_trials(study, trials[start : start + BATCH])


def one_by_one(opened, study, trials):
    study.add_trials(trials)


@pytest.mark.parametrize("kind", ["journal", "sqlite", "postgresql"])
@pytest.mark.parametrize(("write", "count"), [(in_batches, 100), (in_batches, 1000), (one_by_one, 100)])
def test_a_trial_is_kept_in_less_than_50_ms(benchmark, tmp_path, write, kind, count):
    trials = [trial(number) for number in range(count)]
    with storage(kind, tmp_path) as where:
        opened = open_for_writing(where)
        names = iter(range(100))

        def fresh():
            study = optuna.create_study(
                storage=opened.storage, study_name=f"study {next(names)}", directions=["minimize"] * 3
            )
            return (opened, study, trials), {}

        benchmark.pedantic(write, setup=fresh, rounds=1 if write is one_by_one else 3)
        opened.close()
    seconds = benchmark.stats["median"] / count
    benchmark.extra_info["ms a trial"] = round(1000 * seconds, 2)
    print(f"\n{kind}, {count} trials, {write.__name__}: {1000 * seconds:.2f} ms a trial")
    if write is in_batches:
        assert seconds < LIMIT
