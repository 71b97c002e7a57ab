"""Names that a terminal, a shell, a document or a page might obey, in every place that takes a name.

Like `strange_inputs`, each case is the words of a command, with the files that it meets written to a folder.
A name that is obeyed leaves a file called `obeyed`, or shows in what the command prints.
"""

from __future__ import annotations

import copy
import json
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import tomli_w

from gridtune.optimize.search import search
from gridtune.scenarios import load
from tests.search_toys import VARY, toy
from tests.strange_inputs import BASE, SWF_ROW, Ingredients

OBEYED = "obeyed"  # the file that a name leaves which was obeyed
PIECES = [
    "\n", "\nhorizon = 20.0\n", "\r", "\r\n", "\t", "\0", "\x07", "\x08", "\x1b[2J", "\x1b[31m", "\x7f",
    "\x85", "\x9b1m", "\x1b]8;;http://127.0.0.1:9/\x07link\x1b]8;;\x07", "\x1b]0;title\x07", "\u2028",
    "\u2029", "\u202e", "\u2066", "\u200b", "\ufeff", "\U000e0041", "'", '"', "'''", '"""', "\\", "\\n",
    "`", f"`touch {OBEYED}`", f"$(touch {OBEYED})", f"; touch {OBEYED}; ", f"'; touch {OBEYED}; '",
    f"| touch {OBEYED}", "&", "# ", "; ", "-", "--out=x", "$x$", "$\\frac$", "{x}", "%s", "{{7*7}}", "<b>",
    "</script><script>alert(1)</script>", "<a href=http://127.0.0.1:9>x</a>", "&amp;", "../", "/", "~", "=",
    "é", "\u200d", "x" * 210, " ", "[red]", "[link=http://127.0.0.1:9]x[/link]", "=1+1",
]  # fmt: skip

SACCT = """\
JobIDRaw|Submit|Start|End|ElapsedRaw|AllocCPUS|State|User|Account|Partition
100|2026-03-01T10:00:00|2026-03-01T10:05:00|2026-03-01T11:05:00|3600|8|COMPLETED|{user}|{group}|{queue}
"""
OAR = """\
job_id,submission_time,start_time,stop_time,state,job_user,project,queue_name,moldable_walltime,resources
7,1500000000,1500000060,1500000660,Terminated,"{user}","{group}","{queue}",3600,16
"""
PLUGIN = """\
from dataclasses import dataclass
import gridtune as gt
from gridtune.model.gridrpc.disciplines import Discipline
from gridtune.model.policy import register

{decorator}
{object}
"""
POLICY = '''@dataclass(frozen=True)
class Mine(Discipline):
    """First come, first served."""

    def front(self, queue, running, rng):
        return running or min(queue.jobs(), key=lambda job: job.id, default=None)
'''
METRIC = '''def mine(run):
    """One."""
    return 1.0
'''

Place = Callable[[random.Random, str, Ingredients, Path], list[str]]
SEARCH = ["--budget", "1", "--replications", "1", "--jobs", "1", "--sampler", "random"]


def strange_name(rng: random.Random) -> str:
    """Plain letters around one to three pieces."""
    name = "x".join(rng.choice(PIECES) for _ in range(rng.choice([1, 1, 2, 3])))
    return f"{rng.choice(['', 'a', 'a '])}{name}{rng.choice(['', 'b'])}"


def name_case(rng: random.Random, made: Ingredients, folder: Path) -> list[str]:
    """A name in some place."""
    place = rng.choice(PLACES)
    return [word.replace("\0", "\\0") for word in place(rng, strange_name(rng), made, folder)]


def of_element(rng: random.Random, name: str, made: Ingredients, folder: Path) -> list[str]:
    """Of an element, or whatever else has or refers to a name in a document."""
    document = copy.deepcopy(made.documents[rng.choice(list(made.documents))])
    texts: list[tuple[Any, Any]] = []
    level: list[Any] = [document]
    while level:
        at = level.pop()
        pairs = list(at.items() if isinstance(at, dict) else enumerate(at))
        texts += [(at, key) for key, value in pairs if isinstance(value, str)]
        if isinstance(at, dict) and at is not document and rng.random() < 0.2:
            texts.append((at, name))  # a new key
        level += [value for _, value in pairs if isinstance(value, dict | list)]
    at, key = rng.choice(texts)
    at[key] = name
    if rng.random() < 0.5:
        (folder / "manifest.json").write_text(
            json.dumps({"scenario": "x", "document": document, "base": "."})
        )
        return ["validate", "manifest.json"]
    (folder / "mine.toml").write_text(tomli_w.dumps(document), encoding="utf-8")
    return ["validate", "mine.toml"]


def of_scenario(rng: random.Random, name: str, made: Ingredients, folder: Path) -> list[str]:
    """Of the file of a scenario, or in a manifest."""
    document = made.documents[BASE]
    if rng.random() < 0.3:
        about = {"scenario": name, "document": document, "base": "."}
        (folder / "manifest.json").write_text(json.dumps(about))
        return rng.choice([["validate", "manifest.json"], ["run", "manifest.json"]])
    file = f"{name}.toml"
    with suppress(OSError, ValueError):
        (folder / file).write_text(tomli_w.dumps(document))
    return rng.choice(
        [
            ["validate", file],
            ["run", file, "--format", "json"],
            ["search", file, *SEARCH],
            ["sweep", file, "--vary", "client.n_submit=3"],
            ["search", BASE, *SEARCH, "--scenario", file],
            ["search", BASE, *SEARCH, "--start-from", file],
            ["calibrate", "log.swf", "--out", file],
        ]
    )


