"""The house as it is built: floors, rooms and what they may import."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = ("model", "agents", "scenarios", "optimize", "cli")  # each imports only from those before it
MOST = 15  # modules in a folder, so that a stranger finds the way


def _modules(root):
    """Every module of the package by its dotted name."""
    files = [path for floor in FLOORS[:-1] for path in (root / floor).rglob("*.py")]
    return {_name(path.relative_to(root)): path for path in [*files, root / "cli.py"] if path.exists()}


def _name(path):
    return ".".join(("gridtune", *path.with_suffix("").parts)).removesuffix(".__init__")


def _imports(path, modules):
    """Modules of the package that a file imports, for types only or not."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and not node.level:
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                yield name if name in modules else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


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
    """Imports from a floor above one's own."""
    rank = {floor: number for number, floor in enumerate(FLOORS)}
    return [
        (name, other)
        for name, others in imports.items()
        for other in others
        if name.count(".") and other.count(".")
        and rank[other.split(".")[1]] > rank[name.split(".")[1]]
    ]  # fmt: skip


def rooms(imports):
    """Which room imports which others; what a floor's own `__init__` re-exports does not count."""
    made = {}
    for name, others in imports.items():
        if name.count(".") > 1 or name == "gridtune.cli":
            made.setdefault(room(name), set()).update(
                room(other) for other in others if room(other) != room(name) and other.count(".") > 1
            )
    return made


def leaves(imports):
    """The graph without re-exporting packages: they would tie every room to all of its modules."""
    packages = {name for name, path in _modules(ROOT).items() if path.name == "__init__.py"}
    return {name: others - packages for name, others in imports.items() if name not in packages}


def test_no_floor_imports_from_above():
    assert upward(graph()) == []


def test_no_module_imports_itself_through_others():
    assert [*TopologicalSorter(leaves(graph())).static_order()]  # a circle raises CycleError


def test_no_room_imports_itself_through_others():
    order = [*TopologicalSorter(rooms(leaves(graph()))).static_order()]
    assert len(order) == len(set(order)) > 30


def test_no_folder_holds_more_modules_than_a_stranger_can_take_in():
    for floor in FLOORS[:-1]:
        for folder in (ROOT / floor).rglob("**/"):
            modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
            assert len(modules) <= MOST, f"{folder.relative_to(ROOT)}: {len(modules)} modules"


def test_every_room_says_what_it_is_for():
    for name, path in _modules(ROOT).items():
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), name


def test_nothing_imports_the_floors_by_their_bare_names():
    folders = [*FLOORS[:-1], "tests", "docs", "src/gridtune"]
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")] + [ROOT / "cli.py"]
    for path in files:
        found = {name.split(".")[0] for name in _imports(path, {}) if name}
        assert not found & set(FLOORS), path


@pytest.mark.parametrize(
    ("file", "line", "check"),
    [
        ("model/job.py", "from gridtune.agents.gridrpc.sed import SeD", upward),
        ("scenarios/fields/laws.py", "import gridtune.optimize.search", upward),
    ],
)
def test_an_import_from_above_is_found(tmp_path, file, line, check):
    for name in (file, *(f"{part.replace('.', '/')}.py" for part in line.split() if "gridtune." in part)):
        path = tmp_path / name.removeprefix("gridtune/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / file).write_text(f"{line}\n")
    assert check(graph(tmp_path))
