"""Changes the code a little, again and again, and looks whether a test notices.

    python -m tests.benchmarks.mutants --rows /tmp/mutants.json --minutes 10     # tries what is missing
    python -m tests.benchmarks.mutants --rows /tmp/mutants.json --again          # survivors once more
    python -m tests.benchmarks.mutants --rows /tmp/mutants.json --survivors      # lists them
    python -m tests.benchmarks.mutants --rows /tmp/mine.json --of model/batch/quotas.py     # all of a module

Of every room a random sample of all small changes is taken, each module by its size: a comparison, sum,
product, constant, condition, `return`, `break` or keyword argument is another one. Tests of the room that run
the changed line are run until one fails, the fast ones that run little else first: at first no more of them
than take `MOST` seconds, and of what is left then up to `ALL` seconds. A change that only fails to end counts
as noticed. The tests are collected once; each mutant is a process forked from there, in which the changed
function's code takes the place of the function's. Changes outside of functions are tried in a new process.
Texts, annotations, decorators, assertions and what a policy's parameters say of themselves are left alone.

A change that alters nothing that anybody can see is listed with a reason in `equivalent_mutants.toml`, and
does not count. The code on disk is never changed.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import gc
import hashlib
import importlib.abc
import importlib.util
import itertools
import json
import os
import resource
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

from tests.benchmarks.mutation import RAISING, ROOT, UNCHANGED, Mutant, code_of, imported_path, mutants_of

EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")
VARIABLE = "GRIDTUNE_MUTANT"  # for a new process: the module's path and the place of the change in it
SAMPLE = 65  # of each room
SEED = 2026
LONG = 20.0  # s of a test that is too long to be run for a mutant, and is left out
MOST, ALL = 6.0, 60.0  # s of tests for one mutant at first; and of all, after which it has survived
SLACK = 5.0  # times as long as usual may a test take, and as many seconds, before it counts as not ending
MEMORY = 4 << 30  # bytes that a mutant may ask for

REPLACED_NOWHERE, BROKEN = 3, 2  # exit codes of forked processes

# Modules of each room, and where its tests are.
ROOMS: dict[str, tuple[list[str], list[str]]] = {
    "fairness": (
        ["model/metrics/fairness.py", "model/metrics/lost.py"],
        ["test_fairness", "test_loss", "test_users", "test_unhappiness", "test_classes", "test_meta",
         "test_harvesting"],
    ),
    "users": (
        ["model/metrics/users.py", "model/metrics/summary.py"],
        ["test_users", "test_unhappiness", "test_fairness", "test_classes", "test_loss",
         "test_custom_metrics", "test_harvesting", "test_vres", "test_summary", "test_outcomes_plain"],
    ),
    "replication": (
        ["optimize/replication/*.py"],
        ["test_replication", "test_posterior", "test_compare",
         "test_search_constraints", "test_search_robust", "test_loss", "test_baseline",
         "test_search", "test_explain", "test_surrogate_model", "test_gaussian_process",
         "test_replication_runs", "test_paired", "test_posterior_exact", "test_samplers", "test_harms",
         "test_harm", "test_log_advice", "test_report"],
    ),
    "front": (
        ["optimize/front/*.py"],
        ["test_front", "test_search_robust", "test_baseline",
         "test_search_constraints", "test_compare", "test_export", "test_preference", "test_changes",
         "test_explain", "test_harms", "test_log_advice", "test_report", "test_resampling",
         "test_loss", "test_elimination", "test_report_pictures", "test_search"],
    ),
    "batch": (
        ["model/batch/*.py", "model/batch/planning/*.py", "model/infrastructure/file_system.py"],
        ["test_batch", "test_batch_priority", "test_batch_conformance", "test_batch_scenarios",
         "test_fair_share", "test_quotas", "test_queueing", "test_gangs", "test_parallel_tasks",
         "test_file_system", "test_prime_time", "test_outages", "test_harvesting", "test_cluster",
         "test_cluster_random", "test_resources"],
    ),
    "inference": (
        ["optimize/inference/*.py"],
        ["test_posterior", "test_posterior_exact", "test_gaussian_process", "test_surrogate_model",
         "test_surrogate", "test_front", "test_report", "test_noise", "test_elimination"],
    ),
    "report": (
        ["optimize/report/*.py", "optimize/report/pictures/*.py"],
        ["test_report", "test_report_pictures", "test_preference", "test_search_progress",
         "test_compare", "test_export", "test_api", "test_changes", "test_cli_search", "test_front",
         "test_log_advice", "test_replication_runs", "test_search_constraints", "test_search_robust"],
    ),
    "recommend": (
        ["optimize/recommend/*.py"],
        ["test_elimination", "test_harm", "test_harms", "test_subsets", "test_log_advice", "test_report",
         "test_export", "test_resampling", "test_changes", "test_search_robust",
         "test_search_constraints"],
    ),
}  # fmt: skip


def modules_of(room: str) -> list[str]:
    """Paths of the modules of a room, those that re-export aside."""
    found = [path for pattern in ROOMS[room][0] for path in sorted(ROOT.glob(pattern))]
    return [str(path.relative_to(ROOT)) for path in found if path.name != "__init__.py"]


def sample(room: str, size: int, seed: int) -> list[Mutant]:
    """Some of the mutants of a room: of each module as many as its share, whatever their order."""
    known = {module: mutants_of(room, module) for module in modules_of(room)}
    total = sum(map(len, known.values()))
    chosen: list[Mutant] = []
    for mutants in known.values():
        ranked = sorted(mutants, key=lambda one: hashlib.sha256(f"{seed}{one.key}".encode()).hexdigest())
        chosen += ranked[: round(size * len(mutants) / total)]
    return chosen


def all_of(room: str, of: str) -> list[Mutant]:
    """All mutants of a module, or with `MODULE:FUNCTION` of what begins so in it."""
    module, _, function = of.partition(":")
    known = mutants_of(room, module) if module in modules_of(room) else []
    return [mutant for mutant in known if mutant.function.startswith(function)]


def inner(code: CodeType) -> Iterator[CodeType]:
    """A code object and all within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from inner(constant)


