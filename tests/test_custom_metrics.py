"""Metrics of a user's own count like all others, wherever they come from and whoever runs them."""

import json
import os
import re
from dataclasses import replace

import mesa
import pytest

import gridtune.model.metrics.custom as custom
from gridtune.model.metrics.custom import MetricError, metric
from gridtune.model.metrics.registry import METRICS
from gridtune.optimize.api.search import search as made_search
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.report.frame import columns
from gridtune.optimize.search import search
from gridtune.optimize.search_space.settings import objectives_of
from gridtune.scenarios import ScenarioError, shipped_text, simulate
from gridtune.scenarios.api.experiment import load
from gridtune.scenarios.api.sweep_result import sweep
from gridtune.scenarios.simulation.grid_model import GridModel
from tests.contents import content
from tests.facts import missing
from tests.test_cli import ROOT, gridtune, refused

MINE = '''
import gridtune as gt

@gt.metric("longest", unit="s", direction="minimize")
def longest(run):
    """Longest response of a job that was done."""
    return max(job.end - job.submit for job in run.jobs if job.state == "done")

@gt.metric("served", unit="jobs/user", direction="maximize")
def served(run):
    return run.metrics["completed"] / len(run.users)
'''
BASE = "diet/day-regular"


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """What a test registers is forgotten after it."""
    monkeypatch.setattr(custom, "_known", dict(custom._known))
    monkeypatch.setattr(custom, "_entered", dict(custom._entered))
    before = dict(METRICS)
    yield
    METRICS.clear()
    METRICS.update(before)


def written(folder, source=MINE, name="mine"):
    """A scenario of two users beside a plug-in file."""
    (folder / f"{name}.py").write_text(source)
    text = shipped_text(BASE).replace("count = 10\ninterval", "count = 2\ninterval")
    (folder / f"{name}.toml").write_text(f'plugins = ["{name}.py"]\n{text}')
    return folder / f"{name}.toml"


def test_a_metric_of_a_plug_in_is_a_column_with_its_unit(tmp_path):
    run = simulate(load(written(tmp_path), allow_plugins=True))
    done = [job for job in run.record.jobs if job.state == "done"]
    assert run.metrics["longest"] == (max(job.end - job.submit for job in done), "s")
    assert run.metrics["served"] == (len(done) / 2, "jobs/user")
    assert METRICS["longest"].meaning == "Longest response of a job that was done"


@pytest.mark.long
def test_it_is_objective_constraint_and_axis(tmp_path):
    scenario = load(written(tmp_path), allow_plugins=True)
    rows = sweep(scenario, ["sed.speed=1,2"], objectives=["longest"]).rows()
    assert [*rows[0]] == ["sed.speed", "longest"]
    assert rows[0]["longest"] > rows[1]["longest"] > 0
    found = [
        search(scenario, budget=6, sampler="random", objectives=["longest", "served"], jobs=jobs,
               require=["served>=1"], vary=["sed.speed=0.5:2"]).archive
        for jobs in (1, 2)
    ]  # fmt: skip
    assert content(found[0]) == content(found[1])
    assert found[0].objectives == (
        Objective("longest", "minimize", "s"),
        Objective("served", "maximize", "jobs/user"),
    )
    assert all(one.objectives["served"].mean > 1 for one in found[0].evaluations)
    with pytest.raises(ScenarioError, match="did you mean longest"):
        search(scenario, objectives=["longst"])


def test_it_belongs_to_the_scenarios_that_name_its_file(tmp_path):
    mine = load(written(tmp_path), allow_plugins=True)
    assert "longest" in simulate(mine).metrics
    assert "longest" not in simulate(load(BASE).override({"workload.count": 2})).metrics


def test_a_failing_metric_is_one_line_with_its_file(tmp_path):
    source = MINE.replace("run.metrics[", "run.metric[")
    message = refused("run", written(tmp_path, source), "--allow-plugins")
    assert not missing(message, "metric served", tmp_path / "mine.py", "line 11", "AttributeError")


