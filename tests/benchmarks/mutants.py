"""Changes the code a little, again and again, and looks whether a test notices.

    python -m tests.benchmarks.mutants --rows docs/data/mutants.json --minutes 10     # tries what is missing
    python -m tests.benchmarks.mutants --rows docs/data/mutants.json --again          # survivors once more
    python -m tests.benchmarks.mutants --rows docs/data/mutants.json --survivors      # lists them

Of every room a random sample of all small changes is taken, each module by its size: a comparison, sum,
product, constant, condition, `return`, `break` or keyword argument is another one. Tests of the room that run
the changed line are run, the fastest first, until one fails; a change that only fails to end counts as
noticed. The tests are collected once; each mutant is a process forked from there, in which the changed
function's code takes the place of the function's. Changes outside of functions are tried in a new process.
Texts, annotations, decorators and what a policy's parameters say of themselves are left as they are.

A change that alters nothing that anybody can see is listed with a reason in `equivalent_mutants.toml`, and
does not count. The code on disk is never changed.
"""

from __future__ import annotations

import argparse
import ast
import gc
import hashlib
import importlib.abc
import importlib.util
import json
import os
import random
import resource
import subprocess
import sys
import time
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")
VARIABLE = "GRIDTUNE_MUTANT"  # for a new process: the module's path and the place of the change in it
SAMPLE = 65  # of each room
SEED = 2026
LONG = 10.0  # s of a test that is too long to be run for every mutant, and is left out
MOST = 15.0  # s of tests for one mutant; what no test notices until then has survived
SLACK = 8.0  # times as long as usual may a test take, and as many seconds, before it counts as not ending

REPLACED_NOWHERE, BROKEN = 3, 2  # exit codes of forked processes

# Modules of each room, and where its tests are.
ROOMS: dict[str, tuple[list[str], list[str]]] = {
    "fairness": (
        ["model/metrics/fairness.py", "model/metrics/lost.py"],
        ["test_fairness", "test_loss", "test_users", "test_unhappiness", "test_classes"],
    ),
    "users": (
        ["model/metrics/users.py", "model/metrics/summary.py"],
        ["test_users", "test_unhappiness", "test_fairness", "test_classes", "test_loss",
         "test_custom_metrics"],
    ),
    "replication": (
        ["optimize/replication/*.py"],
        ["test_replication", "test_allocate", "test_posterior", "test_search_adaptive", "test_compare",
         "test_search_constraints", "test_search_robust", "test_loss", "test_today", "test_transplants",
         "test_search"],
    ),
    "front": (
        ["optimize/front/*.py"],
        ["test_front", "test_recommendations", "test_dominant_choice", "test_search_robust", "test_today",
         "test_search_constraints", "test_compare", "test_export", "test_preference", "test_terminal",
         "test_page", "test_transplants"],
    ),
    "batch": (
        ["model/batch/*.py"],
        ["test_batch", "test_batch_priority", "test_batch_conformance", "test_batch_scenarios",
         "test_fair_share", "test_quotas", "test_queueing", "test_gangs", "test_parallel_tasks",
         "test_file_system", "test_harvesting", "test_services"],
    ),
}  # fmt: skip

COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
ast.NotEq: ast.Eq,
               ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}  # fmt: skip
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv:
ast.Mult,
              ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A change of a module.

    Attributes:
        room: of the module.
        module: its path.
        function: in which it is; empty outside of all.
        line: its number, from 1.
        place: its number among all changes of the module.
        operator: kind of change.
        before, after: the expression or statement.
        text: the line as it stands.
    """

    room: str
    module: str
    function: str
    line: int
    place: int
    operator: str
    before: str
    after: str
    text: str

    @property
    def key(self) -> str:
        """What tells it from others, whatever changes elsewhere in the module."""
        parts = [self.module, self.function, self.text, self.operator, self.before, self.after]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


class Changes(ast.NodeTransformer):
    """Finds all changes of a module, and makes one of them.

    Args:
        wanted: number of the change to make; None for none.
    """

    def __init__(self, wanted: int | None = None) -> None:
        self.wanted = wanted
        self.found: list[tuple[str, int, str, str, str]] = []  # function, line, operator, before, after
        self._names: list[str] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._named(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._named(node)

    def _named(self, node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        self._names.append(node.name)
        if isinstance(node, ast.FunctionDef):
            for defaults in (node.args.defaults, node.args.kw_defaults):
                defaults[:] = [default and self.visit(default) for default in defaults]
        node.body = [self.visit(statement) for statement in node.body]
        self._names.pop()
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return node
        self.generic_visit(node)
        node.test = self._choice(node.test, "condition", ast.UnaryOp(ast.Not(), node.test))
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        kind = COMPARISONS.get(type(node.ops[0]))
        if kind is None:
            return node
        return self._choice(
            node, "comparison", ast.Compare(node.left, [kind(), *node.ops[1:]], node.comparators)
        )

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        kind = ARITHMETIC.get(type(node.op))
        text = any(
            isinstance(side, ast.Constant | ast.JoinedStr) and not _is_number(side)
            for side in (node.left, node.right)
        )
        return (
            node
            if kind is None or text
            else self._choice(node, "arithmetic", ast.BinOp(node.left, kind(), node.right))
        )

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        kind = ARITHMETIC.get(type(node.op))
        return (
            node
            if kind is None
            else self._choice(node, "arithmetic", ast.AugAssign(node.target, kind(), node.value))
        )

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return self._choice(node, "boolean", ast.BoolOp(other, node.values))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not | ast.USub):
            return self._choice(node, "boolean" if isinstance(node.op, ast.Not) else "sign", node.operand)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool):
            return self._choice(node, "constant", ast.Constant(not node.value))
        if _is_number(node):
            return self._choice(node, "constant", ast.Constant(node.value + 1))  # type: ignore[operator]
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
            return node
        return self._choice(node, "return", ast.Return(ast.Constant(None)))

    def visit_Break(self, node: ast.Break) -> ast.AST:
        return self._choice(node, "loop", ast.Continue())

    def visit_Continue(self, node: ast.Continue) -> ast.AST:
        return self._choice(node, "loop", ast.Break())

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "parameter":  # what a policy says of a parameter; its default counts
            node.args = [self.visit(argument) for argument in node.args]
            return node
        if name in ("register", "define", "TypeVar", "cast", "field"):
            return node
        self.generic_visit(node)
        made: ast.AST = node
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg not in ("strict", "dtype", "copy", "unit", "key"):
                fewer = ast.Call(
                    node.func, node.args, [other for other in node.keywords if other is not keyword]
                )
                changed = self._choice(node, "keyword", fewer)
                made = changed if changed is not node else made
        return made

    def _choice(self, node: Any, operator: str, other: Any) -> Any:
        """Note a change; the changed node if it is the wanted one, else the node."""
        at = len(self.found)
        self.found.append(
            (".".join(self._names), node.lineno, operator, ast.unparse(node), ast.unparse(other))
        )
        return ast.fix_missing_locations(ast.copy_location(other, node)) if at == self.wanted else node


def _is_number(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and not isinstance(node.value, bool)
    )


def mutants_of(room: str, module: str) -> list[Mutant]:
    """All changes of a module."""
    source = (ROOT / module).read_text(encoding="utf-8")
    lines, changes = source.splitlines(), Changes()
    changes.visit(ast.parse(source))
    return [
        Mutant(room, module, function, line, place, operator, before, after, lines[line - 1].strip())
        for place, (function, line, operator, before, after) in enumerate(changes.found)
    ]


def modules_of(room: str) -> list[str]:
    """Paths of the modules of a room, those that re-export aside."""
    found = [path for pattern in ROOMS[room][0] for path in sorted(ROOT.glob(pattern))]
    return [str(path.relative_to(ROOT)) for path in found if path.name != "__init__.py"]


def sample(room: str, size: int = SAMPLE) -> list[Mutant]:
    """Some of the mutants of a room: of each module as many as its share, whatever their order."""
    known = {module: mutants_of(room, module) for module in modules_of(room)}
    total = sum(map(len, known.values()))
    chosen: list[Mutant] = []
    for mutants in known.values():
        ranked = sorted(
            mutants, key=lambda one: hashlib.sha256(f"{SEED}{one.key}{one.place}".encode()).hexdigest()
        )
        chosen += ranked[: round(size * len(mutants) / total)]
    return chosen


def code_of(module: str, place: int | None) -> CodeType:
    """A module compiled with a change."""
    path = imported_path(module)
    tree = Changes(place).visit(ast.parse(path.read_text(encoding="utf-8")))
    return compile(ast.fix_missing_locations(tree), str(path), "exec")


def imported_path(module: str) -> Path:
    """Where the package has a module of one of its floors."""
    return ROOT / "src" / "gridtune" / module


def inner(code: CodeType) -> Iterator[CodeType]:
    """A code object and all within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from inner(constant)


