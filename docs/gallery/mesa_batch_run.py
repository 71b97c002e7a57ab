"""A scenario in Mesa's own batch_run: how many requests a client submits at once."""

import math

import mesa
import pandas as pd
import seaborn as sns

import gridtune as gt

rows = mesa.batch_run(
    gt.GridModel,
    {
        "scenario": "diet/day-regular",
        "client__dispatch": "legacy",
        "client__n_submit": [50, 100, 190],
        "replication": range(3),
        "step_length": math.inf,
    },
    display_progress=False,
)
grid = sns.catplot(
    pd.DataFrame(rows), x="client__n_submit", y="unfairness", kind="point", height=3.5, aspect=1.5
)
grid.savefig("mesa_batch_run.png", dpi=100)
