"""Calibration: measures by hand, and logs whose scheduler is known because it was simulated."""

import json
import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gridtune.optimize.search_space.baseline import baseline_of
from gridtune.optimize.search_space.space import Space
from gridtune.scenarios import ScenarioError, load, simulate
from gridtune.scenarios.calibration import fit, logs
from gridtune.scenarios.calibration.fit import calibrate
from gridtune.scenarios.calibration.kept import KeptReplays
from gridtune.scenarios.calibration.levers import FAMILIES
from gridtune.scenarios.calibration.logs import read_log
from gridtune.scenarios.calibration.replays import Replays
from gridtune.scenarios.calibration.report import _verdict, report_lines
from gridtune.scenarios.calibration.waits import WEEK, GoodnessOfFit, LoggedWaits, persistence
from gridtune.scenarios.calibration.written import scenario_text, widened
from gridtune.scenarios.commands.calibrate import _from, run_calibration
from gridtune.scenarios.simulation.classes import promises
from tests.facts import missing
from tests.test_cli import gridtune, refused


def logged(submit, wait, runtime=None, processors=None):
    count = len(submit)
    return LoggedWaits.of(
        np.array(submit, float),
        np.array(wait, float),
        np.array(runtime or [60.0] * count, float),
        np.array(processors or [1] * count, float),
    )


def test_weeks_and_classes_by_hand():
    log = logged([5.0, WEEK, WEEK + 6.0, 3 * WEEK], [1, 2, 3, 4], [60, 3600, 3601, 9000], [8, 9, 8, 9])
    assert log.week.tolist() == [0, 0, 1, 2]
    assert {name: members.tolist() for name, members in log.classes.items()} == {
        "narrow-short": [True, False, False, False],
        "narrow-long": [False, False, True, False],
        "wide-short": [False, True, False, False],
        "wide-long": [False, False, False, True],
    }


def test_goodness_of_fit_by_hand():
    log = logged([0.0, 1.0, 2.0], [0.0, 60.0, 120.0])
    every = np.array([True, True, True])
    same = GoodnessOfFit.of(log.wait, log, every)
    assert (same.mean, same.ratio, same.misfit, same.error) == (60, 1, 0, 0)
    # 240 s at all: means 240 / 60, quantiles (240 + 60) / (60, 90, 114 + 60)
    late = GoodnessOfFit.of(np.full(3, 240.0), log, every)
    assert (late.ratio, late.logged) == (4, 60)
    assert late.error == 180
    assert late.ratios == pytest.approx({"median": 300 / 120, "75 %": 300 / 150, "95 %": 300 / 174})
    assert late.misfit == pytest.approx(np.mean(np.log([300 / 120, 300 / 120, 300 / 150, 300 / 174])) + 3)


def test_jobs_without_a_modelled_wait_count_on_neither_side():
    log = logged([0.0, 1.0, 2.0], [0.0, 60.0, 120.0])
    some = GoodnessOfFit.of(np.array([0.0, np.nan, 120.0]), log, np.array([True] * 3))
    assert (some.mean, some.logged, some.ratio, some.misfit) == (60, 60, 1, 0)


def test_persistence_by_hand():
    submit = [0.0, 1800.0, 7200.0, WEEK + 10.0, WEEK + 7210.0, WEEK + 30000.0, 2 * WEEK]
    log = logged(submit, [10.0, 30.0, 100.0, 1.0, 2.0, 3.0, 4.0])
    # First week: what was so far; second: of the hour (twice), of the week; third: of the hour.
    assert persistence(log).tolist() == pytest.approx([0, 10, 20, 20, 100, 140 / 3, 1])


