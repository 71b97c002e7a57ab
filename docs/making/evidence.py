"""What made each table and picture of the pages, at which commit, and whether that is out of date.

    python docs/making/evidence.py                          # lists all
    python docs/making/evidence.py --run federation.json …  # measures again; `--run older` takes nights

What gridtune finds is out of date if results on which it rests have changed since (`results.py`); speed and
robustness, if code has, but for comments and docstrings. A measurement that is interrupted goes on where it
was when it is started again. The last command of each writes into docs/data; `tables.py` shows that in the
pages. `figures.py PAGE` draws the pictures of a page.
"""

from __future__ import annotations

import argparse
import ast
import shlex
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from figures import WATCH
from pages import DOCS, ROOT, name_of, pages, pictures
from stamps import changes, git, made, stamp

SIMULATOR = ("model", "agents", "scenarios")
CODE = (*SIMULATOR, "optimize")
KEEPING = (  # how runs, studies and results are written and read again
    "optimize/runs", "optimize/studies", "optimize/search.py", "optimize/exploration.py",
    "optimize/validation.py", "scenarios/results", "scenarios/workers",
)  # fmt: skip
PLOTS = "scenarios/plots"
SYSTEMS = ("batch", "cigri", "deadline", "diet", "dirac", "egee")
OF_SEARCHES = {  # what else pictures of these pages rest on, and draws them
    "README": ("search?federation/*", "optimize/report/pictures"),
    "quick-start": ("search?diet/*", "optimize/report/pictures"),
    "searching": ("search?dirac/*", "optimize/report/pictures"),
    "sensitivity-and-explanation": ("search?dirac/*", "optimize/importance/picture.py"),
}
CALIBRATION = ("scenarios/calibration",)
CLAIMED = "diet/[!a]* dirac/[!a]* egee/[!a]* cigri/[!a]* deadline/[!a]* batch/*"  # none in an afternoon
RUNS = "[!s]*/[!l]*"  # runs, but of the longest logs, which are not drawn; others are `search (long) NAME`
LONG = "search?long*"  # (patterns have no spaces) where at least eight configurations were validated
METRICS = ("model/metrics",)  # what waits mean, which no digest of jobs shows
ARENAS = f"search?d* {LONG}"  # searches as those of the benchmarks whose truth is known
LOGS = f"batch/* search?batch/* {LONG}"
BENCH = "python -m tests.benchmarks."
SIGNAL = "batch/replay cigri/search dirac/search egee/search federation/small federation/lcg-week"
WEEK = "--scenario federation/lcg-week --runs 160 --seeds 1 --validation 5 --samplers auto"
ENDLESS = "--minutes 1e9"


class Evidence(NamedTuple):
    """Something measured or drawn that pages show.

    Attributes:
        path: the file or folder, below docs.
        commands: that make it, where `WORK` is a folder for what they keep.
        results: that it rests on, as patterns of names in results.jsonl.
        code: files and folders that it rests on.
        needs: what a machine must have for it.
    """

    path: str
    commands: tuple[str, ...]
    results: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    needs: str = ""


def found(name: str, results: str, *commands: str, code: tuple[str, ...] = (), needs: str = "") -> Evidence:
    """A file of docs/data about what runs or searches give, made by calls of modules of tests/benchmarks."""
    return Evidence(
        f"data/{name}", tuple(BENCH + one for one in commands), tuple(results.split()), code, needs
    )


def timed(name: str, command: str, *code: str, needs: str = "") -> Evidence:
    """A file of docs/data about speed or robustness."""
    return Evidence(f"data/{name}", (BENCH + command,), (), code, needs)