def of_study(rng: random.Random, name: str, made: Ingredients, folder: Path) -> list[str]:
    """Of a study that is made, or that a stranger has made."""
    if rng.random() < 0.4:
        return ["search", BASE, *SEARCH, "--study", name]
    study = "stranger"
    with patch("gridtune.optimize.studies.study.hidden", return_value=""):  # as others have it
        search(load(BASE), study=name, out=folder / study, work=toy, budget=3, vary=VARY, sampler="random")
    return rng.choice(
        [
            ["front", study],
            ["front", study, "--export", "0"],
            ["front", study, "--export-diff", "0"],
            ["front", study, "--format", rng.choice(["json", "csv", "latex"])],
            ["front", study, "--plot", rng.choice(["x.html", "x.svg"])],
            ["compare", study, study],
            ["sensitivity", study],
        ]
    )


def of_plug_in(rng: random.Random, name: str, made: Ingredients, folder: Path) -> list[str]:
    """Of a plug-in's file, or of what it registers."""
    kind = rng.random()
    file = "mine.py"
    lines = {"decorator": f"@register('discipline', {name!r})", "object": POLICY}
    if kind < 0.4:
        file = f"{name}.py"
    elif kind < 0.7:
        lines = {"decorator": f"@gt.metric({name!r}, unit='', direction='minimize')", "object": METRIC}
    document = {**made.documents[BASE], "plugins": [file]}
    with suppress(OSError, ValueError):
        (folder / file).write_text(PLUGIN.format(**lines))
    (folder / "mine.toml").write_text(tomli_w.dumps(document), encoding="utf-8")
    return rng.choice(
        [["validate", "mine.toml"], ["validate", "mine.toml", "--allow-plugins"], ["trust", "--forget", file]]
    )


def of_trace(rng: random.Random, name: str, made: Ingredients, folder: Path) -> list[str]:
    """Of a trace's file, in its header or in its rows."""
    file, kind = "log.txt", rng.random()
    names = {key: name if rng.random() < 0.5 else "x" for key in ("user", "group", "queue")}
    if kind < 0.3:
        text = SACCT.format(**names)
    elif kind < 0.6:
        text = OAR.format(**{key: value.replace('"', '""') for key, value in names.items()})
    else:
        file = "log.swf" if kind < 0.9 else f"{name}.swf"
        text = f"; Computer: {name}\n; Queue: 1 {name}\n; {name}: 3\n; Note: {name}\n{' '.join(SWF_ROW)}\n"
    with suppress(OSError, ValueError):
        (folder / file).write_text(text, encoding="utf-8")
    return rng.choice(
        [
            ["trace", "info", file],
            ["trace", "info", file, "--format", "json"],
            ["trace", "convert", file, "new.swf"],
        ]
    )


def of_run(rng: random.Random, name: str, made: Ingredients, folder: Path) -> list[str]:
    """In the files of a run, or of its folder."""
    import pandas as pd

    run = "run"
    if rng.random() < 0.3:
        run = name
    with suppress(OSError, ValueError, shutil.Error):
        shutil.copytree(made.run, folder / run)
    where = folder / "run"
    if where.exists():
        kind = rng.random()
        if kind < 0.3:
            about = json.loads((where / "manifest.json").read_text())
            (where / "manifest.json").write_text(json.dumps({**about, "scenario": name}))
        elif kind < 0.6:
            metrics = (where / "metrics.json").read_text()
            (where / "metrics.json").write_text(metrics.replace('"completed"', json.dumps(name)))
        else:
            jobs = pd.read_parquet(where / "jobs.parquet")
            column = rng.choice([column for column in jobs if jobs[column].dtype == object] or ["user"])
            jobs.assign(**{column: name}).to_parquet(where / "jobs.parquet")
    kinds = ["gantt", "signals", "queues", "users", "classes", "waits"]
    return rng.choice([["plot", run, rng.choice(kinds), "--out", "x.svg"], ["compare", run, run]])


def of_option(rng: random.Random, name: str, made: Ingredients, folder: Path) -> list[str]:
    """In a word of a command."""
    place = rng.choice(
        [
            ["scenarios", "show", name],
            ["policies", "--family", name],
            ["run", BASE, "--set", f"client.dispatch={name}"],
            ["run", BASE, "--set", f"{name}=1"],
            ["run", BASE, "--set", f"title={json.dumps(name)}"],
            ["sweep", BASE, "--vary", f"client.dispatch={name},legacy"],
            ["sweep", BASE, "--vary", "client.n_submit=3", "--objective", name],
            ["search", BASE, *SEARCH, "--objective", name],
            ["search", BASE, *SEARCH, "--require", f"{name}<=1"],
            ["search", BASE, *SEARCH, "--sampler", name],
            ["front", "study", "--export", name],
            ["front", "study", "--prefer", name],
            ["front", name],
            ["explain", "study", name],
            ["plot", "run", name, "--out", "x.png"],
            ["plot", "run", "users", "--out", f"{name}.svg"],
            ["identify", "cigri/file-system", "--harvester", name],
            ["reproduce", name],
            ["watch", name],
        ]
    )
    shutil.copytree(made.run, folder / "run")
    shutil.copytree(made.study, folder / "study")
    return place


PLACES: list[Place] = [of_element, of_element, of_scenario, of_study, of_plug_in, of_trace, of_run, of_option]
