"""Inputs that hardly fit, made at random: documents, paths, traces, manifests, options, runs, studies.

Each is the words of a command, with the files that it meets written to a folder. `ingredients` makes what
they start from, once.
"""

from __future__ import annotations

import bz2
import contextlib
import copy
import gzip
import json
import lzma
import os
import random
import shutil
import sqlite3
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gridtune.scenarios import load, shipped_names, shipped_text
from gridtune.scenarios.api.experiment import Scenario
from tests.calls import all_commands

BASE = "diet/day-regular"
DEEP: list[Any] = []
for _ in range(200):
    DEEP = [DEEP]
CHAIN: dict[str, Any] = {}
for _ in range(200):
    CHAIN = {"a": CHAIN}

# What stands for a value of a document.
STRANGE: list[Any] = [
    True, False, None, -1, 0, 1, 2, 1.5, -0.0, 1e-320, 1e18, 1e30, 1e308, float("nan"), float("inf"),
    float("-inf"),
    10**9, 10**18, 10**40, 10**400, -(10**40), "", " ", "x", "1", "1.5", "true", "*", "a.b", "a=b",
    "\u0000", "\ud800", "é",
    "\u202e", "x" * 10_000, "../..", "/dev/null", "/dev/zero", "pipe.swf", ".", "nan", "inf", "easy",
    "legacy", "poisson",
    [], [0], [[]], [True], [None], ["a", "a"], [1, "a"], list(range(3000)), {}, {"": 1}, {"kind": 3},
    {"kind": "easy"},
    {"law": "uniform"}, {"law": "uniform", "low": 1, "high": 0}, {"law": "normal", "mean": 0, "sd": 1e30},
    {"name": "a"},
    {"low": 1, "high": 0}, {"low": 0, "high": 1, "log": True}, {"choices": []}, {"a": {"b": {"c": 1}}},
    DEEP, CHAIN,
]  # fmt: skip

# The same as text of TOML; some of it is none.
LITERALS = [
    "true", "-1", "0", "nan", "inf", "1e18", "1e30", "''", "'x'", "[]", "{}", "{law='uniform'}", "1.5",
    "9" * 40, "'1'",
    "[true]", "{kind=3}", "2020-01-01", "12:00:00", "'*'", "'a.b'", "{low=1, high=0}", "-0.0", "9" * 5000,
    "0x" + "f" * 40,
    "1_000_000_000_000", '"\\u0000"', "'é'", "[" * 500, "[" * 50 + "]" * 50, "{a=" * 60 + "1" + "}" * 60,
    "'''", '"',
    "1e400", "-inf", "{}{}", "[1,'a']", "'" + "x" * 100_000 + "'", "#", "", "{a.b.c=1}", "1e-400",
]  # fmt: skip

# What stands for the value of an option.
WORDS = [
    "", " ", "x", "-1", "0", "1.5", "1e9", "1e400", "nan", "inf", "9" * 40, "9" * 5000, "true", "None",
    "0x10", "²", "é",
    "\udcff", "\u202e", "*", "a=b", "=", "a=", "=1", "a..b=1", "a:b", ":", "1:2", "0:inf", "nan:nan", "5:1",
    "1:1:1", "/",
    ".", "..", "/dev/null", "/dev/zero", "/dev/full", "/proc/self/mem", "pipe", "nowhere",
    "nowhere/below.png", "file.txt",
    "file.txt/below", "read-only/x.png", "folder", "sqlite:", "sqlite://", "sqlite:///",
    "sqlite:///nowhere/x.db",
    "sqlite:///file.txt", "sqlite:///pipe", "sqlite:///folder", "postgresql://a:b@127.0.0.1:1/x",
    "mysql://x", "://", "a://",
    "redis://127.0.0.1:1", "tcp://127.0.0.1:1", "x" * 300, "x" * 100_000, "--", "-", "-x", "--help=1", "'",
    '"', "{}", "[]",
    "%s", "%n", "{0}", "$(true)", "\\", "\n", "a\nb", "\r", "\x1b[31m", "completed", "completed<=x",
    "completed<=nan",
    "completed<=", "<=5", "nonsense<=5", "completed=5", "mean", "worst", "quantile:", "quantile:2",
    "quantile:nan",
    "client.n_submit=1:2:3:4", "client.n_submit=5:1", "client.n_submit=nan:inf", "client.n_submit=0:9:log",
    "client.n_submit=1:9:1e12", "client.n_submit=", "client.n_submit=a,b", "client=1,2", "title=a,b",
    "nonsense=1:2",
    "client.n_submit=" + ",".join(map(str, range(20_000))), "sed.*.speed=1:2:x",
    "client.dispatch=legacy,nonsense",
    "search.space=1", "horizon=1:1e300", "client.n_submit=1:2:-3", "sed.speed=1:2:3:linear",
    "parts.sed=true,false",
]  # fmt: skip