@pytest.fixture(scope="module")
def log_of(tmp_path_factory):
    """Four weeks and a half of a small busy site whose waits a policy made, as SWF."""

    def make(policy, **site):
        rng = random.Random(3)
        folder = tmp_path_factory.mktemp("calibration")
        rows, now = [], 0.0
        while now < 4.5 * WEEK:
            now += rng.expovariate(1 / 5200.0)
            runtime = round(rng.lognormvariate(8.2, 1.2)) + 1
            procs = rng.choice([1, 1, 2, 4, 6])
            rows.append([round(now), -1, runtime, procs, runtime * rng.choice([1, 2, 5]), rng.randrange(9)])

        def write(name):
            lines = ["; MaxProcs: 8"] + [
                f"{k} {submit} {wait} {run} {procs} -1 -1 {procs} {limit} -1 1 {user} 1 -1 1 -1 -1 -1"
                for k, (submit, wait, run, procs, limit, user) in enumerate(rows, 1)
            ]
            (folder / name).write_text("\n".join(lines) + "\n")
            return folder / name

        made = load("batch/replay").override(
            {"workload.trace": str(write("bare.swf")), "site.cluster.policy": policy}
            | {f"site.cluster.{key}": value for key, value in site.items()}
        )
        for row, job in zip(rows, simulate(made).record.jobs, strict=True):
            row[1] = int(job.start - job.submit + site.get("start_overhead", 0.0))
        return write("logged.swf")

    return make


@pytest.mark.long
def test_the_scheduler_that_made_a_log_is_found(log_of):
    log = log_of({"kind": "priority", "rule": "sjf"})
    found = calibrate(str(log))
    assert found.best.values["site.cluster.policy"]["rule"] == "sjf"
    assert found.values.keys() == {"site.cluster.policy"}
    assert found.tested.ratio == pytest.approx(1, abs=1e-3)
    assert found.tested.error < 1.0  # s; waits of a log are whole seconds
    assert found.plain.tested.misfit > 0.1
    assert found.guessed.error > 1000
    assert found.skill > 0.99
    assert (found.parts, found.cut) == (5, 3)


@pytest.mark.long
def test_a_smaller_site_and_a_quota_are_found(log_of, tmp_path):
    fewer = calibrate(str(log_of("easy", nodes=7)))
    assert fewer.values["site.cluster.nodes"] == 7
    assert fewer.tested.error < 1.0
    limited = calibrate(str(log_of("easy", **{"quota.user_running": 1})))
    assert limited.best.values["site.cluster.quota.user_running"] == 1
    assert limited.tested.error < 1.0
    # What was found is where a search of what is written begins.
    made = load_text(scenario_text(limited), tmp_path)
    space = Space.of(made)
    assert baseline_of(made, space).configuration["site.cluster.quota.user_running"] == 1
    assert not baseline_of(made, space).notes


@pytest.mark.long
def test_what_it_takes_to_start_is_no_quota(log_of):
    found = calibrate(str(log_of("easy", start_overhead=30.0)))
    assert found.values == {"site.cluster.policy": "easy", "site.cluster.start_overhead": 30.0}
    assert found.tested.error < 1.0