def replace(mutant: Mutant) -> bool:
    """Put the changed code in the place of the function's, wherever it is known; whether it is anywhere."""
    groups: dict[tuple[str, int], list[list[CodeType]]] = {}
    for version, place in enumerate((UNCHANGED, mutant.place)):
        for code in inner(code_of(mutant.module, place)):
            groups.setdefault((code.co_qualname, code.co_firstlineno), [[], []])[version].append(code)
    others = {
        code: other
        for known, changed in groups.values()
        if len(known) == len(changed)  # not where a function within is gone
        for code, other in zip(known, changed, strict=True)
        if code != other and len(code.co_freevars) == len(other.co_freevars)
    }
    ending, done = f"/gridtune/{mutant.module}", False
    gc.unfreeze()  # what is frozen is not listed
    functions = [one for one in gc.get_objects() if isinstance(one, FunctionType)]
    for function in functions:
        if function.__code__.co_filename.endswith(ending) and function.__code__ in others:
            function.__code__ = others[function.__code__]
            done = True
    return done


class Importer(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module of the package as a mutant.

    Args:
        module: its path.
        place: number of the change.
    """

    def __init__(self, module: str, place: int) -> None:
        self.module, self.place = module, place
        self.name = "gridtune." + module.removesuffix(".py").replace("/", ".")

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        """Ours for the one module."""
        if fullname != self.name:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=str(imported_path(self.module)))

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed module."""
        module.__file__ = str(imported_path(self.module))
        exec(code_of(self.module, self.place), module.__dict__)


def pytest_configure() -> None:
    """As a plug-in of pytest in a new process: import the mutant that the environment names."""
    if VARIABLE in os.environ:
        module, _, place = os.environ[VARIABLE].rpartition(":")
        sys.meta_path.insert(0, Importer(module, int(place)))


class Trials:
    """A plug-in of pytest that tries mutants instead of running the collected tests.

    Args:
        room: whose tests were collected.
        mutants: to be tried.
        found: outcome by key; gets more.
        keep: called after each mutant.
        until: time at which to stop, s.
    """

    def __init__(
        self, room: str, mutants: Sequence[Mutant], found: dict[str, Any], keep: Any, until: float
    ) -> None:
        self.room, self.mutants, self.found, self.keep, self.until = room, mutants, found, keep, until

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try every mutant."""
        items = {item.nodeid: item for item in session.items}
        gc.freeze()
        known = covered(self.room, items, self.until)
        if known:
            check(self.mutants, items, known)
        for mutant in self.mutants:
            if not known or time.time() > self.until:
                break
            outcome, noticed, seconds = self._tried(mutant, items, known)
            self.found[mutant.key] = {
                "room": mutant.room, "module": mutant.module, "function": mutant.function,
                "line": mutant.line,
                "operator": mutant.operator, "text": mutant.text, "before": mutant.before,
                "after": mutant.after,
                "outcome": outcome, "by": noticed, "seconds": round(seconds, 1),
            }  # fmt: skip
            self.keep()
            where = f"{mutant.module}:{mutant.line}"
            print(f"{outcome:9} {seconds:5.1f} s {where} {mutant.before} -> {mutant.after}", flush=True)
        return True

    def _tried(
        self, mutant: Mutant, items: dict[str, pytest.Item], known: dict[str, Any]
    ) -> tuple[str, str, float]:
        start = time.monotonic()
        lines = set(range(mutant.first, mutant.last + 1))
        hit = [name for name in items if lines & set(known[name]["lines"].get(mutant.module, ()))]
        inside = mutant.inside
        if inside and not hit:
            return "survived", "", 0.0  # no test runs it
        if not inside:
            hit = [name for name in items if mutant.module in known[name]["lines"]] or list(items)
        hit.sort(key=lambda name: known[name]["seconds"] * sum(map(len, known[name]["lines"].values())))
        first = within(hit, known, MOST)
        then = within(hit[len(first) :], known, ALL)
        for chosen in filter(None, (first, then)):
            code, last = self._run(mutant, chosen, items, known)
            if code:
                break
        outcome = "survived" if code == 0 else "killed" if code > 0 else "timeout"
        return outcome, last, time.monotonic() - start

    def _run(
        self, mutant: Mutant, chosen: Sequence[str], items: dict[str, pytest.Item], known: dict[str, Any]
    ) -> tuple[int, str]:
        """Exit code of some tests with a mutant, and which of them failed as far as that is known."""
        code, last = REPLACED_NOWHERE, ""
        timed = {items[name]: known[name]["seconds"] for name in chosen}
        if mutant.inside:
            code, last = in_fork(lambda say: run_items(timed, mutant, say))
        if code in (REPLACED_NOWHERE, BROKEN):
            code = in_new_process(mutant.module, mutant.place, chosen, SLACK * (10 + sum(timed.values())))
            if code == pytest.ExitCode.NO_TESTS_COLLECTED:
                raise RuntimeError(f"no test was run for {mutant}")
        return code, last


def within(names: Sequence[str], known: Mapping[str, Any], limit: float) -> list[str]:
    """The first of some tests, as many as take no longer than the limit in s together; one at least."""
    ends = itertools.accumulate(known[name]["seconds"] for name in names)
    return [name for at, (name, end) in enumerate(zip(names, ends, strict=True)) if end <= limit or not at]


def check(mutants: Sequence[Mutant], items: dict[str, pytest.Item], known: dict[str, Any]) -> None:
    """See that code without a change survives and code that cannot be run is noticed, both ways."""
    for mutant in mutants:
        hit = [name for name in items if mutant.line in known[name]["lines"].get(mutant.module, ())]
        if mutant.inside and hit:
            break
    else:
        return
    name = min(hit, key=lambda name: known[name]["seconds"])
    timed = {items[name]: known[name]["seconds"]}
    same, broken = (dataclasses.replace(mutant, place=place) for place in (UNCHANGED, RAISING))
    ends = [
        in_fork(lambda say: run_items(timed, None, say))[0],
        in_fork(lambda say: run_items(timed, broken, say))[0],
        *(in_new_process(one.module, one.place, [name], 300) for one in (same, broken)),
    ]
    if ends[:3] != [0, 1, 0] or ends[3] <= 0:
        raise RuntimeError(f"{name} ends with {ends} for {mutant.module} as it is and broken")


def run_items(items: Mapping[pytest.Item, float], mutant: Mutant | None, say: Any) -> int:
    """In a forked process: run tests, each with its usual seconds, until one fails; 1 if one does."""
    if mutant is not None and not replace(mutant):
        return REPLACED_NOWHERE
    failed: list[str] = []

    class Noting:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed:
                failed.append(report.nodeid)

    order = list(items)
    manager = order[0].config.pluginmanager
    plugin = manager.get_plugin("terminalreporter")
    if plugin is not None:
        manager.unregister(plugin)
    manager.register(Noting())
    for item, following in zip(order, [*order[1:], None], strict=True):
        allow(SLACK * (1 + items[item]))
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if failed:
            say(failed[0])
            return 1
    return 0


def allow(seconds: float) -> None:
    """End this process after some more seconds of CPU, or four times as long by the clock."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    resource.setrlimit(
        resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime + seconds) + 1, resource.RLIM_INFINITY)
    )
    signal.alarm(int(4 * seconds) + 1)


