"""The wheel: what is in it, and that it works beside a stranger's files of the same names."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="needs the extra [check]: hatchling")
ROOT = Path(__file__).parent.parent
FLOORS = ("agents", "model", "optimize", "scenarios")

# Everything that is loaded notes which process loaded it, and where gridtune and `model` come from.
PLUGIN = '''
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gridtune as gt
from gridtune.model.batch.cluster import Cluster
from gridtune.model.batch.policies import BatchPolicy
from gridtune.model.job import Job
from gridtune.model.policy import register


@register("batch", "NAME")
@dataclass(frozen=True)
class SmallestFirst(BatchPolicy):
    """Small jobs first."""

    def starts(self, cluster: Cluster, now: float) -> Sequence[Job]:
        """What fits, smallest first."""
        free, chosen = cluster.free, []
        for job in sorted(cluster.in_order(), key=lambda job: (job.processors, job.id)):
            free -= job.processors
            if free < 0:
                break
            chosen.append(job)
        return chosen
'''
METRIC = '''

@gt.metric("longest_wait", unit="s", direction="minimize")
def longest_wait(run: gt.FinishedRun) -> float:
    """Of all jobs that were started, the longest wait."""
    with Path("loaded").open("a") as file:
        file.write(f"{os.getpid()} {gt.model.__file__ if hasattr(gt, 'model') else gt.__file__}\\n")
    return max((job.start - job.submit for job in run.jobs if job.start is not None), default=0.0)
'''
SCENARIO = """
title = "Beside a stranger's files"
plugins = ["mine.py"]

[[site]]
name = "cluster"
nodes = 8
policy = "smallest-first"

[[workload]]
name = "job"
kind = "generated"
count = 60
interval = { law = "exponential", mean = 230.0 }
runtime = { law = "lognormal", median = 600.0, sigma = 1.2, maximum = 14400.0 }
processors = { law = "uniform", low = 1.0, high = 4.0 }
users = 5

[search]
objectives = ["longest_wait", "unfairness"]

[search.space]
"site.cluster.policy" = ["smallest-first", "installed-elsewhere", "fcfs"]
"""

MODULE = (sys.executable, "-m", "gridtune")
SPAWN = "import multiprocessing; multiprocessing.get_all_start_methods = lambda: ['spawn']\n"
DASK = """
import sys

from distributed import LocalCluster

from gridtune.cli import main

if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        sys.argv += ["--dask", cluster.scheduler_address]
        main()
