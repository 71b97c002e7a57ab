"""Two studies or runs side by side: paired under common random numbers, volumes under one reference point."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_ind, ttest_rel

from gridtune.model.metrics.registry import definition
from gridtune.optimize.api import open_study
from gridtune.optimize.commands.compare import (
    OWN_RUNS,
    Comparison,
    Row,
    _runs,
    basis,
    compare_text,
    compared,
    compared_fronts,
    run_compare,
)
from gridtune.optimize.front.front import front, reference_point
from gridtune.optimize.records.difference import difference
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.search import search
from gridtune.scenarios import ScenarioError, load
from gridtune.scenarios.results.saved_runs import SavedMetric, SavedRun, workloads_of
from search_toys import VARY, toy_with_baseline
from tests.calls import call  # noqa: F401
from tests.facts import missing
from tests.fronts import COMPLETED, UNFAIR, archive


def kept(folder, **options):
    search(
        load("diet/day-regular"), budget=16, vary=VARY, work=toy_with_baseline, baseline=True,
        sampler="random", out=folder, **options,
    )  # fmt: skip
    return str(folder)


def test_common_replications_are_compared_in_pairs():
    effects = np.random.default_rng(1).normal(0, 5, 8)
    a, b = effects.tolist(), (effects + 1 + 0.1 * np.arange(8)).tolist()
    paired, apart = (compared(UNFAIR, a, b, common=common) for common in (True, False))
    assert paired.difference.low == difference(b, a).low > 0 > apart.difference.low
    assert (paired.better, apart.better) == (False, False)
    assert paired.difference.mean == pytest.approx(apart.difference.mean)
    assert (paired.difference.pairs, apart.difference.pairs) == (8, 0)
    unknown = compared(UNFAIR, (np.nan, np.nan), b, common=False)
    assert not unknown.significant, "what is no number is no certain difference"


def test_the_reference_point_is_twice_as_bad_as_the_baseline_whatever_else_was_searched():
    configurations = [((0.2, 0.4), (90, 110)), ((0.1, 0.1), (50, 50)), ((9.0, 9.0), (1, 1))]
    assert reference_point(archive((UNFAIR, COMPLETED), *configurations, baseline=0)) == (0.4, 0.0)
    assert reference_point(archive((UNFAIR, COMPLETED), *configurations[:2], baseline=0)) == (0.4, 0.0)
    assert reference_point(archive((UNFAIR, COMPLETED), *configurations)) != (0.4, 0.0)
    idle = archive((UNFAIR, COMPLETED), (0.0, 0.0), baseline=0)
    assert reference_point(idle) == (1.0, -1.0)


def test_volumes_have_the_reference_of_the_first():
    one = archive((UNFAIR, COMPLETED), (1.0, 10.0), (0.5, 8.0), baseline=0)
    two = archive((UNFAIR, COMPLETED), (3.0, 10.0), (0.5, 9.0), baseline=0)
    volume, *_ = compared_fronts(front(one), front(two), common=True)
    assert (volume.change.start, volume.change.to) == (1 * 10 + 0.5 * 8, 1.5 * 9)
    assert (volume.change.difference.low, volume.better) == (None, False)


def test_equal_fronts_do_not_differ_on_common_replications_and_may_on_others():
    runs = [((0.1, 0.3, 0.2), (9.0, 8.0, 7.0)), ((0.5, 0.4, 0.6), (12.0, 11.0, 13.0))]
    found = front(archive((UNFAIR, COMPLETED), *runs, baseline=0))
    rows, (_, _, apart, _) = (
        [row.as_json() for row in compared_fronts(found, found, common=common)] for common in (True, False)
    )
    names = ["hypervolume", "configurations on the front", "best unfairness", "best completed"]
    assert [row["name"] for row in rows] == names
    assert all((row["difference"], row["better"]) == (0.0, None) for row in rows)
    assert [row["paired"] for row in rows] == [False, False, True, True]
    assert (rows[2]["low"], rows[2]["high"]) == (0.0, 0.0)
    assert apart["low"] == pytest.approx(-apart["high"])
    assert apart["high"] > 0


def test_two_samples_are_compared_from_two_runs_each():
    a, b = [1.0, 2.0], [4.0, 7.0]
    for first, second in ((a, b), (b, [*a, 3.0])):
        found = compared(COMPLETED, first, second, common=False).difference
        test = ttest_ind(second, first, equal_var=False)
        known = test.confidence_interval(0.95)
        assert (found.low, found.high) == pytest.approx((known.low, known.high))
        assert found.p_value == pytest.approx(test.pvalue)
    assert compared(COMPLETED, a, b, common=False).difference.mean == 4.0
    assert compared(COMPLETED, a, b, common=False).better
    single = compared(COMPLETED, a, b[:1], common=False).difference
    assert (single.mean, single.low, single.high) == (2.5, None, None)
    level = compared(COMPLETED, [1.0, 1.0], [3.0, 3.0], common=False).difference
    assert (level.low, level.high) == (2.0, 2.0)


def test_two_studies(tmp_path):
    a, b, c = (
        kept(tmp_path / "a"),
        kept(tmp_path / "b", require=["completed>=900"], validation_replications=9),
        kept(tmp_path / "c", seed=2),
    )
    made = run_compare(a, b).to_dict()
    assert made["paired"]
    named = {row["name"]: row for row in made["rows"]}
    volumes = [open_study(one).hypervolume for one in (a, b)]
    assert [named["hypervolume"]["a"], named["hypervolume"]["b"]] == volumes, "as the fronts show them"
    assert named["baseline unfairness"]["difference"] == 0, "on the replications that both have"
    same = {row["name"]: row["difference"] for row in run_compare(a, a).to_dict()["rows"]}
    assert set(same.values()) == {0.0}
    apart = run_compare(a, c).to_dict()
    assert not apart["paired"]
    volume = apart["rows"][0]
    assert volume["low"] is None, "other seeds of the sampler would change it, too"
    assert next(row for row in apart["rows"] if row["name"] == "baseline unfairness")["low"] is not None


def test_searches_of_different_jobs_are_no_pairs_and_it_is_said_which_settings_differ(tmp_path):
    a = kept(tmp_path / "a")
    search(
        load("diet/day-regular").override({"workload.count": 9}), budget=16, vary=VARY,
        work=toy_with_baseline, baseline=True, sampler="random", out=tmp_path / "b",
    )  # fmt: skip
    made = run_compare(a, str(tmp_path / "b"))
    data = made.to_dict()
    assert not data["paired"]
    assert [path for path in data["differing_workloads"] if path.endswith(".count")]
    assert "different jobs" in compare_text(made, 80).splitlines()[0]
    assert not run_compare(a, a).to_dict()["differing_workloads"]


def test_equal_replications_count_once_and_the_mean_wait_comes_first():
    def saved(mean, longest):
        values = {"waiting_mean": mean, "waited_max": longest}
        metrics = {name: SavedMetric(values=each, unit="s") for name, each in values.items()}
        return SavedRun(scenario="s", seed=1, workloads={}, metrics=metrics)

    same = saved([10.0, 10.0], [1.0, 1.0]), saved([9.0, 9.0], [50.0, 50.0])
    made = Comparison("a", "b", "runs", *_runs(*same))
    assert made.repeated
    assert {row.change.difference.pairs for row in made.rows} == {1}
    said = compare_text(made, 80)
    assert not missing(said, "All replications are equal", "2 of 2 quantities differ", "1 better, 1 worse")
    assert said.index("waiting time (mean)") < said.index("longest wait")
    assert not Comparison("a", "b", "runs", *_runs(same[0], saved([9.0, 8.0], [50.0, 50.0]))).repeated


def test_two_runs_and_what_is_neither(tmp_path, call):  # noqa: F811
    for name, window in (("a", 1), ("b", 4)):
        settings = "--set", "workload.count=2", "--set", f"client.dispatch.window={window}"
        code, out, _ = call(
            "run", "diet/day-regular", *settings, "--replications", 2,
            "--out", tmp_path / name, "--format", "json",
        )  # fmt: skip
        assert code == 0
        (tmp_path / f"{name}.json").write_text(out, encoding="utf-8")
    made = run_compare(str(tmp_path / "a"), str(tmp_path / "b.json")).to_dict()
    assert made["paired"]
    completed = next(row for row in made["rows"] if row["name"] == "completed")
    known = json.loads((tmp_path / "b.json").read_text())["metrics"]["completed"]
    assert completed["b"] == pytest.approx(known["mean"])
    code, out, _ = call("compare", tmp_path / "a", tmp_path / "b")
    assert (code, missing(out, "b minus a", "common random numbers")) == (0, [])
    lines = out.splitlines()
    assert len(lines) <= 24
    assert lines[2].split() == ["a", "b", "difference"]
    assert any(line.endswith(("better", "worse")) for line in lines)
    assert "lost jobs" not in out, "which is equal"
    assert "lost jobs" in call("compare", tmp_path / "a", tmp_path / "b", "--all").out
    assert "Nothing changes" in call("compare", tmp_path / "a", tmp_path / "a").out
    for wrong, said in (
        ("nowhere", "expected a study"),
        (tmp_path / "bad.json", "not what a run has written"),
    ):
        (tmp_path / "bad.json").write_text('{"metrics": 3}', encoding="utf-8")
        code, _, err = call("compare", tmp_path / "a", wrong)
        assert (code, said in err, err.count("\n")) == (2, True, 1)
    with pytest.raises(ScenarioError, match="compare two of a kind"):
        run_compare(kept(tmp_path / "study"), str(tmp_path / "a"))


@pytest.mark.long
def test_runs_are_paired_where_their_replications_are_common_whatever_their_files_are_called(tmp_path, call):  # noqa: F811
    _, document, _ = call("scenarios", "show", "diet/day-regular")
    (tmp_path / "mine.toml").write_text(document, encoding="utf-8")
    renamed = document.replace('name = "user"', 'name = "other"')
    (tmp_path / "other.toml").write_text(renamed, encoding="utf-8")
    runs = {
        "here": ("diet/day-regular", 7), "file": (tmp_path / "mine.toml", 7),
        "seed": (tmp_path / "mine.toml", 8), "names": (tmp_path / "other.toml", 7),
    }  # fmt: skip
    for name, (scenario, seed) in runs.items():
        code, out, _ = call(
            "run", scenario, "--set", "workload.count=2", "--seed", seed, "--replications", 2,
            "--out", tmp_path / name, "--format", "json",
        )  # fmt: skip
        assert code == 0
        (tmp_path / f"{name}.json").write_text(out, encoding="utf-8")

    def compared_with(other):
        return run_compare(str(tmp_path / "here"), str(tmp_path / other))

    same = compared_with("file").to_dict()
    assert (same["paired"], same["unpaired_because"]) == (True, None)
    assert {row["difference"] for row in same["rows"]} == {0}, "common random numbers in truth, too"
    for other, why in (
        ("seed", "The two share no random numbers (another seed)"),
        ("names", "The two share no random numbers (no workload in common)"),
        ("file.json", "Whether the two share random numbers is not known (scenarios of other names)"),
    ):
        made = compared_with(other)
        told = made.to_dict()
        assert (told["paired"], told["unpaired_because"]) == (False, why)
        assert why in basis(made, ("a", "b"))


def test_of_a_metric_that_nobody_knows_neither_run_is_said_to_be_better():
    said = {"satisfaction_mean.meta": True, "own_measure": None, "events": None}
    one, other = (
        SavedRun(scenario="s", seed=1, metrics={key: {"values": values, "unit": ""} for key in said})
        for values in ([1.0, 1.1, 0.9], [2.0, 2.1, 1.9])
    )
    made = Comparison("x/one", "x/other", "runs", *_runs(one, other))
    assert {row["name"]: row["better"] for row in made.to_dict()["rows"]} == said
    told = compare_text(made, 80, every=True).splitlines()
    assert [line.endswith("better") for line in told if "+1" in line] == [True, False, False]


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_a_comparison_keeps_the_width_and_says_amounts_as_people_do(width):
    rows = [
        Row(compared(Objective(name, "minimize", unit), a, b, common=True))
        for name, unit, a, b in (
            ("completed_work", "s", (183e6, 184e6), (190e6, 192e6)),
            ("background_waiting_mean", "s", (1000.0, 1200.0), (500.0, 510.0)),
            ("messages_per_task", "messages", (1332.0, 1340.0), (1623.0, 1500.0)),
            ("a_measure_of_a_user_whose_name_is_longer_than_any_other", "things", (1.0,), (1.0,)),
            ("lost_work.a-class-with-a-name", "s", (0.0, 0.0), (86400.0 * 3, 0.0)),
        )
    ]
    why = "The two share no random numbers (another seed)"
    made = Comparison("a", "b", "studies", why, rows)
    text = compare_text(made, width)
    assert max(map(len, text.splitlines())) <= width
    words = " ".join(text.split())
    assert "18.3 min" in words
    assert "50972 core-h" in words
    assert "+2083 " in words
    assert "183500000" not in words
    assert why in words
    assert OWN_RUNS in words
    assert "a measure of a user" not in words, "which is equal"
    names = ("a", "b")
    assert OWN_RUNS not in basis(replace(made, kind="runs"), names)
    paired = replace(made, kind="runs", apart="")
    assert "±" in basis(paired, names)
    level = compared(Objective("completed", "maximize", "jobs"), (5.0, 5.0), (7.0, 7.0), common=True)
    assert "±" not in basis(replace(paired, rows=[Row(level)]), names)


def test_what_gets_worse_is_listed_before_what_gets_better_and_counted_if_it_is_not():
    pairs = [(10.0, 1.0)] * 20 + [(10.0, 12.0), (10.0, 10.5)] + [(10.0, 30.0)] * 12
    rows = [
        Row(compared(Objective(f"m{k}", "minimize", ""), (a,), (b,), common=True))
        for k, (a, b) in enumerate(pairs)
    ]
    made = Comparison("a", "b", "runs", "", rows)
    lines = [line.split() for line in compare_text(made, 80).splitlines()]
    shown = [line[0] for line in lines if line and line[-1] in ("worse?", "better?")]
    assert shown[:13] == [*(f"m{k}" for k in range(22, 34)), "m20"]
    assert set(shown[13:]) <= {f"m{k}" for k in range(20)}
    others = [
        Row(compared(Objective(f"n{k}", "minimize", ""), (10.0,), (30.0 + k,), common=True))
        for k in range(14)
    ]
    some = " ".join(compare_text(replace(made, rows=rows[20:] + others), 80).split())
    assert re.search(r"Not listed: \d+ .*\d+ for the worse .* tenth", some)


def test_what_stands_under_two_names_is_listed_once():
    def row(name, before, after):
        return Row(compared(Objective(name, "minimize", "s"), (before,), (after,), common=True))

    rows = [
        row("waiting_mean", 10.5, 20.25),
        row("o", 10.0, 100.0),
        row("waiting_mean.all", 10.5, 20.25),
        row("m", 1.0, 2.0),
        row("n", 1.0, 2.0),
    ]
    made = Comparison("a", "b", "runs", "", rows)
    words = compare_text(made, 80)
    assert not missing(words, "5 of 5", "0 better", "5 worse in b")
    listed = [line.split()[0] for line in words.splitlines() if line.endswith("worse?")]
    assert listed == ["waiting", "o", "m", "n"], "main metrics first; counts may be equal by chance"
    assert len(re.findall("10.5", words)) == 1
    assert len(re.findall("10.5", compare_text(made, 80, every=True))) == 2


def test_over_a_tenth_is_of_the_first():
    made = Comparison("a", "b", "runs", "", [
        Row(compared(Objective(f"m{k}", "minimize", ""), (100.0,), (to,), common=True))
        for k, to in enumerate(np.linspace(110.5, 110.6, 40).tolist())
    ])  # fmt: skip
    assert re.search(r"\d+ for the worse .* tenth", " ".join(compare_text(made, 80).split()))


def test_sums_over_different_jobs_are_not_judged_nor_is_a_promise_a_different_job():
    def saved(jobs, **workload):
        known = {"workload": [{"name": "log", "trace": "/a/log.swf", **workload}]}
        values = dict.fromkeys(("jobs.size-small", "completed", "completed_work", "waiting_mean"), jobs)
        values["unhappy_users"] = 5.0
        metrics = {name: {"values": [one], "unit": definition(name).unit} for name, one in values.items()}
        return SavedRun(scenario="s", seed=1, workloads=workloads_of(known), metrics=metrics)

    def judged(first, second):
        return {row.change.metric.name for row in _runs(first, second)[1] if row.judged}

    assert judged(saved(40.0), saved(40.0)) >= {
        "completed",
        "completed_work",
        "unhappy_users",
        "waiting_mean",
    }
    assert judged(saved(40.0), saved(20.0)) == {"waiting_mean"}
    bound = saved(40.0, trace="log.swf", response_bound={"factor": 10.0})
    assert _runs(saved(40.0), bound)[2] == []
    assert _runs(saved(40.0), saved(40.0, trace="/a/other.swf"))[2] == ["workload.log.trace"]


def test_differences_of_shares_are_in_percentage_points():
    row = compared(Objective("unhappy_fraction", "minimize"), (0.1, 0.2), (0.3, 0.4), common=True)
    assert "+20 points" in compare_text(Comparison("a", "b", "runs", "", [Row(row)]), 80)


@pytest.mark.long
@pytest.mark.parametrize("values", [[], [1.0, 2.0], [True], ["1"], [[1.0]], None, 3.0])
def test_runs_whose_metrics_are_not_as_they_were_written_are_refused(call, tmp_path, values):  # noqa: F811
    run, edited = tmp_path / "run.json", tmp_path / "edited.json"
    about = {"scenario": "x", "seed": 1}
    good = {"mean": 1.0, "values": [1.0], "unit": "s"}
    run.write_text(json.dumps(about | {"metrics": {"makespan": good, "waiting_mean": good}}))
    bad = good | {"values": values}
    edited.write_text(json.dumps(about | {"metrics": {"makespan": good, "waiting_mean": bad}}))
    assert call("compare", run, run).code == 0
    code, out, err = call("compare", run, edited)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"gridtune: {edited}: ")


def test_an_interval_of_pairs_is_that_of_students_test():
    draw = np.random.default_rng(4)
    a, b = draw.normal(0, 1, 7).tolist(), draw.normal(0.5, 1, 7).tolist()
    found, known = difference(b, a), ttest_rel(b, a)
    interval = known.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.p_value == pytest.approx(known.pvalue)
    assert found.pairs == 7


@pytest.mark.long
def test_runs_of_different_jobs_are_said_first(call, tmp_path):  # noqa: F811
    more = {"base": [], "fewer": ["--set", "workload.count=2"], "legacy": ["--set", "client.dispatch=legacy"]}
    for name, words in more.items():
        call("run", "diet/day-regular", *words, "--out", str(tmp_path / name))
    other, same = (run_compare(str(tmp_path / "base"), str(tmp_path / name)) for name in ("fewer", "legacy"))
    assert other.jobs == ["workload.user.count"]
    assert same.jobs == []
    assert "different jobs (workload.user.count)" in compare_text(other, 80).splitlines()[0]
    assert "different jobs" not in compare_text(same, 80)
    assert "one run of each" in " ".join(compare_text(same, 80).split())


@pytest.mark.long
def test_runs_of_one_log_whose_content_has_changed_have_different_jobs(call, tmp_path):  # noqa: F811
    log = tmp_path / "log.swf"
    for name, count in (("all", 40), ("again", 40), ("half", 20)):
        rows = [f"{k} {600 * k} 0 900 2 -1 -1 2 1200 -1 1 1 1 -1 1 -1 -1 -1" for k in range(1, count + 1)]
        log.write_text("\n".join(["; MaxProcs: 8", *rows]) + "\n")
        words = ("run", "batch/replay", "--set", f"workload.trace={log}", "--out", str(tmp_path / name))
        (tmp_path / f"{name}.json").write_text(call(*words, "--format", "json").out)
    for suffix in ("", ".json"):
        first, same, other = (f"{tmp_path / name}{suffix}" for name in ("all", "again", "half"))
        assert run_compare(first, same).jobs == []
        made = run_compare(first, other).to_dict()
        assert made["differing_workloads"] == ["jobs.size-large"], "two of eight processors are a quarter"
        assert not made["paired"]


def test_metrics_without_a_value_in_some_runs_are_named(tmp_path):
    metrics = {"completed": [1.0, 2.0], "makespan": [5.0, None], "energy": [None, None]}
    for name, makespan in (("a", [5.0, 6.0]), ("b", [5.0, None])):
        values = metrics | {"makespan": makespan}
        saved = {key: {"values": some, "unit": ""} for key, some in values.items()}
        text = json.dumps({"scenario": "x", "seed": 1, "metrics": saved})
        (tmp_path / f"{name}.json").write_text(text)
    made = run_compare(str(tmp_path / "a.json"), str(tmp_path / "b.json"))
    assert made.to_dict()["not_compared"] == ["makespan"], "nobody asks what has no value anywhere"
    assert "no finite value: makespan" in compare_text(made, 80).splitlines()[0]
