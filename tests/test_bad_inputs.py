"""What must be refused is refused: one way out, a line that names what is wrong, and nothing written."""

import gzip
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from calls import call  # noqa: F401 - a fixture
from gridtune import limits

TABLE = tomllib.loads(Path(__file__).with_name("bad_inputs.toml").read_text(encoding="utf-8"))
ROW = b"1 0 0 10 1 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n"

# Inputs that are too large or too strange to be written out, by the name that stands for them.
MADE = {
    "DEEP LIST": "a = " + "[" * 100_000,
    "DEEP TABLE": f"title = 'x'\n[{'.'.join('a' * 200)}]\nb = 1\n",
    "LONG NUMBER": f"title = 'x'\nstep_length = {'9' * 5000}\n",
    "MANY TABLES": "title = 'x'\n" + "[[site]]\n" * (limits.ELEMENTS + 1),
    "NOT TEXT": b"title = '\xff\xfe'\n",
    "LONG LINE": gzip.compress(b"; " + b"x" * (limits.LINE_BYTES * 2)),
    "BOMB": gzip.compress((b";" + b" " * 999 + b"\n") * 110_000),
    "CUT GZIP": gzip.compress(ROW * 1000)[:-20],
    "BAD GZIP": gzip.compress(ROW * 1000)[:20] + b"x" * 40,
    "BINARY": bytes(range(256)) * 20,
}


def rows():
    """Kind, base, input and what the line must name, of every case."""
    for kind, tables in TABLE.items():
        for table in tables:
            for given, *named in table["cases"]:
                yield pytest.param(kind, table.get("base"), given, named, id=f"{kind}: {given[:60]!r}")


def written(folder, kind, given):
    """A file with an input of that kind."""
    content = MADE.get(given, given)
    suffix = {"document": ".toml", "trace": ".swf", "manifest": ".json"}[kind]
    path = folder / f"input{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return path


def words(folder, kind, base, given):
    """The command that meets an input."""
    if kind == "set":
        return ["run", base, "--set", given]
    if kind == "call":
        return shlex.split(given)
    path = written(folder, kind, given)
    return {"document": ["validate"], "trace": ["trace", "info"], "manifest": ["run"]}[kind] + [path]


def test_the_table_is_long():
    assert len(list(rows())) >= 300


@pytest.mark.long
@pytest.mark.parametrize(("kind", "base", "given", "named"), [*rows()])
def test_it_is_refused(kind, base, given, named, call, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    command = words(tmp_path, kind, base, given)
    before = sorted(tmp_path.rglob("*"))
    result = call(*command)
    assert (result.code, result.out) == (2, ""), result.err
    lines = result.err.splitlines()
    assert lines
    assert all(line.startswith("gridtune: ") for line in lines), result.err
    assert all(len(line) < 5000 for line in lines)
    assert not re.search(r"function-|constrained|tagged|\binstance\b|\bdictionary\b", result.err), result.err
    assert all(re.search(pattern, result.err) for pattern in map(_pattern, named)), result.err
    assert sorted(tmp_path.rglob("*")) == before


def _pattern(text):
    return "|".join(map(re.escape, text.split("|")))
