"""What made each table and picture of the pages, at which commit, and how often its code has changed since.

    python docs/making/evidence.py                          # lists all
    python docs/making/evidence.py --run federation.json …  # measures again; `--run older` takes nights

A measurement that is interrupted goes on where it was when it is started again. The last command of each
writes into docs/data; `tables.py` shows that in the pages. `figures.py PAGE` draws the pictures of a page.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from pages import DOCS, ROOT, pages, pictures

MODEL = ("model", "agents", "scenarios")
ALL = (*MODEL, "optimize")
BENCH = "python -m tests.benchmarks."
SIGNAL = "batch/replay cigri/search dirac/search egee/search federation/small federation/lcg-week"
WEEK = "--scenario federation/lcg-week --runs 160 --seeds 1 --validation 5 --samplers auto"
ENDLESS = "--minutes 1e9"


class Evidence(NamedTuple):
    """Something measured or drawn that pages show.

    Attributes:
        path: the file or folder, below docs.
        commands: that make it, where `WORK` is a folder for what they keep.
        rests_on: folders of code.
        needs: what a machine must have for it.
    """

    path: str
    commands: tuple[str, ...]
    rests_on: tuple[str, ...] = ALL
    needs: str = ""


def measured(name: str, *words: str, rests_on: tuple[str, ...] = ALL, needs: str = "") -> Evidence:
    """A file of docs/data, made by one call or several of modules of tests/benchmarks."""
    return Evidence(f"data/{name}", tuple(BENCH + one for one in words), rests_on, needs)


def kept(name: str, module: str, rests_on: tuple[str, ...] = ALL, needs: str = "") -> Evidence:
    """A file of docs/data that a module adds to, row by row."""
    return measured(name, f"{module} --rows docs/data/{name}", rests_on=rests_on, needs=needs)


MEASURED = (
    measured(
        "signal.json",
        f"bench_signal --work WORK {SIGNAL}",
        f"bench_signal --work WORK --rows docs/data/signal.json {SIGNAL}",
        rests_on=MODEL,
    ),
    measured(
        "saboteurs.json",
        "bench_saboteurs --work WORK",
        "bench_saboteurs --work WORK --rows docs/data/saboteurs.json",
    ),
    measured(
        "search_quality.jsonl",
        "search_quality stand-in 100",
        "search_quality stand-in 300",
        "search_quality stand-in 100 --alone",
        "search_quality stand-in 300 --alone",
        *(f"search_quality stand-in 100 --alone --sampler {one}" for one in ("tpe", "nsga2", "random")),
    ),
    kept("answers.json", "answers --work WORK"),
    measured("recommended.jsonl", "recommended"),
    kept("federation.json", "federation --work WORK"),
    kept("federation_week.json", f"federation {WEEK} --work WORK"),
    kept("federation_effects.json", "federation_effects", MODEL),
    kept("federation_parts.json", "federation_parts", MODEL),
    measured(
        "four_parameters.json",
        "four_parameters --work WORK --seconds 1e9",
        "four_parameters --work WORK --show",
        rests_on=MODEL,
    ),
    measured(
        "parallel.json",
        "parallel --work WORK",
        "parallel --work WORK --rows docs/data/parallel.json",
        rests_on=MODEL,
    ),
    kept("calibrated.json", "calibrated_logs --work WORK", MODEL, "real traces"),
    measured(
        "held_out.json",
        "answers --work WORK --rows WORK/answers.json",
        "held_out --work WORK --rows docs/data/held_out.json",
        needs="real traces",
    ),
    kept("my_log.json", "my_log --work WORK", ALL, "real traces"),
    measured("claims", f"claims {ENDLESS}", rests_on=MODEL),
    measured("claim_mutants.json", f"claims --mutants {ENDLESS}", rests_on=MODEL),
    measured("inference.jsonl", "inference few-layers", rests_on=("optimize",)),
    measured("claim_seeds.json", f"claims --seeds {ENDLESS}", rests_on=MODEL),
    measured("event_price.json", "event_price > docs/data/event_price.json", rests_on=("model",), needs="cc"),
    measured("profile_shares.json", "profile_shares > docs/data/profile_shares.json", rests_on=MODEL),
    kept("scaling.jsonl", "scaling", MODEL),
    measured("time_left.json", "time_left --work WORK"),
    kept("peers.json", "beside_peers --peer PYTHON", MODEL, "AccaSim"),
    kept("fuzz.json", f"fuzz 2000 {ENDLESS}"),
    kept("io_faults.json", f"io_faults {ENDLESS}", ALL, "cc"),
    kept("full_disk.json", f"full_disk DISK {ENDLESS}", ALL, "a small file system"),
    kept("kills.json", f"kills {ENDLESS}", ALL, "PostgreSQL"),
    kept("mutants.json", f"mutants {ENDLESS}"),
)


def drawn() -> list[Evidence]:
    """The pictures of each page; those of the gallery are drawn by its programs."""
    found = []
    for page in pages():
        name = page.relative_to(DOCS).with_suffix("").as_posix()
        for picture in pictures(page):
            program = f"docs/gallery/{picture.stem.removeprefix('gallery-')}.py"
            command = program if name == "gallery" else f"docs/making/figures.py {name}"
            found.append(Evidence(picture.relative_to(DOCS).as_posix(), (f"python {command}",)))
    return found


def git(*words: str) -> str:
    """What git prints.

    Raises:
        CalledProcessError: this is no checkout.
    """
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def age(one: Evidence) -> tuple[str, int]:
    """The commit and day of a file's last change, and how many commits have changed its code since."""
    made = git("log", "-1", "--format=%h %cs", "--", f"docs/{one.path}").strip()
    if not made:
        return "not measured", 0
    since = git("rev-list", "--count", f"{made.split()[0]}..HEAD", "--", *one.rests_on)
    return made, int(since)


def listed() -> str:
    """A line for each measurement and picture."""
    lines = []
    for one in (*MEASURED, *drawn()):
        made, since = age(one)
        changed = f"{since} changes since" if since else ""
        lines.append(f"{one.path:36} {made:20} {changed:20} {one.commands[-1]}")
    return "\n".join(lines)


def run(one: Evidence) -> None:
    """Measure again: the old rows go, unless this measurement was interrupted.

    Raises:
        CalledProcessError: a command failed.
    """
    work = ROOT / "results/evidence" / one.path.replace("/", "-")
    old = DOCS / one.path
    if not work.exists():
        work.mkdir(parents=True)
        shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)
    for command in one.commands:
        words = command.replace("python", shlex.quote(sys.executable), 1).replace(
            "WORK", shlex.quote(str(work))
        )
        print(words, flush=True)
        subprocess.run(words, shell=True, cwd=ROOT, check=True)
    shutil.rmtree(work)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--run", nargs="+", metavar="NAME", help="files to measure again, or `older`")
    asked = parser.parse_args()
    if not asked.run:
        print(listed())
        return
    for one in MEASURED:
        older = "older" in asked.run and not one.needs and age(one)[1]
        if older or Path(one.path).name in asked.run:
            run(one)


if __name__ == "__main__":
    main()