MEASURED = (
    found(
        "signal.json",
        SIGNAL,
        f"bench_signal --work WORK {SIGNAL}",
        f"bench_signal --work WORK --rows docs/data/signal.json {SIGNAL}",
    ),
    found(
        "saboteurs.json",
        f"{RUNS} federation/lcg-week",
        "bench_saboteurs --work WORK",
        "bench_saboteurs --work WORK --rows docs/data/saboteurs.json",
    ),
    found(
        "search_quality.jsonl",
        ARENAS,
        "search_quality stand-in 100",
        "search_quality stand-in 300",
        "search_quality stand-in 100 --alone",
        "search_quality stand-in 300 --alone",
        *(f"search_quality stand-in 100 --alone --sampler {one}" for one in ("tpe", "nsga2", "random")),
        *(
            f"search_quality {arena} 100 {how}"
            for arena in ("egee-sites", "dirac-wide")
            for how in ("", "--alone", "--alone --sampler random --seeds 301-304")
        ),
    ),
    found(
        "answers.json",
        f"{LONG} search?batch/*",
        "answers --work WORK --rows docs/data/answers.json",
        code=METRICS,
    ),
    found("recommended.jsonl", LONG, "recommended"),
    found("inference.jsonl", ARENAS, "inference --rows docs/data/inference.jsonl"),
    found("estimates.jsonl", LONG, "estimates --rows docs/data/estimates.jsonl"),
    found("federation.json", LONG, "federation --work WORK --rows docs/data/federation.json"),
    found(
        "federation_week.json",
        f"federation/lcg-week {LONG}",
        f"federation {WEEK} --work WORK --rows docs/data/federation_week.json",
    ),
    found(
        "federation_effects.json",
        "federation/small",
        "federation_effects --rows docs/data/federation_effects.json",
    ),
    found(
        "four_parameters.json",
        "federation/small dirac/shared egee/search cigri/search",
        "four_parameters --work WORK --seconds 1e9",
        "four_parameters --work WORK --show",
    ),
    found(
        "calibrated.json",
        "batch/*",
        "calibrated_logs --work WORK --rows docs/data/calibrated.json",
        code=CALIBRATION,
        needs="real traces",
    ),
    found(
        "held_out.json",
        LOGS,
        "held_out --work WORK --rows docs/data/held_out.json",
        code=METRICS,
        needs="real traces",
    ),
    found(
        "my_log.json",
        LOGS,
        "my_log --work WORK --rows docs/data/my_log.json",
        code=(*CALIBRATION, *METRICS),
        needs="real traces",
    ),
    found(
        "my_log_slurm.json",
        LOGS,
        "my_log --slurm 100000 --work WORK --rows docs/data/my_log_slurm.json",
        code=(*CALIBRATION, *METRICS),
        needs="real traces",
    ),
    found("claims", CLAIMED, f"claims {ENDLESS}"),
    found("claim_mutants.json", CLAIMED, f"claims --mutants {ENDLESS}"),
    found("claim_seeds.json", CLAIMED, f"claims --seeds {ENDLESS}"),
    timed("speed.json", "speed --rows docs/data/speed.json", *SIMULATOR, needs="real traces, SimPy"),
    timed(
        "peers.json", "beside_peers --peer PYTHON --rows docs/data/peers.json", *SIMULATOR, needs="AccaSim"
    ),
    timed("time_left.json", "time_left --work WORK", "optimize/report/progress.py", "optimize/search.py"),
    timed("fuzz.json", f"fuzz 2000 {ENDLESS} --rows docs/data/fuzz.json", *CODE),
    timed(
        "io_faults.json",
        f"io_faults --every 5 {ENDLESS} --rows docs/data/io_faults.json",
        *KEEPING,
        needs="cc",
    ),
    timed(
        "full_disk.json",
        f"full_disk DISK {ENDLESS} --rows docs/data/full_disk.json",
        *KEEPING,
        needs="a small file system",
    ),
    timed("kills.json", f"kills {ENDLESS} --rows docs/data/kills.json", *KEEPING, needs="PostgreSQL"),
)


def drawn() -> list[Evidence]:
    """The pictures of each page."""
    made = []
    for page in pages():
        name = name_of(page)
        results, code = (RUNS,), (PLOTS,)
        if page.stem in SYSTEMS:
            results = (f"{page.stem}/*",)
        elif name in OF_SEARCHES:
            found, drawing = OF_SEARCHES[name]
            results, code = (RUNS, found), (PLOTS, drawing)
        for picture in pictures(page):
            program = "watch_picture.py" if picture.name == WATCH else f"figures.py {name}"
            path = picture.relative_to(DOCS).as_posix()
            made.append(Evidence(path, (f"python docs/making/{program}",), results, code))
    return made


def made_at(one: Evidence) -> str:
    """The commit at which it was made last; "" if it was never made."""
    return made().get(one.path) or git("log", "-1", "--format=%h", "--", f"docs/{one.path}").strip()


def older(one: Evidence, commit: str) -> str:
    """Why something made at a commit is older than what it rests on; "" if it is not."""
    changed = {
        name
        for line in changes()
        if git("rev-list", "--count", f"{commit}..{line['commit']}").strip() != "0"
        for name in line["results"]
        if any(fnmatch(name, pattern) for pattern in one.results)
    }
    since = len(changed_files(commit, one.code)) if one.code else 0
    reasons = [f"{len(changed)} results changed"] * bool(changed) + [f"{since} files changed"] * bool(since)
    return ", ".join(reasons)


def changed_files(commit: str, code: tuple[str, ...]) -> list[str]:
    """Files that do something else than at a commit."""
    names = git("diff", "--no-renames", "--name-only", commit, "--", *code).split()
    return [name for name in names if meaning(name, commit) != meaning(name)]


def meaning(name: str, commit: str = "") -> str:
    """What a file does, now or at a commit: a module without comments and docstrings; "" if there is none."""
    if commit:
        text = git("show", f"{commit}:{name}") if git("ls-tree", commit, "--", name) else ""
    else:
        text = (ROOT / name).read_text(encoding="utf-8") if (ROOT / name).exists() else ""
    if not name.endswith(".py"):
        return text
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and ast.get_docstring(node) is not None
        ):
            node.body = node.body[1:]
    return ast.dump(tree)


def listed() -> str:
    """A line for each measurement and picture."""
    lines = []
    for one in (*MEASURED, *drawn()):
        commit = made_at(one)
        day = git("log", "-1", "--format=%cs", commit).strip() if commit else "not made"
        why = older(one, commit) if commit else ""
        lines.append(f"{one.path:36} {commit:8} {day:10} {why or 'current':34} {one.commands[-1]}")
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
    stamp(one.path)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--run", nargs="+", metavar="NAME", help="files to measure again, or `older`")
    asked = parser.parse_args()
    if not asked.run:
        print(listed())
        return
    known = {Path(one.path).name for one in MEASURED}
    if unknown := set(asked.run) - known - {"older"}:
        parser.error(f"no such file of measurements: {', '.join(sorted(unknown))}")
    for one in MEASURED:
        named = Path(one.path).name in asked.run
        if named or ("older" in asked.run and not one.needs and older(one, made_at(one))):
            run(one)


if __name__ == "__main__":
    main()