FIELDS = [
    "nan", "-1", "1e30", "x", "", "9" * 30, "9" * 5000, "inf", "-inf", "1.5", "\0", "²", "é", "0", "-0",
    "1e-400",
    "0x10", "1_000", "+5", "--5", "5,5", "\t", "\x1c", "\u2028", "1" * 19, "99999999999999999", "1,2,3",
    "\udcff",
]  # fmt: skip
SWF_ROW = ["1", "0", "5", "10", "2", "-1", "-1", "2", "20", "-1", *["1"] * 6, "-1", "-1"]
GWF_ROW = [*SWF_ROW[:11], "u1", "g1", "a1", "q1", "p1", "s1", "s2", *["-1"] * 11]
HEADERS = [
    "; Version: 2.2", "; MaxProcs: 128", "; MaxProcs: -1", "; MaxProcs: 1e30", "; MaxNodes: " + "9" * 5000,
    "; UnixStartTime: x",
    "; UnixStartTime: " + "9" * 30, "; TimeZoneString: ../../etc/passwd", "; Queue: 1 a\0b", "# GWF",
    ";" * 1000, "; é\udcff",
    "; MaxProcs: nan", ";", "\ufeff; Version: 2", "; MaxQueues: 2", "; Note: " + "x" * 10_000,
]  # fmt: skip


@dataclass(frozen=True)
class Ingredients:
    """What strange inputs are made from.

    Attributes:
        run: folder of a run.
        study: folder of a search.
        database: a search's SQLite file.
        documents: of all shipped scenarios, parsed.
        texts: of the same.
    """

    run: Path
    study: Path
    database: Path
    documents: dict[str, dict[str, Any]]
    texts: list[str]


def ingredients(folder: Path) -> Ingredients:
    """Make a run and two searches in a folder."""
    from gridtune.optimize.search import search

    scenario = Scenario.of(load(BASE))
    scenario.run(events=True, out=folder / "run")
    options: dict[str, Any] = {"budget": 3, "replications": 2, "sampler": "random"}
    search(scenario, **options, out=folder / "study")
    search(scenario, **options, storage=f"sqlite:///{folder / 'study.db'}")
    texts = {name: shipped_text(name) for name in shipped_names()}
    return Ingredients(
        folder / "run",
        folder / "study",
        folder / "study.db",
        {name: tomllib.loads(text) for name, text in texts.items()},
        list(texts.values()),
    )


def furniture(folder: Path) -> None:
    """What words may name: a text, a folder, a pipe, a folder that cannot be written."""
    (folder / "file.txt").write_text("dear diary\n")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    os.mkfifo(folder / "pipe.swf")
    (folder / "read-only").mkdir(mode=0o555)


def changed_text(rng: random.Random, text: str) -> str:
    """A document in which some lines have another value, or which was cut, doubled or scrambled."""
    lines = text.splitlines()
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(lines))
        key, equals, _ = lines[at].partition("=")
        kind = rng.random()
        if equals and kind < 0.6:
            lines[at] = f"{key}= {rng.choice(LITERALS)}"
        elif kind < 0.7:
            del lines[at:]
            lines.append("")
        elif kind < 0.8:
            lines.insert(rng.randrange(len(lines)), lines[at])
        elif kind < 0.9:
            lines.insert(
                at,
                rng.choice(
                    ["[a]", "[[site]]", "[" + ".".join("a" * 90) + "]", "x", "\0", "'é' = 1", "[search]"]
                ),
            )
        else:
            letters = list(lines[at])
            rng.shuffle(letters)
            lines[at] = "".join(letters)
    return "\n".join(lines)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every table or list with a key or place in it, from the outside in."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in list(inner):
        yield value, key
        yield from places(below)


def changed_tree(rng: random.Random, tree: Any, times: int = 2) -> Any:
    """A document or JSON in which some values are others, are missing, doubled, renamed or wrapped."""
    made = copy.deepcopy(tree)
    for _ in range(rng.randint(1, times)):
        known = list(places(made))
        if not known:
            return rng.choice(STRANGE)
        where, key = rng.choice(known)
        kind = rng.random()
        if kind < 0.55:
            where[key] = copy.deepcopy(rng.choice(STRANGE))
        elif kind < 0.65:
            del where[key]
        elif kind < 0.75:
            where[key] = [where[key]] if rng.random() < 0.5 else {"kind": where[key]}
        elif kind < 0.85 and isinstance(where, dict):
            where[rng.choice(["", "x", "é", "a.b", "kind", "name", "\ud800", f"{key}s"])] = where.pop(key)
        elif isinstance(where, list):
            where += copy.deepcopy(where) * rng.choice([1, 1, 500])
        else:
            other, there = rng.choice(known)
            where[key] = copy.deepcopy(other[there])
    return made


