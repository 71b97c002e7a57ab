"""Generates bad inputs and checks that each is refused in one way: `python tests/benchmarks/fuzz.py 2000`.

Each is a shipped scenario in which a value is replaced by one that hardly fits, or its text cut or scrambled,
or a trace with broken rows. What is not refused may be valid; nothing may end in a traceback or in a crash
report (exit code 3), take longer than 10 s, or write a file.
"""

import contextlib
import io
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from gridtune import cli
from gridtune.scenarios import shipped_names, shipped_text

VALUES = [
    "true", "-1", "0", "nan", "inf", "1e18", "1e30", "''", "'x'", "[]", "{}", "{law='uniform'}", "1.5",
    "9" * 40, "'1'", "[true]", "{kind=3}", "2020-01-01", "'*'", "'a.b'", "{low=1, high=0}", "-0.0",
]  # fmt: skip
ROW = ["1", "0", "5", "10", "2", "-1", "-1", "2", "20", "-1", *["1"] * 6, "-1", "-1"]
FIELDS = ["nan", "-1", "1e30", "x", "", "9" * 30, "inf", "1.5", "\u0000", "²"]
PATIENCE = 10  # s


def called(*words):
    """Exit code, standard output and standard error of a command in this process."""
    sys.argv = ["gridtune", *map(str, words)]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            cli.main()
        except SystemExit as end:
            return end.code or 0, out.getvalue(), err.getvalue()
    raise AssertionError("a command ends with an exit code")


def document(rng):
    """A scenario's text in which a line has another value, or which was cut or scrambled."""
    lines = shipped_text(rng.choice(list(shipped_names()))).splitlines()
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(lines))
        key, equals, _ = lines[at].partition("=")
        kind = rng.random()
        if equals and kind < 0.8:
            lines[at] = f"{key}= {rng.choice(VALUES)}"
        elif kind < 0.9:
            del lines[at:]
            lines.append("")
        else:
            text = list(lines[at])
            rng.shuffle(text)
            lines[at] = "".join(text)
    return "\n".join(lines)


def trace(rng):
    """Rows of a trace, some of them broken."""
    rows = [list(ROW) for _ in range(rng.randint(1, 5))]
    for row in rows:
        for _ in range(rng.randint(1, 4)):
            row[rng.randrange(len(row))] = rng.choice(FIELDS)
    return "; Version: 2.2\n" + "\n".join(map(" ".join, rows)) + "\n"


def main(count, seed=1):
    """Generate and check; the number of exit codes, and what went wrong."""
    rng = random.Random(seed)
    codes, faults = Counter(), []
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError("took too long")))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(count):
            is_trace = rng.random() < 0.3
            path = folder / ("input.swf" if is_trace else "input.toml")
            path.write_text(trace(rng) if is_trace else document(rng), encoding="utf-8")
            start = time.monotonic()
            signal.alarm(PATIENCE)
            code, out, err = called(*(["trace", "info"] if is_trace else ["validate"]), path)
            signal.alarm(0)
            codes[code] += 1
            said = all(line.startswith("gridtune: ") for line in err.splitlines()) and bool(err) and not out
            clean = [one.name for one in folder.iterdir()] == [path.name]
            fine = code == 0 or (code == 2 and said)
            if not (fine and clean and "Traceback" not in err and time.monotonic() - start < PATIENCE):
                faults.append(
                    f"{number}: {code}: {err.strip()[:200]}\n{path.read_text(encoding='utf-8')[:500]}"
                )
            path.unlink()
    print(dict(codes))
    print("\n\n".join(faults) or "no faults")
    return len(faults)


if __name__ == "__main__":
    raise SystemExit(min(1, main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)))