def replace(mutant: Mutant) -> bool:
    """Put the changed code in the place of the function's, wherever it is known; whether it is anywhere."""
    places = {
        (code.co_qualname, code.co_firstlineno): code for code in inner(code_of(mutant.module, mutant.place))
    }
    ending, done = f"/gridtune/{mutant.module}", False
    gc.unfreeze()  # what is frozen is not listed
    functions = [one for one in gc.get_objects() if isinstance(one, FunctionType)]
    for function in functions:
        code = function.__code__
        if code.co_filename.endswith(ending):
            other = places.get((code.co_qualname, code.co_firstlineno))
            if other is not None and other != code and len(other.co_freevars) == len(code.co_freevars):
                function.__code__ = other
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
        lines = set(range(mutant.line, mutant.line + 1))
        hit = [name for name in items if lines & set(known[name]["lines"].get(mutant.module, ()))]
        inside = mutant.function and mutant.function.split(".")[-1][0].islower()
        if inside and not hit:
            return "survived", "", 0.0  # no test runs it
        if not inside:
            hit = [name for name in items if mutant.module in known[name]["lines"]] or list(items)
        hit.sort(key=lambda name: known[name]["seconds"])
        chosen, total = [], 0.0
        for name in hit:
            total += known[name]["seconds"]
            if total > MOST and chosen:
                break
            chosen.append(name)
        limit = SLACK * (1 + sum(known[name]["seconds"] for name in chosen))
        code, last = REPLACED_NOWHERE, ""
        if inside:
            code, last = in_fork(lambda say: run_items([items[name] for name in chosen], mutant, say), limit)
        if code in (REPLACED_NOWHERE, BROKEN):
            code = in_new_process(mutant, chosen, limit + 30)
            if code > pytest.ExitCode.INTERRUPTED:
                raise RuntimeError(f"pytest ended with {code} for {mutant}")
        outcome = "survived" if code == 0 else "killed" if code > 0 else "timeout"
        return outcome, last, time.monotonic() - start


def run_items(items: Sequence[pytest.Item], mutant: Mutant | None, say: Any) -> int:
    """In a forked process: run tests until one fails; 1 if one does."""
    if mutant is not None and not replace(mutant):
        return REPLACED_NOWHERE
    failed: list[str] = []

    class Noting:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed:
                failed.append(report.nodeid)

    manager = items[0].config.pluginmanager
    for name in ("terminalreporter",):
        plugin = manager.get_plugin(name)
        if plugin is not None:
            manager.unregister(plugin)
    manager.register(Noting())
    for at, item in enumerate(items):
        following = items[at + 1] if at + 1 < len(items) else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if failed:
            say(failed[0])
            return 1
    return 0


def in_fork(work: Any, limit: float) -> tuple[int, str]:
    """Exit code of some work in a forked process (negative if it takes too long), and what it says."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        code = BROKEN
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            code = work(lambda text: os.write(writing, text.encode()))
        finally:
            os._exit(code)
    os.close(writing)
    code = ended(child, 20 * limit + 60)
    said = os.read(reading, 10_000_000).decode() if code >= 0 else ""
    os.close(reading)
    return code, said


def ended(child: int, limit: float) -> int:
    """Exit code of a child; -9 if it does not end within a time, s."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.killpg(child, 9)
    os.waitpid(child, 0)
    return -9


