"""gridtune from Python: cheap to import, proper tables, the numbers of the command line, true examples."""

import doctest
import inspect
import json
import multiprocessing
import re
import subprocess
import sys
import warnings
from dataclasses import is_dataclass, replace
from functools import cached_property
from inspect import get_annotations, isclass
from types import FunctionType

import numpy as np
import optuna
import pandas as pd
import pytest
from typer.testing import CliRunner

import gridtune as gt
from gridtune import cli
from gridtune.model import policy
from gridtune.model.metrics import custom
from gridtune.model.metrics.registry import METRICS
from gridtune.scenarios.document.paths import by_path
from gridtune.scenarios.execution.variations import as_texts
from tests.facts import missing
from tests.test_cli import gridtune

NAME = "diet/day-regular"
HEAVY = {"mesa", "numpy", "pandas", "pydantic", "optuna", "pymoo", "matplotlib", "seaborn", "typer"}


@pytest.fixture(scope="module")
def scenario():
    return gt.load(NAME, workload__count=2)


@pytest.fixture(scope="module")
def result(scenario):
    return scenario.run(replications=2, events=True)


@pytest.fixture(scope="module")
def study(scenario):
    return gt.search(scenario, budget=8, sampler="random", jobs=1, replications=2, require=["completed>=50"])