"""


def built(target, source, folder):
    """What hatchling makes of a source tree, as `pip` and `build` would."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", folder],
        cwd=source, check=True, capture_output=True,
    )  # fmt: skip
    [made] = folder.glob("*.tar.gz" if target == "sdist" else "*.whl")
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """A folder of installed packages: gridtune from its wheel, and another that announces a policy."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", folder, wheel],
        check=True, capture_output=True,
    )  # fmt: skip
    (folder / "others_policies.py").write_text(PLUGIN.replace("NAME", "installed-elsewhere"))
    announced = folder / "others-1.0.dist-info"
    announced.mkdir()
    (announced / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    (announced / "entry_points.txt").write_text("[gridtune.policies]\nothers = others_policies\n")
    return folder


@pytest.fixture
def beside(tmp_path):
    """A working directory with files that are called as our folders are, and a scenario with its plug-in."""
    (tmp_path / "model.py").write_text("WHOSE = 'a stranger'\n")
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").write_text("WHOSE = 'a stranger'\n")
    (tmp_path / "cli.py").write_text("raise SystemExit('not this one')\n")
    (tmp_path / "optimize.py").write_text("raise SystemExit('not this one')\n")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "mine.py").write_text(PLUGIN.replace("NAME", "smallest-first") + METRIC)
    (tmp_path / "mine.toml").write_text(SCENARIO)
    return tmp_path


def ran(site, folder, *command, before=""):
    """Number and output of a child process that finds gridtune in the folder of installed packages."""
    path = os.pathsep.join(filter(None, [str(before), str(site)]))
    own = {"PYTHONPATH": path, "XDG_CONFIG_HOME": str(folder / "config")}  # what is trusted is kept there
    child = subprocess.Popen(
        [*map(str, command)],
        cwd=folder, env={**os.environ, **own}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    said, complained = child.communicate(timeout=300)
    assert child.returncode == 0, complained
    return child.pid, said


def processes(folder, site):
    """The processes that a metric was computed in, all by the installed gridtune."""
    lines = [line.split() for line in (folder / "loaded").read_text().splitlines()]
    assert {Path(path).is_relative_to(site) for _, path in lines} == {True}
    return {int(number) for number, _ in lines}


def kept(folder=ROOT):
    """Files of the package that the repository keeps, by their path in the wheel."""
    listed = subprocess.run(
        ["git", "ls-files", *FLOORS, "cli.py", "src/gridtune/*.*"],
        cwd=folder, text=True, capture_output=True, check=True,
    )  # fmt: skip
    return {f"gridtune/{name.removeprefix('src/gridtune/')}" for name in listed.stdout.splitlines()}


@pytest.mark.long
def test_a_wheel_holds_the_package_whole_and_nothing_beside_it(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert len(names) == len(set(names))
    ours = {name for name in names if ".dist-info/" not in name}
    assert all(name.startswith("gridtune/") for name in ours)
    assert "gridtune/py.typed" in ours
    assert {f"gridtune/optimize/report/page.{kind}" for kind in ("html", "js")} <= set(ours)
    assert "gridtune/scenarios/shipped/diet/day-regular.toml" in ours
    if (ROOT / ".git").exists():
        assert kept() <= ours


@pytest.fixture
def source(tmp_path):
    """What is in a source distribution."""
    with tarfile.open(built("sdist", ROOT, tmp_path)) as archive:
        # Python 3.11 before 3.11.4 has no filters.
        archive.extractall(
            tmp_path / "source", **({"filter": "data"} if hasattr(tarfile, "data_filter") else {})
        )
    [folder] = (tmp_path / "source").iterdir()
    return folder


@pytest.mark.long
def test_a_source_distribution_makes_the_same_wheel(wheel, source, tmp_path):
    again = zipfile.ZipFile(built("wheel", source, tmp_path))
    first = zipfile.ZipFile(wheel)
    assert sorted(again.namelist()) == sorted(first.namelist())
    for name in first.namelist():
        assert again.read(name) == first.read(name), name


@pytest.mark.long
def test_a_source_distribution_can_be_installed_as_editable(source, tmp_path):
    for folder in ("first", "again"):  # the links are there then
        (tmp_path / folder).mkdir()
        editable = zipfile.ZipFile(built("wheel:editable", source, tmp_path / folder))
        [paths] = [editable.read(name).decode() for name in editable.namelist() if name.endswith(".pth")]
        _, said = ran(paths.strip(), tmp_path, *MODULE, "scenarios")
        assert "diet/day-regular" in said
    assert (source / "src/gridtune/model").resolve() == source / "model"


@pytest.mark.long
def test_an_installed_gridtune_leaves_a_strangers_modules_alone(site, beside):
    code = (
        "import agents, model; from importlib.util import find_spec\n"
        "print(agents.WHOSE, model.WHOSE)\n"
        f"for name in {('cli', *FLOORS)}: print(find_spec(f'gridtune.{{name}}').origin)"
    )
    _, said = ran(site, beside, sys.executable, "-c", code)
    first, *paths = said.splitlines()
    assert first == "a stranger a stranger"
    assert [Path(path).is_relative_to(site / "gridtune") for path in paths] == [True] * 5


@pytest.mark.long
def test_the_console_script_runs_a_scenario_with_its_plugins(site, beside):
    script = site / "bin" / "gridtune"
    ran(site, beside, script, "trust", "mine.py")
    process, said = ran(site, beside, script, "run", "mine.toml", "--format", "json")
    assert json.loads(said)["metrics"]["longest_wait"]["mean"] > 0
    assert processes(beside, site) == {process}


@pytest.mark.long
def test_a_search_in_processes_that_start_anew_has_policies_of_a_file_and_of_a_package(
    site, beside, tmp_path_factory
):
    """Started by spawn, as where there is no fork: workers do not get modules that are imported already."""
    before = tmp_path_factory.mktemp("before")
    (before / "sitecustomize.py").write_text(SPAWN)
    asked = ("search", "mine.toml", "--budget", 3, "--sampler", "exhaustive", "--jobs", 2, "--out", "found")
    asked += ("--replications", 1, "--allow-plugins")
    process, said = ran(site, beside, *MODULE, *asked, before=before)
    assert "mine.toml: 3 configurations, " in said
    assert "failed" not in said
    assert process not in processes(beside, site)
    page = (beside / "found" / "front.html").read_text()
    assert "longest wait" in page
    assert "smallest-first" in page


@pytest.mark.long
def test_workers_of_a_cluster_find_the_package(site, beside):
    pytest.importorskip("distributed", reason="needs the extra [dask]")
    (beside / "launch.py").write_text(DASK)
    asked = ("--vary", "site.cluster.policy=smallest-first,installed-elsewhere", "--format", "json")
    asked += ("--allow-plugins",)
    process, said = ran(site, beside, sys.executable, "launch.py", "sweep", "mine.toml", *asked)
    assert len(json.loads(said)["points"]) == 2
    assert process not in processes(beside, site)