def in_fork(work: Any) -> tuple[int, str]:
    """Exit code of some work in a forked process (negative if it is ended), and what it says."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        code = BROKEN
        try:
            os.setsid()
            for signum in (signal.SIGALRM, signal.SIGXCPU):
                signal.signal(signum, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            code = work(lambda text: os.write(writing, text.encode()))
        finally:
            os._exit(code)
    os.close(writing)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # workers that it left
    said = os.read(reading, 10_000_000).decode() if code >= 0 else ""
    os.close(reading)
    return code, said


def in_new_process(module: str, place: int, names: Sequence[str], limit: float) -> int:
    """Exit code of tests in a process that imports the mutant; negative if it takes longer than limit, s."""
    words = [sys.executable, "-m", "pytest", *OPTIONS, "-p", "tests.benchmarks.mutants", *names]
    environment = {**os.environ, VARIABLE: f"{module}:{place}"}
    nowhere = subprocess.DEVNULL
    child = subprocess.Popen(
        words,
        cwd=ROOT,
        env=environment,
        stdin=nowhere,
        stdout=nowhere,
        stderr=nowhere,
        start_new_session=True,
    )
    try:
        return child.wait(timeout=limit)
    except subprocess.TimeoutExpired:
        return -signal.SIGKILL
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


OPTIONS = ["-n0", "-x", "-s", "-q", "-m", "", "-p", "no:cacheprovider", "--hypothesis-seed=0"]


def covered(room: str, items: dict[str, pytest.Item], until: float) -> dict[str, Any]:
    """Lines of the room's modules that each test runs, and how long it takes; none if time is over before."""
    place = Path(
        os.environ.get("TMPDIR", "/tmp"),
        f"gridtune-covered-{os.getuid()}-{hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]}",
    )
    place.mkdir(exist_ok=True)
    stamp = {module: hashlib.sha256((ROOT / module).read_bytes()).hexdigest() for module in modules_of(room)}
    path = place / f"{room}.json"
    kept = json.loads(path.read_text()) if path.exists() else {"stamp": {}, "tests": {}}
    changed = {module for module in stamp if kept["stamp"].get(module) != stamp[module]}
    tests = {
        name: one
        for name, one in kept["tests"].items()
        if not changed & one["lines"].keys() and (one["lines"] or one.get("limit") == LONG)
    }
    kept = {"stamp": stamp, "tests": tests}
    sources = {name: hashlib.sha256(Path(item.path).read_bytes()).hexdigest() for name, item in items.items()}
    for name, item in items.items():
        if name in tests and tests[name]["source"] == sources[name]:
            continue
        if time.time() > until:
            return {}
        code, said = in_fork(lambda say, item=item: traced(item, room, say))
        known = json.loads(said) if code == 0 else {"lines": {}, "seconds": 1e9}
        if code:
            print(f"left out, as it {'takes long' if code < 0 else 'does not pass'}: {name}", flush=True)
        tests[name] = known | {"source": sources[name], "limit": LONG}
        path.write_text(json.dumps(kept))
    return dict(tests)