def test_a_number_that_is_too_large_is_told_with_its_file(tmp_path):
    source = MINE.replace("return run.metrics", "return 10**400 * run.metrics").replace(" / len", " // len")
    source = source.replace('run.metrics["completed"]', 'int(run.metrics["completed"])')
    with pytest.raises(ScenarioError, match=r"metric served \(.*mine\.py\): OverflowError"):
        load(written(tmp_path, source), allow_plugins=True).run()


@pytest.mark.parametrize("value", ["None", "'3'", "1j", "[1.0]"])
def test_what_is_no_number_is_refused(tmp_path, value):
    source = f"import gridtune as gt\ngt.metric('mine', unit='', direction='minimize')(lambda run: {value})\n"
    scenario = load(written(tmp_path, source), allow_plugins=True)
    with pytest.raises(ScenarioError, match=r"metric mine \(.*mine\.py\): .*number"):
        scenario.run()


@pytest.mark.parametrize("value", [1e308, -1e200, 2e18])
def test_a_number_of_which_no_means_can_be_formed_is_refused(tmp_path, value):
    source = f"import gridtune as gt\ngt.metric('mine', unit='', direction='minimize')(lambda run: {value})\n"
    scenario = load(written(tmp_path, source), allow_plugins=True)
    with pytest.raises(ScenarioError, match=r"metric mine \(.*mine\.py\): .*1e\+18"):
        scenario.run()


@pytest.mark.parametrize("value", ["1e18", "float('inf')"])
def test_a_number_at_the_limit_or_an_infinite_one_is_not_refused(tmp_path, value):
    source = f"import gridtune as gt\ngt.metric('mine', unit='', direction='minimize')(lambda run: {value})\n"
    assert load(written(tmp_path, source), allow_plugins=True).run()["mine"] >= 1e18


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ("'completed', unit='', direction='minimize'", "metric completed.*name is taken"),
        ("'meta_completed', unit='', direction='minimize'", "name is taken .*gridtune"),
        ("'a b', unit='', direction='minimize'", "mine.py: line 2: metric 'a b': "),
        (
            "'failure', unit='', direction='minimize'",
            "metric failure: another column",
        ),
        ("'completed_se', unit='', direction='minimize'", "metric completed_se: another column"),
        ("'mine', unit='', direction='up'", "direction 'up': .*minimize or maximize"),
        ("'mine', unit=3, direction='minimize'", "unit 3: .* text"),
        ("'mine', unit='', direction='minimize', resolution=-1", "resolution -1: .*0"),
    ],
)
def test_a_metric_that_cannot_be_is_refused_at_once(tmp_path, call, problem):
    source = f"import gridtune as gt\ngt.metric({call})(lambda run: 0.0)\n"
    with pytest.raises(ScenarioError, match=problem):
        load(written(tmp_path, source), allow_plugins=True).run(out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_every_column_beside_the_metrics_is_a_name_that_no_metric_may_have():
    scenario = load(BASE).override({"workload.count": 2})
    study = made_search(
        scenario,
        budget=3,
        sampler="random",
        jobs=1,
        vary=["sed.speed=1,2"],
        objectives=["completed", "events"],
    )
    given = {"scenario": BASE, "seed": 1, "rng": None, "replication": 0, "horizon": 50.0, "step_length": 50.0}
    (batch, *_) = mesa.batch_run(GridModel, given, number_processes=1, display_progress=False)
    tables = [
        study.configurations.reset_index(),
        sweep(scenario, ["sed.speed=1,2"]).configurations,
        scenario.run().values.reset_index(),
    ]
    found = {
        *batch,
        *(name for table in tables for name in table),
        *(one.name for one in columns(study.details)),
    }
    beside = {name for name in found if name.isidentifier()} - METRICS.keys()
    assert len(beside) > 30
    for name in beside:
        with pytest.raises(MetricError, match=f"^metric {name}: another column"):
            metric(name, unit="", direction="minimize")
    assert not [name for name in METRICS if name in custom.COLUMNS or name.endswith(custom.ENDINGS)]


def test_a_metric_of_the_program_is_measured_everywhere_and_may_be_changed():
    scenario = load(BASE).override({"workload.count": 2})
    for number, unit in ((1, "a"), (2, "b")):
        metric("here", unit=unit, direction="maximize")(lambda run, number=number: number)
        made = scenario.run(replications=2, jobs=2).summaries["here"]
        assert (made.values, made.unit) == ((number, number), unit)


def test_two_meanings_of_a_name_are_refused(tmp_path):
    mine = load(written(tmp_path), allow_plugins=True)
    simulate(mine)
    metric("longest", unit="h", direction="minimize")(lambda run: 0.0)
    with pytest.raises(ScenarioError, match=r"longest: .*twice, .*mine\.py .*test_"):
        simulate(mine)
    other = load(written(tmp_path, MINE.replace('unit="s"', 'unit="h"'), "other"), allow_plugins=True)
    with (
        pytest.raises(ScenarioError, match=r"other\.py\): .*mine\.py "),
        custom.exactly([]),
    ):
        simulate(other)


@pytest.mark.long
def test_an_installed_package_announces_its_metrics(tmp_path):
    (tmp_path / "parcel.py").write_text(MINE)
    about = tmp_path / "parcel-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: parcel\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[gridtune.metrics]\nparcel = parcel\n")
    env = {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(tmp_path)])}
    run = ("run", BASE, "--set", "workload.count=2", "--format", "json")
    done = gridtune(*run, env=env)
    assert json.loads(done.stdout)["metrics"]["longest"]["unit"] == "s", done.stderr
    (tmp_path / "parcel.py").write_text("1 / 0")
    message = refused(*run, env=env)
    assert not missing(message, "entry point parcel", "gridtune.metrics", "ZeroDivisionError")