def trace(rng: random.Random) -> bytes:
    """Rows of a trace, some of them broken, perhaps packed, perhaps badly."""
    rows = [list(rng.choice([SWF_ROW, SWF_ROW, GWF_ROW])) for _ in range(rng.randint(0, 6))]
    for row in rows:
        for _ in range(rng.randint(0, 4)):
            row[rng.randrange(len(row))] = rng.choice(FIELDS)
        if rng.random() < 0.2:
            del row[rng.randrange(len(row)) :]
    heads = [rng.choice(HEADERS) for _ in range(rng.randint(0, 3))]
    lines = [*heads, *(rng.choice([" ", " ", "\t", ","]).join(row) for row in rows)]
    if rng.random() < 0.2:
        rng.shuffle(lines)
    text = rng.choice(["\n", "\n", "\r\n", "\r"]).join(lines).encode("utf-8", "surrogateescape")
    text = rng.choice([bytes, gzip.compress, bz2.compress, lzma.compress])(text)
    return changed_bytes(rng, text) if rng.random() < 0.4 else text


def changed_bytes(rng: random.Random, content: bytes) -> bytes:
    """Bytes of which some are others, are missing or doubled."""
    if not content:
        return b"\0"
    at, kind = rng.randrange(len(content)), rng.random()
    if kind < 0.3:
        return content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :]
    if kind < 0.5:
        return content[:at]
    if kind < 0.7:
        return content[:at] + content[at + rng.randint(1, 200) :]
    if kind < 0.85:
        length = rng.randint(1, 600)
        return content[:at] + bytes(length) + content[at + length :]
    return content[:at] + content[at - rng.randint(0, 300) :]


def changed_lines(rng: random.Random, content: bytes) -> bytes:
    """A journal in which a record is another, with or without its checksum."""
    lines = content.splitlines(keepends=True)
    at, kind = rng.randrange(len(lines)), rng.random()
    if kind < 0.15:
        del lines[at]
    elif kind < 0.3:
        lines.insert(rng.randrange(len(lines)), lines[at])
    else:
        log = json.loads(lines[at])
        if kind < 0.8:  # as from before there were checksums
            for line in range(len(lines)):
                bare = json.loads(lines[line])
                bare.pop("record", None), bare.pop("check", None)
                bare.get("user_attr", {}).get("gridtune", {}).pop("identity", None)
                bare.get("user_attr", {}).get("gridtune", {}).pop("check", None)
                lines[line] = json.dumps(bare).encode() + b"\n"
            log = json.loads(lines[at])
        lines[at] = json.dumps(changed_tree(rng, log)).encode() + b"\n"
    return b"".join(lines)


def text_case(rng: random.Random, made: Ingredients, folder: Path) -> list[str]:
    """A scenario's text."""
    text = changed_text(rng, rng.choice(made.texts)).encode("utf-8", "surrogatepass")
    if rng.random() < 0.1:
        text = changed_bytes(rng, text)
    (folder / "mine.toml").write_bytes(text)
    return ["validate", "mine.toml"]


def document_case(rng: random.Random, made: Ingredients, folder: Path) -> list[str]:
    """A scenario's tables, in a manifest."""
    name = rng.choice(list(made.documents))
    document = changed_tree(rng, made.documents[name], times=3)
    about = {"scenario": name, "document": document, "base": "."}
    (folder / "manifest.json").write_text(json.dumps(about))
    return ["validate", "manifest.json"]


def manifest_case(rng: random.Random, made: Ingredients, folder: Path) -> list[str]:
    """The manifest of a run; what it leads to is not run."""
    about = json.loads((made.run / "manifest.json").read_text())
    about["resolved"] = about["versions"] = {}
    content = json.dumps(changed_tree(rng, about)).encode()
    if rng.random() < 0.3:
        content = changed_bytes(rng, content)
    (folder / "manifest.json").write_bytes(content)
    return ["validate", "manifest.json"]