def traced(item: pytest.Item, room: str, say: Any) -> int:
    """Run a test and say which lines it runs, and how long it takes without being watched."""
    import coverage

    # It knows files by where they are, not by the links that lead there.
    files = {module: str(ROOT / module) for module in modules_of(room)}
    watch = coverage.Coverage(data_file=None, include=list(files.values()))
    watch.set_option("run:disable_warnings", ["no-data-collected"])
    start = time.process_time()
    watch.start()
    code = run_items({item: LONG / SLACK - 1}, None, lambda _: None)
    watch.stop()
    seconds = time.process_time() - start
    data = watch.get_data()
    lines = {module: rows for module, file in files.items() if (rows := data.lines(file))}
    say(json.dumps({"lines": lines, "seconds": seconds}))
    return code


def equivalents() -> dict[tuple[str, ...], str]:
    """Why a change alters nothing, by module, function where that is named, line, what was and what is."""
    rows = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutant"] if EQUIVALENT.exists() else []
    names = ("module", "function", "text", "before", "after")
    return {tuple(row.get(name, "") for name in names): row["reason"] for row in rows}


def classified(rows: Mapping[str, Any], current: Collection[str]) -> dict[str, Any]:
    """Rows of mutants that there still are, each with the reason if it alters nothing."""
    same, made = equivalents(), {}
    for key, row in rows.items():
        if key in current:
            change = row["text"], row["before"], row["after"]
            why = [same.get((row["module"], where, *change), "") for where in (row["function"], "")]
            made[key] = {**row, "alters_nothing": max(why)}
    return made


