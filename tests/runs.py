"""Small runs with known tables, for the tests of their pictures."""

import json

import pandas as pd

from gridtune.scenarios.plots import RunTables

nan = float("nan")


def jobs(*rows):
    """Rows of (user, kind, node, submit, start, end, processors, state, kills)."""
    names = ["user", "kind", "node", "submit", "start", "end", "processors", "state", "kills"]
    table = pd.DataFrame(rows, columns=names).astype({"start": float, "end": float})
    return table.assign(id=range(1, len(rows) + 1), site="lal", queued=table["submit"])


def users(satisfactions, unhappy=()):
    return pd.DataFrame(
        {
            "user": [f"u{k}" for k in range(len(satisfactions))],
            "satisfaction": satisfactions,
            "unhappy": [k in unhappy for k in range(len(satisfactions))],
        }
    )


def classes(*rows):
    """Rows of (user, class, jobs, completed, failed mandatory jobs)."""
    table = pd.DataFrame(rows, columns=["user", "class", "jobs", "completed", "mandatory_failed"])
    return table.assign(unhappy=table["mandatory_failed"] > 0)


def signals(*rows):
    return pd.DataFrame(rows, columns=["time", "name", "value"])


def messages(*rows):
    return pd.DataFrame(rows, columns=["agent", "kind", "time", "count"])


def events(*rows):
    return pd.DataFrame(rows, columns=["time", "event", "job", "site", "node"])


def tables(table=None, **others):
    empty = {
        "users": users([]),
        "signals": signals(),
        "messages": messages(),
        "events": None,
        "classes": None,
    }
    return RunTables("test/run", (0, 1), jobs() if table is None else table, **(empty | others))


# Job 2 is killed at 3 by job 3, waits, and runs again from 5 to 9.
KILLED = tables(
    jobs(
        ("a", "mandatory", "lal-000", 0, 0, 4, 1, "done", 0),
        ("b", "optional", "lal-001", 1, 5, 9, 1, "done", 1),
        ("a", "mandatory", "lal-001", 3, 3, 5, 1, "done", 0),
        ("b", "optional", "", 2, nan, 6, 1, "cancelled", 0),
    ),
    events=events(
        (0.0, "queued", 1, "lal", ""), (0.0, "started", 1, "lal", "lal-000"),
        (1.0, "queued", 2, "lal", ""), (1.0, "started", 2, "lal", "lal-001"),
        (2.0, "queued", 4, "lal", ""),
        (3.0, "killed", 2, "lal", "lal-001"), (3.0, "queued", 3, "lal", ""),
        (3.0, "started", 3, "lal", "lal-001"),
        (4.0, "done", 1, "lal", "lal-000"), (5.0, "done", 3, "lal", "lal-001"),
        (5.0, "started", 2, "lal", "lal-001"), (6.0, "cancelled", 4, "lal", ""),
        (9.0, "done", 2, "lal", "lal-001"),
    ),
)  # fmt: skip


def write(folder, run, replications=1):
    """Write a run as `gridtune run --out` does."""
    folder.mkdir(parents=True)
    named = {"jobs": run.jobs, "users": run.users, "signals": run.signals, "messages": run.messages}
    named |= {name: getattr(run, name) for name in ("events", "classes") if getattr(run, name) is not None}
    for name, table in named.items():
        copies = [table.assign(replication=k) for k in range(replications)]
        (pd.concat(copies) if replications > 1 else table).to_parquet(folder / f"{name}.parquet")
    about = {"scenario": run.name, "seed": 1, "replications": replications}
    (folder / "manifest.json").write_text(json.dumps(about), encoding="utf-8")
    return folder