def search_case(rng: random.Random, made: Ingredients, folder: Path) -> list[str]:
    """A scenario whose `[search]` is another."""
    document = copy.deepcopy(made.documents[BASE])
    document["search"] = changed_tree(rng, document["search"], times=3)
    if rng.random() < 0.3 and isinstance(document["search"], dict):
        space = document["search"].setdefault("space", {})
        if isinstance(space, dict):
            space[
                rng.choice(
                    ["client.n_submit", "horizon", "title", "client", "sed.count", "search.space", "", "a.b"]
                )
            ] = copy.deepcopy(rng.choice(STRANGE))
    (folder / "manifest.json").write_text(json.dumps({"scenario": "x", "document": document, "base": "."}))
    return [
        "search",
        "manifest.json",
        "--budget",
        "1",
        "--replications",
        "1",
        "--jobs",
        "1",
        "--out",
        "file.txt/below",
    ]


def set_case(rng: random.Random, made: Ingredients, folder: Path) -> list[str]:
    """A path with a value, of any scenario; what is fit to run is not run, as it has nowhere to write to."""
    name = rng.choice([BASE, BASE, *made.documents])
    paths = [path_of(rng, made.documents[name]) for _ in range(rng.choice([1, 1, 2]))]
    words = [
        word for path in paths for word in ("--set", f"{path}={rng.choice(LITERALS).replace(chr(0), '')}")
    ]
    return ["run", name, *words, "--out", "file.txt/below"]


def path_of(rng: random.Random, document: dict[str, Any]) -> str:
    """A dotted path that leads somewhere, or nearly."""
    parts: list[str] = []
    value: Any = document
    while isinstance(value, dict | list) and value and (not parts or rng.random() < 0.85):
        if isinstance(value, list):
            at = rng.randrange(len(value))
            value = value[at]
            parts.append(
                rng.choice(["*", str(value.get("name", at)) if isinstance(value, dict) else str(at)])
            )
        else:
            key = rng.choice(list(value))
            value = value[key]
            parts.append(key)
    if rng.random() < 0.3:
        parts.insert(
            rng.randrange(len(parts) + 1),
            rng.choice(["", "x", "*", "é", "0", "-1", "kind", "a" * 300, "name"]),
        )
    return ".".join(parts)


def trace_case(rng: random.Random, made: Ingredients, folder: Path) -> list[str]:
    """A trace to look into, or to be replayed."""
    name = f"log.{rng.choice(['swf', 'gwf', 'swf.gz', 'gwf.gz', 'swf.bz2', 'swf.xz', 'txt'])}"
    (folder / name).write_bytes(trace(rng))
    if rng.random() < 0.7:
        return ["trace", "info", name, *(["--format", "json"] if rng.random() < 0.3 else [])]
    return ["validate" if rng.random() < 0.5 else "run", "replay.toml"] if _replay(rng, folder, name) else []


def _replay(rng: random.Random, folder: Path, name: str) -> bool:
    document = shipped_text("batch/replay")
    lines = []
    for line in document.splitlines():
        key = line.partition("=")[0].strip()
        lines.append(f'trace = "{name}"' if key in ("trace", "path", "file") else line)
    (folder / "replay.toml").write_text("\n".join(lines))
    return True


def commands_of(app: Any) -> dict[str, Any]:
    """Every command by its words."""
    return {" ".join(words): command for words, command in all_commands(app)}


# A command that is cheap if nothing is wrong with it, and that must not be cut short by what it is given
# first.
CALLS: dict[str, list[str]] = {
    "trace convert": ["log.swf", "new.swf"], "scenarios list": [], "scenarios show": [BASE], "policies": [],
    "trust": [], "schema": [],
    "validate": [BASE],
    "run": [BASE], "sweep": [BASE, "--vary", "client.n_submit=3,4"],
    "search": [BASE, "--budget", "1", "--sampler", "random", "--jobs", "1"], "front": ["study"],
    "sensitivity": ["study"],
    "explain": ["study", "0", "--replications", "1", "--jobs", "1"], "plot": ["run", "gantt", "--out",
    "g.png"],
    "reproduce": ["nonsense"], "identify": ["cigri/file-system"], "trace info": ["log.swf"],
    "compare": ["run", "run"], "calibrate": ["log.swf"],
}  # fmt: skip
# Valid values of these may keep a machine busy for long, start a server, or ask for a traceback.
NOT_AT_RANDOM = {
    "--version",
    "--help",
    "--dask",
    "--install-completion",
    "--show-completion",
    "--traceback",
    "--browser",
    "--steps",
}