def test_weeks_held_back_judge_what_was_chosen_on_the_others(log_of, tmp_path):
    """Until the third week jobs wait as under EASY; then, half as long, which nothing can explain."""
    path = log_of("easy")
    header, *rows = [line.split() for line in path.read_text().splitlines()]
    for row in rows:
        row[2] = str(int(row[2]) // (1 if int(row[1]) - int(rows[0][1]) < 3 * WEEK else 2))
    changed = tmp_path / "changed.swf"
    changed.write_text("\n".join(" ".join(row) for row in (header, *rows)) + "\n")
    found = calibrate(str(changed))
    assert found.values == {"site.cluster.policy": "easy"}
    assert found.best.fitted.ratio == pytest.approx(1, abs=1e-3)
    assert found.tested.ratio == pytest.approx(2, rel=0.01)
    lines = list(report_lines(found))
    assert not missing(" ".join(lines), "2.00 times", "1.00")
    assert "Trust differences between policies less" in " ".join(lines)
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    # What is written says the same, and does it: the run waits as the table has it.
    made = load_text(scenario_text(found), tmp_path)
    assert not missing(made.spec.description, "1.00", "2.00 on the weeks held")
    jobs = simulate(made).record.jobs
    late = [job.start - job.submit for job in jobs if job.submit >= 3 * WEEK]
    assert np.mean(late) == pytest.approx(found.tested.mean)
    # Objectives are what administrators are asked about, and nobody was promised anything.
    assert made.spec.search.objectives == ["slowdown_mean", "waited_p95.worst-size", "slowdown_jain"]
    assert not promises(made.active)
    assert not any(job.deadline < float("inf") for job in jobs)


@pytest.mark.parametrize(
    ("one", "value", "expected"),
    [
        (["none", 32, 8], 32.0, ["none", 32, 8]),
        (["none", 32, 8], 111.0, [111.0, "none", 32, 8]),
        ({"choices": [1.0, 2.0], "when": {"a": 1}}, 0.0, {"choices": [0.0, 1.0, 2.0], "when": {"a": 1}}),
        ({"low": 1.0, "high": 9.0, "log": True}, 3.0, {"low": 1.0, "high": 9.0, "log": True}),
        ({"low": 1.0, "high": 9.0, "log": True}, 20.0, {"low": 1.0, "high": 20.0, "log": True}),
        ({"low": 1.0, "high": 1000.0, "log": True}, 0.0, {"choices": [0.0, 1.0, 10.0, 100.0, 1000.0]}),
    ],
)
def test_a_parameter_is_widened_to_hold_what_was_found(one, value, expected):
    assert widened(one, value) == expected


def test_nobody_is_suspended_where_jobs_have_a_grace_time(tmp_path, log_of):
    found = calibrated_as({"site.cluster.policy": "easy"})
    mode = "site.cluster.preemption.mode"
    assert mode in load_text(scenario_text(found), tmp_path).spec.search.space
    patient = replace(found, given=dict(found.given) | {"site.cluster.preemption.grace": 60.0})
    assert mode not in load_text(scenario_text(patient), tmp_path).spec.search.space


def test_no_job_is_express_where_qos_preempt(tmp_path, log_of):
    found = calibrated_as({"site.cluster.policy": "easy"})
    levels = {"normal": 0.0, "élevé": 1.0, "my qos": 2.0}
    named = replace(found, given=dict(found.given) | {"site.cluster.preemption.qos": levels})
    made = load_text(scenario_text(named), tmp_path)
    assert made.spec.site[0].preemption.qos == levels
    assert not [path for path in made.spec.search.space if "preemption" in path]


@pytest.mark.parametrize("policy", FAMILIES)
def test_whatever_policy_is_found_is_a_configuration_of_the_space_that_is_written(policy, tmp_path, log_of):
    found = calibrated_as({"site.cluster.policy": policy, "site.cluster.quota.user_running": 32.0})
    made = load_text(scenario_text(found), tmp_path)
    assert baseline_of(made, Space.of(made)).notes == ()
    assert made.spec.search.caveat == ""
    far = GoodnessOfFit(1300.0, 1.3, {}, 0.0, 0.0, 1000.0)
    doubtful = replace(found, best=replace(found.best, tested=far))
    told = load_text(scenario_text(doubtful), tmp_path).spec.search.caveat
    fitted = found.best.fitted.ratio
    assert not missing(told, f"{fitted:.2f} times", "1.30"), "of both parts of the log"


@pytest.mark.parametrize("reservations", ["all", 5, 0])
def test_the_policy_of_the_site_is_that_of_the_baseline(reservations, tmp_path, log_of):
    own = {"kind": "priority", "weight_age": 5.0, "reservations": reservations}
    own |= {"interval": 7.0} if reservations else {}
    own |= {"window": 7200.0, "by": "account", "weight_queue": 3.0, "favour": "small", "queue_depth": 77}
    own |= {"weight_qos": 30.0, "qos": {"high-1": 9.0, "low": 2.0}}
    found = replace(calibrated_as({}), given={"site.cluster.policy": own})
    made = load_text(scenario_text(found, slurm=True), tmp_path)
    site = made.override({"site.cluster.policy": own})
    baseline = baseline_of(made, Space.of(made))
    assert not baseline.notes
    assert made.override(baseline.configuration).active.site == site.active.site, "with all of its defaults"
    assert made.spec.search.space["site.cluster.policy.weight_qos"].high == 1000.0, "is searched, too"
    assert "as in slurm.conf" in " ".join(report_lines(found))


@pytest.mark.long
def test_a_policy_that_is_known_is_not_looked_for(log_of):
    log = log_of({"kind": "priority", "rule": "sjf"}, start_overhead=60.0)
    found = calibrate(str(log), given={"site.cluster.policy": "fcfs"})
    assert "site.cluster.policy" not in found.values
    known = calibrate(str(log), given={"site.cluster.policy": {"kind": "priority", "rule": "sjf"}})
    assert known.values == {"site.cluster.start_overhead": 60.0}
    assert known.tested.misfit < found.tested.misfit
    assert max(found.runs, known.runs) < calibrate(str(log)).runs


def test_a_log_is_named_as_it_is_found_from_the_folder_of_the_scenario(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.txt").touch()
    assert _from(Path("sub"), "mine.txt") == "../mine.txt"
    assert _from(Path(), "mine.txt") == "mine.txt"
    assert _from(Path("sub"), str(tmp_path / "mine.txt")) == str(tmp_path / "mine.txt")
    assert _from(Path("sub"), "KTH-SP2.swf") == "KTH-SP2.swf", "of a folder of traces"


def calibrated_as(values):
    fit_ = GoodnessOfFit(1000.0, 1.0, {}, 0.0, 0.0, 1000.0)
    tried = fit.Tried(values, fit_, fit_)
    return fit.Calibration(["embedded"], 9, 6, 4, [128], True, tried, tried, fit_, 1, {})


def test_fewer_processors_than_the_log_had_in_use_are_doubted():
    values = {"site.cluster.policy": "easy", "site.cluster.nodes": 100 / 128}
    said = [" ".join(report_lines(replace(calibrated_as(values), peak=peak))) for peak in (100, 128)]
    assert [not missing(one, "128 processors in use") for one in said] == [False, True]


@pytest.mark.long
def test_the_command_writes_a_scenario_that_runs(log_of, tmp_path):
    log, out = log_of("conservative"), tmp_path / "mine.toml"
    arguments = ["calibrate", str(log), "--last", "420", "--out", str(out)]
    result = gridtune(*arguments, "--format", "json")
    assert result.returncode == 0, result.stderr
    made = json.loads(result.stdout)
    assert made["jobs"] == 420
    assert made["tested"][1]["error"] < 1.0
    assert (made["parts"], made["fitted_parts"]) == (4, 3)
    scenario = load(str(out))
    assert scenario.spec.site[0].policy.kind == "conservative"
    assert scenario.spec.search is not None
    assert len(simulate(scenario).record.jobs) == 420
    assert "exists already" in refused(*arguments)


def schedules(folder, count, policy):
    """Short logs of one site of 8 processors, as CSV, whose waits a policy made."""
    paths = []
    for number in range(count):
        rng = random.Random(number)
        rows, now = [], 0
        for job in range(1, 301):
            now += rng.choice([1, 30, 60, 90])
            runtime = round(rng.lognormvariate(4.5, 0.8)) + 1
            rows.append(
                [job, now, now, now + runtime, rng.choice([1, 2, 4, 8]), runtime * rng.choice([1, 3])]
            )

        def write(name, rows):
            lines = ["id,submit,start,end,procs,walltime", *(",".join(map(str, row)) for row in rows)]
            (folder / name).write_text("\n".join(lines) + "\n")
            return str(folder / name)

        made = load("batch/replay").override(
            {
                "workload.trace": write("bare.csv", rows),
                "site.cluster.nodes": 8,
                "site.cluster.policy": policy,
                "site.cluster.start_overhead": 2.0,
            }
        )
        for row, job in zip(rows, simulate(made).record.jobs, strict=True):
            runtime = row[3] - row[2]
            row[2] = row[1] + int(job.start - job.submit) + 2
            row[3] = row[2] + runtime
        paths.append(write(f"{number}.csv", rows))
    return paths


@pytest.mark.long
def test_several_short_logs_are_calibrated_to_together(tmp_path):
    found = calibrate(*schedules(tmp_path, 4, "conservative"))
    assert found.parts == 4
    assert (list(found.nodes), found.said) == ([8] * 4, False)
    assert found.values == {"site.cluster.policy": "conservative", "site.cluster.start_overhead": 2.0}
    assert found.cut == 3
    assert found.best.ratios == pytest.approx([1.0] * 4, abs=0.01)
    assert found.tested.error < 1.0
    lines = list(report_lines(found, every=True))
    assert not missing(lines[0], "4 logs", "1,200 jobs", "8 processors")
    assert not missing(lines[1], "logs 1 to 3")
    assert any("geometric mean 1.000" in line for line in lines)
    assert len(load_text(scenario_text(found), tmp_path).spec.site) == 1


def load_text(text, folder):
    path = folder / "made.toml"
    path.write_text(text)
    return load(str(path))


def edited(path, change, name="edited.swf"):
    """A log whose rows are changed, as fields, in the order of the file."""
    header, *rows = [line.split() for line in path.read_text().splitlines()]
    made = path.parent / name
    made.write_text("\n".join(" ".join(row) for row in (header, *change(rows))) + "\n")
    return made


def test_there_are_never_fewer_nodes_than_the_widest_job_has_also_of_the_part_held_back(log_of):
    def widen(rows):
        rows[-1][4] = rows[-1][7] = "8"
        return rows

    found = calibrate(str(edited(log_of("easy", nodes=7), widen)))
    assert "site.cluster.nodes" not in found.values
    assert found.best.refused == []


def test_refused_jobs_are_counted_and_no_ratio_has_them(log_of):
    log = logs.read_log(str(log_of("easy")), None, None)
    longest = float(np.quantile(log.estimate, 0.9))
    queue = {"name": "short", "max_runtime": longest}
    found = calibrate(str(log.path), given={"site.cluster.queue": [queue]})
    kept = log.estimate <= longest
    assert found.best.refused == np.flatnonzero(~kept).tolist()
    back = (log.submit - log.submit[0]) // WEEK >= found.cut
    for one in (found.tested, found.plain.tested, found.guessed):
        assert one.logged == pytest.approx(log.wait[kept & back].mean())
        assert one.ratio == pytest.approx(one.mean / one.logged)
        assert one.mean < 10 * log.wait.max()
    assert any(not missing(line, "refuses", f"{(~kept).sum()} jobs") for line in report_lines(found))
    with pytest.raises(ScenarioError, match="refuses all jobs"):
        calibrate(str(log.path), given={"site.cluster.queue": [queue | {"max_runtime": 0.5}]})


def test_limits_of_a_queue_that_its_jobs_exceeded_are_left_out(log_of):
    log = logs.read_log(str(log_of("easy")), None, None)
    mine = {"name": "1", "max_runtime": 7200.0, "slots": 4, "max_processors": 4, "partition": True}
    given = {"site.cluster.queue": [mine, {"name": "other", "max_runtime": 60.0}]}
    found = calibrate(str(log.path), given=given)
    assert found.given == {"site.cluster.queue": [{"name": "other", "max_runtime": 60.0}, {"name": "1"}]}
    assert "max_runtime" in given["site.cluster.queue"][0], "what is given stays as it is"
    longer, wider = (log.estimate > 7200).sum(), (log.processors > 4).sum()
    of_processors = "queue.1.max_processors 4", f"{wider} jobs", "at most 6"
    for facts in (("queue.1.max_runtime 2 h", f"{longer} jobs"), of_processors):
        assert any(not missing(one, *facts) for one in found.denied)
    assert found.best.refused == []


def test_jobs_long_before_all_others_are_left_out(log_of, tmp_path):
    clean = log_of("easy")

    def add(rows):
        first = rows[0].copy()
        for row in rows:
            row[1] = str(int(row[1]) + 13 * int(WEEK))
        return [["0", "0", *first[2:]], *rows]

    late = edited(clean, add)
    expected, found = calibrate(str(clean)), calibrate(str(late))
    assert (found.parts, found.cut, found.values) == (expected.parts, expected.cut, expected.values)
    assert (found.tested, expected.first, found.first) == (expected.tested, None, 2)
    assert any(not missing(line, "Left out", "1 job", "a week") for line in report_lines(found))
    run, same = (simulate(load_text(scenario_text(one), tmp_path)).record.jobs for one in (found, expected))
    assert [job.start for job in run] == [job.start for job in same]


def test_of_several_logs_it_is_said_which_one_the_scenario_replays(monkeypatch, tmp_path):
    found = replace(calibrated_as({"site.cluster.policy": "easy"}), traces=["embedded", "b.csv"])
    monkeypatch.setattr("gridtune.scenarios.commands.calibrate.calibrate", lambda *_, **__: found)
    for traces, last in (
        (["embedded", "b.csv"], "It replays only the first log, embedded."),
        (["a"], "a.toml"),
    ):
        _, lines = run_calibration(traces, None, None, tmp_path / f"{traces[0]}.toml")
        assert last in lines[-1]


def test_few_or_long_logs_are_refused(log_of, tmp_path):
    with pytest.raises(ScenarioError, match=r"3 logs; .* 4"):
        calibrate(*schedules(tmp_path, 3, "easy"))
    with pytest.raises(ScenarioError, match=r"log.*longer than a week"):
        calibrate(*[str(log_of("easy"))] * 4)


@pytest.mark.long
def test_of_a_long_log_the_busiest_weeks_are_searched(log_of, monkeypatch):
    monkeypatch.setattr(fit, "ENOUGH", 200)
    monkeypatch.setattr(logs, "FEWEST_WEEKS", 2)
    log = log_of({"kind": "priority", "rule": "sjf"})
    whole = logs.read_log(str(log), None, None)
    part = whole.busiest(200)
    assert len(part.submit) < len(whole.submit) / 2
    assert part.wait.mean() > whole.wait.mean()
    longest = whole.wait.copy()
    longest[0 if part.rows[0] > 1 else -1] = 365 * 86400.0  # one job, outside of this part
    assert list(replace(whole, wait=longest).busiest(200).rows) == list(part.rows)
    found = calibrate(str(log))
    assert found.best.values["site.cluster.policy"]["rule"] == "sjf"
    assert found.tested.error < 1.0


@pytest.mark.parametrize(
    ("rows", "nodes", "said"),
    [
        ("1 0 -1 10 1 -1 -1 1 10 -1 1 1 1 -1 1 -1 -1 -1", 8, "no wait"),
        ("1 0 5 10 1 -1 -1 1 10 -1 1 1 1 -1 1 -1 -1 -1", 8, "1 week .*at least 4"),
    ],
)
def test_logs_that_say_too_little_are_refused(tmp_path, rows, nodes, said):
    path = tmp_path / "log.swf"
    path.write_text(rows + "\n")
    with pytest.raises(ScenarioError, match=said):
        calibrate(str(path), nodes=nodes)


@pytest.mark.parametrize(
    ("later", "fitted", "logged", "said"),
    [
        (0.84, 0.45, 1000.0, "Trust"),
        (2.0, 1.0, 1000.0, "Trust"),
        (0.9, 1.1, 1000.0, "calibration holds"),
        (0.4, 0.9, 99.0, "calibration holds"),  # less than a minute apart
        (0.4, 0.9, 101.0, "Trust"),
    ],
)
def test_a_calibration_holds_only_if_it_does_on_both_parts_of_the_log(later, fitted, logged, said):
    def part(ratio):
        return SimpleNamespace(ratio=ratio, misfit=1.0, mean=ratio * logged, logged=logged)

    plain, best = SimpleNamespace(tested=part(later)), SimpleNamespace(fitted=part(fitted))
    found = SimpleNamespace(tested=part(later), best=best, plain=plain, guessed=part(later))
    verdict = _verdict(found, "weeks")
    assert said in verdict
    assert f"{later:.2f}" in verdict
    assert f"{fitted:.2f}" in verdict


@pytest.mark.parametrize(
    ("plain", "guessed", "said"),
    [
        (0.3, 0.3, []),
        (0.1, 0.3, ["EASY"]),
        (0.3, 0.1, ["persistence"]),
        (0.1, 0.1, ["EASY", "persistence"]),
    ],
)
def test_the_verdict_names_what_is_nearer_to_the_log_than_the_calibrated_site(plain, guessed, said):
    def part(misfit):
        return SimpleNamespace(ratio=1.0, mean=500.0, logged=500.0, misfit=misfit)

    found = SimpleNamespace(
        tested=part(0.2),
        best=SimpleNamespace(fitted=part(0.2)),
        plain=SimpleNamespace(tested=part(plain)),
        guessed=part(guessed),
    )
    verdict = _verdict(found, "weeks")
    assert not missing(verdict, "1.25", "a minute")
    assert [one for one in ("EASY", "persistence") if one in verdict] == said


def test_a_calibration_that_is_interrupted_goes_on(log_of, tmp_path, monkeypatch, caplog):
    log = str(log_of({"kind": "fcfs"}))
    out, replayed, replay = tmp_path / "site.toml", [], Replays._replayed

    def some(self, values):
        if len(replayed) == 3:
            raise KeyboardInterrupt
        replayed.append(values)
        return replay(self, values)

    monkeypatch.setattr(Replays, "_replayed", some)
    with caplog.at_level("INFO", "gridtune"), pytest.raises(KeyboardInterrupt):
        run_calibration([log], None, None, out)
    kept = tmp_path / "site.replays"
    assert not missing(caplog.text, 3, kept)
    kept.write_text(kept.read_text() + '\n["cut off')

    again = []

    def counted(self, values):
        again.append(values)
        return replay(self, values)

    monkeypatch.setattr(Replays, "_replayed", counted)
    made = run_calibration([log], None, None, out)
    assert not kept.exists()
    count = len(again)

    again.clear()
    assert run_calibration([log], None, None, tmp_path / "whole.toml")[0] == made[0]
    assert len(again) == count + 3
    assert (tmp_path / "whole.toml").read_text() == out.read_text()


def test_replays_of_another_log_are_done_again(log_of, tmp_path):
    path, known = tmp_path / "log.swf", KeptReplays(tmp_path / "kept")
    for policy in ("fcfs", "easy"):
        path.write_text(log_of({"kind": policy}).read_text())
        Replays([read_log(str(path), None, None)], known, {}).tried({})
    assert len(KeptReplays(tmp_path / "kept")) == 2


def test_a_file_that_holds_no_replays_is_left_alone(log_of, tmp_path):
    notes = tmp_path / "site.replays"
    notes.write_text("my notes\n")
    with pytest.raises(ScenarioError, match=r"site\.replays: holds no replays"):
        run_calibration([str(log_of({"kind": "fcfs"}))], None, None, tmp_path / "site.toml")
    assert notes.read_text() == "my notes\n"


def test_a_scenario_that_came_meanwhile_is_not_written_over(log_of, tmp_path, monkeypatch):
    out, replay = tmp_path / "site.toml", Replays._replayed

    def elsewhere(self, values):
        out.write_text("another")
        return replay(self, values)

    monkeypatch.setattr(Replays, "_replayed", elsewhere)
    with pytest.raises(ScenarioError, match="exists already"):
        run_calibration([str(log_of({"kind": "fcfs"}))], None, None, out)
    assert out.read_text() == "another"


@pytest.mark.parametrize("out", [".", ""])
def test_what_is_written_needs_a_name(out):
    refused("calibrate", "log.swf", "--out", out)
    refused("trace", "convert", "log.swf", out)