def test_metrics_of_the_program_can_be_left_to_another_process():
    metric("here", unit="", direction="maximize")(lambda run: 1.0)
    (here,) = [made for made in custom.in_process() if made.name == "here"]
    there = replace(here, function=lambda run: 2.0)
    scenario = load(BASE).override({"workload.count": 2})
    with custom.exactly([there]):
        assert simulate(scenario).metrics["here"].value == 2.0
    with custom.exactly([]):
        assert "here" not in simulate(scenario).metrics
    assert simulate(scenario).metrics["here"].value == 1.0


def test_names_must_be_possible():
    with pytest.raises(MetricError, match="letters, digits and underscores"):
        metric("waiting.p95", unit="s", direction="minimize")


def test_the_metric_of_the_page_is_the_wait_in_one_queue_and_may_be_searched(tmp_path):
    page = (ROOT / "docs" / "writing-a-metric.md").read_text(encoding="utf-8")
    (source,) = re.findall(r'^```python title="debug.py"\n(.*?)^```$', page, re.MULTILINE | re.DOTALL)
    (tmp_path / "debug.py").write_text(source, encoding="utf-8")
    rows = ["id,submit,start,end,procs,walltime,user,queue"]
    rows += [f"{k},{60 * k},{60 * k},{60 * k + 90},1,100,u,{'debug' if k % 2 else 'long'}" for k in range(80)]
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "mine.toml").write_text(
        'title = "A queue"\nplugins = ["debug.py"]\nhorizon = 5000.0\n'
        '[[site]]\nname = "cluster"\nnodes = 1\npolicy = "fcfs"\n'
        '[[workload]]\nname = "log"\nkind = "trace"\ntrace = "log.csv"\n',
        encoding="utf-8",
    )
    metrics = simulate(load(str(tmp_path / "mine.toml"), allow_plugins=True)).metrics
    assert metrics["debug_wait"].value == pytest.approx(metrics["waited_p95.queue-debug"].value) != 0
    assert objectives_of(["debug_wait"])[0].unit == "s"