def in_new_process(mutant: Mutant, names: Sequence[str], limit: float) -> int:
    """Exit code of the tests in a process that imports the mutant."""
    words = [sys.executable, "-m", "pytest", *OPTIONS, "-p", "tests.benchmarks.mutants", *names]
    environment = {**os.environ, VARIABLE: f"{mutant.module}:{mutant.place}"}
    try:
        return subprocess.run(
            words, cwd=ROOT, env=environment, capture_output=True, timeout=20 * limit
        ).returncode
    except subprocess.TimeoutExpired:
        return -9


OPTIONS = ["-n0", "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0"]


def covered(room: str, items: dict[str, pytest.Item], until: float) -> dict[str, Any]:
    """Lines of the room's modules that each test runs, and how long it takes; none if time is over before."""
    place = Path(
        os.environ.get("TMPDIR", "/tmp"),
        f"gridtune-covered-{os.getuid()}-{hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]}",
    )
    place.mkdir(exist_ok=True)
    stamp = {module: hashlib.sha256((ROOT / module).read_bytes()).hexdigest() for module in modules_of(room)}
    path = place / f"{room}.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    if kept.get("stamp") != stamp:
        kept = {"stamp": stamp, "tests": {}}
    tests = kept["tests"]
    sources = {name: hashlib.sha256(Path(item.path).read_bytes()).hexdigest() for name, item in items.items()}
    for name, item in items.items():
        if name in tests and tests[name]["source"] == sources[name]:
            continue
        if time.time() > until:
            return {}
        code, said = in_fork(lambda say, item=item: traced(item, room, say), LONG)
        known = json.loads(said) if code == 0 else {"lines": {}, "seconds": 1e9}
        if code:
            print(f"left out, as it {'takes long' if code < 0 else 'does not pass'}: {name}", flush=True)
        tests[name] = known | {"source": sources[name]}
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
    code = run_items([item], None, lambda _: None)
    watch.stop()
    seconds = time.process_time() - start
    data = watch.get_data()
    lines = {module: rows for module, file in files.items() if (rows := data.lines(file))}
    say(json.dumps({"lines": lines, "seconds": seconds}))
    return code


def equivalents() -> dict[tuple[str, str, str, str], str]:
    """Why a change alters nothing, by module, line, what was and what is."""
    rows = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutant"] if EQUIVALENT.exists() else []
    return {(row["module"], row["text"], row["before"], row["after"]): row["reason"] for row in rows}


def classified(rows: Mapping[str, Any], current: Collection[str]) -> dict[str, Any]:
    """Rows of mutants that there still are, each with the reason if it alters nothing."""
    same, made = equivalents(), {}
    for key, row in rows.items():
        if key in current:
            why = same.get((row["module"], row["text"], row["before"], row["after"]), "")
            made[key] = {**row, "alters_nothing": why}
    return made


def main(rows: Path, minutes: float, again: bool, survivors: bool, rooms: Sequence[str], size: int) -> None:
    """Try what is missing, or list what is known to survive."""
    known: dict[str, Any] = json.loads(rows.read_text()) if rows.exists() else {}
    chosen = {room: sample(room, size) for room in rooms}
    current = {mutant.key for room in ROOMS for mutant in sample(room, size)}
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
            pytest.main([*OPTIONS, *files], plugins=[Trials(room, wanted, known, keep, until)])
            os._exit(0)
        os.waitpid(child, 0)
        known.update(json.loads(rows.read_text()) if rows.exists() else {})
    keep()


if __name__ == "__main__":
    random.seed(SEED)
    options = argparse.ArgumentParser()
    options.add_argument("--rows", type=Path, required=True)
    options.add_argument("--minutes", type=float, default=10.0)
    options.add_argument("--again", action="store_true")
    options.add_argument("--survivors", action="store_true")
    options.add_argument("--rooms", type=lambda text: text.split(","), default=list(ROOMS))
    options.add_argument("--size", type=int, default=SAMPLE)
    given = vars(options.parse_args())
    sys.path[:0] = [str(ROOT / "src"), str(ROOT), str(ROOT / "tests")]
    main(**given)
