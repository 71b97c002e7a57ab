"""The house as it is built: floors, rooms and what they may import."""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = ("model", "agents", "scenarios", "optimize", "cli")  # each imports only from those before it
MOST = 15  # modules in a folder, so that a stranger finds the way


def _modules(root):
    """Every module of the package by its dotted name."""
    files = [path for floor in FLOORS[:-1] for path in (root / floor).rglob("*.py")]
    beside = [path for path in (root / "src/gridtune").glob("*.py") if not path.is_symlink()]
    found = {_name(path.relative_to(root)): path for path in [*files, root / "cli.py"] if path.exists()}
    return found | {_name(path.relative_to(root / "src/gridtune")): path for path in beside}


def _name(path):
    return ".".join(("gridtune", *path.with_suffix("").parts)).removesuffix(".__init__")


@cache
def _tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def _imports(path, modules):
    """Modules of the package that a file imports, for types only or not."""
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ImportFrom) and not node.level:
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                yield name if name in modules else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@cache
def graph(root=ROOT):
    """Which module imports which others of the package."""
    modules = _modules(root)
    return {
        name: {other for other in _imports(path, modules) if other in modules and other != name}
        for name, path in modules.items()
    }


def room(name, root=ROOT):
    """The floor and the folder in it that a module lies in."""
    parts = name.split(".")[1:]
    return tuple(parts[:2]) if (root / Path(*parts[:2])).is_dir() else tuple(parts[:1])


def upward(imports):
    """Imports from a floor above one's own.

    A module beside the floors belongs to the highest that it imports, be it through others there.
    """
    ranks = {floor: number for number, floor in enumerate(FLOORS)}

    def rank(name, above=()):
        floor = name.split(".")[1] if "." in name else ""
        if floor in ranks:
            return ranks[floor]
        others = imports.get(name, set()) - {name, *above}
        return max((rank(other, (*above, name)) for other in others), default=-1)

    return [
        (name, other)
        for name, others in imports.items()
        if name.count(".") and name.split(".")[1] in ranks
        for other in others
        if other != "gridtune" and rank(other) > rank(name)
    ]


def rooms(imports, root=ROOT):
    """Which room imports which others; what a floor's own `__init__` re-exports does not count."""
    made = {}
    for name, others in imports.items():
        if name.count(".") > 1:
            made.setdefault(room(name, root), set()).update(
                room(other, root)
                for other in others
                if room(other, root) != room(name, root) and other.count(".") > 1
            )
    return made


def leaves(imports, root=ROOT):
    """The graph without re-exporting packages: they would tie every room to all of its modules."""
    packages = {name for name, path in _modules(root).items() if path.name == "__init__.py"}
    return {name: others - packages for name, others in imports.items() if name not in packages}


def circle(imports):
    """Names that import each other in a circle; empty if there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def upward_imports(root=ROOT):
    """Imports from a floor above one's own, for types only or not."""
    return upward(graph(root))


def circle_of_modules(root=ROOT):
    """Modules that import themselves through others."""
    return circle(leaves(graph(root), root))


def circle_of_rooms(root=ROOT):
    """Rooms that import themselves through others, of any floor."""
    return circle(rooms(leaves(graph(root), root), root))


def crowded_folders(root=ROOT):
    """Folders with more modules than a stranger can take in."""
    folders = [folder for floor in FLOORS[:-1] for folder in (root / floor).rglob("**/")]
    counts = {
        str(folder.relative_to(root)): sum(path.name != "__init__.py" for path in folder.glob("*.py"))
        for folder in folders
    }
    return [f"{folder}: {count} modules" for folder, count in counts.items() if count > MOST]


def bare_imports(root=ROOT):
    """Files that import a floor by its bare name, which an installed package does not have."""
    folders = [*FLOORS[:-1], "tests", "docs", "src/gridtune"]
    files = [path for folder in folders for path in (root / folder).rglob("*.py")] + [root / "cli.py"]
    return [
        str(path.relative_to(root))
        for path in files
        if path.exists() and {name.split(".")[0] for name in _imports(path, {}) if name} & set(FLOORS)
    ]


def undescribed_modules(root=ROOT):
    """Modules that do not say in a first line what they are for."""
    return [name for name, path in _modules(root).items() if not ast.get_docstring(_tree(path))]


CHECKS = (
    upward_imports,
    circle_of_modules,
    circle_of_rooms,
    crowded_folders,
    bare_imports,
    undescribed_modules,
)


@pytest.mark.long
@pytest.mark.parametrize("check", CHECKS)
def test_the_house_is_in_order(check):
    assert check() == []


@pytest.mark.long
def test_all_floors_and_rooms_are_looked_at():
    assert len(graph()) > 200
    assert len(rooms(leaves(graph()))) > 30


JOB = "model/job.py"
BROKEN = [
    (upward_imports, {JOB: "from gridtune.agents.gridrpc.sed import SeD", "agents/gridrpc/sed.py": ""}),
    (upward_imports, {"scenarios/fields/laws.py": "import gridtune.cli", "cli.py": ""}),
    (
        upward_imports,
        {
            JOB: "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import gridtune.optimize.search",
            "optimize/search.py": "",
        },
    ),
    (
        upward_imports,
        {
            JOB: "from gridtune import limits",
            "src/gridtune/limits.py": "import gridtune.bounds",
            "src/gridtune/bounds.py": "import gridtune.scenarios.errors",
            "scenarios/errors.py": "",
        },
    ),
    (
        circle_of_modules,
        {JOB: "from gridtune import limits", "src/gridtune/limits.py": "import gridtune.model.job"},
    ),
    (
        circle_of_modules,
        {
            JOB: "from gridtune.model.grid import Grid",
            "model/grid.py": "def later():\n    from gridtune.model import record",
            "model/record.py": "import gridtune.model.job",
        },
    ),
    (
        circle_of_rooms,  # no circle of modules: each room imports a leaf of the other
        {
            "model/batch/cluster.py": "from gridtune.model.metrics.users import UserOutcome",
            "model/batch/nodes.py": "",
            "model/metrics/users.py": "",
            "model/metrics/summary.py": "from gridtune.model.batch import nodes",
        },
    ),
    (crowded_folders, {f"model/batch/policy_{number}.py": "" for number in range(MOST + 1)}),
    (bare_imports, {JOB: "from model.grid import Grid", "model/grid.py": ""}),
    (bare_imports, {"tests/test_job.py": "def test():\n    import scenarios.document"}),
    (undescribed_modules, {"model/batch/__init__.py": "from gridtune.model.job import Job", JOB: ""}),
]


@pytest.mark.parametrize(("check", "files"), BROKEN)
def test_each_fault_is_found_by_its_check(tmp_path, check, files):
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        described = check is not undescribed_modules or not text
        path.write_text(f'"""What it is for."""\n{text}\n' if described else f"{text}\n")
    assert [one.__name__ for one in CHECKS if one(tmp_path)] == [check.__name__]


def test_as_many_modules_as_a_folder_may_hold_are_none_too_many(tmp_path):
    for number in range(MOST):
        path = tmp_path / f"model/batch/policy_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert crowded_folders(tmp_path) == []


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "tests/benchmarks").glob("*.py")))
def test_every_benchmark_finds_what_it_imports(name):
    import_module(f"tests.benchmarks.{name}")
