"""Studies: an ordinary Optuna study, and beside it the table of runs, which is all that a search knows.

`optuna.load_study` and the Optuna dashboard open the study. It has a trial for each configuration: values,
means of the objectives in the search, constraints, times, and `number` as a user attribute; or, as a
failed trial, the reason as `failure`. Its own user attribute `gridtune` holds the settings of the search.

The table has one row for each run and is only ever added to. A resumed search starts again from its beginning
and takes from the table what has been run before: equal seeds make equal proposals.

| where | study | table |
|---|---|---|
| a folder `OUT` | `OUT/study.journal` | `OUT/runs.jsonl` |
| a journal `NAME.journal` | that file | `NAME.runs.jsonl` |
| a URL of SQLite, PostgreSQL or MySQL | Optuna's tables | `gridtune_runs` in the same database |
| None | in memory | none |

`stored_study` reads one without changing anything, `study` opens it for writing, one writer at a time.
"""