def printed(*words):
    done = CliRunner().invoke(cli.app, [*words, "--format", "json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_to_import_it_loads_nothing_heavy():
    code = "import gridtune as gt, sys; dir(gt); print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not set(loaded.split()) & HEAVY


def test_every_name_is_there_and_no_other():
    for name in gt.__all__:
        assert getattr(gt, name) is not None
        assert name in dir(gt)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        gt.nothing  # noqa: B018


def test_a_run_has_the_numbers_of_the_command_line(result):
    made = printed("run", NAME, "--set", "workload.count=2", "--replications", "2")
    assert result.to_dict() == made
    completed = made["metrics"]["completed"]
    assert result["completed"] == completed["mean"] == result.metrics.loc["completed", "mean"]
    assert list(result.values["completed"]) == completed["values"]
    assert result.metrics.loc["waiting_mean", "unit"] == "s"
    with pytest.raises(KeyError, match="did you mean completed"):
        result["complete"]


@pytest.mark.long
def test_notes_go_to_standard_error_on_the_command_line_alone(capfd):
    replay = gt.load("batch/replay").run(tables=False)
    assert capfd.readouterr() == ("", "")
    assert any(note.startswith("workload log: ") for note in replay.notes)
    done = gridtune("run", "batch/replay", "--format", "json")
    assert json.loads(done.stdout) == replay.to_dict()
    assert "gridtune: workload log: " in done.stderr


def test_tables_have_proper_types(result):
    jobs = result.jobs
    assert set(jobs["replication"]) == {0, 1}
    assert all(
        isinstance(jobs[name].dtype, pd.CategoricalDtype) for name in ("user", "kind", "site", "state")
    )
    assert all(jobs[name].dtype == float for name in ("submit", "start", "end", "deadline", "runtime"))
    assert jobs["mandatory"].dtype == bool
    assert isinstance(result.signals["name"].dtype, pd.CategoricalDtype)
    assert set(result.classes["class"]) == {"mandatory", "optional"}
    assert result.table("events")["event"].dtype == "category"
    never = gt.load("queue/mmc", queue__customers=100).run()
    assert never.jobs["deadline"].isna().all()
    assert never.classes.empty
    assert list(never.classes.columns[:2]) == ["user", "class"]
    with pytest.raises(gt.ScenarioError, match=r"run\(events=True\) keeps the events"):
        never.table("events")


def test_a_result_is_written_as_the_command_line_writes_it(scenario, tmp_path):
    written = scenario.run(out=tmp_path / "a").out
    done = CliRunner().invoke(
        cli.app, ["run", NAME, "--set", "workload.count=2", "--out", str(tmp_path / "b")]
    )
    assert done.exit_code == 0
    names = sorted(path.name for path in written.iterdir())
    assert names == sorted(path.name for path in (tmp_path / "b").iterdir())
    for name in names:
        assert (written / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


@pytest.mark.long
def test_pictures_show_themselves_in_a_notebook(result, study, tmp_path):
    figure = result.plot("users", out=tmp_path / "users.svg")
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert (tmp_path / "users.svg").stat().st_size > 1000
    assert study.plot("parallel")._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(gt.ScenarioError, match="nothing: no such picture"):
        result.plot("nothing")
    with pytest.raises(gt.ScenarioError, match="replication 2: there are 2"):
        result.plot("users", replication=2)


def test_values_go_by_path_or_keyword():
    changed = gt.load(NAME, {"sed.count": 5}, client__dispatch="legacy")
    assert (changed.spec.sed[0].count, changed.value("client.dispatch")) == (5, "legacy")
    assert isinstance(changed.override(sed__count=6), gt.Scenario)
    numbers = pd.Series([1, 2]).to_numpy()
    assert by_path({"a.b": numbers[0], "c": (1, 2.0)}) == {"a.b": 1, "c": [1, 2.0]}
    with pytest.raises(gt.ScenarioError, match=r"sed\.count: set twice"):
        gt.load(NAME, {"sed.count": 5}, sed__count=6)
    with pytest.raises(gt.ScenarioError, match="did you mean count"):
        gt.load(NAME, sed__cuont=5)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"seed": -1}, "seed -1: .* 0$"),
        ({"replications": 0}, "replications 0: .* 1$"),
        ({"jobs": 1.5}, "jobs 1.5: expected"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(scenario, options, problem):
    with pytest.raises(gt.ScenarioError, match=problem):
        scenario.run(**options)


@pytest.mark.parametrize(
    ("vary", "text"),
    [
        ({"a.b": [1, 2.5, True, "x,y"]}, 'a.b=1,2.5,true,"x,y"'),
        ({"a.b": (1, 10, 4, "log")}, "a.b=1:10:4:log"),
        ({"a.b": (0.5, 2.0)}, "a.b=0.5:2.0"),
        ({"a.b": (np.float64(0.5), np.int64(2), np.int64(3))}, "a.b=0.5:2:3"),
        ({"a": [{"kind": "easy", "depth": 3}]}, 'a={"kind" = "easy", "depth" = 3}'),
        ({"a": range(3)}, "a=0,1,2"),
        ({"a": "1:9:3"}, "a=1:9:3"),
        (["a=1,2"], "a=1,2"),
    ],
)
def test_variations_are_said_in_the_words_of_the_command_line(vary, text):
    assert as_texts(vary) == [text]


@pytest.mark.parametrize("values", [(1,), ("a", "b"), 3, (1, 2, "lin"), (1, 2, True), [object()]])
def test_what_is_no_variation_is_refused(values):
    with pytest.raises(gt.ScenarioError, match=r"a\.b: "):
        as_texts({"a.b": values})


@pytest.mark.parametrize("vary", [{}, None, []])
def test_a_sweep_of_nothing_is_refused(vary):
    with pytest.raises(gt.ScenarioError, match="nothing is varied"):
        gt.sweep(NAME, vary)


def in_pool(_):
    """What a worker of somebody else's pool makes of a search with and without a number of processes."""
    asked = {
        "budget": 2,
        "sampler": "random",
        "vary": {"sed.count": [5, 10]},
        "objectives": ["completed", "events"],
    }
    study = gt.search(NAME, **asked)
    with pytest.raises(gt.ScenarioError) as refused:
        gt.search(NAME, jobs=2, **asked)
    return len(study.configurations), str(refused.value)


def test_in_a_worker_of_another_pool_one_process_runs_all():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        ((count, message),) = pool.map(in_pool, [0])
    assert count == 2
    assert not missing(message, "jobs=2", "worker", "jobs=1")


def test_a_sweep_has_the_numbers_of_the_command_line(tmp_path):
    made = gt.sweep(NAME, {"workload.count": [1, 2], "client.dispatch": ["ethic", "legacy"]}, out=tmp_path)
    vary = ["--vary", "workload.count=1,2", "--vary", "client.dispatch=ethic,legacy"]
    assert made.to_dict() == printed("sweep", NAME, *vary)
    configurations = made.configurations
    assert len(configurations) == 4
    assert configurations["client.dispatch"].dtype == "category"
    assert configurations["workload.count"].dtype == "int64"
    assert (made.runs.query("metric == 'completed'")["value"].to_numpy() == configurations["completed"]).all()
    assert (tmp_path / "sweep.json").exists()
    assert len(made.plot(["completed"]).axes) == 1


@pytest.mark.long
def test_a_search_has_the_numbers_of_the_command_line(study):
    words = [
        "search",
        NAME,
        "--set",
        "workload.count=2",
        "--budget",
        "8",
        "--sampler",
        "random",
        "--jobs",
        "1",
    ]
    made = printed(*words, "--replications", "2", "--require", "completed>=50")
    front = study.front
    assert [member["number"] for member in made["front"]] == list(front.index[front["on_front"]])
    assert [item["name"] for item in made["recommendations"]] == list(study.recommendations.index)
    estimated = [member["estimated"]["unfairness"] for member in made["front"]]
    assert estimated == pytest.approx(front["unfairness"][front["on_front"]].tolist(), abs=1e-4)
    table = study.configurations
    assert len(table) == made["evaluations"] == 8
    details = study.details
    kept = {n for one in details.on_front for n in (one.number, *details.equals(one.number))}
    assert set(table.index[table["on_front"]]) == kept
    assert table["client.dispatch"].dtype == "category"
    assert table["completed_search_se"].dtype == float
    assert (table["completed_validated"].fillna(table["completed_search"]) >= 50).equals(table["feasible"])


@pytest.mark.long
def test_a_search_is_read_as_a_study_of_optuna(study):
    trials, table = study.trials_dataframe(), study.configurations
    assert trials["number"].tolist() == sorted(table.index)
    by_number = table.sort_index()
    assert trials["values_completed"].tolist() == by_number["completed_search"].tolist()
    assert trials["params_client.dispatch"].tolist() == by_number["client.dispatch"].tolist()
    assert (trials["user_attrs_replications"] == 2).all()
    assert [trial.number for trial in study.best_trials] == study.front.index.tolist()
    assert study.front["on_front"].all()
    assert study.hypervolume == study.details.hypervolume


def test_trials_have_optunas_columns_and_the_times_of_the_search(study):
    trials = study.trials_dataframe()
    assert list(trials.columns) == list(study.to_optuna().trials_dataframe().columns)
    assert (trials["duration"] > pd.Timedelta(0)).all()
    assert trials["datetime_complete"].nunique() == len(trials)
    ordered = trials.sort_values("datetime_complete")
    one_process = (
        ordered["datetime_start"].iloc[1:].to_numpy() >= ordered["datetime_complete"].iloc[:-1].to_numpy()
    )
    assert one_process.all()
    assert study.trials_dataframe(attrs=("number",)).columns.tolist() == ["number"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        bars = optuna.visualization.matplotlib.plot_timeline(study.to_optuna()).patches
    assert max(bar.get_width() for bar in bars) > 0


def test_failed_configurations_are_rows_that_say_why(scenario, tmp_path):
    kept = str(tmp_path / "kept.log")
    failing = gt.search(
        scenario, budget=6, sampler="random", jobs=1, objectives=["waiting_mean"], storage=kept,
        vary={"workload.count": [1, 2], "horizon": [0.0005, 200.0]},
    )  # fmt: skip
    table = failing.configurations
    failed = table[table["horizon"] == 0.0005]
    assert len(failed) > 0
    assert failed["failure"].str.contains("waiting_mean is nan").all()
    assert failing.trials_dataframe()["state"].value_counts()["FAIL"] == len(failed)
    assert failed["waiting_mean"].isna().all()
    reopened = gt.open_study(kept)
    pd.testing.assert_frame_equal(reopened.configurations, table)
    pd.testing.assert_frame_equal(reopened.trials_dataframe(), failing.trials_dataframe())


def test_a_configuration_of_a_search_can_be_run_and_explained(study):
    number = study.details.on_front[-1].number
    chosen = study.at(str(number))
    assert chosen.document == study.at(number).document
    assert study.at("baseline").active == study.scenario.active
    values = study.details.archive.evaluations[number].values
    assert all(chosen.value(path) == value for path, value in values.items() if path == "client.dispatch")
    why = study.explain(number, replications=2, jobs=1)
    assert why.text.startswith(f"Configuration {number} ")
    assert str(why) == why.text
    assert list(why.changes.index) == ["unhappy_users", "unfairness", "completed"]
    assert set(why.ablations.reset_index()["metric"]) <= set(why.changes.index)
    with pytest.raises(gt.ScenarioError, match="no configuration nothing"):
        study.explain("nothing")


def test_policies_have_the_base_class_of_each_family_and_the_types_of_its_arguments():
    offered = {name: getattr(gt.policies, name) for name in gt.policies.__all__}
    bases = {base for kind in policy.policies() for base in kind.__mro__ if base.__base__ is policy.Policy}
    assert bases <= {*offered.values()}
    elsewhere = {"Job", "Generator", "Sequence", "Mapping", "None"}
    rare = {"Floats", "Ledger", "Memory", "Memories"}  # arrays of numbers, and what only shipped ones return
    for base in bases:
        for method in filter(inspect.isfunction, vars(base).values()):
            texts = map(str, inspect.get_annotations(method).values())
            names = set(re.findall(r"\b[A-Z]\w+", " ".join(texts)))
            assert names - elsewhere - rare <= {*offered}, method


def test_former_names_warn(scenario, study):
    made = gt.sweep(scenario, {"workload.count": [1]})
    with pytest.warns(FutureWarning, match="now called Sweep.configurations"):
        assert made.points is made.configurations
    with pytest.warns(FutureWarning, match="now called Study.configurations"):
        pd.testing.assert_frame_equal(study.evaluations, study.configurations)


def test_what_is_shown_is_short(scenario, result, study):
    made = gt.sweep(scenario, {"workload.count": [1, 2]})
    why = study.explain(study.details.on_front[-1].number, replications=1, ablate=False, jobs=1)
    run = gt.Result(scenario, 1, result.runs, result.tables)
    for one in (scenario, result, run, made, study, why):
        assert len(repr(one)) < 200, one
        assert "\n" not in repr(one)
        shown = one._repr_html_()
        assert len(shown) < 30_000
        assert shown.count("<table") <= 1
        assert "<script" not in shown
    assert repr(scenario) == "Scenario('diet/day-regular')"


def reachable(root, path, seen, depth=4):
    """What one gets to from an object by attributes and first elements, by the way there: gridtune's own."""
    if id(root) in seen or depth < 0:
        return
    seen[id(root)] = root  # kept alive, so that no other gets its id
    if isinstance(root, list | tuple | dict):
        first = next(iter(root.values() if isinstance(root, dict) else root), None)
        yield from reachable(first, f"{path}[0]", seen, depth)
    elif type(root).__module__.startswith("gridtune."):
        yield path, root
        skipped = ("model_fields", "model_computed_fields")  # of pydantic
        for name in (name for name in dir(root) if not name.startswith("_") and name not in skipped):
            yield from reachable(getattr(root, name, None), f"{path}.{name}", seen, depth - 1)


@pytest.mark.filterwarnings("ignore:.* is now called")
def test_what_a_notebook_meets_on_the_way_is_short_too(scenario, result, study):
    why = study.explain(study.details.on_front[-1].number, replications=2, jobs=1)
    model = gt.GridModel(scenario=scenario, seed=1)
    seen, met = {}, {}
    for name, root in {"study": study, "why": why, "result": result, "model": model}.items():
        met |= dict(reachable(root, name, seen))
    kinds = {type(one).__name__ for one in met.values()}
    assert {"Archive", "Evaluation", "Front", "Settings", "Space", "Explanation", "ScenarioSpec"} <= kinds
    assert {path: repr(one) for path, one in met.items() if len(repr(one)) > 250 or "\n" in repr(one)} == {}


def own(cls):
    """A class and those of its bases that are gridtune's own; the base of all policies stands for itself."""
    return [one for one in cls.__mro__ if one.__module__.startswith("gridtune.") and one is not policy.Policy]


def public():
    """Public names of gridtune and of its policies, and the members of classes, by name."""
    names = {name: getattr(gt, name) for name in gt.__all__}
    names |= {f"policies.{name}": getattr(gt.policies, name) for name in gt.policies.__all__}
    for name, value in names.items():
        yield name, value
        for member in dict.fromkeys(key for one in own(value) for key in vars(one)) if isclass(value) else ():
            found = inspect.getattr_static(value, member)
            found = getattr(found, "__func__", found)
            if not member.startswith("_") and isinstance(found, FunctionType | property | cached_property):
                yield f"{name}.{member}", found


def function(found):
    return getattr(found, "fget", None) or getattr(found, "func", None) or found


PUBLIC = dict(public())
EXAMPLES = {name: inspect.getdoc(function(found)) or "" for name, found in PUBLIC.items()}


def sections(text):
    """The names for which each section of a docstring has entries, by its heading."""
    found, heading = {}, None
    for line in text.splitlines():
        if re.fullmatch(r"(Args|Attributes|Returns|Raises|Example):", line):
            heading = found[line[:-1]] = set()
        elif heading is not None and (entry := re.match(r" {4}([*\w, ]+): ", line)):
            heading |= {name.strip("* ") for name in entry[1].split(",")}
    return found


def of_class(name, cls):
    """The names and sections that the docstring of a class must have."""
    needed = {field for one in own(cls) for field in [*get_annotations(one), *vars(one).get("__slots__", ())]}
    if not is_dataclass(cls) and getattr(cls.__init__, "__module__", "").startswith("gridtune."):
        needed |= {*inspect.signature(cls).parameters}
    return {"Example", *(one for one in needed if not one.startswith("_"))}


def of_function(name, found):
    """The names and sections that the docstring of a function, method or property must have."""
    called = function(found)
    signature, calculated = inspect.signature(called), isinstance(found, property | cached_property)
    needed = {*signature.parameters} - {"self", "cls"}
    needed |= {*re.findall(r"raise (\w+)\(", inspect.getsource(called))}
    told = EXAMPLES[name].startswith(("Tell whether ", "Deprecated: "))
    if signature.return_annotation != "None" and not calculated and not told:
        needed.add("Returns")
    if not EXAMPLES[name].startswith("Deprecated: ") and not _in_an_example_of_its_class(name, signature):
        needed.add("Example")
    return needed


def _in_an_example_of_its_class(name, signature):
    """Whether it is a question to a policy that the example of its class asks, or what only agents call."""
    owner, _, member = name.rpartition(".")
    if not owner.startswith("policies."):
        return False
    return signature.return_annotation == "None" or bool(re.search(rf"\b{member}\(", EXAMPLES[owner]))


@pytest.mark.parametrize("name", [name for name in PUBLIC if name != "policies"])
def test_every_public_name_has_a_docstring_with_all_its_sections(name):
    there = sections(EXAMPLES[name])
    needed = (of_class if isclass(PUBLIC[name]) else of_function)(name, PUBLIC[name])
    assert EXAMPLES[name].partition("\n")[0].endswith(".")
    assert sorted(needed - there.keys() - set().union(*there.values())) == []


def test_docstrings_of_frames_name_every_column():
    run = gt.load("diet/day-regular", workload__count=2).run(replications=2, events=True)
    told = {name: EXAMPLES[f"Result.{name}"] for name in ("jobs", "users", "signals", "metrics", "table")}
    told["classes"] = EXAMPLES["Result.classes"] + told["users"]
    frames = {name: run.table(name) for name in run.tables[0]} | {"metrics": run.metrics}
    assert {*told} - {"table"} <= {*frames}
    missing = {
        f"{name}.{column}"
        for name, frame in frames.items()
        for column in frame.columns
        if f"`{column}`" not in told.get(name, told["table"])
    }
    assert missing == set()


@pytest.mark.long
@pytest.mark.parametrize("name", list(gt.__all__))
def test_examples_are_true(name, monkeypatch):
    monkeypatch.setattr(custom, "_known", dict(custom._known))
    monkeypatch.setattr(custom, "_entered", dict(custom._entered))
    monkeypatch.setattr(policy, "_registry", {name: dict(known) for name, known in policy._registry.items()})
    known, said, names = dict(METRICS), [], {}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    try:
        # Examples of members go on from that of their class.
        for place in (one for one in EXAMPLES if one.split(".")[0] == name):
            test = doctest.DocTestParser().get_doctest(EXAMPLES[place], names, place, None, 0)
            runner.run(test, out=said.append, clear_globs=False)
            names = test.globs
        assert runner.failures == 0, "".join(said)
        assert runner.tries > 0
    finally:
        METRICS.clear()
        METRICS.update(known)


def test_recommendations_have_their_columns_even_where_there_are_none(study):
    bare = gt.Study(study.settings, replace(study.archive, recommendations=()))
    assert len(bare.recommendations) == 0
    assert {"number", *study.configurations.columns} - {"name"} == set(bare.recommendations.columns)