def main(
    rows: Path,
    minutes: float,
    again: bool,
    survivors: bool,
    rooms: Sequence[str],
    size: int,
    seed: int,
    of: str,
) -> None:
    """Try what is missing, or list what is known to survive."""
    known: dict[str, Any] = json.loads(rows.read_text()) if rows.exists() else {}
    every = {room: all_of(room, of) if of else sample(room, size, seed) for room in ROOMS}
    chosen = {room: every[room] for room in rooms}
    current = {mutant.key for mutants in every.values() for mutant in mutants}
    if survivors:
        for row in classified(known, current).values():
            if row["outcome"] == "survived" and not row["alters_nothing"] and row["room"] in rooms:
                print(f"{row['module']}:{row['line']}: {row['text']}   |   {row['before']} -> {row['after']}")
        return
    until = time.time() + 60 * minutes

    def keep() -> None:
        part = rows.with_name(f".{rows.name}.part")
        lines = (f"{json.dumps(key)}: {json.dumps(row)}" for key, row in classified(known, current).items())
        part.write_text("{\n" + ",\n".join(sorted(lines)) + "\n}\n")
        os.replace(part, rows)

    for room, mutants in chosen.items():
        wanted = [
            one
            for one in mutants
            if one.key not in known or (again and known[one.key]["outcome"] == "survived")
        ]
        if not wanted or time.time() > until:
            continue
        files = [str(path) for name in ROOMS[room][1] if (path := ROOT / "tests" / f"{name}.py").exists()]
        child = os.fork()  # each room has tests of its own to collect
        if not child:
            os._exit(pytest.main([*OPTIONS, *files], plugins=[Trials(room, wanted, known, keep, until)]))
        if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            raise SystemExit(f"{room}: pytest ended with {code}")
        known.update(json.loads(rows.read_text()) if rows.exists() else {})
    keep()


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--rows", type=Path, required=True)
    options.add_argument("--minutes", type=float, default=10.0)
    options.add_argument("--again", action="store_true")
    options.add_argument("--survivors", action="store_true")
    options.add_argument("--rooms", type=lambda text: text.split(","), default=list(ROOMS))
    options.add_argument("--size", type=int, default=SAMPLE)
    options.add_argument("--seed", type=int, default=SEED)
    options.add_argument("--of", default="")
    given = vars(options.parse_args())
    sys.path[:0] = [str(ROOT / "src"), str(ROOT), str(ROOT / "tests")]
    main(**given)
