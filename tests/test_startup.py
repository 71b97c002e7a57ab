"""What a command imports before it does anything: to import all that some command needs takes seconds."""

import json
import os
import subprocess
import sys

import pytest

# What takes tens of milliseconds or more to import. Mesa brings pandas, SciPy and PyArrow along.
HEAVY = {
    "mesa", "pandas", "scipy", "pyarrow", "optuna", "sqlalchemy", "alembic", "matplotlib", "seaborn", "pymoo",
    "moocore", "SALib", "jinja2", "distributed", "solara", "rich",
}  # fmt: skip
SIMULATES = {"mesa", "pandas", "scipy", "pyarrow"}

TELL = """
import json, sys
from gridtune.cli import main
try:
    main()
except SystemExit as end:
    print(json.dumps([end.code or 0, sorted({name.partition(".")[0] for name in sys.modules})]))
"""
TRACE = "; MaxProcs: 4\n1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"


def imported(*arguments, folder):
    environment = dict(os.environ, MPLCONFIGDIR=str(folder))
    command = [sys.executable, "-c", TELL, *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, check=True, timeout=120
    )
    code, modules = json.loads(done.stdout.splitlines()[-1])
    return code, HEAVY & set(modules)


def test_a_trace_is_described_without_the_simulator(tmp_path):
    (tmp_path / "few.swf").write_text(TRACE)
    assert imported("trace", "info", "few.swf", folder=tmp_path) == (0, set())


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [("run", "diet/day-regular", "--set", "workload.count=2"), ("validate", "federation/small")],
    ids=lambda arguments: arguments[0],
)
def test_what_simulates_or_checks_imports_no_search_and_no_pictures(arguments, tmp_path):
    assert imported(*arguments, folder=tmp_path) == (0, SIMULATES)


@pytest.mark.long
def test_the_front_of_a_study_imports_nothing_that_proposes_or_draws(tmp_path):
    code, modules = imported("front", "nowhere", folder=tmp_path)
    assert (code, modules - SIMULATES) == (2, {"optuna", "sqlalchemy"})


COUNT = """
from pathlib import Path
from gridtune.cli import main
try:
    main()
except SystemExit:
    import numpy
    numpy.ones((500, 500)) @ numpy.ones((500, 500))
    names = [path.read_text() for path in Path("/proc/self/task").glob("*/comm")]
    print(names.count(Path("/proc/self/comm").read_text()))  # others are PyArrow's
"""


@pytest.mark.long
@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted as Linux shows them")
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor has no two threads of linear algebra")
def test_a_command_does_linear_algebra_in_one_thread():
    free = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    command = [sys.executable, "-c", COUNT, "validate", "diet/day-regular"]
    done = subprocess.run(command, capture_output=True, text=True, env=free, check=True, timeout=120)
    assert done.stdout.splitlines()[-1] == "1"