def option_case(
    commands: dict[str, Any],
) -> Callable[[random.Random, Ingredients, Path], list[str]]:
    """A command one or two of whose options or arguments hardly fit."""
    known = {name: command for name, command in commands.items() if name in CALLS}

    def case(rng: random.Random, made: Ingredients, folder: Path) -> list[str]:
        name = rng.choice(list(known))
        words = list(CALLS[name])
        options = [
            parameter
            for parameter in known[name].params
            if parameter.param_type_name == "option" and not NOT_AT_RANDOM & set(parameter.opts)
        ]
        shutil.copytree(made.run, folder / "run")
        shutil.copytree(made.study, folder / "study")
        (folder / "log.swf").write_text(" ".join(SWF_ROW) + "\n")
        for _ in range(rng.choice([1, 1, 2])):
            if words and rng.random() < 0.25 and not words[0].startswith("-"):
                words[rng.randrange(len([w for w in words if not w.startswith("-")][:2]))] = rng.choice(WORDS)
            elif options:
                option = rng.choice(options)
                word = rng.choice(WORDS)
                flag = rng.choice(option.opts)
                words += [flag] if option.is_flag else [flag, word]
            else:
                words.append(rng.choice(WORDS))
        return [*name.split(), *words]

    return case


def study_case(rng: random.Random, made: Ingredients, folder: Path) -> list[str]:
    """A journal or database that was damaged, or holds something else."""
    words: Sequence[Sequence[str]]
    if rng.random() < 0.6:
        shutil.copytree(made.study, folder / "study")
        path, where = folder / "study" / "study.journal", "study"
        content = path.read_bytes()
        path.write_bytes(changed_lines(rng, content) if rng.random() < 0.6 else changed_bytes(rng, content))
        place = ["--storage", "study/study.journal"]
    else:
        path, where = folder / "study.db", "sqlite:///study.db"
        path.write_bytes(made.database.read_bytes())
        if rng.random() < 0.6:
            _changed_row(rng, path)
        else:
            path.write_bytes(changed_bytes(rng, path.read_bytes()))
        place = ["--storage", where]
    search = ["search", BASE, "--budget", "4", "--replications", "2", "--sampler", "random", "--jobs", "1"]
    words = [
        ["front", where], ["front", where, "--salvage"], ["front", where, "--format", "latex"],
        ["front", where, "--plot", "x.png"], ["explain", where, "0", "--replications", "1", "--jobs", "1"],
        ["sensitivity", where], [*search, *place, "--resume"], [*search, *place],
    ]  # fmt: skip
    return list(rng.choice(words))


def _changed_row(rng: random.Random, path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        table = rng.choice(tables)
        columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
        kind = rng.random()
        if kind < 0.15:
            connection.execute(f"DROP TABLE {table}")
        elif kind < 0.3:
            connection.execute(f"DELETE FROM {table} WHERE rowid % 2 = 0")
        else:
            value = rng.choice(
                [None, -1, 1e300, "x", "", "{}", "[]", "NaN", "\0", b"\xff\0", "9" * 5000, "[" * 5000]
            )
            with contextlib.suppress(sqlite3.IntegrityError):
                connection.execute(f"UPDATE OR IGNORE {table} SET {rng.choice(columns)} = ?", (value,))


def run_case(rng: random.Random, made: Ingredients, folder: Path) -> list[str]:
    """The folder of a run of which a file is damaged, missing or something else."""
    import pandas as pd

    shutil.copytree(made.run, folder / "run")
    for _ in range(rng.randint(1, 2)):
        path = rng.choice(sorted(path for path in (folder / "run").iterdir() if path.is_file()))
        kind = rng.random()
        if kind < 0.2:
            path.unlink()
            continue
        if kind < 0.5 and path.suffix == ".parquet":
            path.write_bytes(made.run.joinpath(path.name).read_bytes())
            table = pd.read_parquet(path)
            column = rng.choice(list(table.columns))
            value = rng.choice([None, "x", -1.0, float("nan"), float("inf"), 1e300, True, b"\xff"])
            changed = table.drop(columns=column) if rng.random() < 0.3 else table.assign(**{column: value})
            (changed if rng.random() < 0.8 else changed.iloc[:0]).to_parquet(path)
        elif kind < 0.8 and path.suffix == ".json":
            whole = made.run.joinpath(path.name).read_text()
            path.write_text(json.dumps(changed_tree(rng, json.loads(whole))))
        else:
            path.write_bytes(changed_bytes(rng, path.read_bytes()))
    if rng.random() < 0.2:
        return ["compare", "run", rng.choice(["run", "run/metrics.json", "run/manifest.json"])]
    kinds = ["gantt", "signals", "queues", "users", "classes", "messages", "waits", "nonsense"]
    words = [
        "plot",
        "run",
        rng.choice(kinds),
        "--out",
        rng.choice(["x.png", "x.svg", "x.pdf", "x.txt", "run"]),
    ]
    return words + (["--window", rng.choice(WORDS)] if rng.random() < 0.3 else [])
